/** The gates that every merchant request passes, in the decided order; the first that fails answers. */
import { environmentOfKey, findAccountByKey } from '../core/accounts.ts';
import type { Account, Gateway } from '../core/context.ts';
import { cardNumberIn } from '../lib/card.ts';
import { printableName } from '../lib/form.ts';
import { isWireHash } from '../lib/hash.ts';
import { invalidField, type Problem, Refusal } from '../rules/errors.ts';
import { cardNumberAt, checkFields, type Field, type FieldContext, SENTENCES } from '../rules/fields.ts';
import type { ApiOperation } from '../rules/operations.ts';
import { settingsReader } from '../rules/settings.ts';

/** A body of either protocol, as the gates look at it. */
export interface RequestBody {
  /** The value of a scalar field, empty when it was not sent. */
  value(name: string): string;
  /** Whether the field arrived as a list or an object. */
  isNested(name: string): boolean;
  /** Whether a value arrived as text, and not as a number or a truth value of JSON. */
  isText(name: string): boolean;
  /** The positions of a list that arrived as `name[0][…]`, `name[1][…]`. */
  positions(name: string): readonly string[];
  /** Every name and every value, to look for what must not be sent. */
  texts(): Iterable<[name: string, value: string]>;
  /** What was wrong with the body itself. */
  problems: readonly Problem[];
}

export interface AccountFields {
  fields: readonly Field[];
  problems: readonly Problem[];
}

/** What the checks of fields look at: the request, the account, and where we are. */
export const contextOf = ({ callbackReach }: Gateway, { settings }: Account, body: RequestBody): FieldContext => ({
  value: body.value,
  positions: body.positions,
  setting: settingsReader(settings),
  ...callbackReach,
});

export interface MerchantRequest {
  operation: ApiOperation | undefined;
  body: RequestBody;
  keyField: 'client_key' | 'merchant_key';
  /** Where the request came from, behind trusted proxies. */
  address: string;
  /** Called with the account as soon as its key is known. */
  onAccount: (account: Account) => void;
  /** Fields and problems that depend on the account, such as those of a brand. */
  accountFields?: ((account: Account) => AccountFields) | undefined;
}

/** Lets a request through to its account, or refuses it. */
export async function admit(gateway: Gateway, request: MerchantRequest): Promise<Account> {
  const operation = knownOperation(request);
  readableBody(request);
  const account = await knownKey(gateway, request);
  request.onAccount(account);
  allowedAddress(account, request);
  wellFormedFields(gateway, account, operation, request);
  rightHash(account, operation, request);
  return account;
}

function knownOperation({ operation }: MerchantRequest): ApiOperation {
  if (!operation) throw new Refusal('unknownRoute');
  return operation;
}

function readableBody({ body }: MerchantRequest): void {
  if (body.problems.length > 0) throw new Refusal('invalidData', body.problems);
}

async function knownKey(gateway: Gateway, { body, keyField }: MerchantRequest): Promise<Account> {
  const key = body.value(keyField);
  const environment = environmentOfKey(key);
  if (environment !== undefined && environment !== gateway.environment) throw new Refusal('wrongEnvironment');
  const kind = keyField === 'client_key' ? 'clientKey' : 'merchantKey';
  const account = environment && (await findAccountByKey(gateway, kind, key));
  if (!account) {
    const sentence = body.isNested(keyField) ? SENTENCES.notSingle : key === '' ? SENTENCES.blank : SENTENCES.invalid;
    throw invalidField(keyField, sentence);
  }
  return account;
}

function allowedAddress(account: Account, { address }: MerchantRequest): void {
  if (!account.isAddressAllowed(address)) throw new Refusal('addressNotAllowed');
}

function wellFormedFields(gateway: Gateway, account: Account, operation: ApiOperation, request: MerchantRequest): void {
  const { body } = request;
  const context = contextOf(gateway, account, body);
  const problems = [
    ...revealedPasswords(account, body),
    ...revealedCards(body),
    ...nestedScalars(operation.fields, body),
  ];
  checkFields(operation.fields, context, problems);
  const more = request.accountFields?.(account);
  if (more) {
    problems.push(...more.problems, ...nestedScalars(more.fields, body));
    checkFields(more.fields, context, problems);
  }
  if (problems.length === 0) return;
  const isBadUuid = problems.some(({ sentence }) => sentence === SENTENCES.notUuid);
  throw new Refusal(isBadUuid ? 'notUuid' : 'invalidData', firstOfEach(problems));
}

/** Where two rows speak of the same field, the first thing that is wrong with it is enough. */
const firstOfEach = (problems: readonly Problem[]): Problem[] =>
  [...new Map(problems.toReversed().map((problem) => [problem.field, problem])).values()].toReversed();

/** A password belongs into the hash only; one that is sent has to be stopped before it spreads. */
function revealedPasswords(account: Account, body: RequestBody): Problem[] {
  const problems: Problem[] = [];
  for (const password of account.passwords()) {
    const isIn = (text: string): boolean => text.length >= password.length && text.toLowerCase().includes(password);
    for (const [name, value] of body.texts()) {
      const isInName = isIn(name);
      if (!isInName && !isIn(value)) continue;
      problems.push({
        field: isInName ? 'body' : printableName(name),
        sentence: 'This value contains the password of the account, which should never be sent.',
      });
    }
  }
  return problems;
}

/** A card number in a text for people would be kept in the open; the number of the order may be repeated there. */
function revealedCards(body: RequestBody): Problem[] {
  const problems: Problem[] = [];
  for (const [name, value] of body.texts()) {
    const number = cardNumberAt(name, value);
    if (number === undefined) continue;
    if ([body.value('order_id'), body.value('order.number')].some((orderId) => orderId.includes(number))) continue;
    problems.push({
      field: cardNumberIn(name) === undefined ? printableName(name) : 'body',
      sentence: 'This value looks like a card number, which should never be sent here.',
    });
  }
  return problems;
}

function nestedScalars(fields: readonly Field[], body: RequestBody): Problem[] {
  const problems: Problem[] = [];
  for (const { name, alias, items, isLoose } of fields) {
    if (items) continue;
    if (body.isNested(name)) problems.push({ field: name, sentence: SENTENCES.notSingle });
    else if (!isLoose && !body.isText(name) && body.value(name) !== '') {
      problems.push({ field: name, sentence: SENTENCES.notText });
    }
    if (alias !== undefined && body.isNested(alias)) problems.push({ field: alias, sentence: SENTENCES.notSingle });
  }
  return problems;
}

function rightHash(account: Account, operation: ApiOperation, { body }: MerchantRequest): void {
  const values = operation.signs.map(body.value);
  if (isWireHash(body.value('hash'), values, account.passwords())) return;
  throw new Refusal('wrongHash', [{ field: 'hash', sentence: 'Hash is not valid.' }]);
}
