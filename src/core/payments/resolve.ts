/** What an operator decides about a payment on the attention list: to accept a late success, to send it back, to dismiss. */

import { hasCardNumber } from '../../lib/cards/search.ts';
import { isText } from '../../lib/text/json.ts';
import { NOTE_LENGTH, possibleResolutions, type Resolution } from '../../rules/attention.ts';
import { brandOf } from '../../rules/brands.ts';
import { invalidField, type Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { nextState, type StateName } from '../../rules/states.ts';
import type {
  HistoryRow,
  OperationRow,
  Payment,
  PaymentWithDetails,
  Transition,
} from '../../store/payments/payments.ts';
import { capabilitiesOf } from '../connections/connectors.ts';
import type { Gateway } from '../context.ts';
import { isPaidByOthers } from '../links/claims.ts';
import { restartVolumes } from '../risk/volume.ts';
import { withHistory, writeWithRetry } from './advance.ts';
import { isElsewhere, LATE_REPORTS, markBelow } from './marks.ts';
import { type Initiator, LATE_OPERATIONS, type OperationPlan, type OperationResult, operate } from './operate.ts';
import { idempotencyKeyOf } from './operation-ids.ts';
import type { Requester } from './refund-limit.ts';

export interface Decision {
  resolve: Resolution;
  note: string;
  /** Makes a refund idempotent; may be empty. */
  operationId: string;
}

/** The operation is that of a refund. */
export type Resolved = { payment: PaymentWithDetails; operation?: OperationRow };

/** What the provider has of a payment that ended without success. */
export interface LateMoney {
  amount: bigint;
  currency: string;
  /** The amount is only reserved. */
  isReserved: boolean;
  /** Another submission has the money, or another payment at the provider: operations on this one do not reach it. */
  isElsewhere: boolean;
}

const refuse = (sentence: string): Refusal => invalidField('resolve', sentence);

/** Reads the note of a decision. */
export function readNote(text: string, field = 'note'): string {
  const note = text.trim();
  if (hasCardNumber(note)) throw invalidField(field, SENTENCES.cardNumber);
  if (note.length > NOTE_LENGTH) throw invalidField(field, SENTENCES.tooLong(NOTE_LENGTH));
  if (!isText(note, NOTE_LENGTH)) throw invalidField(field, SENTENCES.invalid);
  return note;
}

const WRONG_AMOUNT = /^(settled|authorised), wrong amount$/;

/** What the provider reported last of what the mark is about; undefined if it reported no amount that can be read. */
export function lateMoney(
  payment: Payment,
  history: readonly HistoryRow[],
  operations: readonly OperationRow[],
): LateMoney | undefined {
  const { amount, currency, attention } = payment;
  const isWrong = ({ event, call }: HistoryRow): boolean =>
    event === 'doubted' && WRONG_AMOUNT.test(call?.outcome ?? '');
  const report = history.findLast(
    (row) =>
      (attention !== 'wrong_amount' && LATE_REPORTS.includes(row.event)) ||
      (attention !== 'late_success' && isWrong(row)),
  );
  if (!report) return undefined;
  const place = { isElsewhere: isElsewhere(payment, report) };
  if (isWrong(report)) {
    const reported = report.call?.reported;
    const isReserved = report.call?.outcome.startsWith('authorised') === true;
    return reported && { amount: BigInt(reported.amount), currency: reported.currency, isReserved, ...place };
  }
  // A capture may be of a part: of ours, or as the provider reports it.
  const ours = operations.findLast(({ verb, state }) => verb === 'capture' && state === 'done')?.amount;
  const part = report.call?.reported === undefined ? undefined : BigInt(report.call.reported.amount);
  return {
    amount: (report.event === 'noted captured' ? ours : part) ?? amount,
    currency,
    isReserved: report.event === 'noted authorised',
    ...place,
  };
}

/** Refuses a decision that the mark and the state do not allow; the payment may have changed since it was shown. */
export function requirePossible({ attention, state, busy }: Payment, resolve: Resolution): void {
  if (attention === null) throw refuse('This payment does not need attention, or no longer does.');
  const possible = possibleResolutions(attention, state);
  if (!possible.includes(resolve)) {
    throw refuse(`A payment in the state ${state} with the mark ${attention} allows only: ${possible.join(', ')}.`);
  }
  const isInProgress = busy !== null && (resolve !== 'dismiss' || LATE_OPERATIONS.includes(busy));
  if (isInProgress) throw refuse(`Another operation of this payment is in progress: ${busy}. Wait for its outcome.`);
}

/**
 * Carries out a decision. `record` writes it to the audit log, after all checks and before the decision itself is
 * written: the checks are repeated with each write, so that of two decisions at the same time one is refused.
 */
export async function resolveAttention(
  gateway: Gateway,
  payment: PaymentWithDetails,
  decision: Decision,
  actorName: string,
  requester: Requester,
  record: () => Promise<void>,
): Promise<Resolved> {
  const { resolve } = decision;
  const isRepeat = resolve === 'refund' && (await isRepeatedRefund(gateway, payment, decision));
  if (!isRepeat) requirePossible(payment, resolve);
  if (resolve === 'dismiss') return { payment: await dismiss(gateway, payment, decision, actorName, record) };
  const operations = await gateway.operations.of(payment);
  const money = lateMoney(payment, await gateway.payments.history(payment), operations);
  if (!money)
    throw refuse('The provider has not reported an amount. Look the payment up there, then dismiss the mark.');
  if (money.isElsewhere) {
    throw refuse('Another submission of this payment has the money: refund it at the provider, then dismiss the mark.');
  }
  if (resolve === 'accept') {
    await requireAcceptable(gateway, payment, money);
    return { payment: await accept(gateway, payment, money, decision, actorName, record) };
  }
  if (!isRepeat) requireRefundable(gateway, payment, money, operations);
  return sendBack(gateway, payment, money, decision, { actor: 'operator', name: actorName, requester, record });
}

const refundKey = ({ operationId }: Decision, { paymentId }: Payment) =>
  idempotencyKeyOf(operationId, 'late_refund', paymentId);

/** Whether the same refund of the same payment was requested before. */
async function isRepeatedRefund({ operations }: Gateway, payment: Payment, decision: Decision): Promise<boolean> {
  const key = refundKey(decision, payment);
  const existing = key && (await operations.find({ mid: payment.mid, operationId: key.operationId }));
  return existing !== undefined && existing.content === key?.content;
}

/** The volume was closed without the payment. If this process dies here, the daily count finds it. */
async function countedAnew(gateway: Gateway, { after }: Transition): Promise<PaymentWithDetails> {
  await restartVolumes(gateway, after.mid);
  return after;
}

async function dismiss(
  gateway: Gateway,
  payment: PaymentWithDetails,
  { note }: Decision,
  actorName: string,
  record: () => Promise<void>,
): Promise<PaymentWithDetails> {
  const transition = await writeWithRetry(gateway, payment, async (before, now): Promise<Transition> => {
    requirePossible(before, 'dismiss');
    await record();
    const after = { ...withHistory(before, now), attention: await markBelow(gateway, before) };
    return { before, after, event: 'attended', actor: 'operator', actorName, note, call: undefined };
  });
  return countedAnew(gateway, transition);
}

const laterPayment = (paymentId?: string): Refusal =>
  refuse(
    `The order has a later payment${paymentId === undefined ? '' : ` (${paymentId})`}: only the newest payment of an order ` +
      'can be accepted. Refund this one.',
  );

const paidByOthers = (): Refusal =>
  refuse('The link or the invoice of this payment was paid by another one, or the invoice is void. Refund this one.');

async function requireAcceptable(
  gateway: Gateway,
  payment: PaymentWithDetails,
  { isReserved }: LateMoney,
): Promise<void> {
  if (isReserved) {
    throw refuse('The provider has only reserved the amount, so there is nothing to accept. A refund releases it.');
  }
  const [newest] = await gateway.payments.attempts(payment, 1);
  if (newest && newest.paymentId !== payment.paymentId) throw laterPayment(newest.paymentId);
  if (await isPaidByOthers(gateway, payment)) throw paidByOthers();
}

/** The constraints of the database that find what happened at the same time: a later payment, or one of others. */
const OVERTAKEN: Readonly<Record<string, () => Refusal>> = {
  newest_attempt_is_accepted: laterPayment,
  accepted_payment_has_a_use: paidByOthers,
};

/** Settles the payment. It gets no recurring token: the card of a payment that failed is erased. */
async function accept(
  gateway: Gateway,
  payment: PaymentWithDetails,
  { amount }: LateMoney,
  { note }: Decision,
  actorName: string,
  record: () => Promise<void>,
): Promise<PaymentWithDetails> {
  const event = 'acceptedLate';
  const transition = await writeWithRetry(gateway, payment, async (before, now): Promise<Transition> => {
    requirePossible(before, 'accept');
    await record();
    const after: PaymentWithDetails = {
      ...withHistory(before, now),
      state: nextState(before.state, event) as StateName,
      authorised: before.authorised > amount ? before.authorised : amount,
      captured: amount,
      attention: null,
      declineReason: null,
      dueAt: null,
      queryCount: 0,
    };
    return { before, after, event, actor: 'operator', actorName, note, call: undefined };
  }).catch((error) => {
    throw OVERTAKEN[(error as { constraint?: string }).constraint ?? '']?.() ?? error;
  });
  return countedAnew(gateway, transition);
}

function requireRefundable(
  gateway: Gateway,
  { currency, connector, brand }: Payment,
  money: LateMoney,
  operations: readonly OperationRow[],
): void {
  const isSentBack = operations.some(({ verb, state }) => verb === 'late_refund' && state === 'done');
  if (isSentBack) throw refuse('The money of this payment was sent back already.');
  if (money.currency !== currency) {
    throw refuse(`The provider reported ${money.currency}: refund the payment there, then dismiss the mark.`);
  }
  const { refunds } = capabilitiesOf(gateway, connector) ?? { refunds: 'none' };
  if (!money.isReserved && (refunds !== 'api' || brandOf(brand)?.isPayout)) {
    throw refuse('The provider takes no refund of this payment here: refund it in its portal, then dismiss the mark.');
  }
}

/** Intent, call, outcome, as any operation: the payment keeps its state, and its mark until the provider has done it. */
function sendBack(
  gateway: Gateway,
  payment: PaymentWithDetails,
  { amount, isReserved }: LateMoney,
  decision: Decision,
  initiator: Exclude<Initiator, string>,
): Promise<OperationResult> {
  const plan = (current: Payment): OperationPlan => {
    requirePossible(current, 'refund');
    return { verb: isReserved ? 'late_void' : 'late_refund', amount };
  };
  return operate(gateway, payment, { ...initiator, note: decision.note }, plan, refundKey(decision, payment));
}
