/** Tables of the API, written independently of the product, so that a wrong entry there fails. */
import type { PaymentEvent, StateName } from '../../src/rules/states.ts';

const FROM_THE_PAYER = {
  accepted: 'PENDING',
  unanswered: 'PENDING',
  authorised: 'PENDING',
  settled: 'SETTLED',
  declined: 'DECLINED',
  abandoned: 'DECLINED',
} as const;

/** Every transition; all other events are only recorded. */
export const TRANSITIONS: Record<StateName, Partial<Record<PaymentEvent, StateName>>> = {
  PREPARE: { redirected: 'REDIRECT', challenged: '3DS', ...FROM_THE_PAYER },
  REDIRECT: { redirected: 'REDIRECT', ...FROM_THE_PAYER },
  '3DS': { challenged: '3DS', redirected: '3DS', ...FROM_THE_PAYER },
  PENDING: {
    authorised: 'PENDING',
    settled: 'SETTLED',
    captured: 'SETTLED',
    declined: 'DECLINED',
    abandoned: 'DECLINED',
    voided: 'VOID',
    reversed: 'REVERSAL',
    expired: 'EXPIRED',
  },
  SETTLED: { partlyRefunded: 'SETTLED', refunded: 'REFUND', chargedBack: 'CHARGEBACK' },
  DECLINED: { acceptedLate: 'SETTLED', lateRefunded: 'DECLINED' },
  VOID: { acceptedLate: 'SETTLED', lateRefunded: 'VOID' },
  REVERSAL: { acceptedLate: 'SETTLED', lateRefunded: 'REVERSAL' },
  REFUND: {},
  CHARGEBACK: {},
  EXPIRED: { acceptedLate: 'SETTLED', lateRefunded: 'EXPIRED' },
};

export const EVENTS: PaymentEvent[] = [
  'redirected',
  'challenged',
  'accepted',
  'unanswered',
  'authorised',
  'settled',
  'declined',
  'abandoned',
  'captured',
  'voided',
  'reversed',
  'expired',
  'partlyRefunded',
  'refunded',
  'chargedBack',
  'acceptedLate',
  'lateRefunded',
];

/** The default settings of an account, as the admin API of a production gateway shows them. */
export const DEFAULT_SETTINGS = {
  refunds_allowed: true,
  callback_url: '',
  callback_format: 'form',
  callback_hash_case: 'ascii',
  whole_amounts_allowed: false,
  ip_allowlist: [],
  three_ds_link_target: '',
  account_uuid: '',
  fee_calculation_method: 'account_level',
  brands: [],
  brand_aliases: {},
  page_methods: [],
  method_names: {},
  return_parameters: false,
  order_id_reuse: 'after_failure',
  authorisation_days: 7,
  requests_per_second: 500,
  card_tries_per_session: 10,
  card_networks: [],
  card_failures_per_address: 20,
  card_failures_per_account: 100,
  descriptor: '',
  branding: {
    name: '',
    logo: '',
    colour: '',
    support_email: '',
    support_phone: '',
    support_url: '',
    terms_url: '',
    privacy_url: '',
  },
  receipts: 'off',
  receipt_email_asked: false,
  locale: '',
  frame_ancestors: [],
  vcard: {
    success: ['success@example.com', 'success@gmail.com'],
    decline: ['decline@example.com', 'fail@gmail.com'],
  },
  wallets: {
    pretend: true,
    'wallet-a': {
      merchant_identifier: '',
      country: '',
      shop_name: '',
      certificate: '',
      private_key: '',
      merchant_capabilities: ['supports3DS'],
      supported_networks: ['visa', 'masterCard', 'amex', 'discover', 'jcb'],
      processing_private_key: '',
      processing_certificate: '',
    },
    'wallet-b': {
      environment: 'TEST',
      allowed_auth_methods: ['PAN_ONLY', 'CRYPTOGRAM_3DS'],
      supported_networks: ['AMEX', 'DISCOVER', 'JCB', 'MASTERCARD', 'VISA'],
      private_key: '',
      merchant_name: '',
      merchant_id: '',
    },
  },
};

/** In the sandbox the card testing limits are off by default. */
export const SANDBOX_SETTINGS = {
  ...DEFAULT_SETTINGS,
  card_tries_per_session: 0,
  card_failures_per_address: 0,
  card_failures_per_account: 0,
};
