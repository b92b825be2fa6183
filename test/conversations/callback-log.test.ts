/** The operator's log of callbacks: attempts with readable errors, filtered lists, and resending. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { newId } from '../../src/lib/crypto/id.ts';
import { deliveriesAt, idOf, isSigned, type MerchantSite, setReceiverTimeout } from '../support/delivery-shop.ts';
import { type Answer, DATE, startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  answers,
  closesBeforeAnswer,
  closesInAnswer,
  hangs,
  inTurn,
  redirectsTo,
  speaksNonsense,
} from '../support/receivers.ts';

type Json = Answer['body'];

let shop: TestGateway;
let deliveries: ReturnType<typeof deliveriesAt>;
beforeAll(async () => {
  shop = await startTestGateway();
  deliveries = deliveriesAt(shop);
  await setReceiverTimeout(shop.gateway, 5000);
});
afterAll(async () => {
  await shop.close();
  await deliveries.close();
});

const ok = ({ status, body }: Answer): Json => {
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const list = async (query: Record<string, string | number>): Promise<Json> =>
  ok(await shop.admin('GET', `/callbacks?${new URLSearchParams(query as Record<string, string>)}`));
const read = async (id: string): Promise<Json> => ok(await shop.admin('GET', `/callbacks/${id}`));
const resend = async (choice: Json): Promise<number> =>
  ok(await shop.admin('POST', '/callbacks/resend', choice)).resent;
const resendOne = async (id: string): Promise<number> => ok(await shop.admin('POST', `/callbacks/${id}/resend`)).resent;
const inspect = async (id: string): Promise<Json> => ok(await shop.admin('GET', `/payments/${id}`));
const idsOf = ({ items }: Json): string[] => items.map(({ id }: Json) => id);
const messages = ({ body }: Answer): string[] => body.errors.map(({ error_message }: Json) => error_message);

/** A sale and its refund: two callbacks of one payment. */
async function saleAndRefund(merchant: MerchantSite): Promise<string> {
  const id = await merchant.sale();
  await merchant.operate('CREDITVOID', id, { amount: '1.00' });
  return id;
}

describe('the log', () => {
  test('of a delivered callback', async () => {
    const merchant = await deliveries.siteWith(answers(204));
    const paymentId = await merchant.sale({ 'custom_data[colour]': 'grün & blau' });
    const [waiting] = (await list({ payment_id: paymentId })).items;
    expect(waiting).toMatchObject({ state: 'waiting', tries: 0, finished_at: null, next_try_at: waiting.created_at });
    await deliveries.drain();
    const [item] = (await list({ payment_id: paymentId })).items;
    const sequence = Number(merchant.receiver.received[0]?.headers['turnpike-sequence']);
    const id = `${paymentId}-${sequence}`;
    expect(item).toEqual({
      id,
      mid: merchant.merchant.mid,
      payment_id: paymentId,
      sequence,
      type: 'sale',
      state: 'delivered',
      reason: null,
      tries: 1,
      next_try_at: null,
      url: merchant.receiver.url,
      format: 'form',
      created_at: expect.stringMatching(DATE),
      finished_at: expect.stringMatching(DATE),
    });
    const log = [{ try: 1, at: expect.stringMatching(DATE), status: 204, took_ms: expect.any(Number), error: null }];
    const [received] = merchant.receiver.received;
    expect(idOf(received as never)).toBe(id);
    expect(await read(id)).toEqual({ ...item, log, body: String(received?.body) });
    expect((await inspect(paymentId)).callbacks).toEqual([{ ...item, log }]);
  });

  test('of a receiver that fails in every way: each attempt with a readable error and its time', async () => {
    const merchant = await deliveries.siteWith(
      inTurn(
        answers(500, {}, 'a page with a stack trace'),
        hangs,
        closesBeforeAnswer,
        closesInAnswer,
        redirectsTo('https://elsewhere.example/'),
        answers(404),
        speaksNonsense,
        answers(200),
      ),
      { callback_format: 'json' },
    );
    const paymentId = await merchant.sale();
    await deliveries.drain();
    const [first] = (await list({ payment_id: paymentId })).items;
    expect(first).toMatchObject({ state: 'waiting', tries: 1, next_try_at: expect.stringMatching(DATE) });
    expect(first.next_try_at > first.created_at).toBe(true);
    await merchant.pass(4 * 3600);
    const [{ id }] = (await list({ payment_id: paymentId })).items;
    const { log, state, format } = await read(id);
    expect([state, format]).toEqual(['delivered', 'json']);
    expect(log.map(({ try: nth, status, error }: Json) => [nth, status, error])).toEqual([
      [1, 500, 'The server answered 500.'],
      [2, null, 'The server did not answer in time.'],
      [3, null, 'The server closed the connection before its answer was complete.'],
      [4, null, 'The server closed the connection before its answer was complete.'],
      [5, 301, 'The server answered 301, and redirects are not followed.'],
      [6, 404, 'The server answered 404.'],
      [7, null, 'The connection broke, or the answer was not HTTP.'],
      [8, 200, null],
    ]);
    const times = log.map(({ at }: Json) => at);
    expect(times).toEqual(times.toSorted());
    expect(new Set(times).size).toBe(8);
    expect(log[1].took_ms).toBeGreaterThanOrEqual(250);
    expect(JSON.stringify(await inspect(paymentId))).not.toContain('stack trace');
  });

  test('of a server that refuses connections', async () => {
    const merchant = await deliveries.siteWith(answers(200));
    await merchant.receiver.close();
    const paymentId = await merchant.sale();
    await deliveries.drain();
    const [{ log }] = (await inspect(paymentId)).callbacks;
    expect(log).toMatchObject([{ status: null, error: 'The server refused the connection.' }]);
  });

  test('shows the account’s current address, or the payment’s own, without its query', async () => {
    const merchant = await deliveries.siteWith(answers(500));
    const own = await merchant.sale({ callback_url: `${merchant.receiver.url}/own?key=secret` });
    const usual = await merchant.sale();
    const addressOf = async (id: string): Promise<string | null> => (await list({ payment_id: id })).items[0].url;
    await merchant.set({ callback_url: `${merchant.receiver.url}/new?token=secret` });
    expect(await addressOf(own)).toBe(`${merchant.receiver.url}/own`);
    expect(await addressOf(usual)).toBe(`${merchant.receiver.url}/new`);
    await merchant.set({ callback_url: '' });
    expect(await addressOf(usual)).toBeNull();
    const shown = JSON.stringify([await list({ mid: merchant.merchant.mid }), (await inspect(own)).callbacks]);
    expect(shown).not.toContain('secret');
  });

  test('of a parked callback: after the last attempt, with the reason', async () => {
    const merchant = await deliveries.siteWith(answers(503));
    const paymentId = await merchant.sale();
    await merchant.pass(7 * 86_400);
    const [item] = (await list({ payment_id: paymentId })).items;
    expect(item).toMatchObject({
      state: 'parked',
      reason: 'All scheduled attempts failed.',
      tries: 14,
      next_try_at: null,
      finished_at: expect.stringMatching(DATE),
    });
    expect((await read(item.id)).log).toHaveLength(14);
    expect(idsOf(await list({ state: 'parked', mid: merchant.merchant.mid }))).toEqual([item.id]);
  });
});

describe('lists', () => {
  let one: MerchantSite;
  let other: MerchantSite;
  const payments: string[] = [];
  const foreign: string[] = [];
  beforeAll(async () => {
    one = await deliveries.siteWith(answers(200));
    other = await deliveries.siteWith(answers(500));
    for (let n = 0; n < 3; n++) {
      payments.push(await saleAndRefund(one));
      foreign.push(await saleAndRefund(other));
    }
    await deliveries.drain();
  });

  test('newest callbacks first', async () => {
    const { items, next_cursor } = await list({ mid: one.merchant.mid });
    expect(next_cursor).toBeNull();
    expect(items.map(({ payment_id }: Json) => payment_id)).toEqual(payments.toReversed().flatMap((id) => [id, id]));
    expect(items.map(({ type }: Json) => type)).toEqual(payments.flatMap(() => ['refund', 'sale']));
  });

  test('a new callback of an old payment comes first, and does not affect pages that follow a cursor', async () => {
    const merchant = await deliveries.siteWith(answers(200));
    const { mid } = merchant.merchant;
    const [old = '', young = ''] = [await merchant.sale(), await merchant.sale()];
    const first = await list({ mid, limit: 1 });
    expect(first.items).toMatchObject([{ payment_id: young, type: 'sale' }]);
    await merchant.operate('CREDITVOID', old, { amount: '1.00' });
    const typesOf = ({ items }: Json): string[][] => items.map(({ payment_id, type }: Json) => [payment_id, type]);
    expect(typesOf(await list({ mid, limit: 5, cursor: first.next_cursor }))).toEqual([[old, 'sale']]);
    expect(typesOf(await list({ mid }))).toEqual([
      [old, 'refund'],
      [young, 'sale'],
      [old, 'sale'],
    ]);
  });

  test.each([1, 2, 3, 5])('pages of %i contain every callback once, in the same order', async (limit) => {
    for (const filter of [{ mid: one.merchant.mid }, { mid: other.merchant.mid, state: 'waiting' }, {}]) {
      const whole = idsOf(await list({ ...filter, limit: 500 }));
      const found: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: Json = await list({ ...filter, limit, cursor });
        expect(page.items.length).toBeLessThanOrEqual(limit);
        found.push(...idsOf(page));
        cursor = page.next_cursor;
      }
      expect(found).toEqual(whole);
      expect(new Set(found).size).toBe(found.length);
    }
  });

  test('over all accounts', async () => {
    const all = idsOf(await list({ limit: 500 }));
    expect(all).toEqual(expect.arrayContaining(idsOf(await list({ mid: one.merchant.mid }))));
    expect(all).toEqual(expect.arrayContaining(idsOf(await list({ mid: other.merchant.mid }))));
  });

  test('filtered by state, payment and time', async () => {
    const { mid } = one.merchant;
    expect((await list({ mid, state: 'delivered' })).items).toHaveLength(6);
    expect((await list({ mid, state: 'waiting' })).items).toHaveLength(0);
    expect((await list({ mid: other.merchant.mid, state: 'waiting' })).items).toHaveLength(6);
    expect((await list({ payment_id: payments[0] as string })).items).toHaveLength(2);
    expect((await list({ payment_id: foreign[0] as string, mid })).items).toHaveLength(0);
    await one.pass(3600);
    const from = new Date(shop.gateway.clock.now(mid) - 1000).toISOString();
    const later = await one.sale();
    expect((await list({ mid, from })).items.map(({ payment_id }: Json) => payment_id)).toEqual([later]);
    expect((await list({ mid, to: from })).items).toHaveLength(6);
  });

  test.each([
    ['state=gone', 'state: This value is not valid.'],
    ['mid=nobody', 'mid: This value is not valid.'],
    ['payment_id=7', 'payment_id: This value is not valid.'],
    ['from=yesterday', 'from: This value is not valid.'],
    ['limit=0', 'limit: This value is not valid.'],
    ['cursor=7', 'cursor: This value is not valid.'],
    [`cursor=${'0'.repeat(36)}-1`, 'cursor: This value is not valid.'],
    ['colour=red', 'colour: This parameter does not exist.'],
  ])('%s is refused', async (query, message) => {
    const answer = await shop.admin('GET', `/callbacks?${query}`);
    expect(answer.status).toBe(400);
    expect(messages(answer)).toEqual([message]);
  });
});

describe('resending', () => {
  test('a delivered callback: same bytes, same id, new signature, and the attempts are counted on', async () => {
    const merchant = await deliveries.siteWith(answers(200));
    const paymentId = await merchant.sale();
    await deliveries.drain();
    const [{ id }] = (await list({ payment_id: paymentId })).items;
    expect(await resendOne(id)).toBe(1);
    expect(await read(id)).toMatchObject({ state: 'waiting', tries: 1, reason: null, finished_at: null });
    await deliveries.drain();
    const [first, second] = merchant.receiver.received;
    expect(merchant.receiver.received).toHaveLength(2);
    expect(second?.body.equals(first?.body as Buffer)).toBe(true);
    expect([idOf(first as never), idOf(second as never)]).toEqual([id, id]);
    expect(isSigned(second as never, merchant.merchant.callback_secret)).toBe(true);
    expect(await read(id)).toMatchObject({ state: 'delivered', tries: 2, log: [{ try: 1 }, { try: 2, status: 200 }] });
  });

  test('wakes the process that delivers', async () => {
    const awake = await startTestGateway();
    try {
      const at = deliveriesAt(awake);
      const merchant = await at.siteWith(answers(200));
      awake.gateway.deliverer.start();
      const paymentId = await merchant.sale();
      await expect.poll(() => merchant.receiver.received).toHaveLength(1);
      // This process has no work loop that would search every second.
      expect(ok(await awake.admin('POST', '/callbacks/resend', { payment_id: paymentId }))).toEqual({ resent: 1 });
      await expect.poll(() => merchant.receiver.received).toHaveLength(2);
      await at.close();
    } finally {
      await awake.close();
    }
  });

  test('a parked callback starts the retry schedule again', async () => {
    const merchant = await deliveries.siteWith(answers(500));
    const paymentId = await merchant.sale();
    await merchant.pass(7 * 86_400);
    const [{ id, state }] = (await list({ payment_id: paymentId })).items;
    expect(state).toBe('parked');
    expect(await resendOne(id)).toBe(1);
    await deliveries.drain();
    expect(await read(id)).toMatchObject({ state: 'waiting', tries: 15, reason: null });
    merchant.receiver.behaviour = answers(200);
    await merchant.pass(13);
    expect(await read(id)).toMatchObject({ state: 'delivered', tries: 16 });
  });

  test('callbacks parked without callback_url: after it is set, they arrive in order', async () => {
    const receiver = await deliveries.receiver();
    const merchant = await deliveries.siteAt(receiver, { callback_url: '' });
    const paymentId = await saleAndRefund(merchant);
    const { mid } = merchant.merchant;
    await deliveries.drain();
    const { items } = await list({ mid, state: 'parked' });
    expect(items).toMatchObject([
      { reason: 'No callback_url is set.', tries: 0, url: null, type: 'refund', payment_id: paymentId },
      { reason: 'No callback_url is set.', tries: 0, url: null, type: 'sale', payment_id: paymentId },
    ]);
    await merchant.set({ callback_url: receiver.url });
    await deliveries.drain();
    expect(receiver.received).toHaveLength(0);
    expect(await resend({ mid, state: 'parked' })).toBe(2);
    await deliveries.drain();
    expect(receiver.received.map(idOf)).toEqual([items[1].id, items[0].id]);
    expect((await list({ mid, state: 'delivered' })).items).toHaveLength(2);
  });

  test('the callbacks of a payment, a period or an account, and no others', async () => {
    const merchant = await deliveries.siteWith(answers(200));
    const other = await deliveries.siteWith(answers(200));
    const { mid } = merchant.merchant;
    const early = await saleAndRefund(merchant);
    await saleAndRefund(other);
    await merchant.pass(3600);
    const border = new Date(shop.gateway.clock.now(mid) - 1000).toISOString();
    const late = await merchant.sale();
    await deliveries.drain();
    const before = await list({ mid: other.merchant.mid });
    const arrive = async (choice: Json): Promise<string[]> => {
      merchant.receiver.received.length = 0;
      const resent = await resend(choice);
      await deliveries.drain();
      expect(merchant.receiver.received).toHaveLength(resent);
      return merchant.receiver.received.map((one) => new URLSearchParams(String(one.body)).get('trans_id') ?? '');
    };
    expect(await arrive({ payment_id: early })).toEqual([early, early]);
    expect(await arrive({ mid, payment_id: late })).toEqual([late]);
    expect(await arrive({ mid, from: border })).toEqual([late]);
    expect(await arrive({ mid, to: border })).toEqual([early, early]);
    expect(await arrive({ mid, from: '2001-01-01', to: '2001-01-02' })).toEqual([]);
    expect(await arrive({ mid, state: 'parked' })).toEqual([]);
    expect((await arrive({ mid })).toSorted()).toEqual([early, early, late].toSorted());
    expect(await list({ mid: other.merchant.mid })).toEqual(before);
    expect(other.receiver.received).toHaveLength(2);
  });

  test('a callback that waits for its next attempt is sent now', async () => {
    const merchant = await deliveries.siteWith(answers(500));
    const paymentId = await merchant.sale();
    await deliveries.drain();
    merchant.receiver.behaviour = answers(200);
    await deliveries.drain();
    expect(merchant.receiver.received).toHaveLength(1);
    expect(await resend({ payment_id: paymentId, state: 'waiting' })).toBe(1);
    await deliveries.drain();
    expect((await list({ payment_id: paymentId })).items).toMatchObject([{ state: 'delivered', tries: 2 }]);
  });

  test('many callbacks while attempts are recorded: none is lost, and neither blocks the other', async () => {
    const merchant = await deliveries.siteWith(answers(200));
    const { mid } = merchant.merchant;
    await merchant.sales(60);
    const draining = deliveries.drain();
    const resends = await Promise.all(Array.from({ length: 8 }, () => resend({ mid })));
    expect(resends).toEqual(Array.from({ length: 8 }, () => 60));
    await draining;
    await vi.waitFor(async () => {
      await deliveries.drain();
      const { items } = await list({ mid, state: 'waiting', limit: 500 });
      expect(items).toHaveLength(0);
    }, 10_000);
    expect(new Set(merchant.receiver.received.map(idOf)).size).toBe(60);
  });
});

test('while the log is built, a foreign account is as unknown as before', async () => {
  const [own, foreign] = [await shop.newMerchant(), await shop.newMerchant()];
  const { token } = (await shop.admin('POST', '/tokens', { name: 'm', role: 'merchant', mids: [own.mid] })).body;
  await shop.rows("update projections set backfill_before = 'ffffffff-ffff-ffff-ffff-ffffffffffff'");
  const answerTo = async (mid: string) => {
    const { status, body } = await shop.admin('POST', '/callbacks/resend', { mid }, token);
    return [status, body.error_message, body.errors.length];
  };
  const unknown = await answerTo(newId());
  expect(await answerTo(foreign.mid)).toEqual(unknown);
  expect((await answerTo(own.mid))[0]).toBe(400);
  await shop.rows('update projections set backfill_before = null');
  expect(await answerTo(foreign.mid)).toEqual(unknown);
});

describe('refusals', () => {
  test.each([
    ['nothing at all', undefined, ['body: The body should be a JSON object.']],
    ['a list', [], ['body: The body should be a JSON object.']],
    ['nothing', {}, ['body: The body should have mid or payment_id: whose callbacks are sent again.']],
    [
      'only a state',
      { state: 'parked' },
      ['body: The body should have mid or payment_id: whose callbacks are sent again.'],
    ],
    ['an empty mid', { mid: '' }, ['mid: This value is not valid.']],
    ['an empty payment beside a mid', { mid: newId(), payment_id: '' }, ['payment_id: This value is not valid.']],
    ['null', { mid: newId(), payment_id: null }, ['payment_id: This value is not valid.']],
    ['a number', { mid: 7 }, ['mid: This value is not valid.']],
    ['a list of payments', { payment_id: [newId()] }, ['payment_id: This value is not valid.']],
    ['an unknown state', { mid: newId(), state: 'lost' }, ['state: This value is not valid.']],
    ['an unknown word', { mid: newId(), sate: 'parked' }, ['sate: This parameter does not exist.']],
    ['a day that is none', { mid: newId(), from: '2026-02-30' }, ['from: This value is not valid.']],
  ])('%s: nothing is resent', async (_, body, expected) => {
    const answer = await shop.admin('POST', '/callbacks/resend', body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ result: 'ERROR', error_code: 100000 });
    expect(messages(answer)).toEqual(expected);
  });

  const notFound = (answer: Answer, message: string): void => {
    expect([answer.status, answer.body]).toEqual([
      404,
      { result: 'ERROR', error_code: 101000, error_message: message, errors: [] },
    ]);
  };

  test('accounts and payments that do not exist, or payments of another account', async () => {
    const merchant = await deliveries.siteWith(answers(200));
    const paymentId = await merchant.sale();
    notFound(await shop.admin('POST', '/callbacks/resend', { mid: newId() }), 'Account does not exist.');
    notFound(await shop.admin('POST', '/callbacks/resend', { payment_id: newId() }), 'Payment does not exist.');
    const foreign = { mid: shop.merchant.mid, payment_id: paymentId };
    notFound(await shop.admin('POST', '/callbacks/resend', foreign), 'Payment does not exist.');
  });

  test('callbacks that do not exist', async () => {
    const merchant = await deliveries.siteWith(answers(200));
    const paymentId = await merchant.sale();
    for (const id of [
      `${newId()}-2`,
      `${paymentId}-99`,
      `${paymentId}-0`,
      paymentId,
      'resend',
      'x'.repeat(37),
      '%00-1',
    ]) {
      notFound(await shop.admin('GET', `/callbacks/${id}`), 'Callback does not exist.');
      notFound(await shop.admin('POST', `/callbacks/${id}/resend`), 'Callback does not exist.');
    }
  });

  test('requests without a token', async () => {
    const paths = [
      ['GET', '/callbacks'],
      ['GET', '/callbacks/x'],
      ['POST', '/callbacks/x/resend'],
      ['POST', '/callbacks/resend'],
    ] as const;
    for (const [method, path] of paths) expect((await shop.admin(method, path, undefined, 'wrong')).status).toBe(401);
  });
});
