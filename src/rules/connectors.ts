/** The table of connectors: the credentials and settings of a connection, the hosts that it calls, its default methods. */
import { BRANDS, CARD } from './brands.ts';

export interface CredentialField {
  name: string;
  /** Shown in the panel and in the docs. */
  label: string;
  /** The values of test and of live credentials, if the provider distinguishes them. */
  test?: RegExp;
  live?: RegExp;
  /** The value is an address that the connection calls. */
  isAddress?: true;
}

export interface ConnectorEntry {
  title: string;
  about: string;
  credentials: readonly CredentialField[];
  /** The settings besides `methods` and `api_base`, with their descriptions. */
  settings: Readonly<Record<string, string>>;
  /** The hosts that a connection may call in production; undefined means any. */
  hosts?: RegExp;
  /** The brands that every connection takes, with the provider's name of each; `settings.methods` adds others. */
  methods: Readonly<Record<string, string>>;
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

export const CONNECTORS = {
  stripe: {
    title: 'Stripe',
    about: 'Cards and other methods through Stripe; cards are entered on the payment page of the gateway.',
    credentials: STRIPE_CREDENTIALS,
    settings: {},
    hosts: /^api\.stripe\.com$/,
    methods: { [CARD]: 'card' },
  },
  'stripe-hosted': {
    title: 'Stripe, hosted page',
    about: 'Payers pay on the page of Stripe (Checkout), so that no card number reaches the gateway.',
    credentials: STRIPE_CREDENTIALS,
    settings: {},
    hosts: /^api\.stripe\.com$/,
    methods: {},
  },
  adyen: {
    title: 'Adyen',
    about: 'Cards and other methods through Adyen.',
    credentials: [
      { name: 'api_key', label: 'API key' },
      { name: 'merchant_account', label: 'Merchant account' },
      { name: 'hmac_key', label: 'HMAC key of the webhook' },
    ],
    settings: { live_prefix: 'The prefix of the live endpoint, such as 1797a841fbb37ca7-AdyenDemo; empty for test.' },
    hosts: /^(checkout-test\.adyen\.com|[\da-z-]+-checkout-live\.adyenpayments\.com)$/i,
    methods: { [CARD]: 'scheme' },
  },
  mollie: {
    title: 'Mollie',
    about: 'Payers pay on the page of Mollie.',
    credentials: [{ name: 'api_key', label: 'API key', test: /^test_/, live: /^live_/ }],
    settings: {},
    hosts: /^api\.mollie\.com$/,
    methods: {},
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
  },
} as const satisfies Record<string, ConnectorEntry>;

export type ConnectorName = keyof typeof CONNECTORS;

export const connectorEntry = (name: string): ConnectorEntry | undefined =>
  Object.hasOwn(CONNECTORS, name) ? CONNECTORS[name as ConnectorName] : undefined;

/**
 * The connector of a payment as it is stored: the name of a connector of the installation, such as `upstream`, or a
 * connection, such as `stripe/01a1dd06-691f-7000-87fc-b0749d0543ed`.
 */
export const connectionKey = (connector: string, connectionId: string): string => `${connector}/${connectionId}`;

/** The connector and the connection of such a key; the connection is null if it is the installation's own. */
export function splitConnectionKey(key: string): { connector: string; connectionId: string | null } {
  const [connector = key, connectionId = null] = key.split('/');
  return { connector, connectionId };
}
