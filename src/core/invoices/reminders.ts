/** Reminders of invoices by e-mail: before the due date, and when it is over, once each. */

import { INVOICE_LIMITS, nextReminder, REMINDERS } from '../../rules/invoices.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { DueReminder } from '../../store/invoices/invoices.ts';
import { displayName, findAccount } from '../accounts/accounts.ts';
import type { Account, Gateway } from '../context.ts';
import { processPortions } from '../installation/catch-up.ts';
import { invoiceState } from './state.ts';

/** Sends due reminders, a few at a time, until none is due. */
export const sendDueReminders = (gateway: Gateway, isStopped: () => boolean): Promise<void> =>
  processPortions(
    gateway,
    isStopped,
    LIMITS.receiptLeaseMs,
    () => gateway.invoices.claimReminders(INVOICE_LIMITS.remindersAtATime),
    (reminder) => processReminder(gateway, reminder),
  );

/** Never throws: if the outcome cannot be recorded, the reminder is due again after its lease, with the same message id. */
async function processReminder(gateway: Gateway, claimed: DueReminder): Promise<void> {
  const { mid, invoiceId, reminder, reminderAttempts, invoice } = claimed;
  try {
    const account = await findAccount(gateway, mid);
    if (!account) return await gateway.invoices.recordReminder(claimed, { ...claimed, dueAt: null });
    const pauseMs = (await isSent(gateway, claimed, account)) ? undefined : LIMITS.receiptBackoffMs[reminderAttempts];
    const now = gateway.clock.now(mid);
    if (pauseMs !== undefined) {
      const again = { reminder, reminderAttempts: reminderAttempts + 1, dueAt: now + pauseMs };
      return await gateway.invoices.recordReminder(claimed, again);
    }
    const isOver = ['paid', 'void'].includes(invoiceState(invoice, now));
    const next = isOver ? undefined : nextReminder(invoice.dueOn, now, reminder + 1);
    await gateway.invoices.recordReminder(claimed, {
      reminder: next?.reminder ?? REMINDERS.length,
      reminderAttempts: 0,
      dueAt: next?.dueAt ?? null,
    });
  } catch (error) {
    gateway.log.error({ mid, invoice_id: invoiceId, err: error }, 'reminder could not be sent');
  }
}

/** Whether the reminder was sent, or need not be; false if it should be tried again. */
async function isSent(
  { mailer, clock, writeInvoice }: Gateway,
  { mid, invoiceId, reminder, invoice }: DueReminder,
  account: Account,
): Promise<boolean> {
  const kind = REMINDERS[reminder]?.kind;
  const state = invoiceState(invoice, clock.now(mid));
  const isWanted = state === (kind === 'before' ? 'open' : 'overdue');
  if (!mailer || !kind || !isWanted || !account.settings.invoice_reminders || account.isSuspended) return true;
  const { kind: outcome } = await mailer.send({
    id: `invoice-${invoiceId}-${kind}`,
    date: new Date(clock.real()),
    fromName: displayName(account),
    replyTo: account.settings['branding.support_email'] || undefined,
    to: invoice.payer.email,
    ...writeInvoice(invoice, account, kind),
  });
  return outcome !== 'failed';
}
