/** Composes the requests to Adyen's Checkout API from submissions and operations. */
import type {
  BrowserInfo,
  CreateCheckoutSessionRequest,
  PaymentCaptureRequest,
  PaymentRequest,
} from '@adyen/api-library/lib/src/typings/checkout/models.js';
import { canHold } from '../../rules/connectors.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { BrowserData, CardData, ProviderOperation, Submission } from '../connector.ts';
import { linesOf } from '../order-lines.ts';
import { cleanPayer, ibanOf, statementText } from '../payer.ts';
import { type AdyenAmount, toAdyen } from './amounts.ts';

/** A request with texts where the SDK has enums, which exist at run time only once the SDK is loaded. */
export type Plain<Type> = Type extends string
  ? `${Type}`
  : Type extends Date
    ? Type
    : Type extends object
      ? { [Name in keyof Type]: Plain<Type[Name]> }
      : Type;

type PlainPayment = Plain<PaymentRequest>;
type PlainSession = Plain<CreateCheckoutSessionRequest>;

/** What Adyen stores a payment method under: the payment whose repetitions use it. */
const PAYMENT_ID_LENGTH = 36;
const shopperOf = (reference: string): string => reference.slice(0, PAYMENT_ID_LENGTH);

/** Fixed dates, or whenever the merchant charges. */
const recurringModel = ({ isScheduled }: Submission) =>
  isScheduled ? ('Subscription' as const) : ('UnscheduledCardOnFile' as const);

/** Whom Adyen takes the payment for. */
export interface Recipient {
  merchantAccount: string;
  store?: string;
}

/** In `settings.methods`: payers choose the method on the page of Adyen. */
const ANY_METHOD = 'automatic';

/** The members that `/payments` and `/sessions` have in common. */
function commonFields(submission: Submission, recipient: Recipient, amount: AdyenAmount) {
  const { reference, authoriseOnly, isFirstOfSeries, payer, browser } = submission;
  const { email, firstName, lastName, country, phone } = cleanPayer(submission);
  const statement = statementText(submission, /[^\w.,'?+*/ -]/g, STATEMENT_LENGTH);
  const ip = browser?.ip ?? payer.ip;
  return {
    ...recipient,
    amount,
    reference,
    returnUrl: submission.returnUrl(),
    channel: 'Web' as const,
    // Both overrule the capture delay that the merchant account is set to.
    ...(authoriseOnly ? { additionalData: { manualCapture: 'true' } } : { captureDelayHours: 0 }),
    ...(isFirstOfSeries && {
      shopperReference: shopperOf(reference),
      recurringProcessingModel: recurringModel(submission),
    }),
    ...(email && { shopperEmail: email }),
    ...(firstName && lastName && { shopperName: { firstName, lastName } }),
    ...(country && { countryCode: country }),
    ...(phone && { telephoneNumber: phone }),
    ...(ip && { shopperIP: ip }),
    ...(statement && { shopperStatement: statement }),
    ...billingAddress(submission),
  };
}

const POSTAL_CODE_LENGTH = 10;
const STATEMENT_LENGTH = 22;

/** Adyen takes complete addresses only; without a field of its own the number of the house is in the street. */
function billingAddress(submission: Submission) {
  const { street, houseNumber = 'N/A', city, zip, country, state = '' } = cleanPayer(submission);
  if (!street || !city || !zip || !country || zip.length > POSTAL_CODE_LENGTH) return {};
  const isStateCode = /^[a-z]{2}$/i.test(state);
  return {
    billingAddress: {
      street,
      houseNumberOrName: houseNumber,
      city,
      postalCode: zip,
      country,
      ...(isStateCode && { stateOrProvince: state.toUpperCase() }),
    },
  };
}

/** A challenge, or none, in Adyen's words. */
const attemptOf = ({ threeDs }: Submission) =>
  threeDs?.requested
    ? { attemptAuthentication: threeDs.requested === 'challenge' ? ('always' as const) : ('never' as const) }
    : {};

const EXEMPTIONS: Readonly<Record<string, string>> = {
  low_value: 'lowValue',
  transaction_risk: 'transactionRiskAnalysis',
};

/** Why the issuer may do without an authentication; Adyen chooses the reason itself if none is given. */
function exemptionOf({ threeDs }: Submission) {
  const scaExemption = EXEMPTIONS[threeDs?.reason ?? ''];
  return scaExemption === undefined ? {} : { additionalData: { scaExemption } };
}

/** Without scripts the screen is not known; Adyen's type requires values all the same. */
function browserInfo({ accept, language, userAgent, screen }: BrowserData): Plain<BrowserInfo> {
  return {
    acceptHeader: accept,
    language,
    userAgent,
    colorDepth: screen?.colorDepth ?? 24,
    screenWidth: screen?.width ?? 0,
    screenHeight: screen?.height ?? 0,
    timeZoneOffset: screen?.timeZoneOffset ?? 0,
    javaEnabled: screen?.isJavaEnabled ?? false,
    javaScriptEnabled: screen !== undefined,
  };
}

const CARD_TYPE = 'scheme' as const;

/** Whether the number of the card is one of the payer's device, which only the cryptogram of the wallet makes usable. */
const isOfDevice = ({ wallet }: Pick<Submission, 'wallet'>): boolean => wallet?.type === 'CRYPTOGRAM_3DS';

const cardDetails = (
  { number, month, year, holder, cvv }: CardData,
  submission: Pick<Submission, 'brand' | 'wallet'>,
) => ({
  ...(isOfDevice(submission)
    ? { type: 'networkToken' as const, brand: submission.brand === 'wallet-a' ? 'applepay' : 'googlepay' }
    : { type: CARD_TYPE }),
  number: number.reveal(),
  expiryMonth: month,
  expiryYear: year,
  ...(holder !== '' && { holderName: holder }),
  ...(cvv && { cvc: cvv.reveal() }),
});

/** Whether the payment can be made as requested: an authorisation needs a method that holds the amount. */
const canBeHeld = ({ authoriseOnly, card, method = CARD_TYPE }: Submission): boolean =>
  !authoriseOnly || card !== undefined || canHold('adyen', method);

/** The proof of the device, with which the payer has authenticated already. */
const deviceProof = ({ wallet }: Submission): Pick<PlainPayment, 'mpiData'> =>
  wallet?.cryptogram
    ? {
        mpiData: {
          authenticationResponse: 'Y',
          directoryResponse: 'Y',
          tokenAuthenticationVerificationValue: wallet.cryptogram.reveal(),
          ...(wallet.eci && { eci: wallet.eci }),
        },
      }
    : {};

/** What some methods need besides their names. */
const METHOD_DETAILS: Readonly<Record<string, (submission: Submission) => object>> = {
  blik: ({ parameters }) => ({ blikCode: parameters().code }),
  mbway(submission) {
    const { email = '', mobile = '' } = cleanPayer(submission);
    return { shopperEmail: email, telephoneNumber: mobile };
  },
  // Its script is not on our page.
  paypal: () => ({ subtype: 'redirect' }),
  sepadirectdebit(submission) {
    const { firstName, lastName } = cleanPayer(submission);
    const ownerName = [firstName, lastName].filter(Boolean).join(' ');
    return { iban: ibanOf(submission.parameters()), ...(ownerName && { ownerName }) };
  },
};

const methodDetails = (submission: Submission) =>
  // Any name of a method that the settings contain: Adyen adds methods without changes of its types.
  ({
    type: submission.method,
    ...METHOD_DETAILS[submission.method ?? '']?.(submission),
  }) as PlainPayment['paymentMethod'];

/** Methods whose payer would need the page of Adyen, or scripts or an app of their provider on ours: they are not sent. */
export const UNSHOWN_METHODS: readonly string[] = [
  ANY_METHOD,
  'amazonpay',
  'cashapp',
  'clicktopay',
  'wechatpaySDK',
  'wechatpayMiniProgram',
];

/** Pay-later methods: Adyen wants to know what is bought. */
const LINE_METHODS = /^(klarna|afterpay|clearpay|affirm|riverty|ratepay|walley|facilypay|oney|atome|zip)/;

function lineItems(submission: Submission): Pick<PlainPayment, 'lineItems'> {
  const { method = '', currency } = submission;
  if (method !== ANY_METHOD && !LINE_METHODS.test(method)) return {};
  const items = linesOf(submission).map(({ name, quantity, unitAmount }, index) => ({
    id: String(index + 1),
    description: name,
    quantity,
    amountIncludingTax: toAdyen(unitAmount, currency)?.value ?? 0,
  }));
  return { lineItems: items };
}

/** The request of a payment that the payer makes; undefined if Adyen cannot take it. */
export function paymentRequest(submission: Submission, recipient: Recipient): PlainPayment | undefined {
  const { card, method, browser, isFirstOfSeries, wallet } = submission;
  const isProven = isOfDevice(submission);
  const amount = toAdyen(submission.amount, submission.currency);
  if (!amount || (method === CARD_TYPE && !card) || !canBeHeld(submission)) return undefined;
  if ((isProven && !wallet?.cryptogram) || UNSHOWN_METHODS.includes(method ?? '')) return undefined;
  const paymentMethod = card ? cardDetails(card, submission) : methodDetails(submission);
  return {
    ...commonFields(submission, recipient, amount),
    ...lineItems(submission),
    paymentMethod,
    ...deviceProof(submission),
    shopperInteraction: submission.isTelephoneOrder ? 'Moto' : 'Ecommerce',
    ...(isFirstOfSeries && { storePaymentMethod: true }),
    // Of a card that the merchant's server sent, only the address of the browser is known.
    ...(browser?.userAgent && { browserInfo: browserInfo(browser) }),
    // The payer authenticates on a page that Adyen redirects to; the native flow needs scripts of Adyen on ours.
    ...(card &&
      !isProven &&
      !submission.isTelephoneOrder && {
        authenticationData: { threeDSRequestData: { nativeThreeDS: 'disabled' as const }, ...attemptOf(submission) },
        ...exemptionOf(submission),
      }),
  };
}

/** As what a stored method is charged again, if it is no card: after iDEAL Adyen stores a direct debit. */
const STORED_TYPES: Readonly<Record<string, 'sepadirectdebit'>> = {
  sepadirectdebit: 'sepadirectdebit',
  ideal: 'sepadirectdebit',
};

/** The request of a repetition by the merchant: with Adyen's token, or else with the card; undefined without either. */
export function repetitionRequest(submission: Submission, recipient: Recipient): PlainPayment | undefined {
  const { card, first, recurringOf = '', payer: _, browser: __, ...rest } = submission;
  const amount = toAdyen(submission.amount, submission.currency);
  const stored = first?.paymentMethod?.reveal();
  const network = first?.networkTransactionId;
  if (!amount || (stored === undefined && !card)) return undefined;
  return {
    ...commonFields({ ...rest, payer: {}, isFirstOfSeries: false }, recipient, amount),
    paymentMethod:
      stored === undefined
        ? {
            ...cardDetails(card as CardData, submission),
            ...(network !== undefined && { networkPaymentReference: network }),
          }
        : { type: STORED_TYPES[submission.method ?? ''] ?? CARD_TYPE, storedPaymentMethodId: stored },
    shopperReference: shopperOf(recurringOf),
    shopperInteraction: 'ContAuth',
    recurringProcessingModel: recurringModel(submission),
  };
}

/** When Adyen's page closes: with the payer's time. Adyen takes at most a day, which the clock of a sandbox may exceed. */
function sessionEnd({ payerUntil = 0 }: Submission): Date {
  const now = Date.now();
  return new Date(payerUntil > now && payerUntil < now + LIMITS.dayMs ? payerUntil : now + LIMITS.payerMs);
}

/** The request of a session on Adyen's page, on which the payer can use this method only, or any of the account. */
export function sessionRequest(
  submission: Submission,
  recipient: Recipient,
  themeId: string | undefined,
): PlainSession | undefined {
  const { method, isFirstOfSeries } = submission;
  const amount = toAdyen(submission.amount, submission.currency);
  if (!amount || method === undefined || !canBeHeld(submission)) return undefined;
  return {
    ...commonFields(submission, recipient, amount),
    ...lineItems(submission),
    mode: 'hosted',
    ...(method !== ANY_METHOD && { allowedPaymentMethods: [method] }),
    ...(themeId !== undefined && { themeId }),
    ...(isFirstOfSeries && { storePaymentMethodMode: 'enabled' as const }),
    expiresAt: sessionEnd(submission),
  };
}

/** The request of a capture or a refund; undefined if Adyen cannot take this amount. */
export function modificationRequest(
  { operation, amount, currency }: ProviderOperation,
  merchantAccount: string,
): Pick<PaymentCaptureRequest, 'merchantAccount' | 'amount' | 'reference'> | undefined {
  const converted = toAdyen(amount, currency);
  return converted && { merchantAccount, amount: converted, reference: operation };
}
