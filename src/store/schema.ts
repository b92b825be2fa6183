/** The tables as the database has them; written by `npm run schema`. */
import type { ColumnType, Generated } from 'kysely';

export interface Schema {
  accountSecrets: {
    mid: string;
    name: string;
    sealed: Buffer;
    previousSealed: Buffer | null;
    previousUntil: ColumnType<number, string, string> | null;
  };
  accounts: {
    mid: string;
    name: string;
    environment: string;
    clientKey: string;
    merchantKey: string;
    password: Buffer;
    previousPassword: Buffer | null;
    previousPasswordUntil: ColumnType<number, string, string> | null;
    callbackSecret: Buffer;
    settings: ColumnType<unknown, string, string>;
    createdAt: ColumnType<number, string, string>;
    previousCallbackSecret: Buffer | null;
    previousCallbackSecretUntil: ColumnType<number, string, string> | null;
    suspendedAt: ColumnType<number, string, string> | null;
    routes: ColumnType<unknown, string | undefined, string>;
  };
  apiCalls: {
    mid: string;
    callId: string;
    at: ColumnType<number, string, string>;
    requestId: string;
    protocol: string;
    action: string;
    address: string;
    orderId: string | null;
    paymentId: string | null;
    status: number;
    error: string | null;
    tookMs: number;
    request: ColumnType<unknown, string, string>;
    answer: string;
    explanation: ColumnType<unknown, string, string> | null;
  };
  apiTokens: {
    tokenId: string;
    name: string;
    role: string;
    mids: string[] | null;
    digest: Buffer;
    createdAt: ColumnType<number, string, string>;
    expiresAt: ColumnType<number, string, string> | null;
    lastUsedAt: ColumnType<number, string, string> | null;
  };
  auditHead: {
    isOnly: Generated<boolean>;
    seq: bigint;
    digest: Buffer;
  };
  auditLog: {
    seq: bigint;
    at: ColumnType<number, string, string>;
    actorKind: string;
    actorId: string | null;
    actorName: string;
    address: string | null;
    action: string;
    mid: string | null;
    subject: string | null;
    before: ColumnType<unknown, string, string> | null;
    after: ColumnType<unknown, string, string> | null;
    digest: Buffer;
  };
  callbackAttempts: {
    mid: string;
    paymentId: string;
    seq: number;
    attempt: number;
    at: ColumnType<number, string, string>;
    status: number | null;
    fault: string | null;
    tookMs: number;
    number: Generated<bigint | null>;
  };
  callbackInboxEntries: {
    mid: string;
    number: number;
    headers: ColumnType<unknown, string, string>;
    body: Buffer;
    isHashValid: boolean;
    isSignatureValid: boolean;
    answer: number;
    receivedAt: ColumnType<number, string, string>;
  };
  callbackInboxes: {
    mid: string;
    received: Generated<number>;
    answer: Generated<number>;
    answerUntil: Generated<number>;
  };
  callbacks: {
    mid: string;
    paymentId: string;
    seq: number;
    type: string;
    body: string;
    isJson: boolean;
    url: string | null;
    endpoint: string;
    state: string;
    reason: string | null;
    attempts: Generated<number>;
    retryIndex: Generated<number>;
    dueAt: ColumnType<number, string, string> | null;
    createdAt: ColumnType<number, string, string>;
    finishedAt: ColumnType<number, string, string> | null;
    isLeased: Generated<boolean>;
  };
  cardAttempts: {
    mid: string;
    orderId: string;
    attempt: number;
    sessionId: string;
    source: string;
    at: ColumnType<number, string, string>;
  };
  cards: {
    mid: string;
    cardId: string;
    token: string;
    keyVersion: number | null;
    sealed: Buffer | null;
    fingerprint: string;
    masked: string;
    network: string;
    paymentId: string;
    createdAt: ColumnType<number, string, string>;
    isKept: Generated<boolean>;
  };
  chargebackEvidence: {
    mid: string;
    paymentId: string;
    evidenceId: string;
    name: string;
    mediaType: string;
    sizeBytes: number;
    sealed: Buffer;
    addedBy: string;
    createdAt: ColumnType<number, string, string>;
  };
  chargebacks: {
    mid: string;
    paymentId: string;
    amount: bigint;
    receivedAt: ColumnType<number, string, string>;
    respondBy: ColumnType<number, string, string>;
    state: Generated<string>;
    note: Generated<string>;
    changedAt: ColumnType<number, string, string>;
  };
  clockOffsets: {
    mid: string | null;
    offsetMs: bigint;
  };
  connections: {
    connectionId: string;
    connector: string;
    name: string;
    mids: string[] | null;
    credentials: Buffer;
    settings: ColumnType<unknown, string, string>;
    createdAt: ColumnType<number, string, string>;
    updatedAt: ColumnType<number, string, string>;
    deletedAt: ColumnType<number, string, string> | null;
  };
  credits: {
    mid: string;
    orderId: string;
    part: string;
    fingerprint: string;
    operationId: string;
    createdAt: ColumnType<number, string, string>;
  };
  dataKeys: {
    mid: string;
    version: number;
    sealed: Buffer;
    createdAt: ColumnType<number, string, string>;
  };
  fingerprintKeys: {
    mid: string;
    sealed: Buffer;
    createdAt: ColumnType<number, string, string>;
  };
  formerSubmissions: {
    mid: string;
    paymentId: string;
    submission: number;
    connector: string;
    providerReference: string | null;
    providerData: ColumnType<unknown, string, string> | null;
    at: ColumnType<number, string, string>;
  };
  history: {
    mid: string;
    paymentId: string;
    seq: number;
    event: string;
    fromState: string | null;
    toState: string;
    actor: string;
    call: ColumnType<unknown, string, string> | null;
    at: ColumnType<number, string, string>;
    actorName: string | null;
    number: Generated<bigint | null>;
    amount: bigint | null;
    note: string | null;
  };
  installation: {
    name: string;
    value: Buffer;
  };
  operations: {
    mid: string;
    operationId: string;
    paymentId: string;
    verb: string;
    amount: bigint;
    state: string;
    reason: string | null;
    queryCount: number;
    dueAt: ColumnType<number, string, string> | null;
    requestedAt: ColumnType<number, string, string>;
    finishedAt: ColumnType<number, string, string> | null;
    connector: string;
    content: string | null;
    orderId: string | null;
    providerReference: string | null;
    providerState: ColumnType<unknown, string, string> | null;
  };
  operatorInvitations: {
    digest: Buffer;
    operatorId: string | null;
    createdAt: ColumnType<number, string, string>;
    expiresAt: ColumnType<number, string, string>;
  };
  operatorPasskeys: {
    credentialId: Buffer;
    operatorId: string;
    publicKey: Buffer;
    counter: bigint;
    transports: string[];
    name: string;
    createdAt: ColumnType<number, string, string>;
    lastUsedAt: ColumnType<number, string, string> | null;
  };
  operatorPasswords: {
    operatorId: string;
    passwordHash: string;
    totpSeed: Buffer;
    totpStep: bigint;
    changedAt: ColumnType<number, string, string>;
  };
  operatorRecoveryCodes: {
    operatorId: string;
    digest: string;
  };
  operatorSessions: {
    digest: Buffer;
    operatorId: string;
    createdAt: ColumnType<number, string, string>;
    usedAt: ColumnType<number, string, string>;
    confirmedAt: ColumnType<number, string, string>;
    address: string;
    userAgent: string;
  };
  operatorSignInFailures: {
    subject: string;
    failures: number;
    since: ColumnType<number, string, string>;
  };
  operatorSpentValues: {
    digest: Buffer;
    expiresAt: ColumnType<number, string, string>;
  };
  operators: {
    operatorId: string;
    email: string;
    name: string;
    role: string;
    mids: string[] | null;
    state: string;
    createdAt: ColumnType<number, string, string>;
    lastSignedInAt: ColumnType<number, string, string> | null;
  };
  payments: {
    mid: string;
    paymentId: string;
    orderId: string;
    attempt: number;
    protocol: string;
    brand: string;
    connector: string;
    state: string;
    historyLength: number;
    amountText: string;
    currency: string;
    amount: bigint;
    authorised: Generated<bigint>;
    captured: Generated<bigint>;
    refunded: Generated<bigint>;
    inDoubt: Generated<boolean>;
    dueAt: ColumnType<number, string, string> | null;
    queryCount: Generated<number>;
    isAuthorisation: boolean;
    isRecurringInit: boolean;
    fingerprint: string;
    descriptor: string;
    declineReason: string | null;
    recurringToken: string | null;
    scheduleId: string | null;
    providerReference: string | null;
    details: ColumnType<unknown, string, string>;
    createdAt: ColumnType<number, string, string>;
    updatedAt: ColumnType<number, string, string>;
    payerUntil: ColumnType<number, string, string> | null;
    nextStep: ColumnType<unknown, string, string> | null;
    attention: string | null;
    reserved: Generated<bigint>;
    busy: string | null;
    providerData: ColumnType<unknown, string, string> | null;
    routeReason: string | null;
  };
  providerNotifications: {
    connector: string;
    eventId: string;
    reference: string | null;
    body: ColumnType<unknown, string, string>;
    state: Generated<string>;
    attempts: Generated<number>;
    dueAt: ColumnType<number, string, string> | null;
    receivedAt: ColumnType<number, string, string>;
    providerReference: string | null;
    operation: string | null;
    operationReference: string | null;
  };
  receipts: {
    mid: string;
    paymentId: string;
    state: Generated<string>;
    attempts: Generated<number>;
    reason: string | null;
    dueAt: ColumnType<number, string, string> | null;
    createdAt: ColumnType<number, string, string>;
    attemptedAt: ColumnType<number, string, string> | null;
  };
  reconciliationParts: {
    reconciliationId: string;
    part: number;
    content: Buffer;
  };
  reconciliationRows: {
    reconciliationId: string;
    number: bigint;
    outcome: string;
    type: string;
    line: bigint | null;
    reference: string | null;
    amount: bigint | null;
    currency: string | null;
    at: ColumnType<number, string, string> | null;
    mid: string | null;
    paymentId: string | null;
    ourAmount: bigint | null;
    ourCurrency: string | null;
    ourAt: ColumnType<number, string, string> | null;
  };
  reconciliations: {
    reconciliationId: string;
    fileName: string;
    digest: Buffer;
    bytes: bigint;
    createdAt: ColumnType<number, string, string>;
    createdBy: string;
    state: string;
    terms: ColumnType<unknown, string, string> | null;
    problem: ColumnType<unknown, string, string> | null;
    run: Generated<number>;
    rowsRead: Generated<bigint>;
    rowsSkipped: Generated<bigint>;
    periodFrom: ColumnType<number, string, string> | null;
    periodTo: ColumnType<number, string, string> | null;
    totals: ColumnType<unknown, string, string> | null;
    updatedAt: ColumnType<number, string, string>;
  };
  rollupAccountTotals: {
    grain: string;
    startsAt: ColumnType<number, string, string>;
    mid: string;
    currency: string;
    payments: number;
    settled: number;
    declined: number;
    chargebacks: number;
    captured: bigint;
    refunded: bigint;
    chargedBack: bigint;
    paidOut: bigint;
  };
  rollupCallTotals: {
    grain: string;
    startsAt: ColumnType<number, string, string>;
    connector: string;
    bucket: number;
    calls: number;
    unanswered: number;
  };
  rollupCalls: {
    grain: string;
    startsAt: ColumnType<number, string, string>;
    mid: string;
    connector: string;
    bucket: number;
    calls: number;
    unanswered: number;
  };
  rollupDeclineTotals: {
    grain: string;
    startsAt: ColumnType<number, string, string>;
    reason: string;
    declined: number;
  };
  rollupDeclines: {
    grain: string;
    startsAt: ColumnType<number, string, string>;
    mid: string;
    reason: string;
    declined: number;
  };
  rollupDeliveries: {
    grain: string;
    startsAt: ColumnType<number, string, string>;
    mid: string;
    delivered: number;
    failed: number;
  };
  rollupDeliveryTotals: {
    grain: string;
    startsAt: ColumnType<number, string, string>;
    delivered: number;
    failed: number;
  };
  rollupProgress: {
    isOnly: Generated<boolean>;
    historyNumber: bigint;
    callbackAttemptsNumber: bigint;
    backfillBefore: string | null;
    totalsBefore: ColumnType<number, string, string> | null;
    totalsProgress: string | null;
  };
  rollupTotals: {
    grain: string;
    startsAt: ColumnType<number, string, string>;
    brand: string;
    connector: string;
    currency: string;
    payments: number;
    settled: number;
    declined: number;
    chargebacks: number;
    captured: bigint;
    refunded: bigint;
    chargedBack: bigint;
    paidOut: bigint;
  };
  rollups: {
    grain: string;
    startsAt: ColumnType<number, string, string>;
    mid: string;
    brand: string;
    connector: string;
    currency: string;
    payments: number;
    settled: number;
    declined: number;
    chargebacks: number;
    captured: bigint;
    refunded: bigint;
    chargedBack: bigint;
    paidOut: bigint;
  };
  savedFilters: {
    operatorId: string;
    name: string;
    query: string;
    createdAt: ColumnType<number, string, string>;
  };
  schedules: {
    mid: string;
    scheduleId: string;
    name: string;
    intervalLength: number;
    intervalUnit: string;
    paymentsCount: number;
    dayOfMonth: number | null;
    delays: number;
    version: number;
    deletedAt: ColumnType<number, string, string> | null;
    createdAt: ColumnType<number, string, string>;
  };
  subscriptions: {
    mid: string;
    subscriptionId: string;
    scheduleId: string;
    firstPaymentId: string;
    state: string;
    occurrences: number;
    declines: number;
    failed: number;
    anchorAt: ColumnType<number, string, string>;
    anchorDay: number;
    intervals: number;
    scheduleVersion: number;
    nextAt: ColumnType<number, string, string> | null;
    dueAt: ColumnType<number, string, string> | null;
    createdAt: ColumnType<number, string, string>;
    reason: string | null;
  };
  walletTokens: {
    mid: string;
    replayKey: string;
    paymentId: string;
    forgetAt: ColumnType<number, string, string>;
  };
}
