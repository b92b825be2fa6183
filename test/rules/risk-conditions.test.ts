/** The language of risk conditions: each operator with each kind of field, known and unknown, and how trees combine. */
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../src/rules/errors.ts';
import { CONDITION_LIMITS, type ConditionContext, OPS, readCondition } from '../../src/rules/risk/conditions.ts';
import { type Facts, RISK_FIELD_NAMES, type RiskFieldName, riskField } from '../../src/rules/risk/fields.ts';

const LIST = '01a1ea2e-0000-7000-8000-000000000001';

const contextOf = (facts: Facts, more: Partial<ConditionContext> = {}): ConditionContext => ({
  facts,
  isListed: () => false,
  measured: () => undefined,
  ...more,
});
const matches = (condition: unknown, facts: Facts, more: Partial<ConditionContext> = {}): boolean =>
  readCondition(condition).matches(contextOf(facts, more));

/** The refusal of a condition as `field: sentence`; undefined if it is valid. */
function refusalOf(condition: unknown): string | undefined {
  try {
    readCondition(condition);
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.problems[0]?.field;
  }
}

type Value = string | number | boolean | bigint;
interface Example {
  /** What a payment has, the same as it is written in a condition, another value, and one above it in the order. */
  fact: Value;
  same: Value;
  other: Value;
  above?: Value;
  extra?: Record<string, unknown>;
  facts?: Facts;
}

const card = 'a'.repeat(64);
const EXAMPLES: Readonly<Record<RiskFieldName, Example>> = {
  amount: {
    fact: 1000n,
    same: '10.00',
    other: '9.99',
    above: '10.01',
    extra: { currency: 'EUR' },
    facts: { currency: 'EUR' },
  },
  currency: { fact: 'EUR', same: 'EUR', other: 'USD' },
  brand: { fact: 'card', same: 'card', other: 'vcard' },
  network: { fact: 'visa', same: 'visa', other: 'mastercard' },
  bin: { fact: '41111111', same: '4111', other: '4222' },
  bin_country: { fact: 'DE', same: 'de', other: 'FR' },
  funding: { fact: 'prepaid', same: 'prepaid', other: 'credit' },
  payer_country: { fact: 'DE', same: 'de', other: 'FR' },
  ip_country: { fact: 'DE', same: 'de', other: 'FR' },
  ip: { fact: '203.0.113.7', same: '203.0.113.0/24', other: '198.51.100.1' },
  email: { fact: 'jo@example.com', same: 'Jo@Example.com', other: 'al@example.com' },
  email_domain: { fact: 'example.com', same: 'EXAMPLE.com', other: 'example.org' },
  phone: { fact: '+49301234567', same: '+49 30 1234567', other: '+49 30 7654321' },
  card: { fact: card, same: card, other: 'b'.repeat(64) },
  protocol: { fact: 's2s', same: 's2s', other: 'checkout' },
  is_recurring: { fact: true, same: true, other: false },
  is_new_card: { fact: true, same: true, other: false },
  hour: { fact: 12, same: 12, other: 11, above: 13 },
};

/** What each operator says about an equal, a lower and a higher value in the condition. */
const EXPECTED: Readonly<Record<string, { same: boolean; other: boolean; above?: boolean }>> = {
  '=': { same: true, other: false, above: false },
  '!=': { same: false, other: true, above: true },
  '<': { same: false, other: false, above: true },
  '<=': { same: true, other: false, above: true },
  '>': { same: false, other: true, above: false },
  '>=': { same: true, other: true, above: false },
};

const opsOf = (name: RiskFieldName): string[] => {
  const { type, list } = riskField(name);
  const ordered = type === 'amount' || type === 'number';
  return [
    '=',
    '!=',
    ...(ordered ? ['<', '<=', '>', '>='] : []),
    ...(type === 'flag' ? [] : ['in']),
    ...(list ? ['in_list'] : []),
  ];
};

describe.each(RISK_FIELD_NAMES)('%s', (name) => {
  const { fact, same, other, above, extra = {}, facts = {} } = EXAMPLES[name];
  const known = { ...facts, [name]: fact } as Facts;
  const withValue = (op: string, value: unknown) => ({ field: name, op, value, ...extra });
  const isSingle = (op: string): boolean => op !== 'in' && op !== 'in_list';

  test.each(opsOf(name).filter(isSingle))('%s', (op) => {
    const expected = EXPECTED[op];
    expect(matches(withValue(op, same), known), 'the same').toBe(expected?.same);
    expect(matches(withValue(op, other), known), 'another').toBe(expected?.other);
    if (above !== undefined) expect(matches(withValue(op, above), known), 'above').toBe(expected?.above);
  });

  test.runIf(opsOf(name).includes('in'))('in', () => {
    expect(matches(withValue('in', [other, same]), known)).toBe(true);
    expect(matches(withValue('in', [other]), known)).toBe(false);
    expect(refusalOf(withValue('in', []))).toBe('condition.value');
    expect(refusalOf(withValue('in', same))).toBe('condition.value');
  });

  test.runIf(opsOf(name).includes('in_list'))('in_list', () => {
    const condition = { field: name, op: 'in_list', value: LIST };
    const isListed: ConditionContext['isListed'] = ({ listId, field }) => listId === LIST && field === name;
    expect(matches(condition, known, { isListed })).toBe(true);
    expect(matches(condition, known)).toBe(false);
  });

  test.each(opsOf(name))('%s of a value that is missing', (op) => {
    const value = op === 'in_list' ? LIST : op === 'in' ? [same] : same;
    const condition = { field: name, op, value, ...(op === 'in_list' ? {} : extra) };
    const { [name]: _, ...unknown } = known;
    expect(matches(condition, unknown), 'without unknown').toBe(false);
    expect(matches({ ...condition, unknown: 'no_match' }, unknown)).toBe(false);
    expect(matches({ ...condition, unknown: 'match' }, unknown)).toBe(true);
  });

  test('other operators and values of another type are refused with their node', () => {
    for (const op of OPS.filter((one) => !opsOf(name).includes(one)))
      expect(refusalOf(withValue(op, same)), op).toBe('condition.op');
    for (const wrong of [null, {}, [], undefined, typeof same === 'string' ? 5 : '5'])
      expect(refusalOf(withValue('=', wrong)), String(wrong)).toBe('condition.value');
    expect(refusalOf({ ...withValue('=', same), more: 1 })).toBe('condition.more');
  });
});

describe('velocities', () => {
  const velocity = { measure: 'count', by: ['card'], within: '10m' };

  test.each(['=', '!=', '<', '<=', '>', '>='])('%s', (op) => {
    const condition = (value: number) => ({ velocity, op, value });
    const measured = () => 3;
    expect(matches(condition(3), {}, { measured })).toBe(EXPECTED[op]?.same);
    expect(matches(condition(2), {}, { measured })).toBe(EXPECTED[op]?.other);
    expect(matches(condition(4), {}, { measured })).toBe(EXPECTED[op]?.above);
    expect(matches(condition(3), {}), 'a key is missing').toBe(false);
    expect(matches({ ...condition(3), unknown: 'match' }, {})).toBe(true);
  });

  test('of amounts count in their currency only', () => {
    const condition = { velocity: { ...velocity, measure: 'amount' }, op: '>=', value: '1.00', currency: 'EUR' };
    const measured = () => 100n;
    expect(matches(condition, { currency: 'EUR' }, { measured })).toBe(true);
    expect(matches(condition, { currency: 'USD' }, { measured })).toBe(false);
  });

  test.each(['in', 'in_list'])('have no operator %s', (op) => {
    expect(refusalOf({ velocity, op, value: 3 })).toBe('condition.op');
  });
});

test('an amount in another currency does not match, whatever the operator', () => {
  for (const op of ['=', '!=', '<', '<=', '>', '>='])
    expect(matches({ field: 'amount', op, value: '10.00', currency: 'EUR' }, { amount: 1000n, currency: 'USD' })).toBe(
      false,
    );
});

describe('trees', () => {
  const [yes, no] = [true, false].map((value) => ({ field: 'is_recurring', op: '=', value }));
  const facts: Facts = { is_recurring: true };

  test.each([
    [{ all: [yes, yes] }, true],
    [{ all: [yes, no] }, false],
    [{ any: [no, yes] }, true],
    [{ any: [no, no] }, false],
    [{ not: no }, true],
    [{ not: { any: [no, { all: [yes, { not: no }] }] } }, false],
  ])('%j', (condition, expected) => {
    expect(matches(condition, facts)).toBe(expected);
  });

  const nested = (levels: number): unknown => (levels === 1 ? yes : { not: nested(levels - 1) });

  test('of the most levels and nodes are taken, and one more is refused with its node', () => {
    const { levels, nodes } = CONDITION_LIMITS;
    expect(refusalOf(nested(levels))).toBeUndefined();
    expect(refusalOf(nested(levels + 1))).toBe(`condition${'.not'.repeat(levels)}`);
    const wide = (count: number) => ({ all: Array.from({ length: count }, () => yes) });
    expect(refusalOf(wide(nodes - 1))).toBeUndefined();
    expect(refusalOf(wide(nodes))).toBe(`condition.all[${nodes - 1}]`);
  });

  test.each([
    ['a text', 'condition'],
    [null, 'condition'],
    [[], 'condition'],
    [{}, 'condition.field'],
    [{ all: [yes], any: [yes] }, 'condition.any'],
    [{ all: {} }, 'condition.all'],
    [{ not: [yes] }, 'condition.not'],
    [{ all: [{ any: [{ not: { field: 'x' } }] }] }, 'condition.all[0].any[0].not.field'],
    [{ field: 'email', op: '=', value: 'a@b.example', currency: 'EUR' }, 'condition.currency'],
    [{ field: '__proto__', op: '=', value: 'x' }, 'condition.field'],
  ])('%j is refused', (condition, field) => {
    expect(refusalOf(condition)).toBe(field);
  });
});
