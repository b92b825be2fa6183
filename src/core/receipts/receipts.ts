/** Receipts by e-mail: which payments get one, and sending those that are due, with retries and an end. */
import { isMailAddress } from '../../rules/contacts.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { PaymentDetails, PaymentWithDetails, Transition } from '../../store/payments/payments.ts';
import type { Receipt } from '../../store/receipts/receipts.ts';
import { displayName, findAccount } from '../accounts/accounts.ts';
import type { Account, Gateway } from '../context.ts';
import { processPortions } from '../installation/catch-up.ts';

/** The address of the payer: the one entered for the receipt, or the one that the merchant sent. */
export function receiptAddress({ details: { receiptEmail, payer } }: PaymentWithDetails): string | undefined {
  const address = receiptEmail ?? payer.email;
  return isMailAddress(address) ? address : undefined;
}

/** Whether the receipt is sent by e-mail, if there is a mail server: the transition settles the payment. */
export async function hasReceipt(gateway: Gateway, { before, after }: Transition): Promise<boolean> {
  if (after.state !== 'SETTLED' || before.state === 'SETTLED') return false;
  if (receiptAddress(after) === undefined) return false;
  return (await findAccount(gateway, after.mid))?.settings.receipts === 'email';
}

const sendsReceipts = ({ mailer }: Gateway, { settings }: Account): boolean =>
  mailer !== undefined && settings.receipts === 'email';

/** Whether the payment page asks the payer for an address. */
export const asksForReceipt = (gateway: Gateway, { details }: PaymentWithDetails, account: Account): boolean =>
  sendsReceipts(gateway, account) && account.settings.receipt_email_asked && !isMailAddress(details.payer.email);

/** What a payment stores of its payer for the receipt. */
export const receiptDetails = (
  gateway: Gateway,
  account: Account,
  { language, email = '' }: { language: string; email?: string | undefined },
): Pick<PaymentDetails, 'language' | 'receiptEmail'> =>
  sendsReceipts(gateway, account) ? { language, ...(email !== '' && { receiptEmail: email }) } : {};

/** When the payer paid: when the payment was settled or, before that, when its amount was reserved. */
export async function paidAt(gateway: Gateway, payment: PaymentWithDetails): Promise<number> {
  const history = await gateway.payments.history(payment);
  const paid =
    history.find(({ fromState, toState }) => toState === 'SETTLED' && fromState !== 'SETTLED') ??
    history.find(({ event }) => event === 'authorised');
  return paid?.at ?? payment.updatedAt;
}

/** Sends due receipts, a few at a time, until none is due. */
export const sendDueReceipts = (gateway: Gateway, isStopped: () => boolean): Promise<void> =>
  processPortions(
    gateway,
    isStopped,
    LIMITS.receiptLeaseMs,
    () => gateway.receipts.claimDue(LIMITS.receiptsAtATime),
    (receipt) => sendReceipt(gateway, receipt),
  );

/** Never throws: if the outcome cannot be recorded, the receipt is due again after its lease, with the same message id. */
async function sendReceipt(gateway: Gateway, receipt: Receipt): Promise<void> {
  const names = { mid: receipt.mid, payment_id: receipt.paymentId };
  try {
    const outcome = await attempt(gateway, receipt);
    const attemptedAt = gateway.clock.now(receipt.mid);
    const pauseMs = LIMITS.receiptBackoffMs[receipt.attempts];
    const isRetried = outcome.kind === 'failed' && pauseMs !== undefined;
    const state = outcome.kind === 'sent' ? 'sent' : isRetried ? 'waiting' : 'failed';
    const dueAt = isRetried ? attemptedAt + pauseMs : null;
    await gateway.receipts.record(receipt, { state, reason: outcome.reason, dueAt, attemptedAt });
    if (state === 'failed') gateway.log.warn({ ...names, reason: outcome.reason }, 'receipt not sent');
  } catch (error) {
    gateway.log.error({ ...names, err: error }, 'receipt could not be sent');
  }
}

async function attempt(gateway: Gateway, { mid, paymentId, createdAt }: Receipt) {
  const payment = await gateway.payments.find({ mid, paymentId });
  const account = await findAccount(gateway, mid);
  const to = payment && receiptAddress(payment);
  if (!gateway.mailer || !payment || !account || to === undefined) {
    return { kind: 'rejected', reason: 'There is no address to send it to.' } as const;
  }
  return gateway.mailer.send({
    id: `receipt-${paymentId}`,
    date: new Date(createdAt),
    fromName: displayName(account),
    replyTo: account.settings['branding.support_email'] || undefined,
    to,
    ...gateway.writeReceipt(payment, account, createdAt),
  });
}
