/** Assembles a gateway: stores, clock, connectors, and the listener for changes by other processes. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Connectors, createConnectors, type ProviderAccess } from '../connectors/index.ts';
import { createMailer, type MailAccess } from '../connectors/mailer.ts';
import { createReceiver, type Receiver } from '../connectors/receiver.ts';
import { createAccountCache, forgetAccounts } from '../core/accounts/accounts.ts';
import { createCallRecorder } from '../core/api-calls/record.ts';
import { createDeliverer } from '../core/callbacks/deliver.ts';
import { createSecurityCodeCache } from '../core/cards/security-code-cache.ts';
import { createConnections, forgetConnections } from '../core/connections/connections.ts';
import { createConnectorHealth } from '../core/connections/health.ts';
import type { Gateway } from '../core/context.ts';
import { synchroniseClock } from '../core/installation/catch-up.ts';
import { isHeld } from '../core/installation/hold.ts';
import { checkEnvironment, openFingerprints } from '../core/installation/installation.ts';
import { addLogPartitions } from '../core/installation/log-partitions.ts';
import { createMetrics, type Metrics } from '../core/metrics.ts';
import { INVITATIONS } from '../core/operators/manage.ts';
import { receiveForwardedResult } from '../core/payments/challenge.ts';
import { listProjections } from '../core/projections/projections.ts';
import { createRuleBook } from '../core/risk/book.ts';
import { readClock } from '../core/sandbox/clock.ts';
import { openAuthorities, withAuthorities } from '../core/wallets/pretend-wallet.ts';
import { walletRootsExpireAt } from '../core/wallets/roots.ts';
import { createSeal } from '../lib/crypto/seal.ts';
import { type Mark, readMarks } from '../lib/files/marks.ts';
import { StartupError } from '../lib/flow/startup-error.ts';
import { createWaitGauge } from '../lib/flow/wait-gauge.ts';
import { createWindowLimit } from '../lib/flow/window-limit.ts';
import type { Log } from '../lib/text/log.ts';
import { createClock } from '../lib/time/clock.ts';
import { readWalletRoots, type WalletRoots } from '../lib/wallets/roots.ts';
import { customerMail } from '../pages/customers/page.ts';
import { invoiceMail } from '../pages/invoices/mail.ts';
import { noticeMail } from '../pages/panel/operators/notices.ts';
import { settlementMail } from '../pages/panel/settlements/mails.ts';
import { receiptMail } from '../pages/pay/receipt-mail.ts';
import { callbackReach } from '../rules/callback-address.ts';
import { LIMITS } from '../rules/limits.ts';
import { RETENTION_DEFAULTS, type Retention } from '../rules/retention.ts';
import { createAccountStore, type Environment } from '../store/accounts/accounts.ts';
import { createLogoStore } from '../store/accounts/logos.ts';
import { createApiCallStore } from '../store/api-calls/api-calls.ts';
import { createAuditStore } from '../store/audit/audit.ts';
import { createCallbackStore } from '../store/callbacks/callbacks.ts';
import { createCardAttemptStore } from '../store/cards/card-attempts.ts';
import { createCardStore } from '../store/cards/cards.ts';
import { createChargebackStore } from '../store/chargebacks/chargebacks.ts';
import { CONNECTIONS_CHANGED, createConnectionStore } from '../store/connections/connections.ts';
import { createCustomerStore } from '../store/customers/customers.ts';
import { type ChangeListener, listenToChanges } from '../store/database/changes.ts';
import { type Connection, checkDatabase, type Database, openDatabase } from '../store/database/database.ts';
import { createWriteProbe } from '../store/database/write-probe.ts';
import { createAgedDataStore } from '../store/erasure/aged-data.ts';
import { createErasureStore } from '../store/erasure/erasure.ts';
import { createInstallationStore } from '../store/installation/installation.ts';
import { createPartitionStore, type PartitionStore } from '../store/installation/partitions.ts';
import { createRestoreStore } from '../store/installation/restores.ts';
import { createInvoiceStore, lockInvoice } from '../store/invoices/invoices.ts';
import { createAdjustmentStore } from '../store/ledger/adjustments.ts';
import { createLedgerStore } from '../store/ledger/ledger.ts';
import { createBegunOrderStore } from '../store/links/begun-orders.ts';
import { createLinkStore, lockLink } from '../store/links/links.ts';
import { createApiTokenStore } from '../store/operators/api-tokens.ts';
import { createOperatorCredentialStore } from '../store/operators/credentials.ts';
import { createNoticeStore } from '../store/operators/notices.ts';
import { createOperatorStore } from '../store/operators/operators.ts';
import { createOwnCredentialStore } from '../store/operators/own-credentials.ts';
import { createSavedFilterStore } from '../store/operators/saved-filters.ts';
import type { PaymentStoreOptions } from '../store/payments/batch.ts';
import { createCreditStore } from '../store/payments/credits.ts';
import { createNotificationStore } from '../store/payments/notifications.ts';
import { createOperationStore } from '../store/payments/operations.ts';
import { createPaymentStore } from '../store/payments/payments.ts';
import { createRefundRequestStore } from '../store/payments/refund-requests.ts';
import { createPriceStore } from '../store/prices/prices.ts';
import { createProjectionStore } from '../store/projections/projections.ts';
import { createFoldingThread, type FoldingThread } from '../store/projections/thread.ts';
import { createReceiptStore } from '../store/receipts/receipts.ts';
import { createReconciliationStore } from '../store/reconciliations/reconciliations.ts';
import { createReconciliationRowStore } from '../store/reconciliations/rows.ts';
import { createThreeWayStore } from '../store/reconciliations/three-way.ts';
import { createFigureStore } from '../store/reports/figures.ts';
import { createBackTestStore } from '../store/risk/back-tests.ts';
import { createRiskDataStore } from '../store/risk/data.ts';
import { createRiskDecisionStore } from '../store/risk/decisions.ts';
import { createFraudRateStore } from '../store/risk/fraud-rates.ts';
import { createRiskListStore } from '../store/risk/lists.ts';
import { createOpeningStore } from '../store/risk/openings.ts';
import { createReviewStore } from '../store/risk/reviews.ts';
import { createRiskRuleStore, RULES_CHANGED } from '../store/risk/rules.ts';
import { createVolumeStore } from '../store/risk/volumes.ts';
import { createCallbackInboxStore } from '../store/sandbox/callback-inbox.ts';
import { createScheduleStore } from '../store/schedules/schedules.ts';
import { createBankAccountStore } from '../store/settlements/bank-accounts.ts';
import { createFeeInvoiceStore } from '../store/settlements/fee-invoices.ts';
import { createHolidayStore } from '../store/settlements/holidays.ts';
import { createSettlementMessageStore } from '../store/settlements/messages.ts';
import { createPayoutStore } from '../store/settlements/payouts.ts';
import { createReserveStore } from '../store/settlements/reserve.ts';
import { createSettlementStore } from '../store/settlements/settlements.ts';
import { createStatementStore } from '../store/settlements/statements.ts';
import { createTermsStore } from '../store/settlements/terms.ts';
import { createTelephoneOrderStore } from '../store/telephone-orders/telephone-orders.ts';
import { createWalletTokenStore } from '../store/wallets/wallet-tokens.ts';

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
  /** A folder with marks for the payment page; none if absent. */
  marksFolder?: string | undefined;
  /** A folder with further roots of wallets, and the recipient of the tokens of wallet-b, if not the default. */
  walletRoots?: string | undefined;
  walletBRecipient?: string | undefined;
  /** Batch sizes and connections other than the defaults, for the benchmark of batches of one. */
  batchLimits?: Pick<PaymentStoreOptions, 'items' | 'inFlight'>;
  hotConnections?: number;
  /** Whether projections are folded in a thread of its own, as a process that answers requests does. */
  foldsInThread?: boolean;
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

function placedMarks(folder: string | undefined): ReadonlyMap<string, Mark> {
  try {
    return folder ? readMarks(folder) : new Map();
  } catch (error) {
    throw new StartupError(`TURNPIKE_MARKS_DIR cannot be read: ${(error as Error).message}`);
  }
}

/** What a gateway is composed of, besides the stores of its database. */
export interface GatewayParts {
  database: Database;
  foldingThread?: FoldingThread | undefined;
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
  const riskRules = createRiskRuleStore(database);
  const ruleBook = createRuleBook(riskRules);
  const writing: PaymentStoreOptions = {
    ...options.batchLimits,
    now: clock.real,
    onWrite: probe.report,
    gauge: waits,
    onRiskVersion: ruleBook.saw,
  };
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
    writeInvoice: (invoice, account, reminder) => invoiceMail(gateway, invoice, account, reminder),
    writeCustomerLink: (account, url, language) => customerMail(gateway, account, url, language),
    customers: createCustomerStore(database),
    writeSettlementMail: (message, facts, account) => settlementMail(gateway, message, facts, account),
    writeNotice: (operator, facts) => noticeMail(gateway, operator, facts),
    writeReceipt: (payment, account, paidAt) => receiptMail(gateway, payment, account, paidAt),
    receipts: createReceiptStore(database),
    logos: createLogoStore(database),
    erasure: createErasureStore(database),
    agedData: createAgedDataStore(database),
    retention: { ...RETENTION_DEFAULTS, ...options.retention },
    archiveFolder: options.archiveFolder || undefined,
    marks: placedMarks(options.marksFolder),
    partitions: parts.partitions,
    isLinkTooFast: createWindowLimit(LIMITS.linksMost, LIMITS.linkWindowMs),
    isInvitationTooFast: createWindowLimit(INVITATIONS.most, INVITATIONS.windowMs),
    isTestCallbackTooFast: createWindowLimit(LIMITS.testCallbacksMost, LIMITS.testCallbackWindowMs),
    armFaults() {
      if (connectors.faults) connectors.faults.areArmed = true;
    },
    publicUrl: '',
    inboundUrl: '',
    payments: createPaymentStore(database, metrics.batch, writing),
    operations: createOperationStore(database),
    schedules: createScheduleStore(database),
    links: createLinkStore(database),
    begunOrders: createBegunOrderStore(database, [lockLink, lockInvoice]),
    invoices: createInvoiceStore(database),
    telephoneOrders: createTelephoneOrderStore(database),
    restores: createRestoreStore(database),
    cards: createCardStore(database),
    credits: createCreditStore(database),
    callbacks: createCallbackStore(database),
    callbackInbox: createCallbackInboxStore(database),
    cardAttempts: createCardAttemptStore(database),
    notifications: createNotificationStore(database),
    chargebacks: createChargebackStore(database),
    walletTokens: createWalletTokenStore(database),
    riskRules,
    ruleBook,
    riskLists: createRiskListStore(database),
    riskDecisions: createRiskDecisionStore(database),
    riskOpenings: createOpeningStore(database, writing),
    reviews: createReviewStore(database),
    backTests: createBackTestStore(database),
    riskData: createRiskDataStore(database),
    fraudRates: createFraudRateStore(database),
    riskVolumes: createVolumeStore(database),
    projections: { ...createProjectionStore(database), ...(parts.foldingThread && { fold: parts.foldingThread.fold }) },
    figures: createFigureStore(database),
    ledger: createLedgerStore(database),
    adjustments: createAdjustmentStore(database),
    refundRequests: createRefundRequestStore(database),
    terms: createTermsStore(database),
    holidays: createHolidayStore(database),
    reserve: createReserveStore(database),
    settlements: createSettlementStore(database),
    statements: createStatementStore(database),
    threeWay: createThreeWayStore(database),
    feeInvoices: createFeeInvoiceStore(database),
    settlementMessages: createSettlementMessageStore(database),
    bankAccounts: createBankAccountStore(database),
    payouts: createPayoutStore(database),
    reconciliations: createReconciliationStore(database),
    reconciliationRows: createReconciliationRowStore(database),
    accounts: createAccountStore(database),
    apiCalls: createApiCallStore(database),
    connectionStore: createConnectionStore(database),
    prices: createPriceStore(database),
    apiTokens: createApiTokenStore(database),
    audit: createAuditStore(database),
    operators: createOperatorStore(database),
    operatorCredentials: createOperatorCredentialStore(database),
    ownCredentials: createOwnCredentialStore(database),
    notices: createNoticeStore(database),
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
  const foldingThread = options.foldsInThread ? createFoldingThread(connection) : undefined;
  let changes: ChangeListener | undefined;
  const gateway = composeGateway(
    {
      database,
      foldingThread,
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
  metrics.observeHold(() => isHeld(gateway));
  metrics.observeReviews(() => gateway.reviews.countWaiting(LIMITS.countedMost));
  metrics.observeProjections(() => listProjections(gateway));
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
    gateway.mailer?.close();
    await changes?.close();
    await Promise.all(challengeResults);
    await connectors.close();
    await gateway.callRecorder.close();
    await gateway.connections.close();
    await foldingThread?.close();
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
        else if (change === RULES_CHANGED) gateway.ruleBook.forget();
        else if (change === CONNECTIONS_CHANGED) forgetConnections(gateway);
        else if (change.startsWith('3ds ')) processChallengeResult(change.split(' '));
        else forgetAccounts(gateway, change.split(' ')[1]);
      },
      onGap() {
        gateway.ruleBook.forget();
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
