/** What has to be true once a run is at rest. */
import { checkoutStatus, type StateName } from '../../src/rules/states.ts';
import type { Payment } from '../../src/store/payments/payments.ts';
import type { SimulatedDatabase } from './database.ts';
import type { MerchantServer } from './merchant-server.ts';
import type { Provider, ProviderPayment } from './provider.ts';
import type { Shop } from './shop.ts';
import { START } from './virtual-time.ts';

type Row = Pick<
  Payment,
  | 'orderId'
  | 'state'
  | 'authorised'
  | 'captured'
  | 'refunded'
  | 'reserved'
  | 'busy'
  | 'inDoubt'
  | 'attention'
  | 'payerUntil'
> & { id: string };

interface CallbackRow {
  payment: string;
  seq: number;
  state: string;
  attempts: number;
  body: string;
}

// The ids of scheduled charges are a little ahead of time, so that those of an earlier run may be newer than `firstId`.
const PAYMENTS = `select payment_id as id, order_id as "orderId", state, authorised, captured, refunded, reserved, busy,
  in_doubt as "inDoubt", attention, payer_until as "payerUntil" from payments
  where payment_id > $1 and order_id like $2 || '-%' order by payment_id`;
const CALLBACKS =
  'select payment_id as payment, seq, state, attempts, body from callbacks where payment_id > $1 order by payment_id, seq';
/** Everything that would still be done later, or never. */
const UNFINISHED = `
  select 'payment' as what from payments where due_at is not null
  union all select 'operation' from operations where state = 'sent' or due_at is not null
  union all select 'callback' from callbacks where state <> 'delivered' or due_at is not null
  union all select 'notification' from provider_notifications where state = 'new' or due_at is not null
  union all select 'subscription' from subscriptions where due_at is not null`;

const OPEN = ['PREPARE', 'REDIRECT', '3DS', 'PENDING'];
const FAILED = ['DECLINED', 'VOID', 'REVERSAL', 'EXPIRED'];
/** What a state that the merchant was told may become. */
const LATER: Readonly<Record<string, readonly string[]>> = {
  SETTLED: ['SETTLED', 'REFUND'],
  ...Object.fromEntries([...FAILED, 'REFUND'].map((state) => [state, [state]])),
};
/** While fewer attempts failed, callbacks of a payment are delivered in order. */
const ORDERED_ATTEMPTS = 3;

interface Rest {
  /** An id that is older than those of the run. */
  firstId: string;
  seed: number;
  database: SimulatedDatabase;
  provider: Provider;
  merchant: MerchantServer;
  shop: Shop;
}

/** Returns what is wrong; payments are named by their numbers in the run. */
export async function brokenInvariants({ firstId, seed, database, provider, merchant, shop }: Rest): Promise<string[]> {
  const wrong: string[] = [...provider.protests];
  const demand = (isMet: boolean, sentence: string): void => void (isMet || wrong.push(sentence));
  const { rows: payments } = await database.outside.query<Row>(PAYMENTS, [firstId, seed]);
  const { rows: callbacks } = await database.outside.query<CallbackRow>(CALLBACKS, [firstId]);
  const { rows: unfinished } = await database.outside.query<{ what: string }>(UNFINISHED);
  for (const { what } of unfinished) wrong.push(`A ${what} is not finished.`);

  const known = new Set(payments.map(({ id }) => id));
  for (const { reference, captured } of provider.ledger.values())
    demand(known.has(reference), `The provider has a payment of ${captured} that the gateway does not know.`);
  for (const [index, payment] of payments.entries()) {
    const name = `Payment ${index + 1} (${payment.orderId}, ${payment.state})`;
    for (const sentence of faultsOf(payment, provider.ledger.get(payment.id))) wrong.push(`${name} ${sentence}`);
    const own = callbacks.filter(({ payment: id }) => id === payment.id);
    for (const sentence of callbackFaults(payment, own, merchant)) wrong.push(`${name} ${sentence}`);
    for (const { paymentId, state } of shop.answers) {
      const allowed = LATER[state];
      if (paymentId === payment.id && allowed)
        demand(allowed.includes(payment.state), `${name} was reported as ${state}.`);
    }
  }

  const charges = [...provider.ledger.values()].filter(({ captured }) => captured > 0n);
  const orderOf = new Map(payments.map(({ id, orderId }) => [id, orderId]));
  const late = new Set(payments.filter(({ attention }) => attention === 'late_success').map(({ id }) => id));
  for (const [order, list] of Map.groupBy(charges, ({ reference }) => orderOf.get(reference)))
    demand(
      list.filter(({ reference }) => !late.has(reference)).length <= 1,
      `The order ${order} was charged ${list.length} times.`,
    );
  for (const [order, count] of shop.schedules) {
    const first = payments.filter(({ orderId, captured }) => orderId === order && captured > 0n);
    const made = new Set(
      payments.filter(({ orderId }) => orderId.startsWith(`${order}:`)).map(({ orderId }) => orderId),
    );
    if (first.length > 0)
      demand(made.size === count, `The schedule of ${order} made ${made.size} of ${count} charges.`);
  }
  return wrong;
}

function faultsOf(payment: Row, there: ProviderPayment | undefined): string[] {
  const wrong: string[] = [];
  const demand = (isMet: boolean, sentence: string): void => void (isMet || wrong.push(sentence));
  const { state, captured, refunded, reserved, busy, inDoubt, attention, payerUntil } = payment;
  demand(!OPEN.includes(state), 'is still open.');
  demand(reserved === 0n && busy === null, 'is blocked by an operation.');
  demand(!inDoubt, 'is in doubt.');
  const isLate = attention === 'late_success';
  demand(attention === null || isLate, `needs an operator: ${attention}.`);
  if (isLate) {
    const isTooLate = (there?.paidAt ?? 0) + START >= (payerUntil ?? Number.POSITIVE_INFINITY);
    demand(isTooLate && FAILED.includes(state), 'was paid in time and counts as late.');
  } else {
    demand(captured === (there?.captured ?? 0n), `captured ${captured} here and ${there?.captured ?? 0n} there.`);
    demand(refunded === (there?.refunded ?? 0n), `refunded ${refunded} here and ${there?.refunded ?? 0n} there.`);
    demand(!FAILED.includes(state) || there?.status !== 'authorised', 'has failed and is authorised at the provider.');
  }
  demand(!there || there.refunded <= there.captured, 'was refunded beyond what was captured.');
  return wrong;
}

function callbackFaults({ id, state }: Row, callbacks: readonly CallbackRow[], merchant: MerchantServer): string[] {
  const wrong: string[] = [];
  const received = merchant.received.filter((each) => each.id.startsWith(id));
  for (const { seq, body } of callbacks) {
    const copies = received.filter(({ sequence }) => sequence === seq);
    if (copies.length === 0) wrong.push(`did not report callback ${seq}.`);
    if (copies.some((copy) => copy.body !== body)) wrong.push(`reported callback ${seq} with other bytes.`);
  }
  const first = [...new Set(received.map(({ sequence }) => sequence))];
  const isOrdered = first.every((sequence, index) => index === 0 || sequence > (first[index - 1] as number));
  if (!isOrdered && callbacks.every(({ attempts }) => attempts < ORDERED_ATTEMPTS))
    wrong.push(`reported its callbacks in the order ${first.join()}.`);
  if (first.length !== callbacks.length) wrong.push(`reported ${first.length} of ${callbacks.length} callbacks.`);
  const last = new URLSearchParams(callbacks.at(-1)?.body ?? '');
  // A repetition over Checkout has Checkout's names of the states.
  const [reported, right] = last.has('order_status')
    ? [last.get('order_status'), checkoutStatus(state as StateName)]
    : [last.get('status'), state];
  if (reported !== right) wrong.push(`reported ${reported} at last.`);
  return wrong;
}
