/** Composes the request that creates a payment at Mollie. */
import type { CaptureMethod, PaymentCreateParams, PaymentMethod, SequenceType } from '@mollie/api-client';
import { idempotencyKey, type Submission } from '../connector.ts';
import { amountOf, TEXT_LENGTH } from './outcomes.ts';

/** In `settings.methods`: payers choose the method on the page of Mollie. */
export const ANY_METHOD = 'automatic';

const isLoopback = (address: string): boolean => /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(address).hostname);

/** The parameters of a new payment; `canReachLoopback` if it is created at a double on this machine. */
export function parametersOf(
  submission: Submission,
  customer: string | undefined,
  canReachLoopback: boolean,
): PaymentCreateParams {
  const { reference, amount, currency, description, notifyUrl, authoriseOnly, recurringOf, first, method } = submission;
  const mandate = first?.paymentMethod?.reveal();
  // Mollie refuses an address that it cannot reach; such a gateway learns the outcome by queries.
  const hasWebhook = canReachLoopback || !isLoopback(notifyUrl);
  const common: PaymentCreateParams = {
    amount: amountOf(amount, currency),
    description: description.slice(0, TEXT_LENGTH) || reference,
    metadata: { reference },
    ...(hasWebhook && { webhookUrl: notifyUrl }),
    idempotencyKey: idempotencyKey(reference, 2),
    ...(authoriseOnly && { captureMode: 'manual' as CaptureMethod }),
    ...(customer !== undefined && { customerId: customer }),
  };
  if (recurringOf !== undefined)
    return {
      ...common,
      sequenceType: 'recurring' as SequenceType,
      ...(mandate !== undefined && { mandateId: mandate }),
    };
  return {
    ...common,
    redirectUrl: submission.returnUrl(),
    ...(method !== undefined && method !== ANY_METHOD && { method: method as PaymentMethod }),
    ...(customer !== undefined && { sequenceType: 'first' as SequenceType }),
    ...addressOf(submission),
  };
}

/** Mollie takes a billing address only if it is complete. */
function addressOf({ payer }: Submission): Pick<PaymentCreateParams, 'billingAddress'> {
  const { first_name, last_name, email, address, city, zip, state, country } = payer;
  if (!address || !city || !zip || !country) return {};
  return {
    billingAddress: {
      ...(first_name && { givenName: first_name }),
      ...(last_name && { familyName: last_name }),
      ...(email && { email }),
      streetAndNumber: address,
      postalCode: zip,
      city,
      ...(state && { region: state }),
      country,
    },
  };
}
