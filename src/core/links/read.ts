/** Reads the members of a new link, of the admin API, the panel or a merchant's program, and names what is wrong. */
import { hasCardNumber } from '../../lib/cards/search.ts';
import { minorUnits } from '../../lib/money/money.ts';
import { isAbsent, isText } from '../../lib/text/json.ts';
import { isPlainText } from '../../lib/text/plain-text.ts';
import { dateTime } from '../../lib/time/date-time.ts';
import { brandLabel, CARD } from '../../rules/brands.ts';
import { CURRENCIES, exponentOf } from '../../rules/currencies.ts';
import type { Problem } from '../../rules/errors.ts';
import {
  amountSpelling,
  currency as currencyKind,
  expectedAmount,
  flag,
  hasExtraZeros,
  isYes,
  SENTENCES,
  webAddress,
} from '../../rules/fields.ts';
import { ASKABLE, LINK_LIMITS, type LinkMember } from '../../rules/links.ts';
import { settingsReader } from '../../rules/settings.ts';
import type { Link } from '../../store/links/links.ts';
import type { Account, Gateway } from '../context.ts';

export type LinkTerms = Omit<Link, 'mid' | 'linkId' | 'code' | 'isActive' | 'createdBy' | 'createdAt'>;

/** A text of one line that looks the same to everybody; the problem names the field otherwise. */
export function plainTextProblem(field: string, value: unknown, least: number, most: number): Problem | undefined {
  const expected = `A text of ${least} to ${most} characters without control characters, line breaks and marks of direction.`;
  if (isAbsent(value)) {
    return least > 0 ? { field, sentence: SENTENCES.blank, expected } : undefined;
  }
  if (!isText(value, most) || value.trim() === '' || !isPlainText(value)) {
    return { field, sentence: SENTENCES.invalid, expected };
  }
  return hasCardNumber(value) ? { field, sentence: SENTENCES.cardNumber } : undefined;
}

/** The text of a member, or an empty one: its problem is found apart. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/** The amount of a request in minor units; its problem is added to the list. */
export function readUnits(
  field: string,
  value: unknown,
  currency: string,
  { settings }: Account,
  problems: Problem[],
): bigint | null {
  const text = typeof value === 'string' ? value : '';
  const units = minorUnits(text, exponentOf(currency), amountSpelling(settingsReader(settings)));
  if (typeof units === 'bigint' && !hasExtraZeros(text)) return units;
  const sentence = isAbsent(value) ? SENTENCES.blank : units === 'zero' ? SENTENCES.notPositive : SENTENCES.invalid;
  problems.push({ field, sentence, expected: expectedAmount(currency) });
  return null;
}

function readAmounts(
  body: Partial<Record<LinkMember, unknown>>,
  currency: string,
  account: Account,
  problems: Problem[],
): Pick<Link, 'amount' | 'minAmount' | 'maxAmount'> {
  const isOpen = !isAbsent(body.min_amount) || !isAbsent(body.max_amount);
  if (!isOpen) {
    const amount = readUnits('amount', body.amount, currency, account, problems);
    return { amount, minAmount: null, maxAmount: null };
  }
  if (!isAbsent(body.amount)) {
    problems.push({ field: 'amount', sentence: 'This value should not be sent with min_amount and max_amount.' });
  }
  const minAmount = readUnits('min_amount', body.min_amount, currency, account, problems);
  const maxAmount = readUnits('max_amount', body.max_amount, currency, account, problems);
  if (minAmount !== null && maxAmount !== null && maxAmount < minAmount) {
    problems.push({ field: 'max_amount', sentence: 'This value should be min_amount or more.' });
  }
  return { amount: null, minAmount, maxAmount };
}

/** Absent means one use, null any number; forms send a text. */
function readUses(value: unknown, problems: Problem[]): number | null {
  if (value === undefined) return 1;
  if (value === null) return null;
  const text = typeof value === 'number' ? String(value) : value;
  const uses = typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (uses >= 1 && uses <= LINK_LIMITS.uses) return uses;
  const expected = `A whole number from 1 to ${LINK_LIMITS.uses}, or null for any number.`;
  problems.push({ field: 'uses', sentence: SENTENCES.invalid, expected });
  return null;
}

function readValidUntil(value: unknown, now: number, problems: Problem[]): number | null {
  if (isAbsent(value)) return null;
  const at = typeof value === 'string' ? dateTime(value) : undefined;
  if (at !== undefined && at > now) return at;
  problems.push({
    field: 'valid_until',
    sentence: 'This value should be a date and time in the future.',
    expected: 'A date, or a date and a time in UTC, such as 2026-11-15 or 2026-11-15T02:24:01Z.',
  });
  return null;
}

/** A list of texts; absent means empty. */
function readList(
  field: string,
  value: unknown,
  isKnown: (text: string) => boolean,
  expected: string,
  problems: Problem[],
): string[] {
  if (isAbsent(value)) return [];
  const isList = Array.isArray(value) && value.length <= LINK_LIMITS.methods;
  if (isList && value.every((one) => typeof one === 'string' && isKnown(one))) return [...new Set(value as string[])];
  problems.push({ field, sentence: SENTENCES.notTexts, expected });
  return [];
}

/** The problem of a link none of whose methods is known, or can pay it. */
export const NO_METHOD: Problem = {
  field: 'methods',
  sentence: SENTENCES.noMethod,
  expected: 'A list with some of the methods that the account offers for this currency and amount.',
};

/** The methods that are known; the others are left out, as in a session. A list without any is refused. */
function readMethods(value: unknown, isKnown: (text: string) => boolean, problems: Problem[]): string[] {
  const sent = readList('methods', value, () => true, 'A list of methods, such as ["card"].', problems);
  const methods = sent.filter(isKnown);
  if (sent.length > 0 && methods.length === 0) problems.push(NO_METHOD);
  return methods;
}

const LOCALE = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/;
const PREFIX = /^[\w.-]+$/;

export function readLink(
  gateway: Pick<Gateway, 'environment' | 'clock'>,
  account: Account,
  body: Partial<Record<LinkMember, unknown>>,
): { terms: LinkTerms } | { problems: Problem[] } {
  const problems: Problem[] = [];
  const plain = (field: LinkMember, least: number, most: number): string => {
    const problem = plainTextProblem(field, body[field], least, most);
    if (problem) problems.push(problem);
    return textOf(body[field]);
  };
  const matching = (field: LinkMember, isValid: (text: string) => boolean, expected: string): string => {
    const text = textOf(body[field]);
    if (!isAbsent(body[field]) && !isValid(text)) problems.push({ field, sentence: SENTENCES.invalid, expected });
    return text;
  };
  const title = plain('title', 1, LINK_LIMITS.title);
  const currency = textOf(body.currency);
  const isCurrency = CURRENCIES[currency] !== undefined;
  if (!isCurrency) {
    const sentence = isAbsent(body.currency) ? SENTENCES.blank : SENTENCES.invalid;
    problems.push({ field: 'currency', sentence, expected: `A ${currencyKind.expects}, such as EUR.` });
  }
  const context = {
    value: () => '',
    positions: () => [],
    setting: () => undefined,
    allowsHttp: gateway.environment === 'sandbox',
  };
  const isMethod = (name: string): boolean =>
    name === CARD || brandLabel(name, account.settings, ({ isPayout }) => !isPayout) !== undefined;
  const authorise = typeof body.authorise === 'object' ? '' : String(body.authorise);
  const terms: LinkTerms = {
    title,
    currency,
    ...readAmounts(body, currency, account, problems),
    description: plain('description', 0, LINK_LIMITS.description),
    uses: readUses(body.uses, problems),
    validUntil: readValidUntil(body.valid_until, gateway.clock.now(account.mid), problems),
    methods: readMethods(body.methods, isMethod, problems),
    locale: matching('locale', (text) => LOCALE.test(text), 'A language, such as en or pt-BR.'),
    successUrl: matching(
      'success_url',
      (text) => webAddress.check(text, context) === undefined,
      `An ${webAddress.expects}, such as https://shop.example/thanks.`,
    ),
    ask: readList(
      'ask',
      body.ask,
      (name) => ASKABLE.some((one) => one === name),
      `A list of ${ASKABLE.join(', ')}.`,
      problems,
    ),
    isAuthorisation: isYes(authorise),
    orderPrefix: matching(
      'order_prefix',
      (text) => text.length <= LINK_LIMITS.orderPrefix && PREFIX.test(text),
      `Up to ${LINK_LIMITS.orderPrefix} letters, digits, points, hyphens and underscores.`,
    ),
  };
  if (!isAbsent(body.authorise) && flag.check(authorise, context) !== undefined) {
    problems.push({ field: 'authorise', sentence: 'This value should be true or false.' });
  }
  return problems.length > 0 ? { problems } : { terms };
}
