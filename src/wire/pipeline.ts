/** The checks of every merchant request, in a fixed order; the first check that fails determines the error. */
import { environmentOfKey, findAccountByKey } from '../core/accounts/accounts.ts';
import type { Account, Gateway } from '../core/context.ts';
import type { RequestBody } from '../core/requests/body.ts';
import { partsWith, reversedReadings } from '../core/requests/reversed-texts.ts';
import { CARD_SECRETS } from '../core/requests/s2s-body.ts';
import { hasCardNumber, plainDigits } from '../lib/cards/search.ts';
import { isReversedHash, isWireHash } from '../lib/crypto/hash.ts';
import { continueWith, type MaybePromise } from '../lib/flow/maybe-promise.ts';
import { printableName } from '../lib/text/form.ts';
import { DOCS } from '../rules/docs.ts';
import { invalidField, type Problem, Refusal } from '../rules/errors.ts';
import { cardNumbersAt, checkFields, type Field, type FieldContext, SENTENCES } from '../rules/fields.ts';
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
  const given = requireOperation(request);
  if (given.opensPayment) requireCapacity(gateway);
  requireReadableBody(request);
  return continueWith(findRequestAccount(gateway, request), (found) => {
    if (!found) return unknownKey(gateway, given, request).then(refuse);
    const operation = request.operationFor?.(found) ?? given;
    recordAccount(found, request);
    requireAllowedAddress(found, request);
    request.limits.countAccount(found);
    const account = requireActive(found, operation, request);
    requireValidFields(gateway, account, operation, request);
    if (hasSpecifiedHash(account, operation, request)) return account;
    return hasReversedHash(gateway, account, request).then((isValid) =>
      isValid ? account : wrongHash(gateway, account, operation, request).then(refuse),
    );
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

function recordAccount(account: Account, { handled }: MerchantRequest): void {
  handled.mid = account.mid;
  if (handled.call) handled.call.account = account;
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
  const allowsNumbers = account.settings['dialect.number_amounts'];
  checkScalars(operation.fields, body, problems, allowsNumbers);
  checkFields(operation.fields, context, problems);
  const extra = request.accountFields?.(account);
  if (extra) {
    problems.push(...extra.problems);
    checkScalars(extra.fields, body, problems, allowsNumbers);
    checkFields(extra.fields, context, problems);
  }
  if (problems.length === 0) return;
  const isBadUuid = problems.some(({ sentence }) => sentence === SENTENCES.notUuid);
  const explained = withExpectations(firstPerField(problems), operation, request, account, context, extra);
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
    const check = (name: string, value: string): void => {
      const isInName = containsPassword(name);
      if (!isInName && !containsPassword(value)) return;
      problems.push({
        field: isInName ? 'body' : printableName(name),
        sentence: 'This value contains the password of the account, which should never be sent.',
        docs: DOCS.mustNotBeSent,
      });
    };
    for (const [name, value] of body.texts()) check(name, value);
    // The card is no longer among the texts.
    for (const name of CARD_SECRETS) check(name, body.value(name));
  }
}

/** Refuses card numbers, which would be stored in plain text. Digits of the order number are allowed everywhere. */
function checkCardNumbers(body: RequestBody, problems: Problem[]): void {
  const isOfOrder = (number: string): boolean =>
    ['order_id', 'order.number'].some((id) => plainDigits(body.value(id)).replace(/\D/g, '').includes(number));
  for (const [name, value] of body.texts()) {
    const numbers = cardNumbersAt(name, value);
    if (numbers.length === 0 || numbers.every(isOfOrder)) continue;
    problems.push({
      field: hasCardNumber(name) ? 'body' : printableName(name),
      sentence: 'This value looks like a card number, which should never be sent here.',
      docs: DOCS.mustNotBeSent,
    });
  }
}

/** Refuses a list or an object, and a number or a boolean, in place of a text. */
function checkScalars(fields: readonly Field[], body: RequestBody, problems: Problem[], allowsNumbers: boolean): void {
  if (body.isFlat()) return;
  for (const { name, alias, items, isLoose, isAmount } of fields) {
    if (items) continue;
    if (body.isNested(name)) problems.push({ field: name, sentence: SENTENCES.notSingle });
    else if (!isLoose && !(allowsNumbers && isAmount) && !body.isText(name) && body.value(name) !== '') {
      problems.push({ field: name, sentence: SENTENCES.notText });
    }
    if (alias !== undefined && body.isNested(alias)) problems.push({ field: alias, sentence: SENTENCES.notSingle });
  }
}

const hasSpecifiedHash = (account: Account, operation: ApiOperation, { body }: MerchantRequest): boolean =>
  isWireHash(
    body.value('hash'),
    signedValues(operation, body.value),
    account.passwords(),
    account.settings['dialect.digest'],
  );

/** Accepted for accounts that chose the recipe. The hash of an operation covers its payment, which is read for it. */
async function hasReversedHash(
  gateway: Gateway,
  account: Account,
  { action, body, keyField }: MerchantRequest,
): Promise<boolean> {
  const { 'dialect.hash': recipe, 'dialect.digest': digest } = account.settings;
  if (recipe !== 'reversed_md5' || keyField !== 'client_key') return false;
  const readings = await reversedReadings(gateway, account, action, body);
  const texts = readings.flatMap((reading) => account.passwords().map((password) => partsWith(reading, password)));
  return isReversedHash(body.value('hash'), texts, digest);
}
