/** The contract of a connector: how the gateway speaks to whoever moves the money. */

import type { Deadline } from '../lib/deadline.ts';
import type { Secret } from '../lib/secret.ts';

/** A sale as a provider needs to know it. */
export interface Submission {
  /** Our own reference, under which the provider can be asked later. */
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
  /** The fields of the brand, nested as they were sent; sealed ones are opened by this call. */
  parameters(): Readonly<Record<string, unknown>>;
  /** The sub-methods that the payer may be offered, where the brand has some. */
  methods: readonly string[];
  /** Where the payer comes back to, and where news are sent. */
  returnUrl: string;
  notifyUrl: string;
  /** The card, where one is used, and what its bank said of the payer. */
  card?: CardData | undefined;
  authentication?: Authentication | undefined;
  /** The reference of the first payment, when this one repeats it without its payer. */
  recurringOf?: string | undefined;
  setting(name: string): unknown;
}

/** What a bank said of a payer; the proof goes to the provider and is kept nowhere. */
export interface Authentication {
  transStatus: string;
  eci?: string | undefined;
  proof?: string | undefined;
  dsTransId?: string | undefined;
  protocolVersion: string;
}

/** A card as a provider needs it; only a connector ever sees one. */
export interface CardData {
  number: Secret;
  month: string;
  year: string;
  holder: string;
  cvv?: Secret | undefined;
}

/** What a provider said the amount is; if that is not ours, or makes no sense, the rest of it is not believed. */
export type ReportedAmount = { amount: bigint; currency?: string | undefined } | 'nonsense';

interface Answered {
  providerReference?: string | undefined;
  reported?: ReportedAmount | undefined;
}

/** A decline is an answer like any other; a connector throws only when the line is dead. */
export type Outcome =
  | ({ kind: 'settled' | 'authorised' } & Answered)
  /** The outcome comes later; until then the payer may have a code to scan or an account to pay to. */
  | ({ kind: 'accepted'; code?: string | undefined; instructions?: Record<string, string> | undefined } & Answered)
  | ({ kind: 'redirected'; url: string; method: 'GET' | 'POST'; params: Record<string, string> } & Answered)
  | ({ kind: 'declined'; reason: string } & Answered)
  /** The provider does not know yet. */
  | { kind: 'unknown' }
  /** To a question only: the provider has no such payment. */
  | { kind: 'notFound' };

/** Thrown by a connector when a call failed before its first byte left: the provider cannot have received it. */
export class NotSent extends Error {}

/** A connector that needs no call answers at once. */
export type MaybePromise<Result> = Result | Promise<Result>;

/** A capture, void or refund of a payment that was submitted before. */
export interface ProviderOperation {
  verb: 'capture' | 'void' | 'refund';
  /** The reference of the payment, and our own of the operation. */
  reference: string;
  operation: string;
  amount: bigint;
}

export type OperationOutcome =
  | { kind: 'done' | 'accepted'; reported?: ReportedAmount | undefined }
  | { kind: 'declined'; reason: string }
  | { kind: 'unknown' }
  | { kind: 'notFound' };

/** What a provider sent us on its own. */
export interface ProviderNotification {
  /** The same event may come any number of times and counts once. */
  eventId: string;
  reference: string;
  body: Record<string, unknown>;
}

/** What news mean for the payment they are about; nothing when they bring nothing that we act on. */
export type Meaning = Outcome | ({ kind: 'chargedBack' } & Answered) | undefined;

/** What can be asked of a provider; the gateway does nothing else. */
export interface Capabilities {
  /** A submission with the same reference is the same payment and moves no money twice. */
  isIdempotent: boolean;
  /** It can be asked for a payment by our reference. */
  supportsQueries: boolean;
  /** A payment that it does not have, asked twice with a pause between, is one that it never received. */
  notFoundIsFinal: boolean;
  refunds: 'api' | 'portal' | 'none';
  /** How many submissions and operations it takes at a time; without a number they are not limited. */
  concurrency?: number;
}

/** Every call has a deadline: the connector aborts it then, and sends nothing once `begin()` has said no. */
export interface Connector {
  capabilities: Capabilities;
  /** Moves the money once; the intent is durable before this is called. */
  submit(submission: Submission, deadline: Deadline): MaybePromise<Outcome>;
  /** Asks what became of a submission, without moving anything. */
  query(submission: Submission, deadline: Deadline): MaybePromise<Outcome>;
  operate(operation: ProviderOperation, deadline: Deadline): MaybePromise<OperationOutcome>;
  queryOperation(operation: ProviderOperation, deadline: Deadline): MaybePromise<OperationOutcome>;
  /** Reads news whose signature is right; nothing when it is not. */
  readNotification(
    headers: Readonly<Record<string, unknown>>,
    body: Buffer,
    now: number,
  ): ProviderNotification | undefined;
  interpretNotification(body: Record<string, unknown>): Meaning;
}
