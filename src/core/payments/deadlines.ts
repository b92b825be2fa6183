/** How long a payment waits for its payer, and whether that time is over. */
import { brandOf, NO_BRAND_YET } from '../../rules/brands.ts';
import type { Payment, WholePayment } from '../../store/payments.ts';
import type { Gateway } from '../context.ts';

type Awaiting = Pick<Payment, 'mid' | 'state' | 'payerUntil' | 'brand' | 'authorised' | 'inDoubt' | 'createdAt'> &
  Partial<Pick<Payment, 'nextStep'>>;

/** Until when a payment waits for its payer; nothing when it does not. */
export function payerDeadline(payment: Awaiting): number | undefined {
  const { state, payerUntil, brand, authorised, nextStep } = payment;
  // An authorised payment no longer waits for its payer.
  if (payerUntil === null || authorised > 0n) return undefined;
  if (state === 'PENDING') return pendingDeadline(payment, payerUntil);
  const isChoosing = state === 'PREPARE' && brand === NO_BRAND_YET;
  // Without a next step the payer has done their part, and the payment is being submitted.
  const isElsewhere = (state === 'REDIRECT' || state === '3DS') && nextStep !== null;
  if (!isChoosing && !isElsewhere) return undefined;
  return nextStep?.kind === 'challenge' ? Math.min(nextStep.until, payerUntil) : payerUntil;
}

/** The provider has the payment and waits for the payer. Time does not end a payment whose outcome is unknown. */
function pendingDeadline({ brand, inDoubt, createdAt }: Awaiting, payerUntil: number): number | undefined {
  const row = brandOf(brand);
  if (row?.payerTimeMs !== undefined) return payerUntil;
  return inDoubt || row?.pendingMs === undefined ? undefined : createdAt + row.pendingMs;
}

/** Whether the payer did not finish in time; such a payment has ended, even if nobody has looked since. */
export function isOutOfTime({ clock }: Pick<Gateway, 'clock'>, payment: Awaiting): boolean {
  const deadline = payerDeadline(payment);
  return deadline !== undefined && clock.now(payment.mid) >= deadline;
}

/** The payment is due at its deadline at the latest; once that is past, when the provider is to be asked again. */
export function withDeadline(payment: WholePayment): WholePayment {
  const { dueAt, updatedAt } = payment;
  const deadline = payerDeadline(payment);
  const isSooner = deadline !== undefined && (dueAt === null || (deadline < dueAt && deadline > updatedAt));
  return isSooner ? { ...payment, dueAt: deadline } : payment;
}

/** Whether a provider may have the payment: not while the payer still chooses or fills in what is missing. */
export const wasSubmitted = ({ nextStep, brand }: Pick<Payment, 'nextStep' | 'brand'>): boolean =>
  nextStep?.kind !== 'fields' && brand !== NO_BRAND_YET;
