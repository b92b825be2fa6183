/** The chapters of the docs site by audience, in reading order. */

/** A Markdown file as a page. */
export interface Chapter {
  /** The path of the file from the root of the repository. */
  file: string;
  /** The address below `/docs`, for files outside `docs/`; others have the path of their file. */
  path?: string;
  /** A long page: each of its second-level headings becomes a page of its own. */
  isSplit?: true;
}

export interface Audience {
  name: string;
  title: string;
  about: string;
  chapters: readonly Chapter[];
}

const inFolder = (folder: string, ...names: readonly string[]): Chapter[] =>
  names.map((name) => ({ file: `docs/${folder}${name}.md` }));

export const AUDIENCES: readonly Audience[] = [
  {
    name: 'merchants',
    title: 'Merchants',
    about: 'Connect a shop: take payments, receive callbacks, refund, go live.',
    chapters: [
      ...inFolder('merchant/', 'README', 'quick-start', 'samples', 'sign-requests', 'checkout', 'payment-page'),
      ...inFolder('merchant/', 'embedded-page', 'links', 'invoices', 'telephone-orders'),
      ...inFolder(
        'merchant/',
        'cards',
        'customer-page',
        'sales',
        'wallets',
        'callbacks',
        'status',
        'operations',
        'idempotency',
      ),
      ...inFolder('merchant/', 'errors', 'recurring', 'schedules', 'payouts', 'sandbox', 'troubleshooting'),
      ...inFolder('merchant/', 'same-family', 'woocommerce', 'going-live'),
      { file: 'client/README.md', path: 'client' },
      { file: 'examples/README.md', path: 'examples' },
    ],
  },
  {
    name: 'operators',
    title: 'Operators',
    about: 'Install and run the gateway: providers, accounts, the panel, monitoring.',
    chapters: [
      { file: 'README.md', path: 'about' },
      ...inFolder('operator/', 'README', 'install', 'database', 'provider', 'providers'),
      ...inFolder('operator/providers/', 'stripe', 'adyen', 'mollie', 'paypal', 'checkout-com'),
      ...inFolder('operator/', 'sandbox', 'panel', 'access', 'operators'),
      ...inFolder(
        'operator/',
        'admin-api',
        'accounts',
        'hash-debugger',
        'payments',
        'attention-list',
        'chargebacks',
        'risk',
      ),
      ...inFolder(
        'operator/',
        'schedules',
        'callbacks',
        'reports',
        'prices',
        'ledger',
        'settlements',
        'reconciliation',
        'payment-page',
        'receipts',
      ),
      ...inFolder(
        'operator/',
        'wallets',
        'vault',
        'erasure',
        'backup-and-upgrade',
        'recovery',
        'processes',
        'high-availability',
        'limits',
        'monitoring',
      ),
      ...inFolder('operator/', 'troubleshooting', 'going-live'),
    ],
  },
  {
    name: 'reference',
    title: 'Reference',
    about: 'Every field, brand, state, error and setting, generated from the tables of the gateway.',
    chapters: [
      { file: 'docs/brands.md', isSplit: true },
      ...inFolder(
        '',
        'errors',
        'states',
        'three-ds',
        'wallets',
        'settings',
        'configuration',
        'roles',
        'connectors',
        'provider-events',
      ),
      ...inFolder('', 'command-line'),
      ...inFolder('', 'provider-api', 'page-scripts', 'performance', 'scaling', 'reliability', 'changes'),
      { file: 'vectors/README.md', path: 'vectors' },
      { file: 'vectors/wallets/README.md', path: 'vectors/wallets' },
      { file: 'src/lib/wallets/roots/README.md', path: 'wallet-roots' },
      { file: 'CONTRIBUTING.md', path: 'contributing' },
      ...inFolder('contributing/', 'recipes', 'principles', 'checks', 'glossary'),
    ],
  },
];

/** The address of a chapter. */
export const addressOf = ({ file, path }: Chapter): string =>
  `/docs/${path ?? file.replace(/^docs\//, '').replace(/(\/README)?\.md$/, '')}`;
