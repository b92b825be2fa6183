/** Sets of risk rules: no rule that matches is left out of the candidates, and each need is asked for once. */
import { expect, test } from 'vitest';
import type { ActiveRule } from '../../src/rules/risk/actions.ts';
import { readCondition } from '../../src/rules/risk/conditions.ts';
import type { Facts } from '../../src/rules/risk/fields.ts';
import { ruleSetOf } from '../../src/rules/risk/rule-set.ts';

const LIST = '01a1ea2e-0000-7000-8000-000000000001';

const rule = (position: number, condition: unknown, more: Partial<ActiveRule> = {}): ActiveRule => ({
  ruleId: `01a1ea2e-0000-7000-8000-${String(position).padStart(12, '0')}`,
  version: 1,
  name: `Rule ${position}`,
  isOfInstallation: false,
  state: 'on',
  priority: 100,
  action: { kind: 'block' },
  condition: readCondition(condition),
  ...more,
});

const COMPARISONS: readonly object[] = [
  ...['=', '!=', '<', '<=', '>', '>='].flatMap((op) =>
    ['10.00', '20.00'].flatMap((value) => ['EUR', 'USD'].map((currency) => ({ field: 'amount', op, value, currency }))),
  ),
  { field: 'amount', op: 'in', value: ['10.00', '20.00'], currency: 'EUR' },
  { field: 'amount', op: '>', value: '10.00', currency: 'EUR', unknown: 'match' },
  { field: 'payer_country', op: '=', value: 'de' },
  { field: 'payer_country', op: '!=', value: 'DE' },
  { field: 'payer_country', op: 'in', value: ['DE', 'de', 'FR'] },
  { field: 'payer_country', op: '=', value: 'DE', unknown: 'match' },
  { field: 'currency', op: '=', value: 'USD' },
  { field: 'bin', op: '=', value: '4111' },
  { field: 'ip', op: 'in', value: ['203.0.113.0/24'] },
  { field: 'is_recurring', op: '=', value: false },
  { field: 'hour', op: '=', value: 9 },
  { field: 'email', op: 'in_list', value: LIST },
  { velocity: { measure: 'count', by: ['email'], within: '1h' }, op: '>', value: 2 },
];

const CONDITIONS: readonly object[] = COMPARISONS.flatMap((one, index) => {
  const other = COMPARISONS[(index * 7 + 3) % COMPARISONS.length];
  return [one, { not: one }, { all: [one, other] }, { any: [one, other] }, { all: [{ any: [one, other] }, other] }];
});

const FACTS: readonly Facts[] = [undefined, 999n, 1000n, 1001n, 2000n].flatMap((amount) =>
  [undefined, 'EUR', 'USD'].flatMap((currency) =>
    [undefined, 'DE', 'FR', 'IT'].map(
      (payer_country) =>
        ({
          ...{ amount, currency, payer_country, bin: '41111111', ip: '203.0.113.7', email: 'jo@example.com' },
          ...{ is_recurring: false, hour: 9 },
        }) as Facts,
    ),
  ),
);

test('the candidates contain every rule that matches, in the order of the rules', () => {
  const set = ruleSetOf(CONDITIONS.map((condition, index) => rule(index, condition)));
  let [matching, candidates] = [0, 0];
  for (const facts of FACTS) {
    for (const isListed of [false, true]) {
      const context = set.context(facts, [isListed ? 3 : 0], [isListed]);
      const matches = ({ condition }: ActiveRule): boolean => condition.matches(context);
      const expected = set.rules.filter(matches);
      expect(set.candidates(facts).filter(matches)).toEqual(expected);
      matching += expected.length;
      candidates += set.candidates(facts).length;
    }
  }
  expect(matching).toBeGreaterThan(0);
  expect(candidates).toBeLessThan(FACTS.length * 2 * CONDITIONS.length);
});

test('of many rules about amounts and countries, only those are evaluated that may match', () => {
  const large = Array.from({ length: 200 }, (_, index) =>
    rule(index, { field: 'amount', op: '>', value: `${100 + index}.00`, currency: 'EUR' }),
  );
  const countries = ['DE', 'FR', 'IT'].map((value, index) =>
    rule(1000 + index, {
      all: [
        { field: 'payer_country', op: '=', value },
        { field: 'is_recurring', op: '=', value: true },
      ],
    }),
  );
  const set = ruleSetOf([...large, ...countries]);
  const names = (facts: Facts): string[] => set.candidates(facts).map(({ name }) => name);
  expect(names({ amount: 10_000n, currency: 'EUR', payer_country: 'FR' })).toEqual(['Rule 1001']);
  expect(names({ amount: 10_150n, currency: 'EUR' })).toEqual(['Rule 0', 'Rule 1']);
  expect(names({ amount: 99_999n, currency: 'USD' })).toEqual([]);
});

test('the same velocity and list are asked for once; the installation measures for itself', () => {
  const velocity = { velocity: { measure: 'count', by: ['email'], within: '1h' }, op: '>', value: 2 };
  const listed = { field: 'email', op: 'in_list', value: LIST };
  const set = ruleSetOf([
    rule(1, { any: [velocity, { all: [velocity, listed] }] }),
    rule(2, { ...velocity, value: 5 }),
    rule(3, { any: [velocity, listed] }, { isOfInstallation: true }),
  ]);
  expect(set.measurements.map(({ isOfInstallation }) => isOfInstallation)).toEqual([false, true]);
  expect(set.lists).toHaveLength(1);
  const matching = (measured: number[], isListed: boolean): string[] => {
    const context = set.context({ email: 'jo@example.com' }, measured, [isListed]);
    return set.rules.filter(({ condition }) => condition.matches(context)).map(({ name }) => name);
  };
  expect(matching([3, 0], false)).toEqual(['Rule 1']);
  expect(matching([9, 0], true)).toEqual(['Rule 1', 'Rule 2', 'Rule 3']);
  expect(matching([0, 3], false)).toEqual(['Rule 3']);
});
