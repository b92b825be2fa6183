/** The contract of a connector: what the gateway calls at a payment provider, and what it gets back. */

import type { Secret } from '../lib/crypto/secret.ts';
import type { MaybePromise } from '../lib/flow/maybe-promise.ts';
import type { Deadline } from '../lib/time/deadline.ts';
import type { ChargebackEvent, ChargebackStage, ChargebackState } from '../rules/chargebacks.ts';
import { causeOf, classify, type Decline, type DeclineCodes } from '../rules/declines.ts';
import type { OrderLines } from '../rules/order-lines.ts';
import { DECLINE_CAUSES, type DeclineCause } from '../rules/reasons.ts';
import type { ThreeDsRequest, ThreeDsWords } from '../rules/risk/actions.ts';
import type { Unhandled } from './events.ts';

/** What a connector stores with a payment or an operation: JSON of at most `LIMITS.providerStateBytes`. */
export type ProviderState = Readonly<Record<string, unknown>>;

/** What earlier answers of the provider brought; the gateway stores it and passes it to every later call. */
export interface ProviderMemory {
  /** The provider's id of the payment. */
  providerReference?: string | undefined;
  /** The last `state` and `secretState` that the connector returned. */
  state: ProviderState;
  secretState: ProviderState;
}

/** What a provider gets of a payment. */
export interface Submission extends ProviderMemory {
  /**
   * Our id of this submission; a query names the payment by it. It is the id of the payment, with a suffix when the
   * payment was submitted to another connection before. Each call that moves money uses `idempotencyKey(reference, n)`.
   */
  reference: string;
  brand: string;
  mid: string;
  merchantName: string;
  isPayout: boolean;
  amount: bigint;
  currency: string;
  authoriseOnly: boolean;
  description: string;
  /** What the order consists of, if the merchant sent it. */
  lines?: OrderLines | undefined;
  /** When the payment was opened: a provider forgets idempotency keys some time later. */
  openedAt: number;
  /** Until when the payer may pay, for a provider that can end its page then. */
  payerUntil?: number | undefined;
  /** A part was refunded, as far as is known. */
  isRefunded?: boolean;
  /** The text on the payer's statement. */
  descriptor: string;
  identifier: string;
  payer: Readonly<Record<string, string>>;
  /** The fields of the brand, nested as in the request. Decrypts the sealed ones, so the result must not be kept. */
  parameters(): Readonly<Record<string, unknown>>;
  /** The sub-methods of the brand that the payer may be offered. */
  methods: readonly string[];
  /** The provider's own name of the brand, by `settings.methods` of the connection. */
  method?: string | undefined;
  /** Where the payer returns to. What the payer brings back is passed to `resume`. */
  returnUrl(): string;
  /** Where the provider sends notifications. */
  notifyUrl: string;
  /** The card of a card payment, and the result of its 3DS authentication. */
  card?: CardData | undefined;
  authentication?: Authentication | undefined;
  /** The device wallet that the card comes from. */
  wallet?: SubmittedWallet | undefined;
  /** The token of a device wallet as the wallet made it, for a provider that opens it; absent in queries: it is not stored. */
  walletToken?: Secret | undefined;
  /** What a risk rule asks the issuer for. */
  threeDs?: ThreeDsRequest | undefined;
  /** The payer's browser, if the provider authenticates the payer (3DS). */
  browser?: BrowserData | undefined;
  /** The merchant entered the card of a caller: flag it as such, and ask nobody for an authentication. */
  isTelephoneOrder?: true | undefined;
  /** The payer agreed that the merchant may repeat the payment: return `paymentMethod` and `networkTransactionId`. */
  isFirstOfSeries: boolean;
  /** The payment, or the series that it begins, belongs to a schedule with fixed dates. */
  isScheduled: boolean;
  /** The reference of the first payment, if this one is a merchant-initiated repetition of it. */
  recurringOf?: string | undefined;
  /** What the first payment brought; of payments of connections only. */
  first?: FirstPayment | undefined;
  setting(name: string): unknown;
}

/** A device wallet; its brand is that of the payment. */
export interface SubmittedWallet {
  /** `CRYPTOGRAM_3DS`: a number of the device, with a cryptogram. `PAN_ONLY`: the number of the card itself. */
  type: 'CRYPTOGRAM_3DS' | 'PAN_ONLY';
  /** As the wallet names it. */
  network: string;
  /** The proof of the device, in base64; absent in a repetition, because it is valid once and never stored. */
  cryptogram?: Secret | undefined;
  eci?: string | undefined;
}

/** What the provider returned for the first payment of a series, for its repetitions. */
export interface FirstPayment extends ProviderMemory {
  networkTransactionId?: string | undefined;
  paymentMethod?: Secret | undefined;
}

/** The browser data of EMV 3-D Secure. What only a script can read is missing if scripts are disabled. */
export interface BrowserData {
  ip: string;
  language: string;
  userAgent: string;
  accept: string;
  screen?: BrowserScreen | undefined;
}

export interface BrowserScreen {
  width: number;
  height: number;
  colorDepth: number;
  /** Minutes that UTC is ahead of the payer's time, as `Date.getTimezoneOffset` returns it. */
  timeZoneOffset: number;
  isJavaEnabled: boolean;
}

/** The result of a 3DS authentication. */
export interface Authentication {
  transStatus: string;
  eci?: string | undefined;
  /** The authentication value (CAVV); passed on to the provider and never stored. */
  proof?: string | undefined;
  dsTransId?: string | undefined;
  protocolVersion: string;
}

/** Card data in the clear; only the vault and connectors handle it. */
export interface CardData {
  number: Secret;
  month: string;
  year: string;
  holder: string;
  cvv?: Secret | undefined;
}

/**
 * The amount in a provider's answer, or `invalid` if it cannot be read as one. An answer with another amount than that
 * of the payment is not applied.
 */
export type ReportedAmount = { amount: bigint; currency?: string | undefined } | 'invalid';

/** What any answer may bring besides its outcome; a member that is omitted leaves what is stored. */
interface AnswerFields {
  /** The provider's id of the payment, shown to the operator. */
  providerReference?: string | undefined;
  reportedAmount?: ReportedAmount | undefined;
  /** Replaces the stored state; `secretState` is stored encrypted. */
  state?: ProviderState | undefined;
  secretState?: ProviderState | undefined;
  /** For repetitions: the id of the card network, and the provider's token of the payment method (stored encrypted). */
  networkTransactionId?: string | undefined;
  paymentMethod?: Secret | undefined;
  /** Until when an authorisation can be captured. */
  captureBefore?: number | undefined;
  /** What the provider charges for the payment, in minor units. */
  fee?: { amount: bigint; currency: string } | undefined;
}

/** What a provider says about a chargeback. */
export interface ChargebackFields {
  /**
   * What the bank took; everything that is left of the payment if omitted. It is not compared with the amount of the
   * payment: after refunds it is smaller.
   */
  chargedBack?: ReportedAmount | undefined;
  /** Until when the bank takes an answer; null if it takes none. */
  respondBy?: number | null | undefined;
  /** The cause in the provider's words. */
  cause?: string | undefined;
  /** The provider's id of the chargeback; what was reported once has no effect again. */
  chargebackReference?: string | undefined;
}

/** A refund that was made at the provider itself, such as in its dashboard, or any refund that failed. */
export interface RefundElsewhere {
  /** The provider's id of the refund; each one counts once. */
  reference: string;
  amount: ReportedAmount;
  /** It failed, perhaps after it had been reported as done. */
  isFailed?: boolean;
}

/** A chargeback as a query reports it. */
export interface ReportedChargeback extends ChargebackFields {
  chargebackReference: string;
  /** The bank has returned the money. */
  isReversed: boolean;
}

/** What a provider says about the money of a payment, besides that it has been paid. */
export interface SettledFields {
  /** What was captured of the amount, which may be a part of an authorisation; everything if omitted. */
  captured?: ReportedAmount | undefined;
  /** The refunds that the gateway did not make, and all that failed; of queries only. */
  refunds?: readonly RefundElsewhere[] | undefined;
  /** All chargebacks, oldest first; of queries only. */
  chargebacks?: readonly ReportedChargeback[] | undefined;
}

/** What a payer does next. */
export type PayerStep =
  /** The outcome comes later; until then the payer may have a code to scan, or an account or voucher to pay with. */
  | { kind: 'accepted'; code?: string | undefined; instructions?: Record<string, string> | undefined }
  /** The payer continues at the provider: its own page, or the 3DS challenge of a provider that authenticates. */
  | { kind: 'redirected'; url: string; method: 'GET' | 'POST'; params: Record<string, string> };

/** A decline is an outcome; a connector throws only when there was no answer. */
export type Outcome =
  | ({ kind: 'settled' } & SettledFields & AnswerFields)
  | ({ kind: 'authorised' } & AnswerFields)
  | (PayerStep & AnswerFields)
  /** `isSoft`: definitely not paid, but another provider may accept it. `declineOf` composes declines by their cause. */
  | ({ kind: 'declined'; reason: string; isSoft?: boolean | undefined; decline?: Decline | undefined } & AnswerFields)
  /** Of notifications only: a query reports `chargebacks`. A reversal returns everything that the bank took. */
  | ({ kind: ChargebackEvent } & ChargebackFields & AnswerFields)
  /** The provider does not know yet. `newStatus`: what it says, if the connector has no word for it. */
  | ({ kind: 'unknown'; newStatus?: string } & AnswerFields)
  /** Of queries only: the provider has no such payment. */
  | { kind: 'notFound' };

/**
 * Thrown by a connector when the provider has not processed the call and never will: it failed before its first byte was
 * sent, or the provider rejected it unprocessed, such as with 429. The gateway may use another connection then.
 */
export class NotSent extends Error {}

/** The provider rejected the call unprocessed because there were too many (429); it may be repeated after a pause. */
export class RateLimited extends NotSent {
  /** As the provider asks (`Retry-After`); undefined if it does not say. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfter?: unknown) {
    super(message);
    const seconds = typeof retryAfter === 'string' && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : Number.NaN;
    const at = typeof retryAfter === 'string' ? Date.parse(retryAfter) : Number.NaN;
    const ms = Number.isNaN(seconds) ? at - Date.now() : seconds * 1000;
    this.retryAfterMs = Number.isNaN(ms) ? undefined : Math.max(0, ms);
  }
}

/** A capture, void or refund of a payment that was submitted before. */
export interface ProviderOperation extends ProviderMemory {
  verb: 'capture' | 'void' | 'refund';
  /** Our reference of the submission. */
  reference: string;
  /** Our id of the operation, and the idempotency key of its call. */
  operation: string;
  amount: bigint;
  brand: string;
  currency: string;
  /** The amount of the payment. */
  paymentAmount: bigint;
  notifyUrl: string;
  /** When the operation was requested: a provider forgets idempotency keys some time later. */
  requestedAt: number;
  /** What earlier answers about this operation brought. */
  operationReference?: string | undefined;
  operationState: ProviderState;
}

interface OperationAnswerFields {
  /** The provider's id of the operation. */
  operationReference?: string | undefined;
  /** Replaces the stored state of the operation, which is not encrypted. */
  operationState?: ProviderState | undefined;
}

export type OperationOutcome =
  /** `accepted`: the outcome comes later, by a notification or a query. */
  | ({ kind: 'done' | 'accepted'; reportedAmount?: ReportedAmount | undefined } & OperationAnswerFields)
  | ({ kind: 'declined'; reason: string } & OperationAnswerFields)
  | ({ kind: 'unknown' } & OperationAnswerFields)
  | { kind: 'notFound' };

/** One event of an inbound webhook. It names its payment by our reference, by the provider's, or by both. */
export interface ProviderNotification {
  /** Deduplicates notifications: a provider may send the same event several times. */
  eventId: string;
  reference?: string | undefined;
  providerReference?: string | undefined;
  /** Set if it is about an operation: our id of the operation, or the provider's. */
  operation?: string | undefined;
  operationReference?: string | undefined;
  /**
   * Not signed, so anyone may have sent it: stored only if its payment is known, in place of an earlier one with its
   * `eventId`, and at a limited rate. Its meaning has to be `ask`.
   */
  isUnsigned?: true;
  /** What `interpretNotification` needs; stored. */
  body: Record<string, unknown>;
}

/** What a notification means for its payment or operation; undefined if the gateway has nothing to do. */
export type NotificationMeaning =
  | Outcome
  /** The outcome of an operation; with its `verb` it may also be one that was made at the provider itself. */
  | { kind: 'operation'; outcome: OperationOutcome; verb?: ProviderOperation['verb'] | undefined }
  /** A chargeback is announced, or its state changed; no money moved. */
  | ({ kind: 'chargebackReport'; stage?: ChargebackStage; state?: ChargebackState } & ChargebackFields)
  /** The authorisation has ended without a capture. */
  | { kind: 'expired' }
  /** The provider has stored the payment method; repetitions use this token. */
  | { kind: 'stored'; paymentMethod: Secret }
  /** Something happened that the gateway does not handle: the operator has to look at it. */
  | { kind: 'unhandled'; event: string }
  /** The notification has no outcome: the gateway queries the payment and its open operations. */
  | { kind: 'ask' }
  /** The payer has finished at the provider and perhaps does not come back: the gateway resumes a payment that waits. */
  | { kind: 'returned' }
  | undefined;

/** Why the gateway ends a payment that waits for its payer. */
export type WithdrawalCause = Extract<DeclineCause, 'cancelledByPayer' | 'outOfTime'>;

/** What a provider supports; the gateway uses nothing else. */
export interface Capabilities {
  /** A call repeated with the same reference is the same payment or operation, and moves no money twice. */
  isIdempotent: boolean;
  /** A payment can be queried by our reference, or by what the connector stored. */
  supportsQueries: boolean;
  /** Two consecutive `notFound` answers, separated by a pause, mean that the provider never received the payment. */
  notFoundIsFinal: boolean;
  refunds: 'api' | 'portal' | 'none';
  /** Who authenticates the payer of a card (3DS); with `provider`, the submission has `browser` and no result. */
  authentication: 'gateway' | 'provider';
  /** What it can ask an issuer for; a request that is not listed is not sent. */
  threeDsRequests?: ThreeDsWords;
  /** `withdraw` ends payments that wait for their payer; without it, their payer cannot choose another method meanwhile. */
  supportsWithdrawals?: true;
  /** A payment stays payable after the payer's time here: `withdraw` ends it then. */
  staysPayable?: true;
  /** It can flag a payment as a telephone order (`isTelephoneOrder`); without it, such payments go elsewhere. */
  supportsTelephoneOrders?: true;
  /** It checks a card by an authorisation of zero; without it, a check authorises the smallest unit. */
  authorisesZero?: true;
  /** The most submissions and operations in flight at a time; unlimited if omitted. */
  concurrency?: number;
}

/** The result of a harmless call with the credentials of a connection. */
export interface CheckResult {
  ok: boolean;
  /** One sentence for the operator, without secrets. */
  detail: string;
  /** The provider only simulates payments, which production does not use. */
  isSimulated?: true;
  /** The provider's names of the methods that are active there; undefined if it does not say. */
  activeMethods?: readonly string[] | undefined;
}

/** Every call has a deadline: the connector aborts the call then, and sends nothing once `begin()` returned false. */
export interface Connector {
  capabilities: Capabilities;
  /** Submits a payment. Called once per reference, after the intent is durable. */
  submit(submission: Submission, deadline: Deadline): MaybePromise<Outcome>;
  /** Reads the outcome of a submission; moves no money. */
  query(submission: Submission, deadline: Deadline): MaybePromise<Outcome>;
  /** The payer came back with these query or form parameters. Without it, the payment is queried. */
  resume?(
    submission: Submission,
    returned: Readonly<Record<string, string>>,
    deadline: Deadline,
  ): MaybePromise<Outcome>;
  /**
   * Ends a payment that waits for its payer, who wants to pay in another way, or whose time is over. `declined`, with this
   * cause, means that it can no longer be paid; any other outcome is that of the payment as it is. May be repeated.
   */
  withdraw?(submission: Submission, cause: WithdrawalCause, deadline: Deadline): MaybePromise<Outcome>;
  operate(operation: ProviderOperation, deadline: Deadline): MaybePromise<OperationOutcome>;
  queryOperation(operation: ProviderOperation, deadline: Deadline): MaybePromise<OperationOutcome>;
  /** Reads the events of a webhook and verifies its signature; undefined if it is not valid. */
  readNotifications(
    headers: Readonly<Record<string, unknown>>,
    body: Buffer,
    now: number,
  ): MaybePromise<ProviderNotification[] | undefined>;
  /** The body with which a webhook is acknowledged, as text; by default a JSON object. */
  notificationAnswer?: string;
  /** `payment` is that of the notification: some providers report an authorisation and a sale alike. */
  interpretNotification(body: Record<string, unknown>, payment: Pick<Submission, 'authoriseOnly'>): NotificationMeaning;
  /**
   * Makes a merchant session of `wallet-a`, which only the payer's browser reads, for a page on this domain. The address is
   * one of the vendor. Throws if there is no session; of the connectors with `makesSessions`.
   */
  openMerchantSession?(validationUrl: string, domain: string, deadline: Deadline): Promise<Record<string, unknown>>;
  /** Verifies the credentials; moves no money. */
  check?(deadline: Deadline): MaybePromise<CheckResult>;
  close?(): Promise<void>;
}

/** What a connector is created from: the credentials and settings of one connection. */
export interface ConnectionAccess {
  /** Opens a credential, empty if an optional one is not set; the names are those of `CONNECTORS` in `src/rules/connectors.ts`. */
  credential(name: string): string;
  settings: Readonly<Record<string, unknown>>;
  /** The address of another host than the provider's, such as a double; in the sandbox only. */
  apiBase: string | undefined;
  environment: 'sandbox' | 'production';
  /** The most calls per second; unlimited if omitted. */
  callsPerSecond?: number | undefined;
}

/** A connector as `src/connectors/index.ts` lists it: what it supports, and how to open one connection. */
export interface ConnectorDefinition {
  capabilities: Capabilities;
  /** What the provider may report that the connector does not handle, for the docs. */
  unhandled: readonly Unhandled[];
  create(access: ConnectionAccess): Connector;
}

/**
 * The page of a provider could not be opened. No payer has its address, so it cannot be paid, whether it exists or not:
 * another connection may take the payment at once.
 */
export const pageNotOpened = (error: unknown): NotSent =>
  error instanceof NotSent ? error : new NotSent(error instanceof Error ? error.message : 'There was no answer.');

/** The idempotency key of the n-th call of a submission that moves money. */
export const idempotencyKey = (reference: string, call: number): string => `${reference}-call-${call}`;

/**
 * A decline by its cause and the codes that the provider tells; the table of causes says whether it is soft. A card that must
 * not be charged again is not sent elsewhere.
 */
export function declineOf(cause: DeclineCause, codes: DeclineCodes = {}): Extract<Outcome, { kind: 'declined' }> {
  const decline = classify(cause, codes);
  const { reason, isSoft } = DECLINE_CAUSES[cause];
  return { kind: 'declined', reason, isSoft: isSoft && decline.class !== 'never', decline };
}

/**
 * A decline by a code of the provider that the connector does not know: the issuer's code counts, if there is one. Without it
 * no other provider is asked, because the unknown code may mean that the card must not be charged again.
 */
export function unknownDecline(codes: DeclineCodes): Extract<Outcome, { kind: 'declined' }> {
  const cause = causeOf(codes.iso);
  return cause ? declineOf(cause, codes) : { ...declineOf('refusedByBank', codes), isSoft: false };
}
