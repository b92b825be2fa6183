/** When an authorisation ends if it is not captured. */
import { LIMITS } from '../../rules/limits.ts';
import type { PaymentWithDetails } from '../../store/payments/payments.ts';
import type { Account, Gateway } from '../context.ts';

/** When an authorisation is ended if it is not captured: by the account's setting, but before the provider ends it. */
export function endOfAuthorisation(
  { details, providerData }: Pick<PaymentWithDetails, 'details' | 'providerData'>,
  { settings }: Account,
  authorisedAt: number,
): number {
  // A card check needs none.
  if (details.isCardCheck) return authorisedAt;
  const end = authorisedAt + settings.authorisation_days * LIMITS.dayMs;
  const { captureBefore } = providerData ?? {};
  return captureBefore === undefined ? end : Math.min(end, captureBefore - LIMITS.captureMarginMs);
}

/** When an authorisation expires if it is not captured. */
export async function authorisationEnd(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
): Promise<number> {
  const history = await gateway.payments.history(payment);
  const authorisedAt = history.find(({ event }) => event === 'authorised')?.at ?? payment.createdAt;
  return endOfAuthorisation(payment, account, authorisedAt);
}
