/** Composes the requests to Adyen's Checkout API from submissions and operations. */
import type {
  BrowserInfo,
  CreateCheckoutSessionRequest,
  PaymentCaptureRequest,
  PaymentRequest,
} from '@adyen/api-library/lib/src/typings/checkout/models.js';
import { LIMITS } from '../../rules/limits.ts';
import type { BrowserData, CardData, ProviderOperation, Submission } from '../connector.ts';
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

/** The merchant charges at any time and any amount; schedules are ours, not Adyen's. */
const RECURRING_MODEL = 'UnscheduledCardOnFile';

/** The members that `/payments` and `/sessions` have in common. */
function commonFields(submission: Submission, merchantAccount: string, amount: AdyenAmount) {
  const { reference, authoriseOnly, isFirstOfSeries, payer, browser } = submission;
  const { email = '', first_name: firstName, last_name: lastName, country, phone } = payer;
  const ip = browser?.ip ?? payer.ip;
  return {
    merchantAccount,
    amount,
    reference,
    returnUrl: submission.returnUrl(),
    channel: 'Web' as const,
    // Both overrule the capture delay that the merchant account is set to.
    ...(authoriseOnly ? { additionalData: { manualCapture: 'true' } } : { captureDelayHours: 0 }),
    ...(isFirstOfSeries && {
      shopperReference: shopperOf(reference),
      recurringProcessingModel: RECURRING_MODEL as 'UnscheduledCardOnFile',
    }),
    ...(/^\S+@\S+\.\S+$/.test(email) && { shopperEmail: email }),
    ...(firstName && lastName && { shopperName: { firstName, lastName } }),
    ...(country && { countryCode: country.toUpperCase() }),
    ...(phone && { telephoneNumber: phone }),
    ...(ip && { shopperIP: ip }),
    ...billingAddress(payer),
  };
}

const POSTAL_CODE_LENGTH = 10;

/** Adyen takes complete addresses only; ours has the number of the house in the street. */
function billingAddress({ address, city, zip, country, state = '' }: Submission['payer']) {
  if (!address || !city || !zip || !country || zip.length > POSTAL_CODE_LENGTH) return {};
  const isStateCode = /^[a-z]{2}$/i.test(state);
  return {
    billingAddress: {
      street: address,
      houseNumberOrName: 'N/A',
      city,
      postalCode: zip,
      country: country.toUpperCase(),
      ...(isStateCode && { stateOrProvince: state.toUpperCase() }),
    },
  };
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

const cardDetails = ({ number, month, year, holder, cvv }: CardData) => ({
  type: CARD_TYPE,
  number: number.reveal(),
  expiryMonth: month,
  expiryYear: year,
  ...(holder !== '' && { holderName: holder }),
  ...(cvv && { cvc: cvv.reveal() }),
});

/** The request of a payment that the payer makes; undefined if Adyen cannot take it. */
export function paymentRequest(submission: Submission, merchantAccount: string): PlainPayment | undefined {
  const { card, method, browser, isFirstOfSeries, wallet } = submission;
  const amount = toAdyen(submission.amount, submission.currency);
  if (!amount || (method === CARD_TYPE && !card)) return undefined;
  // The number of a device is of no use without its cryptogram, which this connector does not send.
  if (wallet?.type === 'CRYPTOGRAM_3DS') return undefined;
  // Any name of a method that the settings contain: Adyen adds methods without changes of its types.
  const paymentMethod = card ? cardDetails(card) : ({ type: method } as PlainPayment['paymentMethod']);
  return {
    ...commonFields(submission, merchantAccount, amount),
    paymentMethod,
    shopperInteraction: 'Ecommerce',
    ...(isFirstOfSeries && { storePaymentMethod: true }),
    ...(browser && { browserInfo: browserInfo(browser) }),
    // The payer authenticates on a page that Adyen redirects to; the native flow needs scripts of Adyen on ours.
    ...(card && { authenticationData: { threeDSRequestData: { nativeThreeDS: 'disabled' as const } } }),
  };
}

/** The request of a repetition by the merchant: with Adyen's token, or else with the card; undefined without either. */
export function repetitionRequest(submission: Submission, merchantAccount: string): PlainPayment | undefined {
  const { card, first, recurringOf = '', payer: _, browser: __, ...rest } = submission;
  const amount = toAdyen(submission.amount, submission.currency);
  const stored = first?.paymentMethod?.reveal();
  const network = first?.networkTransactionId;
  if (!amount || (stored === undefined && !card)) return undefined;
  return {
    ...commonFields({ ...rest, payer: {}, isFirstOfSeries: false }, merchantAccount, amount),
    paymentMethod:
      stored === undefined
        ? { ...cardDetails(card as CardData), ...(network !== undefined && { networkPaymentReference: network }) }
        : { type: CARD_TYPE, storedPaymentMethodId: stored },
    shopperReference: shopperOf(recurringOf),
    shopperInteraction: 'ContAuth',
    recurringProcessingModel: RECURRING_MODEL,
  };
}

/** The request of a session on Adyen's page, on which the payer can use this method only. */
export function sessionRequest(submission: Submission, merchantAccount: string): PlainSession | undefined {
  const { method, isFirstOfSeries } = submission;
  const amount = toAdyen(submission.amount, submission.currency);
  if (!amount || method === undefined) return undefined;
  return {
    ...commonFields(submission, merchantAccount, amount),
    mode: 'hosted',
    allowedPaymentMethods: [method],
    ...(isFirstOfSeries && { storePaymentMethodMode: 'enabled' as const }),
    expiresAt: new Date(Date.now() + LIMITS.payerMs),
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
