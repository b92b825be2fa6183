/** Opens a payment: reserves the order once, writes the intent, calls the provider, writes the outcome. */
import { newId } from '../../lib/id.ts';
import { minorUnits } from '../../lib/money.ts';
import { pollUntil } from '../../lib/poll.ts';
import { brandOf, NO_BRAND_YET, NO_CONNECTOR } from '../../rules/brands.ts';
import { CURRENCIES } from '../../rules/currencies.ts';
import { Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import { REASONS } from '../../rules/reasons.ts';
import { isRetriable } from '../../rules/states.ts';
import type { KeptCard, Payment, PaymentDetails, WholePayment } from '../../store/payments.ts';
import type { Schedule } from '../../store/schedules.ts';
import type { Account, Gateway } from '../context.ts';
import { openCard } from '../vault.ts';
import { advance } from './advance.ts';
import { refuseWhileFull } from './call.ts';
import { isOutOfTime } from './deadlines.ts';
import { endOutOfTime, submit } from './provider.ts';
import { withSecrets } from './secrets.ts';
import { subscriptionTo } from './subscribe.ts';

/** A checked order; the faces make it from their own field names. */
export interface Order {
  protocol: Payment['protocol'];
  brand: string;
  orderId: string;
  amountText: string;
  currency: string;
  isAuthorisation: boolean;
  isRecurringInit: boolean;
  details: PaymentDetails;
  /** Fields that nobody may read, those of a session by brand; they are kept sealed. */
  secrets?: Record<string, unknown> | undefined;
  /** The schedule that this payment belongs to, and the one that shall repeat it from now on. */
  scheduleId?: string | undefined;
  schedule?: Schedule | undefined;
  /** Chosen beforehand, when the details speak of it. */
  paymentId?: string | undefined;
  /** Until when the payer may finish, where the order says so itself. */
  payerUntil?: number | undefined;
  /** Whether the payer has to be asked for fields before anything can be submitted. */
  needsFields?: boolean | undefined;
  /** Everything the request said, so that a repeat can be told from another request for the same order. */
  content: string;
}

export const duplicate = (): Refusal =>
  new Refusal('duplicatePayment', [{ field: 'order_id', sentence: 'Duplicate payment.' }]);

/** Pays an order; a repeat of the same request gets the payment that the first one made. */
export async function openPayment(gateway: Gateway, account: Account, order: Order): Promise<WholePayment> {
  const payment = composePayment(gateway, account, order);
  refuseWhileFull(gateway, payment.connector);
  if (await reserveOrder(gateway, payment, order)) return begin(gateway, account, payment, order);
  return openAgain(gateway, account, payment, order);
}

/**
 * Pays an order once, whoever tries to and however often; nothing when somebody else has the order. Attempts that said
 * one of `earlier` are our own, and this one follows them.
 */
export async function openOnce(
  gateway: Gateway,
  account: Account,
  order: Order,
  earlier: readonly string[],
): Promise<WholePayment | undefined> {
  const payment = composePayment(gateway, account, order);
  const ours = earlier.map((content) => requestFingerprint(gateway, content));
  for (;;) {
    const newest = await gateway.payments.findByOrder(payment);
    if (newest?.fingerprint === payment.fingerprint) return waitForOutcome(gateway, newest);
    if (newest && !ours.includes(newest.fingerprint)) return undefined;
    const attempt = { ...payment, attempt: (newest?.attempt ?? 0) + 1 };
    if (await reserveOrder(gateway, attempt, order)) return begin(gateway, account, attempt, order);
    if (!newest && (await isOfCredit(gateway, payment))) return undefined;
  }
}

/** Whether the order is the own one of a credit, which no payment gets. */
const isOfCredit = async ({ credits }: Gateway, { mid, orderId }: Payment): Promise<boolean> =>
  (await credits.find({ mid, orderId, part: '' })) !== undefined;

/** Keyed, because what a request says can include what nobody may read. */
export const requestFingerprint = ({ fingerprints }: Pick<Gateway, 'fingerprints'>, content: string): string =>
  fingerprints.digest(content, 'fingerprint').slice(0, 32);

/** Reserves an order; a schedule that shall repeat it is there before it, so that no success is without one. */
export async function reserveOrder(
  gateway: Gateway,
  payment: WholePayment,
  { schedule }: Pick<Order, 'schedule'>,
): Promise<boolean> {
  if (!schedule) return gateway.payments.open(payment);
  const subscription = subscriptionTo(schedule, payment);
  await gateway.schedules.subscribe(subscription);
  const isReserved = await gateway.payments.open(payment);
  if (!isReserved) await gateway.schedules.unsubscribe(subscription);
  return isReserved;
}

/** Submits a payment, or sends its payer to our page first. */
function begin(gateway: Gateway, account: Account, payment: WholePayment, order: Order): Promise<WholePayment> {
  // The payer chooses how to pay, on our page and in their own time.
  if (payment.brand === NO_BRAND_YET) return Promise.resolve(payment);
  if (payment.details.card) return submitCard(gateway, payment, account, payment.details.card);
  if (!order.needsFields) return submit(gateway, payment, account);
  return advance(gateway, payment, { event: 'redirected', actor: 'merchant', nextStep: { kind: 'fields' } });
}

/** A repetition of a card payment takes the card from the vault; the code on its back is nowhere to be had. */
async function submitCard(
  gateway: Gateway,
  payment: WholePayment,
  account: Account,
  { id }: KeptCard,
): Promise<WholePayment> {
  const card = await openCard(gateway, payment.mid, id);
  if (card) return submit(gateway, payment, account, { card });
  gateway.log.error({ payment_id: payment.paymentId }, 'the card of a repetition is not in the vault');
  return advance(gateway, payment, { event: 'declined', actor: 'merchant', declineReason: REASONS.neverReceived });
}

/** The order is taken: a repeat gets the first outcome, a new try is made where the first ones failed. */
async function openAgain(
  gateway: Gateway,
  account: Account,
  payment: WholePayment,
  order: Order,
): Promise<WholePayment> {
  for (;;) {
    const found = await gateway.payments.findByOrder(payment);
    if (!found) throw (await isOfCredit(gateway, payment)) ? duplicate() : new Refusal('unavailable');
    const newest = isOutOfTime(gateway, found) ? await endOutOfTime(gateway, found, account) : found;
    if (payment.createdAt - (await requestedAt(gateway, newest)) < LIMITS.duplicateWindowMs) {
      if (newest.fingerprint !== payment.fingerprint) throw duplicate();
      return waitForOutcome(gateway, newest);
    }
    if (account.settings.order_id_reuse === 'never' || !isRetriable(newest.state)) throw duplicate();
    const retry = { ...payment, attempt: newest.attempt + 1 };
    if (await reserveOrder(gateway, retry, order)) return begin(gateway, account, retry, order);
  }
}

/** When the merchant asked for a payment: all attempts of a session come from one request, however late they are. */
async function requestedAt({ payments }: Gateway, payment: WholePayment): Promise<number> {
  const paymentId = payment.details.session?.id ?? payment.paymentId;
  const first = paymentId === payment.paymentId ? payment : await payments.find({ mid: payment.mid, paymentId });
  return (first ?? payment).createdAt;
}

/** Gives a payment that another request is still working on some time to come to an outcome. */
const waitForOutcome = (gateway: Gateway, payment: WholePayment): Promise<WholePayment> =>
  pollUntil(
    payment,
    async (last) => (await gateway.payments.find(payment)) ?? last,
    ({ state, brand }) => state !== 'PREPARE' || brand === NO_BRAND_YET,
    { mostMs: LIMITS.duplicateWaitMs },
  );

/** The payment of an order as it is before anything happened to it. */
export function composePayment(
  gateway: Pick<Gateway, 'clock' | 'seal' | 'fingerprints'>,
  account: Pick<Account, 'mid' | 'name' | 'settings'>,
  order: Order,
): WholePayment {
  const now = gateway.clock.now(account.mid);
  const brand = order.brand === NO_BRAND_YET ? undefined : brandOf(order.brand);
  const exponent = CURRENCIES[order.currency]?.exponent ?? 2;
  const amount = minorUnits(order.amountText, exponent);
  if ((!brand && order.brand !== NO_BRAND_YET) || typeof amount !== 'bigint')
    throw new Error('An order reached the core without being checked.');
  const paymentId = order.paymentId ?? newId();
  const payerUntil = order.payerUntil ?? now + (brand?.payerTimeMs ?? LIMITS.payerMs);
  return {
    mid: account.mid,
    paymentId,
    orderId: order.orderId,
    attempt: 1,
    protocol: order.protocol,
    brand: order.brand,
    connector: brand?.connector ?? NO_CONNECTOR,
    state: 'PREPARE',
    historyLength: 1,
    amountText: order.amountText,
    currency: order.currency,
    amount,
    authorised: 0n,
    captured: 0n,
    refunded: 0n,
    reserved: 0n,
    busy: null,
    inDoubt: false,
    // If this process dies before the outcome is written, the work loop asks the provider then.
    dueAt: brand ? now + LIMITS.submissionMs : payerUntil,
    payerUntil: brand?.isImmediate && order.payerUntil === undefined ? null : payerUntil,
    queryCount: 0,
    nextStep: null,
    attention: null,
    isAuthorisation: order.isAuthorisation,
    isRecurringInit: order.isRecurringInit,
    fingerprint: requestFingerprint(gateway, order.content),
    descriptor: (account.settings.descriptor || account.name).slice(0, LIMITS.descriptorLength),
    declineReason: null,
    recurringToken: null,
    scheduleId: order.schedule?.scheduleId ?? order.scheduleId ?? null,
    providerReference: null,
    createdAt: now,
    updatedAt: now,
    details: order.secrets ? withSecrets(gateway, paymentId, order.details, order.secrets) : order.details,
  };
}
