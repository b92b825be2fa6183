/** After a restore: an authorisation is checked at its provider before the clock captures or voids it. */
import type { CallRecord, PaymentWithDetails } from '../../store/payments/payments.ts';
import type { Account, Gateway } from '../context.ts';
import { isInLostTime } from '../installation/hold.ts';
import { checkAuthorisation } from './provider.ts';

/** Whether an authorisation is as this database says; `held` waits for the release, `unanswered` for the provider. */
type Checked = { kind: 'authorised' } | { kind: 'changed' } | { kind: 'held' | 'unanswered'; call: CallRecord };

/** The provider is asked because the payment may have been captured or voided since the backup. */
export async function checkAfterRestore(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
): Promise<Checked> {
  const restore = await gateway.restores.last();
  if (!restore || !isInLostTime(gateway, restore, payment.createdAt)) return { kind: 'authorised' };
  const { kind, call } = await checkAuthorisation(gateway, payment, account);
  return { kind: kind === 'authorised' && restore.releasedAt === null ? 'held' : kind, call };
}
