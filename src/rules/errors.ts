/** Every error of the API, in the order of the checks: the first one that applies is returned. */

export const ERRORS = {
  unknownRoute: { code: 0, message: 'Route or parameters is not supported', http: 404 },
  bodyTooLarge: { code: 100000, message: 'Request body is too large.', http: 413 },
  unauthorised: { code: 100000, message: 'The admin token is missing or wrong.', http: 401 },
  forbidden: { code: 100000, message: 'Your role does not allow this.', http: 403 },
  wrongSignature: { code: 100000, message: 'The signature is missing or wrong.', http: 401 },
  wrongEnvironment: { code: 220002, message: 'Use merchant test key.', http: 400 },
  addressNotAllowed: { code: 100000, message: 'Request from this ip is not allowed.', http: 400 },
  tooManyRequests: { code: 100000, message: 'Too many requests.', http: 429 },
  notUuid: { code: 100000, message: 'This is not a valid UUID.', http: 400 },
  invalidData: { code: 100000, message: 'Request data is invalid.', http: 400 },
  wrongHash: { code: 100000, message: 'Hash is not valid', http: 400 },
  duplicatePayment: { code: 100000, message: 'order_id: Duplicate payment.', http: 400 },
  unknownTransaction: { code: 101000, message: 'Transaction does not exist.', http: 400 },
  unknownOrder: { code: 101000, message: 'Order does not exist.', http: 400 },
  unknownCheckoutPayment: { code: 101000, message: 'Payment does not exist.', http: 400 },
  unknownPayment: { code: 100000, message: 'Payment not found.', http: 400 },
  unknownSchedule: { code: 100000, message: 'Schedule not found', http: 400 },
  unknownRecurringPair: { code: 100000, message: 'Incorrect transaction', http: 400 },
  unknownCardToken: { code: 205005, message: 'Card token is invalid or not found.', http: 400 },
  foreignCardToken: { code: 205007, message: 'Card token is not accessible to this account.', http: 400 },
  expiredCardToken: { code: 205006, message: 'Card token has expired.', http: 400 },
  noSuchAccount: { code: 101000, message: 'Account does not exist.', http: 404 },
  noSuchPayment: { code: 101000, message: 'Payment does not exist.', http: 404 },
  noSuchCallback: { code: 101000, message: 'Callback does not exist.', http: 404 },
  noSuchChargeback: { code: 101000, message: 'Chargeback does not exist.', http: 404 },
  noSuchEvidence: { code: 101000, message: 'Evidence file does not exist.', http: 404 },
  noSuchRequest: { code: 101000, message: 'Request does not exist.', http: 404 },
  noSuchOperator: { code: 101000, message: 'Operator does not exist.', http: 404 },
  lastOwner: { code: 100000, message: 'There has to be an active owner.', http: 400 },
  noSuchInvoice: { code: 101000, message: 'Invoice does not exist.', http: 404 },
  invoiceNotOpen: { code: 100000, message: 'The invoice is paid, void or being paid.', http: 400 },
  notMailed: { code: 100000, message: 'The e-mail was not sent.', http: 400 },
  noSuchLink: { code: 101000, message: 'Link does not exist.', http: 404 },
  notPayable: { code: 100000, message: 'This cannot be paid any more.', http: 400 },
  noSuchToken: { code: 101000, message: 'Token does not exist.', http: 404 },
  noSuchConnection: { code: 101000, message: 'Connection does not exist.', http: 404 },
  connectionInUse: { code: 100000, message: 'Routes of an account use this connection.', http: 400 },
  noSuchPricePlan: { code: 101000, message: 'Price plan does not exist.', http: 404 },
  noSuchSchedule: { code: 101000, message: 'Schedule does not exist.', http: 404 },
  nothingHeld: {
    code: 100000,
    message: 'Nothing is held: no backup was restored, or the restore was released already.',
    http: 400,
  },
  noSuchRiskList: { code: 101000, message: 'List does not exist.', http: 404 },
  noSuchRiskEntry: { code: 101000, message: 'Entry does not exist.', http: 404 },
  riskListInUse: { code: 100000, message: 'A rule uses this list.', http: 400 },
  noSuchRiskRule: { code: 101000, message: 'Rule does not exist.', http: 404 },
  noSuchReview: { code: 101000, message: 'Review does not exist.', http: 404 },
  reviewEnded: { code: 100000, message: 'The review has ended.', http: 400 },
  installationReview: {
    code: 100000,
    message: 'Only the operator of the installation can approve this payment.',
    http: 403,
  },
  noSuchBackTest: { code: 101000, message: 'Back-test does not exist.', http: 404 },
  noSuchReconciliation: { code: 101000, message: 'Reconciliation does not exist.', http: 404 },
  noSuchAdjustment: { code: 101000, message: 'Adjustment does not exist.', http: 404 },
  ownAdjustment: { code: 100000, message: 'Another person has to decide about this adjustment.', http: 403 },
  adjustmentDecided: { code: 100000, message: 'This adjustment is decided already.', http: 400 },
  noSuchSettlement: { code: 101000, message: 'Settlement does not exist.', http: 404 },
  settlementDecided: { code: 100000, message: 'Only a draft can be approved or voided.', http: 400 },
  settlementNotNewest: { code: 100000, message: 'Only the newest settlement can be voided.', http: 400 },
  settlementVoid: { code: 100000, message: 'A void settlement has no statement.', http: 400 },
  noSuchMessage: { code: 101000, message: 'Message does not exist.', http: 404 },
  noSuchFeeInvoice: { code: 101000, message: 'Fee invoice does not exist.', http: 404 },
  feeInvoiceNotPossible: { code: 100000, message: 'The fees cannot be invoiced.', http: 400 },
  feeInvoiceCorrected: { code: 100000, message: 'This invoice was corrected before, or is a correction.', http: 400 },
  noSuchBankAccount: { code: 101000, message: 'Bank account does not exist.', http: 404 },
  ownBankAccount: { code: 100000, message: 'Another person has to confirm this bank account.', http: 403 },
  noSuchPayout: { code: 101000, message: 'Payout does not exist.', http: 404 },
  ownPayout: { code: 100000, message: 'Another person has to decide about this payout.', http: 403 },
  payoutDecided: { code: 100000, message: 'This payout is decided already.', http: 400 },
  payoutNotApproved: { code: 100000, message: 'This payout is not approved.', http: 400 },
  payoutNotPossible: { code: 100000, message: 'These settlements cannot be paid now.', http: 400 },
  noSuchTransfer: { code: 101000, message: 'Transfer does not exist.', http: 404 },
  transferRecorded: { code: 100000, message: 'This was recorded for the transfer already.', http: 400 },
  noSuchRefundRequest: { code: 101000, message: 'Refund request does not exist.', http: 404 },
  ownRefundRequest: { code: 100000, message: 'Another person has to decide about this refund.', http: 403 },
  refundRequestDecided: { code: 100000, message: 'This refund is decided already.', http: 400 },
  refundNeedsApproval: { code: 100000, message: 'This refund needs a second person.', http: 403 },
  duplicateOperation: { code: 100000, message: 'operation_id: Duplicate operation.', http: 400 },
  refundNotAllowed: { code: 100000, message: 'Refund is not allowed', http: 400 },
  refundOnlyInPortal: {
    code: 210002,
    message: 'Refund via API is not supported. Only from the connector admin portal.',
    http: 400,
  },
  actionNotSupported: { code: 204005, message: 'Payment action not supported', http: 400 },
  captureNotPending: {
    code: 208003,
    message: 'Not acceptable to request the capture for payment not in pending status',
    http: 400,
  },
  captureTooMuch: {
    code: 208004,
    message: 'Not acceptable to request the capture for amount bigger than auth amount.',
    http: 400,
  },
  refundNotSettled: {
    code: 208005,
    message: 'Not acceptable to request the refund for payment not in settled status.',
    http: 400,
  },
  refundTooMuch: {
    code: 208006,
    message: 'Not acceptable to request the refund for amount bigger than payment amount.',
    http: 400,
  },
  providerBusy: {
    code: 100000,
    message: 'The provider has too many payments under way. Nothing was charged; send the request again later.',
    http: 503,
  },
  unavailable: { code: 100000, message: 'The gateway cannot accept requests safely at the moment.', http: 503 },
  internal: { code: 100000, message: 'The gateway failed to handle the request.', http: 500 },
} as const satisfies Record<string, { code: number; message: string; http: number }>;

export type ErrorName = keyof typeof ERRORS;

/** One entry of the `errors` list: the field, what is wrong with it, and what helps to correct it. */
export interface Problem {
  field: string;
  sentence: string;
  /** What is accepted, in one sentence, with an example. */
  expected?: string | undefined;
  /** The mistake that was probably made. */
  hint?: string | undefined;
  /** The path of the section of the docs, if it is not the one of the call. */
  docs?: string | undefined;
  /** The text that the hash of the request covers, with the password masked; in the sandbox only. */
  signedText?: string | undefined;
}

/** A request is refused; the adapters turn it into an error response. A stack trace would cost more than the refusal. */
export class Refusal extends Error {
  readonly error: ErrorName;
  readonly problems: readonly Problem[];
  /** The seconds after which the same request may be sent again, if known. */
  readonly retryAfter: number | undefined;

  constructor(error: ErrorName, problems: readonly Problem[] = [], retryAfter?: number) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(ERRORS[error].message);
    Error.stackTraceLimit = stackTraceLimit;
    this.error = error;
    this.problems = problems;
    this.retryAfter = retryAfter;
  }
}

/** The refusal of a request with one invalid field. */
export const invalidField = (
  field: string,
  sentence: string,
  help: Omit<Problem, 'field' | 'sentence'> = {},
): Refusal => new Refusal('invalidData', [{ field, sentence, ...help }]);
