/** Prices by table: percentages, fixed parts, bounds, tax, the line and version that apply, and what refunds return. */
import { expect, test } from 'vitest';
import {
  type Assignment,
  assignedVersion,
  feesOf,
  type PriceLine,
  type PriceVersion,
  price,
  pricedEvents,
  type RefundPolicy,
  returnedOf,
  versionAt,
} from '../../src/rules/pricing.ts';

const line = (given: Partial<PriceLine>): PriceLine => ({
  event: 'sale',
  brands: [],
  networks: [],
  currencies: [],
  connectors: [],
  minAmount: null,
  maxAmount: null,
  percent: null,
  fixed: null,
  minimum: null,
  maximum: null,
  ...given,
});

const version = (given: Partial<PriceVersion>): PriceVersion => ({
  planId: 'plan',
  version: 1,
  validFrom: 0,
  refundPolicy: 'keep',
  taxPercent: '0',
  lines: [],
  ...given,
});

const CARD = { brand: 'card', network: 'visa', currency: 'EUR', connector: 'upstream' };

test.each<[string, Partial<PriceLine>, string, bigint, bigint]>([
  ['a percentage', { percent: '2.9' }, 'EUR', 10_000n, 290n],
  ['half a cent is rounded up', { percent: '2.5' }, 'EUR', 1020n, 26n],
  ['less than half a cent is rounded down', { percent: '2.5' }, 'EUR', 1019n, 25n],
  ['four decimals', { percent: '0.0001' }, 'EUR', 50_000_000n, 50n],
  ['the whole amount', { percent: '100' }, 'EUR', 7n, 7n],
  ['a fixed part is added after rounding', { percent: '2.9', fixed: '0.30' }, 'EUR', 10_000n, 320n],
  ['a fixed part alone', { fixed: '0.30' }, 'EUR', 1n, 30n],
  ['at least the minimum', { percent: '1', minimum: '0.50' }, 'EUR', 1000n, 50n],
  ['at most the maximum', { percent: '1', fixed: '1', maximum: '5' }, 'EUR', 100_000n, 500n],
  ['a price of nothing', {}, 'EUR', 10_000n, 0n],
  ['yen have no decimals', { percent: '3.6', fixed: '30' }, 'JPY', 1999n, 102n],
  ['dinars have three', { percent: '2.75', fixed: '0.125' }, 'KWD', 12_345n, 464n],
  ['amounts beyond 2^53 are exact', { percent: '0.0001' }, 'EUR', 90_071_992_547_409_930_000n, 90_071_992_547_410n],
])('%s', (_name, given, currency, amount, expected) => {
  const { amount: fee } = price(version({ lines: [line(given)] }), 'sale', { ...CARD, currency }, amount);
  expect(fee).toBe(expected);
});

test('tax is rounded half up from the fee', () => {
  const { amount, tax } = price(version({ taxPercent: '19', lines: [line({ fixed: '0.50' })] }), 'sale', CARD, 1000n);
  expect({ amount, tax }).toEqual({ amount: 50n, tax: 10n });
});

test.each<[string, Partial<PriceLine>, boolean]>([
  ['any', {}, true],
  ['its brand', { brands: ['paypal', 'card'] }, true],
  ['another brand', { brands: ['paypal'] }, false],
  ['its network', { networks: ['visa'] }, true],
  ['another network', { networks: ['amex'] }, false],
  ['its currency', { currencies: ['EUR'] }, true],
  ['another currency', { currencies: ['USD'] }, false],
  ['its connector', { connectors: ['upstream'] }, true],
  ['another connector', { connectors: ['stripe'] }, false],
  ['another event', { event: 'refund' }, false],
  ['the least amount', { minAmount: '10' }, true],
  ['more than the amount', { minAmount: '10.01' }, false],
  ['the greatest amount', { maxAmount: '10.0000' }, true],
  ['less than the amount', { maxAmount: '9.99' }, false],
])('a line for %s', (_name, given, isMatch) => {
  const { line: found } = price(version({ lines: [line(given)] }), 'sale', CARD, 1000n);
  expect(found).toBe(isMatch ? 0 : null);
});

test('a line for a network takes no payment whose network is not known', () => {
  const { line: found } = price(
    version({ lines: [line({ networks: ['visa'] })] }),
    'sale',
    { ...CARD, network: null },
    1n,
  );
  expect(found).toBeNull();
});

test('the first line that matches applies', () => {
  const lines = [line({ currencies: ['USD'] }), line({ fixed: '1' }), line({ fixed: '2' })];
  expect(price(version({ lines }), 'sale', CARD, 1000n)).toMatchObject({ amount: 100n, line: 1 });
});

test('an event that no line prices costs nothing', () => {
  const nothing = { amount: 0n, tax: 0n, line: null, percentPart: 0n, percentTax: 0n };
  expect(price(version({ taxPercent: '20' }), 'decline', CARD, 1000n)).toEqual(nothing);
});

/** 2.9 % and 0.30 of 100.00, with 20 % tax: 3.20 and 0.64; the percent part is 2.90 and 0.58. */
const FEE = price(
  version({ taxPercent: '20', lines: [line({ percent: '2.9', fixed: '0.30' })] }),
  'sale',
  CARD,
  10_000n,
);

test.each<[RefundPolicy, bigint, bigint, bigint]>([
  ['keep', 10_000n, 0n, 0n],
  ['proportional', 0n, 0n, 0n],
  ['proportional', 3333n, 97n, 19n],
  ['proportional', 5000n, 145n, 29n],
  ['proportional', 10_000n, 290n, 58n],
  ['full', 9999n, 0n, 0n],
  ['full', 10_000n, 320n, 64n],
])('the policy %s returns of a refund of %s: %s and %s tax', (policy, refunded, amount, tax) => {
  expect(returnedOf(policy, FEE, refunded, 10_000n)).toEqual({ amount, tax });
});

test('the percent part of a fee below its fixed part is nothing', () => {
  const capped = price(version({ lines: [line({ fixed: '1', maximum: '0.40' })] }), 'sale', CARD, 10_000n);
  expect(capped).toMatchObject({ amount: 40n, percentPart: 0n });
});

test('a version applies from its time on, whatever the order of creation', () => {
  const versions = [
    version({ version: 1, validFrom: 10 }),
    version({ version: 2, validFrom: 30 }),
    version({ version: 3, validFrom: 20 }),
  ];
  const applied = [9, 10, 19, 20, 29, 30, 99].map((at) => versionAt(versions, at)?.version);
  expect(applied).toEqual([undefined, 1, 1, 3, 3, 2, 2]);
});

const assigned = (assignedAt: number, ...versions: PriceVersion[]): Assignment => ({
  assignedAt,
  planId: versions[0]?.planId ?? null,
  versions,
});

test('an event is priced by the plan that was assigned at its time', () => {
  const assignments = [
    assigned(10, version({ planId: 'a' })),
    assigned(20),
    assigned(30, version({ planId: 'b', validFrom: 40 })),
  ];
  const applied = [5, 15, 25, 35, 45].map((at) => assignedVersion(assignments, at)?.planId);
  expect(applied).toEqual([undefined, 'a', undefined, undefined, 'b']);
});

test('refunds return what the version of the sale says, in parts that add up', () => {
  const first = version({
    refundPolicy: 'proportional',
    taxPercent: '20',
    lines: [line({ percent: '2.9', fixed: '0.30' }), line({ event: 'refund', fixed: '0.10' })],
  });
  const later = version({ planId: 'later', lines: [line({ event: 'refund', fixed: '0.25' })] });
  const events = [
    { seq: 2, event: 'sale', amount: 10_000n, at: 10 },
    { seq: 3, event: 'refund', amount: 3333n, at: 15 },
    { seq: 4, event: 'refund', amount: 3333n, at: 25 },
    { seq: 5, event: 'refund', amount: 3334n, at: 26 },
  ] as const;
  const fees = feesOf(CARD, events, [assigned(0, first), assigned(20, later)]);
  const shown = fees.map(({ seq, event, isReturned, amount, tax, plan }) => [
    seq,
    isReturned ? `returned ${event}` : event,
    amount,
    tax,
    plan.planId,
    plan.line,
  ]);
  expect(shown).toEqual([
    [2, 'sale', 320n, 64n, 'plan', 0],
    [3, 'returned sale', 97n, 19n, 'plan', 0],
    [3, 'refund', 10n, 2n, 'plan', 1],
    [4, 'returned sale', 96n, 20n, 'plan', 0],
    [4, 'refund', 25n, 0n, 'later', 0],
    [5, 'returned sale', 97n, 19n, 'plan', 0],
    [5, 'refund', 25n, 0n, 'later', 0],
  ]);
});

test('the events of a payment: movements of money, and what was done besides', () => {
  const names = ['opened', 'challenged', 'authenticated', 'authorised', 'authorised', 'captured', 'chargedBack'];
  const isAuthentication = (event: string): boolean => event === 'challenged' || event === 'authenticated';
  const rows = names.map((event, index) => ({
    seq: index + 1,
    event,
    at: index,
    isAuthentication: isAuthentication(event),
  }));
  const movement = (seq: number, category: string) => ({ seq, category, amount: 3n, at: seq });
  const movements = [
    movement(6, 'sale'),
    movement(7, 'chargeback'),
    movement(8, 'chargeback_reversed'),
    movement(9, 'second_chargeback'),
  ];
  const shown = (isAuthorisation: boolean) =>
    pricedEvents({ amount: 5n, isAuthorisation }, rows, movements).map(({ seq, event, amount }) => [
      seq,
      event,
      amount,
    ]);
  expect(shown(true)).toEqual([
    [2, 'three_ds', 5n],
    [4, 'authorisation', 5n],
    [6, 'sale', 3n],
    [7, 'chargeback', 3n],
    [9, 'chargeback', 3n],
  ]);
  expect(shown(false).map(([, event]) => event)).not.toContain('authorisation');
});

test.each([
  ['voided', false, ['void']],
  ['reversed', false, ['void']],
  ['expired', false, []],
  ['abandoned', false, []],
  ['noted declined', false, []],
  ['settled', true, ['three_ds']],
  ['declined', false, ['decline']],
  ['declined', true, ['three_ds', 'decline']],
])('a history row %s (with an authentication: %s) is %j', (event, isAuthentication, expected) => {
  const rows = [{ seq: 2, event, at: 1, isAuthentication }];
  expect(pricedEvents({ amount: 5n, isAuthorisation: true }, rows, []).map((each) => each.event)).toEqual(expected);
});
