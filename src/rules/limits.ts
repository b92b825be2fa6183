/** Every limit, timeout and retry interval of the gateway. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const LIMITS = {
  /** The maximum size of a request body, without the long fields of some brands. */
  bodyBytes: 64 * 1024,
  /** The maximum length of the base64 file of a brand, in addition to `bodyBytes`. */
  attachmentLength: 4 * 1024 * 1024,
  /** The maximum size of any body; above `attachmentLength`, because percent-encoding makes a body larger. */
  bodyBytesMost: 6 * 1024 * 1024,
  /** The total size of the bodies above `bodyBytes` that one process buffers at a time; bounds its memory. */
  largeBodiesBytes: 48 * 1024 * 1024,
  /** `Retry-After` of a large body that does not fit into `largeBodiesBytes`. */
  largeBodyRetryMs: 5 * SECOND,
  /** The maximum number of fields of a form, and of bracket levels in a field name. */
  formFields: 200,
  /** The largest picture that is taken for a logo. */
  logoBytes: 1_000_000,
  formDepth: 3,
  /** The maximum length of a member name in JSON. */
  nameLength: 255,
  /** How long a client may take to send a request, head and body. */
  requestMs: MINUTE,
  /** How much of what a client has sent is parsed at a time; bounds the requests that wait for their turn. */
  parsedBytes: 1024,
  /** How long a client may take to receive the next part of a response, and the size of such a part. */
  stalledMs: 2 * MINUTE,
  stalledBytes: 1024 * 1024,
  /** How long a connection that is being closed waits for more from a silent client, and from one that still sends. */
  lingerMs: 2 * SECOND,
  lingerMostMs: 10 * SECOND,
  /** The burst of the rate limits: a client that was idle may send the requests of this time at once. */
  rateBurstMs: 3 * SECOND,
  /** How many accounts, and how many addresses, one process counts separately for rate limits; bounds its memory. */
  rateNamesMost: 50_000,
  orderIdLength: 255,
  descriptionLength: 1024,
  channelIdLength: 16,
  /** The maximum length of the text on a card statement. */
  descriptorLength: 22,
  /** The default and the maximum page size of the admin API. */
  adminPageSize: 50,
  adminPageSizeMost: 500,
  /** The total length of the texts that the hash debugger digests for one request. */
  explainedLength: 16 * 1024 * 1024,
  /** API calls that are waiting to be written: their number and bytes, the size of a batch, and the pause between two. */
  apiCallsWaiting: 2000,
  apiCallsWaitingBytes: 8 * 1024 * 1024,
  apiCallsBatch: 200,
  apiCallsWriteMs: 500,
  /** Accepted calls that are kept: per second and account, per second and process, and the burst of both. */
  apiCallsPerAccount: 5,
  apiCallsPerProcess: 50,
  apiCallsBurstMs: 20 * SECOND,
  /** Wrong hashes that are explained, in the answer and when the call is kept: per second and account, and process. */
  explainedPerAccount: 1,
  explainedPerProcess: 2,
  /** How many accepted and how many refused API calls of an account are kept, and how often old ones go. */
  apiCallsKeptMost: 1000,
  apiCallSweepMs: MINUTE,
  /** How often partitions of logs are added and dropped, and how long that waits for a lock before it is left for later. */
  partitionsEveryMs: HOUR,
  partitionLockTimeoutMs: 500,
  /** How many payments one request erases. */
  erasedAtATime: 100,
  /** How often data is erased by its age, how many rows are read at a time, and how often all rows are read again. */
  retentionEveryMs: MINUTE,
  retentionPortion: 500,
  retentionRestartMs: 7 * DAY,
  /** The lengths to which a value and an answer of an API call are cut. */
  apiCallValueLength: 500,
  apiCallAnswerLength: 16 * 1024,
  /** How many payments one page of a search reads at most, besides the newest ones; the next page continues there. */
  searchReadMost: 64 * 1024,
  /** How many payments an export reads at a time. */
  exportPortion: 500,
  /** How many subscriptions of a schedule the list of schedules contains; the others have their own list. */
  listedSubscriptionsMost: 100,

  /** A repeated sale of the same order within this time gets the outcome of the original. */
  duplicateWindowMs: 15 * SECOND,
  /** How long a repeated sale waits for the outcome of the original. */
  duplicateWaitMs: 10 * SECOND,

  /** How long a credit waits for writes of payments that began before it reserved its order. */
  creditReservationMs: 10 * SECOND,

  /** The timeout of a call to a provider; the outcome is then unknown and is queried later. */
  providerTimeoutMs: 20 * SECOND,
  /** A submission that has less time than this left for its response is not sent. */
  providerLeastTimeMs: 3 * SECOND,
  /** Per provider and process: concurrent submissions and operations, queued ones, and concurrent queries. */
  providerConcurrency: 64,
  providerWaiting: 512,
  queryConcurrency: 32,
  /** `Retry-After` of a sale that is refused because the provider's queue is full. */
  providerBusyRetrySeconds: 5,
  providerConnectTimeoutMs: 3 * SECOND,
  /** The maximum size of a provider's response. */
  providerBytes: 256 * 1024,
  /** To how many connections a payment is submitted at most, one after another. */
  submissionsMost: 5,
  /** The maximum size of what a connector stores with a payment or an operation. */
  providerStateBytes: 16 * 1024,
  /** The maximum number and total length of the parameters that a payer brings back from a provider. */
  returnedParameters: 50,
  returnedLength: 16 * 1024,
  /** The pauses before a submission is repeated that its provider rejected because of too many calls, if it asks for none. */
  rateLimitedPauseMs: [SECOND / 2, SECOND, 2 * SECOND, 4 * SECOND],
  /** After this time a payment without an outcome counts as abandoned by its process, and the provider is queried. */
  submissionMs: 30 * SECOND,
  /** No submission starts in the last part of `submissionMs`, so that a submission and the query never overlap. */
  submissionMarginMs: 10 * SECOND,
  /** An authorisation is voided so long before the provider ends it, because a later capture would fail. */
  captureMarginMs: HOUR,
  /** A "not found" counts only this long after the last submission, because the provider may still be processing it. */
  neverReceivedMs: MINUTE,
  /** The pause between two "not found" answers that count. */
  notFoundPauseMs: 30 * SECOND,
  /** The pauses between queries for an unknown outcome; the last one is repeated. */
  queryBackoffMs: [5 * SECOND, 15 * SECOND, 30 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, DAY],
  /** How often the last of these pauses is repeated before the queries stop. */
  dailyQueries: 30,
  /** A connector counts as down after this many consecutive calls without a response, until this long after the last one. */
  connectorFailures: 3,
  connectorDownMs: 30 * SECOND,
  /** After that, one payment tests whether a connection answers again; a further one if it got nowhere in this time. */
  breakerProbeMs: 30 * SECOND,
  /** When a connector responds again, this many of its open payments are queried early, one after each pause. */
  backlogMost: 10_000,
  backlogPauseMs: 20,
  /** The minimum time between two such rounds of early queries, in case the connector is unstable. */
  backlogEveryMs: MINUTE,
  /** How many due payments, and how many due operations, of one connector a process handles at a time. */
  dueAtATime: 16,
  /** How often a process synchronises its clock with the database's. */
  clockReadingMs: 5 * SECOND,
  /** The lease of a claimed row: when a process dies, its due payments can be claimed again after this time. */
  leaseMs: 30 * SECOND,
  /** How often the work loop checks for due work. */
  workPauseMs: SECOND,
  /** How often it reads all due rows, by how much other checks overlap, and how many times an idle connector is remembered. */
  dueSweepMs: 15 * SECOND,
  dueOverlapMs: 10 * SECOND,
  dueSweepsMissed: 10,

  /** The default and the maximum lifetime of a Checkout session. */
  sessionMinutes: 60,
  sessionMinutesMost: 720,
  minuteMs: MINUTE,
  /** The maximum number of saved cards that a session offers. */
  savedCardsMost: 20,
  /** The maximum number of attempts of an order that a status response lists. */
  attemptsMost: 100,
  /** How long a payer who was redirected may take to pay. */
  payerMs: HOUR,
  /** How long a 3DS challenge at the card issuer may take. */
  challengeMs: 10 * MINUTE,
  /** The timeout of the 3DS directory; it leaves enough of `submissionMs` to submit the card. */
  directoryTimeoutMs: 10 * SECOND,
  /** How long a process waits until the one that holds the card's security code has processed a challenge result. */
  takeoverTimeoutMs: 2 * SECOND,
  /** How long a security code is held in memory while the payer is at the card issuer. */
  codeKeptMs: 15 * MINUTE,
  /** How long the payer's browser keeps the card of a form, sealed, for the form after a decline. */
  inputKeptMs: 15 * MINUTE,
  /** Risk: payments decided about in one transaction, transactions in flight, and when the second is sent beside one. */
  riskBatchItems: 64,
  riskBatchesInFlight: 2,
  riskBesideAfterMs: 50,
  /** Risk: names, reasons, rules of an account or of the installation, entries of one request, and files of data. */
  riskNameLength: 100,
  riskReasonLength: 255,
  riskRulesMost: 500,
  riskEntriesAtATime: 1000,
  riskFileBytes: 64 * 1024 * 1024,
  /** How many due reviews, and how many approved refunds that were not sent, a process takes at a time. */
  decisionsAtATime: 50,
  /** Back-tests: payments that are read at a time. */
  riskBackTestPage: 2000,
  /** Before a rule is switched on, it is tried on so many payments of this time; a share above this one is confirmed. */
  riskRecentMs: 7 * DAY,
  riskRecentMost: 1000,
  riskRecentLeast: 10,
  riskConfirmShare: 0.5,
  /** How often a process deletes card numbers that are no longer needed. */
  cardSweepMs: MINUTE,
  /** The window in which card attempts without a successful payment count against a payer's address and an account. */
  cardFailuresMs: 10 * MINUTE,
  /** An account stops accepting cards only when at least this share of its latest card attempts failed. */
  cardFailureShare: 0.8,
  /** How long card attempts are stored: longer than any session, because they also count per session. */
  cardAttemptKeptMs: DAY,
  /** The submit rate limit of one payment page: this many submits per window. */
  submitLimit: 20,
  submitWindowMs: SECOND,
  /** How long the payer of a bank transfer may take. */
  transferMs: 5 * MINUTE,
  /** How long a QR code is displayed. */
  codeMs: MINUTE,
  /** The pauses between queries for a payment that was declined after its time limit; they detect a late success. */
  lateQueryBackoffMs: [MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, DAY],
  /** How long a returning payer, or a status request, waits for the provider's outcome. */
  outcomeTimeoutMs: 5 * SECOND,
  /** The maximum difference between the signed time of a provider notification and the clock. */
  signatureToleranceMs: 5 * MINUTE,
  notificationBytes: 64 * 1024,
  /** Notifications per second: from one address, and to one connection. */
  notificationsPerAddress: 300,
  notificationsPerConnection: 1000,
  /** Unsigned notifications about one payment: per second, after a burst of the number that this time allows. */
  unsignedPerSecond: 0.2,
  unsignedBurstMs: MINUTE,
  /** The pauses between attempts to apply a provider notification, for example while its payment is unknown. */
  notificationRetryMs: [SECOND, 5 * SECOND, 15 * SECOND, MINUTE, 5 * MINUTE, HOUR, 6 * HOUR, 16 * HOUR],

  /** The pauses before a declined scheduled charge is retried; after the last retry it counts as failed. */
  scheduleRetryMs: [DAY, 3 * DAY],
  /** The first pause of a scheduled charge that waits for another payment's outcome. */
  scheduleWaitMs: MINUTE,
  /** How long something that waits for the release of a restore waits before it is looked at again. */
  heldPauseMs: HOUR,
  /** How many due charges, and how many statements, the report on a restore has. */
  restoreCheckedMost: 100,
  restoreStatementsMost: 20,
  /** How far ahead a session may set the date of the first charge. */
  scheduleStartMostMs: 3653 * DAY,
  scheduleDelaysMost: 365,

  /** The total time of one callback attempt, connecting included. */
  callbackTimeoutMs: 10 * SECOND,
  callbackConnectTimeoutMs: 3 * SECOND,
  /** The part of the connect timeout that a DNS lookup may take. */
  callbackLookupTimeoutMs: 2 * SECOND,
  /** The maximum number of connections to one receiver, and their keep-alive time. */
  callbackConnections: 32,
  callbackIdleMs: SECOND,
  /** How much of a receiver's response is read; only its status counts. */
  callbackAnswerBytes: 64 * 1024,
  callbackUrlLength: 2048,
  /** New links, invoices and telephone orders per account, process and window. */
  linksMost: 600,
  linkWindowMs: MINUTE,
  /** Pages of links that a process keeps as they are sent. */
  linkPagesKept: 200,
  /** Sessions that are begun from links and invoices, per client address, process and window. */
  beginningsMost: 300,
  beginningWindowMs: MINUTE,
  /** Test callbacks per account, process and window, and how much of the answer is shown. */
  testCallbacksMost: 6,
  testCallbackWindowMs: MINUTE,
  testCallbackAnswerBytes: 500,
  /** How many callbacks of an account the sandbox's callback inbox keeps. */
  inboxMost: 1000,
  /** How long a request for the next callback in the inbox waits, and how often it polls. */
  inboxWaitMs: 25 * SECOND,
  inboxPollMs: 200,

  /** How long a process waits for rows of a log that are being written, and after a projection failed. */
  projectionWaitMs: 2 * SECOND,
  projectionRetryMs: 30 * SECOND,
  /** How often it logs how far the backfill of a projection is. */
  projectionProgressMs: MINUTE,
  /** Among how many rows that are not folded the oldest is looked for. */
  projectionLagRows: 1000,
  /** The pause between two portions. */
  projectionPauseMs: 50,
  /** How often a process adds what happened to the sums of reports. */
  rollupEveryMs: 5 * SECOND,
  /** How many rows of a log one transaction adds, and in a backfill the rows of how many payments. */
  rollupPortion: 50_000,
  rollupBackfillPortion: 2000,
  /** How often a process adds what happened to the ledger, and how many rows, and payments of a backfill, at a time. */
  ledgerEveryMs: SECOND,
  ledgerPortion: 4000,
  ledgerBackfillPortion: 2000,
  /**
   * How many reserves are released, and how many settlements of cycles are cut, in one transaction; and when one that
   * failed is tried again.
   */
  settlementsAtATime: 500,
  settlementsTogether: 100,
  settlementRetryMs: MINUTE,
  /** The default ranges of the overview and of reports, and the longest range. */
  overviewMs: DAY,
  reportMs: 30 * DAY,
  reportMostMs: 400 * DAY,
  /** A longer range of the overview has days instead of hours. */
  hourlySeriesMs: 3 * DAY,
  hourMs: HOUR,
  /** How many rows a report has at most, and how many as CSV. */
  reportRowsMost: 10_000,
  reportCsvRowsMost: 100_000,
  /** How many accounts, brands, connections, decline reasons and failing endpoints the overview lists. */
  overviewItems: 20,
  /** Rows that wait for something are counted up to this number. */
  countedMost: 10_000,
  /** The number beside a section of the panel, which every page shows, is counted up to this one. */
  badgeMost: 100,

  /** Statements to reconcile: the size of a file, of its stored parts, and the rows that are compared at a time. */
  statementBytes: 256 * 1024 * 1024,
  statementPartBytes: 1024 * 1024,
  statementPortion: 5000,
  statementNameLength: 255,
  statementReferenceLength: 255,
  /** A comparison without progress for this long has died, and can be started again. */
  comparisonTimeoutMs: 2 * MINUTE,
  /** How long a file is kept that was uploaded and not compared. */
  statementKeptMs: DAY,
  /** How many filters an operator may save, and the length of their names. */
  savedFiltersMost: 20,
  savedFilterNameLength: 60,

  /** How long the previous password remains valid after a rotation. */
  passwordOverlapMs: DAY,
  /** How long a replaced wallet key still decrypts tokens: vendors and shops switch to the new one meanwhile. */
  walletKeyOverlapMs: 30 * DAY,
  /** How long after its expiry a used wallet token is remembered, in case clocks differ. */
  walletTokenKeptMs: HOUR,
  /** Expired wallet tokens per statement, and how often a process deletes them. */
  walletTokensForgotten: 500,
  walletTokenSweepMs: MINUTE,
  /** How long before the last root key of a wallet expires the operator is warned, and how often. */
  walletRootWarningMs: 30 * DAY,
  walletRootCheckMs: DAY,
  /** How long the vendor of wallet-a may take to validate a merchant, and the size of its answer. */
  merchantSessionMs: 10 * SECOND,
  merchantSessionBytes: 64 * 1024,

  /** How long a process uses the data key and the fingerprint key of an account without reading them again. */
  vaultKeyAgeMs: SECOND,

  /** Group commit: items and bytes per statement, statements in flight, and queued items before new ones are refused. */
  batchItems: 256,
  batchBytes: 4 * 1024 * 1024,
  batchesInFlight: 1,
  batchWaiting: 20_000,
  /** How long an item may be queued before it is refused. */
  batchWaitTimeoutMs: 5 * SECOND,
  /** When a new item would wait this long for a batch or the event loop, new payments are refused; their `Retry-After`. */
  openingWaitMs: 2 * SECOND,
  overloadRetrySeconds: 2,
  /** `lock_timeout` of a batch; when it expires, its items are written one by one with the longer timeout. */
  lockTimeoutMs: 500,
  isolatedLockTimeoutMs: 5 * SECOND,
  isolatedConnections: 8,

  /**
   * `lock_timeout` of a migration: longer than PostgreSQL takes to cancel an autovacuum that is in the way (1 s), and
   * shorter than `openingWaitMs`, because writes wait behind it. The pauses between attempts, and the number of them.
   */
  migrationLockTimeoutMs: 1500,
  migrationPauseMs: SECOND,
  migrationPauseMostMs: 10 * SECOND,
  migrationAttempts: 60,
  /** How often the progress of a migration is read, and whether another process still migrates. */
  migrationProgressMs: SECOND,
  migrationWaitMs: SECOND / 4,

  databaseConnectTimeoutMs: 5 * SECOND,
  /** How long a host may take to say that it is the primary, if the address of the database names several. */
  primaryProbeTimeoutMs: 2 * SECOND,
  /** How long the other hosts may take once one has said it. */
  primaryChoiceMs: SECOND / 4,
  /** `statement_timeout` of the hot path, and of all other statements. */
  hotStatementTimeoutMs: 10 * SECOND,
  statementTimeoutMs: 30 * SECOND,
  /** How long after `statement_timeout` a response may arrive; then the connection counts as dead and is closed. */
  answerGraceMs: 2 * SECOND,
  /** How long a write whose connection was lost is looked up, and the pause between two attempts. */
  lostWriteTimeoutMs: 5 * SECOND,
  lostWritePauseMs: 200,
  /** How long closing a connection waits for the server. */
  databaseCloseTimeoutMs: 2 * SECOND,
  /** How long an idle connection is kept open. */
  databaseIdleMs: 5 * MINUTE,
  /** The idle time before TCP keep-alive probes. */
  databaseKeepAliveMs: 10 * SECOND,
  /** The timeout of the readiness probe, and how long its result is reused. */
  probeTimeoutMs: 2 * SECOND,
  probeKeptMs: SECOND,
  /** How long a request waits for its account to be read. */
  accountReadTimeoutMs: 5 * SECOND,
  /** The account cache: its size, the lifetime of its entries, and the lifetime of cached misses. */
  accountsRemembered: 10_000,
  accountAgeMs: 5 * SECOND,
  accountMissAgeMs: SECOND,
  /** How often the LISTEN connection is probed, and how long the probe may take. */
  heartbeatMs: 2 * SECOND,
  heartbeatTimeoutMs: 2 * SECOND,

  /** How often the newest entry of the audit log is logged. */
  auditMarkEveryMs: HOUR,
  /** How long after the upgrade to entries with a key an earlier version may write entries without one. */
  auditUpgradeMs: DAY,
  /** The entries that `verify` reads at a time. */
  auditPage: 5000,

  /** An operator's session ends after this time, or after this time without a request. */
  operatorSessionMs: 12 * HOUR,
  operatorIdleMs: 30 * MINUTE,
  /** For how long a proof of who the operator is covers sensitive actions. */
  operatorConfirmationMs: 10 * MINUTE,
  /** How long the link of an invitation works. */
  operatorInvitationMs: 7 * DAY,
  /** How long a step of signing in may take: a passkey's challenge, and the time between the password and the code. */
  operatorStepMs: 10 * MINUTE,
  /** How long setting up an authenticator app may take. */
  operatorSetupMs: 30 * MINUTE,
  /**
   * Wrong passwords within this time: with one e-mail address from browsers that are not known, in one known browser, or in
   * one session that confirms who its operator is. Then passwords are refused there until the time has passed.
   */
  operatorFailureWindowMs: 30 * MINUTE,
  /** A link to a new password works so long, and so many are sent within `operatorFailureWindowMs`. */
  operatorResetMs: HOUR,
  operatorResetsMost: 3,
  operatorFailuresMost: 10,
  /** Wrong codes after the right password within this time, counted in the same way. */
  operatorCodeWindowMs: DAY,
  operatorCodeFailuresMost: 20,
  /** How long a browser in which an operator signed in is known. */
  knownBrowserMs: 180 * DAY,
  /** Passwords of operators, in characters. */
  passwordLengthLeast: 12,
  passwordLengthMost: 256,
  /** The cost of an Argon2id hash: its memory in KiB and its passes. */
  passwordHashKib: 64 * 1024,
  passwordHashPasses: 3,
  /** Argon2 in one process: hashes at a time, how many may wait, and for how long. */
  passwordHashConcurrency: 2,
  passwordHashWaiting: 20,
  passwordHashWaitMs: 10 * SECOND,
  /** Sign-ins of browsers that are not known, in one process: at a time, how many may wait, and how many of one address. */
  strangersConcurrency: 1,
  strangersWaiting: 20,
  strangersPerAddress: 5,
  recoveryCodes: 10,

  /** The lines of an order: how many, the length of a name, and the quantity of one. */
  linesMost: 100,
  lineNameLength: 255,
  lineQuantityMost: 999_999,

  /** Receipts by e-mail: how many one process sends at a time, and for how long it holds the ones that it sends. */
  receiptsAtATime: 4,
  receiptLeaseMs: 5 * MINUTE,
  /** Messages to merchants about settlements, likewise. */
  messagesAtATime: 16,
  messageLeaseMs: 5 * MINUTE,
  /** The timeout of each step of sending an e-mail. */
  mailTimeoutMs: 20 * SECOND,
  /** The pauses after failed attempts; after the last one a receipt is not sent any more. */
  receiptBackoffMs: [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR, DAY],

  /** How often a process looks for connections whose active methods are due. */
  methodSweepMs: 10 * MINUTE,

  /** Notices to operators: how often a process looks for due ones, and how many it handles at a time, for how long. */
  noticeSweepMs: MINUTE,
  noticesAtATime: 10,
  noticeLeaseMs: 5 * MINUTE,
  /** How often a topic is looked at, the pause after an e-mail, and how many facts an e-mail lists. */
  noticeEveryMs: 5 * MINUTE,
  noticePauseMs: HOUR,
  noticeMost: 10,
  /** The time that a summary covers. */
  summaryMs: 7 * DAY,

  /** How long running requests may take to finish after a stop signal. */
  drainTimeoutMs: 25 * SECOND,
  dayMs: DAY,
} as const;
