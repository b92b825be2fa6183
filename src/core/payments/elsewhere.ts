/** Applies captures, voids and refunds that were made at the provider itself, such as in its dashboard. */
import type { OperationOutcome, ProviderOperation, RefundElsewhere } from '../../connectors/connector.ts';
import { isOpen, isRefund, nextState } from '../../rules/states.ts';
import type { CallRecord, PaymentWithDetails, Transition } from '../../store/payments/payments.ts';
import type { Account, Gateway } from '../context.ts';
import { advance, withHistory, writeWithRetry } from './advance.ts';
import { strongerMark } from './marks.ts';
import { applyOutcome } from './provider.ts';
import { recordFailedOperation, recordUnhandled, recordWrongAmount } from './record.ts';
import { isPossibleCapture, wrongAmountRecord } from './reported-amounts.ts';

const callOf = ({ connector }: PaymentWithDetails, outcome: string, operation: string): CallRecord => ({
  verb: 'notification',
  connector,
  outcome,
  tookMs: 0,
  operation,
});

/**
 * Books refunds that the provider reports, each once: its history entry has the provider's id of it. A refund that does not
 * fit, or that fails after it was booked, is marked for the operator; so is one of ours that fails after it was done.
 */
export async function applyRefunds(
  gateway: Gateway,
  payment: PaymentWithDetails,
  refunds: readonly RefundElsewhere[],
): Promise<void> {
  const operations = refunds.some(({ isFailed }) => isFailed) ? await gateway.operations.of(payment) : [];
  for (const refund of refunds) {
    const ours = operations.find(({ providerReference }) => providerReference === refund.reference);
    if (!ours) await writeWithRetry(gateway, payment, (before, now) => composeRefund(gateway, before, refund, now));
    else if (refund.isFailed && ours.state === 'done') await recordFailedOperation(gateway, payment, ours);
  }
}

async function composeRefund(
  gateway: Gateway,
  before: PaymentWithDetails,
  { reference, amount: reported, isFailed }: RefundElsewhere,
  now: number,
): Promise<Transition | undefined> {
  const known = (await gateway.payments.history(before)).filter(({ call }) => call?.operation === reference);
  const isMarked = known.some(({ event }) => event === 'doubted');
  if (isMarked || known.length > (isFailed ? 1 : 0) || (isFailed && known.length === 0)) return undefined;
  const { amount, currency = before.currency } = reported === 'invalid' ? { amount: 0n } : reported;
  const left = before.captured - before.refunded - before.reserved;
  const isPossible = currency === before.currency && amount > 0n && amount <= left && !isFailed;
  const event = before.refunded + amount === before.captured ? 'refunded' : 'partlyRefunded';
  const to = isPossible ? nextState(before.state, event) : undefined;
  if (to === undefined) {
    const call: CallRecord = {
      ...callOf(before, isFailed ? 'refund failed' : 'unexpected refund', reference),
      ...(reported !== 'invalid' && { reported: { amount: String(amount), currency } }),
    };
    const after = { ...withHistory(before, now), attention: strongerMark(before.attention, 'unresolved') };
    return { before, after, event: 'doubted', actor: 'provider', call };
  }
  const after: PaymentWithDetails = { ...withHistory(before, now), refunded: before.refunded + amount, state: to };
  return { before, after, event, actor: 'provider', call: callOf(before, 'refunded', reference), moved: amount };
}

/** A refund that was made at the provider itself, as the history has it. */
export interface RefundAtProvider {
  at: number;
  amount: bigint;
}

/** The refunds of a payment that were made at the provider itself; they have no row among the operations. */
export async function refundsElsewhere(
  { payments }: Gateway,
  payment: PaymentWithDetails,
): Promise<RefundAtProvider[]> {
  if (payment.refunded === 0n) return [];
  const history = await payments.history(payment);
  return history.flatMap(({ event, call, at, amount }) =>
    isRefund(event) && call?.operation !== undefined && amount !== null ? [{ at, amount }] : [],
  );
}

/** A webhook reports an operation that is none of ours; `early` if the payment has to settle first. */
export async function applyElsewhere(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  verb: ProviderOperation['verb'],
  reference: string,
  outcome: OperationOutcome,
): Promise<'done' | 'early'> {
  if (outcome.kind !== 'done') return 'done';
  const { state, authorised, captured, busy } = payment;
  const { reportedAmount: amount } = outcome;
  if (verb === 'refund') {
    if (isOpen(state)) return 'early';
    await applyRefunds(gateway, payment, [{ reference, amount: amount ?? { amount: authorised } }]);
    return 'done';
  }
  if (isOpen(state) && authorised === 0n) return 'early';
  if (verb === 'void') {
    if (busy !== null) return 'early';
    await advance(gateway, payment, { event: 'voided', actor: 'provider', call: callOf(payment, 'voided', reference) });
    return 'done';
  }
  // A sale is captured as a whole, and some providers report that, too.
  const isPart = captured > 0n && captured < authorised;
  if (captured > 0n && !isPart) return 'done';
  const call = callOf(payment, 'captured', reference);
  const isKnown = isPart && (await gateway.payments.history(payment)).some((row) => row.call?.operation === reference);
  if (isPart && !isKnown) await recordUnhandled(gateway, payment, { ...call, outcome: 'a further capture' });
  if (isPart) return 'done';
  if (isPossibleCapture(payment, amount))
    await applyOutcome(gateway, payment, account, { kind: 'settled', captured: amount }, call);
  else {
    const wrong = wrongAmountRecord(payment, { ...call, outcome: 'settled' }, amount);
    await recordWrongAmount(gateway, payment, 'provider', wrong);
  }
  return 'done';
}
