/** The dependencies that functions of the core take as their first argument, and the shared types of the core. */
import type { Capabilities, Connector } from '../connectors/connector.ts';
import type { Mailer } from '../connectors/mailer.ts';
import type { Receiver } from '../connectors/receiver.ts';
import type { Simulator } from '../connectors/simulator-control.ts';
import type { ThreeDs } from '../connectors/three-ds.ts';
import type { Cache } from '../lib/cache.ts';
import type { Clock } from '../lib/clock.ts';
import type { Fingerprints } from '../lib/fingerprints.ts';
import type { Limiter } from '../lib/limiter.ts';
import type { Log } from '../lib/log.ts';
import type { MaybePromise } from '../lib/maybe-promise.ts';
import type { Seal } from '../lib/seal.ts';
import type { Secret } from '../lib/secret.ts';
import type { WaitGauge } from '../lib/wait-gauge.ts';
import type { WalletRoots } from '../lib/wallets/roots.ts';
import type { WalletAAuthority } from '../lib/wallets/seal-a.ts';
import type { WalletBAuthority } from '../lib/wallets/seal-b.ts';
import type { WindowLimit } from '../lib/window-limit.ts';
import type { CallbackReach } from '../rules/callback-address.ts';
import type { ErrorName } from '../rules/errors.ts';
import type { ApiOperation } from '../rules/operations.ts';
import type { Retention } from '../rules/retention.ts';
import type { Route } from '../rules/routes.ts';
import type { Settings } from '../rules/settings.ts';
import type { AccountStore, Environment } from '../store/accounts.ts';
import type { AgedDataStore } from '../store/aged-data.ts';
import type { ApiCall, ApiCallStore } from '../store/api-calls.ts';
import type { ApiTokenStore } from '../store/api-tokens.ts';
import type { AuditStore } from '../store/audit.ts';
import type { CallbackInboxStore } from '../store/callback-inbox.ts';
import type { CallbackStore } from '../store/callbacks.ts';
import type { CardAttemptStore } from '../store/card-attempts.ts';
import type { CardStore } from '../store/cards.ts';
import type { ChargebackStore } from '../store/chargebacks.ts';
import type { ConnectionStore } from '../store/connections.ts';
import type { CreditStore } from '../store/credits.ts';
import type { ErasureStore } from '../store/erasure.ts';
import type { FigureStore } from '../store/figures.ts';
import type { InstallationStore } from '../store/installation.ts';
import type { NotificationStore } from '../store/notifications.ts';
import type { OperationStore } from '../store/operations.ts';
import type { OperatorCredentialStore } from '../store/operator-credentials.ts';
import type { OperatorStore } from '../store/operators.ts';
import type { OwnCredentialStore } from '../store/own-credentials.ts';
import type { PartitionStore } from '../store/partitions.ts';
import type { PaymentStore, PaymentWithDetails } from '../store/payments.ts';
import type { ReceiptStore } from '../store/receipts.ts';
import type { ReconciliationRowStore } from '../store/reconciliation-rows.ts';
import type { ReconciliationStore } from '../store/reconciliations.ts';
import type { RollupStore } from '../store/rollups.ts';
import type { SavedFilterStore } from '../store/saved-filters.ts';
import type { ScheduleStore } from '../store/schedules.ts';
import type { WalletTokenStore } from '../store/wallet-tokens.ts';
import type { Metrics } from './metrics.ts';
import type { RequestBody } from './requests/body.ts';

export type { AccountRow, Environment } from '../store/accounts.ts';
export type { ApiCall, ApiCallFilter, CallExplanation } from '../store/api-calls.ts';
export type { ApiToken } from '../store/api-tokens.ts';
export type { AuditRow } from '../store/audit.ts';
export type { CallbackAttempt, CallbackRow } from '../store/callbacks.ts';
export type { Evidence, ListedChargeback } from '../store/chargebacks.ts';
export type { NotificationRow } from '../store/notifications.ts';
export type { Operator } from '../store/operators.ts';
export type {
  CallRecord,
  HistoryRow,
  NextStep,
  OperationRow,
  Payment,
  PaymentDetails,
  PaymentFilter,
  PaymentStatus,
  PaymentWithDetails,
} from '../store/payments.ts';
export type { Receipt } from '../store/receipts.ts';
export type { ReconciledRow } from '../store/reconciliation-rows.ts';
export type { Reconciliation, StatementProblem, StatementTerms, StatementTotal } from '../store/reconciliations.ts';
export type { SavedFilter } from '../store/saved-filters.ts';
export type { ListedSchedule, ListedSubscription, Schedule, ScheduleTerms, Subscription } from '../store/schedules.ts';

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
export interface ReceiptMail {
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
  /** Writes the e-mail with the receipt of a payment that was paid at this time. */
  writeReceipt(payment: PaymentWithDetails, account: Account, paidAt: number): ReceiptMail;
  receipts: ReceiptStore;
  erasure: ErasureStore;
  agedData: AgedDataStore;
  /** How long data is kept, in days. */
  retention: Retention;
  /** Where logs are archived before they are dropped. */
  archiveFolder: string | undefined;
  partitions: PartitionStore;
  receiver: Receiver;
  /** Counts a test callback of an account, and returns whether there were too many. */
  isTestCallbackTooFast: WindowLimit;
  /** The base URL of links for payers; known once the server listens. */
  publicUrl: string;
  /** The base URL that providers call; known once the server listens. */
  inboundUrl: string;
  payments: PaymentStore;
  operations: OperationStore;
  schedules: ScheduleStore;
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
  /** The sums of reports, and what reads them. */
  rollups: RollupStore;
  figures: FigureStore;
  reconciliations: ReconciliationStore;
  reconciliationRows: ReconciliationRowStore;
  accounts: AccountStore;
  apiCalls: ApiCallStore;
  /** Keeps recent API calls of merchants. */
  callRecorder: CallRecorder;
  connectionStore: ConnectionStore;
  apiTokens: ApiTokenStore;
  audit: AuditStore;
  operators: OperatorStore;
  operatorCredentials: OperatorCredentialStore;
  ownCredentials: OwnCredentialStore;
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
  /** The provider asks payers for their cards on its own page. */
  asksForCard: boolean;
}
