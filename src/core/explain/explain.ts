/** The hash debugger: what the gateway signs for a request, and which mistake explains the hash that was sent. */
import { hash } from 'node:crypto';
import { maskCardNumbers } from '../../lib/cards/search.ts';
import {
  asciiUpper,
  DIGEST_NAMES,
  type HashDigest,
  isReversedHash,
  isWireHash,
  reversedHash,
} from '../../lib/crypto/hash.ts';
import { printableName } from '../../lib/text/form.ts';
import { type Problem, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { formulaOf, type HashRecipe, PASSWORD, REVERSED_TEXTS } from '../../rules/hash-recipes.ts';
import { type ApiOperation, signedValues } from '../../rules/operations.ts';
import { environmentOfKey, findAccount } from '../accounts/accounts.ts';
import type { Account, Gateway } from '../context.ts';
import { sees } from '../operators/principal.ts';
import { hasOwnFacts, partsWith, type ReversedReading, reversedReadings } from '../requests/reversed-texts.ts';
import { CARD_SECRETS } from '../requests/s2s-body.ts';
import { readClaim } from './claim.ts';
import { canonicalRecipe, sha1, textReader, type Variation } from './recipe.ts';
import { otherRecipe, reversedRecipes, reversedVariations, valueIn } from './reversed.ts';
import { type AcceptedRecipe, findVariations } from './search.ts';
import { previousPassword, SIMPLE_UPPER_CASING, UNICODE_UPPER_CASING, variationsFor } from './variations.ts';

/** One operation that a request may be, with the reader of its fields. */
export interface Candidate {
  action: string;
  operation: ApiOperation;
  value: (name: string) => string;
  /** Whether the field arrived as a list or an object. */
  isNested: (name: string) => boolean;
  /** Whether the field arrived as a string. */
  isText: (name: string) => boolean;
  /** What a hash covers of a card in the request. */
  cardText?: string | undefined;
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
  /** The hash recipe and the digest of the account for this request. */
  recipe: HashRecipe;
  digest: HashDigest;
  /** The digest of the signed text: an MD5, or a SHA-256 for accounts that use it. */
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
  const { 'dialect.digest': digest } = account.settings;
  const values = signedValues(operation, value);
  const readings = await readingsOf(gateway, account, request, chosen);
  const matches =
    isSpecified(account, chosen) || (usesReversed(account, request) && isReversed(account, chosen, readings));
  const ofHash = await hashFindings(account, request, chosen, readings, showsDigests);
  const findings = [
    ...ofHash,
    ...(ofHash.some(({ mistake }) => mistake === 'unknown') ? recipeFindings(account, request, readings) : []),
    ...requestFindings(gateway, account, request, chosen),
  ];

  const mask = maskerFor(account);
  const [reading] = readings;
  if (usesReversed(account, request) && reading) {
    const shown = signedPartsOf(reading, mask);
    const hash = reversedHash(partsWith(reading, account.passwords()[0] as string), digest);
    return {
      mid: account.mid,
      protocol: request.protocol,
      action,
      alternatives: [],
      fields: shown.fields,
      signedText: shown.text,
      recipe: 'reversed_md5',
      digest,
      md5: showsDigests ? hash : null,
      sha1: null,
      matches,
      mistakes: [...new Set(findings.map(({ mistake }) => mistake))],
      hints: [...new Set(findings.map(({ sentence }) => sentence))],
    };
  }
  const fields = operation.signs.map((name) => {
    const text = mask(value(name));
    return { name, value: isOrderNumber(name) ? text : maskCardNumbers(text) };
  });
  const text = asciiUpper(values.join('') + (account.passwords()[0] as string));
  const md5 = hash(digest, text, 'hex');
  // Without signed values, the MD5 is that of the password alone.
  const isPasswordAlone = values.every((each) => each === '');
  return {
    mid: account.mid,
    protocol: request.protocol,
    action,
    alternatives: alternativesTo(chosen, request),
    fields,
    signedText: mask(asciiUpper(fields.map((field) => field.value).join(''))) + MASK,
    recipe: 'specified',
    digest,
    md5: showsDigests && !isPasswordAlone ? md5 : null,
    sha1: showsDigests ? sha1(md5).toString('hex') : null,
    matches,
    mistakes: [...new Set(findings.map(({ mistake }) => mistake))],
    hints: [...new Set(findings.map(({ sentence }) => sentence))],
  };
}

/**
 * What the answer to a request with a wrong hash tells the merchant: what is probably wrong with it, and the text of the
 * recipe `reversed_md5` if the account uses it and the text has nothing of a stored payment.
 */
export async function hintsFor(
  gateway: Gateway,
  account: Account,
  request: RequestToExplain,
): Promise<{ hints: string[]; signedText: string | undefined }> {
  const [candidate] = request.candidates;
  const readings = await readingsOf(gateway, account, request, candidate);
  const findings = await hashFindings(account, request, candidate, readings, false);
  const reading = usesReversed(account, request) && hasOwnFacts(candidate.action) ? readings[0] : undefined;
  return {
    hints: [...new Set(findings.map(({ sentence }) => sentence))],
    signedText: reading && signedPartsOf(reading, maskerFor(account)).text,
  };
}

/** The first operation whose hash is valid; otherwise the most likely one. */
const chooseCandidate = (account: Account, { candidates }: RequestToExplain): Candidate =>
  candidates.find((candidate) => isSpecified(account, candidate)) ?? candidates[0];

const isSpecified = (account: Account, { operation, value }: Candidate): boolean =>
  isWireHash(value('hash'), signedValues(operation, value), account.passwords(), account.settings['dialect.digest']);

const usesReversed = ({ settings }: Account, { protocol }: RequestToExplain): boolean =>
  protocol === 's2s' && settings['dialect.hash'] === 'reversed_md5';

/** What a reversed hash of the request would cover. */
const readingsOf = async (
  gateway: Gateway,
  account: Account,
  { protocol }: RequestToExplain,
  { action, value, cardText }: Candidate,
): Promise<ReversedReading[]> =>
  protocol === 's2s' ? reversedReadings(gateway, account, action, { value, cardText }) : [];

const isReversed = (account: Account, { value }: Candidate, readings: readonly ReversedReading[]): boolean =>
  isReversedHash(
    value('hash'),
    readings.flatMap((reading) => account.passwords().map((password) => partsWith(reading, password))),
    account.settings['dialect.digest'],
  );

/** The text of a reading with the password masked, and its values. */
function signedPartsOf(
  reading: ReversedReading,
  mask: (text: string) => string,
): Pick<Explanation, 'fields'> & { text: string } {
  const names = REVERSED_TEXTS[reading.text].flatMap(({ of }) => [...of]).filter((name) => name !== PASSWORD);
  const shown = { ...reading, value: (name: string) => mask(reading.value(name)) };
  const text = partsWith(shown, MASK).map(({ text: part, isReversed: isTurned }) =>
    isTurned ? Array.from(part).reverse().join('') : part,
  );
  return {
    fields: names.map((name) => ({ name, value: shown.value(name) })),
    text: maskCardNumbers(asciiUpper(text.join(''))),
  };
}

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
  readings: readonly ReversedReading[],
  showsDigests: boolean,
): Promise<Finding[]> {
  const { action, operation, value } = chosen;
  const { 'dialect.digest': digest } = account.settings;
  const claim = readClaim(value('hash'), usesReversed(account, request) ? digest : undefined);
  if (!claim.digest) return [...claim.mistakes];
  const names = [...request.texts()].flatMap(([name, text]) =>
    text !== '' && printableName(name) === name && value(name) !== '' ? [name] : [],
  );
  const steps = variationsFor(account, { action, operation, value, names });
  const otherFormats = claim.mistakes.filter(({ mistake }) => mistake !== 'hash_length');
  const ofRecipe =
    usesReversed(account, request) &&
    (await findVariations(
      claim.digest,
      reversedRecipes(account, readings),
      reversedVariations(account, readings, value),
      valueIn(readings),
    ));
  if (ofRecipe) return [...otherFormats, ...ofRecipe];
  const found =
    (await findVariations(claim.digest, acceptedRecipes(account, chosen), steps, value)) ??
    (await findOtherRecipe(claim.digest, account, readings));
  if (found) {
    // A mistake in the recipe explains the length of the hash.
    return [...(found.length > 0 ? otherFormats : claim.mistakes), ...found];
  }
  return [...claim.mistakes, ...generalFindings(account, request, showsDigests)];
}

/** Whether the hash is right by the recipe of other gateways, which this account does not use. */
async function findOtherRecipe(
  claimed: Buffer,
  account: Account,
  readings: readonly ReversedReading[],
): Promise<readonly Variation[] | undefined> {
  for (const digest of ['md5', 'sha256'] as const) {
    const recipes = reversedRecipes(account, readings, digest);
    if (await findVariations(claimed, recipes, [], valueIn(readings))) return [otherRecipe(account, digest)];
  }
  return undefined;
}

function acceptedRecipes(account: Account, { operation, value }: Candidate): AcceptedRecipe[] {
  const textOf = textReader(value);
  return account.passwords().flatMap((password, index) => {
    const recipe = canonicalRecipe(operation.signs, password, account.settings['dialect.digest']);
    const notes = index === 0 ? [] : [previousPassword(password)];
    const others = [UNICODE_UPPER_CASING, SIMPLE_UPPER_CASING]
      .map((casing) => ({ recipe: { ...recipe, ...casing.changes }, notes: [...notes, casing] }))
      .filter((other) => textOf(other.recipe) !== textOf(recipe));
    return [{ recipe, notes }, ...others];
  });
}

/** What to check when no known mistake explains the hash. */
const generalFindings = (
  { settings }: Account,
  { protocol, candidates }: RequestToExplain,
  showsDigests: boolean,
): Finding[] =>
  [
    `No known mistake explains the hash. Compare the text that you sign with signed_text, byte by byte.${
      showsDigests ? ` If they are equal, compare your ${DIGEST_NAMES[settings['dialect.digest']]} with md5.` : ''
    }`,
    'Check that the password is the one of this account, complete and without white space.',
    'Check that you sign the values that you send, such as the same order number and the same amount.',
    ...(protocol === 'checkout' && candidates.length > 1
      ? ['The operation is inferred from the fields: send path to name it.']
      : []),
  ].map((sentence) => finding('unknown', sentence));

/** What the recipe of the account covers; it says whether there is a payment, so that it is not for unsigned requests. */
function recipeFindings(account: Account, request: RequestToExplain, readings: readonly ReversedReading[]): Finding[] {
  if (!usesReversed(account, request)) return [];
  if (readings.some(({ isErased }) => isErased)) return [finding('erased_payment', ERASED)];
  const formulas = [...new Set(readings.map(({ text }) => formulaOf(text)))];
  return formulas.length === 0
    ? [finding('unknown_payment', NO_TEXT)]
    : [finding('unknown', `This account signs ${formulas.join(' or ')}, or as the gateway specifies it.`)];
}

const ERASED =
  "The payer's data of this payment was erased, and with it the e-mail address that reversed_md5 signs: sign requests " +
  'about it as the gateway specifies it, which this account may always do.';

const NO_TEXT =
  'The account has no payment with this id, so that a hash by reversed_md5 cannot be checked: send the id of a payment, or ' +
  'sign as the gateway specifies it.';

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
    ...passwordFindings(account, request, value),
    ...operation.signs.flatMap((name) => {
      if (isNested(name)) return finding('wrong_type', `${name}: ${SENTENCES.notSingle}`);
      const isNumber = account.settings['dialect.number_amounts'] && name.endsWith('amount');
      if (value(name) === '' || isText(name) || isNumber) return [];
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
function passwordFindings(account: Account, { texts }: RequestToExplain, value: (name: string) => string): Finding[] {
  const passwords = account.passwords();
  const contains = (text: string): boolean => passwords.some((password) => text.toLowerCase().includes(password));
  // The card is not among the texts.
  const ofCard = CARD_SECRETS.map((name): [string, string] => [name, value(name)]);
  for (const [name, text] of [...texts(), ...ofCard]) {
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
