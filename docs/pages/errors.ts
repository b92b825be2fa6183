/** Generates docs/errors.md: every error of the gateway, its cause, and its cure. */
import { ERRORS, type ErrorName } from '../../src/rules/errors.ts';
import { LIMITS } from '../../src/rules/limits.ts';
import { code, page, table } from './markdown.ts';

/** The cause of each error. */
const WHEN: Record<ErrorName, string> = {
  unknownRoute: 'The path does not exist, or `action` is not one of the actions in [requests](requests.md).',
  bodyTooLarge: `The body is larger than ${LIMITS.bodyBytes / 1024} KiB, not counting the long fields of some brands; or the first ${LIMITS.bodyBytes / 1024} KiB of a sale with a long field do not contain \`action\`, \`client_key\` and \`brand\`.`,
  unauthorised: 'An admin or sandbox call has no token, a wrong one, or one that has expired.',
  forbidden: 'Admin API: the role of the token does not allow the call, or the token is restricted to some accounts.',
  wrongSignature: 'A provider notification has no signature, a wrong signature, or an outdated timestamp.',
  wrongEnvironment: 'A live key was sent to a sandbox, or a test key to production.',
  tooManyRequests:
    'The account or the address sends more requests per second than its limit. `Retry-After` contains the number of seconds to wait. The limit of the address is checked before the body is read.',
  addressNotAllowed: 'The account has an `ip_allowlist` and the request came from another address.',
  notUuid: 'A field that must be a UUID is not a UUID.',
  invalidData:
    'The body cannot be parsed, the key is unknown, or fields are missing or malformed; `errors` lists each field.',
  wrongHash: 'The hash does not match the request and the password.',
  duplicatePayment:
    'The order cannot be paid again, or an earlier request for it had different content; see [order numbers](merchant/idempotency.md#order-numbers).',
  unknownTransaction: 'A status query or a capture names a `trans_id` that this account does not have.',
  unknownOrder: 'A status query names an `order_id` that this account does not have.',
  unknownCheckoutPayment: 'A query by payment id names a payment that does not exist.',
  unknownPayment: 'A void, reversal or refund names a `trans_id` that this account does not have.',
  unknownSchedule: 'The request names a `schedule_id` that this account does not have.',
  unknownRecurringPair: 'The first payment and the token of a recurring sale do not belong together.',
  unknownCardToken: 'The card token of a credit does not exist.',
  foreignCardToken: 'The card token of a credit belongs to another account.',
  expiredCardToken: 'The card of a credit has expired.',
  noSuchAccount: 'Admin API and sandbox calls: no account has this `mid`.',
  noSuchPayment: 'Admin API and sandbox calls: no payment has this id.',
  noSuchCallback: 'Admin API: no callback has this id.',
  noSuchChargeback: 'Admin API and panel: no chargeback of a payment with this id.',
  noSuchEvidence: 'Admin API and panel: the chargeback has no file with this id.',
  noSuchRequest: 'Admin API: no API call has this id, or it is no longer kept.',
  noSuchOperator: 'Admin API and panel: no operator has this id.',
  lastOwner: 'Panel: the change would leave no active owner.',
  noSuchToken: 'Admin API: no token has this id.',
  noSuchConnection: 'Admin API: no connection has this id.',
  noSuchPricePlan: 'Admin API: no price plan has this id.',
  connectionInUse: 'Admin API: a connection cannot be deleted while a route of an account uses it.',
  noSuchRiskList: 'Admin API: no risk list has this id.',
  noSuchRiskEntry: 'Admin API: the risk list has no entry with this id.',
  riskListInUse: 'Admin API: a risk list cannot be deleted while a rule compares with it.',
  noSuchRiskRule: 'Admin API: no risk rule has this id.',
  noSuchReview: 'Admin API: no payment with this id was sent to the review.',
  reviewEnded: 'Admin API: the review was decided already, or the payment does not allow the decision any more.',
  installationReview:
    'Admin API and panel: a rule of the installation sent the payment to the review, so that merchants can refuse it only.',
  noSuchBackTest: 'Admin API: no back-test has this id.',
  noSuchInvoice: 'Admin API: no invoice has this id.',
  invoiceNotOpen: 'Admin API: an invoice that is paid, void or being paid cannot be voided or sent.',
  notMailed:
    'Admin API: the installation has no mail server, the mail server refused the e-mail, or it was sent too often.',
  noSuchLink: 'Admin API: no link has this id.',
  notPayable: 'A page for payers: a link is used up, expired or switched off.',
  noSuchSchedule: 'Admin API: no schedule has this id.',
  nothingHeld:
    'Admin API and panel: the release of a [restore](operator/backup-and-upgrade.md#after-a-restore), while none is held.',
  noSuchReconciliation: 'Admin API and panel: no reconciliation has this id.',
  noSuchAdjustment: 'Admin API and panel: no adjustment has this id.',
  ownAdjustment: 'Admin API and panel: who proposes an adjustment neither approves nor refuses it.',
  adjustmentDecided: 'Admin API and panel: the adjustment was approved or refused before.',
  noSuchRefundRequest: 'Admin API and panel: no refund request has this id.',
  ownRefundRequest: 'Admin API and panel: who requests a refund neither approves nor refuses it.',
  refundRequestDecided: 'Admin API and panel: the refund was approved or refused before.',
  refundNeedsApproval:
    'Admin API and panel: a review cannot be refused, because its refund needs a second person (setting `refund_approval_from`). Refund the payment instead; that ends the review.',
  noSuchSettlement: 'Admin API: no settlement has this id.',
  settlementDecided: 'Admin API: the settlement was approved or voided before.',
  settlementNotNewest: 'Admin API: a later settlement of the account and currency begins where this one ends.',
  noSuchMessage: 'Admin API: no message to a merchant has this id.',
  noSuchFeeInvoice: 'Admin API: no fee invoice has this id.',
  feeInvoiceNotPossible:
    'Admin API: the answer lists what is missing: who issues invoices, or the address of the account.',
  feeInvoiceCorrected: 'Admin API: an invoice is taken back once, and a credit note never.',
  settlementVoid: 'Admin API: the settlement was voided, and its entries are in another one.',
  noSuchBankAccount: 'Admin API: the account has no bank account in this currency.',
  ownBankAccount: 'Admin API: who changes a bank account does not confirm the change.',
  noSuchPayout: 'Admin API: no payout has this id.',
  ownPayout: 'Admin API: who makes a payout neither approves nor refuses it.',
  payoutDecided: 'Admin API: the payout was approved or refused before.',
  payoutNotApproved:
    'Admin API: the file of a payout is returned, and its transfers are recorded, once it is approved.',
  payoutNotPossible:
    'Admin API: the answer lists for each settlement why it cannot be paid: it is not approved, has nothing to pay, the bank account is missing, held or was changed, or the balance is too low now.',
  noSuchTransfer: 'Admin API: the payout has no transfer with this id.',
  transferRecorded: 'Admin API: a transfer is paid once and returned once.',
  duplicateOperation:
    'The `operation_id` was already used for another kind of call, another payment or another amount.',
  refundNotAllowed: 'The account may not refund (setting `refunds_allowed`).',
  refundOnlyInPortal: 'The acquirer accepts refunds only in its own portal.',
  actionNotSupported:
    'The payment does not allow the action: a void that is too late, a capture without an authorisation, a refund of a payout, or a partial reversal. Or the account has no key for the device wallet of a sale.',
  captureNotPending: 'A capture of a payment that is not `PENDING`, or that has another operation in progress.',
  captureTooMuch: 'A capture of more than was authorised.',
  refundNotSettled: 'A refund of a payment that is not `SETTLED`.',
  refundTooMuch:
    'A refund of more than is left of the payment after all refunds, including those in progress; or a reversal of more than was authorised.',
  providerBusy: 'The queue of payments for the provider is full. Nothing was stored or charged.',
  unavailable:
    'The database is unavailable, or too many large bodies are being received at once. Query the status of the order; if it is unknown, send the request again.',
  internal:
    'An internal error of the gateway. Query the status of the order; if it is unknown, send the request again.',
};

/** What to do about an error; every error that a merchant can get has an entry, which a test checks. */
export const CURE: Partial<Record<ErrorName, string>> = {
  unknownRoute: 'Check the path and the method, and that `action` is in capital letters.',
  bodyTooLarge: 'Send less, and in a sale with a long field send `action`, `client_key` and `brand` first.',
  unauthorised: 'Send `Authorization: Bearer` with a valid token; see [Access](operator/access.md).',
  forbidden: 'Use a token with another [role](roles.md), or ask an owner.',
  wrongEnvironment: 'Use the keys of this gateway: `test_…` in the sandbox, `live_…` in production.',
  tooManyRequests: 'Wait as long as `Retry-After` says, then send the same request again. Nothing was stored.',
  addressNotAllowed: 'Send from an allowed address, or ask your operator to change the list.',
  notUuid: 'Send the id exactly as the gateway returned it.',
  invalidData:
    'Correct the fields that `errors` names: each entry says what is `expected`. The order number was not used up.',
  wrongHash:
    'In the sandbox, read `hint` and `signed_text` of the entry. Compare your steps with [Compute the hash](merchant/sign-requests.md#compute-the-hash), or use the [hash debugger](operator/hash-debugger.md).',
  duplicatePayment:
    'Query the status of the order first. Pay it again only after a decline, or use a new order number for a new purchase.',
  unknownTransaction: 'Check the `trans_id` and the account. After a timeout, query by `order_id` instead.',
  unknownOrder: 'The sale never arrived: send it again with the same order number.',
  unknownCheckoutPayment: 'Check the `payment_id` and the account, or query by `order_id`.',
  unknownPayment: 'Check the id and the account: a payment belongs to the account that made it.',
  unknownSchedule: 'Check the `schedule_id`, or create the [schedule](merchant/schedules.md) first.',
  unknownRecurringPair: 'Store the id and the `recurring_token` of the first payment together, and send both.',
  unknownCardToken: 'Take the token from a [payment with a saved card](merchant/cards.md).',
  foreignCardToken: 'Send the request with the keys of the account that saved the card.',
  expiredCardToken: 'Ask the payer for another card, or refund the payment instead.',
  duplicateOperation:
    'Use a new `operation_id` for a new operation, and the same one only to repeat a request unchanged.',
  refundNotAllowed: 'Ask your operator to allow refunds for the account.',
  refundOnlyInPortal: 'Refund in the portal of the acquirer, or ask your operator to.',
  actionNotSupported:
    'Query the status, and choose the [operation](merchant/operations.md) that fits it: void before settlement, refund after it.',
  captureNotPending: 'Query the status. A payment can be captured once, while it is authorised.',
  captureTooMuch: 'Capture at most the authorised amount.',
  refundNotSettled: 'Wait until the payment is `SETTLED`, or void it before that.',
  refundTooMuch: 'Refund at most what is left; refunds in progress count.',
  providerBusy: 'Send the same request again after `Retry-After`.',
  unavailable: 'Query the status of the order after a pause; if it is unknown, send the same request again.',
  internal: 'Query the status, then repeat. Report the `x-request-id` to your operator if it happens again.',
};

/** One section per error: `docsOfError` links to its heading. */
const section = ([name, error]: [ErrorName, (typeof ERRORS)[ErrorName]]): string[] => {
  const cure = CURE[name];
  return [
    `### ${name}`,
    `${code(error.code)} ${code(error.message)}, HTTP ${error.http}.`,
    `**Cause:** ${WHEN[name]}`,
    ...(cure === undefined ? [] : [`**What to do:** ${cure}`]),
  ];
};

export function errors(): string {
  const rows = Object.entries(ERRORS) as [ErrorName, (typeof ERRORS)[ErrorName]][];
  return page(
    'Errors',
    'src/rules/errors.ts',
    `
This page lists every error of the gateway, in the order of the checks; the first check that fails determines the error.
An error is a JSON object with \`result\` (always \`ERROR\`), \`error_code\`, \`error_message\` and \`errors\`, a list of
the invalid fields, which may be empty. A declined payment is not an error: it is answered with HTTP 200.
[Error format](merchant/errors.md#error-format) describes the entries of the list. The header \`link\` of every refusal
leads to its section below.

The same \`error_code\` stands for several errors, so read the message as well. The last column is the name of the error
in the source. For captures, voids and refunds see also [Order of refusals](merchant/operations.md#order-of-refusals).`,
    table(
      ['error_code', 'error_message', 'HTTP', 'Cause and cure'],
      rows.map(([name, error]) => [
        code(error.code),
        code(error.message),
        String(error.http),
        `[${name}](#${name.toLowerCase()})`,
      ]),
    ),
    '## Causes and cures',
    ...rows.flatMap(section),
  );
}
