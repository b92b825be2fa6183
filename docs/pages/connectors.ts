/** Generates docs/connectors.md: the connectors that connections can use, with their credentials and settings. */
import { DEFINITIONS } from '../../src/connectors/index.ts';
import { CONNECTORS, type ConnectorEntry } from '../../src/rules/connectors.ts';
import { code, page, table } from './markdown.ts';

const codes = (names: readonly string[]): string => (names.length === 0 ? '–' : names.map(code).join(', '));

/** The brands of every connection; the connector of the provider API takes all of them. */
const methodsText = ({ methods, hostedMethods, directMethods }: ConnectorEntry): string => {
  if (Object.hasOwn(methods, 'payout-a')) return 'all brands';
  return [
    codes(Object.keys(methods)),
    ...(directMethods ? [`without its page also ${codes(Object.keys(directMethods))}`] : []),
    ...(hostedMethods ? [`with it also ${codes(Object.keys(hostedMethods))}`] : []),
  ].join('; ');
};

const pendingText = ({ pendingDays: { payments, operations } }: ConnectorEntry): string =>
  `${payments === 0 ? '[by brand](brands.md)' : payments}, ${operations}`;

export function connectors(): string {
  const entries = Object.entries(CONNECTORS).filter(([name]) => Object.hasOwn(DEFINITIONS, name)) as [
    string,
    ConnectorEntry,
  ][];
  return page(
    'Connectors',
    'src/rules/connectors.ts',
    `
This page lists the connectors that a connection can use. [Connections and routes](operator/providers.md) explains how to
create one. Every connection takes the brands that are listed here, and those that ${code('settings.methods')} adds. Of those with the name of a
method, the column Recurring lists the ones whose payments merchants can repeat. The last column has the days for which a payment, and a capture, void or refund, [may be
pending](operator/providers.md#pending-payments-and-operations).`,
    table(
      ['Connector', 'Credentials', 'Settings', 'Authentication (3DS)', 'Brands', 'Recurring', 'Pending'],
      entries.map(([name, entry]) => [
        `${code(name)}: ${entry.about}`,
        codes(entry.credentials.map((credential) => credential.name)),
        codes(['methods', 'api_base', ...Object.keys(entry.settings)]),
        DEFINITIONS[name as keyof typeof DEFINITIONS]?.capabilities.authentication ?? '–',
        methodsText(entry),
        codes(entry.recurs ?? []),
        pendingText(entry),
      ]),
    ),
  );
}
