/** Composes what a provider gets of a payment: the submission, which queries and returns of the payer use as well. */
import type {
  Authentication,
  BrowserData,
  CardData,
  FirstPayment,
  Submission,
  SubmittedWallet,
} from '../../connectors/connector.ts';
import type { Secret } from '../../lib/crypto/secret.ts';
import { brandOf } from '../../rules/brands.ts';
import { splitConnectionKey } from '../../rules/connectors.ts';
import type { ThreeDsRequest } from '../../rules/risk/actions.ts';
import { settingsReader } from '../../rules/settings.ts';
import type { PaymentWithDetails } from '../../store/payments/payments.ts';
import { displayName } from '../accounts/accounts.ts';
import { capabilitiesOf } from '../connections/connectors.ts';
import { firstPaymentData, memoryOf, referenceOf } from '../connections/provider-data.ts';
import type { Account, Gateway } from '../context.ts';
import { linkOf } from './links.ts';
import { secretsOf } from './secrets.ts';

/** What a submission has that is not stored with the payment. */
export interface CardFields extends Pick<SubmittedWallet, 'cryptogram' | 'eci'> {
  card?: CardData | undefined;
  authentication?: Authentication | undefined;
  /** The 3DS directory was asked, and did not answer. */
  isUnanswered?: boolean | undefined;
  browser?: BrowserData | undefined;
  /** The token of a device wallet, for a provider that opens it itself. */
  walletToken?: Secret | undefined;
  /** What a risk rule asks the issuer for. */
  threeDs?: ThreeDsRequest | undefined;
  /** Repeats the payment with a challenge, after the issuer refused to go without one. */
  challenge?: ((payment: PaymentWithDetails) => Promise<PaymentWithDetails>) | undefined;
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
  { card, authentication, browser, cryptogram, eci, walletToken, threeDs }: CardFields,
  first: FirstPayment | undefined,
): Submission {
  const { details } = payment;
  const brand = brandOf(payment.brand);
  const { providerReference, state, secretState } = memoryOf(gateway, payment);
  const capabilities = capabilitiesOf(gateway, payment.connector);
  return {
    reference: referenceOf(payment),
    providerReference,
    state,
    secretState,
    brand: payment.brand,
    mid: payment.mid,
    merchantName: displayName(account),
    isPayout: brand?.isPayout === true,
    amount: details.isCardCheck && capabilities?.authorisesZero ? 0n : payment.amount,
    currency: payment.currency,
    authoriseOnly: payment.isAuthorisation,
    description: details.description,
    lines: details.lines,
    openedAt: payment.createdAt,
    payerUntil: payment.payerUntil ?? undefined,
    isRefunded: payment.refunded > 0n,
    descriptor: payment.descriptor,
    identifier: details.identifier ?? '',
    payer: details.payer,
    parameters: () => ({ ...details.parameters, ...secretsOf(gateway, payment) }),
    methods: details.methods ?? [],
    method: gateway.connections.methodOf(payment.connector, payment.brand),
    returnUrl: () => `${gateway.publicUrl}/return/${linkOf(gateway, payment.paymentId)}`,
    notifyUrl: notifyUrlOf(gateway, payment.connector),
    card,
    authentication,
    threeDs,
    browser: capabilities?.authentication === 'provider' ? browser : undefined,
    wallet: details.wallet && { ...details.wallet, cryptogram, eci },
    walletToken,
    isTelephoneOrder: details.session?.isTelephoneOrder,
    isFirstOfSeries: payment.isRecurringInit,
    isScheduled: payment.scheduleId !== null,
    recurringOf: details.recurringOf,
    first,
    setting: settingsReader(account.settings),
  };
}
