/** Applies what a provider reports about a submission of a payment that another one took over. */
import type { CallRecord, FormerSubmission, PaymentWithDetails } from '../../store/payments/payments.ts';
import { isChargeback, newReports, recordFormerChargeback } from '../chargebacks/report.ts';
import type { Account, Gateway } from '../context.ts';
import { askProvider, capturedAmount, type KnownOutcome } from './provider.ts';
import { recordFormerSuccess } from './record.ts';
import { partRecord } from './reported-amounts.ts';

/**
 * A former submission of a payment is reported as paid or charged back, or asks to be queried: another connection has taken
 * the payment over, so money that moved there is a case for the operator. False without an answer.
 */
export async function applyToFormer(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  former: FormerSubmission,
  meaning: KnownOutcome | { kind: 'ask' },
): Promise<boolean> {
  const { submission, ...fields } = former;
  const then = { ...payment, ...fields, providerData: { ...former.providerData, submission } };
  const asked = meaning.kind === 'ask' ? await askProvider(gateway, then, account) : undefined;
  if (asked === 'cannotBeAsked') return false;
  if (asked && asked.kind !== 'outcome') return asked.kind === 'notFound';
  const outcome = asked ? asked.outcome : (meaning as KnownOutcome);
  const notified = { verb: 'notification', connector: former.connector, outcome: outcome.kind, tookMs: 0 } as const;
  const call: CallRecord = { ...(asked?.call ?? notified), submission };
  if (isChargeback(outcome)) await recordFormerChargeback(gateway, payment, outcome, call);
  if (outcome.kind !== 'settled' && outcome.kind !== 'authorised') return true;
  const { captured, chargebacks = [] } = outcome.kind === 'settled' ? outcome : {};
  await recordFormerSuccess(gateway, payment, outcome.kind, partRecord(payment, call, capturedAmount({ captured })));
  for (const chargeback of await newReports(gateway, payment, chargebacks, submission))
    await recordFormerChargeback(gateway, payment, chargeback, { ...call, outcome: chargeback.kind });
  return true;
}
