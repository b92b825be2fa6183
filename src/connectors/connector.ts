/** The contract of a connector: what the gateway calls at a payment provider, and what it gets back. */
import type { Deadline } from '../lib/deadline.ts';
import type { Secret } from '../lib/secret.ts';

/** What a provider gets of a payment. */
export interface Submission {
  /** Our id of the payment; a query names the payment by it. */
  reference: string;
  brand: string;
  mid: string;
  merchantName: string;
  isPayout: boolean;
  amount: bigint;
  currency: string;
  authoriseOnly: boolean;
  description: string;
  identifier: string;
  payer: Readonly<Record<string, string>>;
  /** The fields of the brand, nested as in the request. Decrypts the sealed ones, so the result must not be kept. */
  parameters(): Readonly<Record<string, unknown>>;
  /** The sub-methods of the brand that the payer may be offered. */
  methods: readonly string[];
  /** Where the payer returns to. */
  returnUrl: string;
  /** Where the provider sends notifications. */
  notifyUrl: string;
  /** The card of a card payment, and the result of its 3DS authentication. */
  card?: CardData | undefined;
  authentication?: Authentication | undefined;
  /** The device wallet that the card comes from. */
  wallet?: SubmittedWallet | undefined;
  /** The reference of the first payment, if this one is a merchant-initiated repetition of it. */
  recurringOf?: string | undefined;
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

interface AnswerFields {
  providerReference?: string | undefined;
  reportedAmount?: ReportedAmount | undefined;
}

/** A decline is an outcome; a connector throws only when there was no answer. */
export type Outcome =
  | ({ kind: 'settled' | 'authorised' } & AnswerFields)
  /** The outcome comes later; until then the payer may have a code to scan or an account to transfer to. */
  | ({ kind: 'accepted'; code?: string | undefined; instructions?: Record<string, string> | undefined } & AnswerFields)
  | ({ kind: 'redirected'; url: string; method: 'GET' | 'POST'; params: Record<string, string> } & AnswerFields)
  | ({ kind: 'declined'; reason: string } & AnswerFields)
  /** The provider does not know yet. */
  | { kind: 'unknown' }
  /** Of queries only: the provider has no such payment. */
  | { kind: 'notFound' };

/** Thrown by a connector when a call failed before its first byte was sent: the provider cannot have received it. */
export class NotSent extends Error {}

/** A connector that makes no network call returns its result synchronously. */
export type MaybePromise<Result> = Result | Promise<Result>;

/** A capture, void or refund of a payment that was submitted before. */
export interface ProviderOperation {
  verb: 'capture' | 'void' | 'refund';
  /** Our id of the payment. */
  reference: string;
  /** Our id of the operation. */
  operation: string;
  amount: bigint;
}

export type OperationOutcome =
  | { kind: 'done' | 'accepted'; reportedAmount?: ReportedAmount | undefined }
  | { kind: 'declined'; reason: string }
  | { kind: 'unknown' }
  | { kind: 'notFound' };

/** An inbound webhook of a provider. */
export interface ProviderNotification {
  /** Deduplicates notifications: a provider may send the same event several times. */
  eventId: string;
  reference: string;
  body: Record<string, unknown>;
}

/** What a notification means for its payment; undefined if the gateway has nothing to do. */
export type NotificationMeaning =
  | Outcome
  /** The amount that was charged back is not compared: after refunds it is smaller than that of the payment. */
  | ({ kind: 'chargedBack'; chargedBack?: ReportedAmount | undefined; respondBy?: number | undefined } & AnswerFields)
  | undefined;

/** What a provider supports; the gateway uses nothing else. */
export interface Capabilities {
  /** A call repeated with the same reference is the same payment or operation, and moves no money twice. */
  isIdempotent: boolean;
  /** A payment can be queried by our reference. */
  supportsQueries: boolean;
  /** Two consecutive `notFound` answers, separated by a pause, mean that the provider never received the payment. */
  notFoundIsFinal: boolean;
  refunds: 'api' | 'portal' | 'none';
  /** The most submissions and operations in flight at a time; unlimited if omitted. */
  concurrency?: number;
}

/** Every call has a deadline: the connector aborts the call then, and sends nothing once `begin()` returned false. */
export interface Connector {
  capabilities: Capabilities;
  /** Submits a payment. Called once per payment, after the intent is durable. */
  submit(submission: Submission, deadline: Deadline): MaybePromise<Outcome>;
  /** Reads the outcome of a submission; moves no money. */
  query(submission: Submission, deadline: Deadline): MaybePromise<Outcome>;
  operate(operation: ProviderOperation, deadline: Deadline): MaybePromise<OperationOutcome>;
  queryOperation(operation: ProviderOperation, deadline: Deadline): MaybePromise<OperationOutcome>;
  /** Reads a notification and verifies its signature; undefined if it is not valid. */
  readNotification(
    headers: Readonly<Record<string, unknown>>,
    body: Buffer,
    now: number,
  ): ProviderNotification | undefined;
  interpretNotification(body: Record<string, unknown>): NotificationMeaning;
}
