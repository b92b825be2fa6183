/** The payer leaves an attempt for another method, or asks for a new code: nothing that may still be paid is replaced. */
import { Deadline } from '../../lib/time/deadline.ts';
import { brandOf } from '../../rules/brands.ts';
import { LIMITS } from '../../rules/limits.ts';
import { DECLINE_CAUSES } from '../../rules/reasons.ts';
import type { NextStep, PaymentWithDetails } from '../../store/payments/payments.ts';
import { capabilitiesOf } from '../connections/connectors.ts';
import type { Account, Gateway } from '../context.ts';
import { advance } from './advance.ts';
import { applyIfNew, callAndCheck } from './provider.ts';
import { recordQuery } from './record.ts';

/** The reason of an attempt that its payer has left. */
export const LEFT = DECLINE_CAUSES.cancelledByPayer.reason;

/** A card is submitted only after its challenge is passed: until then no provider has it. */
const isBeforeSubmission = ({ state, nextStep }: PaymentWithDetails): boolean =>
  state === '3DS' && nextStep?.kind === 'challenge';

const isOpenSession = (
  { clock }: Pick<Gateway, 'clock'>,
  { details: { session }, mid, inDoubt, authorised }: PaymentWithDetails,
  account: Account,
): boolean =>
  session !== undefined && !account.isSuspended && !inDoubt && authorised === 0n && clock.now(mid) < session.until;

const WAITS_FOR_PAYER: readonly (NextStep['kind'] | undefined)[] = ['code', 'redirect'];

/** Whether the payer can leave the attempt: it has not been submitted, or its provider can end it. */
export function canLeave(gateway: Gateway, payment: PaymentWithDetails, account: Account): boolean {
  if (!isOpenSession(gateway, payment, account)) return false;
  if (isBeforeSubmission(payment)) return true;
  const { nextStep, connector } = payment;
  return WAITS_FOR_PAYER.includes(nextStep?.kind) && capabilitiesOf(gateway, connector)?.supportsWithdrawals === true;
}

/**
 * Ends an attempt that can be left, so that the payer can start another one. A provider that has the payment ends it first; while it has
 * not confirmed that, the attempt stays open. If this process dies meanwhile, the scheduled query finds the outcome.
 */
export async function leaveAttempt(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
): Promise<PaymentWithDetails> {
  if (!isBeforeSubmission(payment)) {
    const deadline = new Deadline(LIMITS.outcomeTimeoutMs);
    const answer = await callAndCheck(gateway, payment, account, { verb: 'withdraw', deadline });
    return applyIfNew(gateway, payment, account, answer);
  }
  // The result of the challenge may arrive at the same time: whichever is written first counts.
  const left = await advance(gateway, payment, {
    event: 'abandoned',
    actor: 'payer',
    declineReason: LEFT,
    onlyIf: isBeforeSubmission,
  });
  if (left.state === 'DECLINED') gateway.securityCodes.take(payment.paymentId);
  return left;
}

/** Whether the payer can get a new code: the last one has expired, and the session has not. */
export function canRenewCode(gateway: Gateway, payment: PaymentWithDetails, account: Account): boolean {
  const { nextStep, mid } = payment;
  return (
    nextStep?.kind === 'code' &&
    gateway.clock.now(mid) >= nextStep.until &&
    isOpenSession(gateway, payment, account) &&
    capabilitiesOf(gateway, payment.connector)?.supportsQueries === true
  );
}

/**
 * Shows a code that can be renewed again: that of the same payment at the provider, so that both codes together can be
 * paid once. The provider is queried first, because the payer may have paid.
 */
export async function renewCode(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
): Promise<PaymentWithDetails> {
  const deadline = new Deadline(LIMITS.outcomeTimeoutMs);
  const answer = await callAndCheck(gateway, payment, account, { verb: 'query', deadline });
  const code = answer.kind === 'outcome' && answer.outcome.kind === 'accepted' ? answer.outcome.code : undefined;
  if (code === undefined) return applyIfNew(gateway, payment, account, answer);
  const now = gateway.clock.now(payment.mid);
  const codeUntil = now + (brandOf(payment.brand)?.codeTimeMs ?? LIMITS.payerMs);
  const until = Math.min(codeUntil, payment.details.session?.until ?? codeUntil);
  return recordQuery(gateway, payment, answer.call, {
    nextStep: { kind: 'code', text: code, until },
    queryCount: 0,
    dueAt: now + LIMITS.queryBackoffMs[0],
  });
}
