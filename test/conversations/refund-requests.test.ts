/** Refunds that need a second person: requested, approved or refused by somebody else, and checked anew. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { processEverythingDue } from '../../src/core/due/due.ts';
import { markRestored } from '../../src/core/installation/restores.ts';
import { commandCaller } from '../../src/core/operators/principal.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { type Answer, openShop } from '../support/gateway.ts';
import { brandSale, operationFields, operationsOf, refused } from '../support/operations.ts';
import { signedIn, type TestOperator } from '../support/operators.ts';

const shop = openShop({ simulator: true });
const DATE = expect.stringMatching(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/);

let at: ReturnType<typeof operationsOf>;
let tokens: Record<'owner' | 'viewer' | 'small' | 'foreign', string>;
beforeAll(async () => {
  at = operationsOf(shop);
  const { mid } = shop.merchant;
  const other = await shop.newMerchant();
  const tokenOf = async (name: string, body: object): Promise<string> =>
    (await shop.admin('POST', '/tokens', { name, ...body })).body.token;
  tokens = {
    owner: await tokenOf('second', { role: 'owner' }),
    viewer: await tokenOf('viewer', { role: 'viewer' }),
    small: await tokenOf('small', { role: 'merchant_support', mids: [mid], refund_limit: '5.99' }),
    foreign: await tokenOf('foreign', { role: 'owner', mids: [other.mid] }),
  };
  expect((await shop.admin('PATCH', `/accounts/${mid}`, { refund_approval_from: '6' })).status).toBe(200);
});

const request = (id: string, body?: object, token?: string): Promise<Answer> =>
  shop.admin('POST', `/payments/${id}/refund`, body, token);
const decide = (id: string, decision: string, token = tokens.owner): Promise<Answer> =>
  shop.admin('POST', `/refund-requests/${id}/${decision}`, undefined, token);
const waiting = async (body?: object): Promise<{ id: string; requestId: string }> => {
  const id = await at.settled('pin-a');
  const { status, body: answer } = await request(id, body);
  expect(status, JSON.stringify(answer)).toBe(202);
  return { id, requestId: answer.refund_request.request_id };
};
/** What is stored if the process dies after the approval. */
const approveAndDie = (requestId: string) =>
  shop.rows(
    `update refund_requests set state = 'approved', decided_by = 'second', decided_at = now(), due_at = now()
     where request_id = '${requestId}'`,
  );
const refundsOf = async (id: string): Promise<string[]> =>
  (await at.movements(id)).filter((movement) => movement.startsWith('refund'));

describe('a large refund', () => {
  test('waits, and is sent when another person approves it', async () => {
    const id = await at.settled('pin-a');
    const { status, body } = await request(id, { amount: '6.00' });
    expect(status).toBe(202);
    expect(body).toMatchObject({ payment_id: id, status: 'SETTLED', refunded: '0.00', operation: null });
    expect(body.refund_request).toEqual({
      request_id: expect.any(String),
      mid: shop.merchant.mid,
      payment_id: id,
      operation_id: expect.any(String),
      amount: '6.00',
      currency: 'USD',
      note: null,
      state: 'waiting',
      requested_by: expect.any(String),
      requested_at: DATE,
      decided_by: null,
      decided_at: null,
    });
    expect(await refundsOf(id)).toEqual([]);
    const { request_id, operation_id } = body.refund_request;
    const approved = await decide(request_id, 'approve');
    expect([approved.status, approved.body]).toEqual([
      200,
      { ...body.refund_request, state: 'approved', decided_by: 'second', decided_at: DATE },
    ]);
    expect(await refundsOf(id)).toEqual(['refund out 600']);
    expect(await shop.inspect(id)).toMatchObject({
      status: 'SETTLED',
      refunded: '6.00',
      operations: [{ operation_id, operation: 'refund', amount: '6.00', state: 'done' }],
      refund_requests: [{ request_id, state: 'approved' }],
    });
    for (const decision of ['approve', 'refuse']) {
      expect(await decide(request_id, decision)).toMatchObject({
        status: 400,
        body: { error_message: 'This refund is decided already.' },
      });
    }
    expect(await refundsOf(id)).toEqual(['refund out 600']);
    const { body: log } = await shop.admin('GET', '/audit?action=payments.approve_refund');
    expect(log.items[0]).toMatchObject({ subject: id, mid: shop.merchant.mid, after: { request_id } });
    expect((await verifyAt(shop.connection)).violations).toEqual([]);
  });

  test('of everything is for what is left when it is requested', async () => {
    const { id, requestId } = await waiting();
    expect((await request(id, { amount: '1.00' })).status).toBe(200);
    expect(await decide(requestId, 'approve')).toMatchObject(refused('refundTooMuch'));
    expect(await refundsOf(id)).toEqual(['refund out 100']);
  });

  test('cannot be split: the refunds of a payment count together', async () => {
    const id = await at.settled('pin-a');
    expect((await request(id, { amount: '3.00' })).status).toBe(200);
    expect((await request(id, { amount: '2.99' })).status).toBe(200);
    expect((await request(id, { amount: '0.01' })).status).toBe(202);
    expect(await refundsOf(id)).toEqual(['refund out 300', 'refund out 299']);
  });

  test('is refused, and can be requested again', async () => {
    const { id, requestId } = await waiting();
    expect((await decide(requestId, 'refuse')).body).toMatchObject({ state: 'refused', decided_by: 'second' });
    expect(await decide(requestId, 'approve')).toMatchObject({ status: 400 });
    expect(await refundsOf(id)).toEqual([]);
    expect((await request(id)).status).toBe(202);
  });

  test('is requested once for one operation id, and gives the operation once it is approved', async () => {
    const id = await at.settled('pin-a');
    const operation_id = randomUUID();
    const [first, second] = await Promise.all([
      request(id, { amount: '7.00', operation_id }),
      request(id, { amount: '7.00', operation_id }),
    ]);
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(first.body.refund_request).toEqual(second.body.refund_request);
    expect(first.body.refund_request.operation_id).toBe(operation_id);
    expect(await request(id, { amount: '8.00', operation_id })).toMatchObject({
      status: 400,
      body: { error_message: 'operation_id: Duplicate operation.' },
    });
    expect((await decide(first.body.refund_request.request_id, 'approve')).status).toBe(200);
    expect(await request(id, { amount: '7.00', operation_id })).toMatchObject({
      status: 200,
      body: { operation: { operation_id, state: 'done' } },
    });
    expect(await refundsOf(id)).toEqual(['refund out 700']);
  });

  test('does not concern merchants’ own requests, reversals and accounts without the setting', async () => {
    const id = await at.settled('pin-a');
    const { body } = await shop.post(operationFields(shop.merchant, 'CREDITVOID', id));
    expect(body).toMatchObject({ result: 'ACCEPTED' });
    const authorised = await at.authorised('pin-a');
    expect((await request(authorised)).body).toMatchObject({ status: 'REVERSAL' });
    const { body: sale } = await shop.post(brandSale('pin-a', await shop.newMerchant()));
    expect(sale.status).toBe('SETTLED');
    const other = sale.trans_id;
    expect((await request(other)).body).toMatchObject({ status: 'REFUND' });
  });
});

describe('a decision', () => {
  test('is not for the one who requested, nor for those who may not refund, nor for strangers', async () => {
    const { id, requestId } = await waiting();
    const own = await shop.admin('POST', `/refund-requests/${requestId}/approve`);
    expect(own).toMatchObject({
      status: 403,
      body: { error_message: 'Another person has to decide about this refund.' },
    });
    expect((await shop.admin('POST', `/refund-requests/${requestId}/refuse`)).status).toBe(403);
    expect((await decide(requestId, 'approve', tokens.viewer)).status).toBe(403);
    for (const unknown of [requestId, randomUUID(), 'nonsense']) {
      expect(await decide(unknown, 'approve', tokens.foreign)).toMatchObject({
        status: 404,
        body: { error_message: 'Refund request does not exist.' },
      });
    }
    expect(await refundsOf(id)).toEqual([]);
  });

  test('is bounded by the limits of both persons', async () => {
    const { id, requestId } = await waiting({ amount: '6.00' });
    const above = await decide(requestId, 'approve', tokens.small);
    expect([above.status, above.body.errors[0]?.param]).toEqual([403, 'amount']);
    expect((await request(id, { amount: '7.00' }, tokens.small)).status).toBe(403);
    expect(await refundsOf(id)).toEqual([]);
    expect((await decide(requestId, 'approve')).status).toBe(200);
  });

  test('of many at the same time is made once', async () => {
    const { id, requestId } = await waiting({ amount: '10.00' });
    const answers = await Promise.all(
      ['approve', 'refuse', 'approve', 'approve'].map((decision) => decide(requestId, decision)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const { state } = answers.find(({ status }) => status === 200)?.body ?? {};
    expect(await refundsOf(id)).toEqual(state === 'approved' ? ['refund out 1000'] : []);
  });

  test('that was not carried out, because its process died, is carried out later, once', async () => {
    const { id, requestId } = await waiting({ amount: '6.50' });
    await approveAndDie(requestId);
    await processEverythingDue(shop.gateway);
    expect(await refundsOf(id)).toEqual(['refund out 650']);
    await processEverythingDue(shop.gateway);
    expect(await refundsOf(id)).toEqual(['refund out 650']);
    expect(await shop.rows(`select due_at from refund_requests where request_id = '${requestId}'`)).toEqual([
      { due_at: null },
    ]);
  });

  test('that was approved before a restore waits again, because the provider may have made it since the backup', async () => {
    const { id, requestId } = await waiting({ amount: '6.50' });
    await approveAndDie(requestId);
    expect(await markRestored(shop.gateway, commandCaller('backup --restored-from'), Date.now())).toBe(true);
    await processEverythingDue(shop.gateway);
    expect(await shop.admin('POST', '/restore/release', { note: 'Compared with the provider.' })).toMatchObject({
      status: 200,
    });
    await processEverythingDue(shop.gateway);
    await shop.rows('delete from restores');
    expect(await refundsOf(id)).toEqual([]);
    expect((await shop.inspect(id)).refund_requests).toMatchObject([{ state: 'waiting', decided_by: null }]);
    expect((await decide(requestId, 'approve')).status).toBe(200);
    expect(await refundsOf(id)).toEqual(['refund out 650']);
  });

  test('that can no longer be carried out waits again', async () => {
    const { id, requestId } = await waiting();
    expect((await shop.post(operationFields(shop.merchant, 'CREDITVOID', id))).body.result).toBe('ACCEPTED');
    expect((await decide(requestId, 'approve')).status).toBe(400);
    await approveAndDie(requestId);
    await processEverythingDue(shop.gateway);
    expect((await shop.inspect(id)).refund_requests).toMatchObject([{ state: 'waiting', decided_by: null }]);
    expect((await decide(requestId, 'refuse')).body.state).toBe('refused');
  });
});

test('the list has filters, pages and a file', async () => {
  const { id, requestId } = await waiting();
  const list = async (query: string, token?: string): Promise<string[]> =>
    (await shop.admin('GET', `/refund-requests?${query}`, undefined, token)).body.items.map(
      ({ request_id }: { request_id: string }) => request_id,
    );
  expect(await list(`payment_id=${id}&state=waiting`)).toEqual([requestId]);
  expect(await list(`payment_id=${id}&state=refused`)).toEqual([]);
  expect(await list('', tokens.foreign)).toEqual([]);
  expect((await shop.admin('GET', '/refund-requests?state=open')).status).toBe(400);
  const first = (await shop.admin('GET', '/refund-requests?limit=1')).body;
  expect(first.items.map(({ request_id }: { request_id: string }) => request_id)).toEqual([requestId]);
  expect(await list(`limit=1&cursor=${first.next_cursor}`)).not.toContain(requestId);
});

describe('in the panel', () => {
  let author: TestOperator;
  let approver: TestOperator;
  let viewer: TestOperator;
  beforeAll(async () => {
    author = await signedIn(shop, 'operator');
    approver = await signedIn(shop, 'merchant', [shop.merchant.mid]);
    viewer = await signedIn(shop, 'viewer');
  });

  const requested = async (): Promise<{ id: string; path: string }> => {
    const id = await at.settled('pin-a');
    const fields = { amount: '7', reason: 'requested', note: 'A <note>' };
    expect(await author.submit(`/admin/payments/${id}/refund`, fields)).toMatchObject({
      status: 303,
      location: `/admin/payments/${id}?done=refund_requested`,
    });
    const { refund_requests } = await shop.inspect(id);
    return { id, path: `/admin/refund-requests/${refund_requests[0].request_id}` };
  };

  test('a refund waits on the attention list and on the payment, for somebody else', async () => {
    const { id, path } = await requested();
    const own = (await author.get(`/admin/payments/${id}?done=refund_requested`)).text;
    expect(own).toContain('The refund waits until a second person approves it.');
    expect(own).toContain('You requested this refund: another person has to decide.');
    expect(own).toContain('A &lt;note&gt;');
    expect(own).not.toContain(`${path}/approve`);
    expect((await author.get('/admin')).text).toContain('/admin/attention?mark=refund_approval');
    for (const page of [`/admin/payments/${id}`, '/admin/attention?mark=refund_approval']) {
      expect((await approver.get(page)).text).toContain(`${path}/approve`);
      expect((await viewer.get(page)).text).not.toContain(`${path}/approve`);
    }
    expect((await author.submit(`${path}/approve`)).status).toBe(403);
    expect((await viewer.submit(`${path}/approve`)).status).toBe(403);
    const { status, location } = await approver.submit(`${path}/approve`);
    expect(status).toBe(303);
    const after = (await approver.get(location ?? '')).text;
    expect(after).toContain('USD\u00a07.00 was refunded.');
    expect(after).toContain('Refund of USD\u00a07.00 approved');
    expect(after).not.toContain('waits for a second person');
    expect((await author.get('/admin/audit')).text).toContain('approved a refund of the payment');
  });

  test('is refused', async () => {
    const { id, path } = await requested();
    const { location } = await approver.submit(`${path}/refuse`);
    expect(location).toBe(`/admin/payments/${id}?done=refund_refused`);
    const { text } = await approver.get(location ?? '');
    expect(text).toContain('The refund was refused.');
    expect(text).toContain('Refund of USD\u00a07.00 refused');
  });

  test('a payment that has changed meanwhile is said, with what is left', async () => {
    const { id, path } = await requested();
    const { mid } = shop.merchant;
    await shop.admin('PATCH', `/accounts/${mid}`, { refund_approval_from: '' });
    expect((await request(id, { amount: '4.00' })).status).toBe(200);
    await shop.admin('PATCH', `/accounts/${mid}`, { refund_approval_from: '6' });
    const { status, text } = await approver.submit(`${path}/approve`);
    expect(status).toBe(400);
    expect(text).toContain('The refund was not sent');
    expect(text).toContain('USD\u00a06.00');
    expect(text).toContain(`${path}/refuse`);
    expect((await approver.submit(`${path}/refuse`)).status).toBe(303);
    expect(await refundsOf(id)).toEqual(['refund out 400']);
  });
});
