/** Statements: the columns that are recognised, and the values that are read. */
import { describe, expect, test } from 'vitest';
import {
  type AmountFormat,
  guessDelimiter,
  guessMapping,
  statementAmount,
  statementCurrency,
  statementDate,
  statementType,
} from '../../src/rules/statements.ts';

test.each([
  ['payment_id,amount,currency', { reference: 'payment_id', amount: 'amount', currency: 'currency' }],
  [
    'id,Type,Source,Amount,Currency,Created (UTC)',
    { provider_reference: 'Source', amount: 'Amount', currency: 'Currency', type: 'Type', date: 'Created (UTC)' },
  ],
  [
    'Merchant Reference,Psp Reference,Gross Currency,Gross,Creation Date,Record Type',
    {
      reference: 'Merchant Reference',
      provider_reference: 'Psp Reference',
      amount: 'Gross',
      currency: 'Gross Currency',
      type: 'Record Type',
      date: 'Creation Date',
    },
  ],
  ['a,b', {}],
])('the columns of %s', (header, mapping) => {
  expect(guessMapping(header.split(','))).toEqual(mapping);
});

test.each([
  ['a,b;c,d\n;;;;', 'comma'],
  ['a;b,c;d\r\n', 'semicolon'],
  ['"a;b;c;d",e,f', 'comma'],
  ['a\tb', 'tab'],
  ['a', 'comma'],
])('the delimiter of %j is %s', (text, delimiter) => {
  expect(guessDelimiter(text)).toBe(delimiter);
});

describe('an amount', () => {
  test.each<[string, string, AmountFormat, bigint | undefined]>([
    ['10', 'EUR', 'decimal', 1000n],
    ['10.5', 'EUR', 'decimal', 1050n],
    ['-1,234.56', 'EUR', 'decimal', -123456n],
    ['+1 234 567.00', 'EUR', 'decimal', 123456700n],
    ['10.50000', 'EUR', 'decimal', 1050n],
    ['10.505', 'EUR', 'decimal', undefined],
    ['10.505', 'KWD', 'decimal', 10505n],
    ['100', 'JPY', 'decimal', 100n],
    ['100.00', 'JPY', 'decimal', 100n],
    ['100.50', 'JPY', 'decimal', undefined],
    ['1,23', 'EUR', 'decimal', undefined],
    ['1,23', 'EUR', 'decimal_comma', 123n],
    ['1.234,56', 'EUR', 'decimal_comma', 123456n],
    ['1.23', 'EUR', 'decimal_comma', undefined],
    ['1050', 'EUR', 'minor', 1050n],
    ['10.50', 'EUR', 'minor', undefined],
    ['', 'EUR', 'decimal', undefined],
    ['-', 'EUR', 'decimal', undefined],
    ['1e3', 'EUR', 'decimal', undefined],
    ['1234567890123456', 'EUR', 'decimal', undefined],
  ])('%j in %s as %s is %s', (text, currency, format, minor) => {
    expect(statementAmount(text, currency, format)).toBe(minor);
  });
});

test.each([
  ['charge', false, 'sale'],
  ['Payment Refund', false, 'refund'],
  ['CHARGE-BACK', false, 'chargeback'],
  ['', false, 'sale'],
  ['', true, 'refund'],
  ['sale', true, 'sale'],
  ['fee', false, undefined],
  ['toString', false, undefined],
])('the type %j, negative %s, is %s', (text, isNegative, type) => {
  expect(statementType(text, isNegative)).toBe(type);
});

test.each([
  ['2026-07-31', '2026-07-31T00:00:00.000Z'],
  ['2026-07-31T12:30:00+02:00', '2026-07-31T10:30:00.000Z'],
  ['31.07.2026', '2026-07-31T00:00:00.000Z'],
  ['31.07.2026 12:30', '2026-07-31T12:30:00.000Z'],
  ['31.02.2026', undefined],
  ['07/31/2026', undefined],
  ['yesterday', undefined],
])('the date %s is %s', (text, iso) => {
  const ms = statementDate(text);
  expect(ms === undefined ? undefined : new Date(ms).toISOString()).toBe(iso);
});

test.each([
  ['eur', 'EUR'],
  ['EUR', 'EUR'],
  ['EU', undefined],
  ['constructor', undefined],
])('the currency %s is %s', (text, code) => {
  expect(statementCurrency(text)).toBe(code);
});
