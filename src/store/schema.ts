/** The tables as the database has them; written by `npm run schema`. */
import type { ColumnType, Generated } from 'kysely';

export interface Schema {
  accountLogos: {
    mid: string;
    digest: string;
    image: Buffer;
    uploadedAt: ColumnType<number, string | undefined, string>;
  };
  accountPricePlans: {
    mid: string;
    assignedAt: ColumnType<number, string, string>;
    planId: string | null;
  };
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
    refundLimit: string | null;
  };
  auditHead: {
    isOnly: Generated<boolean>;
    seq: bigint;
    digest: Buffer;
    mac: Buffer | null;
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
    mac: Buffer | null;
  };
  bankAccounts: {
    mid: string;
    currency: string;
    version: number;
    sealed: Buffer;
    masked: string;
    changedAt: ColumnType<number, string, string>;
    heldUntil: ColumnType<number, string, string> | null;
    authorKind: string;
    authorId: string | null;
    authorName: string;
  };
  begunOrders: {
    mid: string;
    orderId: string;
    sourceId: string;
    claimedAt: ColumnType<number, string, string> | null;
    createdAt: ColumnType<number, string, string>;
    claimedAttempt: number | null;
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
  callbackLog: {
    mid: string;
    paymentId: string;
    seq: number;
    createdAt: ColumnType<number, string, string>;
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
    respondBy: ColumnType<number, string, string> | null;
    state: Generated<string>;
    note: Generated<string>;
    changedAt: ColumnType<number, string, string>;
    stage: Generated<string>;
    reason: Generated<string>;
  };
  clockOffsets: {
    mid: string | null;
    offsetMs: bigint;
  };
  connectionPricePlans: {
    connectionId: string;
    assignedAt: ColumnType<number, string, string>;
    planId: string | null;
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
    activeMethods: string[] | null;
    methodsDueAt: ColumnType<number, string, string> | null;
  };
  credits: {
    mid: string;
    orderId: string;
    part: string;
    fingerprint: string;
    operationId: string;
    createdAt: ColumnType<number, string, string>;
  };
  customerLinks: {
    mid: string;
    emailKey: string;
    email: string;
    language: string;
    state: string;
    digest: string | null;
    attempts: Generated<number>;
    dueAt: ColumnType<number, string, string>;
    createdAt: ColumnType<number, string, string>;
  };
  dataKeys: {
    mid: string;
    version: number;
    sealed: Buffer;
    createdAt: ColumnType<number, string, string>;
  };
  feeInvoiceIssuer: {
    isOnly: Generated<boolean>;
    name: string;
    address: ColumnType<unknown, string, string>;
    taxNumber: string;
    prefix: string;
    changedAt: ColumnType<number, string, string>;
  };
  feeInvoiceNumbers: {
    prefix: string;
    last: number;
  };
  feeInvoices: {
    mid: string;
    feeInvoiceId: string;
    prefix: string;
    sequence: number;
    kind: string;
    currency: string;
    fromAt: ColumnType<number, string, string> | null;
    untilAt: ColumnType<number, string, string>;
    lines: ColumnType<unknown, string, string>;
    net: bigint;
    tax: bigint;
    issuer: ColumnType<unknown, string, string>;
    recipient: ColumnType<unknown, string, string>;
    corrects: string | null;
    reason: string | null;
    issuedBy: string;
    issuedAt: ColumnType<number, string, string>;
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
  holidayLists: {
    validFrom: ColumnType<number, string, string>;
    holidays: ColumnType<unknown, string, string>;
  };
  installation: {
    name: string;
    value: Buffer;
  };
  invoiceNumbers: {
    mid: string;
    last: number;
  };
  invoices: {
    mid: string;
    invoiceId: string;
    code: string;
    sequence: number;
    currency: string;
    lines: ColumnType<unknown, string, string>;
    payer: ColumnType<unknown, string, string>;
    note: string;
    dueOn: string;
    total: bigint;
    tax: bigint;
    voidedAt: ColumnType<number, string, string> | null;
    sentCount: Generated<number>;
    sentAt: ColumnType<number, string, string> | null;
    createdBy: string | null;
    createdAt: ColumnType<number, string, string>;
    dueAt: ColumnType<number, string, string> | null;
    reminder: Generated<number>;
    reminderAttempts: Generated<number>;
  };
  ledgerAdjustments: {
    mid: string;
    adjustmentId: string;
    currency: string;
    amount: bigint;
    reason: string;
    state: string;
    authorKind: string;
    authorId: string | null;
    authorName: string;
    proposedAt: ColumnType<number, string, string>;
    decidedBy: string | null;
    decidedAt: ColumnType<number, string, string> | null;
  };
  ledgerEntries: {
    sourceId: string;
    seq: number;
    category: string;
    entryId: string;
    mid: string | null;
    paymentId: string | null;
    operationId: string | null;
    brand: string | null;
    connector: string | null;
    currency: string;
    postedAt: ColumnType<number, string, string>;
    availableOn: ColumnType<Date, string, string>;
    accounts: string[];
    amounts: string[];
    reverses: string | null;
    note: string | null;
    planId: string | null;
    planVersion: number | null;
    planLine: number | null;
  };
  ledgerMargins: {
    day: ColumnType<Date, string, string>;
    mid: string;
    brand: string;
    connector: string;
    currency: string;
    fees: string;
    costs: string;
  };
  ledgerSums: {
    account: string;
    currency: string;
    hour: ColumnType<number, string, string>;
    availableOn: ColumnType<Date, string, string>;
    debit: string;
    credit: string;
  };
  ledgerTotals: {
    account: string;
    grain: string;
    currency: string;
    startsAt: ColumnType<number, string, string>;
    debit: string;
    credit: string;
  };
  links: {
    mid: string;
    linkId: string;
    code: string;
    title: string;
    description: string;
    currency: string;
    amount: bigint | null;
    minAmount: bigint | null;
    maxAmount: bigint | null;
    uses: number | null;
    validUntil: ColumnType<number, string, string> | null;
    methods: string[];
    locale: string;
    successUrl: string;
    ask: string[];
    isAuthorisation: boolean;
    orderPrefix: string;
    isActive: Generated<boolean>;
    createdBy: string | null;
    createdAt: ColumnType<number, string, string>;
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
    requestedBy: string | null;
  };
  operatorInvitations: {
    digest: Buffer;
    operatorId: string | null;
    createdAt: ColumnType<number, string, string>;
    expiresAt: ColumnType<number, string, string>;
    invitedBy: string | null;
  };
  operatorNotices: {
    operatorId: string;
    topic: string;
    toldUntil: ColumnType<number, string, string>;
    dueAt: ColumnType<number, string, string>;
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
    language: string | null;
    refundLimit: string | null;
  };
  paymentSearch: {
    mid: string;
    paymentId: string;
    historyLength: number;
    ordinal: bigint | null;
    createdAt: ColumnType<number, string, string>;
    state: string;
    brand: string;
    connection: string;
    currency: string;
    amount: bigint;
    attention: string | null;
    scheduleId: string | null;
    network: string | null;
    country: string | null;
    providerReference: string | null;
    cardId: string | null;
    text: string;
    channelId: string | null;
  };
  paymentSearchBits: {
    chunk: number;
    segment: bigint;
    bits: Buffer;
  };
  paymentSearchSegments: {
    segment: bigint;
    firstAt: ColumnType<number, string, string>;
    lastAt: ColumnType<number, string, string>;
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
  payoutAccounts: {
    currency: string;
    sealed: Buffer;
    masked: string;
    changedAt: ColumnType<number, string, string>;
  };
  payouts: {
    payoutId: string;
    currency: string;
    format: string;
    state: string;
    controlSum: bigint;
    file: Buffer;
    sha256: string;
    authorKind: string;
    authorId: string | null;
    authorName: string;
    madeAt: ColumnType<number, string, string>;
    decidedBy: string | null;
    decidedAt: ColumnType<number, string, string> | null;
  };
  pricePlanVersions: {
    planId: string;
    version: number;
    validFrom: ColumnType<number, string, string>;
    refundPolicy: string;
    taxPercent: string;
    lines: ColumnType<unknown, string, string>;
    createdAt: ColumnType<number, string, string>;
  };
  pricePlans: {
    planId: string;
    name: string;
    side: string;
    createdAt: ColumnType<number, string, string>;
  };
  projections: {
    name: string;
    historyNumber: bigint;
    callbackAttemptsNumber: bigint;
    historySince: bigint | null;
    callbackAttemptsSince: bigint | null;
    backfillBefore: string | null;
    backfillStartedAt: ColumnType<number, string, string> | null;
    totalsBefore: ColumnType<number, string, string> | null;
    totalsProgress: string | null;
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
  providerPayments: {
    providerPaymentId: string;
    connector: string;
    currency: string;
    amount: bigint;
    reference: string;
    receivedOn: ColumnType<Date, string, string>;
    recordedBy: string;
    recordedAt: ColumnType<number, string, string>;
  };
  providerTerms: {
    connector: string;
    days: number;
    changedAt: ColumnType<number, string, string>;
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
    fee: bigint | null;
    ourSeq: number | null;
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
  refundRequests: {
    mid: string;
    requestId: string;
    paymentId: string;
    operationId: string;
    content: string;
    currency: string;
    amount: bigint;
    note: string | null;
    state: string;
    authorKind: string;
    authorId: string | null;
    authorName: string;
    authorLimit: string | null;
    requestedAt: ColumnType<number, string, string>;
    decidedBy: string | null;
    decidedAt: ColumnType<number, string, string> | null;
    dueAt: ColumnType<number, string, string> | null;
  };
  refusedCards: {
    mid: string;
    fingerprint: string;
    refusedAt: ColumnType<number, string, string>;
  };
  refusedSeries: {
    mid: string;
    firstPaymentId: string;
    refusedAt: ColumnType<number, string, string>;
  };
  reserveSlices: {
    entryId: string;
    mid: string;
    paymentId: string;
    currency: string;
    amount: bigint;
    dueAt: ColumnType<number, string, string> | null;
    releasedAt: ColumnType<number, string, string> | null;
  };
  restores: {
    restoredAt: ColumnType<number, string, string>;
    backupAt: ColumnType<number, string, string>;
    releasedAt: ColumnType<number, string, string> | null;
    releasedBy: string | null;
    note: string | null;
  };
  riskBackTests: {
    backTestId: string;
    mid: string | null;
    rule: ColumnType<unknown, string, string>;
    fromAt: ColumnType<number, string, string>;
    toAt: ColumnType<number, string, string>;
    state: string;
    seen: Generated<number>;
    hits: Generated<number>;
    amounts: ColumnType<unknown, string | undefined, string>;
    settled: Generated<number>;
    refunded: Generated<number>;
    chargedBack: Generated<number>;
    failure: string | null;
    createdBy: string;
    createdAt: ColumnType<number, string, string>;
    progressAt: ColumnType<number, string, string> | null;
  };
  riskBins: {
    firstNumber: bigint;
    lastNumber: bigint;
    network: string | null;
    country: string | null;
    funding: string | null;
    issuer: string | null;
  };
  riskDecisions: {
    mid: string;
    paymentId: string;
    at: ColumnType<number, string, string>;
    amount: bigint;
    currency: string;
    cardKey: string | null;
    emailKey: string | null;
    ipKey: string | null;
    phoneKey: string | null;
    payerCountryKey: string | null;
    decision: string;
    score: number;
    rules: ColumnType<unknown, string, string>;
    shadow: ColumnType<unknown, string, string>;
    threeDs: ColumnType<unknown, string, string>;
    input: ColumnType<unknown, string, string>;
    failure: string | null;
    reviewState: string | null;
    reviewThen: string | null;
    reviewDueAt: ColumnType<number, string, string> | null;
    reviewedAt: ColumnType<number, string, string> | null;
    reviewedBy: string | null;
    reviewNote: string | null;
    evaluatedAgainAt: ColumnType<number, string, string> | null;
    reviewCaptures: boolean | null;
  };
  riskFraudRates: {
    connector: string;
    quarter: ColumnType<number, string, string>;
    currency: string;
    captured: bigint;
    fraud: bigint;
    computedAt: ColumnType<number, string, string>;
  };
  riskIpCountries: {
    network: string;
    country: string;
  };
  riskListEntries: {
    listId: string;
    entryId: string;
    value: string;
    reason: string | null;
    expiresAt: ColumnType<number, string, string> | null;
    createdBy: string;
    createdAt: ColumnType<number, string, string>;
  };
  riskLists: {
    listId: string;
    mid: string | null;
    name: string;
    kind: string;
    createdAt: ColumnType<number, string, string>;
  };
  riskRuleVersions: {
    ruleId: string;
    version: number;
    name: string;
    condition: ColumnType<unknown, string, string>;
    action: ColumnType<unknown, string, string>;
    state: string;
    priority: number;
    madeBy: string;
    madeAt: ColumnType<number, string, string>;
  };
  riskRules: {
    ruleId: string;
    mid: string | null;
    version: number;
    name: string;
    condition: ColumnType<unknown, string, string>;
    action: ColumnType<unknown, string, string>;
    state: string;
    priority: number;
    createdAt: ColumnType<number, string, string>;
    changedAt: ColumnType<number, string, string>;
    deletedAt: ColumnType<number, string, string> | null;
  };
  riskVersion: {
    isOnly: Generated<boolean>;
    version: Generated<number>;
  };
  riskVolumeOpen: {
    mid: string;
    currency: string;
    paymentId: string;
    isLetThrough: boolean;
  };
  riskVolumeStarts: {
    mid: string;
    currency: string;
    countedAt: ColumnType<number, string, string>;
  };
  riskVolumes: {
    mid: string;
    currency: string;
    day: ColumnType<Date, string, string>;
    brand: string;
    amount: bigint;
    count: number;
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
  rollupDeclineClasses: {
    grain: string;
    startsAt: ColumnType<number, string, string>;
    mid: string;
    brand: string;
    connector: string;
    currency: string;
    declineClass: string;
    declined: number;
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
    isOnly: boolean | null;
    historyNumber: bigint | null;
    callbackAttemptsNumber: bigint | null;
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
  settlementCycles: {
    mid: string;
    currency: string;
    dueAt: ColumnType<number, string, string> | null;
  };
  settlementEntries: {
    sourceId: string;
    seq: number;
    category: string;
    settlementId: string;
    mid: string;
    currency: string;
    entryId: string;
    postedAt: ColumnType<number, string, string>;
    availableOn: ColumnType<Date, string, string>;
    amount: bigint;
  };
  settlementMessages: {
    mid: string;
    messageId: string;
    channel: string;
    type: string;
    status: string;
    currency: string;
    settlementId: string | null;
    transferId: string | null;
    detail: string | null;
    state: string;
    attempts: Generated<number>;
    reason: string | null;
    dueAt: ColumnType<number, string, string> | null;
    createdAt: ColumnType<number, string, string>;
    attemptedAt: ColumnType<number, string, string> | null;
  };
  settlementTerms: {
    mid: string;
    currency: string;
    validFrom: ColumnType<number, string, string>;
    cycle: string;
    weekday: number | null;
    day: number | null;
    delayDays: number;
    minimum: bigint | null;
    reservePercent: string | null;
    reserveDays: number | null;
    hold: string | null;
    timeZone: Generated<string>;
    cutOff: Generated<number>;
    businessDays: Generated<boolean>;
  };
  settlementTotals: {
    mid: string;
    currency: string;
    month: ColumnType<number, string, string>;
    debit: string;
    credit: string;
  };
  settlements: {
    settlementId: string;
    mid: string;
    currency: string;
    number: number;
    fromAt: ColumnType<number, string, string> | null;
    untilAt: ColumnType<number, string, string>;
    opening: bigint;
    closing: bigint;
    payout: bigint;
    lines: ColumnType<unknown, string, string>;
    withheld: ColumnType<unknown, string, string>;
    state: string;
    cutBy: string;
    cutAt: ColumnType<number, string, string>;
    decidedBy: string | null;
    decidedAt: ColumnType<number, string, string> | null;
    feeInvoiceId: string | null;
    invoiceDueAt: ColumnType<number, string, string> | null;
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
  telephoneOrders: {
    mid: string;
    paymentId: string;
    orderId: string;
    takenBy: string | null;
    createdAt: ColumnType<number, string, string>;
  };
  transfers: {
    transferId: string;
    payoutId: string;
    settlementId: string;
    mid: string;
    currency: string;
    amount: bigint;
    bankVersion: number;
    state: string;
    reason: string | null;
    paidAt: ColumnType<number, string, string> | null;
    returnedAt: ColumnType<number, string, string> | null;
    holder: Buffer | null;
  };
  walletTokens: {
    mid: string;
    replayKey: string;
    paymentId: string;
    forgetAt: ColumnType<number, string, string>;
    isFirst: Generated<boolean | null>;
  };
}
