/** Decisions of risk rules in the database: a payment counts before it is decided, and a decision is not loosened. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { NOTHING_ASKED } from '../../../src/rules/risk/actions.ts';
import { readCondition } from '../../../src/rules/risk/conditions.ts';
import type { NewDecision } from '../../../src/store/risk/decisions.ts';
import type { Evaluation, Findings } from '../../../src/store/risk/findings.ts';
import { openShop } from '../../support/gateway.ts';

const shop = openShop();

const measurements = readCondition({
  velocity: { measure: 'count', by: ['email'], within: '1h' },
  op: '>',
  value: 3,
}).velocities.map((velocity) => ({ velocity, isOfInstallation: false }));

const evaluation = (email: string, more: Partial<Evaluation> = {}): Evaluation => ({
  ...{ mid: shop.merchant.mid, paymentId: randomUUID(), at: Date.now(), amount: 1000n, currency: 'USD' },
  ...{ brand: 'vcard', keys: { email }, values: { brand: 'vcard' }, measurements, lookups: [], volumes: [] },
  ...more,
});

const none = (item: Evaluation): NewDecision => ({
  ...{ decision: 'none', score: 0, rules: [], shadow: [], threeDs: NOTHING_ASKED, input: item.values, failure: null },
  ...{ reviewState: null, reviewThen: null, reviewDueAt: null, isAuthorisation: false },
});
const block = (item: Evaluation): NewDecision => ({
  ...none(item),
  decision: 'block',
  rules: [
    {
      ...{ rule_id: randomUUID(), version: 1, name: 'A rule', state: 'on' },
      ...{ action: { kind: 'block' }, of_installation: false },
    },
  ],
});
const failed = (item: Evaluation): NewDecision => ({
  ...none(item),
  ...{
    decision: 'review',
    failure: 'It failed.',
    reviewState: 'waiting',
    reviewThen: 'refuse',
    reviewDueAt: Date.now(),
  },
});

/** How many payments with the same key were counted before this one. */
async function counted(item: Evaluation, decide = none): Promise<unknown> {
  let measured: Findings['measured'] = [];
  await shop.gateway.riskDecisions.evaluate(item, (found) => {
    measured = found.measured;
    return decide(item);
  });
  return measured[0];
}

const store = () => shop.gateway.riskDecisions;

test('a payment counts before it is decided, and its row stands if no rule matches', async () => {
  const item = evaluation('once');
  const [first] = await Promise.allSettled([
    store().evaluate(item, () => {
      throw new Error('The decision failed.');
    }),
  ]);
  expect(first.status).toBe('rejected');
  expect(await counted(evaluation('once'))).toBe(1);
  expect(await counted(evaluation('another'))).toBe(0);
  expect(await store().find(item)).toMatchObject({ decision: 'none', rules: [], input: { brand: 'vcard' } });
});

test('payments of one batch count each other in their order', async () => {
  const items = Array.from({ length: 20 }, () => evaluation('together'));
  const counts = await Promise.all(items.map((item, index) => counted(item, index % 3 === 0 ? block : none)));
  expect(counts).toEqual(items.map((_, index) => index));
});

test('what a rule decides replaces the row; further facts are added to its input', async () => {
  const [blocked, found] = [evaluation('two'), evaluation('two')];
  await counted(blocked, block);
  expect(await store().find(blocked)).toMatchObject({ decision: 'block', rules: [{ name: 'A rule' }] });
  await counted(found, (item) => ({ ...none(item), input: { ...item.values, bin_country: 'DE' } }));
  expect((await store().find(found))?.input).toEqual({ brand: 'vcard', bin_country: 'DE' });
});

test('a failure is recorded over a row that was not decided, and over no decision', async () => {
  const [lost, decided] = [evaluation('three'), evaluation('three')];
  await counted(lost);
  await store().record(lost, failed(lost));
  expect(await store().find(lost)).toMatchObject({ decision: 'review', failure: 'It failed.', reviewState: 'waiting' });
  await counted(decided, block);
  await store().record(decided, failed(decided));
  expect(await store().find(decided)).toMatchObject({ decision: 'block', failure: null, reviewState: null });
  expect(await counted(evaluation('three'))).toBe(2);
});

test('a payment that cannot be written fails alone', async () => {
  const wrong = evaluation('four', { values: { brand: '\0' } });
  const answers = await Promise.allSettled([counted(evaluation('four')), counted(wrong), counted(evaluation('four'))]);
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await counted(evaluation('four'))).toBe(2);
});
