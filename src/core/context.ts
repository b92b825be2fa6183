/** The dependencies that functions of the core take as their first argument, and the shared types of the core. */
import type { Capabilities, Connector } from '../connectors/connector.ts';
import type { Mailer } from '../connectors/mailer.ts';
import type { Receiver } from '../connectors/receiver.ts';
import type { Simulator } from '../connectors/simulator-control.ts';
import type { ThreeDs } from '../connectors/three-ds.ts';
import type { Fingerprints } from '../lib/crypto/fingerprints.ts';
import type { Seal } from '../lib/crypto/seal.ts';
import type { Secret } from '../lib/crypto/secret.ts';
import type { Mark } from '../lib/files/marks.ts';
import type { Cache } from '../lib/flow/cache.ts';
import type { Limiter } from '../lib/flow/limiter.ts';
import type { MaybePromise } from '../lib/flow/maybe-promise.ts';
import type { WaitGauge } from '../lib/flow/wait-gauge.ts';
import type { WindowLimit } from '../lib/flow/window-limit.ts';
import type { Log } from '../lib/text/log.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { WalletRoots } from '../lib/wallets/roots.ts';
import type { WalletAAuthority } from '../lib/wallets/seal-a.ts';
import type { WalletBAuthority } from '../lib/wallets/seal-b.ts';
import type { CallbackReach } from '../rules/callback-address.ts';
import type { TokenRecipient } from '../rules/connectors.ts';
import type { ErrorName } from '../rules/errors.ts';
import type { ReminderKind } from '../rules/invoices.ts';
import type { ApiOperation } from '../rules/operations.ts';
import type { Retention } from '../rules/retention.ts';
import type { Route } from '../rules/routes.ts';
import type { Settings } from '../rules/settings.ts';
import type { AccountStore, Environment } from '../store/accounts/accounts.ts';
import type { LogoStore } from '../store/accounts/logos.ts';
import type { ApiCall, ApiCallStore } from '../store/api-calls/api-calls.ts';
import type { AuditStore } from '../store/audit/audit.ts';
import type { CallbackStore } from '../store/callbacks/callbacks.ts';
import type { CardAttemptStore } from '../store/cards/card-attempts.ts';
import type { CardStore } from '../store/cards/cards.ts';
import type { ChargebackStore } from '../store/chargebacks/chargebacks.ts';
import type { ConnectionStore } from '../store/connections/connections.ts';
import type { CustomerStore } from '../store/customers/customers.ts';
import type { AgedDataStore } from '../store/erasure/aged-data.ts';
import type { ErasureStore } from '../store/erasure/erasure.ts';
import type { InstallationStore } from '../store/installation/installation.ts';
import type { PartitionStore } from '../store/installation/partitions.ts';
import type { RestoreStore } from '../store/installation/restores.ts';
import type { InvoiceStore, PaidInvoice } from '../store/invoices/invoices.ts';
import type { AdjustmentStore } from '../store/ledger/adjustments.ts';
import type { LedgerStore } from '../store/ledger/ledger.ts';
import type { BegunOrderStore } from '../store/links/begun-orders.ts';
import type { LinkStore } from '../store/links/links.ts';
import type { ApiTokenStore } from '../store/operators/api-tokens.ts';
import type { OperatorCredentialStore } from '../store/operators/credentials.ts';
import type { NoticeStore } from '../store/operators/notices.ts';
import type { Operator, OperatorStore } from '../store/operators/operators.ts';
import type { OwnCredentialStore } from '../store/operators/own-credentials.ts';
import type { SavedFilterStore } from '../store/operators/saved-filters.ts';
import type { CreditStore } from '../store/payments/credits.ts';
import type { NotificationStore } from '../store/payments/notifications.ts';
import type { OperationStore } from '../store/payments/operations.ts';
import type { PaymentStore, PaymentWithDetails } from '../store/payments/payments.ts';
import type { RefundRequestStore } from '../store/payments/refund-requests.ts';
import type { PriceStore } from '../store/prices/prices.ts';
import type { ProjectionStore } from '../store/projections/projections.ts';
import type { ReceiptStore } from '../store/receipts/receipts.ts';
import type { ReconciliationStore } from '../store/reconciliations/reconciliations.ts';
import type { ReconciliationRowStore } from '../store/reconciliations/rows.ts';
import type { ThreeWayStore } from '../store/reconciliations/three-way.ts';
import type { FigureStore } from '../store/reports/figures.ts';
import type { BackTestStore } from '../store/risk/back-tests.ts';
import type { RiskDataStore } from '../store/risk/data.ts';
import type { RiskDecisionStore } from '../store/risk/decisions.ts';
import type { FraudRateStore } from '../store/risk/fraud-rates.ts';
import type { RiskListStore } from '../store/risk/lists.ts';
import type { OpeningStore } from '../store/risk/openings.ts';
import type { ReviewStore } from '../store/risk/reviews.ts';
import type { RiskRuleStore } from '../store/risk/rules.ts';
import type { VolumeStore } from '../store/risk/volumes.ts';
import type { CallbackInboxStore } from '../store/sandbox/callback-inbox.ts';
import type { ScheduleStore } from '../store/schedules/schedules.ts';
import type { BankAccountStore } from '../store/settlements/bank-accounts.ts';
import type { FeeInvoiceStore } from '../store/settlements/fee-invoices.ts';
import type { HolidayStore } from '../store/settlements/holidays.ts';
import type { MessageFacts, SettlementMessage, SettlementMessageStore } from '../store/settlements/messages.ts';
import type { PayoutStore } from '../store/settlements/payouts.ts';
import type { ReserveStore } from '../store/settlements/reserve.ts';
import type { SettlementStore } from '../store/settlements/settlements.ts';
import type { StatementStore } from '../store/settlements/statements.ts';
import type { TermsStore } from '../store/settlements/terms.ts';
import type { TelephoneOrderStore } from '../store/telephone-orders/telephone-orders.ts';
import type { WalletTokenStore } from '../store/wallets/wallet-tokens.ts';
import type { Metrics } from './metrics.ts';
import type { NoticeFacts } from './operators/notice-facts.ts';
import type { RequestBody } from './requests/body.ts';
import type { RuleBook } from './risk/book.ts';

export type { MailOutcome } from '../connectors/mailer.ts';
export type { AccountRow, Environment } from '../store/accounts/accounts.ts';
export type { ApiCall, ApiCallFilter, CallExplanation } from '../store/api-calls/api-calls.ts';
export type { AuditRow } from '../store/audit/audit.ts';
export type { CallbackAttempt, CallbackRow } from '../store/callbacks/callbacks.ts';
export type { Evidence, ListedChargeback } from '../store/chargebacks/chargebacks.ts';
export type { Restore } from '../store/installation/restores.ts';
export type { Invoice, PaidInvoice } from '../store/invoices/invoices.ts';
export type { Link, OpenedLink, PaidLink } from '../store/links/links.ts';
export type { ApiToken } from '../store/operators/api-tokens.ts';
export type { Operator } from '../store/operators/operators.ts';
export type { SavedFilter } from '../store/operators/saved-filters.ts';
export type { NotificationRow } from '../store/payments/notifications.ts';
export type {
  CallRecord,
  HistoryRow,
  ListedPayment,
  NextStep,
  OperationRow,
  Payment,
  PaymentCount,
  PaymentDetails,
  PaymentFilter,
  PaymentSelection,
  PaymentStatus,
  PaymentWithDetails,
} from '../store/payments/payments.ts';
export type { Receipt } from '../store/receipts/receipts.ts';
export type {
  Reconciliation,
  StatementProblem,
  StatementTerms,
  StatementTotal,
} from '../store/reconciliations/reconciliations.ts';
export type { ReconciledRow } from '../store/reconciliations/rows.ts';
export type { BackTest, BackTestResult } from '../store/risk/back-tests.ts';
export type { BinRange } from '../store/risk/data.ts';
export type { DecisionRow as RiskDecisionRow } from '../store/risk/decisions.ts';
export type { ListEntry, ListedRiskList, RiskList } from '../store/risk/lists.ts';
export type { Review } from '../store/risk/reviews.ts';
export type { RiskRule } from '../store/risk/rules.ts';
export type {
  ListedSchedule,
  ListedSubscription,
  Schedule,
  ScheduleTerms,
  Subscription,
} from '../store/schedules/schedules.ts';
export type { TakenOrder } from '../store/telephone-orders/telephone-orders.ts';

/** Card security codes during a 3DS challenge: in the memory of this process only, and only for a short time. */
export interface SecurityCodeCache {
  /** The id of this process, by which other processes forward a challenge result to it. */
  readonly holder: string;
  keep(paymentId: string, code: Secret | undefined): void;
  take(paymentId: string): Secret | undefined;
}

/** A call as its route saw it. */
export interface MerchantCall {
  protocol: ApiCall['protocol'];
  /** The operation and its name, once they are known. */
  action?: string;
  operation?: ApiOperation | undefined;
  /** Undefined when the body could not be parsed. */
  body?: RequestBody;
  account?: Account;
  answer?: unknown;
  /** Why the call was refused. */
  error?: ErrorName;
}

/** What the HTTP server knows of a finished call. */
export interface FinishedCall {
  requestId: string;
  address: string;
  status: number;
  tookMs: number;
  /** The size of the body. */
  bytes: number;
}

export interface CallRecorder {
  /** Never waits; a call that exceeds a limit is counted and not kept. `finished` is called for calls that are kept. */
  offer(call: MerchantCall, finished: () => FinishedCall): void;
  /** Writes the next batch of the buffer. */
  flush(): Promise<void>;
  /** Deletes old calls, and those beyond the number that is kept of an account. */
  sweep(isStopped: () => boolean): Promise<void>;
  close(): Promise<void>;
}

/** Delivers callbacks to merchants. */
export interface Deliverer {
  /** From now on this process delivers due callbacks, also those that other processes wrote. */
  start(): void;
  /** Callbacks may be due: starts delivery, or announces them to the processes that deliver. */
  wake(): void;
  /** Another process announced due callbacks. */
  onAnnouncement(): void;
  /** Sends everything that is due and waits for the answers. */
  drain(): Promise<void>;
  /** Claims nothing more, and waits for the callbacks in flight. */
  stop(): Promise<void>;
}

/** The content of an e-mail. */
export interface MailContent {
  subject: string;
  html: string;
  text: string;
}

/** Separate limits, so that queries and calls that move money do not block each other. */
export interface CallLimits {
  /** Submissions and operations. */
  submissions: Limiter;
  queries: Limiter;
}

/** What the tokens of device wallets are checked with. */
export interface WalletTrust {
  /** The recipient of the tokens of wallet-b. */
  recipient: string;
  roots: WalletRoots;
}

/** The connections of this installation, opened as they are needed. */
export interface Connections {
  /** The connector of a connection, under the key that payments have; undefined if it was deleted. */
  connector(key: string): MaybePromise<Connector | undefined>;
  capabilities(connector: string): Capabilities | undefined;
  /** The provider's own name of a brand. */
  methodOf(key: string, brand: string): string | undefined;
  /** Connections may have changed: they are read again. */
  forget(): void;
  close(): Promise<void>;
}

/** The keys with which the pretend wallet of the sandbox seals tokens. */
export interface WalletAuthorities {
  walletA: WalletAAuthority;
  walletB: WalletBAuthority;
}

/** Whether each connector answers the calls of this process. */
export interface ConnectorHealth {
  answered(connector: string): void;
  failed(connector: string, error: string): void;
  /** Whether the last calls got no answer; false again after a while, so that a call can test the connector. */
  isDown(connector: string): boolean;
  /** Whether a payment may be routed there. After an outage, one payment at a time tests the connection. */
  mayTry(connector: string): boolean;
  /** A payment was routed there. */
  chosen(connector: string): void;
  of(connector: string): { state: BreakerState; since: number | null; lastError: string | null };
  /** The connectors that have failed since the start of this process. */
  all(): [connector: string, state: BreakerState][];
}

/** `open`: keeps failing, and routes skip it. `half_open`: it may answer again, and is tested. */
export type BreakerState = 'closed' | 'open' | 'half_open';

export interface Gateway {
  environment: Environment;
  clock: Clock;
  /** How long new work would wait in this process. */
  waits: WaitGauge;
  /** Encrypts secrets under the master key, which can be rotated. */
  seal: Seal;
  /** Keyed digests under a secret of the installation, which a rotation does not change. */
  fingerprints: Fingerprints;
  log: Log;
  metrics: Metrics;
  /** The connectors of the installation itself, by name. */
  connectors: Readonly<Record<string, Connector>>;
  connections: Connections;
  /** The limiters of each connector. */
  providerLimits: Map<string, CallLimits>;
  health: ConnectorHealth;
  /** Whom wallet tokens are addressed to, and who may sign them. */
  wallets: WalletTrust;
  /** Undefined in production. */
  walletAuthorities: WalletAuthorities | undefined;
  /** The 3DS directory, if one is configured. */
  threeDs: ThreeDs | undefined;
  securityCodes: SecurityCodeCache;
  /** The provider simulator, if it is used. */
  simulator: Simulator | undefined;
  /** To which addresses callbacks may be sent. */
  callbackReach: CallbackReach;
  /** Makes the test connector ask the simulator for faults. */
  armFaults(): void;
  deliverer: Deliverer;
  /** Undefined if no mail server is configured. */
  mailer: Mailer | undefined;
  /** The e-mail with an invoice, or a reminder of it. */
  writeInvoice(invoice: PaidInvoice, account: Account, reminder?: ReminderKind): MailContent;
  /** The e-mail with the link to a payer's own page. */
  writeCustomerLink(account: Account, url: string, language: string): MailContent;
  customers: CustomerStore;
  /** The e-mail to a merchant about a settlement or a payout. */
  writeSettlementMail(message: SettlementMessage, facts: MessageFacts | undefined, account: Account): MailContent;
  /** The e-mail that tells an operator what is new, in the operator's language. */
  writeNotice(operator: Operator, facts: NoticeFacts): MailContent;
  /** The e-mail with the receipt of a payment that was paid at this time. */
  writeReceipt(payment: PaymentWithDetails, account: Account, paidAt: number): MailContent;
  receipts: ReceiptStore;
  logos: LogoStore;
  erasure: ErasureStore;
  agedData: AgedDataStore;
  /** How long data is kept, in days. */
  retention: Retention;
  /** Where logs are archived before they are dropped. */
  archiveFolder: string | undefined;
  /** The marks for the payment page that the operator has placed, by network or brand. */
  marks: ReadonlyMap<string, Mark>;
  partitions: PartitionStore;
  receiver: Receiver;
  /** Counts a test callback of an account, and returns whether there were too many. */
  isTestCallbackTooFast: WindowLimit;
  /** Counts a new link, invoice or telephone order of an account, and returns whether there were too many. */
  isLinkTooFast: WindowLimit;
  /** Counts an invitation of a merchant's user, and returns whether there were too many. */
  isInvitationTooFast: WindowLimit;
  /** The base URL of links for payers; known once the server listens. */
  publicUrl: string;
  /** The private address of a peer that forwards requests and is not a trusted proxy, once this process has seen one. */
  untrustedProxy?: string;
  /** The console of the provider simulator, if the gateway runs one; known once the server listens. */
  simulatorUrl?: string | undefined;
  /** The base URL that providers call; known once the server listens. */
  inboundUrl: string;
  payments: PaymentStore;
  operations: OperationStore;
  schedules: ScheduleStore;
  links: LinkStore;
  begunOrders: BegunOrderStore;
  invoices: InvoiceStore;
  telephoneOrders: TelephoneOrderStore;
  restores: RestoreStore;
  cards: CardStore;
  credits: CreditStore;
  callbacks: CallbackStore;
  /** The callbacks that the sandbox's own receiver got. */
  callbackInbox: CallbackInboxStore;
  cardAttempts: CardAttemptStore;
  notifications: NotificationStore;
  chargebacks: ChargebackStore;
  /** The tokens of device wallets that were used. */
  walletTokens: WalletTokenStore;
  riskRules: RiskRuleStore;
  riskLists: RiskListStore;
  riskDecisions: RiskDecisionStore;
  riskOpenings: OpeningStore;
  reviews: ReviewStore;
  backTests: BackTestStore;
  riskData: RiskDataStore;
  fraudRates: FraudRateStore;
  riskVolumes: VolumeStore;
  /** The active risk rules, as this process knows them. */
  ruleBook: RuleBook;
  /** What is derived from the logs. */
  projections: ProjectionStore;
  figures: FigureStore;
  ledger: LedgerStore;
  adjustments: AdjustmentStore;
  refundRequests: RefundRequestStore;
  terms: TermsStore;
  holidays: HolidayStore;
  reserve: ReserveStore;
  settlements: SettlementStore;
  statements: StatementStore;
  threeWay: ThreeWayStore;
  feeInvoices: FeeInvoiceStore;
  settlementMessages: SettlementMessageStore;
  bankAccounts: BankAccountStore;
  payouts: PayoutStore;
  reconciliations: ReconciliationStore;
  reconciliationRows: ReconciliationRowStore;
  accounts: AccountStore;
  apiCalls: ApiCallStore;
  /** Keeps recent API calls of merchants. */
  callRecorder: CallRecorder;
  connectionStore: ConnectionStore;
  prices: PriceStore;
  apiTokens: ApiTokenStore;
  audit: AuditStore;
  operators: OperatorStore;
  operatorCredentials: OperatorCredentialStore;
  ownCredentials: OwnCredentialStore;
  notices: NoticeStore;
  savedFilters: SavedFilterStore;
  installation: InstallationStore;
  /** Accounts by key and by id, cached for a few seconds, and only while this process is notified of changes. */
  accountCache: Cache<Account>;
}

/** A merchant account, with functions that decrypt its secrets. */
export interface Account {
  mid: string;
  name: string;
  clientKey: string;
  merchantKey: string;
  settings: Settings;
  createdAt: number;
  /** Whether the account takes no new payments. */
  isSuspended: boolean;
  /** The passwords that sign requests, newest first: two during the overlap after a rotation, otherwise one. */
  passwords(): readonly string[];
  /** The previous password after its overlap; it signs nothing, and serves only to recognise its use. */
  expiredPassword(): string | undefined;
  /** The secrets that sign callbacks, newest first: two during the overlap after a rotation, otherwise one. */
  callbackSecrets(): readonly string[];
  isAddressAllowed(address: string): boolean;
  /** In order of priority; without routes, the account uses the installation's own provider. */
  routes: readonly AccountRoute[];
}

/** A route with its connection, as it was when the account was read. */
export interface AccountRoute extends Route {
  /** Undefined for the installation's own provider. */
  connection?: RouteConnection | undefined;
}

export interface RouteConnection {
  /** The key that payments have. */
  key: string;
  name: string;
  connector: string;
  /** The brands that it takes. */
  methods: Readonly<Record<string, string>>;
  /** The fields that the provider needs, of those that not every provider does, by brand. */
  needs: Readonly<Record<string, readonly string[]>>;
  /** The provider opens the tokens of device wallets itself. */
  passesTokens: boolean;
  /** Whom the payment page makes tokens of `wallet-b` for. */
  tokenRecipient: TokenRecipient | undefined;
  /** The provider asks payers for their cards on its own page. */
  asksForCard: boolean;
  /** The provider has enabled the account for telephone orders, if it does so only for some. */
  allowsTelephoneOrders: boolean;
}
