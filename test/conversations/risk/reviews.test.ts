/** Reviews: authorise only, wait for a person or the deadline, then capture, void or refund. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Connector, OperationOutcome } from '../../../src/connectors/connector.ts';
import type { Review } from '../../../src/core/context.ts';
import { processDuePayments, processEverythingDue } from '../../../src/core/due/due.ts';
import { LIMITS } from '../../../src/rules/limits.ts';
import { type Merchant, openShop, PROVIDER_POLL } from '../../support/gateway.ts';
import { operationFields } from '../../support/operations.ts';

const shop = openShop({ simulator: true });

async function reviewed(action: Record<string, unknown> = {}): Promise<Merchant> {
  const merchant = await shop.newMerchant();
  const { status } = await shop.admin('POST', '/risk/rules', {
    mid: merchant.mid,
    name: 'Large first orders',
    condition: { field: 'amount', op: '>', value: '50.00', currency: 'EUR' },
    action: { kind: 'review', hours: 24, then: 'refuse', ...action },
    state: 'on',
  });
  expect(status).toBe(201);
  return merchant;
}

const pay = async (merchant: Merchant, fields: Record<string, string> = {}) =>
  (await shop.sale({ order_amount: '60.00', order_currency: 'EUR', ...fields }, merchant)).body;

const waiting = async (merchant: Merchant): Promise<string[]> =>
  (await shop.admin('GET', `/risk/reviews?state=waiting&mid=${merchant.mid}`)).body.items.map(
    (item: { payment_id: string }) => item.payment_id,
  );

const decide = (id: string, decision: string, note = '') =>
  shop.admin('POST', `/risk/reviews/${id}`, { decision, note });

const capture = (merchant: Merchant, trans_id: string) => shop.post(operationFields(merchant, 'CAPTURE', trans_id));

describe('a payment that a rule sends to the review', () => {
  test('is only authorised, and captured by the approval', async () => {
    const merchant = await reviewed();
    const { status, trans_id } = await pay(merchant);
    expect(status).toBe('PENDING');
    expect(await waiting(merchant)).toEqual([trans_id]);
    const payment = await shop.inspect(trans_id);
    expect(payment.risk).toMatchObject({ decision: 'review', review: { state: 'waiting', then: 'refuse' } });
    expect(payment.provider_calls).toMatchObject([{ verb: 'submit', outcome: 'authorised' }]);
    const metrics = await shop.gateway.metrics.text();
    expect(metrics).toMatch(/^turnpike_risk_reviews_waiting [1-9]/m);
    const { status: http, body } = await decide(trans_id, 'approve', 'Called the payer.');
    expect([http, body.status]).toEqual([200, 'SETTLED']);
    expect(await waiting(merchant)).toEqual([]);
    expect((await shop.inspect(trans_id)).risk.review).toMatchObject({ state: 'approved', note: 'Called the payer.' });
    expect((await decide(trans_id, 'refuse')).status).toBe(400);
    expect((await shop.admin('GET', '/audit')).body.items[0]).toMatchObject({ action: 'risk.review' });
  });

  test.each(['a person', 'the deadline'])(
    'stays the authorisation of the merchant after the approval by %s',
    async (by) => {
      const merchant = await reviewed({ then: 'approve' });
      const { trans_id, status } = await pay(merchant, { auth: 'Y' });
      expect([status, await waiting(merchant)]).toEqual(['PENDING', [trans_id]]);
      expect((await capture(merchant, trans_id)).body.error_code).toBe(208003);
      if (by === 'a person')
        expect(await decide(trans_id, 'approve')).toMatchObject({ status: 200, body: { status: 'PENDING' } });
      else await shop.advanceClock(25 * 3600, merchant.mid);
      await processEverythingDue(shop.gateway);
      expect(await shop.inspect(trans_id)).toMatchObject({
        status: 'PENDING',
        risk: { review: { state: 'approved' } },
      });
      expect((await capture(merchant, trans_id)).body).toMatchObject({
        result: 'SUCCESS',
        status: 'SETTLED',
      });
    },
  );

  test('is voided by the refusal', async () => {
    const merchant = await reviewed();
    const { trans_id } = await pay(merchant);
    expect((await decide(trans_id, 'refuse')).body.status).toBe('VOID');
    expect((await shop.inspect(trans_id)).risk.review.state).toBe('refused');
  });

  test('cannot be captured by the merchant meanwhile', async () => {
    const merchant = await reviewed();
    const { trans_id } = await pay(merchant);
    const { status, body } = await shop.admin('POST', `/payments/${trans_id}/capture`);
    expect([status, body.error_code]).toEqual([400, 208003]);
    expect((await capture(merchant, trans_id)).body.error_code).toBe(208003);
    expect((await shop.status(trans_id, merchant)).body.status).toBe('PENDING');
  });

  test.each([
    ['refuse', 'VOID'],
    ['approve', 'SETTLED'],
  ])('without a person, the deadline decides: %s', async (then, state) => {
    const merchant = await reviewed({ then });
    const { trans_id } = await pay(merchant);
    await shop.advanceClock(24 * 3600 - 60, merchant.mid);
    await processEverythingDue(shop.gateway);
    expect((await shop.status(trans_id, merchant)).body.status).toBe('PENDING');
    await shop.advanceClock(120, merchant.mid);
    await processEverythingDue(shop.gateway);
    expect((await shop.status(trans_id, merchant)).body.status).toBe(state);
    expect((await shop.inspect(trans_id)).risk.review.decided_by).toBe('turnpike');
  });

  test('more of them than the work loop takes at a time are all decided, each by the clock of its account', async () => {
    const [many, one] = [await reviewed(), await reviewed()];
    const ids: string[] = [];
    for (let count = 0; count < LIMITS.dueAtATime * 2 + 1; count++) ids.push((await pay(many)).trans_id);
    const { trans_id } = await pay(one);
    await shop.advanceClock(25 * 3600, one.mid);
    await processEverythingDue(shop.gateway);
    expect((await shop.status(trans_id, one)).body.status).toBe('VOID');
    expect(await waiting(many)).toHaveLength(ids.length);
    await shop.advanceClock(25 * 3600, many.mid);
    await processEverythingDue(shop.gateway);
    expect(await waiting(many)).toEqual([]);
    const rows = await shop.rows(`select state from payments where mid = '${many.mid}'`);
    expect(rows.map(({ state }) => state)).toEqual(ids.map(() => 'VOID'));
  });

  test.each([processEverythingDue, processDuePayments])(
    'is captured by its deadline, although the authorisation has ended when the work loop runs again',
    async (work) => {
      const merchant = await reviewed({ hours: 144, then: 'approve' });
      const { trans_id } = await pay(merchant);
      await shop.advanceClock(8 * 86_400, merchant.mid);
      await work(shop.gateway);
      await processEverythingDue(shop.gateway);
      expect((await shop.status(trans_id, merchant)).body.status).toBe('SETTLED');
    },
  );

  test('is decided before the authorisation ends, although its rule gives more hours', async () => {
    const merchant = await reviewed({ hours: 144, then: 'approve' });
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { authorisation_days: 2 });
    const { trans_id } = await pay(merchant);
    const { due_at } = (await shop.inspect(trans_id)).risk.review;
    const hours = (Date.parse(due_at) - Date.now()) / 3_600_000;
    expect([hours > 24, hours < 48]).toEqual([true, true]);
    await shop.advanceClock(hours * 3600 + 60, merchant.mid);
    await processEverythingDue(shop.gateway);
    expect((await shop.status(trans_id, merchant)).body.status).toBe('SETTLED');
  });

  test('a decision whose process died is carried out by the work loop', async () => {
    const merchant = await reviewed();
    const { trans_id } = await pay(merchant);
    await shop.rows(
      `update risk_decisions set review_state = 'approved', review_due_at = date_trunc('milliseconds', now()) where payment_id = '${trans_id}'`,
    );
    await processEverythingDue(shop.gateway);
    expect((await shop.status(trans_id, merchant)).body.status).toBe('SETTLED');
  });

  test('a decision that was made after the work loop has read the review is not undone', async () => {
    const merchant = await reviewed();
    const { trans_id } = await pay(merchant);
    const { reviews } = shop.gateway;
    const [read] = await reviews.list({ mid: merchant.mid, mids: null }, 1);
    expect((await decide(trans_id, 'approve')).status).toBe(200);
    expect(await reviews.reschedule(read as Review, 'waiting', Date.now())).toBe(false);
    expect((await shop.inspect(trans_id)).risk.review.state).toBe('approved');
  });

  test('is not decided with a note that cannot be stored', async () => {
    const merchant = await reviewed();
    const { trans_id } = await pay(merchant);
    for (const note of ['\ud800', 'a\0b', 'a'.repeat(1001)]) {
      const { status, body } = await decide(trans_id, 'approve', note);
      expect([status, body.errors?.[0]?.param]).toEqual([400, 'note']);
    }
    expect((await decide(trans_id, 'approve', 'a 😀')).status).toBe(200);
  });

  test('two people decide at once: one is refused', async () => {
    const merchant = await reviewed();
    const { trans_id } = await pay(merchant);
    const answers = await Promise.all([decide(trans_id, 'approve'), decide(trans_id, 'refuse')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test('that is declined by the bank does not wait for anybody', async () => {
    const merchant = await reviewed();
    const { trans_id, status } = await pay(merchant, { identifier: 'decline@example.com' });
    expect(status).toBe('DECLINED');
    expect(await waiting(merchant)).toEqual([]);
    await processEverythingDue(shop.gateway);
    expect((await shop.inspect(trans_id)).risk.review.state).toBe('over');
  });
});

/** Providers whose answers to operations, and to queries of them, are these. */
function operationsAnswer(operated: OperationOutcome, queried: OperationOutcome = operated): void {
  const { connectors } = shop.gateway;
  const answering = { operate: async () => operated, queryOperation: async () => queried };
  shop.gateway.connectors = Object.fromEntries(
    Object.entries(connectors).map(([name, connector]) => [name, { ...connector, ...answering }]),
  );
  onTestFinished(() => {
    shop.gateway.connectors = connectors;
  });
}

describe('a decision whose operation has no outcome yet', () => {
  test.each([
    ['approve', 'approved', 'SETTLED'],
    ['refuse', 'refused', 'VOID'],
  ])('%s: stays in the queue until the outcome is known', async (decision, state, end) => {
    const merchant = await reviewed();
    const { trans_id } = await pay(merchant);
    operationsAnswer({ kind: 'unknown' }, { kind: 'done' });
    expect(await decide(trans_id, decision)).toMatchObject({ status: 200, body: { status: 'PENDING' } });
    const list = async () => (await shop.admin('GET', `/risk/reviews?state=waiting&mid=${merchant.mid}`)).body.items;
    expect(await list()).toMatchObject([{ payment_id: trans_id, state, in_progress: true, due_at: null }]);
    for (const second of ['approve', 'refuse']) expect((await decide(trans_id, second)).status).toBe(400);
    await shop.advanceClock(600, merchant.mid);
    await processEverythingDue(shop.gateway);
    expect(await shop.inspect(trans_id)).toMatchObject({
      status: end,
      risk: { review: { state, in_progress: false } },
    });
    expect(await list()).toEqual([]);
  });

  test('waits for a person again if the provider declines it later', async () => {
    const merchant = await reviewed();
    const { trans_id } = await pay(merchant);
    operationsAnswer({ kind: 'unknown' }, { kind: 'declined', reason: 'Not possible.' });
    expect((await decide(trans_id, 'approve')).status).toBe(200);
    await shop.advanceClock(600, merchant.mid);
    await processEverythingDue(shop.gateway);
    expect((await shop.inspect(trans_id)).risk.review).toMatchObject({ state: 'waiting', in_progress: false });
    expect(await waiting(merchant)).toEqual([trans_id]);
  });

  test('is requested once, however often the work loop looks at it', async () => {
    const merchant = await reviewed();
    const { trans_id } = await pay(merchant, { brand: 'pin-a', 'parameters[pin]': '1234567890123456' });
    await expect.poll(async () => (await shop.inspect(trans_id)).status, PROVIDER_POLL).toBe('SETTLED');
    operationsAnswer({ kind: 'unknown' });
    expect((await decide(trans_id, 'refuse')).status).toBe(200);
    await shop.advanceClock(300, merchant.mid);
    await processEverythingDue(shop.gateway);
    expect((await shop.inspect(trans_id)).risk.review).toMatchObject({ state: 'refused', in_progress: true });
    expect((await shop.rows(`select from operations where payment_id = '${trans_id}'`)).length).toBe(1);
  });
});

describe('a brand that settles at once', () => {
  const voucher = (merchant: Merchant) => pay(merchant, { brand: 'pin-a', 'parameters[pin]': '1234567890123456' });
  const settledReview = async (): Promise<{ merchant: Merchant; id: string }> => {
    const merchant = await reviewed();
    const { trans_id: id } = await voucher(merchant);
    await expect.poll(async () => (await shop.inspect(id)).status, PROVIDER_POLL).toBe('SETTLED');
    await processEverythingDue(shop.gateway);
    return { merchant, id };
  };

  test('is settled, marked for a person, and refunded by the refusal', async () => {
    const { merchant, id } = await settledReview();
    expect(await shop.inspect(id)).toMatchObject({ attention: 'risk_review', risk: { decision: 'review' } });
    expect(await waiting(merchant)).toEqual([id]);
    expect(await decide(id, 'refuse')).toMatchObject({ status: 200, body: { status: 'REFUND' } });
    expect(await shop.inspect(id)).toMatchObject({ attention: null, risk: { review: { state: 'refused' } } });
  });

  test('stays settled after the approval, without the mark', async () => {
    const { merchant, id } = await settledReview();
    expect(await decide(id, 'approve')).toMatchObject({ status: 200, body: { status: 'SETTLED' } });
    expect((await shop.inspect(id)).attention).toBeNull();
    expect(await waiting(merchant)).toEqual([]);
  });

  test('waits on after its mark was dismissed, and the mark does not return', async () => {
    const { merchant, id } = await settledReview();
    expect((await shop.admin('POST', `/payments/${id}/attention`, { resolve: 'dismiss' })).status).toBe(200);
    await processEverythingDue(shop.gateway);
    expect((await shop.inspect(id)).attention).toBeNull();
    expect(await waiting(merchant)).toEqual([id]);
    expect(await decide(id, 'refuse')).toMatchObject({ status: 200, body: { status: 'REFUND' } });
  });

  test.each(['a refund', 'a chargeback'])('ends without its mark after %s', async (what) => {
    const { merchant, id } = await settledReview();
    expect((await shop.inspect(id)).attention).toBe('risk_review');
    if (what === 'a refund') expect((await shop.admin('POST', `/payments/${id}/refund`)).status).toBe(200);
    else await shop.sandbox('POST', `/payments/${id}`, { chargeback: true });
    await processEverythingDue(shop.gateway);
    expect(await shop.inspect(id)).toMatchObject({ attention: null, risk: { review: { state: 'over' } } });
    expect(await waiting(merchant)).toEqual([]);
  });

  test('whose refund needs a second person ends when the payment is refunded', async () => {
    const { merchant, id } = await settledReview();
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { refund_approval_from: '0.01' });
    const { status, body } = await decide(id, 'refuse');
    expect([status, body.error_message]).toEqual([403, 'This refund needs a second person.']);
    expect(await waiting(merchant)).toEqual([id]);
    const { request_id } = (await shop.admin('POST', `/payments/${id}/refund`)).body.refund_request;
    const { token } = (await shop.admin('POST', '/tokens', { name: 'second', role: 'owner' })).body;
    expect((await shop.admin('POST', `/refund-requests/${request_id}/approve`, undefined, token)).status).toBe(200);
    await processEverythingDue(shop.gateway);
    expect(await shop.inspect(id)).toMatchObject({ status: 'REFUND', risk: { review: { state: 'over' } } });
  });

  test.each([
    ['the account allows no refunds', { refunds_allowed: false }, 'api'],
    ['the provider refunds on its own pages only', {}, 'portal'],
    ['the brand has no refunds', {}, 'none'],
  ] as const)('%s: the refusal says so, and the payment stays in the queue', async (_, settings, refunds) => {
    const { merchant, id } = await settledReview();
    expect((await shop.admin('PATCH', `/accounts/${merchant.mid}`, settings)).status).toBe(200);
    const upstream = shop.gateway.connectors.upstream as Connector;
    const limited = { ...upstream, capabilities: { ...upstream.capabilities, refunds } };
    shop.gateway.connectors = { ...shop.gateway.connectors, upstream: limited };
    onTestFinished(() => {
      shop.gateway.connectors = { ...shop.gateway.connectors, upstream };
    });
    const { status, body } = await decide(id, 'refuse');
    expect([status, body.error_message]).toMatchObject([400, expect.stringMatching(/./)]);
    expect(await waiting(merchant)).toEqual([id]);
    // Nor does the deadline lose it.
    await shop.advanceClock(25 * 3600, merchant.mid);
    await processEverythingDue(shop.gateway);
    expect(await shop.inspect(id)).toMatchObject({ status: 'SETTLED', attention: 'risk_review' });
    expect(await waiting(merchant)).toEqual([id]);
    expect((await decide(id, 'approve')).status).toBe(200);
  });
});
