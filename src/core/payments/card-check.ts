/** Card checks: authorisations that only show whether a card works, and are voided at once. */
import { Refusal } from '../../rules/errors.ts';
import type { PaymentWithDetails } from '../../store/payments/payments.ts';
import type { Account, Gateway } from '../context.ts';
import { voidPayment } from './change.ts';
import { expireAuthorisation } from './operate.ts';

/** The amount of a check in the database: the smallest unit of the currency, which most connectors authorise. */
export const CHECKED_UNITS = 1n;

/**
 * Voids the authorisation of a card check. The payment is due from the moment it is authorised: if this process dies, the
 * work loop does it. A void that the provider refuses ends like an authorisation that has expired.
 */
export async function endCardCheck(gateway: Gateway, payment: PaymentWithDetails, account: Account): Promise<void> {
  const result = await voidPayment(gateway, payment, 'clock').catch((error): undefined => {
    // Another process voids it.
    if (!(error instanceof Refusal)) throw error;
  });
  if (result?.operation.state === 'declined') await expireAuthorisation(gateway, result.payment, account);
}
