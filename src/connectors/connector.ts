/** The contract of a connector: how the gateway speaks to whoever moves the money. */

/** A sale as a provider needs to know it. */
export interface Submission {
  /** Our own reference, under which the provider can be asked later. */
  reference: string;
  amount: bigint;
  currency: string;
  authoriseOnly: boolean;
  identifier: string;
  /** The account's setting of this name, which is a list. */
  list(setting: string): readonly string[];
}

/** A decline is an answer like any other; a connector throws only when the line is dead. */
export type Outcome =
  | { kind: 'settled' | 'authorised' | 'accepted'; providerReference?: string }
  | { kind: 'declined'; reason: string; providerReference?: string }
  /** To a question only: the provider does not know yet. */
  | { kind: 'unknown' };

/** Whoever has nobody to ask may answer at once. */
export type Answer = Outcome | Promise<Outcome>;

export interface Connector {
  /** Moves the money once; the intent is durable before this is called. */
  submit(submission: Submission): Answer;
  /** Asks what became of a submission, without moving anything. */
  query(submission: Submission): Answer;
}
