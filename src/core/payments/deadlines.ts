/** The payer's deadline: until when a payment waits for its payer, and whether that time has passed. */
import { brandOf, NO_BRAND_YET, NO_CONNECTOR } from '../../rules/brands.ts';
import { pendingDaysOf } from '../../rules/connectors.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Payment, PaymentWithDetails } from '../../store/payments/payments.ts';
import type { Gateway } from '../context.ts';

type DeadlineFields = Pick<Payment, 'mid' | 'state' | 'payerUntil' | 'brand' | 'authorised' | 'inDoubt' | 'createdAt'> &
  Partial<Pick<Payment, 'nextStep' | 'connector'>>;

/** Until when a payment waits for its payer; undefined if it does not wait for the payer. */
export function payerDeadline(payment: DeadlineFields): number | undefined {
  const { state, payerUntil, brand, authorised, nextStep } = payment;
  // An authorised payment no longer waits for its payer.
  if (payerUntil === null || authorised > 0n) return undefined;
  if (state === 'PENDING') return pendingDeadline(payment, payerUntil);
  const isChoosing = state === 'PREPARE' && brand === NO_BRAND_YET;
  // Without a next step the payer has finished, and the payment is being submitted.
  const isElsewhere = (state === 'REDIRECT' || state === '3DS') && nextStep !== null;
  if (!isChoosing && !isElsewhere) return undefined;
  return nextStep?.kind === 'challenge' ? Math.min(nextStep.until, payerUntil) : payerUntil;
}

/** The provider waits for the payer. A payment in doubt has a deadline only if its brand gives the payer a fixed time. */
function pendingDeadline(
  { brand, inDoubt, createdAt, connector = NO_CONNECTOR }: DeadlineFields,
  payerUntil: number,
): number | undefined {
  const row = brandOf(brand);
  if (row?.payerTimeMs !== undefined) return payerUntil;
  if (inDoubt || row?.pendingMs === undefined) return undefined;
  // A provider may take longer than the brand usually does, such as for a bank transfer.
  return createdAt + Math.max(row.pendingMs, pendingDaysOf(connector).payments * LIMITS.dayMs);
}

/** Whether the payer's deadline has passed. The payment then counts as ended, even if that is not written yet. */
export function isOutOfTime({ clock }: Pick<Gateway, 'clock'>, payment: DeadlineFields): boolean {
  const deadline = payerDeadline(payment);
  return deadline !== undefined && clock.now(payment.mid) >= deadline;
}

/** Makes the payment due at its deadline at the latest; after the deadline, `dueAt` is the next query. */
export function withDeadline(payment: PaymentWithDetails): PaymentWithDetails {
  const { dueAt, updatedAt } = payment;
  const deadline = payerDeadline(payment);
  const isSooner = deadline !== undefined && (dueAt === null || (deadline < dueAt && deadline > updatedAt));
  return isSooner ? { ...payment, dueAt: deadline } : payment;
}

/** Whether a provider may have the payment: not while the payer chooses a brand, fills in fields or is on the way here. */
export const wasSubmitted = ({ nextStep, brand }: Pick<Payment, 'nextStep' | 'brand'>): boolean =>
  nextStep?.kind !== 'fields' && nextStep?.kind !== 'authentication' && brand !== NO_BRAND_YET;
