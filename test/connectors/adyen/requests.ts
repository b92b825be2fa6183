/** The requests of the connector to Adyen, as types of Adyen's SDK; `npm run request-schemas` makes the schemas of them. */
import type * as Adyen from '@adyen/api-library/lib/src/typings/checkout/models.js';

/** Left out because they are large and the connector does not send them; the schemas refuse them, as anything unknown. */
type Unused =
  | 'accountInfo'
  | 'applicationInfo'
  | 'deliveryAddress'
  | 'fundOrigin'
  | 'fundRecipient'
  | 'installmentOptions'
  | 'mandate'
  | 'riskData'
  | 'splits'
  | 'threeDS2RequestData';

export type Payment = Omit<Adyen.PaymentRequest, Unused | 'paymentMethod'> & {
  paymentMethod:
    | Adyen.BlikDetails
    | Adyen.CardDetails
    | Adyen.IdealDetails
    | Adyen.KlarnaDetails
    | Adyen.MbwayDetails
    | Adyen.MobilePayDetails
    | Adyen.PayPalDetails
    | Pick<Adyen.PaymentDetails, 'type'>
    | Adyen.SepaDirectDebitDetails
    | Adyen.StoredPaymentMethodDetails
    | Adyen.TwintDetails;
};
export type PaymentDetails = Adyen.PaymentDetailsRequest;
export type PaymentMethods = Adyen.PaymentMethodsRequest;
export type Session = Omit<Adyen.CreateCheckoutSessionRequest, Unused>;
export type Capture = Omit<Adyen.PaymentCaptureRequest, Unused>;
export type Refund = Omit<Adyen.PaymentRefundRequest, Unused>;
export type Cancel = Adyen.PaymentCancelRequest;
export type StandaloneCancel = Adyen.StandalonePaymentCancelRequest;
