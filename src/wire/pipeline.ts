/** The checks of every merchant request, in a fixed order; the first check that fails determines the error. */
import { environmentOfKey, findAccountByKey } from '../core/accounts.ts';
import type { Account, Gateway } from '../core/context.ts';
import type { RequestBody } from '../core/requests/body.ts';
import { cardNumberIn } from '../lib/card.ts';
import { printableName } from '../lib/form.ts';
import { isWireHash } from '../lib/hash.ts';
import { continueWith, type MaybePromise } from '../lib/maybe-promise.ts';
import { DOCS } from '../rules/docs.ts';
import { invalidField, type Problem, Refusal } from '../rules/errors.ts';
import { cardNumberAt, checkFields, type Field, type FieldContext, SENTENCES } from '../rules/fields.ts';
import { LIMITS } from '../rules/limits.ts';
import { type ApiOperation, signedValues } from '../rules/operations.ts';
import { settingsReader } from '../rules/settings.ts';
import type { MerchantRequest } from './merchant-request.ts';
import { KEYS, otherEnvironment, unknownKey, withExpectations, wrongHash } from './teaching.ts';

/** What field checks depend on: the request, the settings of the account, and the allowed callback addresses. */
export const fieldContext = ({ callbackReach }: Gateway, { settings }: Account, body: RequestBody): FieldContext => ({
  value: body.value,
  positions: body.positions,
  setting: settingsReader(settings),
  ...callbackReach,
});

/** Runs all checks and returns the account of the request, or throws a refusal. */
export function admit(gateway: Gateway, request: MerchantRequest): MaybePromise<Account> {
  const operation = requireOperation(request);
  if (operation.opensPayment) requireCapacity(gateway);
  requireReadableBody(request);
  return continueWith(findRequestAccount(gateway, request), (found) => {
    if (!found) return unknownKey(gateway, operation, request).then(refuse);
    const account = requireActive(found, operation, request);
    countRequest(account, request);
    requireAllowedAddress(account, request);
    requireValidFields(gateway, account, operation, request);
    if (!hasValidHash(account, operation, request)) {
      return wrongHash(gateway, account, operation, request).then(refuse);
    }
    return account;
  });
}

function requireOperation({ operation }: MerchantRequest): ApiOperation {
  if (!operation) throw new Refusal('unknownRoute');
  return operation;
}

/** Refuses a new payment while the work of this process waits too long; reads and operations are not refused. */
function requireCapacity({ waits, metrics }: Gateway): void {
  if (waits.waitMs() < LIMITS.openingWaitMs) return;
  metrics.requestLimited('overload');
  throw new Refusal('unavailable', [], LIMITS.overloadRetrySeconds);
}

function requireReadableBody({ body }: MerchantRequest): void {
  if (body.problems.length > 0) throw new Refusal('invalidData', body.problems);
}

function findRequestAccount(gateway: Gateway, { body, keyField }: MerchantRequest): MaybePromise<Account | undefined> {
  const key = body.value(keyField);
  const environment = environmentOfKey(key);
  if (environment !== undefined && environment !== gateway.environment) {
    throw new Refusal('wrongEnvironment', [otherEnvironment(gateway, keyField)]);
  }
  return environment && findAccountByKey(gateway, KEYS[keyField].kind, key);
}

const refuse = (refusal: Refusal): never => {
  throw refusal;
};

function requireActive(account: Account, operation: ApiOperation, { keyField }: MerchantRequest): Account {
  if (account.isSuspended && operation.opensPayment) {
    throw invalidField(keyField, SENTENCES.suspended, { hint: SUSPENDED });
  }
  return account;
}

function countRequest(account: Account, { handled, limits }: MerchantRequest): void {
  handled.mid = account.mid;
  if (handled.call) handled.call.account = account;
  limits.countAccount(account);
}

const SUSPENDED = 'A suspended account takes no new payments: ask your operator. Queries and refunds still work.';

function requireAllowedAddress(account: Account, { address }: MerchantRequest): void {
  if (!account.isAddressAllowed(address)) throw new Refusal('addressNotAllowed');
}

function requireValidFields(
  gateway: Gateway,
  account: Account,
  operation: ApiOperation,
  request: MerchantRequest,
): void {
  const { body } = request;
  const context = fieldContext(gateway, account, body);
  const problems: Problem[] = [];
  checkPasswords(account, body, problems);
  checkCardNumbers(body, problems);
  checkScalars(operation.fields, body, problems);
  checkFields(operation.fields, context, problems);
  const extra = request.accountFields?.(account);
  if (extra) {
    problems.push(...extra.problems);
    checkScalars(extra.fields, body, problems);
    checkFields(extra.fields, context, problems);
  }
  if (problems.length === 0) return;
  const isBadUuid = problems.some(({ sentence }) => sentence === SENTENCES.notUuid);
  const explained = withExpectations(firstPerField(problems), operation, request, context, extra);
  throw new Refusal(isBadUuid ? 'notUuid' : 'invalidData', explained);
}

/** Reports one problem per field, the first, when several entries describe the same field. */
const firstPerField = (problems: readonly Problem[]): Problem[] =>
  [...new Map(problems.toReversed().map((problem) => [problem.field, problem])).values()].toReversed();

/** Refuses a request that contains the password: it is only an input of the hash, and must not be stored or logged. */
function checkPasswords(account: Account, body: RequestBody, problems: Problem[]): void {
  for (const password of account.passwords()) {
    const containsPassword = (text: string): boolean =>
      text.length >= password.length && text.toLowerCase().includes(password);
    for (const [name, value] of body.texts()) {
      const isInName = containsPassword(name);
      if (!isInName && !containsPassword(value)) continue;
      problems.push({
        field: isInName ? 'body' : printableName(name),
        sentence: 'This value contains the password of the account, which should never be sent.',
        docs: DOCS.mustNotBeSent,
      });
    }
  }
}

/** Refuses card numbers, which would be stored in plain text. Digits of the order number are allowed everywhere. */
function checkCardNumbers(body: RequestBody, problems: Problem[]): void {
  for (const [name, value] of body.texts()) {
    const number = cardNumberAt(name, value);
    if (number === undefined) continue;
    if ([body.value('order_id'), body.value('order.number')].some((orderId) => orderId.includes(number))) continue;
    problems.push({
      field: cardNumberIn(name) === undefined ? printableName(name) : 'body',
      sentence: 'This value looks like a card number, which should never be sent here.',
      docs: DOCS.mustNotBeSent,
    });
  }
}

/** Refuses a list or an object, and a number or a boolean, in place of a text. */
function checkScalars(fields: readonly Field[], body: RequestBody, problems: Problem[]): void {
  if (body.isFlat()) return;
  for (const { name, alias, items, isLoose } of fields) {
    if (items) continue;
    if (body.isNested(name)) problems.push({ field: name, sentence: SENTENCES.notSingle });
    else if (!isLoose && !body.isText(name) && body.value(name) !== '') {
      problems.push({ field: name, sentence: SENTENCES.notText });
    }
    if (alias !== undefined && body.isNested(alias)) problems.push({ field: alias, sentence: SENTENCES.notSingle });
  }
}

const hasValidHash = (account: Account, operation: ApiOperation, { body }: MerchantRequest): boolean =>
  isWireHash(body.value('hash'), signedValues(operation, body.value), account.passwords());
