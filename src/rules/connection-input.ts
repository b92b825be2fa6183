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
const MOST_CALLS = 10_000;

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
  const { methods, api_base: apiBase, calls_per_second: pace, ...others } = sent;
  const read: Record<string, unknown> = {};
  if (methods !== undefined) read.methods = readMethods(methods, problems);
  if (apiBase !== undefined && apiBase !== '') {
    if (environment === 'production')
      problems.push({ field: 'settings.api_base', sentence: 'Production calls the hosts of the provider only.' });
    else if (isApiAddress(apiBase, environment)) read.api_base = apiBase;
    else problems.push({ field: 'settings.api_base', sentence: SENTENCES.notUrl });
  }
  if (pace !== undefined && pace !== '') {
    const perSecond = typeof pace === 'string' && /^\d{1,5}$/.test(pace) ? Number(pace) : pace;
    if (Number.isInteger(perSecond) && (perSecond as number) > 0 && (perSecond as number) <= MOST_CALLS)
      read.calls_per_second = perSecond;
    else
      problems.push({
        field: 'settings.calls_per_second',
        sentence: `This value should be a whole number from 1 to ${MOST_CALLS}.`,
      });
  }
  for (const [name, value] of Object.entries(others)) {
    const choices = entry.choices?.[name];
    if (!Object.hasOwn(entry.settings, name)) problems.push(unknownMember('settings.', name));
    else if (choices && !choices.includes(value as string))
      problems.push({ field: `settings.${name}`, sentence: SENTENCES.notAChoice });
    else if (isText(value, SETTING_LENGTH)) read[name] = value;
    else problems.push({ field: `settings.${name}`, sentence: SENTENCES.notText });
  }
  return read;
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
