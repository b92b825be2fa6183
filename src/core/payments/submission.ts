/** Composes what a provider gets of a payment: the submission, which queries and returns of the payer use as well. */
import type {
  Authentication,
  BrowserData,
  CardData,
  FirstPayment,
  Submission,
  SubmittedWallet,
} from '../../connectors/connector.ts';
import { brandOf } from '../../rules/brands.ts';
import { splitConnectionKey } from '../../rules/connectors.ts';
import { settingsReader } from '../../rules/settings.ts';
import type { PaymentWithDetails } from '../../store/payments.ts';
import { displayName } from '../accounts.ts';
import type { Account, Gateway } from '../context.ts';
import { capabilitiesOf } from './connectors.ts';
import { linkOf } from './links.ts';
import { firstPaymentData, memoryOf, referenceOf } from './provider-data.ts';
import { secretsOf } from './secrets.ts';

/** What a submission has that is not stored with the payment. */
export interface CardFields extends Pick<SubmittedWallet, 'cryptogram' | 'eci'> {
  card?: CardData | undefined;
  authentication?: Authentication | undefined;
  browser?: BrowserData | undefined;
}
export const NO_CARD: CardFields = {};

/** Where the provider of a payment sends notifications. */
export const notifyUrlOf = ({ inboundUrl }: Gateway, connector: string): string => `${inboundUrl}/inbound/${connector}`;

/** What the first payment brought, if this one repeats it at a connection; the own provider gets its reference only. */
export async function firstOf(
  gateway: Gateway,
  { mid, connector, details }: PaymentWithDetails,
): Promise<FirstPayment | undefined> {
  const isRepetition = details.recurringOf !== undefined && splitConnectionKey(connector).connectionId !== null;
  const first = isRepetition
    ? await gateway.payments.find({ mid, paymentId: details.recurringOf as string })
    : undefined;
  // The references of another connection mean nothing to this one.
  return first?.connector === connector ? firstPaymentData(gateway, first) : undefined;
}

export function composeSubmission(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  { card, authentication, browser, cryptogram, eci }: CardFields,
  first: FirstPayment | undefined,
): Submission {
  const { details } = payment;
  const brand = brandOf(payment.brand);
  const { providerReference, state, secretState } = memoryOf(gateway, payment);
  return {
    reference: referenceOf(payment),
    providerReference,
    state,
    secretState,
    brand: payment.brand,
    mid: payment.mid,
    merchantName: displayName(account),
    isPayout: brand?.isPayout === true,
    amount: payment.amount,
    currency: payment.currency,
    authoriseOnly: payment.isAuthorisation,
    description: details.description,
    identifier: details.identifier ?? '',
    payer: details.payer,
    parameters: () => ({ ...details.parameters, ...secretsOf(gateway, payment) }),
    methods: details.methods ?? [],
    method: gateway.connections.methodOf(payment.connector, payment.brand),
    returnUrl: () => `${gateway.publicUrl}/return/${linkOf(gateway, payment.paymentId)}`,
    notifyUrl: notifyUrlOf(gateway, payment.connector),
    card,
    authentication,
    browser: capabilitiesOf(gateway, payment.connector)?.authentication === 'provider' ? browser : undefined,
    wallet: details.wallet && { ...details.wallet, cryptogram, eci },
    isFirstOfSeries: payment.isRecurringInit,
    recurringOf: details.recurringOf,
    first,
    setting: settingsReader(account.settings),
  };
}
