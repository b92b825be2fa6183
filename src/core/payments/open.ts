/** Opens a payment: reserves the order once, writes the intent, calls the provider, writes the outcome. */
import { newId } from '../../lib/crypto/id.ts';
import { pollUntil } from '../../lib/flow/poll.ts';
import { minorUnits } from '../../lib/money/money.ts';
import { cut } from '../../lib/text/cut.ts';
import { brandOf, NO_BRAND_YET, NO_CONNECTOR, TOKEN_FIELD } from '../../rules/brands.ts';
import { splitConnectionKey } from '../../rules/connectors.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { invalidField, Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import { payerTimeOf } from '../../rules/payer-minutes.ts';
import { CARD_MUST_REST, REASONS, SCHEDULE_STOPPED } from '../../rules/reasons.ts';
import { isRetriable } from '../../rules/states.ts';
import type { KeptCard, Payment, PaymentDetails, PaymentWithDetails } from '../../store/payments/payments.ts';
import type { Schedule } from '../../store/schedules/schedules.ts';
import { type AttemptCounts, payBySentCard, type SentCard, sentItem } from '../cards/sent-card.ts';
import { openCard } from '../cards/vault.ts';
import { chooseRoute, factsOf, type RouteChoice } from '../connections/route.ts';
import type { Account, Gateway } from '../context.ts';
import { openEvaluated } from '../risk/evaluate.ts';
import { screened, screenedBy } from '../risk/screen.ts';
import { subscriptionTo } from '../schedules/subscribe.ts';
import { numberIn, payByWallet, type WalletPayment } from '../wallets/card.ts';
import { advance } from './advance.ts';
import { refuseWhileFull } from './call.ts';
import { CHECKED_UNITS } from './card-check.ts';
import { isOutOfTime } from './deadlines.ts';
import { retryId } from './derived-ids.ts';
import { endOutOfTime } from './provider.ts';
import { withSecrets } from './secrets.ts';
import { submit } from './submit.ts';

/** A checked order, independent of the protocol of its request. */
export interface Order {
  protocol: Payment['protocol'];
  brand: string;
  orderId: string;
  amountText: string;
  currency: string;
  isAuthorisation: boolean;
  isRecurringInit: boolean;
  details: PaymentDetails;
  /** Secret fields, those of a session by brand; stored encrypted. */
  secrets?: Record<string, unknown> | undefined;
  /** The schedule that charged this payment. */
  scheduleId?: string | undefined;
  /** The subscription that charges this payment; nothing is sent once it is over. */
  subscriptionId?: string | undefined;
  /** The schedule that repeats this payment from now on. */
  schedule?: Schedule | undefined;
  /** Set if the id has to be known before the payment is composed. */
  paymentId?: string | undefined;
  /** The connector of the first payment, if this one repeats it. */
  first?: string | undefined;
  /** The payer's deadline, if it is not that of the brand. */
  payerUntil?: number | undefined;
  /** The card of a device wallet, with what the provider needs besides it; never stored as a whole. */
  wallet?: WalletPayment | undefined;
  /** The card that the merchant sent; `details.card` has what is stored of it. */
  sentCard?: SentCard | undefined;
  /** Whether the payer has to fill in fields before the payment can be submitted. */
  needsFields?: boolean | undefined;
  /** The declined payment that the merchant retries with this one; the duplicate window does not apply to it. */
  retries?: string | undefined;
  /** The whole request, to distinguish a repeat from another request for the same order. */
  content: string;
}

export const duplicate = (): Refusal =>
  new Refusal('duplicatePayment', [{ field: 'order_id', sentence: 'Duplicate payment.', expected: NEW_ORDER }]);

const NEW_ORDER =
  'A new order number for a new payment, such as order-1002; an order is paid again only after its payments failed.';

const usedToken = (): Refusal => invalidField(TOKEN_FIELD, 'This token was used for another payment.');

/** Opens the payment of an order; a repeat of the same request gets the payment of the first one. */
export async function openPayment(gateway: Gateway, account: Account, order: Order): Promise<PaymentWithDetails> {
  const payment = composePayment(gateway, account, order);
  refuseWhileFull(gateway, payment.connector);
  const evaluated = isSubmittedAtOnce(order) ? await openEvaluated(gateway, account, payment) : undefined;
  if (evaluated?.made)
    return screenedBy(gateway, payment, evaluated.made, (passed) => submit(gateway, passed, account));
  const reserved = evaluated?.isOpened ?? (await reserveOrder(gateway, payment, order));
  if (reserved) return begin(gateway, account, payment, order, reserved);
  return openAgain(gateway, account, payment, order);
}

/** Whether nothing comes between the intent and the rules: the order is no more than its payment. */
const isSubmittedAtOnce = ({ brand, schedule, wallet, sentCard, needsFields, details }: Order): boolean =>
  brand !== NO_BRAND_YET && !schedule && !wallet && !sentCard && !needsFields && !details.card && !details.recurringOf;

/**
 * Opens a payment exactly once, however often and in however many processes this is called; undefined if the order is
 * used by another request. `earlier` are the contents of the attempts that this one follows. `recover` is called before
 * the payment is opened, and opens instead one that the provider has already; true if there was one.
 */
export async function openOnce(
  gateway: Gateway,
  account: Account,
  order: Order,
  earlier: readonly string[],
  recover?: (newest: PaymentWithDetails | undefined) => Promise<boolean>,
): Promise<PaymentWithDetails | undefined> {
  const payment = composePayment(gateway, account, order);
  const earlierFingerprints = earlier.map((content) => requestFingerprint(gateway, content));
  for (;;) {
    const newest = await gateway.payments.findByOrder(payment);
    // A retry that the merchant requested stands for the attempt that it repeats.
    const fingerprint = newest?.details.retryOf ?? newest?.fingerprint ?? '';
    if (newest && fingerprint === payment.fingerprint) return waitForOutcome(gateway, newest);
    if (newest && !earlierFingerprints.includes(fingerprint)) return undefined;
    // A retry or an operator, who accepted a late success, has settled the occurrence.
    if (newest && !isRetriable(newest.state)) return waitForOutcome(gateway, newest);
    if (recover && !newest && (await isOfCredit(gateway, payment))) return undefined;
    if (await recover?.(newest)) continue;
    const attempt = { ...payment, attempt: (newest?.attempt ?? 0) + 1 };
    const reserved = await reserveOrder(gateway, attempt, order);
    if (reserved) return begin(gateway, account, attempt, order, reserved);
    if (!newest && (await isOfCredit(gateway, payment))) return undefined;
  }
}

/** Whether a credit has this order id; no payment gets it then. */
const isOfCredit = async ({ credits }: Gateway, { mid, orderId }: Payment): Promise<boolean> =>
  (await credits.find({ mid, orderId, part: '' })) !== undefined;

/** A keyed digest, because a request can contain secret fields. */
export const requestFingerprint = ({ fingerprints }: Pick<Gateway, 'fingerprints'>, content: string): string =>
  fingerprints.digest(content, 'fingerprint').slice(0, 32);

/** Whether the payment of an order was written; with a card that came with the order, how often cards were tried. */
type Reserved = boolean | AttemptCounts;

/** Writes the payment of an order; its subscription is written first, so that no payment succeeds without it. */
export const reserveOrder = (
  gateway: Gateway,
  payment: PaymentWithDetails,
  order: Pick<Order, 'schedule' | 'wallet' | 'sentCard'>,
): Promise<Reserved> =>
  order.schedule ? reserveAndSubscribe(gateway, payment, order, order.schedule) : writeIntent(gateway, payment, order);

async function writeIntent(
  gateway: Gateway,
  payment: PaymentWithDetails,
  { wallet, sentCard }: Pick<Order, 'wallet' | 'sentCard'>,
): Promise<Reserved> {
  for (;;) {
    const sent = sentCard && (await sentItem(gateway, payment, sentCard));
    try {
      return await gateway.payments.open(payment, wallet?.token, sent);
    } catch (error) {
      if (!(await gateway.cards.forgetRetiredKey(error))) throw error;
    }
  }
}

async function reserveAndSubscribe(
  gateway: Gateway,
  payment: PaymentWithDetails,
  order: Pick<Order, 'wallet' | 'sentCard'>,
  schedule: Schedule,
): Promise<Reserved> {
  const subscription = subscriptionTo(schedule, payment);
  await gateway.schedules.subscribe(subscription);
  const reserved = await writeIntent(gateway, payment, order);
  if (!reserved) await gateway.schedules.unsubscribe(subscription);
  return reserved;
}

/** Submits a payment, unless the payer has to visit the payment page first. */
function begin(
  gateway: Gateway,
  account: Account,
  payment: PaymentWithDetails,
  order: Order,
  reserved: Reserved,
): Promise<PaymentWithDetails> {
  // The payer chooses a brand on the payment page.
  if (payment.brand === NO_BRAND_YET) return Promise.resolve(payment);
  const { recurringOf } = payment.details;
  return recurringOf === undefined
    ? send(gateway, account, payment, order, reserved)
    : beginRepetition(gateway, account, payment, order, recurringOf);
}

/**
 * After a decline for good no provider is asked again, nor when the schedule of the charge was stopped. Both are asked after
 * the intent is written: who stops a schedule waits for the intents that were written before.
 */
async function beginRepetition(
  gateway: Gateway,
  account: Account,
  payment: PaymentWithDetails,
  order: Order,
  first: string,
): Promise<PaymentWithDetails> {
  const { mid, details } = payment;
  const { subscriptionId } = order;
  if (subscriptionId !== undefined && !(await gateway.schedules.isActive(mid, subscriptionId)))
    return advance(gateway, payment, { event: 'declined', actor: 'merchant', declineReason: SCHEDULE_STOPPED });
  if (!(await gateway.schedules.isSeriesRefused(mid, first, details.card?.id)))
    return send(gateway, account, payment, order, true);
  return advance(gateway, payment, {
    event: 'declined',
    actor: 'merchant',
    declineReason: CARD_MUST_REST,
    learned: { providerData: { ...payment.providerData, decline: { class: 'never' } } },
  });
}

function send(
  gateway: Gateway,
  account: Account,
  payment: PaymentWithDetails,
  order: Order,
  reserved: Reserved,
): Promise<PaymentWithDetails> {
  const { wallet } = order;
  if (wallet) {
    return screened(gateway, account, payment, { number: numberIn(wallet) }, (passed, threeDs) =>
      payByWallet(gateway, passed, account, wallet, undefined, threeDs),
    );
  }
  if (order.sentCard) {
    const counts = typeof reserved === 'object' ? reserved : undefined;
    return payBySentCard(gateway, payment, account, order.sentCard, counts);
  }
  if (payment.details.card) return submitCard(gateway, payment, account, payment.details.card);
  if (!order.needsFields) return screened(gateway, account, payment, {}, (passed) => submit(gateway, passed, account));
  return advance(gateway, payment, { event: 'redirected', actor: 'merchant', nextStep: { kind: 'fields' } });
}

/** A repetition of a card payment takes the card from the vault, and has no security code. */
async function submitCard(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  { id }: KeptCard,
): Promise<PaymentWithDetails> {
  const card = await openCard(gateway, payment.mid, id);
  if (card) {
    return screened(gateway, account, payment, { number: card.number.reveal() }, (passed, threeDs) =>
      submit(gateway, passed, account, { card, threeDs }),
    );
  }
  gateway.log.error({ payment_id: payment.paymentId }, 'the card of a repetition is not in the vault');
  return advance(gateway, payment, { event: 'declined', actor: 'merchant', declineReason: REASONS.neverReceived });
}

/** The order exists: a repeat gets the existing payment, and an order that failed may get a new attempt. */
async function openAgain(
  gateway: Gateway,
  account: Account,
  payment: PaymentWithDetails,
  order: Order,
): Promise<PaymentWithDetails> {
  const isTokenUsed = async (): Promise<boolean> =>
    order.wallet !== undefined && gateway.walletTokens.isUsed(order.wallet.token.replayKey);
  for (;;) {
    const found = await gateway.payments.findByOrder(payment);
    if (!found && (await isOfCredit(gateway, payment))) throw duplicate();
    if (!found) throw (await isTokenUsed()) ? usedToken() : new Refusal('unavailable');
    const newest = isOutOfTime(gateway, found) ? await endOutOfTime(gateway, found, account) : found;
    const isRetried = newest.paymentId === order.retries;
    if (!isRetried && payment.createdAt - (await requestedAt(gateway, newest)) < LIMITS.duplicateWindowMs) {
      if (newest.fingerprint !== payment.fingerprint) throw duplicate();
      return waitForOutcome(gateway, newest);
    }
    const allowsReuse = order.retries !== undefined || account.settings.order_id_reuse !== 'never';
    if (!allowsReuse || !isRetriable(newest.state)) throw duplicate();
    // The schedule of a charge that the merchant retries has to find the retry at the provider after a restore.
    const isOfSchedule = order.retries !== undefined && order.scheduleId !== undefined && order.schedule === undefined;
    const paymentId = isOfSchedule ? retryId(gateway, newest) : payment.paymentId;
    const retry = { ...payment, paymentId, attempt: newest.attempt + 1 };
    const reserved = await reserveOrder(gateway, retry, order);
    if (reserved) return begin(gateway, account, retry, order, reserved);
    if (await isTokenUsed()) throw usedToken();
  }
}

/** The payment of an earlier request with the same content, if that was a moment ago. */
export async function findRepeat(
  gateway: Gateway,
  { mid }: Account,
  { orderId, content }: Order,
): Promise<PaymentWithDetails | undefined> {
  const newest = await gateway.payments.findByOrder({ mid, orderId });
  if (newest?.fingerprint !== requestFingerprint(gateway, content)) return undefined;
  const isRecent = gateway.clock.now(mid) - newest.createdAt < LIMITS.duplicateWindowMs;
  return isRecent ? waitForOutcome(gateway, newest) : undefined;
}

/** When the merchant requested a payment; all attempts of a session belong to the request that opened the session. */
async function requestedAt({ payments }: Gateway, payment: PaymentWithDetails): Promise<number> {
  const paymentId = payment.details.session?.id ?? payment.paymentId;
  const first = paymentId === payment.paymentId ? payment : await payments.find({ mid: payment.mid, paymentId });
  return (first ?? payment).createdAt;
}

/** Waits some time for the outcome of a payment that another request is submitting. */
const waitForOutcome = (gateway: Gateway, payment: PaymentWithDetails): Promise<PaymentWithDetails> =>
  pollUntil(
    payment,
    async (last) => (await gateway.payments.find(payment)) ?? last,
    ({ state, brand }) => state !== 'PREPARE' || brand === NO_BRAND_YET,
    { mostMs: LIMITS.duplicateWaitMs },
  );

/** A repetition goes where its first payment went; a session has no brand yet, so it has no route. */
function routeOf(
  gateway: Gateway,
  account: Pick<Account, 'routes'>,
  { brand, first, currency, details, sentCard, isRecurringInit }: Order,
  { paymentId, amount }: { paymentId: string; amount: bigint },
): RouteChoice {
  if (brand === NO_BRAND_YET) return { connector: NO_CONNECTOR, routeReason: null };
  const isOfConnection = first !== undefined && splitConnectionKey(first).connectionId !== null;
  if (isOfConnection) return { connector: first, routeReason: 'The connection of the first payment' };
  const facts = factsOf({ brand, currency, amount, details, isRecurringInit }, sentCard?.card.number.reveal());
  return chooseRoute(gateway, account, facts, paymentId);
}

/** What a new payment has of events, money and the provider. */
export const NOTHING_YET = {
  state: 'PREPARE',
  historyLength: 1,
  authorised: 0n,
  captured: 0n,
  refunded: 0n,
  reserved: 0n,
  busy: null,
  inDoubt: false,
  queryCount: 0,
  nextStep: null,
  attention: null,
  declineReason: null,
  recurringToken: null,
  providerReference: null,
  providerData: null,
} as const satisfies Partial<Payment>;

/** A new payment in its initial state. */
export function composePayment(
  gateway: Gateway,
  account: Pick<Account, 'mid' | 'name' | 'settings' | 'routes'>,
  order: Order,
): PaymentWithDetails {
  const now = gateway.clock.now(account.mid);
  const brand = order.brand === NO_BRAND_YET ? undefined : brandOf(order.brand);
  const exponent = exponentOf(order.currency);
  // Whether fraction digits may be missing was checked with the request, perhaps under former settings.
  const units = minorUnits(order.amountText, exponent, 'number');
  const amount = units === 'zero' && order.details.isCardCheck ? CHECKED_UNITS : units;
  if ((!brand && order.brand !== NO_BRAND_YET) || typeof amount !== 'bigint')
    throw new Error('An order reached the core without being checked.');
  const paymentId = order.paymentId ?? newId();
  const { connector, routeReason } = routeOf(gateway, account, order, { paymentId, amount });
  const payerUntil = order.payerUntil ?? now + (payerTimeOf(account.settings, order.brand) ?? LIMITS.payerMs);
  return {
    mid: account.mid,
    paymentId,
    orderId: order.orderId,
    attempt: 1,
    protocol: order.protocol,
    brand: order.brand,
    connector,
    routeReason,
    ...NOTHING_YET,
    amountText: order.amountText,
    currency: order.currency,
    amount,
    // If this process dies before the outcome is written, the work loop queries the provider then.
    dueAt: brand ? now + LIMITS.submissionMs : payerUntil,
    payerUntil: brand?.isImmediate && order.payerUntil === undefined ? null : payerUntil,
    isAuthorisation: order.isAuthorisation,
    isRecurringInit: order.isRecurringInit,
    fingerprint: requestFingerprint(gateway, order.content),
    descriptor: cut(account.settings.descriptor || account.name, LIMITS.descriptorLength),
    scheduleId: order.schedule?.scheduleId ?? order.scheduleId ?? null,
    createdAt: now,
    updatedAt: now,
    details: order.secrets ? withSecrets(gateway, paymentId, order.details, order.secrets) : order.details,
  };
}
