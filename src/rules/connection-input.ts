/** Reads a connection as an operator sends it: its name, accounts, credentials and settings, each with what is wrong with it. */
import { isUuid } from '../lib/crypto/id.ts';
import { isAbsent, isObject, isText } from '../lib/text/json.ts';
import { BRANDS, CARD } from './brands.ts';
import type { ConnectorEntry, CredentialField } from './connectors.ts';
import type { Problem } from './errors.ts';
import { SENTENCES } from './fields.ts';

export interface ConnectionInput {
  name?: string;
  mids?: string[] | null;
  /** The credentials that were sent, by name. */
  credentials?: Record<string, string>;
  settings?: Record<string, unknown>;
}

export const CONNECTION_NAME_LENGTH = 100;
const CREDENTIAL_LENGTH = 4096;
const MOST_ACCOUNTS = 1000;

/** Reads a new connection, or with `isChange` what a change sends of one. */
export function readConnection(
  entry: ConnectorEntry,
  sent: Record<string, unknown>,
  environment: 'sandbox' | 'production',
  isChange: boolean,
): { input: ConnectionInput; problems: Problem[] } {
  const problems: Problem[] = [];
  const input: ConnectionInput = {};
  const { name, mids, credentials, settings, ...rest } = sent;
  for (const unknown of Object.keys(rest)) problems.push(unknownMember('', unknown));
  if (name !== undefined || !isChange) {
    if (isText(name, CONNECTION_NAME_LENGTH) && name.trim() !== '') input.name = name.trim();
    else
      problems.push({
        field: 'name',
        sentence: `This value should be a text of ${CONNECTION_NAME_LENGTH} characters or less.`,
      });
  }
  if (mids !== undefined) {
    if (mids === null || isAccountList(mids))
      input.mids = mids === null ? null : [...new Set(mids.map((mid) => mid.toLowerCase()))];
    else
      problems.push({ field: 'mids', sentence: `This value should be a list of 1 to ${MOST_ACCOUNTS} account ids.` });
  }
  if (credentials !== undefined || !isChange)
    input.credentials = readCredentials(entry, credentials ?? {}, environment, isChange, problems);
  if (settings !== undefined) input.settings = readSettings(entry, settings, environment, problems);
  return { input, problems };
}

const isAccountList = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= MOST_ACCOUNTS &&
  value.every((mid) => typeof mid === 'string' && isUuid(mid));

const unknownMember = (path: string, name: string): Problem => ({
  field: /^[\w-]{1,64}$/.test(name) ? path + name : path.slice(0, -1) || 'body',
  sentence: 'This value does not exist.',
});

function readCredentials(
  { credentials }: ConnectorEntry,
  sent: unknown,
  environment: 'sandbox' | 'production',
  isChange: boolean,
  problems: Problem[],
): Record<string, string> {
  if (!isObject(sent)) {
    problems.push({ field: 'credentials', sentence: SENTENCES.notAnObject });
    return {};
  }
  const names = credentials.map(({ name }) => name);
  for (const unknown of Object.keys(sent).filter((name) => !names.includes(name)))
    problems.push(unknownMember('credentials.', unknown));
  const read: Record<string, string> = {};
  for (const field of credentials) {
    const value = sent[field.name];
    if (value === undefined && (isChange || field.isOptional)) continue;
    const sentence = credentialProblem(field, value, environment);
    if (sentence === undefined) read[field.name] = value as string;
    else problems.push({ field: `credentials.${field.name}`, sentence });
  }
  return read;
}

function credentialProblem(
  { isAddress, isOptional, test, live, format }: CredentialField,
  value: unknown,
  environment: 'sandbox' | 'production',
): string | undefined {
  if (isOptional && value === '') return undefined;
  if (isAbsent(value)) return SENTENCES.blank;
  if (!isText(value, CREDENTIAL_LENGTH) || /[\r\n]/.test(value)) return SENTENCES.invalid;
  if (isAddress && !isApiAddress(value, environment)) return SENTENCES.notUrl;
  if (format && !format.test(value)) return SENTENCES.invalid;
  if (environment === 'sandbox' && live?.test(value)) return 'The sandbox accepts test credentials only.';
  return environment === 'production' && test?.test(value) ? 'Production accepts live credentials only.' : undefined;
}

/** An address that a connection may call: https, or http in the sandbox; without credentials, query and fragment. */
function isApiAddress(value: unknown, environment: 'sandbox' | 'production'): value is string {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  if (url?.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && environment === 'sandbox');
}

const METHOD_LENGTH = 64;
const SETTING_LENGTH = 255;
/** The settings of every connection that are whole numbers. */
const NUMBERS = { calls_per_second: [1, 10_000] } as const;

function readSettings(
  entry: ConnectorEntry,
  sent: unknown,
  environment: 'sandbox' | 'production',
  problems: Problem[],
): Record<string, unknown> {
  if (!isObject(sent)) {
    problems.push({ field: 'settings', sentence: SENTENCES.notAnObject });
    return {};
  }
  const { methods, api_base: apiBase, ...others } = sent;
  const read: Record<string, unknown> = {};
  if (methods !== undefined) read.methods = readMethods(methods, problems);
  if (apiBase !== undefined && apiBase !== '') {
    if (environment === 'production')
      problems.push({ field: 'settings.api_base', sentence: 'Production calls the hosts of the provider only.' });
    else if (isApiAddress(apiBase, environment)) read.api_base = apiBase;
    else problems.push({ field: 'settings.api_base', sentence: SENTENCES.notUrl });
  }
  for (const [name, value] of Object.entries(others)) {
    if (!Object.hasOwn(entry.settings, name)) {
      problems.push(unknownMember('settings.', name));
      continue;
    }
    const setting = readSetting(entry, name, value);
    if ('sentence' in setting) problems.push({ field: `settings.${name}`, sentence: setting.sentence });
    else if (setting.value !== undefined) read[name] = setting.value;
  }
  return read;
}

/** The value of a setting as it is stored, undefined if it is removed; or what is wrong with it. */
function readSetting(
  entry: ConnectorEntry,
  name: string,
  sent: unknown,
): { value: string | number | undefined } | { sentence: string } {
  const range = { ...NUMBERS, ...entry.numbers }[name];
  if (range) return sent === '' ? { value: undefined } : readNumber(sent, range);
  const choices = entry.choices?.[name];
  if (choices) return choices.includes(sent as string) ? { value: sent as string } : { sentence: SENTENCES.notAChoice };
  if (!isText(sent, SETTING_LENGTH)) return { sentence: SENTENCES.notText };
  const form = entry.formats?.[name];
  if (!form) return { value: sent };
  if (sent === '') return { value: undefined };
  return form.format.test(sent) ? { value: sent } : { sentence: `This value should be ${form.expected}.` };
}

/** A whole number, or its digits as a form sends them. */
function readNumber(sent: unknown, [from, to]: readonly [number, number]): { value: number } | { sentence: string } {
  const number = typeof sent === 'string' && /^\d{1,5}$/.test(sent) ? Number(sent) : sent;
  return Number.isInteger(number) && (number as number) >= from && (number as number) <= to
    ? { value: number as number }
    : { sentence: `This value should be a whole number from ${from} to ${to}.` };
}

function readMethods(sent: unknown, problems: Problem[]): Record<string, string> {
  if (!isObject(sent)) {
    problems.push({ field: 'settings.methods', sentence: SENTENCES.notAnObject });
    return {};
  }
  const read: Record<string, string> = {};
  for (const [brand, method] of Object.entries(sent)) {
    const isBrand = brand === CARD || (Object.hasOwn(BRANDS, brand) && BRANDS[brand]?.connector === 'upstream');
    if (!isBrand) problems.push({ ...unknownMember('settings.methods.', brand), sentence: SENTENCES.notAChoice });
    else if (isText(method, METHOD_LENGTH) && /^[\w.-]+$/.test(method)) read[brand] = method;
    else problems.push({ field: `settings.methods.${brand}`, sentence: SENTENCES.invalid });
  }
  return read;
}
