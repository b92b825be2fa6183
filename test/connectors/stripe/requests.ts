/** The requests of the connectors to Stripe, as types of Stripe's SDK; `npm run request-schemas` makes the schemas of them. */
import type Stripe from 'stripe';

/** Left out because they are very large and the connectors do not send them; the schemas refuse them, as anything unknown. */
type Unused = 'payment_method_options' | 'payment_details' | 'mandate_data' | 'shipping' | 'amount_details';

export type Balance = Stripe.BalanceRetrieveParams;
export type MethodConfigurationList = Stripe.PaymentMethodConfigurationListParams;
export type CustomerCreate = Omit<Stripe.CustomerCreateParams, Unused | 'tax_id_data'>;
export type PaymentMethodCreate = Stripe.PaymentMethodCreateParams;
export type PaymentIntentCreate = Omit<Stripe.PaymentIntentCreateParams, Unused | 'payment_method_data'>;
/** The options that the connectors send; those of all methods are very large. */
interface SentOptions<Card, Blik = never> {
  payment_method_options?: { card?: Pick<Card, Extract<keyof Card, 'request_three_d_secure' | 'moto'>>; blik?: Blik };
}
export type PaymentIntentConfirm = Omit<Stripe.PaymentIntentConfirmParams, Unused> &
  SentOptions<
    Stripe.PaymentIntentConfirmParams.PaymentMethodOptions.Card,
    Stripe.PaymentIntentConfirmParams.PaymentMethodOptions.Blik
  > & { mandate_data?: Stripe.PaymentIntentConfirmParams.MandateData };
export type PaymentIntentRetrieve = Stripe.PaymentIntentRetrieveParams;
export type PaymentIntentSearch = Stripe.PaymentIntentSearchParams;
export type PaymentIntentCapture = Omit<Stripe.PaymentIntentCaptureParams, Unused>;
export type PaymentIntentCancel = Stripe.PaymentIntentCancelParams;
export type RefundCreate = Stripe.RefundCreateParams;
export type RefundList = Stripe.RefundListParams;
export type RefundRetrieve = Stripe.RefundRetrieveParams;
export type SessionCreate = Omit<
  Stripe.Checkout.SessionCreateParams,
  Unused | 'subscription_data' | 'shipping_address_collection' | 'invoice_creation' | 'custom_fields'
> &
  SentOptions<Stripe.Checkout.SessionCreateParams.PaymentMethodOptions.Card>;
export type SessionRetrieve = Stripe.Checkout.SessionRetrieveParams;
export type SessionExpire = Stripe.Checkout.SessionExpireParams;
