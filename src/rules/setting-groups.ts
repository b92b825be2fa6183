/** Where forms ask for account settings: five groups, each with its sections. */
import type { SettingName } from './settings.ts';

/** The settings in forms: five groups, each with its sections. */
const GROUPS = {
  page: {
    look: ['branding.name', 'branding.logo', 'branding.colour'],
    contact: [
      'branding.support_email',
      'branding.support_phone',
      'branding.support_url',
      'branding.terms_url',
      'branding.privacy_url',
    ],
    offer: ['locale', 'page_methods', 'method_names'],
    behaviour: ['frame_ancestors', 'return_parameters', 'return_schemes', 'three_ds_link_target'],
  },
  methods: {
    accepted: ['brands', 'card_networks', 'payer_minutes'],
    wallet_a: [
      'wallets.wallet-a.merchant_identifier',
      'wallets.wallet-a.processing_private_key',
      'wallets.wallet-a.processing_certificate',
      'wallets.wallet-a.certificate',
      'wallets.wallet-a.private_key',
      'wallets.wallet-a.country',
      'wallets.wallet-a.shop_name',
      'wallets.wallet-a.merchant_capabilities',
      'wallets.wallet-a.supported_networks',
    ],
    wallet_b: [
      'wallets.wallet-b.environment',
      'wallets.wallet-b.private_key',
      'wallets.wallet-b.merchant_name',
      'wallets.wallet-b.merchant_id',
      'wallets.wallet-b.allowed_auth_methods',
      'wallets.wallet-b.supported_networks',
    ],
  },
  notifications: {
    callbacks: [
      'callback_url',
      'callback_format',
      'callback_hash_case',
      'chargeback_reversal_callbacks',
      'settlement_callbacks',
      'payout_callbacks',
    ],
    receipts: ['receipts', 'receipt_email_asked', 'invoice_reminders'],
  },
  security: {
    access: ['ip_allowlist', 'requests_per_second'],
    limits: ['card_tries_per_session', 'card_failures_per_address', 'card_failures_per_account'],
    risk: [
      'risk.review_score',
      'risk.block_score',
      'risk.on_failure',
      'risk.transaction_risk_limit',
      'risk.fraud_rate_limit',
      'volume_limits',
    ],
  },
  advanced: {
    orders: [
      'descriptor',
      'refunds_allowed',
      'refund_approval_from',
      'telephone_orders',
      'authorisation_days',
      'order_id_reuse',
      'whole_amounts_allowed',
      'brand_aliases',
    ],
    billing: ['billing.name', 'billing.address', 'billing.tax_number', 'billing.email', 'fee_invoices'],
    payouts: ['account_uuid', 'fee_calculation_method'],
    family: [
      'dialect.card_sales',
      'dialect.hash',
      'dialect.digest',
      'dialect.final_callbacks_only',
      'dialect.number_amounts',
      'dialect.session_callback_url',
    ],
    testing: ['vcard.success', 'vcard.decline', 'wallets.pretend'],
  },
} as const satisfies Record<string, Record<string, readonly SettingName[]>>;

type AllKeys<Value> = Value extends Value ? keyof Value : never;
export type SettingGroup = keyof typeof GROUPS;
export type SettingSection = AllKeys<(typeof GROUPS)[SettingGroup]>;

/** The sections of each group, and the settings of each section, in the order of forms. */
export const SETTING_GROUPS: ReadonlyMap<SettingGroup, ReadonlyMap<SettingSection, readonly SettingName[]>> = new Map(
  Object.entries(GROUPS).map(([group, sections]) => [
    group as SettingGroup,
    new Map(Object.entries(sections) as [SettingSection, readonly SettingName[]][]),
  ]),
);

export const groupOf = (name: SettingName): SettingGroup | undefined =>
  [...SETTING_GROUPS].find(([, sections]) => [...sections.values()].some((names) => names.includes(name)))?.[0];

/** The sections that a merchant changes for its own accounts: the look and the texts of its pages, and its callbacks. */
export const MERCHANT_SECTIONS: readonly SettingSection[] = [
  'look',
  'contact',
  'offer',
  'behaviour',
  'callbacks',
  'receipts',
];

/** Whether a merchant may change the setting of its own account. */
export const isMerchantSetting = (name: string): boolean =>
  [...SETTING_GROUPS.values()].some((sections) =>
    MERCHANT_SECTIONS.some((section) => sections.get(section)?.includes(name as SettingName)),
  );
