/** The dependencies that functions of the core take as their first argument, and the shared types of the core. */
import type { Logger } from 'pino';
import type { Connector } from '../connectors/connector.ts';
import type { Receiver } from '../connectors/receiver.ts';
import type { Simulator } from '../connectors/simulator-control.ts';
import type { ThreeDs } from '../connectors/three-ds.ts';
import type { Cache } from '../lib/cache.ts';
import type { Clock } from '../lib/clock.ts';
import type { Fingerprints } from '../lib/fingerprints.ts';
import type { Limiter } from '../lib/limiter.ts';
import type { Seal } from '../lib/seal.ts';
import type { Secret } from '../lib/secret.ts';
import type { WalletRoots } from '../lib/wallets/roots.ts';
import type { WalletAAuthority } from '../lib/wallets/seal-a.ts';
import type { WalletBAuthority } from '../lib/wallets/seal-b.ts';
import type { CallbackReach } from '../rules/callback-address.ts';
import type { Settings } from '../rules/settings.ts';
import type { AccountStore, Environment } from '../store/accounts.ts';
import type { ApiTokenStore } from '../store/api-tokens.ts';
import type { AuditStore } from '../store/audit.ts';
import type { CallbackInboxStore } from '../store/callback-inbox.ts';
import type { CallbackStore } from '../store/callbacks.ts';
import type { CardAttemptStore } from '../store/card-attempts.ts';
import type { CardStore } from '../store/cards.ts';
import type { CreditStore } from '../store/credits.ts';
import type { FigureStore } from '../store/figures.ts';
import type { InstallationStore } from '../store/installation.ts';
import type { NotificationStore } from '../store/notifications.ts';
import type { OperationStore } from '../store/operations.ts';
import type { OperatorCredentialStore } from '../store/operator-credentials.ts';
import type { OperatorStore } from '../store/operators.ts';
import type { PaymentStore } from '../store/payments.ts';
import type { RollupStore } from '../store/rollups.ts';
import type { ScheduleStore } from '../store/schedules.ts';
import type { WalletTokenStore } from '../store/wallet-tokens.ts';
import type { Metrics } from './metrics.ts';

export type { AccountRow, Environment } from '../store/accounts.ts';
export type { ApiToken } from '../store/api-tokens.ts';
export type { AuditRow } from '../store/audit.ts';
export type { CallbackAttempt, CallbackRow } from '../store/callbacks.ts';
export type { NotificationRow } from '../store/notifications.ts';
export type { Operator } from '../store/operators.ts';
export type {
  HistoryRow,
  NextStep,
  OperationRow,
  Payment,
  PaymentDetails,
  PaymentFilter,
  PaymentStatus,
  PaymentWithDetails,
} from '../store/payments.ts';
export type { ListedSchedule, ListedSubscription, Schedule, ScheduleTerms, Subscription } from '../store/schedules.ts';

/** Card security codes during a 3DS challenge: in the memory of this process only, and only for a short time. */
export interface SecurityCodeCache {
  /** The id of this process, by which other processes forward a challenge result to it. */
  readonly holder: string;
  keep(paymentId: string, code: Secret | undefined): void;
  take(paymentId: string): Secret | undefined;
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

/** The keys with which the pretend wallet of the sandbox seals tokens. */
export interface WalletAuthorities {
  walletA: WalletAAuthority;
  walletB: WalletBAuthority;
}

/** Whether each connector answers the calls of this process. */
export interface ConnectorHealth {
  answered(connector: string): void;
  failed(connector: string): void;
  /** Whether the last calls got no answer; false again after a while, so that a call can test the connector. */
  isDown(connector: string): boolean;
}

export interface Gateway {
  environment: Environment;
  clock: Clock;
  /** Encrypts secrets under the master key, which can be rotated. */
  seal: Seal;
  /** Keyed digests under a secret of the installation, which a rotation does not change. */
  fingerprints: Fingerprints;
  log: Logger;
  metrics: Metrics;
  connectors: Readonly<Record<string, Connector>>;
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
  receiver: Receiver;
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
  /** The tokens of device wallets that were used. */
  walletTokens: WalletTokenStore;
  /** The sums of reports, and what reads them. */
  rollups: RollupStore;
  figures: FigureStore;
  accounts: AccountStore;
  apiTokens: ApiTokenStore;
  audit: AuditStore;
  operators: OperatorStore;
  operatorCredentials: OperatorCredentialStore;
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
}
