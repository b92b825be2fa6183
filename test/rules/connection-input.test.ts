/** The settings of connections: which values are read, and how others are refused. */
import { describe, expect, test } from 'vitest';
import { readConnection } from '../../src/rules/connection-input.ts';
import { CONNECTORS, type ConnectorEntry, type ConnectorName } from '../../src/rules/connectors.ts';

const read = (connector: ConnectorName, settings: Record<string, unknown>) => {
  const { input, problems } = readConnection(CONNECTORS[connector], { settings }, 'sandbox', true);
  return { settings: input.settings, problems };
};

/** A valid value of each setting with a form of its own, as it is stored, and values that are refused. */
const SETTINGS: [ConnectorName, string, string | number, unknown[]][] = [
  ['adyen', 'calls_per_second', 5, [0, 10_001, 1.5, '-1', 'many', null]],
  ['adyen', 'store', 'YOUR_STORE_1', ['my store', 'x'.repeat(129), 1, null]],
  ['adyen', 'theme_id', 'AZ1234567', ['a theme', '<b>', 'x'.repeat(65), 1]],
  ...(['stripe', 'stripe-hosted'] as const).flatMap((name): [ConnectorName, string, string, unknown[]][] => [
    [name, 'on_behalf_of', 'acct_1032D82eZvKYlo2C', ['1032D82eZvKYlo2C', 'acct_', 'acct_a b', 1]],
    [name, 'transfer_destination', 'acct_1032D82eZvKYlo2C', ['cus_1', 'acct_', null]],
    [name, 'application_fee_percent', '2.5', ['100.5', '101', '-1', '2,5', '2.555', '.5', 'x', 2.5]],
    [name, 'payment_method_configuration', 'pmc_1O2pKEIZ2pbVjjWS', ['default', 'pmc_', 1]],
  ]),
  ['mollie', 'profile_id', 'pfl_QkEhN94Ba', ['QkEhN94Ba', 'pfl_', 'pfl_a b', 1]],
  ['mollie', 'due_days', 14, [0, 15, 1.5, '-1', 'soon', null]],
];

describe.each(SETTINGS)('%s: %s', (connector, name, value, refused) => {
  test('is read, also as the text of a form', () => {
    expect(read(connector, { [name]: value })).toEqual({ settings: { [name]: value }, problems: [] });
    expect(read(connector, { [name]: String(value) })).toEqual({ settings: { [name]: value }, problems: [] });
  });

  test('is removed by an empty text', () => {
    expect(read(connector, { [name]: '' })).toEqual({ settings: {}, problems: [] });
  });

  test.each(refused)('is refused as %j', (sent) => {
    expect(read(connector, { [name]: sent })).toEqual({
      settings: {},
      problems: [{ field: `settings.${name}`, sentence: expect.stringMatching(/^This value should be /) }],
    });
  });
});

test('a locale is one of Mollie’s, or none', () => {
  for (const locale of ['nl_NL', ''])
    expect(read('mollie', { locale })).toEqual({ settings: { locale }, problems: [] });
  for (const locale of ['nl', 'xx_XX', 1, null])
    expect(read('mollie', { locale }).problems).toMatchObject([{ field: 'settings.locale' }]);
});

test.each(Object.entries(CONNECTORS) as [string, ConnectorEntry][])(
  '%s describes each setting that has choices, a format or a range',
  (_, { settings, choices = {}, formats = {}, numbers = {} }) => {
    const names = [choices, formats, numbers].flatMap((table) => Object.keys(table));
    expect(Object.keys(settings)).toEqual(expect.arrayContaining(names));
    expect(new Set(names).size).toBe(names.length);
  },
);
