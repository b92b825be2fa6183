/** What time brings to payments: open outcomes are asked about, payers run out of time, authorisations expire. */
import type { OperationRow, WholePayment } from '../../store/payments.ts';
import { findAccount } from '../accounts.ts';
import { catchUp } from '../catch-up.ts';
import type { Account, Gateway } from '../context.ts';
import { abandon, advance, isOutOfTime } from './advance.ts';
import { workNewsOf } from './news.ts';
import { inquireOperation } from './operate.ts';
import { inquire } from './provider.ts';

const CLAIM_MOST = 200;

/** Does everything that is due by the gateway's clock and returns how many payments that were. */
export async function workDuePayments(gateway: Gateway): Promise<number> {
  let worked = 0;
  for (;;) {
    const now = gateway.clock.now();
    const due = await gateway.payments.claimDue(now, now + gateway.clock.furthestOffset(), CLAIM_MOST);
    if (due.length === 0) return worked;
    await catchUp(gateway, due);
    const accounts = new Map<string, Account | undefined>();
    for (const mid of new Set(due.map((payment) => payment.mid))) accounts.set(mid, await findAccount(gateway, mid));
    await Promise.all(due.map((payment) => workDuePayment(gateway, payment, accounts.get(payment.mid))));
    worked += due.length;
  }
}

/** Asks about operations whose outcome is still to come. */
export async function workDueOperations(gateway: Gateway): Promise<void> {
  for (;;) {
    const now = gateway.clock.now();
    const due = await gateway.operations.claimDue(now, now + gateway.clock.furthestOffset(), CLAIM_MOST);
    if (due.length === 0) return;
    await catchUp(gateway, due);
    await Promise.all(due.map((operation) => workDueOperation(gateway, operation)));
  }
}

async function workDueOperation(gateway: Gateway, operation: OperationRow): Promise<void> {
  try {
    const payment = await gateway.payments.find(operation);
    if (payment) await inquireOperation(gateway, payment, operation);
  } catch (error) {
    // The lease runs out and the operation is due again.
    gateway.log.error({ err: error, payment_id: operation.paymentId }, 'due operation failed');
  }
}

async function workDuePayment(gateway: Gateway, payment: WholePayment, account: Account | undefined): Promise<void> {
  try {
    if (!account) throw new Error(`The payment ${payment.paymentId} belongs to no account.`);
    if (isOutOfTime(gateway, payment)) await abandon(gateway, payment);
    else if (payment.state === 'PREPARE' && (await workNewsOf(gateway, payment.paymentId))) return;
    else if (payment.authorised > 0n) await advance(gateway, payment, { event: 'expired', actor: 'clock' });
    else await inquire(gateway, payment, account);
  } catch (error) {
    // The lease runs out and the payment is due again.
    gateway.log.error({ err: error, payment_id: payment.paymentId }, 'due payment failed');
  }
}
