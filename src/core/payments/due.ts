/** Processes due payments and operations: queries open outcomes, ends overdue payments, expires authorisations. */
import { LIMITS } from '../../rules/limits.ts';
import { isOpen } from '../../rules/states.ts';
import type { OperationRow, PaymentWithDetails } from '../../store/payments/payments.ts';
import { findAccount } from '../accounts/accounts.ts';
import type { Account, Gateway } from '../context.ts';
import { isReviewDue } from '../risk/reviewed.ts';
import { declineBlocked } from '../risk/screen.ts';
import { checkAfterRestore } from './after-restore.ts';
import { authorisationEnd } from './authorisation-end.ts';
import { endCardCheck } from './card-check.ts';
import { isOutOfTime } from './deadlines.ts';
import { applyNotificationsOf } from './notifications.ts';
import { expireAuthorisation, queryOperation, resolveRefusedExpiry } from './operate.ts';
import { endOutOfTime, queryProvider } from './provider.ts';
import { recordQuery } from './record.ts';

export async function processDueOperation(gateway: Gateway, operation: OperationRow): Promise<void> {
  try {
    const payment = await gateway.payments.find(operation);
    if (!payment) return;
    const result = await queryOperation(gateway, payment, operation);
    const account = await findAccount(gateway, payment.mid);
    if (account) await resolveRefusedExpiry(gateway, result, account);
  } catch (error) {
    // The operation is due again when its lease expires.
    gateway.log.error({ err: error, payment_id: operation.paymentId }, 'due operation failed');
  }
}

export async function processDuePayment(gateway: Gateway, payment: PaymentWithDetails): Promise<void> {
  try {
    const account = await findAccount(gateway, payment.mid);
    if (!account) throw new Error(`The payment ${payment.paymentId} belongs to no account.`);
    await processPayment(gateway, payment, account);
  } catch (error) {
    // The payment is due again when its lease expires.
    gateway.log.error({ err: error, payment_id: payment.paymentId }, 'due payment failed');
  }
}

async function processPayment(gateway: Gateway, payment: PaymentWithDetails, account: Account): Promise<void> {
  if (!isOpen(payment.state)) return queryProvider(gateway, payment, account);
  if (isOutOfTime(gateway, payment)) return void (await endOutOfTime(gateway, payment, account, 'work loop'));
  if (payment.state === 'PREPARE' && (await applyNotificationsOf(gateway, payment.paymentId))) return;
  if (payment.state !== 'PENDING' && (await declineBlocked(gateway, payment))) return;
  const isAuthorised = payment.authorised > 0n;
  const isExpired =
    isAuthorised && gateway.clock.now(payment.mid) >= (await authorisationEnd(gateway, payment, account));
  if (!isExpired) return queryProvider(gateway, payment, account);
  // Its review comes first, which may capture it; the payment is due again when its lease expires.
  if (await isReviewDue(gateway, payment)) return;
  return endAuthorisation(gateway, payment, account);
}

/** Voids an authorisation whose time is over; after a restore, not before the release. A card check is over at once. */
async function endAuthorisation(gateway: Gateway, payment: PaymentWithDetails, account: Account): Promise<void> {
  const checked = await checkAfterRestore(gateway, payment, account);
  if (checked.kind === 'changed') return;
  if (checked.kind === 'authorised') {
    const end = payment.details.isCardCheck ? endCardCheck : expireAuthorisation;
    return end(gateway, payment, account);
  }
  const { queryCount, attention } = payment;
  const dueAt = gateway.clock.now(payment.mid) + LIMITS.heldPauseMs;
  await recordQuery(gateway, payment, checked.call, { queryCount, attention, dueAt });
}
