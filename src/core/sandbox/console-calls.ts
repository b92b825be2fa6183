/** The sandbox console: a sample request of every call of a merchant besides the first one of a payment. */
import type { Field } from '../../rules/fields.ts';
import {
  type ApiOperation,
  CHECKOUT_OPERATIONS,
  type CheckoutPath,
  S2S_OPERATIONS,
  type S2sAction,
} from '../../rules/operations.ts';
import type { Account, Gateway, PaymentWithDetails } from '../context.ts';
import { type ConsoleField, type ConsoleRequest, checkoutRequest, type Sent, s2sRequest } from './console.ts';

export type ConsoleCall = Exclude<S2sAction, 'SALE'> | Exclude<CheckoutPath, 'session'>;

const isS2s = (call: ConsoleCall): call is Exclude<S2sAction, 'SALE'> => Object.hasOwn(S2S_OPERATIONS, call);

export const CONSOLE_CALLS = [...Object.keys(S2S_OPERATIONS), ...Object.keys(CHECKOUT_OPERATIONS)].filter(
  (name): name is ConsoleCall => name !== 'SALE' && name !== 'session',
);

/** The address of a call, and its action. */
export const callAddress = (call: ConsoleCall): string => (isS2s(call) ? `/post ${call}` : `/api/v1/${call}`);

const operationOf = (call: ConsoleCall): ApiOperation =>
  isS2s(call) ? S2S_OPERATIONS[call] : CHECKOUT_OPERATIONS[call];

/** The hash is computed, and the former shape of an order is refused. */
const NOT_ASKED = ['hash', 'order'];

/** The fields that name a payment. */
const PAYMENT_FIELDS = ['trans_id', 'payment_id', 'recurring_first_trans_id', 'recurring_init_trans_id'];

const SAMPLE: Readonly<Record<string, string>> = {
  order_amount: '10.00',
  order_currency: 'EUR',
  order_description: 'A payment of the sandbox console',
  'order.amount': '10.00',
  'order.currency': 'EUR',
  'order.description': 'A payment of the sandbox console',
  operation: 'credit',
  amount: '10.00',
  currency: 'EUR',
  title: 'Two teapots',
  name: 'Monthly plan',
  interval_length: '1',
  interval_unit: 'month',
  payments_count: '12',
};

/** Optional fields without which the sample of a call is not accepted. */
const NEEDED: Readonly<Partial<Record<ConsoleCall, readonly string[]>>> = {
  link: ['amount'],
  'payment/status': ['payment_id'],
};

/** The fields of a call, with the ids of this payment and of the newest schedule of the account. */
export async function callFields(
  gateway: Gateway,
  account: Account,
  call: ConsoleCall,
  payment: Pick<PaymentWithDetails, 'paymentId' | 'orderId'> | undefined,
  newOrder: string,
): Promise<ConsoleField[]> {
  const { fields, opensPayment } = operationOf(call);
  const names = fields.map(({ name }) => name);
  const [schedule] = names.includes('schedule_id') ? await gateway.schedules.list(account.mid, [account.mid], 1) : [];
  const sampleOf = ({ name, need }: Field): string => {
    if (need !== 'must' && !NEEDED[call]?.includes(name)) return '';
    if (PAYMENT_FIELDS.includes(name)) return payment?.paymentId ?? '';
    if (name === 'schedule_id') return schedule?.schedule.scheduleId ?? '';
    const isNew = opensPayment || names.includes('card_token');
    if (name === 'order_id' || name === 'order.number') return isNew ? newOrder : (payment?.orderId ?? '');
    return SAMPLE[name] ?? '';
  };
  return fields
    .filter(({ name }) => !NOT_ASKED.includes(name))
    .map((field) => ({ name: field.name, value: sampleOf(field), field }));
}

/** Composes and signs the request of a form; empty fields are not sent. */
export function callRequest(account: Account, call: ConsoleCall, values: ReadonlyMap<string, string>): ConsoleRequest {
  const sent: Sent = [...values].filter(([, value]) => value !== '');
  return isS2s(call) ? s2sRequest(account, call, sent) : checkoutRequest(account, call, sent);
}
