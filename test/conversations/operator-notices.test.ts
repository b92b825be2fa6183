/** E-mails that tell operators what is new: chosen by each for itself, sent once, about its own accounts only. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { nextSummaryAt, sendDueNotices } from '../../src/core/operators/notices.ts';
import { openShop, PROVIDER_POLL } from '../support/gateway.ts';
import { waitingLocksOf } from '../support/held-rows.ts';
import { shortenLimits } from '../support/limits.ts';
import { headersOf, partsOf, startMailServer, type TestMailServer } from '../support/mail.ts';
import { brandSale, operationsOf } from '../support/operations.ts';
import { signedIn } from '../support/operators.ts';

// Every topic is due at once.
shortenLimits({ noticeEveryMs: 0, noticePauseMs: 0, noticeSweepMs: 3_600_000 });
const mail = { url: '', from: 'panel@pay.example' };
let server: TestMailServer;
beforeAll(async () => {
  server = await startMailServer();
  mail.url = server.url;
});
afterAll(() => server.stop());
const shop = openShop({ mail, simulator: true });

beforeEach(async () => {
  server.behaviour = 'accepts';
  server.mails.length = 0;
  await shop.rows('delete from operator_notices');
});

/** An operator that wants to be told of these topics. */
async function operatorFor(topics: string[], role = 'owner', mids?: string[]) {
  const operator = await signedIn(shop, role as 'owner', mids);
  expect(
    (await operator.submit('/admin/me/notices', Object.fromEntries(topics.map((topic) => [topic, '1'])))).status,
  ).toBe(303);
  return operator;
}

/** Looks at each chosen topic once; returns what was sent. */
async function look(): Promise<{ to: string; subject: string; text: string }[]> {
  await shop.rows(`update operator_notices set due_at = now() - interval '1 s'`);
  let looks = 0;
  await sendDueNotices(shop.gateway, () => looks++ > 0);
  return server.mails.splice(0).map((received) => ({
    to: received.to[0] ?? '',
    subject: headersOf(received).get('subject') ?? '',
    text: partsOf(received).get('text/plain') ?? '',
  }));
}

const chargedBack = async (merchant = shop.merchant) => {
  const { body } = await shop.sale({}, merchant);
  expect((await shop.sandbox('POST', `/payments/${body.trans_id}`, { chargeback: true })).status).toBe(200);
  await expect.poll(async () => (await shop.inspect(body.trans_id)).status).toBe('CHARGEBACK');
  return body.order_id as string;
};

test('a new chargeback is told once, with its amount and the last day of an answer', async () => {
  const { operatorId } = await operatorFor(['chargebacks']);
  expect(await look()).toEqual([]);
  const order = await chargedBack();
  const [told, ...others] = await look();
  expect(others).toEqual([]);
  expect(told).toMatchObject({
    to: `${operatorId}@example.com`,
    subject: expect.stringMatching(/^New chargebacks at /),
  });
  expect(told?.text).toMatch(new RegExp(`^- ${order}: USD\\s10.00, answer by \\d{4}-\\d\\d-\\d\\d$`, 'm'));
  expect(told?.text).toContain('/admin/chargebacks');
  expect(await look()).toEqual([]);
});

test('an operator is told of its own accounts only', async () => {
  const [own, other] = [await shop.newMerchant(), await shop.newMerchant()];
  await operatorFor(['chargebacks', 'connections'], 'merchant', [own.mid]);
  await chargedBack(other);
  expect(await look()).toEqual([]);
  const order = await chargedBack(own);
  expect((await look()).map(({ text }) => text.includes(order))).toEqual([true]);
});

test('an e-mail that the server does not take now is sent later', async () => {
  await operatorFor(['chargebacks']);
  await chargedBack();
  server.behaviour = 'busy';
  expect(await look()).toEqual([]);
  server.behaviour = 'accepts';
  expect(await look()).toHaveLength(1);
});

test('a payment on the attention list is told by its order, in the language of the operator', async () => {
  const operator = await operatorFor(['attention']);
  await operator.submit('/admin/me/language', { language: 'de' });
  await operationsOf(shop).fault('late_success', { mid: shop.merchant.mid, brand: 'pin-a' });
  const { body } = await shop.post(brandSale('pin-a', shop.merchant));
  await expect.poll(async () => (await shop.inspect(body.trans_id)).attention, PROVIDER_POLL).toBe('late_success');
  const [told] = await look();
  expect(told?.text).toContain(`- ${body.order_id}: `);
  expect(told?.subject).toMatch(/Zahlungen bei .* brauchen eine Entscheidung/);
});

test('a refund that waits for a second person is told once, to those who see the account', async () => {
  const [own, other] = [await shop.newMerchant({ refund_approval_from: '5.00' }), await shop.newMerchant()];
  await operatorFor(['attention'], 'owner', [own.mid]);
  await operatorFor(['attention'], 'owner', [other.mid]);
  const { body } = await shop.sale({}, own);
  expect((await shop.admin('POST', `/payments/${body.trans_id}/refund`)).status).toBe(202);
  expect((await look()).map(({ text }) => text.includes(`- ${body.order_id}: Refunds to approve`))).toEqual([true]);
  expect(await look()).toEqual([]);
});

test('a provider that stops answering is told', async () => {
  await operatorFor(['connections']);
  for (let failures = 0; failures < 5; failures++) shop.gateway.health.failed('upstream', 'No answer');
  const [told] = await look();
  expect(told?.text).toContain('- The installation’s own provider');
  expect(await look()).toEqual([]);
  shop.gateway.health.answered('upstream');
});

test('the week has its counts and amounts', async () => {
  await operatorFor(['summary'], 'viewer');
  const [told] = await look();
  expect(told?.subject).toMatch(/^The week at /);
  expect(told?.text).toMatch(/^- \d+ payments: \d+ paid, \d+ declined, \d+ chargebacks$/m);
});

test('a suspended operator gets nothing', async () => {
  const { operatorId } = await operatorFor(['chargebacks']);
  await chargedBack();
  expect((await shop.admin('PATCH', `/operators/${operatorId}`, { state: 'suspended' })).status).toBe(200);
  expect(await look()).toEqual([]);
});

describe('the page', () => {
  test('offers the topics that the role allows, and keeps the choice', async () => {
    const operator = await operatorFor(['chargebacks', 'connections'], 'merchant', [shop.merchant.mid]);
    const { text } = await operator.get('/admin/me');
    expect(
      [...text.matchAll(/name="(\w+)" value="1"( checked)?/g)].map(([, name, checked]) => [name, !!checked]),
    ).toEqual([
      ['chargebacks', true],
      ['attention', false],
      ['summary', false],
    ]);
  });
});

test.each([
  ['2026-11-16T06:59:59Z', '2026-11-16T07:00:00.000Z'],
  ['2026-11-16T07:00:00Z', '2026-11-23T07:00:00.000Z'],
  ['2026-11-22T23:00:00Z', '2026-11-23T07:00:00.000Z'],
  ['2026-12-31T12:00:00Z', '2027-01-04T07:00:00.000Z'],
])('the summary after %s is sent at %s', (now, next) => {
  expect(new Date(nextSummaryAt(Date.parse(now))).toISOString()).toBe(next);
});

test('an operator who is removed while it chooses is sent to the sign-in', async () => {
  const operator = await signedIn(shop, 'owner');
  const locker = new pg.Client(shop.connection);
  await locker.connect();
  try {
    await locker.query('begin; lock table operator_notices');
    const isWaiting = (locks: number) =>
      expect.poll(() => shop.rows(waitingLocksOf()), { interval: 10 }).toEqual([{ locks }]);
    const choosing = operator.submit('/admin/me/notices', { chargebacks: '1' });
    await isWaiting(1);
    const removing = shop.admin('DELETE', `/operators/${operator.operatorId}`);
    await isWaiting(2);
    await locker.query('rollback');
    expect((await removing).status).toBe(200);
    const { status, headers } = await choosing;
    expect([status, headers.get('location')]).toEqual([303, '/admin/sign-in']);
  } finally {
    await locker.end();
  }
});
