/** Objects of Stripe's API for its double, complete by the types of Stripe's SDK. */
import { randomBytes } from 'node:crypto';
import type Stripe from 'stripe';

export const newStripeId = (prefix: string): string => `${prefix}_${randomBytes(12).toString('hex')}`;
const seconds = (): number => Math.floor(Date.now() / 1000);

export const paymentIntent = (fields: Partial<Stripe.PaymentIntent>): Stripe.PaymentIntent => ({
  id: newStripeId('pi'),
  object: 'payment_intent',
  allowed_payment_method_types: null,
  amount: 0,
  amount_capturable: 0,
  amount_received: 0,
  application: null,
  application_fee_amount: null,
  automatic_payment_methods: null,
  canceled_at: null,
  cancellation_reason: null,
  capture_method: 'automatic',
  client_secret: newStripeId('secret'),
  confirmation_method: 'automatic',
  created: seconds(),
  currency: 'eur',
  customer: null,
  customer_account: null,
  description: null,
  excluded_payment_method_types: null,
  last_payment_error: null,
  latest_charge: null,
  livemode: false,
  managed_payments: null,
  metadata: {},
  next_action: null,
  on_behalf_of: null,
  payment_method: null,
  payment_method_configuration_details: null,
  payment_method_options: null,
  payment_method_types: ['card'],
  payment_record: null,
  processing: null,
  receipt_email: null,
  review: null,
  setup_future_usage: null,
  shipping: null,
  source: null,
  statement_descriptor: null,
  statement_descriptor_suffix: null,
  status: 'requires_payment_method',
  transfer_group: null,
  ...fields,
});

const balanceTransaction = (amount: number, currency: string): Stripe.BalanceTransaction => ({
  id: newStripeId('txn'),
  object: 'balance_transaction',
  amount,
  available_on: seconds(),
  balance_type: 'payments',
  created: seconds(),
  currency,
  description: null,
  exchange_rate: null,
  // 1.5 % and 25 cents.
  fee: Math.round(amount * 0.015) + 25,
  fee_details: [],
  net: amount - Math.round(amount * 0.015) - 25,
  reporting_category: 'charge',
  source: null,
  status: 'pending',
  type: 'charge',
});

const cardDetails = (amount: number, captured: number): Stripe.Charge.PaymentMethodDetails => ({
  type: 'card',
  card: {
    amount_authorized: amount,
    authorization_code: '123456',
    brand: 'visa',
    ...(captured === 0 && { capture_before: seconds() + 7 * 86_400 }),
    checks: null,
    country: 'DE',
    electronic_commerce_indicator: null,
    exp_month: 12,
    exp_year: 2038,
    funding: 'credit',
    installments: null,
    last4: '4242',
    mandate: null,
    network: 'visa',
    network_transaction_id: '761089710106120',
    regulated_status: 'unregulated',
    three_d_secure: null,
    transaction_link_id: null,
    wallet: null,
  },
});

/** The charge of a PaymentIntent that was authorised, or captured with this amount. */
export const charge = (intent: Stripe.PaymentIntent, captured: number): Stripe.Charge => ({
  id: newStripeId('ch'),
  object: 'charge',
  amount: intent.amount,
  amount_captured: captured,
  amount_refunded: 0,
  application: null,
  application_fee: null,
  application_fee_amount: null,
  balance_transaction: captured > 0 ? balanceTransaction(captured, intent.currency) : null,
  billing_details: { address: null, email: null, name: null, phone: null, tax_id: null },
  calculated_statement_descriptor: null,
  captured: captured > 0,
  created: seconds(),
  currency: intent.currency,
  customer: intent.customer,
  description: intent.description,
  disputed: false,
  failure_balance_transaction: null,
  failure_code: null,
  failure_message: null,
  fraud_details: null,
  livemode: false,
  metadata: intent.metadata,
  on_behalf_of: null,
  outcome: null,
  paid: true,
  payment_intent: intent.id,
  payment_method: typeof intent.payment_method === 'string' ? intent.payment_method : null,
  payment_method_details: cardDetails(intent.amount, captured),
  receipt_email: null,
  receipt_number: null,
  receipt_url: null,
  refunded: false,
  review: null,
  shipping: null,
  source: null,
  source_transfer: null,
  statement_descriptor: null,
  statement_descriptor_suffix: null,
  status: 'succeeded',
  transfer_data: null,
  transfer_group: null,
});

/** Turns the charge of a PaymentIntent into one at a bank; `debit` is the direct debit that Stripe stored. */
export function payAtBank(intent: Stripe.PaymentIntent, type: string, debit: string | null): void {
  const common = {
    generated_sepa_debit: debit,
    generated_sepa_debit_mandate: debit === null ? null : newStripeId('mandate'),
    iban_last4: '4300',
    verified_name: null,
  };
  const details: Stripe.Charge.PaymentMethodDetails =
    type === 'ideal'
      ? { type: 'ideal', ideal: { bank: 'rabobank', bic: 'RABONL2U', transaction_id: null, ...common } }
      : {
          type: 'bancontact',
          bancontact: { bank_code: null, bank_name: null, bic: null, preferred_language: null, ...common },
        };
  Object.assign(intent.latest_charge as Stripe.Charge, { payment_method_details: details });
}

export const refund = (fields: Partial<Stripe.Refund>): Stripe.Refund => ({
  id: newStripeId('re'),
  object: 'refund',
  amount: 0,
  balance_transaction: null,
  charge: null,
  created: seconds(),
  currency: 'eur',
  customer: null,
  customer_account: null,
  metadata: {},
  payment_intent: null,
  payment_method: null,
  reason: null,
  receipt_number: null,
  source_transfer_reversal: null,
  status: 'succeeded',
  transfer_reversal: null,
  ...fields,
});

export const session = (fields: Partial<Stripe.Checkout.Session>): Stripe.Checkout.Session => ({
  id: newStripeId('cs_test'),
  object: 'checkout.session',
  adaptive_pricing: { enabled: false },
  after_expiration: null,
  allow_promotion_codes: null,
  allowed_payment_method_types: null,
  amount_subtotal: null,
  amount_total: null,
  automatic_tax: { enabled: false, liability: null, provider: null, status: null },
  billing_address_collection: null,
  cancel_url: null,
  client_reference_id: null,
  client_secret: null,
  collected_information: null,
  consent: null,
  consent_collection: null,
  created: seconds(),
  currency: 'eur',
  currency_conversion: null,
  custom_fields: [],
  custom_text: { after_submit: null, shipping_address: null, submit: null, terms_of_service_acceptance: null },
  customer: null,
  customer_account: null,
  customer_creation: 'if_required',
  customer_details: null,
  customer_email: null,
  discounts: null,
  expires_at: seconds() + 3600,
  integration_identifier: null,
  invoice: null,
  invoice_creation: null,
  livemode: false,
  locale: null,
  managed_payments: null,
  metadata: {},
  mode: 'payment',
  origin_context: null,
  payment_intent: null,
  payment_link: null,
  payment_method_collection: 'if_required',
  payment_method_configuration_details: null,
  payment_method_options: null,
  payment_method_types: ['card'],
  payment_status: 'unpaid',
  permissions: null,
  recovered_from: null,
  saved_payment_method_options: null,
  setup_intent: null,
  shipping_address_collection: null,
  shipping_cost: null,
  shipping_options: [],
  status: 'open',
  submit_type: null,
  subscription: null,
  success_url: null,
  total_details: null,
  ui_mode: 'hosted_page',
  url: null,
  wallet_options: null,
  ...fields,
});

export const customer = (fields: Partial<Stripe.Customer>): Stripe.Customer => ({
  id: newStripeId('cus'),
  object: 'customer',
  balance: 0,
  created: seconds(),
  default_source: null,
  description: null,
  email: null,
  invoice_settings: { custom_fields: null, default_payment_method: null, footer: null, rendering_options: null },
  livemode: false,
  metadata: {},
  shipping: null,
  ...fields,
});

export const paymentMethod = (fields: Partial<Stripe.PaymentMethod>): Stripe.PaymentMethod => ({
  id: newStripeId('pm'),
  object: 'payment_method',
  billing_details: { address: null, email: null, name: null, phone: null, tax_id: null },
  created: seconds(),
  customer: null,
  customer_account: null,
  livemode: false,
  metadata: {},
  type: 'card',
  ...fields,
});

export const dispute = (
  intent: Stripe.PaymentIntent,
  status: Stripe.Dispute.Status = 'needs_response',
  fields: Partial<Stripe.Dispute> = {},
): Stripe.Dispute => ({
  id: newStripeId('du'),
  object: 'dispute',
  amount: intent.amount,
  balance_transactions: [],
  charge: newStripeId('ch'),
  created: seconds(),
  currency: intent.currency,
  enhanced_eligibility_types: [],
  evidence: {} as Stripe.Dispute.Evidence,
  evidence_details: {
    due_by: seconds() + 7 * 86_400,
    enhanced_eligibility: {},
    has_evidence: false,
    past_due: false,
    submission_count: 0,
    submission_method: 'manual',
  },
  intended_submission_method: null,
  is_charge_refundable: false,
  livemode: false,
  metadata: {},
  payment_intent: intent.id,
  reason: 'fraudulent',
  status,
  ...fields,
});

/** The configuration that is used for payments which name none; methods that it does not know are missing. */
export const methodConfiguration = (
  methods: readonly string[],
  active: readonly string[],
): Stripe.PaymentMethodConfiguration => ({
  id: newStripeId('pmc'),
  object: 'payment_method_configuration',
  active: true,
  application: null,
  is_default: true,
  livemode: false,
  name: 'Default',
  parent: null,
  ...Object.fromEntries(
    methods.map((method): [string, Stripe.PaymentMethodConfiguration.Card] => {
      const isActive = active.includes(method);
      const preference = isActive ? 'on' : 'off';
      const display = { overridable: null, preference, value: preference } as const;
      return [method, { available: isActive, display_preference: display }];
    }),
  ),
});

export const balance = (): Stripe.Balance => ({ object: 'balance', available: [], livemode: false, pending: [] });

/** The payload of a webhook. */
export const event = (type: Stripe.Event.Type, object: object): string =>
  JSON.stringify({
    id: newStripeId('evt'),
    object: 'event',
    api_version: '2026-10-28.endive',
    created: seconds(),
    data: { object },
    livemode: false,
    pending_webhooks: 1,
    request: null,
    type,
  });
