/** The table of connectors: the credentials and settings of a connection, the hosts that it calls, its default methods. */
import { BRANDS, brandOf, CARD, isWallet } from './brands.ts';

export interface CredentialField {
  name: string;
  /** Shown in the panel and in the docs. */
  label: string;
  /** The values of test and of live credentials, if the provider distinguishes them. */
  test?: RegExp;
  live?: RegExp;
  /** What every value matches. */
  format?: RegExp;
  /** The value may be missing, or removed by an empty text. */
  isOptional?: true;
  /** The value is an address that the connection calls. */
  isAddress?: true;
}

/** What the value of a setting looks like; `expected` ends the sentence "This value should be" of a refusal. */
export interface SettingFormat {
  format: RegExp;
  expected: string;
}

export interface ConnectorEntry {
  title: string;
  about: string;
  credentials: readonly CredentialField[];
  /** The settings besides `methods` and `api_base`, with their descriptions. */
  settings: Readonly<Record<string, string>>;
  /** The documented limit of the provider, in calls per second; `settings.calls_per_second` sets another. */
  callsPerSecond?: Readonly<Record<'sandbox' | 'production', number>>;
  /** The values of a setting that has only these. */
  choices?: Readonly<Record<string, readonly string[]>>;
  /** What the values of other settings look like; an empty one removes the setting. */
  formats?: Readonly<Record<string, SettingFormat>>;
  /** The settings that are whole numbers, with the smallest and the largest one. */
  numbers?: Readonly<Record<string, readonly [number, number]>>;
  /** The hosts that a connection may call in production; undefined means any. */
  hosts?: RegExp;
  /** The brands that every connection takes, with the provider's name of each; `settings.methods` adds others. */
  methods: Readonly<Record<string, string>>;
  /** Further brands of connections whose payers pay on the page of the provider, and of those whose payers do not. */
  hostedMethods?: Readonly<Record<string, string>>;
  directMethods?: Readonly<Record<string, string>>;
  /** The fields that the provider needs, of those that not every provider does (`isForProvider`), by brand. */
  needs?: Readonly<Record<string, readonly string[]>>;
  /**
   * For how many days the provider may report a payment, and a capture, void or refund, as pending. The gateway waits so
   * long: then the payment is declined, and the operation is marked for the operator.
   */
  pendingDays: { payments: number; operations: number };
  /** Those of the brands that recur by provider (`recurs`) whose payments the merchant can repeat here. */
  recurs?: readonly string[];
  /** The provider opens the tokens of device wallets itself, and takes them as the wallet made them. */
  passesTokens?: true;
  /** The methods that can be authorised first and captured later; the others are charged at once. Without it, all can. */
  heldMethods?: readonly string[];
  /** The provider makes the merchant sessions of `wallet-a`, so that the merchant needs no certificate. */
  makesSessions?: true;
  /** Whom the vendor of `wallet-b` makes tokens for: the provider's name there, and the setting with the merchant's id. */
  tokenRecipient?: { gateway: string; setting: string };
  /** The check of a connection says which methods are active at the provider; the others are not offered. */
  listsMethods?: true;
  /** Whether the provider asks payers for their cards on its own page, so that the payment page does not. */
  asksForCard?: (settings: Readonly<Record<string, unknown>>) => boolean;
  /** Whether the provider has enabled the account for telephone orders, if it does so only for some. */
  allowsTelephoneOrders?: (settings: Readonly<Record<string, unknown>>) => boolean;
}

/** All brands of the installation's own provider, under their own names. */
const ALL_BRANDS = Object.fromEntries(
  [CARD, ...Object.keys(BRANDS).filter((label) => BRANDS[label]?.connector === 'upstream')].map((label) => [
    label,
    label,
  ]),
);

const NAMES = ['payer_first_name', 'payer_last_name'];
const CODE = ['parameters[code]'];
const PHONE = ['payer_phone'];
const DEBIT = ['parameters[iban]', ...NAMES];
const PAYER = ['payer_country', 'payer_email'];
const PAYER_AND_ADDRESS = [...PAYER, ...NAMES, 'payer_address', 'payer_zip', 'payer_city'];

/** By Stripe's pages on the payment methods. */
const STRIPE_METHODS = {
  ideal: 'ideal',
  bancontact: 'bancontact',
  blik: 'blik',
  paypal: 'paypal',
  klarna: 'klarna',
  'sepa-debit': 'sepa_debit',
  przelewy24: 'p24',
  eps: 'eps',
  twint: 'twint',
  swish: 'swish',
  mobilepay: 'mobilepay',
  mbway: 'mb_way',
};

/** The locales of Mollie. */
const MOLLIE_LOCALES = [
  ...['en_US', 'en_GB', 'nl_NL', 'nl_BE', 'fr_FR', 'fr_BE', 'fr_LU', 'de_DE', 'de_AT', 'de_CH', 'de_LU', 'es_ES'],
  ...['ca_ES', 'pt_PT', 'it_IT', 'nb_NO', 'sv_SE', 'fi_FI', 'da_DK', 'is_IS', 'hu_HU', 'pl_PL', 'lv_LV', 'lt_LT'],
];

const PACE = { calls_per_second: 'The most calls per second; empty for the documented limit of the provider.' };

const HMAC_KEY = /^(?:[\da-f]{2}){16,}$/i;

const STRIPE_CREDENTIALS: readonly CredentialField[] = [
  { name: 'secret_key', label: 'Secret key', test: /^[sr]k_test_/, live: /^[sr]k_live_/ },
  { name: 'webhook_secret', label: 'Signing secret of the webhook endpoint' },
];

const STRIPE_SETTINGS = {
  ...PACE,
  on_behalf_of: 'The connected account (acct_…) that payments are made for; empty for none.',
  transfer_destination: 'The connected account (acct_…) that gets the money of each payment; empty for none.',
  application_fee_percent: 'What you keep of each payment with transfer_destination, in percent, such as 2.5.',
  payment_method_configuration:
    'The payment method configuration (pmc_…) with the methods of the account; empty for the default one.',
};

const CONNECTED = {
  format: /^acct_\w{1,64}$/,
  expected: 'the id of a connected account, such as acct_1032D82eZvKYlo2C',
};
const STRIPE_FORMATS = {
  on_behalf_of: CONNECTED,
  transfer_destination: CONNECTED,
  application_fee_percent: {
    format: /^(?:100|\d{1,2}(?:\.\d{1,2})?)$/,
    expected: 'a percentage from 0 to 100 with at most two decimals, such as 2.5',
  },
  payment_method_configuration: {
    format: /^pmc_\w{1,64}$/,
    expected: 'the id of a payment method configuration, such as pmc_1O2pKEIZ2pbVjjWS',
  },
};

/** Of payments, the table of brands says more. */
const OWN_PENDING = { payments: 0, operations: 30 };
/** By Stripe's page on rate limits: 100 in live mode, 25 in a sandbox. */
const STRIPE_CALLS = { sandbox: 25, production: 100 };
/** A direct debit takes up to 14 business days. */
const STRIPE_PENDING = { payments: 21, operations: 30 };

export const CONNECTORS = {
  stripe: {
    title: 'Stripe',
    about: 'Cards and other methods through Stripe; cards are entered on the payment page of the gateway.',
    credentials: STRIPE_CREDENTIALS,
    settings: {
      ...STRIPE_SETTINGS,
      telephone_orders: 'on: Stripe has enabled the account for telephone orders (MOTO).',
    },
    choices: { telephone_orders: ['', 'on'] },
    formats: STRIPE_FORMATS,
    hosts: /^api\.stripe\.com$/,
    callsPerSecond: STRIPE_CALLS,
    methods: { [CARD]: 'card', ...STRIPE_METHODS },
    needs: {
      bancontact: NAMES,
      blik: CODE,
      eps: NAMES,
      klarna: PAYER,
      mbway: PHONE,
      przelewy24: ['payer_email'],
      'sepa-debit': [...DEBIT, 'payer_email'],
    },
    recurs: ['sepa-debit'],
    listsMethods: true,
    pendingDays: STRIPE_PENDING,
    allowsTelephoneOrders: ({ telephone_orders }) => telephone_orders === 'on',
  },
  'stripe-hosted': {
    title: 'Stripe, hosted page',
    about: 'Payers pay on the page of Stripe (Checkout), so that no card number reaches the gateway.',
    credentials: STRIPE_CREDENTIALS,
    settings: STRIPE_SETTINGS,
    formats: STRIPE_FORMATS,
    hosts: /^api\.stripe\.com$/,
    callsPerSecond: STRIPE_CALLS,
    methods: { [CARD]: 'card', ...STRIPE_METHODS },
    // After the others, Stripe stores a direct debit from the account.
    recurs: ['sepa-debit', 'ideal', 'bancontact'],
    listsMethods: true,
    pendingDays: STRIPE_PENDING,
    asksForCard: () => true,
  },
  adyen: {
    title: 'Adyen',
    about: 'Cards and other methods through Adyen.',
    credentials: [
      { name: 'api_key', label: 'API key' },
      { name: 'merchant_account', label: 'Merchant account' },
      { name: 'hmac_key', label: 'HMAC key of the webhook', format: HMAC_KEY },
      { name: 'former_hmac_key', label: 'Former HMAC key, while it is changed', format: HMAC_KEY, isOptional: true },
      { name: 'token_hmac_key', label: 'HMAC key of the webhook of tokens', format: HMAC_KEY, isOptional: true },
      {
        name: 'former_token_hmac_key',
        label: 'Former HMAC key of the webhook of tokens, while it is changed',
        format: HMAC_KEY,
        isOptional: true,
      },
    ],
    settings: {
      live_prefix: 'The prefix of the live endpoint, such as 1797a841fbb37ca7-AdyenDemo; empty for test.',
      ...PACE,
      mode: 'hosted: payers pay on the page of Adyen, and no card number reaches it through the gateway.',
      store: 'The reference of the store at Adyen that takes the payments; empty for none.',
      theme_id: 'The id of a theme of the page of Adyen; empty for the default one.',
    },
    choices: { mode: ['', 'hosted'] },
    formats: {
      store: { format: /^[\w.-]{1,128}$/, expected: 'the reference of a store at Adyen, such as YOUR_STORE_1' },
      theme_id: { format: /^[\w-]{1,64}$/, expected: 'the id of a theme at Adyen' },
    },
    hosts: /^(checkout-test\.adyen\.com|[\da-z-]+-checkout-live\.adyenpayments\.com)$/i,
    methods: {
      [CARD]: 'scheme',
      ideal: 'ideal',
      blik: 'blik',
      paypal: 'paypal',
      klarna: 'klarna',
      'sepa-debit': 'sepadirectdebit',
      twint: 'twint',
      swish: 'swish',
      mobilepay: 'mobilepay',
      mbway: 'mbway',
    },
    // They need data that only the page of Adyen asks the payer for: the card, and the bank.
    hostedMethods: { bancontact: 'bcmc', eps: 'eps', przelewy24: 'onlineBanking_PL' },
    directMethods: { bancontact: 'bcmc_mobile', 'wallet-a': 'applepay', 'wallet-b': 'googlepay' },
    // By Adyen's page on capture; the others are captured whatever the request says.
    heldMethods: [
      ...['scheme', 'applepay', 'googlepay', 'paypal', 'amazonpay', 'samsungpay', 'clicktopay'],
      ...['klarna', 'klarna_account', 'klarna_paynow', 'affirm', 'afterpaytouch', 'clearpay'],
      ...['riverty', 'ratepay', 'walley', 'vipps', 'mobilepay', 'twint', 'cashapp'],
    ],
    needs: { blik: CODE, klarna: PAYER_AND_ADDRESS, mbway: [...PHONE, 'payer_email'], 'sepa-debit': DEBIT },
    // Both as direct debits.
    recurs: ['sepa-debit', 'ideal'],
    listsMethods: true,
    pendingDays: { payments: 30, operations: 30 },
    asksForCard: ({ mode }) => mode === 'hosted',
  },
  mollie: {
    title: 'Mollie',
    about: 'Payers pay on the page of Mollie.',
    credentials: [
      { name: 'api_key', label: 'API key, or access token of the organisation', test: /^test_/, live: /^live_/ },
    ],
    settings: {
      ...PACE,
      profile_id:
        'The id of the website profile (pfl_…), for access tokens of an organisation and for tokens of wallet-b; empty for none.',
      locale: 'The language of the page of Mollie, such as nl_NL; empty for that of the payer’s browser.',
      due_days: 'After how many days a bank transfer is due; empty for the days of Mollie.',
    },
    choices: { locale: ['', ...MOLLIE_LOCALES] },
    formats: { profile_id: { format: /^pfl_\w{1,64}$/, expected: 'the id of a profile, such as pfl_QkEhN94Ba' } },
    // The transfer may take some days more, within `pendingDays`.
    numbers: { due_days: [1, 14] },
    hosts: /^api\.mollie\.com$/,
    methods: {
      [CARD]: 'creditcard',
      ideal: 'ideal',
      bancontact: 'bancontact',
      blik: 'blik',
      paypal: 'paypal',
      klarna: 'klarna',
      przelewy24: 'przelewy24',
      eps: 'eps',
      twint: 'twint',
      swish: 'swish',
      mobilepay: 'mobilepay',
      mbway: 'mbway',
      'wallet-a': 'applepay',
      'wallet-b': 'googlepay',
    },
    needs: { klarna: PAYER_AND_ADDRESS },
    passesTokens: true,
    // By the documentation of Mollie.
    heldMethods: ['creditcard', 'klarna', 'billie', 'riverty', 'vipps', 'mobilepay'],
    makesSessions: true,
    tokenRecipient: { gateway: 'mollie', setting: 'profile_id' },
    // After those of banks, Mollie stores a mandate for direct debits.
    recurs: ['ideal', 'bancontact', 'eps', 'paypal'],
    listsMethods: true,
    // The payer of a bank transfer has 12 days; a refund may wait for the balance at Mollie.
    pendingDays: { payments: 21, operations: 60 },
    asksForCard: () => true,
  },
  paypal: {
    title: 'PayPal',
    about: 'Payers pay with their PayPal account, on the page of PayPal.',
    credentials: [
      { name: 'client_id', label: 'Client id' },
      { name: 'client_secret', label: 'Client secret' },
      { name: 'webhook_id', label: 'Id of the webhook', format: /^\w{1,50}$/ },
    ],
    settings: PACE,
    hosts: /^api-m\.paypal\.com$/,
    methods: { paypal: 'paypal' },
    recurs: ['paypal'],
    // A capture or refund from a bank account takes days, and PayPal may review it.
    pendingDays: { payments: 30, operations: 30 },
  },
  checkout: {
    title: 'Checkout.com',
    about: 'Cards and device wallets through Checkout.com.',
    credentials: [
      { name: 'secret_key', label: 'Secret key', test: /^sk_(sbox|test)_/, live: /^sk_(?!sbox_|test_)/ },
      { name: 'processing_channel_id', label: 'Processing channel', format: /^pc_\w{1,64}$/ },
      { name: 'webhook_secret', label: 'Signature key of the webhook' },
      { name: 'former_webhook_secret', label: 'Former signature key, while it is changed', isOptional: true },
    ],
    settings: {
      api_prefix: 'The prefix of the account in the address of the API, such as vkuhvk4v; empty for none.',
      ...PACE,
      descriptor_city: 'The city on the payer’s statement; without it no statement text is sent.',
    },
    hosts: /^([\da-z-]+\.)?api\.(sandbox\.)?checkout\.com$/i,
    methods: { [CARD]: 'card', 'wallet-a': 'applepay', 'wallet-b': 'googlepay' },
    pendingDays: { payments: 30, operations: 30 },
  },
  upstream: {
    title: 'Provider API',
    about: 'A provider that implements the provider API of the gateway.',
    credentials: [
      { name: 'url', label: 'Address of the provider', isAddress: true },
      { name: 'key', label: 'Key of our calls' },
      { name: 'notification_secret', label: 'Secret that signs notifications (base64)' },
    ],
    settings: PACE,
    methods: ALL_BRANDS,
    needs: { blik: CODE, mbway: PHONE, 'sepa-debit': DEBIT },
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

export const asksForCard = (connector: string, settings: Readonly<Record<string, unknown>>): boolean =>
  (CONNECTORS as Readonly<Record<string, ConnectorEntry>>)[connector]?.asksForCard?.(settings) === true;

/** Whether a connection may get telephone orders, if its connector can flag them. */
export const allowsTelephoneOrders = (connector: string, settings: Readonly<Record<string, unknown>>): boolean =>
  connectorEntry(connector)?.allowsTelephoneOrders?.(settings) ?? true;

/** The most calls per second of a connection; undefined means any number. */
export const callsPerSecondOf = (
  connector: string,
  settings: Readonly<Record<string, unknown>>,
  environment: 'sandbox' | 'production',
): number | undefined =>
  (settings.calls_per_second as number | undefined) ?? connectorEntry(connector)?.callsPerSecond?.[environment];

/** The brands that a connection takes by the table, with the provider's name of each. */
const tableMethods = (connector: string, settings: Readonly<Record<string, unknown>>): Record<string, string> => ({
  ...connectorEntry(connector)?.methods,
  ...connectorEntry(connector)?.[asksForCard(connector, settings) ? 'hostedMethods' : 'directMethods'],
});

/**
 * The brands that a connection takes, with the provider's name of each. Those of the table have to be among the methods that
 * are active at the provider, if it says which are. Device wallets have settings of their own.
 */
export function methodsOf(
  connector: string,
  settings: Readonly<Record<string, unknown>>,
  active: readonly string[] | null = null,
): Record<string, string> {
  const isActive = ([brand, method]: [string, string]): boolean =>
    active === null || isWallet(brand) || active.includes(method);
  return {
    ...Object.fromEntries(Object.entries(tableMethods(connector, settings)).filter(isActive)),
    ...(settings.methods as Record<string, string> | undefined),
  };
}

/** The fields that a connection needs, of those that not every provider does; of Adyen only without its page, which asks. */
export const needsOf = (
  connector: string,
  settings: Readonly<Record<string, unknown>>,
): NonNullable<ConnectorEntry['needs']> =>
  (settings.mode === 'hosted' ? undefined : connectorEntry(connector)?.needs) ?? {};

/** Whether the merchant can repeat payments of a brand at a provider, by the key of its connector. */
export function canRepeat(label: string, key: string): boolean {
  const { recurs } = brandOf(label) ?? {};
  if (recurs !== 'byProvider') return recurs === true;
  return connectorEntry(splitConnectionKey(key).connector)?.recurs?.includes(label) === true;
}

export const passesTokens = (connector: string): boolean => connectorEntry(connector)?.passesTokens === true;

/** Whether a payment by a method can be authorised first and captured later. */
export const canHold = (connector: string, method: string): boolean =>
  connectorEntry(connector)?.heldMethods?.includes(method) ?? true;

export const makesSessions = (connector: string): boolean => connectorEntry(connector)?.makesSessions === true;

/** The text of a setting of a connection; undefined if there is none. */
export function settingText(settings: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = settings[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The recipient of tokens in the terms of the vendor of `wallet-b`. */
export interface TokenRecipient {
  gateway: string;
  gatewayMerchantId: string;
}

/** Whom a connection wants tokens of `wallet-b` to be made for; undefined if it takes none from the payment page. */
export function tokenRecipientOf(
  connector: string,
  settings: Readonly<Record<string, unknown>>,
): TokenRecipient | undefined {
  const { gateway, setting } = connectorEntry(connector)?.tokenRecipient ?? {};
  const id = setting === undefined ? undefined : settingText(settings, setting);
  return gateway !== undefined && id !== undefined ? { gateway, gatewayMerchantId: id } : undefined;
}

/** Whether credentials are for tests or for real money; null if they do not show it. */
export function modeOf(entry: ConnectorEntry, credential: (name: string) => string): 'test' | 'live' | null {
  for (const { name, test, live } of entry.credentials) {
    if (test?.test(credential(name))) return 'test';
    if (live?.test(credential(name))) return 'live';
  }
  return null;
}
