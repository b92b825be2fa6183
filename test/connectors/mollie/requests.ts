/** The requests of the connector to Mollie, as types of Mollie's SDK; `npm run request-schemas` makes the schemas of them. */
import type {
  CustomerCreateParams,
  CustomerPaymentsListParams,
  PaymentCancelParams,
  PaymentCreateParams,
  PaymentGetParams,
  PaymentRefundCreateParams,
  PaymentRefundsListParams,
} from '@mollie/api-client';
import type { RequestPaymentSessionParameters } from '@mollie/api-client/dist/types/binders/applePay/parameters.d.ts';
import type { ListParameters } from '@mollie/api-client/dist/types/binders/methods/parameters.d.ts';
import type * as captures from '@mollie/api-client/dist/types/binders/payments/captures/parameters.d.ts';
import type { PageParameters, ReleaseParameters } from '@mollie/api-client/dist/types/binders/payments/parameters.d.ts';

/** Sent in the header or in the path; and what only credentials of an organisation may send. */
type Elsewhere = 'idempotencyKey' | 'paymentId' | 'customerId' | 'testmode' | 'profileId';

export type CustomerCreate = Omit<CustomerCreateParams, Elsewhere>;
export type CustomerPayments = Omit<CustomerPaymentsListParams, Elsewhere>;
export type PaymentCreate = Omit<PaymentCreateParams, Exclude<Elsewhere, 'customerId'> | 'include'>;
export type PaymentList = Omit<PageParameters, Elsewhere>;
export type PaymentGet = Omit<PaymentGetParams, Elsewhere>;
export type PaymentCancel = Omit<PaymentCancelParams, Elsewhere>;
export type PaymentRelease = Omit<ReleaseParameters, Elsewhere>;
export type RefundCreate = Omit<PaymentRefundCreateParams, Elsewhere>;
export type RefundList = Omit<PaymentRefundsListParams, Elsewhere>;
export type CaptureCreate = Omit<captures.CreateParameters, Elsewhere>;
export type CaptureList = Omit<captures.PageParameters, Elsewhere>;
export type SessionCreate = Omit<RequestPaymentSessionParameters, Elsewhere>;
export type MethodList = Omit<ListParameters, Elsewhere>;
