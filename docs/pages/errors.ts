/** Every refusal of the gateway, and when it is given. */
import { ERRORS, type ErrorName } from '../../src/rules/errors.ts';
import { LIMITS } from '../../src/rules/limits.ts';
import { code, page, table } from './markdown.ts';

/** When each error is given, for people. */
const WHEN: Record<ErrorName, string> = {
  unknownRoute: 'The path does not exist, or `action` is not one of the actions in [requests](requests.md).',
  bodyTooLarge: `The body is larger than ${LIMITS.bodyBytes / 1024} KiB, not counting the long fields of some brands; or \`action\`, \`client_key\` and \`brand\` of a sale with a long field do not stand in its first ${LIMITS.bodyBytes / 1024} KiB.`,
  unauthorised: 'An admin or sandbox call came without the admin token, or with a wrong one.',
  wrongSignature: 'News of a provider came without its signature, with a wrong one, or too late.',
  wrongEnvironment: 'A live key was sent to a sandbox, or a test key to production.',
  tooManyRequests:
    'The account or the address sends more requests per second than its limit. `Retry-After` says after how many seconds to go on. The limit of the address is checked before the body is read.',
  addressNotAllowed: 'The account has an `ip_allowlist` and the request came from another address.',
  notUuid: 'A field that has to be a UUID is not one.',
  invalidData: 'The body cannot be read, the key is unknown, or fields are missing or malformed; `errors` names each.',
  wrongHash: 'The hash is not the one that the gateway computes from the request and the password.',
  duplicatePayment: 'The order was paid already, or another request for it came just before.',
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
  noSuchSchedule: 'Admin API: no schedule has this id.',
  duplicateOperation:
    'The `operation_id` was used for something else: another kind of call, another payment, another amount.',
  refundNotAllowed: 'The account may not refund (setting `refunds_allowed`).',
  refundOnlyInPortal: 'The acquirer takes refunds only in its own portal.',
  actionNotSupported:
    'The payment does not allow the action: a void that comes too late, a capture of what nobody authorised, a refund of a payout, a reversal of a part.',
  captureNotPending: 'A capture of a payment that is not `PENDING`, or on which another operation is under way.',
  captureTooMuch: 'A capture of more than was authorised.',
  refundNotSettled: 'A refund of a payment that is not `SETTLED`.',
  refundTooMuch:
    'A refund of more than is left of the payment, where a refund that is under way counts; or a reversal of more than was authorised.',
  providerBusy:
    'So many payments wait for the provider that another one would not be sent in time. Nothing was written or charged.',
  unavailable:
    'The database cannot take the request at the moment, or too many large bodies are being sent at once. Ask for the status of the order; if it is unknown, send the request again.',
  internal: 'A fault of the gateway. Ask for the status of the order; if it is unknown, send the request again.',
};

export function errors(): string {
  const rows = Object.entries(ERRORS) as [ErrorName, (typeof ERRORS)[ErrorName]][];
  return page(
    'Errors',
    'src/rules/errors.ts',
    `
Every refusal of the gateway, in the order in which the checks run: the first that applies answers. All of them come
as one JSON object with \`result\` (always \`ERROR\`), \`error_code\`, \`error_message\` and \`errors\`, a list that names
the fields at fault and is empty when there are none. A declined payment is not an error: it is answered with HTTP 200.

The same \`error_code\` stands for several errors, so look at the message too. The last column is the name of the row in
the source. Which refusal of a capture, void or refund wins is in the
[merchant guide](merchant-guide.md#which-refusal-wins).`,
    table(
      ['error_code', 'error_message', 'HTTP', 'When', 'Name'],
      rows.map(([name, error]) => [code(error.code), code(error.message), String(error.http), WHEN[name], code(name)]),
    ),
  );
}
