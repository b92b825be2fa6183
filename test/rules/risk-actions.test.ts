/** The actions of risk rules: how they are read, and in which order those of matching rules decide. */
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../src/rules/errors.ts';
import { type Action, type ActiveRule, type DecisionTerms, decide, readAction } from '../../src/rules/risk/actions.ts';
import { readCondition } from '../../src/rules/risk/conditions.ts';
import { ruleSetOf } from '../../src/rules/risk/rule-set.ts';

const NEVER: DecisionTerms = { reviewScore: 0, blockScore: 0, isExempt: () => true };

let rules = 0;
const rule = (action: Action, more: Partial<ActiveRule> = {}): ActiveRule => ({
  ruleId: `01a1ea2e-0000-7000-8000-${String(++rules).padStart(12, '0')}`,
  version: 1,
  name: action.kind,
  isOfInstallation: false,
  state: 'on',
  priority: 100,
  action,
  condition: readCondition({ field: 'currency', op: '=', value: 'EUR' }),
  ...more,
});
const ofInstallation = (action: Action): ActiveRule => rule(action, { isOfInstallation: true });

const decided = (all: ActiveRule[], terms: Partial<DecisionTerms> = {}) => {
  const set = ruleSetOf(all);
  return decide(set.rules, set.context({ currency: 'EUR', amount: 1000n }, [], []), { ...NEVER, ...terms });
};

const BLOCK: Action = { kind: 'block' };
const ALLOW: Action = { kind: 'allow' };
const REVIEW: Action = { kind: 'review', hours: 12, then: 'approve' };
const score = (points: number): Action => ({ kind: 'score', points });

describe('the order', () => {
  test.each<[string, ActiveRule[], string]>([
    ['block of the installation, in spite of all', [BLOCK, ALLOW, REVIEW].map(ofInstallation), 'block'],
    ['allow of the account does not end a block of the installation', [ofInstallation(BLOCK), rule(ALLOW)], 'block'],
    [
      'allow of the installation ends block and review of the account',
      [ofInstallation(ALLOW), rule(BLOCK), rule(REVIEW)],
      'allow',
    ],
    ['allow of the account ends block and review of the account', [rule(ALLOW), rule(BLOCK), rule(REVIEW)], 'allow'],
    ['allow of the account does not end a review of the installation', [rule(ALLOW), ofInstallation(REVIEW)], 'review'],
    [
      'allow of the installation does not end its own review',
      [ofInstallation(ALLOW), ofInstallation(REVIEW)],
      'review',
    ],
    ['review of the installation comes before block of the account', [ofInstallation(REVIEW), rule(BLOCK)], 'review'],
    ['block of the account comes before its review', [rule(REVIEW), rule(BLOCK)], 'block'],
    ['review of the account', [rule(REVIEW)], 'review'],
    ['nothing', [], 'none'],
    ['a rule that only watches decides nothing', [rule(BLOCK, { state: 'shadow' })], 'none'],
  ])('%s', (_, all, decision) => {
    expect(decided(all).decision).toBe(decision);
    expect(decided(all.toReversed()).decision).toBe(decision);
  });

  test.each([
    [39, 'none'],
    [40, 'review'],
    [99, 'review'],
    [100, 'block'],
  ])('a score of %i, with thresholds of 40 and 100', (points, decision) => {
    const all = [rule(score(points + 7)), rule(score(-7))];
    const made = decided(all, { reviewScore: 40, blockScore: 100 });
    expect([made.score, made.decision]).toEqual([points, decision]);
    expect(made.review).toEqual(decision === 'review' ? { hours: 24, then: 'refuse' } : null);
    expect(decided(all).decision).toBe('none');
  });

  test('an allow ends what a score would do', () => {
    expect(decided([rule(score(100)), rule(ALLOW)], { blockScore: 100 }).decision).toBe('allow');
  });
});

test('the priority decides which rule is named first, and no more', () => {
  const [early, late] = [rule(BLOCK, { priority: 1, name: 'early' }), rule(BLOCK, { priority: 2, name: 'late' })];
  for (const all of [
    [early, late],
    [late, early],
  ])
    expect(decided(all).rules.map(({ name }) => name)).toEqual(['early', 'late']);
  expect(decided([rule(ALLOW, { priority: 1 }), ofInstallation(BLOCK)]).decision).toBe('block');
  const first = rule({ kind: 'review', hours: 5, then: 'refuse' }, { priority: 1 });
  expect(decided([rule(REVIEW), first]).review).toEqual({ hours: 5, then: 'refuse' });
});

describe('3-D Secure', () => {
  const exempt: Action = { kind: 'exempt', reason: 'transaction_risk' };
  test.each<[string, Action[], unknown]>([
    ['require_3ds wins', [exempt, { kind: 'skip_3ds' }, { kind: 'require_3ds' }], ['challenge', 'require_3ds']],
    ['exempt', [exempt], ['none', 'transaction_risk']],
    ['skip_3ds', [{ kind: 'skip_3ds' }], ['none', 'skip_3ds']],
    ['nothing', [BLOCK], [null, null]],
  ])('%s', (_, actions, expected) => {
    const { threeDs } = decided(actions.map((action) => rule(action)));
    expect([threeDs.requested, threeDs.reason]).toEqual(expected);
  });

  test('an exemption that is not possible is not asked for', () => {
    const all = [rule(exempt), rule({ kind: 'exempt', reason: 'low_value' })];
    const { threeDs } = decided(all, { isExempt: (reason) => reason === 'low_value' });
    expect(threeDs.reason).toBe('low_value');
    expect(decided(all, { isExempt: () => false }).threeDs.requested).toBeNull();
  });
});

describe('reading', () => {
  const refusalOf = (value: unknown): string | undefined => {
    try {
      readAction(value);
      return undefined;
    } catch (error) {
      return error instanceof Refusal ? error.problems[0]?.field : 'no refusal';
    }
  };

  test.each<[unknown]>([
    [{ kind: 'block' }],
    [{ kind: 'review', hours: 1, then: 'refuse' }],
    [{ kind: 'review', hours: 144, then: 'approve' }],
    [{ kind: 'exempt', reason: 'low_value' }],
    [{ kind: 'score', points: -1000 }],
  ])('%j', (value) => {
    expect(readAction(value)).toEqual(value);
  });

  test.each([
    ['block', 'action'],
    [null, 'action'],
    [{}, 'action.kind'],
    [{ kind: 'stop' }, 'action.kind'],
    [{ kind: 'toString' }, 'action.kind'],
    [{ kind: 'block', hours: 1 }, 'action'],
    [{ kind: 'review', then: 'refuse' }, 'action.hours'],
    [{ kind: 'review', hours: 0, then: 'refuse' }, 'action.hours'],
    [{ kind: 'review', hours: 145, then: 'refuse' }, 'action.hours'],
    [{ kind: 'review', hours: 1.5, then: 'refuse' }, 'action.hours'],
    [{ kind: 'review', hours: '24', then: 'refuse' }, 'action.hours'],
    [{ kind: 'review', hours: 24, then: 'maybe' }, 'action.then'],
    [{ kind: 'exempt' }, 'action.reason'],
    [{ kind: 'score', points: 1001 }, 'action.points'],
    [{ kind: 'score', points: '5' }, 'action.points'],
  ])('%j is refused at %s', (value, field) => {
    expect(refusalOf(value)).toBe(field);
  });
});
