/** The types of a stored payment, its operations and its history. */
import type { Attention } from '../rules/attention.ts';
import type { PaymentEvent, StateName } from '../rules/states.ts';

export type Actor = 'merchant' | 'provider' | 'payer' | 'operator' | 'clock';

/** The values of the request that have no column of their own. */
export interface PaymentDetails {
  description: string;
  identifier?: string;
  returnUrl?: string;
  termUrl3ds?: string;
  callbackUrl?: string;
  payer: Record<string, string>;
  customData?: Record<string, string>;
  /** The fields of the brand; the secret ones are in `sealed`. */
  parameters?: Record<string, unknown>;
  sealed?: string;
  /** The sub-methods that the payer may be offered. */
  methods?: string[];
  /** The card that was used, without its number. */
  card?: KeptCard;
  /** The terms of the Checkout session; the same in all its attempts. */
  session?: SessionTerms;
  /** The first payment, when this one is a recurring sale. */
  recurringOf?: string;
}

/** The data of a card that is stored with its payment. */
export interface KeptCard {
  id: string;
  masked: string;
  network: string;
  /** In the format of callbacks: `05/2030`. */
  expiry: string;
  /** The card token; present when the merchant requested one, or paid with one. */
  token?: string;
}

export interface SessionTerms {
  /** The first payment of the session; the payer's link contains its id. */
  id: string;
  /** The end of the session; the time limit of a brand may be earlier. */
  until: number;
  successUrl: string;
  cancelUrl?: string;
  expiryUrl?: string;
  errorUrl?: string;
  urlTarget?: string;
  /** The payer's data from the merchant; data that the payer enters belongs to one attempt only. */
  payer: Record<string, string>;
  /** The brands that the session offers; empty means all. */
  methods: string[];
  /** The brand fields that the merchant sent; the secret ones are in `sealed`. */
  parameters: Record<string, Record<string, string>>;
  sealed?: string;
  /** The saved cards that the payer may be offered. */
  cardTokens?: string[];
  /** The merchant requested a card token. */
  wantsToken?: true;
}

/** What the payer has to do before there can be an outcome. */
export type NextStep =
  /** The payment page asks for fields that the merchant did not send; nothing was submitted yet. */
  | { kind: 'fields' }
  | { kind: 'redirect'; url: string; method: 'GET' | 'POST'; params: Record<string, string> }
  | { kind: 'code'; text: string; until: number }
  /** A 3DS challenge at the card issuer; the process `holder` holds the card's security code in memory meanwhile. */
  | { kind: 'challenge'; acsUrl: string; acsTransId: string; version: string; until: number; holder?: string }
  /** The instructions are in display order. */
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

/** What an event may change besides the state; the other columns are immutable. */
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

/** The provider call that caused an event, as recorded in the history. */
export interface CallRecord {
  verb: 'submit' | 'query' | 'notification' | 'authenticate' | OperationVerb;
  connector: string;
  outcome: string;
  tookMs: number;
}

export interface Transition {
  /** The payment that the decision was based on; if it has changed since, nothing is written. */
  before: WholePayment;
  /** The payment after the transition. */
  after: WholePayment;
  /** What happened; `noted …` when the state table does not allow the event and the payment was not changed. */
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
  /** The operation after the transition; written in the same statement. */
  operation?: OperationRow | undefined;
  /** The callback for the transition; written in the same statement. */
  callback?: NewCallback | undefined;
}

/** A callback to insert. */
export interface NewCallback {
  type: string;
  body: string;
  isJson: boolean;
  /** The callback address of this payment, and its origin; null means the account's address. */
  url: string | null;
  endpoint: string;
  /** Null when there is no address to send it to. */
  dueAt: number | null;
}

/**
 * The operations on a payment. A reversal is the void of an authorisation that was requested as a refund, a credit is a
 * refund that was requested with a card token, and an expiry is the void of an authorisation that has expired.
 */
export type OperationVerb = 'capture' | 'void' | 'reversal' | 'refund' | 'credit' | 'expiry';

export interface OperationRow {
  mid: string;
  operationId: string;
  paymentId: string;
  connector: string;
  verb: OperationVerb;
  amount: bigint;
  /** The request with a merchant's operation id; a repeat of the id with different content is refused. */
  content: string | null;
  /** The order of a credit. */
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
