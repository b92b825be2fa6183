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
import type { ChargebackData } from '@mollie/api-client/dist/types/data/chargebacks/Chargeback.d.ts';
import type { CustomerData } from '@mollie/api-client/dist/types/data/customers/Customer.d.ts';
import type { Url } from '@mollie/api-client/dist/types/data/global.d.ts';
import type { MethodData } from '@mollie/api-client/dist/types/data/methods/data.d.ts';
import type { CaptureData } from '@mollie/api-client/dist/types/data/payments/captures/data.d.ts';
import type { PaymentData } from '@mollie/api-client/dist/types/data/payments/data.d.ts';
import type { RefundData } from '@mollie/api-client/dist/types/data/refunds/data.d.ts';

export type { CaptureData, ChargebackData, CustomerData, PaymentData, RefundData };

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
  settlementAmount: changes.amount,
  description: '',
  metadata: null,
  status: CaptureStatus.succeeded,
  createdAt: now(),
  _links: toPayment(),
  ...changes,
});

export const chargeback = ({ id, amount }: PaymentData): ChargebackData => ({
  resource: 'chargeback',
  id: newName('chb'),
  amount,
  settlementAmount: amount,
  createdAt: now(),
  reason: { code: 'AC01', description: 'Account identifier incorrect' },
  reversedAt: '',
  paymentId: id,
  _links: toPayment(),
});

export const customer = (changes: Partial<CustomerData>): CustomerData => ({
  resource: 'customer',
  id: newName('cst'),
  mode: ApiMode.test,
  name: '',
  email: '',
  locale: Locale.en_US,
  recentlyUsedMethods: [],
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
