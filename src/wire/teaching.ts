/** What the refusals of merchant requests tell a developer: what is expected, and the mistake that was probably made. */
import { findAccountByKey, KEY_PREFIXES } from '../core/accounts/accounts.ts';
import { maskedSignedText, maskFor } from '../core/api-calls/mask.ts';
import type { Account, Gateway } from '../core/context.ts';
import { hintsFor } from '../core/explain/explain.ts';
import { didYouMean, misspellings } from '../core/requests/misspelt.ts';
import { hasOwnFacts } from '../core/requests/reversed-texts.ts';
import { DIGEST_DIGITS, DIGEST_NAMES } from '../lib/crypto/hash.ts';
import { amountText } from '../lib/money/money.ts';
import { invalidField, type Problem, Refusal } from '../rules/errors.ts';
import { type Field, type FieldContext, SENTENCES } from '../rules/fields.ts';
import { formulasOf } from '../rules/hash-recipes.ts';
import { type ApiOperation, signedValues } from '../rules/operations.ts';
import { expectedOf, fieldNamed } from './expected.ts';
import type { AccountFields, MerchantRequest } from './merchant-request.ts';

/** The two keys of an account, and the protocol of each. */
export const KEYS = {
  client_key: { kind: 'clientKey', protocol: 's2s', used: 'requests to /post', other: 'merchant_key' },
  merchant_key: { kind: 'merchantKey', protocol: 'checkout', used: 'requests to /api/v1/', other: 'client_key' },
} as const;

const expectedKey = ({ environment }: Gateway, field: keyof typeof KEYS): string =>
  `The ${field} of your account, such as ${KEY_PREFIXES[environment]}0f3a…, for ${KEYS[field].used}.`;

/** The environment is read from the prefix of the key, so nothing is said about whether the key exists. */
export function otherEnvironment(gateway: Gateway, field: keyof typeof KEYS): Problem {
  const [here, there] = gateway.environment === 'sandbox' ? ['the sandbox', 'live'] : ['production', 'test'];
  return {
    field,
    sentence: 'Use merchant test key.',
    expected: expectedKey(gateway, field),
    hint: `This is a ${there} key, and this gateway is ${here}: each has its own keys and password.`,
  };
}

/** A key that exists as the other key of an account is named so; any other key is unknown. */
export async function unknownKey(
  gateway: Gateway,
  operation: ApiOperation,
  { body, keyField }: MerchantRequest,
): Promise<Refusal> {
  const key = body.value(keyField);
  const { other } = KEYS[keyField];
  const expected = expectedKey(gateway, keyField);
  if (body.isNested(keyField)) return invalidField(keyField, SENTENCES.notSingle, { expected });
  if (key === '') {
    const meant = misspellings(body, namesOf(operation, keyField)).find((found) => found.meant === keyField);
    return invalidField(keyField, SENTENCES.blank, { expected, hint: meant && didYouMean(meant) });
  }
  const isSwapped =
    key.startsWith(KEY_PREFIXES[gateway.environment]) && (await findAccountByKey(gateway, KEYS[other].kind, key));
  const hint = isSwapped
    ? `This is the ${other} of an account, which is for ${KEYS[other].used}: send the ${keyField} of the account.`
    : undefined;
  return invalidField(keyField, SENTENCES.invalid, { expected, hint });
}

const namesOf = (operation: ApiOperation, keyField: keyof typeof KEYS, extra?: AccountFields) => ({
  operation,
  common: keyField === 'client_key' ? [keyField, 'action'] : [keyField],
  more: extra?.fields,
});

/** Adds what each field accepts and, for a missing field, the name under which it was probably sent. */
export function withExpectations(
  problems: readonly Problem[],
  operation: ApiOperation,
  request: MerchantRequest,
  account: Account,
  context: FieldContext,
  extra: AccountFields | undefined,
): Problem[] {
  const { body, keyField } = request;
  const isBlank = ({ sentence }: Problem): boolean => sentence === SENTENCES.blank;
  const found = problems.some(isBlank) ? misspellings(body, namesOf(operation, keyField, extra)) : [];
  const expectedAt = (row: Field | undefined) => row && expectedOf(row, context, extra?.brand);
  return problems.map((problem) => {
    const { field: name, sentence } = problem;
    // The rule of a brand is stricter than that of the sale.
    const row = fieldNamed(extra?.fields ?? [], name) ?? fieldNamed(operation.fields, name);
    const meant = isBlank(problem) && found.find((each) => each.meant === name || each.meant === row?.alias);
    const hint = meant
      ? didYouMean(meant)
      : sentence === SENTENCES.notText
        ? NOT_TEXT
        : row && wholeAmountHint(row, body.value(name), context);
    return {
      ...problem,
      expected: problem.expected ?? (name === 'hash' ? expectedHash(operation, account, request) : expectedAt(row)),
      hint: problem.hint ?? hint,
      docs: problem.docs ?? row?.docs,
    };
  });
}

const NOT_TEXT = 'The value is a JSON number or boolean: put it in quotes, and sign the same text.';

/** A whole number is an amount in minor units, or one without its fraction digits. */
function wholeAmountHint(row: Field, value: string, context: FieldContext): string | undefined {
  const decimals = row.expectsIn?.(context).example.split('.')[1]?.length;
  if (!row.isAmount || decimals === undefined || !/^[1-9]\d{0,11}$/.test(value)) return undefined;
  const minor = amountText(BigInt(value), decimals);
  return `Amounts are not in minor units: if ${minor} is meant, send ${minor}; otherwise send ${value}.${'0'.repeat(decimals)}.`;
}

/** The hash of the specified recipe; of `reversed_md5` as well for an account that uses it. */
function expectedHash(
  { signs }: ApiOperation,
  { settings }: Account,
  { action, body, keyField }: MerchantRequest,
): string {
  const { 'dialect.hash': recipe, 'dialect.digest': digest } = settings;
  const specified = `40 hex digits: the SHA-1 of the hex ${DIGEST_NAMES[digest]} of ${[...signs, 'the password'].join(' + ')}, in upper case and without separators.`;
  const formulas =
    recipe === 'reversed_md5' && keyField === 'client_key' ? formulasOf(action, body.value('brand') !== '') : [];
  if (formulas.length === 0) return specified;
  return `${DIGEST_DIGITS[digest]} hex digits: the ${DIGEST_NAMES[digest]} of ${formulas.join(', or of ')}. Or ${specified}${hasOwnFacts(action) ? '' : ERASED}`;
}

/** Said of every payment, so that it does not tell which one exists. */
const ERASED = ' A payment whose personal data was erased takes only the latter.';

/** The answer to a request with a wrong hash; in the sandbox with the signed text, and the mistake if a known one explains it. */
export async function wrongHash(
  gateway: Gateway,
  account: Account,
  operation: ApiOperation,
  request: MerchantRequest,
): Promise<Refusal> {
  const { action, body, keyField, limits } = request;
  const expected = expectedHash(operation, account, request);
  const problem: Problem = { field: 'hash', sentence: 'Hash is not valid.', expected };
  if (gateway.environment !== 'sandbox') return new Refusal('wrongHash', [problem]);
  const { value, isNested, isText, texts, problems, cardText } = body;
  const meant = misspellings(body, namesOf(operation, keyField)).filter((found) =>
    operation.signs.includes(found.meant),
  );
  const candidate = { action, operation, value, isNested, isText, cardText };
  const found = limits.mayExplain(account)
    ? await hintsFor(gateway, account, { protocol: KEYS[keyField].protocol, candidates: [candidate], texts, problems })
    : undefined;
  const mask = maskFor(account);
  const signedText = found?.signedText ?? maskedSignedText(signedValues(operation, value), mask);
  const hint = [...meant.map(didYouMean), ...(found?.hints ?? [NOT_EXPLAINED])].map(mask).join(' ');
  return new Refusal('wrongHash', [{ ...problem, hint, signedText }]);
}

const NOT_EXPLAINED =
  'Compare the text that you sign with signed_text. Send fewer wrong hashes, and this entry names the mistake.';
