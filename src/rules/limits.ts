/** Every bound, window and pause of the gateway, each in one row. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const LIMITS = {
  bodyBytes: 64 * 1024,
  /** A file that a brand may carry comes on top of that; in base64 it has this many characters at most. */
  attachmentLength: 4 * 1024 * 1024,
  /** Nothing larger is read at all; percent-encoding makes a body larger than what it says. */
  bodyBytesMost: 6 * 1024 * 1024,
  /** All bodies larger than `bodyBytes` that one process holds at the same time. */
  largeBodiesBytes: 48 * 1024 * 1024,
  /** A sender that found no room for a large body may try again after this time. */
  largeBodyRetryMs: 5 * SECOND,
  formFields: 200,
  formDepth: 3,
  nameLength: 255,
  /** A request has to be there by then, head and body. */
  requestMs: MINUTE,
  /** A connection that is closed before its request was read stays half open this long, so that the answer arrives. */
  lingerMs: 2 * SECOND,
  /** A sender that was silent may send as many requests at once as its limit allows in this time. */
  rateBurstMs: 3 * SECOND,
  /** The most accounts and the most addresses whose requests one process counts separately. */
  rateNamesMost: 50_000,
  orderIdLength: 255,
  descriptionLength: 1024,
  descriptorLength: 22,
  adminPageSize: 50,
  adminPageSizeMost: 500,
  /** The list of schedules shows this many subscriptions of each; the others are on pages of their own. */
  listedSubscriptionsMost: 100,
  /** The id of a payment and its `created_at` are taken from the clock one after the other, at most this far apart. */
  paymentIdSkewMs: MINUTE,

  /** A repeat of the same order inside this window gets the original's outcome. */
  duplicateWindowMs: 15 * SECOND,
  /** How long a repeat waits for an original that is still running. */
  duplicateWaitMs: 10 * SECOND,

  /** How long a credit waits for writes of payments that began before it reserved its order. */
  creditReservationMs: 10 * SECOND,

  /** A provider that has not answered a call by then counts as one that did not answer. */
  providerTimeoutMs: 20 * SECOND,
  /** A submission that would have less time than this for its answer is not sent any more. */
  providerLeastTimeMs: 3 * SECOND,
  /** Submissions and operations under way at one provider, further ones that wait, and queries at a time. */
  providerConcurrency: 64,
  providerWaiting: 512,
  queryConcurrency: 32,
  /** A sale that finds no place to wait is told to come again after this time. */
  providerBusyRetrySeconds: 5,
  providerConnectTimeoutMs: 3 * SECOND,
  providerBytes: 256 * 1024,
  /** A payment that is still without an outcome by then, because its process died, is asked about. */
  submissionMs: 30 * SECOND,
  /** So long before that nothing is sent any more: the process that submits and the one that asks never overlap. */
  submissionMarginMs: 10 * SECOND,
  /** A provider may still be working on what it received last: only so long after that is "not found" believed. */
  neverReceivedMs: MINUTE,
  /** The pauses between two questions about an unknown outcome; the last one repeats. */
  queryBackoffMs: [5 * SECOND, 15 * SECOND, 30 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, DAY],
  /** An outcome that is unknown after all of these pauses is asked for this many days more, once a day. */
  dailyQueries: 30,
  /** After so many calls in a row without an answer a connector counts as down, and for so long after the last one. */
  connectorFailures: 3,
  connectorDownMs: 30 * SECOND,
  /** When it answers again, so many of its open payments are asked about soon, one after each pause. */
  backlogMost: 10_000,
  backlogPauseMs: 20,
  /** At most so often, however often the connector comes and goes. */
  backlogEveryMs: MINUTE,
  /** How many due payments, and how many due operations, of one connector are worked on at a time. */
  dueAtATime: 16,
  /** How often a process compares its clock with the database's. */
  clockReadingMs: 5 * SECOND,
  /** A node that took a due payment and died gives it back after this time. */
  leaseMs: 30 * SECOND,
  /** How often the work loop looks for what is due. */
  workPauseMs: SECOND,

  /** A Checkout session lasts this long when nothing else is asked for, and at most. */
  sessionMinutes: 60,
  sessionMinutesMost: 720,
  minuteMs: MINUTE,
  /** The most saved cards that a session offers. */
  savedCardsMost: 20,
  /** The most attempts of an order that one status query lists. */
  attemptsMost: 100,
  /** The payer has this long to finish on another page. */
  payerMs: HOUR,
  /** The payer has this long at the page of the card's bank. */
  challengeMs: 10 * MINUTE,
  /** The 3DS directory has this long to answer: what is left of `submissionMs` then is enough to submit the card. */
  directoryTimeoutMs: 10 * SECOND,
  /** A process that keeps the code of a card has this long to take over a result that came to another one. */
  takeOverTimeoutMs: 2 * SECOND,
  /** The security code of a card waits at most this long for the payer to come back from there. */
  codeKeptMs: 15 * MINUTE,
  /** How often a process looks for card numbers that are no longer needed. */
  cardSweepMs: MINUTE,
  /** Cards that brought no payment count this long against an address and an account. */
  cardFailuresMs: 10 * MINUTE,
  /** An account takes no cards only when at least this share of its newest tries failed. */
  cardFailureShare: 0.8,
  /** A try of a card is remembered longer than any session lasts. */
  cardAttemptKeptMs: DAY,
  /** How often a payer may press within a second on one page. */
  submitLimit: 20,
  submitWindowMs: SECOND,
  /** The payer of a bank transfer has this long. */
  transferMs: 5 * MINUTE,
  /** A QR code is shown for this long. */
  codeMs: MINUTE,
  /** The pauses between two questions about a payment that was given up: what comes late is still found. */
  lateQueryBackoffMs: [MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, DAY],
  /** How long a payer who returns, or a status query, waits for the provider’s word. */
  outcomeTimeoutMs: 5 * SECOND,
  /** News whose signature is older or newer than this are refused. */
  signatureToleranceMs: 5 * MINUTE,
  notificationBytes: 64 * 1024,
  /** The pauses before news are tried again that could not be applied, or whose payment is not known yet. */
  notificationRetryMs: [SECOND, 5 * SECOND, 15 * SECOND, MINUTE, 5 * MINUTE, HOUR, 6 * HOUR, 16 * HOUR],

  /** A scheduled charge that was declined is tried again after these pauses; then it is given up. */
  scheduleRetryMs: [DAY, 3 * DAY],
  /** How long a scheduled charge waits at first for an outcome that it depends on. */
  scheduleWaitMs: MINUTE,
  scheduleDelaysMost: 365,

  /** A callback that is not taken by then counts as failed, however far it has come. */
  callbackTimeoutMs: 10 * SECOND,
  callbackConnectTimeoutMs: 3 * SECOND,
  /** Of the time to connect so much may go by until the addresses of a name are known. */
  callbackLookupTimeoutMs: 2 * SECOND,
  /** The connections to one receiver, and how long one stays open for the next callback. */
  callbackConnections: 32,
  callbackIdleMs: SECOND,
  /** More of an answer is not read: only its status counts. */
  callbackAnswerBytes: 64 * 1024,
  callbackUrlLength: 2048,
  /** The sandbox's own receiver keeps this many callbacks of an account. */
  inboxMost: 1000,
  /** Whoever waits there for the next one waits at most this long, and it is looked for this often. */
  inboxWaitMs: 25 * SECOND,
  inboxPollMs: 200,

  /** How long the previous password keeps working after a rotation. */
  passwordOverlapMs: DAY,

  /** Group commit: items and bytes in one statement, statements in flight, items waiting before we refuse. */
  batchItems: 256,
  batchBytes: 4 * 1024 * 1024,
  batchesInFlight: 2,
  batchWaiting: 20_000,
  /** An item that could not be sent to the database by then is refused. */
  batchWaitTimeoutMs: 5 * SECOND,
  /** How long a batched write waits for a locked row; then its items are written one by one, each waiting longer. */
  lockTimeoutMs: 500,
  isolatedLockTimeoutMs: 5 * SECOND,
  isolatedConnections: 8,

  /** A connection to the database has to be there by then. */
  databaseConnectTimeoutMs: 5 * SECOND,
  /** PostgreSQL cancels a statement after this time: of the hot path, and of everything else. */
  hotStatementTimeoutMs: 10 * SECOND,
  statementTimeoutMs: 30 * SECOND,
  /** An answer that comes even later does not come at all: the connection counts as dead and is closed. */
  answerGraceMs: 2 * SECOND,
  /** How long closing a connection waits for the other side. */
  databaseCloseTimeoutMs: 2 * SECOND,
  /** TCP asks an idle connection for a sign of life after this time. */
  databaseKeepAliveMs: 10 * SECOND,
  /** Readiness is proved within this time, and what came of it counts this long. */
  probeTimeoutMs: 2 * SECOND,
  probeKeptMs: SECOND,
  /** How long a request waits for the account that it belongs to. */
  accountReadTimeoutMs: 5 * SECOND,
  /** How many accounts are remembered, and how long; and how long that there is none under a key. */
  accountsRemembered: 10_000,
  accountAgeMs: 5 * SECOND,
  accountMissAgeMs: SECOND,
  /** How often the connection that hears of changes is tried, and how long it may take to answer. */
  heartbeatMs: 2 * SECOND,
  heartbeatTimeoutMs: 2 * SECOND,

  /** On a stop signal, running requests get this long to finish. */
  drainTimeoutMs: 25 * SECOND,
  dayMs: DAY,
} as const;
