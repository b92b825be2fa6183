/** Composes the request that creates a payment at Mollie. */
import type { CaptureMethod, Locale, PaymentCreateParams, PaymentMethod, SequenceType } from '@mollie/api-client';
import { isPrivateAddress, literalAddresses } from '../../lib/http/private-address.ts';
import { cut } from '../../lib/text/cut.ts';
import { dayText, localDay } from '../../lib/time/zones.ts';
import { settingText } from '../../rules/connectors.ts';
import type { Submission } from '../connector.ts';
import { linesOf } from '../order-lines.ts';
import { cleanPayer } from '../payer.ts';
import { amountOf, TEXT_LENGTH } from './outcomes.ts';

/** In `settings.methods`: payers choose the method on the page of Mollie. */
export const ANY_METHOD = 'automatic';

/** Whether the address is that of this machine or of a private network; the name of any other host counts as public. */
const isPrivate = (address: string): boolean => literalAddresses(new URL(address).hostname).some(isPrivateAddress);

/** The day by which a bank transfer is due, by the clocks of Mollie, whose first possible day is tomorrow. */
const dueDate = ({ openedAt }: Submission, days: number): string =>
  dayText(localDay(openedAt, 'Europe/Amsterdam').day + days);

/** The parameters of a new payment; `canReachPrivate` if it is created at a double on this machine. */
export function parametersOf(
  submission: Submission,
  customer: string | undefined,
  canReachPrivate: boolean,
  settings: Readonly<Record<string, unknown>> = {},
): PaymentCreateParams {
  const { reference, amount, currency, description, descriptor, notifyUrl, authoriseOnly, recurringOf, first, method } =
    submission;
  const locale = settingText(settings, 'locale');
  const { due_days: dueDays } = settings;
  const mandate = first?.paymentMethod?.reveal();
  // Mollie refuses an address that it cannot reach; such a gateway learns the outcome by queries.
  const hasWebhook = canReachPrivate || !isPrivate(notifyUrl);
  const common: PaymentCreateParams = {
    amount: amountOf(amount, currency),
    // Mollie prints it on the payer's statement.
    description: cut([descriptor, description].filter(Boolean).join(': '), TEXT_LENGTH) || reference,
    metadata: { reference },
    ...(hasWebhook && { webhookUrl: notifyUrl }),
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
    ...(locale !== undefined && { locale: locale as Locale }),
    ...(typeof dueDays === 'number' && method === 'banktransfer' && { dueDate: dueDate(submission, dueDays) }),
    ...walletToken(submission),
    ...(customer !== undefined && { sequenceType: 'first' as SequenceType }),
    ...addressOf(submission),
    ...paymentLines(submission),
  };
}

/** Mollie opens the tokens of wallets that were made for it. */
const walletToken = ({ walletToken: token, brand }: Submission): Partial<PaymentCreateParams> =>
  token === undefined
    ? {}
    : brand === 'wallet-a'
      ? { applePayPaymentToken: token.reveal() }
      : { googlePayPaymentToken: token.reveal() };

/** The methods for which Mollie demands the lines of the order. */
const LINE_METHODS: readonly string[] = ['klarna', 'billie', 'riverty', 'in3', 'billink', 'voucher'];

type LineType = NonNullable<NonNullable<PaymentCreateParams['lines']>[number]['type']>;
const LINE_TYPES = { item: 'physical', shipping: 'shipping_fee', tax: 'surcharge', discount: 'discount' } as const;

function paymentLines(submission: Submission): Pick<PaymentCreateParams, 'lines'> {
  const { method = ANY_METHOD, currency } = submission;
  if (!LINE_METHODS.includes(method)) return {};
  const lines = linesOf(submission).map(({ kind, name, quantity, unitAmount }) => ({
    type: LINE_TYPES[kind] as LineType,
    description: name,
    quantity,
    unitPrice: amountOf(unitAmount, currency),
    totalAmount: amountOf(unitAmount * BigInt(quantity), currency),
  }));
  return { lines };
}

/** Mollie takes a billing address only if it is complete. */
function addressOf(submission: Submission): Pick<PaymentCreateParams, 'billingAddress'> {
  const { firstName, lastName, email, address, city, zip, state, country } = cleanPayer(submission);
  // Mollie wants names of two letters or more.
  const isName = (name: string | undefined): name is string => (name?.length ?? 0) > 1;
  if (!address || !city || !zip || !country) return {};
  return {
    billingAddress: {
      ...(isName(firstName) && { givenName: firstName }),
      ...(isName(lastName) && { familyName: lastName }),
      ...(email && { email }),
      streetAndNumber: address,
      postalCode: zip,
      city,
      ...(state && { region: state }),
      country,
    },
  };
}
