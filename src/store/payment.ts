/** A payment as the store keeps it, and what can be written about it. */
import type { Attention } from '../rules/attention.ts';
import type { PaymentEvent, StateName } from '../rules/states.ts';

export type Actor = 'merchant' | 'provider' | 'payer' | 'operator' | 'clock';

/** What the request said besides what has a column of its own. */
export interface PaymentDetails {
  description: string;
  identifier?: string;
  returnUrl?: string;
  termUrl3ds?: string;
  callbackUrl?: string;
  payer: Record<string, string>;
  customData?: Record<string, string>;
  /** The fields of the brand; those that must not be read by anybody are in `sealed`. */
  parameters?: Record<string, unknown>;
  sealed?: string;
  /** The sub-methods that the payer may be offered. */
  methods?: string[];
  /** The card that was used, as far as it may be known. */
  card?: KeptCard;
  /** What a Checkout session asked for; all its attempts carry the same. */
  session?: SessionTerms;
  /** The first payment, of which this one is a repetition. */
  recurringOf?: string;
}

/** What a payment keeps of the card that it was made with. */
export interface KeptCard {
  id: string;
  masked: string;
  network: string;
  /** As it is told: `05/2030`. */
  expiry: string;
  /** What the merchant may name the card by; present when it asked for that, or knows the card already. */
  token?: string;
}

export interface SessionTerms {
  /** The payment that the session began with, whose link the payer has. */
  id: string;
  /** The session ends then; a way to pay may leave the payer less time. */
  until: number;
  successUrl: string;
  cancelUrl?: string;
  expiryUrl?: string;
  errorUrl?: string;
  urlTarget?: string;
  /** What the merchant said of the payer; what the payer adds is of one attempt alone. */
  payer: Record<string, string>;
  /** The brands that the merchant wants to offer; empty means all. */
  methods: string[];
  /** What the merchant knows already of the fields of brands; what must not be read by anybody is in `sealed`. */
  parameters: Record<string, Record<string, string>>;
  sealed?: string;
  /** The saved cards that the payer may be offered. */
  cardTokens?: string[];
  /** The merchant wants to know the card by a token. */
  wantsToken?: true;
}

/** What the payer has to do before the provider can tell an outcome. */
export type NextStep =
  /** Our own page asks for fields that the merchant did not send; nothing was submitted yet. */
  | { kind: 'fields' }
  | { kind: 'redirect'; url: string; method: 'GET' | 'POST'; params: Record<string, string> }
  | { kind: 'code'; text: string; until: number }
  /** The card's bank wants to see the payer; the process `holder` keeps the code of the card meanwhile. */
  | { kind: 'challenge'; acsUrl: string; acsTransId: string; version: string; until: number; holder?: string }
  /** In the order in which the payer needs them. */
  | { kind: 'transfer'; instructions: [name: string, text: string][] };

export interface Payment {
  mid: string;
  paymentId: string;
  orderId: string;
  attempt: number;
  protocol: 'checkout' | 's2s';
  brand: string;
  connector: string;
  state: StateName;
  historyLength: number;
  amountText: string;
  currency: string;
  amount: bigint;
  authorised: bigint;
  captured: bigint;
  refunded: bigint;
  reserved: bigint;
  busy: OperationVerb | null;
  inDoubt: boolean;
  dueAt: number | null;
  payerUntil: number | null;
  queryCount: number;
  nextStep: NextStep | null;
  attention: Attention | null;
  isAuthorisation: boolean;
  isRecurringInit: boolean;
  fingerprint: string;
  descriptor: string;
  declineReason: string | null;
  recurringToken: string | null;
  scheduleId: string | null;
  providerReference: string | null;
  createdAt: number;
  updatedAt: number;
}

export type WholePayment = Payment & { details: PaymentDetails };

/** What may change with an event besides the state; the rest of a payment is as it was opened. */
export type Changes = Partial<
  Pick<
    Payment,
    | 'authorised'
    | 'captured'
    | 'refunded'
    | 'reserved'
    | 'busy'
    | 'inDoubt'
    | 'dueAt'
    | 'queryCount'
    | 'declineReason'
    | 'recurringToken'
    | 'providerReference'
    | 'nextStep'
    | 'attention'
  >
>;

/** The provider call that brought an event, as the history keeps it. */
export interface CallRecord {
  verb: 'submit' | 'query' | 'notification' | 'authenticate' | OperationVerb;
  connector: string;
  outcome: string;
  tookMs: number;
}

export interface Transition {
  /** The payment as it was when the move was decided; if it has changed since, the move does not happen. */
  before: WholePayment;
  /** The payment as it is if the move happens. */
  after: WholePayment;
  /** What happened; `noted …` when the table of states does not allow it and nothing changed. */
  event:
    | PaymentEvent
    | 'queried'
    | 'doubted'
    | 'attended'
    | 'authenticated'
    | `noted ${PaymentEvent}`
    | `requested ${OperationVerb}`
    | `refused ${OperationVerb}`
    | `unanswered ${OperationVerb}`;
  actor: Actor;
  call: CallRecord | undefined;
  /** The operation that the move belongs to, as it is if the move happens; it is written with it. */
  operation?: OperationRow | undefined;
  /** What the merchant is told of it; it is written with it. */
  callback?: NewCallback | undefined;
}

/** What a merchant is told of a move. */
export interface NewCallback {
  type: string;
  body: string;
  isJson: boolean;
  /** The address of this payment alone, and its origin; without one the account's own counts. */
  url: string | null;
  endpoint: string;
  /** Nothing when there is no address yet that it could be sent to. */
  dueAt: number | null;
}

/**
 * What can be done to a payment; a reversal is the void of a reserved amount that was asked for as a refund, a credit is
 * a refund that was asked for by naming the card, and an expiry is the void of an authorisation whose time is over.
 */
export type OperationVerb = 'capture' | 'void' | 'reversal' | 'refund' | 'credit' | 'expiry';

export interface OperationRow {
  mid: string;
  operationId: string;
  paymentId: string;
  connector: string;
  verb: OperationVerb;
  amount: bigint;
  /** What was asked for under an id that the merchant chose; a request with this id and other content is refused. */
  content: string | null;
  /** The own order of a credit. */
  orderId: string | null;
  state: 'sent' | 'done' | 'declined';
  reason: string | null;
  queryCount: number;
  dueAt: number | null;
  requestedAt: number;
  finishedAt: number | null;
}

export interface HistoryRow {
  seq: number;
  event: string;
  fromState: StateName | null;
  toState: StateName;
  actor: Actor;
  call: CallRecord | null;
  at: number;
}
