/** Assembles a gateway: stores, clock, connectors, and the listener for changes by other processes. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Connectors, createConnectors, type ProviderAccess } from '../connectors/index.ts';
import { createMailer, type MailAccess } from '../connectors/mailer.ts';
import { createReceiver, type Receiver } from '../connectors/receiver.ts';
import { createAccountCache, forgetAccounts } from '../core/accounts.ts';
import { createCallRecorder } from '../core/api-calls/record.ts';
import { createDeliverer } from '../core/callbacks/deliver.ts';
import { synchroniseClock } from '../core/catch-up.ts';
import { readClock } from '../core/clock.ts';
import { createConnections, forgetConnections } from '../core/connections.ts';
import type { Gateway } from '../core/context.ts';
import { checkEnvironment, openFingerprints } from '../core/installation.ts';
import { addLogPartitions } from '../core/log-partitions.ts';
import { createMetrics, type Metrics } from '../core/metrics.ts';
import { receiveForwardedResult } from '../core/payments/challenge.ts';
import { createConnectorHealth } from '../core/payments/health.ts';
import { openAuthorities, withAuthorities } from '../core/pretend-wallet.ts';
import { createSecurityCodeCache } from '../core/security-code-cache.ts';
import { walletRootsExpireAt } from '../core/wallet-roots.ts';
import { createClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { createSeal } from '../lib/seal.ts';
import { StartupError } from '../lib/startup-error.ts';
import { createWaitGauge } from '../lib/wait-gauge.ts';
import { readWalletRoots, type WalletRoots } from '../lib/wallets/roots.ts';
import { createWindowLimit } from '../lib/window-limit.ts';
import { receiptMail } from '../pages/pay/receipt-mail.ts';
import { callbackReach } from '../rules/callback-address.ts';
import { LIMITS } from '../rules/limits.ts';
import { RETENTION_DEFAULTS, type Retention } from '../rules/retention.ts';
import { createAccountStore, type Environment } from '../store/accounts.ts';
import { createAgedDataStore } from '../store/aged-data.ts';
import { createApiCallStore } from '../store/api-calls.ts';
import { createApiTokenStore } from '../store/api-tokens.ts';
import { createAuditStore } from '../store/audit.ts';
import { createCallbackInboxStore } from '../store/callback-inbox.ts';
import { createCallbackStore } from '../store/callbacks.ts';
import { createCardAttemptStore } from '../store/card-attempts.ts';
import { createCardStore } from '../store/cards.ts';
import { type ChangeListener, listenToChanges } from '../store/changes.ts';
import { createChargebackStore } from '../store/chargebacks.ts';
import { CONNECTIONS_CHANGED, createConnectionStore } from '../store/connections.ts';
import { createCreditStore } from '../store/credits.ts';
import { type Connection, checkDatabase, type Database, openDatabase } from '../store/database.ts';
import { createErasureStore } from '../store/erasure.ts';
import { createFigureStore } from '../store/figures.ts';
import { createInstallationStore } from '../store/installation.ts';
import { createNotificationStore } from '../store/notifications.ts';
import { createOperationStore } from '../store/operations.ts';
import { createOperatorCredentialStore } from '../store/operator-credentials.ts';
import { createOperatorStore } from '../store/operators.ts';
import { createOwnCredentialStore } from '../store/own-credentials.ts';
import { createPartitionStore, type PartitionStore } from '../store/partitions.ts';
import type { PaymentStoreOptions } from '../store/payment-batch.ts';
import { createPaymentStore } from '../store/payments.ts';
import { createReceiptStore } from '../store/receipts.ts';
import { createReconciliationRowStore } from '../store/reconciliation-rows.ts';
import { createReconciliationStore } from '../store/reconciliations.ts';
import { createRollupStore } from '../store/rollups.ts';
import { createSavedFilterStore } from '../store/saved-filters.ts';
import { createScheduleStore } from '../store/schedules.ts';
import { createWalletTokenStore } from '../store/wallet-tokens.ts';
import { createWriteProbe } from '../store/write-probe.ts';

export interface GatewayOptions {
  connection: Connection;
  environment: Environment;
  masterKey: string;
  log: Log;
  /** The provider of all brands except the test brand; without one they are not offered. */
  provider?: ProviderAccess | undefined;
  /** The private addresses that callbacks may be sent to; default: loopback in the sandbox, none in production. */
  callbackAllow?: readonly string[];
  /** The mail server for receipts, if there is one. */
  mail?: MailAccess | undefined;
  /** How long data is kept, if not the default. */
  retention?: Partial<Retention> | undefined;
  /** Where logs are archived before they are dropped; not at all if absent. */
  archiveFolder?: string | undefined;
  /** A folder with further roots of wallets, and the recipient of the tokens of wallet-b, if not the default. */
  walletRoots?: string | undefined;
  walletBRecipient?: string | undefined;
  /** Batch sizes and connections other than the defaults, for the benchmark of batches of one. */
  batchLimits?: Pick<PaymentStoreOptions, 'items' | 'inFlight'>;
  hotConnections?: number;
}

export const WALLET_B_RECIPIENT = 'gateway:turnpike';

function trustedRoots(folder: string | undefined): WalletRoots {
  if (folder && !['wallet-a.pem', 'wallet-b.json'].some((name) => existsSync(join(folder, name)))) {
    throw new StartupError(`TURNPIKE_WALLET_ROOTS: ${folder} contains neither wallet-a.pem nor wallet-b.json.`);
  }
  try {
    return readWalletRoots(folder || undefined);
  } catch (error) {
    throw new StartupError(`TURNPIKE_WALLET_ROOTS cannot be read: ${(error as Error).message}`);
  }
}

/** What a gateway is composed of, besides the stores of its database. */
export interface GatewayParts {
  database: Database;
  connectors: Connectors;
  receiver: Receiver;
  metrics: Metrics;
  partitions: PartitionStore;
  walletRoots: WalletRoots;
  /** Whether this process is notified of changes; while it is not, nothing is cached. */
  isListening: () => boolean;
}

/** Composes a gateway; `fingerprints` is set once the database was read. */
export function composeGateway(parts: GatewayParts, options: Omit<GatewayOptions, 'connection'>): Gateway {
  const { database, connectors, receiver, metrics, isListening } = parts;
  const { environment, log } = options;
  const probe = createWriteProbe(database);
  const clock = createClock();
  const waits = createWaitGauge();
  const tools: Omit<Gateway, 'callRecorder' | 'deliverer' | 'health' | 'fingerprints' | 'connections'> = {
    environment,
    clock,
    waits,
    seal: createSeal(options.masterKey),
    log,
    metrics,
    connectors: connectors.byName,
    providerLimits: new Map(),
    wallets: {
      recipient: options.walletBRecipient ?? WALLET_B_RECIPIENT,
      roots: parts.walletRoots,
    },
    walletAuthorities: undefined,
    threeDs: connectors.threeDs,
    securityCodes: createSecurityCodeCache(),
    simulator: connectors.simulator,
    callbackReach: reachOf(options),
    receiver,
    mailer: options.mail && createMailer(options.mail),
    writeReceipt: (payment, account, paidAt) => receiptMail(gateway, payment, account, paidAt),
    receipts: createReceiptStore(database),
    erasure: createErasureStore(database),
    agedData: createAgedDataStore(database),
    retention: { ...RETENTION_DEFAULTS, ...options.retention },
    archiveFolder: options.archiveFolder || undefined,
    partitions: parts.partitions,
    isTestCallbackTooFast: createWindowLimit(LIMITS.testCallbacksMost, LIMITS.testCallbackWindowMs),
    armFaults() {
      if (connectors.faults) connectors.faults.areArmed = true;
    },
    publicUrl: '',
    inboundUrl: '',
    payments: createPaymentStore(database, metrics.batch, {
      ...options.batchLimits,
      now: clock.real,
      onWrite: probe.report,
      gauge: waits,
    }),
    operations: createOperationStore(database),
    schedules: createScheduleStore(database),
    cards: createCardStore(database),
    credits: createCreditStore(database),
    callbacks: createCallbackStore(database),
    callbackInbox: createCallbackInboxStore(database),
    cardAttempts: createCardAttemptStore(database),
    notifications: createNotificationStore(database),
    chargebacks: createChargebackStore(database),
    walletTokens: createWalletTokenStore(database),
    rollups: createRollupStore(database),
    figures: createFigureStore(database),
    reconciliations: createReconciliationStore(database),
    reconciliationRows: createReconciliationRowStore(database),
    accounts: createAccountStore(database),
    apiCalls: createApiCallStore(database),
    connectionStore: createConnectionStore(database),
    apiTokens: createApiTokenStore(database),
    audit: createAuditStore(database),
    operators: createOperatorStore(database),
    operatorCredentials: createOperatorCredentialStore(database),
    ownCredentials: createOwnCredentialStore(database),
    savedFilters: createSavedFilterStore(database),
    installation: createInstallationStore(database, probe),
    accountCache: createAccountCache(isListening),
  };
  const gateway = tools as Gateway;
  gateway.callRecorder = createCallRecorder(gateway);
  gateway.deliverer = createDeliverer(gateway);
  gateway.health = createConnectorHealth(gateway);
  gateway.connections = createConnections(gateway, isListening);
  return gateway;
}

const reachOf = ({ environment, callbackAllow = [] }: Pick<GatewayOptions, 'environment' | 'callbackAllow'>) =>
  callbackReach(environment === 'sandbox', callbackAllow);

/** Opens a gateway on a migrated database. */
export async function openGateway(options: GatewayOptions): Promise<{ gateway: Gateway; close(): Promise<void> }> {
  const { connection, environment, log } = options;
  const onFault = (error: Error): void => log.warn({ err: error }, 'database connection lost');
  const database = openDatabase(connection, onFault, options.hotConnections);
  const connectors = createConnectors(environment === 'sandbox', options.provider);
  const metrics = createMetrics();
  let changes: ChangeListener | undefined;
  const gateway = composeGateway(
    {
      database,
      connectors,
      receiver: createReceiver(reachOf(options)),
      metrics,
      partitions: createPartitionStore(connection),
      walletRoots: trustedRoots(options.walletRoots),
      isListening: () => changes?.live === true,
    },
    options,
  );
  metrics.observeWalletRoots(() => walletRootsExpireAt(gateway));
  metrics.observeBreakers(gateway.health.all);
  /** Challenge results from other processes that are being processed. */
  const challengeResults = new Set<Promise<void>>();
  const processChallengeResult = ([, holder, sealed]: readonly string[]): void => {
    const work = receiveForwardedResult(gateway, holder, sealed).finally(() => challengeResults.delete(work));
    challengeResults.add(work);
  };
  const clockReadings = setInterval(() => {
    synchroniseClock(gateway).catch((error) => log.warn({ err: error }, 'the clock of the database could not be read'));
  }, LIMITS.clockReadingMs);
  let isClosing = false;
  const close = async (): Promise<void> => {
    isClosing = true;
    clearInterval(clockReadings);
    gateway.waits.close();
    await gateway.deliverer.stop();
    await gateway.receiver.close();
    await changes?.close();
    await Promise.all(challengeResults);
    await connectors.close();
    await gateway.callRecorder.close();
    await gateway.connections.close();
    await database.close();
  };
  const refresh = (): void => {
    if (environment !== 'sandbox' || isClosing) return;
    readClock(gateway).catch((error) => log.warn({ err: error }, 'the sandbox clock could not be read'));
  };
  try {
    await checkDatabase(database);
    await checkEnvironment(gateway);
    gateway.fingerprints = await openFingerprints(gateway);
    if (environment === 'sandbox') {
      const authorities = await openAuthorities(gateway);
      gateway.walletAuthorities = authorities;
      gateway.wallets = { ...gateway.wallets, roots: withAuthorities(gateway.wallets.roots, authorities) };
    }
    await readClock(gateway);
    // There are partitions for some days at least, and the work loop tries again.
    await addLogPartitions(gateway).catch((error) => log.warn({ err: error }, 'partitions of logs could not be added'));
    changes = await listenToChanges(connection, {
      onChange(change) {
        if (change === 'clock') refresh();
        else if (change === 'faults') gateway.armFaults();
        else if (change === 'callbacks') gateway.deliverer.onAnnouncement();
        else if (change === CONNECTIONS_CHANGED) forgetConnections(gateway);
        else if (change.startsWith('3ds ')) processChallengeResult(change.split(' '));
        else forgetAccounts(gateway, change.split(' ')[1]);
      },
      onGap() {
        forgetConnections(gateway);
        refresh();
      },
      onFailover(server) {
        log.warn('the database server was restarted or replaced: connections to the former one are dropped');
        database.leaveOtherServers(server);
      },
    });
  } catch (error) {
    await close();
    throw error;
  }
  return { gateway, close };
}
