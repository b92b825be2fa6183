/** The fields of every brand, compared with an independently written table. */
import { describe, expect, test } from 'vitest';
import { BRANDS, type Brand, brandValues, fieldsToAsk, offeredMethods } from '../../src/rules/brands.ts';
import type { Problem } from '../../src/rules/errors.ts';
import { checkFields, type FieldContext } from '../../src/rules/fields.ts';
import { S2S_OPERATIONS } from '../../src/rules/operations.ts';
import { completeSettings, settingsReader } from '../../src/rules/settings.ts';
import {
  BRAND_EXPECTATIONS,
  type BrandExpectation,
  changedBy,
  IDENTIFICATIONS,
  NOT_A_LIST,
  NOT_SET,
  tooLong,
  tooShort,
  without,
} from '../support/brand-expectations.ts';
import type { Fields } from '../support/gateway.ts';

/** The fields of every sale. */
const USUAL: Fields = {
  action: 'SALE',
  client_key: 'test_key',
  identifier: 'success@example.com',
  order_id: 'order-1',
  order_amount: '10.00',
  order_currency: 'USD',
  order_description: 'A test order',
  payer_ip: '203.0.113.7',
  return_url: 'https://shop.example/return',
  hash: 'hash',
};

const brandOf = (label: string): Brand => BRANDS[label] as Brand;

const contextOf = (fields: Fields, settings: Readonly<Record<string, string>> = {}): FieldContext => ({
  value: (name) => (Object.hasOwn(fields, name) ? (fields[name] as string) : ''),
  positions: (name) => [
    ...new Set(
      Object.keys(fields)
        .filter((field) => field.startsWith(`${name}[`))
        .map((field) => field.slice(name.length + 1, field.indexOf(']', name.length))),
    ),
  ],
  setting: settingsReader(completeSettings(settings)),
  allowsHttp: true,
});

/** A field context with the usual fields of a sale and these. */
const requestOf = (label: string, fields: Fields, settings = BRAND_EXPECTATIONS[label]?.settings): FieldContext =>
  contextOf({ ...USUAL, brand: label, ...fields }, settings);

/** The first problem of each field of a request. */
function problemsOf(label: string, context: FieldContext): Fields {
  const problems: Problem[] = [];
  checkFields(S2S_OPERATIONS.SALE.fields, context, problems);
  checkFields(brandOf(label).fields, context, problems);
  return Object.fromEntries(problems.toReversed().map(({ field, sentence }) => [field, sentence]));
}

const askedOf = (label: string, context: FieldContext): string[] =>
  fieldsToAsk(brandOf(label), context).map(({ name }) => name);

const plainName = (name: string): string => name.replace(/^parameters\[(\w+)\]$/, '$1');
const isOfEverySale = (name: string): boolean => /^(order_|payer_|identifier$)/.test(name);
const listName = (name: string): string => name.replace(/\[\d+\]\[\w+\]$/, '');

/** The brand's own values of a request as they should be stored: lists as lists of objects. */
function valuesOf(fields: Fields): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (isOfEverySale(name)) continue;
    const [, list, position, member] = /^parameters\[(\w+)\]\[(\d+)\]\[(\w+)\]$/.exec(name) ?? [];
    if (list === undefined) {
      values[plainName(name)] = value;
    } else {
      const items = (values[list] as Fields[] | undefined) ?? [];
      items[Number(position)] = { ...items[Number(position)], [member as string]: value };
      values[list] = items;
    }
  }
  return values;
}

/** The values with these names, or all others. */
const only = (values: Record<string, unknown>, names: readonly string[], isIn: boolean): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name) === isIn));

const BRANDS_EXPECTED = Object.entries(BRAND_EXPECTATIONS);

/** One test case per case of every brand; long values are shortened in the title. */
const lines = <Line>(of: (expected: BrandExpectation) => (readonly [string, Line])[]): [string, string, Line][] =>
  BRANDS_EXPECTED.flatMap(([label, expected]) =>
    of(expected).map(([words, line]): [string, string, Line] => [label, words.slice(0, 100), line]),
  );

const exchanged = ({ complete }: BrandExpectation, field: string, value: string): Fields => ({
  ...complete,
  [field]: value,
});

test('these brands exist, and no others', () => {
  expect(Object.keys(BRANDS).toSorted()).toEqual(
    [
      ...['vcard', 'payout-a', 'wallet-a', 'wallet-b', 'ips', 'pin-a', 'telecom-a', 'bank-a', 'transfer-a'],
      ...['transfer-b', 'doc-a', 'doc-b', 'local-a', 'crypto-a', 'crypto-a-payout', 'crypto-b', 'trading-a'],
      ...['trading-b', 'hosted-a', 'hosted-b', 'local-b', 'upi-a', 'upi-b', 'upi-c', 'p2p-a', 'p2p-b', 'bnpl-a'],
      ...['bnpl-b', 'open-banking-a', 'mobile-money-a', 'agg-a', 'agg-b', 'agg-c', 'agg-d', 'agg-e', 'agg-f'],
      ...['agg-g', 'agg-h', 'agg-i', 'agg-j', 'ideal', 'bancontact', 'eps', 'przelewy24', 'blik', 'twint', 'swish'],
      ...['mobilepay', 'mbway', 'paypal', 'klarna', 'sepa-debit'],
    ].toSorted(),
  );
  expect(Object.keys(BRAND_EXPECTATIONS).toSorted()).toEqual(Object.keys(BRANDS).toSorted());
});

describe.each(BRANDS_EXPECTED)('%s', (label, expected) => {
  const {
    complete,
    required = {},
    asked = [],
    optional = [],
    bad = {},
    secret = [],
    notStored = [],
    added = {},
  } = expected;

  test('has rows for these fields and no others', () => {
    const inTable = new Set([...Object.keys(required), ...asked, ...optional, ...Object.keys(bad)].map(listName));
    const rows = new Set(brandOf(label).fields.map(({ name }) => name));
    const ofEverySale: Set<string> = new Set(S2S_OPERATIONS.SALE.fields.map(({ name }) => name));
    expect([...rows].filter((name) => !inTable.has(name))).toEqual([]);
    expect([...inTable].filter((name) => !rows.has(name) && !ofEverySale.has(name))).toEqual([]);
    const askable = brandOf(label).fields.filter(({ need }) => need === 'ask');
    expect(askable.map(({ name }) => name)).toEqual(asked);
  });

  test('accepts a complete request and asks the payer for nothing', () => {
    const context = requestOf(label, complete);
    expect(problemsOf(label, context)).toEqual({});
    expect(askedOf(label, context)).toEqual([]);
  });

  test('stores its own fields, and the secret ones separately', () => {
    const { parameters, secrets } = brandValues(brandOf(label), requestOf(label, complete));
    const values = only(valuesOf(complete), notStored, false);
    expect(secrets).toEqual(only(values, secret, true));
    expect(parameters).toEqual({ ...only(values, secret, false), ...added });
    expect(Object.keys(secrets).toSorted()).toEqual([...secret].toSorted());
  });

  test('ignores unknown fields, and does not store them', () => {
    const unknown = {
      'parameters[unknown]': 'x',
      'parameters[a][0][b]': 'x',
      unknown: 'x',
      'parameters[__proto__]': 'x',
    };
    const context = requestOf(label, { ...complete, ...unknown });
    expect(problemsOf(label, context)).toEqual({});
    expect(brandValues(brandOf(label), context)).toEqual(brandValues(brandOf(label), requestOf(label, complete)));
  });

  test('accepts a request without its optional fields, one by one and all together', () => {
    // Fields that are required in some countries only have their own cases.
    const free = optional.filter((name) => !(label === 'local-a' && name === 'parameters[personalId]'));
    for (const names of [...free.map((name) => [name]), free]) {
      const context = requestOf(label, without(complete, ...names));
      expect(problemsOf(label, context), names.join()).toEqual({});
      expect(askedOf(label, context), names.join()).toEqual([]);
    }
  });

  test('asks the payer for exactly the missing `ask` fields, and does not refuse the request', () => {
    if (expected.subMethods) return;
    for (const names of [...asked.map((name) => [name]), asked]) {
      const context = requestOf(label, without(complete, ...names));
      expect(problemsOf(label, context), names.join()).toEqual({});
      expect(askedOf(label, context), names.join()).toEqual(names);
    }
  });

  test('reports all missing fields at once', () => {
    const names = Object.keys(required).filter((name) => name !== 'account_uuid' && name === listName(name));
    const request = Object.fromEntries(names.map((name) => [name, '']));
    const context = requestOf(label, { ...without(complete, ...names), ...request });
    expect(Object.keys(problemsOf(label, context)).toSorted()).toEqual(names.toSorted());
  });
});

describe('a required field', () => {
  test.each(lines(({ required = {} }) => Object.entries(required)))('%s without %s', (label, field, sentence) => {
    const { complete, settings = {} } = BRAND_EXPECTATIONS[label] as BrandExpectation;
    const context = contextOf(without({ ...USUAL, brand: label, ...complete }, field), without(settings, field));
    expect(problemsOf(label, context)).toEqual({ [field]: sentence });
    expect(askedOf(label, context)).toEqual([]);
  });
});

describe('a value just inside the bounds', () => {
  const valid = lines(({ good = {} }) =>
    Object.entries(good).flatMap(([field, values]) =>
      values.map((value) => [`${field} ${value}`, { field, value }] as const),
    ),
  );
  test.each(valid)('%s accepts %s', (label, _, { field, value }) => {
    const expected = BRAND_EXPECTATIONS[label] as BrandExpectation;
    const fields = exchanged(expected, field, value);
    const context = requestOf(label, fields);
    expect(problemsOf(label, context)).toEqual({});
    expect(askedOf(label, context)).toEqual([]);
    const { parameters, secrets } = brandValues(brandOf(label), context);
    const stored = only(valuesOf(fields), expected.notStored ?? [], false);
    expect({ ...parameters, ...secrets }).toEqual({ ...stored, ...expected.added });
  });
});

describe('a value just outside the bounds or of another type', () => {
  const invalid = lines(({ bad = {} }) =>
    Object.entries(bad).flatMap(([field, values]) =>
      values.map(([value, sentence]) => [`${field} ${value}`, { field, value, sentence }] as const),
    ),
  );
  test.each(invalid)('%s refuses %s', (label, _, { field, value, sentence }) => {
    const fields = exchanged(BRAND_EXPECTATIONS[label] as BrandExpectation, field, value);
    expect(problemsOf(label, requestOf(label, fields))).toEqual({ [field]: sentence });
  });
});

describe('dependencies on other fields', () => {
  test.each(lines(({ cases = [] }) => cases.map((it) => [it.words, it] as const)))('%s: %s', (label, _, it) => {
    const expected = BRAND_EXPECTATIONS[label] as BrandExpectation;
    const fields = changedBy(expected, it.fields);
    const context = requestOf(label, fields);
    expect(problemsOf(label, context)).toEqual(it.problems ?? {});
    if (it.problems) return;
    expect(askedOf(label, context)).toEqual(it.asks ?? []);
    const { parameters, secrets } = brandValues(brandOf(label), context);
    const values = { ...valuesOf(fields), ...expected.added };
    const { secret = [] } = expected;
    expect(parameters).toEqual(it.kept ?? only(values, secret, false));
    expect(secrets).toEqual(only(values, secret, true));
  });
});

describe('hosted-a', () => {
  const { complete, asked = [], subMethods = {} } = BRAND_EXPECTATIONS['hosted-a'] as BrandExpectation;
  const subsets = Array.from({ length: 2 ** asked.length }, (_, bits) => asked.filter((__, at) => bits & (1 << at)));

  test('offers each sub-method when all its fields were sent, and only then', () => {
    for (const sent of subsets) {
      const context = requestOf('hosted-a', without(complete, ...asked.filter((name) => !sent.includes(name))));
      const offered = Object.keys(subMethods).filter((method) => subMethods[method]?.every((it) => sent.includes(it)));
      expect(offeredMethods(brandOf('hosted-a'), context), sent.join()).toEqual(offered);
      expect(problemsOf('hosted-a', context), sent.join()).toEqual({});
    }
  });

  test('asks for nothing when a sub-method is complete, otherwise for the fewest fields that complete one', () => {
    for (const sent of subsets) {
      const context = requestOf('hosted-a', without(complete, ...asked.filter((name) => !sent.includes(name))));
      const lacking = Object.values(subMethods).map((fields) => fields.filter((it) => !sent.includes(it)));
      const least = Math.min(...lacking.map(({ length }) => length));
      const names = askedOf('hosted-a', context);
      expect(names, sent.join()).toHaveLength(least);
      expect(
        lacking.map((fields) => fields.toSorted().join()),
        sent.join(),
      ).toContain(names.toSorted().join());
    }
  });

  test('offers no sub-methods of another brand', () => {
    for (const label of Object.keys(BRANDS).filter((it) => it !== 'hosted-a')) {
      expect(offeredMethods(brandOf(label), requestOf(label, complete)), label).toEqual([]);
    }
  });
});

describe('payout-a', () => {
  const { complete, settings = {} } = BRAND_EXPECTATIONS['payout-a'] as BrandExpectation;

  test('accepts the other fee calculation method of the account', () => {
    const context = requestOf('payout-a', complete, { ...settings, fee_calculation_method: 'transaction_level' });
    expect(brandValues(brandOf('payout-a'), context).parameters).toMatchObject({
      fee_calculation_method: 'transaction_level',
    });
  });

  test('an account_uuid in the request does not replace the missing setting', () => {
    const context = requestOf('payout-a', { ...complete, ...settings }, {});
    expect(problemsOf('payout-a', context)).toEqual({
      account_uuid: NOT_SET,
    });
  });
});

describe('open-banking-a', () => {
  const { complete } = BRAND_EXPECTATIONS['open-banking-a'] as BrandExpectation;
  const LIST = 'parameters[payee_identifications]';

  test('accepts 21 types of identification', () => {
    expect(Object.keys(IDENTIFICATIONS)).toHaveLength(21);
  });

  test('stores the identifications in the order of their indexes, without unknown members', () => {
    const context = requestOf('open-banking-a', {
      ...complete,
      [`${LIST}[10][identification]`]: '31926819',
      [`${LIST}[10][type]`]: 'ACCOUNT_NUMBER',
      [`${LIST}[2][type]`]: 'SORT_CODE',
      [`${LIST}[2][identification]`]: '20-00-00',
      [`${LIST}[2][unknown]`]: 'x',
    });
    expect(problemsOf('open-banking-a', context)).toEqual({});
    const { parameters, secrets } = brandValues(brandOf('open-banking-a'), context);
    expect(parameters).toEqual({ payee_name: 'Ana Petrović', payee_country: 'GB' });
    expect(secrets).toEqual({
      payee_identifications: [
        { type: 'IBAN', identification: 'GB29NWBK60161331926819' },
        { type: 'SORT_CODE', identification: '20-00-00' },
        { type: 'ACCOUNT_NUMBER', identification: '31926819' },
      ],
    });
  });

  test('reports both members of every empty object of the list', () => {
    const context = requestOf('open-banking-a', { ...complete, [`${LIST}[1][unknown]`]: 'x' });
    expect(Object.keys(problemsOf('open-banking-a', context))).toEqual([
      `${LIST}[1][identification]`,
      `${LIST}[1][type]`,
    ]);
  });

  test.each(['first', '-1', '1.5', '', '__proto__', '1e3'])('%j is not an index of a list', (position) => {
    const context = requestOf('open-banking-a', { ...complete, [`${LIST}[${position}][type]`]: 'BIC' });
    expect(problemsOf('open-banking-a', context)).toEqual({ [LIST]: NOT_A_LIST });
  });
});

// Some characters are two UTF-16 code units, but count as one.
test.each([
  ['agg-c', 'parameters[accountName]', '𠮷'.repeat(64), undefined],
  ['agg-c', 'parameters[accountName]', '𠮷'.repeat(65), tooLong(64)],
  ['payout-a', 'payer_last_name', '𠮷'.repeat(60), undefined],
  ['payout-a', 'order_description', '🍕🍕🍕🍕', tooShort(5)],
  ['p2p-a', 'parameters[SecurityQuestionAnswer]', '🐶🐶', tooShort(3)],
  ['p2p-b', 'parameters[SecurityQuestionAnswer]', '🐶'.repeat(25), undefined],
  ['hosted-a', 'parameters[product_name]', '🍕'.repeat(255), undefined],
])('%s counts the characters of %s, not UTF-16 code units', (label, field, value, sentence) => {
  const { complete } = BRAND_EXPECTATIONS[label] as BrandExpectation;
  const problems = problemsOf(label, requestOf(label, { ...complete, [field]: value }));
  expect(problems).toEqual(sentence === undefined ? {} : { [field]: sentence });
});

test.each(['wallet-a', 'wallet-b'])('%s refuses JSON that is not an object', (label) => {
  for (const value of ['[]', '[{}]', '"text"', '1', 'null', 'true']) {
    const problems = problemsOf(label, requestOf(label, { 'parameters[paymentToken]': value }));
    expect(Object.keys(problems), value).toEqual(['parameters[paymentToken]']);
  }
});

test('the schema of a field accepts every value that its check accepts', () => {
  for (const [label, { complete, good = {} }] of BRANDS_EXPECTED) {
    for (const { name, schema } of brandOf(label).fields) {
      const { pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY, enum: choices } = schema;
      for (const value of [complete[name] ?? '', ...(good[name] ?? [])].filter((it) => it !== '')) {
        const where = `${label} ${name} ${value}`;
        if (pattern !== undefined) expect(value, where).toMatch(new RegExp(pattern as string, 'u'));
        expect([...value].length, where).toBeGreaterThanOrEqual(minLength as number);
        expect([...value].length, where).toBeLessThanOrEqual(maxLength as number);
        if (choices !== undefined) expect(choices, where).toContain(value);
      }
    }
  }
});
