/** What an operator decides about payments on the attention list, and what each decision does to the money. */
import { afterAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/lib/crypto/id.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { entryOf } from '../support/entries.ts';
import { type Answer, type Fields, newOrderId, openShop, PROVIDER_POLL, sign } from '../support/gateway.ts';
import { brandSale, operationsOf, refused } from '../support/operations.ts';

const shop = openShop({ simulator: true });
const UNKNOWN_ID = '01990000-0000-7000-8000-000000000000';

const decide = async (id: string, body: unknown) => {
  const answer = await shop.admin('POST', `/payments/${id}/attention`, body);
  return { status: answer.status, body: answer.body };
};
const refusedAs = (sentence: string) => refused('invalidData', `resolve: ${sentence}`);
const NOT_MARKED = refusedAs('This payment does not need attention, or no longer does.');

/** A payment that the provider declines at first and settles, or reserves, soon afterwards. */
async function lateSuccess(brand = 'pin-a', fields: Fields = {}, faults: string[] = []): Promise<string> {
  const at = operationsOf(shop);
  for (const mode of ['late_success', ...faults]) await at.fault(mode, { mid: shop.merchant.mid, brand });
  const { body } = await shop.post(brandSale(brand, shop.merchant, fields));
  expect(body).toMatchObject({ status: 'DECLINED' });
  await expect.poll(async () => (await shop.inspect(body.trans_id)).attention, PROVIDER_POLL).not.toBeNull();
  return body.trans_id;
}

const movements = (id: string) => operationsOf(shop).movements(id);
const callbacksOf = async (id: string): Promise<string[]> =>
  (await shop.inspect(id)).callbacks.map(
    ({ type, sequence }: { type: string; sequence: number }) => `${sequence} ${type}`,
  );
const lastAudit = async () => (await shop.admin('GET', '/audit?limit=1')).body.items[0];

afterAll(async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});

describe('accept', () => {
  test('settles the payment, and writes the callback of the success with it', async () => {
    const id = await lateSuccess();
    const accepted = await decide(id, { resolve: 'accept', note: ' The shop has shipped. ' });
    expect(accepted).toMatchObject({
      status: 200,
      body: {
        status: 'SETTLED',
        attention: null,
        authorised: '10.00',
        captured: '10.00',
        decline_reason: null,
        operation: null,
      },
    });
    const { history, callbacks } = await shop.inspect(id);
    expect(history.at(-1)).toMatchObject({
      event: 'acceptedLate',
      from: 'DECLINED',
      to: 'SETTLED',
      actor: 'operator',
      actor_name: 'TURNPIKE_ADMIN_TOKEN',
      note: 'The shop has shipped.',
    });
    expect(callbacks.at(-1)).toMatchObject({ type: 'sale', sequence: history.length });
    const { body } = await shop.admin('GET', `/callbacks/${id}-${history.length}`);
    expect(Object.fromEntries(new URLSearchParams(body.body))).toMatchObject({ result: 'SUCCESS', status: 'SETTLED' });
    expect(body.body).not.toContain('decline_reason');
    expect(await lastAudit()).toMatchObject({
      action: 'payments.resolve_attention',
      subject: id,
      before: { attention: 'late_success', status: 'DECLINED' },
      after: { resolve: 'accept', note: 'The shop has shipped.' },
    });
    expect((await shop.status(id)).body).toMatchObject({ status: 'SETTLED' });
    expect((await shop.admin('POST', `/payments/${id}/refund`)).body).toMatchObject({ status: 'REFUND' });
    expect(await movements(id)).toEqual(['sale in 1000', 'refund out 1000']);
  });

  test('reports count the money when the operator decided', async () => {
    const sums = async () => (await shop.admin('GET', `/reports?mid=${shop.merchant.mid}`)).body;
    const id = await lateSuccess();
    const before = JSON.stringify(await sums());
    await decide(id, { resolve: 'accept' });
    expect(JSON.stringify(await sums())).not.toBe(before);
  });

  test('is refused if the order was tried again, whatever became of that; a refund is possible', async () => {
    for (const identifier of ['success@example.com', 'decline@example.com']) {
      const order_id = newOrderId();
      const id = await lateSuccess('pin-a', { order_id });
      await shop.advanceClock(16);
      const { body } = await shop.sale({ order_id, identifier });
      expect(body.trans_id).not.toBe(id);
      expect(await decide(id, { resolve: 'accept' })).toEqual(
        refusedAs(
          `The order has a later payment (${body.trans_id}): only the newest payment of an order can be accepted. Refund this one.`,
        ),
      );
      expect(await decide(id, { resolve: 'refund' })).toMatchObject({ status: 200, body: { attention: null } });
    }
  });

  test('counts for the volume limits at once', async () => {
    const { mid } = shop.merchant;
    const limit = { per: 'month', currency: 'USD', brands: [], amount: '1000000.00' };
    const used = async (): Promise<number> => Number((await shop.admin('GET', `/accounts/${mid}`)).body.volume[0].used);
    expect((await shop.admin('PATCH', `/accounts/${mid}`, { volume_limits: [limit] })).status).toBe(200);
    const id = await lateSuccess('pin-a', { order_currency: 'USD' });
    expect((await shop.sale({ order_currency: 'USD' })).body.status).toBe('SETTLED');
    const before = await used();
    expect((await decide(id, { resolve: 'accept' })).status).toBe(200);
    expect(await used()).toBe(before + 10);
    await shop.admin('PATCH', `/accounts/${mid}`, { volume_limits: [] });
  });

  test('an order whose payment was accepted cannot be paid again', async () => {
    const order_id = newOrderId();
    const id = await lateSuccess('pin-a', { order_id });
    await shop.advanceClock(16);
    await decide(id, { resolve: 'accept' });
    expect((await shop.sale({ order_id })).body).toMatchObject({ error_message: 'order_id: Duplicate payment.' });
  });

  test('and a new attempt at the same time: only one of them is written', async () => {
    for (let round = 0; round < 5; round++) {
      const order_id = newOrderId();
      const id = await lateSuccess('pin-a', { order_id });
      await shop.advanceClock(16);
      const [accepted, { body: again }] = await Promise.all([
        decide(id, { resolve: 'accept' }),
        shop.sale({ order_id }),
      ]);
      const states = await shop.rows(`select state from payments where order_id = '${order_id}' order by attempt`);
      if (accepted.status === 200) expect([states, again.result]).toEqual([[{ state: 'SETTLED' }], 'ERROR']);
      else expect(states).toEqual([{ state: 'DECLINED' }, { state: 'SETTLED' }]);
    }
  });

  test('a scheduled charge that was accepted is not charged again', async () => {
    const merchant = await shop.newMerchant();
    const { mid, client_key, password } = merchant;
    const terms = { name: 'Weekly', interval_length: '1', interval_unit: 'week', payments_count: '3' };
    const { body } = await shop.post({ action: 'CREATE_SCHEDULE', client_key, ...terms, hash: sign(password) });
    const { schedule_id } = body;
    await shop.sale({ recurring_init: 'Y', schedule_id }, merchant);
    await operationsOf(shop).fault('late_success', { mid, brand: 'vcard' });
    await shop.advanceClock(7 * 86_400, mid);
    const charges = async () => (await shop.admin('GET', `/payments?schedule_id=${schedule_id}&mid=${mid}`)).body.items;
    await expect.poll(async () => (await charges())[0].attention, PROVIDER_POLL).toBe('late_success');
    expect(await decide((await charges())[0].payment_id, { resolve: 'accept' })).toMatchObject({ status: 200 });
    await shop.advanceClock(86_400, mid);
    expect((await charges()).map((one: { status: string }) => one.status)).toEqual(['SETTLED', 'SETTLED']);
    const { items } = (await shop.admin('GET', `/schedules?mid=${mid}`)).body;
    expect(items[0].subscriptions).toMatchObject([{ state: 'active', occurrences: 1, failed: 0 }]);
  });

  test('is refused while the provider has only reserved the amount; a refund releases it', async () => {
    const id = await lateSuccess('pin-a', { auth: 'Y' });
    expect(await decide(id, { resolve: 'accept' })).toEqual(
      refusedAs('The provider has only reserved the amount, so there is nothing to accept. A refund releases it.'),
    );
    expect(await decide(id, { resolve: 'refund' })).toMatchObject({
      status: 200,
      body: { status: 'DECLINED', attention: null, operation: { operation: 'late_void', state: 'done' } },
    });
    expect(await operationsOf(shop).atProvider(`/v1/payments/${id}`)).toMatchObject({ status: 'voided' });
  });
});

describe('refund', () => {
  test('sends the money back; the payment keeps its state, and the merchant gets no callback', async () => {
    const id = await lateSuccess();
    const before = await callbacksOf(id);
    const operation_id = '01990000-0000-7000-8000-0000000000aa';
    const wanted = { resolve: 'refund', note: 'Paid twice', operation_id };
    const answer = await decide(id, wanted);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        status: 'DECLINED',
        attention: null,
        captured: '0.00',
        refunded: '0.00',
        operation: { operation_id, operation: 'late_refund', state: 'done', amount: '10.00' },
      },
    });
    expect(await decide(id, wanted)).toEqual(answer);
    expect(await shop.events(id)).toEqual([
      'opened',
      'declined',
      'noted settled',
      'requested late_refund',
      'lateRefunded',
    ]);
    const { history, operations } = await shop.inspect(id);
    expect(history[3]).toMatchObject({ actor: 'operator', actor_name: 'TURNPIKE_ADMIN_TOKEN', note: 'Paid twice' });
    expect(operations).toMatchObject([{ operation: 'late_refund', state: 'done' }]);
    expect(await callbacksOf(id)).toEqual(before);
    expect(await movements(id)).toEqual(['sale in 1000', 'refund out 1000']);
  });

  test('a success that is reported again afterwards is recorded and not marked', async () => {
    const id = await lateSuccess();
    await decide(id, { resolve: 'refund' });
    await operationsOf(shop).control(id, { provider_status: 'executed' });
    expect((await shop.events(id)).at(-1)).toBe('noted settled');
    expect(await shop.inspect(id)).toMatchObject({ attention: null });
    expect(await decide(id, { resolve: 'refund' })).toEqual(NOT_MARKED);
  });

  test('without an answer the mark stays, and the janitor finds the outcome', async () => {
    const id = await lateSuccess();
    await operationsOf(shop).fault('timeout_after', { mid: shop.merchant.mid, brand: 'pin-a' });
    expect(await decide(id, { resolve: 'refund' })).toMatchObject({
      status: 200,
      body: { attention: 'late_success', operation: { state: 'sent' } },
    });
    const inProgress = refusedAs(
      'Another operation of this payment is in progress: late_refund. Wait for its outcome.',
    );
    for (const resolve of ['accept', 'refund', 'dismiss']) expect(await decide(id, { resolve })).toEqual(inProgress);
    await shop.advanceClock(60);
    expect(await shop.inspect(id)).toMatchObject({ attention: null, operations: [{ state: 'done' }] });
    expect(await movements(id)).toEqual(['sale in 1000', 'refund out 1000']);
  });

  test('a provider that declines it: the mark stays, and the operation says why', async () => {
    const id = await lateSuccess('pin-a', {}, ['wrong_amount']);
    expect(await shop.inspect(id)).toMatchObject({
      attention: 'wrong_amount',
      provider_calls: [{}, { outcome: 'settled, wrong amount', reported: '10.01 USD' }],
    });
    const reason = 'The amount is more than what is left of the payment.';
    expect(await decide(id, { resolve: 'refund' })).toMatchObject({
      status: 200,
      body: { attention: 'wrong_amount', operation: { amount: '10.01', state: 'declined', reason } },
    });
    expect(await shop.inspect(id)).toMatchObject({ attention: 'wrong_amount', operations: [{ reason }] });
    expect(await movements(id)).toEqual(['sale in 1000']);
    expect(await decide(id, { resolve: 'dismiss' })).toMatchObject({ status: 200, body: { attention: null } });
  });

  test('is refused for a payout, which can be accepted', async () => {
    await shop.admin('PATCH', `/accounts/${shop.merchant.mid}`, { account_uuid: UNKNOWN_ID });
    const id = await lateSuccess('payout-a');
    expect(await decide(id, { resolve: 'refund' })).toEqual(
      refusedAs('The provider takes no refund of this payment here: refund it in its portal, then dismiss the mark.'),
    );
    expect(await decide(id, { resolve: 'accept' })).toMatchObject({ status: 200, body: { status: 'SETTLED' } });
  });
});

describe('dismiss', () => {
  test('removes the mark and nothing else', async () => {
    const id = await lateSuccess();
    const { history: _history, updated_at: _updated, attention: _mark, ...before } = await shop.inspect(id);
    expect(await decide(id, { resolve: 'dismiss', note: 'Settled with the shop' })).toMatchObject({
      status: 200,
      body: { status: 'DECLINED', attention: null, operation: null },
    });
    const { history, updated_at: _at, attention, ...after } = await shop.inspect(id);
    expect([after, attention]).toEqual([before, null]);
    expect(history.at(-1)).toMatchObject({ event: 'attended', note: 'Settled with the shop' });
    expect(await lastAudit()).toMatchObject({ after: { resolve: 'dismiss', note: 'Settled with the shop' } });
    expect(await decide(id, { resolve: 'dismiss' })).toEqual(NOT_MARKED);
  });

  test('is the only decision about an outcome that is still open', async () => {
    await operationsOf(shop).fault('wrong_amount', { mid: shop.merchant.mid, brand: 'pin-a' });
    const { body } = await shop.post(brandSale('pin-a', shop.merchant));
    for (const resolve of ['accept', 'refund']) {
      expect(await decide(body.trans_id, { resolve })).toEqual(
        refusedAs('A payment in the state PENDING with the mark wrong_amount allows only: dismiss.'),
      );
    }
    expect((await decide(body.trans_id, { resolve: 'dismiss' })).status).toBe(200);
  });

  test('a chargeback that was not expected can only be dismissed', async () => {
    const id = await lateSuccess();
    await operationsOf(shop).control(id, { chargeback: true });
    expect(await decide(id, { resolve: 'refund' })).toEqual(
      refusedAs('A payment in the state DECLINED with the mark unexpected_chargeback allows only: dismiss.'),
    );
    expect((await decide(id, { resolve: 'dismiss' })).status).toBe(200);
  });
});

test.each([
  ['accept', 'accept'],
  ['accept', 'refund'],
  ['refund', 'refund'],
  ['dismiss', 'refund'],
])('of two operators, one who decides to %s and one to %s, one is refused', async (...both) => {
  const id = await lateSuccess();
  const answers = await Promise.all(both.map((resolve) => decide(id, { resolve })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  const { status, attention } = await shop.inspect(id);
  expect(attention).toBeNull();
  const moved = await movements(id);
  expect(moved).toEqual(moved.length === 1 ? ['sale in 1000'] : ['sale in 1000', 'refund out 1000']);
  if (status === 'SETTLED') expect(moved).toHaveLength(1);
});

test('a request that is not valid is refused with the name of its field, before the payment is looked at', async () => {
  const ONE_OF = 'resolve: This value should be one of: accept, refund, dismiss.';
  const LONG = 'note: This value is too long. It should have 1000 characters or less.';
  for (const [body, entry] of [
    [{}, ONE_OF],
    [{ resolve: 'Accept' }, ONE_OF],
    [{ resolve: ['accept'] }, ONE_OF],
    [{ resolve: 'accept', note: 1 }, 'note: This value should be a text.'],
    [{ resolve: 'accept', reason: 'x' }, 'reason: This value does not exist.'],
    [[], 'body: The body should be a JSON object.'],
  ]) {
    expect(await decide(UNKNOWN_ID, body)).toEqual(refused('invalidData', entry as string));
  }
  expect((await decide(UNKNOWN_ID, { resolve: 'refund', operation_id: 'x' })).body.errors).toEqual([
    entryOf('operation_id: This is not a valid UUID.'),
  ]);
  expect((await decide(UNKNOWN_ID, { resolve: 'dismiss' })).status).toBe(404);
  const { body } = await shop.sale();
  expect(await decide(body.trans_id, { resolve: 'dismiss', note: 'x'.repeat(1001) })).toEqual(
    refused('invalidData', LONG),
  );
  expect(await decide(body.trans_id, { resolve: 'dismiss', note: 'Card 4111 1111 1111 1111' })).toEqual(
    refused('invalidData', 'note: This value should not contain a card number.'),
  );
  for (const resolve of ['accept', 'refund', 'dismiss']) {
    expect(await decide(body.trans_id, { resolve })).toEqual(NOT_MARKED);
  }
});

test('the former call dismisses without a note, and a payment without a mark is answered as it is', async () => {
  const id = await lateSuccess();
  for (let times = 0; times < 2; times++) {
    expect((await shop.admin('POST', `/payments/${id}/attended`)).body).toMatchObject({ attention: null });
  }
  expect((await shop.inspect(id)).history.at(-1)).toMatchObject({ event: 'attended', note: null });
});

describe('the audit log', () => {
  const entriesOf = async (id: string): Promise<unknown[]> =>
    (await shop.admin('GET', '/audit?limit=100')).body.items
      .filter(({ subject }: Answer['body']) => subject === id)
      .map(({ action, after }: Answer['body']) => [action, after.resolve ?? after.operation_id]);

  test('has no decision that was refused, also not with the operation id of another payment', async () => {
    const other = await lateSuccess();
    const operation_id = newId();
    expect((await decide(other, { resolve: 'refund', operation_id })).status).toBe(200);
    const { body: sale } = await shop.sale();
    for (const resolve of ['dismiss', 'accept', 'refund']) {
      expect(await decide(sale.trans_id, { resolve, note: 'Never happened', operation_id })).toEqual(NOT_MARKED);
    }
    expect(await entriesOf(sale.trans_id)).toEqual([]);
    const marked = await lateSuccess();
    const { body } = await decide(marked, { resolve: 'refund', operation_id });
    expect(body.errors).toEqual([expect.objectContaining({ error_message: 'operation_id: Duplicate operation.' })]);
    expect(await entriesOf(marked)).toEqual([]);
    // The decision itself is there once, although it is repeated.
    expect((await decide(other, { resolve: 'refund', operation_id })).status).toBe(200);
    expect(await entriesOf(other)).toEqual([['payments.resolve_attention', 'refund']]);
  });

  test('has no operation that was refused', async () => {
    const { body: sale } = await shop.sale();
    const operation_id = newId();
    const operate = (action: string, request: object) =>
      shop.admin('POST', `/payments/${sale.trans_id}/${action}`, request);
    expect((await operate('capture', {})).status).toBe(400);
    expect((await operate('void', {})).status).toBe(400);
    expect((await operate('refund', { amount: '99.00' })).status).toBe(400);
    expect(await entriesOf(sale.trans_id)).toEqual([]);
    for (const status of [200, 200]) expect((await operate('refund', { operation_id })).status).toBe(status);
    expect(await entriesOf(sale.trans_id)).toEqual([['payments.refund', operation_id]]);
  });
});
