/** The hash debugger: what the gateway signs for a request, and which mistake explains the hash that was sent. */
import { maskCardNumbers } from '../../lib/card.ts';
import { printableName } from '../../lib/form.ts';
import { asciiUpper, isWireHash } from '../../lib/hash.ts';
import { type Problem, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { type ApiOperation, signedValues } from '../../rules/operations.ts';
import { environmentOfKey, findAccount } from '../accounts.ts';
import type { Account, Gateway } from '../context.ts';
import { sees } from '../principal.ts';
import { readClaim } from './claim.ts';
import { canonicalRecipe, md5Hex, sha1, textReader } from './recipe.ts';
import { type AcceptedRecipe, findVariations } from './search.ts';
import { previousPassword, UNICODE_UPPER_CASING, variationsFor } from './variations.ts';

/** One operation that a request may be, with the reader of its fields. */
export interface Candidate {
  action: string;
  operation: ApiOperation;
  value: (name: string) => string;
  /** Whether the field arrived as a list or an object. */
  isNested: (name: string) => boolean;
  /** Whether the field arrived as a string. */
  isText: (name: string) => boolean;
}

export interface RequestToExplain {
  protocol: 's2s' | 'checkout';
  /** The most likely operation first: without its path, a Checkout request may be one of several. */
  candidates: readonly [Candidate, ...Candidate[]];
  /** Every name and value of the request. */
  texts: () => Iterable<[name: string, value: string]>;
  /** Problems of the body itself, such as invalid encoding. */
  problems: readonly Problem[];
}

export interface Explanation {
  mid: string;
  protocol: 's2s' | 'checkout';
  action: string;
  /** Other operations that the request may be, and that sign the same text. */
  alternatives: readonly string[];
  fields: readonly { name: string; value: string }[];
  signedText: string;
  md5: string | null;
  sha1: string | null;
  matches: boolean;
  mistakes: readonly string[];
  hints: readonly string[];
}

export interface ExplainOptions {
  mid: string;
  /** The accounts that the caller may see; null means all. */
  mids: readonly string[] | null;
  /** Whether the caller gets the digests. The SHA-1 is a valid hash, with which the request can be sent. */
  showsDigests: boolean;
}

const MASK = '***';

/** `read` parses the request; it is called when the account is known to exist. */
export async function explain(
  gateway: Gateway,
  { mid, mids, showsDigests }: ExplainOptions,
  read: () => RequestToExplain,
): Promise<Explanation> {
  const account = sees({ mids }, mid) ? await findAccount(gateway, mid) : undefined;
  if (!account) throw new Refusal('noSuchAccount');
  const request = read();
  const chosen = chooseCandidate(account, request);
  const { action, operation, value } = chosen;
  const values = signedValues(operation, value);
  const matches = isWireHash(value('hash'), values, account.passwords());
  const findings = [
    ...(await hashFindings(account, request, chosen, showsDigests)),
    ...requestFindings(gateway, account, request, chosen),
  ];

  const mask = maskerFor(account);
  const fields = operation.signs.map((name) => {
    const text = mask(value(name));
    return { name, value: isOrderNumber(name) ? text : maskCardNumbers(text) };
  });
  const text = asciiUpper(values.join('') + (account.passwords()[0] as string));
  const md5 = md5Hex(text);
  // Without signed values, the MD5 is that of the password alone.
  const isPasswordAlone = values.every((each) => each === '');
  return {
    mid: account.mid,
    protocol: request.protocol,
    action,
    alternatives: alternativesTo(chosen, request),
    fields,
    signedText: mask(asciiUpper(fields.map((field) => field.value).join(''))) + MASK,
    md5: showsDigests && !isPasswordAlone ? md5 : null,
    sha1: showsDigests ? sha1(md5).toString('hex') : null,
    matches,
    mistakes: [...new Set(findings.map(({ mistake }) => mistake))],
    hints: [...new Set(findings.map(({ sentence }) => sentence))],
  };
}

/** What the answer to a request with a wrong hash tells the merchant: what is probably wrong with it. */
export async function hintsFor(account: Account, request: RequestToExplain): Promise<string[]> {
  const findings = await hashFindings(account, request, request.candidates[0], false);
  return [...new Set(findings.map(({ sentence }) => sentence))];
}

/** The first operation whose hash is valid; otherwise the most likely one. */
const chooseCandidate = (account: Account, { candidates }: RequestToExplain): Candidate =>
  candidates.find(({ operation, value }) =>
    isWireHash(value('hash'), signedValues(operation, value), account.passwords()),
  ) ?? candidates[0];

const alternativesTo = ({ action, operation, value }: Candidate, { candidates }: RequestToExplain): string[] => {
  const text = signedValues(operation, value).join('');
  return candidates
    .filter((other) => other.action !== action && signedValues(other.operation, other.value).join('') === text)
    .map((other) => other.action);
};

const isOrderNumber = (name: string): boolean => name === 'order_id' || name === 'order.number';

/** Masks every secret of the account in a text, in any case. */
export function maskerFor(account: Account): (text: string) => string {
  const secrets = [...account.passwords(), ...account.callbackSecrets(), account.expiredPassword() ?? ''];
  const patterns = secrets.filter((secret) => secret !== '').map((secret) => secret.replace(/\W/g, '\\$&'));
  const pattern = new RegExp(patterns.join('|'), 'gi');
  return (text) => text.replace(pattern, MASK);
}

interface Finding {
  mistake: string;
  sentence: string;
}

const finding = (mistake: string, sentence: string): Finding => ({ mistake, sentence });

/** What is wrong with the hash. */
async function hashFindings(
  account: Account,
  request: RequestToExplain,
  chosen: Candidate,
  showsDigests: boolean,
): Promise<Finding[]> {
  const { action, operation, value } = chosen;
  const claim = readClaim(value('hash'));
  if (!claim.digest) return [...claim.mistakes];
  const names = [...request.texts()].flatMap(([name, text]) =>
    text !== '' && printableName(name) === name && value(name) !== '' ? [name] : [],
  );
  const steps = variationsFor(account, { action, operation, value, names });
  const found = await findVariations(claim.digest, acceptedRecipes(account, chosen), steps, value);
  if (found) {
    // A mistake in the recipe explains the length of the hash.
    const formats =
      found.length > 0 ? claim.mistakes.filter(({ mistake }) => mistake !== 'hash_length') : claim.mistakes;
    return [...formats, ...found];
  }
  return [...claim.mistakes, ...generalFindings(request, showsDigests)];
}

function acceptedRecipes(account: Account, { operation, value }: Candidate): AcceptedRecipe[] {
  const textOf = textReader(value);
  return account.passwords().flatMap((password, index) => {
    const recipe = canonicalRecipe(operation.signs, password);
    const notes = index === 0 ? [] : [previousPassword(password)];
    const unicode = { ...recipe, ...UNICODE_UPPER_CASING.changes };
    if (textOf(unicode) === textOf(recipe)) return [{ recipe, notes }];
    return [
      { recipe, notes },
      { recipe: unicode, notes: [...notes, UNICODE_UPPER_CASING] },
    ];
  });
}

/** What to check when no known mistake explains the hash. */
const generalFindings = ({ protocol, candidates }: RequestToExplain, showsDigests: boolean): Finding[] =>
  [
    `No known mistake explains the hash. Compare the text that you sign with signed_text, byte by byte.${
      showsDigests ? ' If they are equal, compare your MD5 with md5.' : ''
    }`,
    'Check that the password is the one of this account, complete and without white space.',
    'Check that you sign the values that you send, such as the same order number and the same amount.',
    ...(protocol === 'checkout' && candidates.length > 1
      ? ['The operation is inferred from the fields: send path to name it.']
      : []),
  ].map((sentence) => finding('unknown', sentence));

/** What is wrong with the request besides its hash, as far as the gateway refuses it before it checks the hash. */
function requestFindings(
  gateway: Gateway,
  account: Account,
  request: RequestToExplain,
  { operation, value, isNested, isText }: Candidate,
): Finding[] {
  return [
    ...keyFindings(gateway, account, request, value),
    ...request.problems.map(({ field, sentence }) => finding('unreadable_body', `${field}: ${sentence}`)),
    ...passwordFindings(account, request),
    ...operation.signs.flatMap((name) => {
      if (isNested(name)) return finding('wrong_type', `${name}: ${SENTENCES.notSingle}`);
      if (value(name) === '' || isText(name)) return [];
      return finding('wrong_type', `${name}: ${SENTENCES.notText} The gateway refuses it before it checks the hash.`);
    }),
  ];
}

function keyFindings(
  gateway: Gateway,
  account: Account,
  { protocol }: RequestToExplain,
  value: (name: string) => string,
): Finding[] {
  const [field, own, otherField, other] =
    protocol === 's2s'
      ? ['client_key', account.clientKey, 'merchant_key', account.merchantKey]
      : ['merchant_key', account.merchantKey, 'client_key', account.clientKey];
  const key = value(field);
  if (key === own) return [];
  if (key === '') return [finding('key_missing', `The request has no ${field}: send the one of the account.`)];
  if (key === other) {
    return [finding('wrong_key', `The value of ${field} is the ${otherField} of the account: send the ${field}.`)];
  }
  const environment = environmentOfKey(key);
  if (environment !== undefined && environment !== gateway.environment) {
    return [
      finding(
        'wrong_environment',
        `The ${field} is for ${environment}, and this gateway is for ${gateway.environment}.`,
      ),
    ];
  }
  const sentence =
    `The ${field} is not the one of this account. The gateway finds the account by this key and checks the hash with ` +
    `that account's password: send this account's ${field}, or explain the request for the account of the key.`;
  return [finding('key_of_another_account', sentence)];
}

/** Names the fields that contain a password of the account; the gateway refuses such a request. */
function passwordFindings(account: Account, { texts }: RequestToExplain): Finding[] {
  const passwords = account.passwords();
  const contains = (text: string): boolean => passwords.some((password) => text.toLowerCase().includes(password));
  for (const [name, text] of texts()) {
    if (!contains(name) && !contains(text)) continue;
    const field = contains(name) ? 'body' : printableName(name);
    return [
      finding(
        'password_sent',
        `The request contains the password (${field}): never send it. It is an input of the hash only.`,
      ),
    ];
  }
  return [];
}
