/** What is written into the history of a payment without a change of its state. */
import type { Authentication } from '../../connectors/connector.ts';
import { brandOf, NO_BRAND_YET } from '../../rules/brands.ts';
import { LIMITS } from '../../rules/limits.ts';
import { isOpen } from '../../rules/states.ts';
import type {
  Actor,
  CallRecord,
  Changes,
  Payment,
  PaymentDetails,
  Transition,
  WholePayment,
} from '../../store/payments.ts';
import type { Gateway } from '../context.ts';
import { withHistory, write, writeTransition } from './advance.ts';
import { isOutOfTime, withDeadline } from './deadlines.ts';
import { type QuerySchedule, scheduleNextQuery } from './query-schedule.ts';

/** Writes something into the history that leaves the state as it is; nothing is written if the payment has moved. */
async function note(
  gateway: Gateway,
  payment: WholePayment,
  record: Pick<Transition, 'event' | 'actor' | 'call'>,
  changed: Changes,
  authentication?: Authentication,
): Promise<WholePayment> {
  const at = gateway.clock.now(payment.mid);
  const noted: WholePayment = { ...withHistory(payment, at), ...changed };
  // Without a further question nothing is due any more, not even a deadline that is past.
  const after = changed.dueAt === null ? noted : withDeadline(noted);
  return (await writeTransition(gateway, { before: payment, after, ...record }, authentication)) ? after : payment;
}

/** Whether an outcome should be known by now: its provider did not answer, or time is over for payer or authorisation. */
const isOverdue = (gateway: Gateway, payment: WholePayment): boolean =>
  payment.inDoubt || payment.authorised > 0n || isOutOfTime(gateway, payment);

/** Notes that a provider was asked and the outcome is still to come; at last an operator has to look. */
export function recordQuery(
  gateway: Gateway,
  payment: WholePayment,
  call: CallRecord,
  changed: Changes = {},
): Promise<WholePayment> {
  const { isBackoffExhausted, ...question } = scheduleNextQuery(
    payment.queryCount,
    gateway.clock.now(payment.mid),
    ladderOf(payment),
  );
  const attention = isBackoffExhausted && isOverdue(gateway, payment) ? 'unresolved' : payment.attention;
  return note(gateway, payment, { event: 'queried', actor: 'clock', call }, { ...question, attention, ...changed });
}

const ladderOf = ({ state }: Payment): QuerySchedule => (isOpen(state) ? 'open' : 'ended');

/**
 * Notes that a provider told something that cannot be right: an operator can see it, and it is asked about soon. It is
 * noted whatever else happens to the payment at the same moment.
 */
export async function recordWrongAmount(
  gateway: Gateway,
  payment: WholePayment,
  actor: Actor,
  call: CallRecord,
): Promise<WholePayment> {
  const transition = await write(gateway, payment, (before, now): Transition => {
    const { queryCount, dueAt } = scheduleNextQuery(before.queryCount, now, ladderOf(before));
    // Of a payment that was given up, too, money may have moved; one whose amount is reserved or taken keeps its time,
    // unless it was due and its question is used up.
    const isAskedNext = before.authorised === 0n || actor === 'clock';
    const isConflict = before.attention === 'conflict' && before.busy !== null;
    const doubted: WholePayment = {
      ...withHistory(before, now),
      attention: isConflict ? 'conflict' : 'wrong_amount',
      ...(isAskedNext && { queryCount, dueAt }),
    };
    const after = isAskedNext && dueAt === null ? doubted : withDeadline(doubted);
    return { before, after, event: 'doubted', actor, call };
  });
  return transition.after;
}

/** The bank knows the payer; nothing when somebody else was told before, who goes on then. */
export async function recordAuthentication(
  gateway: Gateway,
  payment: WholePayment,
  call: CallRecord,
  authentication: Authentication,
): Promise<WholePayment | undefined> {
  const changed = { nextStep: null, dueAt: gateway.clock.now(payment.mid) + LIMITS.submissionMs };
  const record = { event: 'authenticated', actor: 'provider', call } as const;
  const after = await note(gateway, payment, record, changed, authentication);
  return after === payment ? undefined : after;
}

/** An operator has looked at a payment and dealt with it. */
export const clearAttention = (gateway: Gateway, payment: WholePayment): Promise<WholePayment> =>
  note(gateway, payment, { event: 'attended', actor: 'operator', call: undefined }, { attention: null });

/** Keeps what the payer was asked for; nothing when somebody else was faster. */
export async function recordPayerInput(
  gateway: Gateway,
  payment: WholePayment,
  details: PaymentDetails,
  chosen: Pick<Payment, 'brand' | 'connector'> = payment,
): Promise<WholePayment | undefined> {
  const now = gateway.clock.now(payment.mid);
  // Some ways to pay leave the payer less time than the session has.
  const ownTimeMs = payment.brand === NO_BRAND_YET ? brandOf(chosen.brand)?.payerTimeMs : undefined;
  const payerUntil =
    ownTimeMs === undefined ? payment.payerUntil : Math.min(now + ownTimeMs, payment.payerUntil ?? now + ownTimeMs);
  const after: WholePayment = {
    ...withDeadline({
      ...payment,
      brand: chosen.brand,
      connector: chosen.connector,
      payerUntil,
      nextStep: null,
      dueAt: now + LIMITS.submissionMs,
      updatedAt: now,
    }),
    details,
    historyLength: payment.historyLength + 1,
  };
  return (await gateway.payments.collect(payment, after)) ? after : undefined;
}
