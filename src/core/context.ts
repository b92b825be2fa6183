/** The tools that every function of the core gets first. */
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
import type { CallbackReach } from '../rules/callback-address.ts';
import type { Settings } from '../rules/settings.ts';
import type { AccountStore, Environment } from '../store/accounts.ts';
import type { CallbackInboxStore } from '../store/callback-inbox.ts';
import type { CallbackStore } from '../store/callbacks.ts';
import type { CardAttemptStore } from '../store/card-attempts.ts';
import type { CardStore } from '../store/cards.ts';
import type { CreditStore } from '../store/credits.ts';
import type { InstallationStore } from '../store/installation.ts';
import type { NotificationStore } from '../store/notifications.ts';
import type { OperationStore } from '../store/operations.ts';
import type { PaymentStore } from '../store/payments.ts';
import type { ScheduleStore } from '../store/schedules.ts';
import type { Metrics } from './metrics.ts';

export type { AccountRow, Environment } from '../store/accounts.ts';
export type { CallbackAttempt, CallbackRow } from '../store/callbacks.ts';
export type { NotificationRow } from '../store/notifications.ts';
export type {
  HistoryRow,
  NextStep,
  OperationRow,
  Payment,
  PaymentDetails,
  PaymentStatus,
  WholePayment,
} from '../store/payments.ts';
export type { ListedSchedule, ListedSubscription, Schedule, ScheduleTerms, Subscription } from '../store/schedules.ts';

/** Security codes of cards whose payers are at their bank: in this process alone, and not for long. */
export interface SecurityCodeCache {
  /** By this name the others know the process that keeps them. */
  readonly holder: string;
  keep(paymentId: string, code: Secret | undefined): void;
  take(paymentId: string): Secret | undefined;
}

/** Who sends callbacks to merchants. */
export interface Deliverer {
  /** From now on this process delivers what it and others wrote. */
  start(): void;
  /** Callbacks are due: whoever delivers them, here or in another process, need not wait for the next look. */
  wake(): void;
  /** Another process says so. */
  onAnnouncement(): void;
  /** Sends everything that is due and waits for the answers. */
  drain(): Promise<void>;
  /** Takes nothing more, and waits for what is under way. */
  stop(): Promise<void>;
}

/** Calls that move money, and calls that only ask, have limits of their own: neither takes the other's place. */
export interface CallLimits {
  moves: Limiter;
  queries: Limiter;
}

/** How each connector fares in this process. */
export interface ConnectorHealth {
  answered(connector: string): void;
  failed(connector: string): void;
  /** Whether the newest calls went unanswered; after a while one call may try again. */
  isDown(connector: string): boolean;
}

export interface Gateway {
  environment: Environment;
  clock: Clock;
  /** Seals secrets under the master key, which may be replaced; what it must not change is marked under a secret that stays. */
  seal: Seal;
  fingerprints: Fingerprints;
  log: Logger;
  metrics: Metrics;
  connectors: Readonly<Record<string, Connector>>;
  /** How many calls each connector takes at a time, and whether it answers. */
  providerLimits: Map<string, CallLimits>;
  health: ConnectorHealth;
  /** The 3DS directory, where there is one, and the security codes of payers who are at their bank. */
  threeDs: ThreeDs | undefined;
  securityCodes: SecurityCodeCache;
  /** The provider simulator, where there is one. */
  simulator: Simulator | undefined;
  /** Where callbacks may go. */
  callbackReach: CallbackReach;
  /** Faults were asked for: the test connector has to look for them. */
  armFaults(): void;
  deliverer: Deliverer;
  receiver: Receiver;
  /** The base address of links for payers, and the one under which providers reach us; known once we listen. */
  publicUrl: string;
  inboundUrl: string;
  payments: PaymentStore;
  operations: OperationStore;
  schedules: ScheduleStore;
  cards: CardStore;
  credits: CreditStore;
  callbacks: CallbackStore;
  /** What arrived at the sandbox's own receiver of callbacks. */
  callbackInbox: CallbackInboxStore;
  cardAttempts: CardAttemptStore;
  notifications: NotificationStore;
  accounts: AccountStore;
  installation: InstallationStore;
  /** Accounts by key and by id, remembered for a few seconds, and only while changes made elsewhere are heard of. */
  remembered: Cache<Account>;
}

/** An account with its secrets opened, as a request needs it. */
export interface Account {
  mid: string;
  name: string;
  clientKey: string;
  merchantKey: string;
  settings: Settings;
  createdAt: number;
  /** The passwords that sign requests at the moment: one, or two while a rotation is under way. */
  passwords(): readonly string[];
  /** The secrets that sign callbacks: one, or two while one is replaced. */
  callbackSecrets(): readonly string[];
  isAddressAllowed(address: string): boolean;
}
