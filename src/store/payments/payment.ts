/** The rows of payments, operations and history, and the transition that writes them. */
import type { Attention } from '../../rules/attention.ts';
import type { Decline } from '../../rules/declines.ts';
import type { OrderLines } from '../../rules/order-lines.ts';
import type { PaymentEvent, StateName } from '../../rules/states.ts';

export type Actor = 'merchant' | 'provider' | 'payer' | 'operator' | 'clock';

/** The parts of a request that have no column of their own. */
export interface PaymentDetails {
  description: string;
  /** What the order consists of, if the merchant sent it. */
  lines?: OrderLines;
  identifier?: string;
  returnUrl?: string;
  termUrl3ds?: string;
  callbackUrl?: string;
  payer: Record<string, string>;
  customData?: Record<string, string>;
  /** The fields of the brand, without the secret ones. */
  parameters?: Record<string, unknown>;
  /** The secret fields of the brand, encrypted. */
  sealed?: string;
  /** The sub-methods that the payer may be offered. */
  methods?: string[];
  card?: KeptCard;
  /** What the token of a device wallet said about its card. */
  wallet?: WalletCard;
  /** The terms of the Checkout session; the same in all its attempts. */
  session?: SessionTerms;
  /** The first payment of the recurring series, if this one is a repetition. */
  recurringOf?: string;
  /** The payer's language, if the payer has used the payment page. */
  language?: string;
  /** The address that the payer entered for the receipt. */
  receiptEmail?: string;
  /** When the payer agreed to repeated charges, and what the page said. */
  consent?: { at: number; text: string };
  /** The request fingerprint of the declined payment that the merchant retried with this one. */
  retryOf?: string;
  /** The planned moment of a charge that was found at the provider after a restore. */
  recovered?: number;
  /** The channel that the merchant named for its own reports. */
  channelId?: string;
  /** The payment only checks a card: it is voided as soon as it is authorised. */
  isCardCheck?: true;
  /** When the personal data was erased; the payment has no payer then. */
  erasedAt?: number;
}

/** What a payment stores of its card; the card number is in the vault. */
export interface KeptCard {
  id: string;
  masked: string;
  network: string;
  /** As in callbacks: `05/2030`. */
  expiry: string;
  /** Present if the merchant requested a token, or used one. */
  token?: string;
  /** The number went to the provider without being stored; the vault gets it only if a challenge interrupts the payment. */
  isTransient?: true;
  /** The card was removed from the vault by request: its token no longer works, and the payment cannot be repeated. */
  removed?: true;
}

/** `CRYPTOGRAM_3DS`: the device authenticated the payer. `PAN_ONLY`: the number of the card itself, not authenticated. */
export interface WalletCard {
  type: 'CRYPTOGRAM_3DS' | 'PAN_ONLY';
  /** As the wallet names it. */
  network: string;
}

export interface SessionTerms {
  /** The first payment of the session; its link is the link of the session. */
  id: string;
  /** The end of the session; a brand may give the payer less time. */
  until: number;
  successUrl: string;
  cancelUrl?: string;
  expiryUrl?: string;
  errorUrl?: string;
  urlTarget?: string;
  /** The payer's data that the merchant sent; the payer's own input belongs to one attempt. */
  payer: Record<string, string>;
  /** The brands to offer; empty means all. */
  methods: string[];
  /** The fields of brands that the merchant sent, by brand, without the secret ones. */
  parameters: Record<string, Record<string, string>>;
  /** The secret fields of brands, encrypted. */
  sealed?: string;
  /** The saved cards to offer. */
  cardTokens?: string[];
  /** The merchant requested a card token. */
  wantsToken?: true;
  /** A token is created only if the payer agrees that the card is saved. */
  needsTokenConsent?: true;
  /** The amount of the scheduled charges, if it differs from that of the order. */
  scheduleAmount?: string;
  /** The date of the first scheduled charge. */
  scheduleStart?: string;
  /** The payer has to agree to the repeated charges. */
  needsConsent?: true;
  /** The link or the invoice that the payer began from. */
  linkId?: string;
  invoiceId?: string;
  /** A user of the merchant enters the card of a caller: it is flagged as `moto`, without 3DS, and never saved. */
  isTelephoneOrder?: true;
}

/** What the payer has to do before there can be an outcome. */
export type NextStep =
  /** Fill in fields on the payment page; the payment is not submitted yet. */
  | { kind: 'fields' }
  /** Visit the payment page, which starts the 3DS authentication; the payment is not submitted yet. */
  | { kind: 'authentication' }
  | { kind: 'redirect'; url: string; method: 'GET' | 'POST'; params: Record<string, string> }
  | { kind: 'code'; text: string; until: number }
  /** Pass a 3DS challenge; the process `holder` has the security code of the card. */
  | {
      kind: 'challenge';
      acsUrl: string;
      acsTransId: string;
      version: string;
      until: number;
      holder?: string;
      /** The address of the payer's browser, which the payment does not store. */
      sealed?: string;
    }
  /** Make a bank transfer; the instructions are in display order. */
  | { kind: 'transfer'; instructions: [name: string, text: string][] };

/** What a provider returned for later calls and for repetitions. */
export interface ProviderData {
  /** The number of the current submission; omitted for the first. */
  submission?: number;
  /** The state of the connector. */
  state?: Readonly<Record<string, unknown>>;
  networkTransactionId?: string;
  fee?: { amount: string; currency: string };
  /** Why it was declined, if it is. */
  decline?: Decline;
  /** Until when the provider holds the authorisation. */
  captureBefore?: number;
  /** The secret state and the token of the payment method, encrypted. */
  sealed?: string;
}

export interface Payment {
  mid: string;
  paymentId: string;
  orderId: string;
  attempt: number;
  protocol: 'checkout' | 's2s';
  brand: string;
  /** The name of a connector of the installation, or the key of a connection: `stripe/01a1dd06-…`. */
  connector: string;
  /** Why the payment went to its connection; null for the installation's own provider. */
  routeReason: string | null;
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
  providerData: ProviderData | null;
  createdAt: number;
  updatedAt: number;
}

export type PaymentWithDetails = Payment & { details: PaymentDetails };

/** The columns that a transition may change besides the state. */
export type PaymentChanges = Partial<
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
    | 'providerData'
    | 'nextStep'
    | 'attention'
  >
>;

/** The provider call that reported an event, as recorded in the history. */
export interface CallRecord {
  verb: 'submit' | 'query' | 'resume' | 'withdraw' | 'notification' | 'authenticate' | OperationVerb;
  connector: string;
  outcome: string;
  tookMs: number;
  /** Why the provider declined, or why there was no answer; for the operator. */
  reason?: string | undefined;
  /** The amount that the provider reported, if it is not the expected one: minor units. */
  reported?: { amount: string; currency: string } | undefined;
  /** The result of the authentication of the payer (3DS) with which the payment was submitted, or that there was no answer. */
  authentication?: string | undefined;
  /** The provider's id of the chargeback that was reported. */
  chargeback?: string | undefined;
  /** The submission that was reported, if it is a former one. */
  submission?: number | undefined;
  /** The provider's id of a capture, void or refund that was made there, or ours of one that failed after it was done. */
  operation?: string | undefined;
}

/** A submission of a payment that another connection took over. */
export interface FormerSubmission extends Pick<Payment, 'connector' | 'providerReference' | 'providerData'> {
  submission: number;
}

/** One entry of the history with all changes that are written together with it; the state may stay the same. */
export interface Transition {
  /** The payment as it was read; the transition is not written if it has changed since. */
  before: PaymentWithDetails;
  after: PaymentWithDetails;
  /** `noted …` if the table of states does not allow the event. */
  event:
    | PaymentEvent
    | 'queried'
    | 'doubted'
    | 'attended'
    | 'held'
    | 'stored'
    | 'authenticated'
    | `noted ${PaymentEvent}`
    | `requested ${OperationVerb}`
    | `refused ${OperationVerb}`
    | `unanswered ${OperationVerb}`;
  actor: Actor;
  /** Who the actor is, if it is an operator. */
  actorName?: string | undefined;
  /** Why the operator decided so. */
  note?: string | undefined;
  call: CallRecord | undefined;
  /** What a chargeback took, or its reversal returned; other amounts are those by which the payment changes. */
  moved?: bigint | undefined;
  /** The operation, as it is after the transition. */
  operation?: OperationRow | undefined;
  callback?: NewCallback | undefined;
  /** The payer gets a receipt by e-mail. */
  hasReceipt?: boolean;
  /** Set if a payment by card gets its outcome: its cards are erased, except one that is still needed. */
  cards?: { neededId: string | null } | undefined;
}

export interface NewCallback {
  type: string;
  body: string;
  isJson: boolean;
  /** The payment's own `callback_url`; null means that of the account. */
  url: string | null;
  /** The endpoint of `url`; empty for that of the account. */
  endpoint: string;
  /** Null if there is no address to send it to: the callback is parked. */
  dueAt: number | null;
}

/**
 * A reversal is the void of an authorised amount that was requested as a refund; a credit is a refund that names the
 * card by its token; an expiry is the void of an authorisation that was not captured in time. A late refund or void sends
 * back, or releases, what the provider took after the payment had ended without success.
 */
export type OperationVerb =
  | 'capture'
  | 'void'
  | 'reversal'
  | 'refund'
  | 'credit'
  | 'expiry'
  | 'late_refund'
  | 'late_void';

export interface OperationRow {
  mid: string;
  operationId: string;
  paymentId: string;
  connector: string;
  verb: OperationVerb;
  amount: bigint;
  /** The request, if the merchant chose the id; a request with the same id and other content is refused. */
  content: string | null;
  /** The order id of a credit that has its own. */
  orderId: string | null;
  /** The operator or token that requested it; null for others. */
  requestedBy: string | null;
  state: 'sent' | 'done' | 'declined';
  reason: string | null;
  /** What the provider returned for later calls about the operation. */
  providerReference: string | null;
  providerState: Readonly<Record<string, unknown>> | null;
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
  actorName: string | null;
  note: string | null;
  call: CallRecord | null;
  at: number;
  /** What the event captured, refunded, charged back or returned. */
  amount: bigint | null;
}
