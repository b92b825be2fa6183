/** The objects of Mollie's API, as types of its SDK, for its double. */
import {
  ApiMode,
  CaptureStatus,
  Locale,
  type PaymentMethod,
  PaymentStatus,
  RefundStatus,
  SequenceType,
} from '@mollie/api-client';
import type { ApplePaySessionData } from '@mollie/api-client/dist/types/data/applePaySession/ApplePaySession.d.ts';
import type { ChargebackData as SdkChargeback } from '@mollie/api-client/dist/types/data/chargebacks/Chargeback.d.ts';
import type { CustomerData as SdkCustomer } from '@mollie/api-client/dist/types/data/customers/Customer.d.ts';
import type { Url } from '@mollie/api-client/dist/types/data/global.d.ts';
import type { MethodData } from '@mollie/api-client/dist/types/data/methods/data.d.ts';
import type { CaptureData as SdkCapture } from '@mollie/api-client/dist/types/data/payments/captures/data.d.ts';
import type { PaymentData } from '@mollie/api-client/dist/types/data/payments/data.d.ts';
import type { RefundData } from '@mollie/api-client/dist/types/data/refunds/data.d.ts';

export type { PaymentData, RefundData };

// Where the types of the SDK differ from the published API: it has not these members any more, or sends null for them.
export type CaptureData = Omit<SdkCapture, 'settlementAmount'>;
export type ChargebackData = Omit<SdkChargeback, 'reason' | 'reversedAt'> & {
  reason: SdkChargeback['reason'] | null;
  reversedAt: string | null;
};
export type CustomerData = Omit<SdkCustomer, 'recentlyUsedMethods' | 'name' | 'email' | 'locale'> & {
  name: string | null;
  email: string | null;
  locale: Locale | null;
};

export const url = (href: string): Url => ({ href, type: 'text/html' });
export const links = () => ({ self: url('https://api.mollie.com'), documentation: url('https://docs.mollie.com') });
const toPayment = () => ({ ...links(), payment: url('https://api.mollie.com') });
const now = (): string => new Date().toISOString();

let count = 0;
export const newName = (prefix: string): string => `${prefix}_${(++count).toString(36).padStart(10, 'x')}`;

/** An open payment; `checkout` is the address of its page. */
export const payment = (
  changes: Pick<PaymentData, 'amount' | 'description'> & Partial<PaymentData>,
  checkout?: (id: string) => string,
): PaymentData => {
  const id = newName('tr');
  return {
    resource: 'payment',
    id,
    mode: ApiMode.test,
    createdAt: now(),
    status: PaymentStatus.open,
    isCancelable: true,
    metadata: null,
    locale: Locale.en_US,
    profileId: 'pfl_QkEhN94Ba',
    sequenceType: SequenceType.oneoff,
    ...changes,
    _links: {
      ...links(),
      dashboard: url('https://www.mollie.com/dashboard'),
      ...(checkout && { checkout: url(checkout(id)) }),
    },
  };
};

export const refund = (changes: Pick<RefundData, 'amount' | 'paymentId'> & Partial<RefundData>): RefundData => ({
  resource: 'refund',
  id: newName('re'),
  mode: ApiMode.test,
  description: '',
  metadata: null,
  status: RefundStatus.refunded,
  createdAt: now(),
  _links: toPayment(),
  ...changes,
});

export const capture = (changes: Pick<CaptureData, 'amount' | 'paymentId'> & Partial<CaptureData>): CaptureData => ({
  resource: 'capture',
  id: newName('cpt'),
  mode: ApiMode.test,
  description: '',
  metadata: null,
  status: CaptureStatus.succeeded,
  createdAt: now(),
  _links: toPayment(),
  ...changes,
});

/** The bank names a reason for direct debits only. */
export const chargeback = ({ id, amount, method }: PaymentData): ChargebackData => ({
  resource: 'chargeback',
  id: newName('chb'),
  amount,
  settlementAmount: { ...amount, value: `-${amount.value}` },
  createdAt: now(),
  reason: method === 'directdebit' ? { code: 'AC01', description: 'Account identifier incorrect' } : null,
  reversedAt: null,
  paymentId: id,
  _links: toPayment(),
});

export const customer = (changes: Partial<CustomerData>): CustomerData => ({
  resource: 'customer',
  id: newName('cst'),
  mode: ApiMode.test,
  name: null,
  email: null,
  locale: null,
  metadata: null,
  createdAt: now(),
  _links: {
    ...links(),
    mandates: url('https://api.mollie.com'),
    subscriptions: url('https://api.mollie.com'),
    payments: url('https://api.mollie.com'),
  },
  ...changes,
});

export const method = (id: PaymentMethod): MethodData => ({
  resource: 'method',
  id,
  description: id,
  minimumAmount: { currency: 'EUR', value: '0.01' },
  maximumAmount: null,
  image: { size1x: '', size2x: '', svg: '' },
  status: null,
  _links: links(),
});

/** The addresses at which Mollie validates itself as the merchant. */
export const APPLE_HOST = /^https:\/\/apple-pay-gateway[\w-]*\.apple\.com\/paymentservices\//;

/** A session of Apple Pay, as Apple signs it for Mollie. */
export const session = (domainName: string): ApplePaySessionData => ({
  epochTimestamp: Date.now(),
  expiresAt: Date.now() + 5 * 60_000,
  merchantSessionIdentifier: newName('SSH'),
  nonce: newName('nonce'),
  merchantIdentifier: 'of Mollie',
  domainName,
  displayName: 'Tea Shop',
  signature: '308006092a864886f70d010702a0803080',
});
