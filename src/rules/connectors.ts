/** The table of connectors: the credentials and settings of a connection, the hosts that it calls, its default methods. */
import { isUuid } from '../lib/id.ts';
import { isObject, isText } from '../lib/json.ts';
import { BRANDS, CARD } from './brands.ts';
import type { Problem } from './errors.ts';
import { SENTENCES } from './fields.ts';

export interface CredentialField {
  name: string;
  /** Shown in the panel and in the docs. */
  label: string;
  /** The values of test and of live credentials, if the provider distinguishes them. */
  test?: RegExp;
  live?: RegExp;
  /** What every value matches. */
  format?: RegExp;
  /** The value is an address that the connection calls. */
  isAddress?: true;
}

export interface ConnectorEntry {
  title: string;
  about: string;
  credentials: readonly CredentialField[];
  /** The settings besides `methods` and `api_base`, with their descriptions. */
  settings: Readonly<Record<string, string>>;
  /** The values of a setting that has only these. */
  choices?: Readonly<Record<string, readonly string[]>>;
  /** The hosts that a connection may call in production; undefined means any. */
  hosts?: RegExp;
  /** The brands that every connection takes, with the provider's name of each; `settings.methods` adds others. */
  methods: Readonly<Record<string, string>>;
  /**
   * For how many days the provider may report a payment, and a capture, void or refund, as pending. The gateway waits so
   * long: then the payment is declined, and the operation is marked for the operator.
   */
  pendingDays: { payments: number; operations: number };
  /** Whether the provider asks payers for their cards on its own page, so that the payment page does not. */
  asksForCard?: (settings: Readonly<Record<string, unknown>>) => boolean;
}

/** All brands of the installation's own provider, under their own names. */
const ALL_BRANDS = Object.fromEntries(
  [CARD, ...Object.keys(BRANDS).filter((label) => BRANDS[label]?.connector === 'upstream')].map((label) => [
    label,
    label,
  ]),
);

const STRIPE_CREDENTIALS: readonly CredentialField[] = [
  { name: 'secret_key', label: 'Secret key', test: /^[sr]k_test_/, live: /^[sr]k_live_/ },
  { name: 'webhook_secret', label: 'Signing secret of the webhook endpoint' },
];

/** Of payments, the table of brands says more. */
const OWN_PENDING = { payments: 0, operations: 30 };
/** A direct debit takes up to 14 business days. */
const STRIPE_PENDING = { payments: 21, operations: 30 };

export const CONNECTORS = {
  stripe: {
    title: 'Stripe',
    about: 'Cards and other methods through Stripe; cards are entered on the payment page of the gateway.',
    credentials: STRIPE_CREDENTIALS,
    settings: {},
    hosts: /^api\.stripe\.com$/,
    methods: { [CARD]: 'card' },
    pendingDays: STRIPE_PENDING,
  },
  'stripe-hosted': {
    title: 'Stripe, hosted page',
    about: 'Payers pay on the page of Stripe (Checkout), so that no card number reaches the gateway.',
    credentials: STRIPE_CREDENTIALS,
    settings: {},
    hosts: /^api\.stripe\.com$/,
    methods: { [CARD]: 'card' },
    pendingDays: STRIPE_PENDING,
    asksForCard: () => true,
  },
  adyen: {
    title: 'Adyen',
    about: 'Cards and other methods through Adyen.',
    credentials: [
      { name: 'api_key', label: 'API key' },
      { name: 'merchant_account', label: 'Merchant account' },
      { name: 'hmac_key', label: 'HMAC key of the webhook', format: /^(?:[\da-f]{2}){16,}$/i },
    ],
    settings: {
      live_prefix: 'The prefix of the live endpoint, such as 1797a841fbb37ca7-AdyenDemo; empty for test.',
      mode: 'hosted: payers pay on the page of Adyen, and no card number reaches it through the gateway.',
    },
    choices: { mode: ['', 'hosted'] },
    hosts: /^(checkout-test\.adyen\.com|[\da-z-]+-checkout-live\.adyenpayments\.com)$/i,
    methods: { [CARD]: 'scheme' },
    pendingDays: { payments: 30, operations: 30 },
    asksForCard: ({ mode }) => mode === 'hosted',
  },
  mollie: {
    title: 'Mollie',
    about: 'Payers pay on the page of Mollie.',
    credentials: [{ name: 'api_key', label: 'API key', test: /^test_/, live: /^live_/ }],
    settings: {},
    hosts: /^api\.mollie\.com$/,
    methods: { [CARD]: 'creditcard' },
    // The payer of a bank transfer has 12 days; a refund may wait for the balance at Mollie.
    pendingDays: { payments: 21, operations: 60 },
    asksForCard: () => true,
  },
  upstream: {
    title: 'Provider API',
    about: 'A provider that implements the provider API of the gateway.',
    credentials: [
      { name: 'url', label: 'Address of the provider', isAddress: true },
      { name: 'key', label: 'Key of our calls' },
      { name: 'notification_secret', label: 'Secret that signs notifications (base64)' },
    ],
    settings: {},
    methods: ALL_BRANDS,
    pendingDays: OWN_PENDING,
  },
} as const satisfies Record<string, ConnectorEntry>;

export type ConnectorName = keyof typeof CONNECTORS;

export const connectorEntry = (name: string): ConnectorEntry | undefined =>
  Object.hasOwn(CONNECTORS, name) ? CONNECTORS[name as ConnectorName] : undefined;

/** For how many days the provider of a payment may report it, or an operation, as pending; by the key of its connector. */
export const pendingDaysOf = (key: string): ConnectorEntry['pendingDays'] =>
  connectorEntry(splitConnectionKey(key).connector)?.pendingDays ?? OWN_PENDING;

/**
 * The connector of a payment as it is stored: the name of a connector of the installation, such as `upstream`, or a
 * connection, such as `stripe/01a1dd06-691f-7000-87fc-b0749d0543ed`.
 */
export const connectionKey = (connector: string, connectionId: string): string => `${connector}/${connectionId}`;

/** The connector and the connection of such a key; the connection is null if it is the installation's own. */
export function splitConnectionKey(key: string): { connector: string; connectionId: string | null } {
  const slash = key.indexOf('/');
  if (slash === -1) return { connector: key, connectionId: null };
  return { connector: key.slice(0, slash), connectionId: key.slice(slash + 1) };
}

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
    if (value === undefined && isChange) continue;
    const sentence = credentialProblem(field, value, environment);
    if (sentence === undefined) read[field.name] = value as string;
    else problems.push({ field: `credentials.${field.name}`, sentence });
  }
  return read;
}

function credentialProblem(
  { isAddress, test, live, format }: CredentialField,
  value: unknown,
  environment: 'sandbox' | 'production',
): string | undefined {
  if (value === undefined || value === null || value === '') return SENTENCES.blank;
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

export const asksForCard = (connector: string, settings: Readonly<Record<string, unknown>>): boolean =>
  (CONNECTORS as Readonly<Record<string, ConnectorEntry>>)[connector]?.asksForCard?.(settings) === true;

/** The brands that a connection takes, with the provider's name of each. */
export const methodsOf = (connector: string, settings: Readonly<Record<string, unknown>>): Record<string, string> => ({
  ...connectorEntry(connector)?.methods,
  ...(settings.methods as Record<string, string> | undefined),
});

/** Whether credentials are for tests or for real money; null if they do not show it. */
export function modeOf(entry: ConnectorEntry, credential: (name: string) => string): 'test' | 'live' | null {
  for (const { name, test, live } of entry.credentials) {
    if (test?.test(credential(name))) return 'test';
    if (live?.test(credential(name))) return 'live';
  }
  return null;
}
