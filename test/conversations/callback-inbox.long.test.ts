/** The sandbox's callback inbox: receives callbacks as a merchant's server does, verifies them, and fails on request. */
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { newId } from '../../src/lib/crypto/id.ts';
import { signatureOf } from '../../src/lib/crypto/signature.ts';
import { createApp } from '../../src/server/app.ts';
import { checkoutOf } from '../support/checkout.ts';
import type { MerchantWithSecret } from '../support/delivery-shop.ts';
import { ADMIN_TOKEN, type Answer, openShop, saleFields, sign, startTestGateway } from '../support/gateway.ts';
import { allowBursts } from '../support/limits.ts';

allowBursts();

type Json = Answer['body'];

const shop = openShop();

const urlOf = (mid: string): string => `${shop.url}/sandbox/callbacks/${mid}`;
const ok = ({ status, body }: Answer): Json => {
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const arrived = async (mid: string, query = ''): Promise<Json> =>
  ok(await shop.sandbox('GET', `/callbacks/${mid}${query}`));
const drain = (): Promise<void> => shop.gateway.deliverer.drain();

/** A merchant whose callbacks go to the sandbox's inbox. */
async function newMerchant(settings: Record<string, unknown> = {}): Promise<MerchantWithSecret> {
  const merchant = (await shop.newMerchant(settings)) as MerchantWithSecret;
  const url = urlOf(merchant.mid);
  expect((await arrived(merchant.mid)).url).toBe(url);
  ok(await shop.admin('PATCH', `/accounts/${merchant.mid}`, { callback_url: url }));
  return merchant;
}

/** Posts something to the inbox that is not from the gateway. */
const post = async (mid: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<number> =>
  (await fetch(urlOf(mid), { method: 'POST', body, headers })).status;

describe('the inbox', () => {
  test('keeps no credentials of another sender', async () => {
    const { mid } = await shop.newMerchant();
    const token = 'a-token-of-another-system';
    const headers = {
      authorization: `Bearer ${token}`,
      cookie: token,
      'x-authorisation': `bearer ${token}`,
      'x-shop': 'A',
    };
    expect(await post(mid, 'x', headers)).toBe(200);
    const [item] = (await arrived(mid)).items;
    expect(item.headers).toMatchObject({ 'x-shop': 'A' });
    expect(JSON.stringify(item)).not.toContain(token);
  });

  test.each(['form', 'json'])(
    'shows a sale over /post, as %s: raw, parsed, and both signatures valid',
    async (format) => {
      const merchant = await newMerchant({ callback_format: format });
      const fields = { order_description: 'Grüße + 50 % / 100 ☕', 'custom_data[Größe]': 'a/b "c" 🙂' };
      const { trans_id } = ok(await shop.post(saleFields(merchant, fields)));
      await drain();
      const { items, next_cursor, last, url } = await arrived(merchant.mid);
      expect([next_cursor, last, url]).toEqual([null, 1, urlOf(merchant.mid)]);
      const [item] = items;
      const [{ id, body }] = await Promise.all(
        ok(await shop.admin('GET', `/payments/${trans_id}`)).callbacks.map(async ({ id }: Json) =>
          ok(await shop.admin('GET', `/callbacks/${id}`)),
        ),
      );
      expect(item).toMatchObject({
        number: 1,
        webhook_id: id,
        body,
        hash_is_valid: true,
        signature_is_valid: true,
        answered: 200,
        headers: { 'webhook-id': id, 'turnpike-sequence': id.split('-').at(-1), 'user-agent': 'Turnpike' },
      });
      expect(item.received_at).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
      expect(item.content_type).toBe(item.headers['content-type']);
      expect(item.content_type).toContain(format === 'json' ? 'application/json' : 'x-www-form-urlencoded');
      expect(item.fields).toMatchObject({ action: 'SALE', result: 'SUCCESS', status: 'SETTLED', trans_id });
      const custom = format === 'json' ? item.fields.custom_data.Größe : item.fields['custom_data[Größe]'];
      expect(custom).toBe('a/b "c" 🙂');
      expect(item.fields.hash).toBe(sign(merchant.password, trans_id, item.fields.order_id, 'SETTLED'));
      expect(ok(await shop.admin('GET', `/callbacks/${id}`))).toMatchObject({
        state: 'delivered',
        url: urlOf(merchant.mid),
      });
    },
  );

  test('verifies the other shape and hash of a Checkout payment', async () => {
    ok(await shop.admin('PATCH', `/accounts/${shop.merchant.mid}`, { callback_url: urlOf(shop.merchant.mid) }));
    const paid = await checkoutOf(shop).paid({});
    await drain();
    const { items } = await arrived(shop.merchant.mid);
    const sale = items.find(({ fields }: Json) => fields.type === 'sale' && fields.status === 'success');
    expect(sale).toMatchObject({ hash_is_valid: true, signature_is_valid: true, fields: { id: paid.id } });
    expect(items.every((item: Json) => item.hash_is_valid && item.signature_is_valid)).toBe(true);
  });

  test('accepts both signatures during a rotation of the secret, and only the new one afterwards', async () => {
    const merchant = await newMerchant();
    const rotated = ok(await shop.admin('POST', `/accounts/${merchant.mid}/rotate-callback-secret`));
    expect(rotated.callback_secret).toMatch(/^whsec_/);
    await shop.post(saleFields(merchant));
    await drain();
    const [item] = (await arrived(merchant.mid)).items;
    expect(item.headers['webhook-signature'].split(' ')).toHaveLength(2);
    expect(item.signature_is_valid).toBe(true);
  });

  test('keeps any other request and marks it as invalid', async () => {
    const merchant = await newMerchant();
    const { mid, callback_secret, password } = merchant;
    const id = newId();
    const said = new URLSearchParams({ trans_id: id, order_id: 'o-1', status: 'SETTLED' });
    said.set('hash', sign(password, id, 'o-1', 'SETTLED'));
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const signed = (body: string, secret = callback_secret, ms = Date.now()) => ({
      ...form,
      ...signatureOf('x-1', ms, body, [secret]),
    });
    const other = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
    const good = String(said);
    expect(await post(mid, good, signed(good))).toBe(200);
    expect(await post(mid, good.replace('SETTLED', 'REFUND'), signed(good))).toBe(200);
    expect(await post(mid, good, signed(good, other))).toBe(200);
    expect(await post(mid, good, signed(good, callback_secret, Date.now() - 301_000))).toBe(200);
    expect(await post(mid, good, form)).toBe(200);
    expect(await post(mid, '{"broken', { 'content-type': 'application/json' })).toBe(200);
    expect(await post(mid, '[1]', { 'content-type': 'application/json' })).toBe(200);
    expect(await post(mid, Buffer.from([0xff, 0x00, 0x41]), { 'content-type': 'image/png' })).toBe(200);
    expect(await post(mid, '')).toBe(200);
    const { items } = await arrived(mid);
    expect(items.map((item: Json) => [item.number, item.hash_is_valid, item.signature_is_valid])).toEqual([
      [1, true, true],
      [2, false, false],
      [3, true, false],
      [4, true, false],
      [5, true, false],
      [6, false, false],
      [7, false, false],
      [8, false, false],
      [9, false, false],
    ]);
    expect(items[5]).toMatchObject({ body: '{"broken', fields: null, webhook_id: null });
    expect(items[8]).toMatchObject({ body: '', fields: {} });
  });

  test('keeps the newest thousand; numbers continue', async () => {
    const merchant = await newMerchant();
    const { mid } = merchant;
    for (let n = 1; n <= 3; n++) await post(mid, `n=${n}`);
    // As if 1200 callbacks had arrived.
    await shop.rows(`insert into callback_inbox_entries
      select '${mid}', n, '{}', 'old', false, false, 200, now() from generate_series(4, 1198) n`);
    await shop.rows(`update callback_inboxes set received = 1198 where mid = '${mid}'`);
    expect([await post(mid, 'n=1199'), await post(mid, 'n=1200')]).toEqual([200, 200]);
    const first = await arrived(mid, '?limit=500');
    expect([first.items.length, first.items[0].number, first.last]).toEqual([500, 201, 1200]);
    const second = await arrived(mid, `?limit=500&after=${first.next_cursor}`);
    expect(second.items.map(({ number }: Json) => number)).toEqual(Array.from({ length: 500 }, (_, n) => 701 + n));
    expect(second.next_cursor).toBeNull();
    expect(second.items.at(-1).body).toBe('n=1200');
  });

  test('can be emptied, and numbers continue', async () => {
    const merchant = await newMerchant();
    await post(merchant.mid, 'a=1');
    await post(merchant.mid, 'a=2');
    expect(ok(await shop.sandbox('DELETE', `/callbacks/${merchant.mid}`))).toEqual({ deleted: 2 });
    expect(await arrived(merchant.mid)).toMatchObject({ items: [], next_cursor: null, last: 2 });
    await post(merchant.mid, 'a=3');
    expect((await arrived(merchant.mid, '?after=2')).items).toMatchObject([{ number: 3, body: 'a=3' }]);
    const { mid: unused } = await shop.newMerchant();
    expect(ok(await shop.sandbox('DELETE', `/callbacks/${unused}`))).toEqual({ deleted: 0 });
  });

  test('is separate for each account', async () => {
    const [one, other] = [await newMerchant(), await newMerchant()];
    await shop.post(saleFields(one));
    await drain();
    expect((await arrived(one.mid)).items).toHaveLength(1);
    expect((await arrived(other.mid)).items).toHaveLength(0);
  });
});

describe('waiting for the next callback', () => {
  test('answers when it arrives', async () => {
    const { mid } = await newMerchant();
    const waiting = arrived(mid, '?wait=20');
    await pause(300);
    await post(mid, 'a=1');
    expect((await waiting).items).toMatchObject([{ body: 'a=1' }]);
    expect((await arrived(mid, '?after=1&wait=1')).items).toEqual([]);
  });

  test('answers whichever process received it', async () => {
    const { mid } = await newMerchant();
    const another = createApp(await shop.anotherGateway(), {
      isTrustedProxy: () => false,
      takesRequests: true,
      adminTokenDigest: Buffer.alloc(32),
    });
    const waiting = arrived(mid, '?wait=20');
    const answer = await another.inject({ method: 'POST', url: `/sandbox/callbacks/${mid}`, payload: 'a=1' });
    expect(answer.statusCode).toBe(200);
    expect((await waiting).items).toHaveLength(1);
    await another.close();
  });

  test('ends when the gateway stops', async () => {
    const stopping = await startTestGateway();
    const looks = vi.spyOn(stopping.gateway.callbackInbox, 'last');
    const waiting = stopping.sandbox('GET', `/callbacks/${stopping.merchant.mid}?wait=25`);
    await expect.poll(() => looks).toHaveBeenCalled();
    await stopping.close();
    expect((await waiting).body.items).toEqual([]);
  });

  test('misses none, however many arrive at once: numbers become visible in order', async () => {
    const { mid } = await newMerchant();
    const seen: number[] = [];
    const posts = Promise.all(Array.from({ length: 100 }, (_, n) => post(mid, `n=${n}`)));
    while (seen.length < 100) {
      const { items } = await arrived(mid, `?after=${seen.at(-1) ?? 0}&wait=25&limit=7`);
      expect(items.length).toBeGreaterThan(0);
      seen.push(...items.map(({ number }: Json) => number));
    }
    expect(seen).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
    expect(await posts).toEqual(Array.from({ length: 100 }, () => 200));
  });
});

describe('requested failures', () => {
  test('happen as often as requested; the callback is retried until it is accepted', async () => {
    const merchant = await newMerchant();
    const { mid } = merchant;
    const asked = await shop.sandbox('POST', `/callbacks/${mid}`, { answer: 503, count: 2 });
    expect(ok(asked)).toEqual({ result: 'SUCCESS', answer: 503, count: 2 });
    const { trans_id } = ok(await shop.post(saleFields(merchant)));
    await drain();
    await shop.advanceClock(60, mid);
    const { items } = await arrived(mid);
    expect(items.map(({ answered }: Json) => answered)).toEqual([503, 503, 200]);
    expect(new Set(items.map(({ webhook_id }: Json) => webhook_id)).size).toBe(1);
    expect(new Set(items.map(({ body }: Json) => body)).size).toBe(1);
    const [callback] = ok(await shop.admin('GET', `/payments/${trans_id}`)).callbacks;
    expect(callback.log.map(({ error }: Json) => error)).toEqual([
      'The server answered 503.',
      'The server answered 503.',
      null,
    ]);
  });

  test('end when the inbox is emptied', async () => {
    const { mid } = await newMerchant();
    ok(await shop.sandbox('POST', `/callbacks/${mid}`, { answer: 500, count: 10 }));
    expect(await post(mid, 'a=1')).toBe(500);
    ok(await shop.sandbox('DELETE', `/callbacks/${mid}`));
    expect(await post(mid, 'a=2')).toBe(200);
  });

  test.each([
    [{}, 'answer: This value should not be blank.'],
    [{ answer: 100 }, 'answer: The value you selected is not a valid choice.'],
    [{ answer: 600 }, 'answer: The value you selected is not a valid choice.'],
    [{ answer: '500' }, 'answer: The value you selected is not a valid choice.'],
    [{ answer: 500, count: 0 }, 'count: The value you selected is not a valid choice.'],
    [{ answer: 500, times: 3 }, 'times: This value does not exist.'],
  ])('%j is refused', async (wish, message) => {
    const answer = await shop.sandbox('POST', `/callbacks/${shop.merchant.mid}`, wish);
    expect([answer.status, answer.body.errors[0].error_message]).toEqual([400, message]);
  });
});

describe('refusals', () => {
  const CALLS = (mid: string): [string, string, Json?][] => [
    ['GET', `/callbacks/${mid}`],
    ['DELETE', `/callbacks/${mid}`],
    ['POST', `/callbacks/${mid}`, { answer: 500 }],
  ];

  test('an unknown account: 404, and nothing is kept', async () => {
    for (const mid of [newId(), 'nobody', "';--"]) {
      expect(await post(encodeURIComponent(mid), 'a=1')).toBe(404);
      for (const [method, path, body] of CALLS(encodeURIComponent(mid))) {
        const answer = await shop.sandbox(method, path, body);
        expect([answer.status, answer.body.error_message]).toEqual([404, 'Account does not exist.']);
      }
    }
  });

  test('requests without the token', async () => {
    for (const [method, path, body] of CALLS(shop.merchant.mid)) {
      expect((await shop.sandbox(method, path, body, 'wrong')).status).toBe(401);
    }
  });

  test('more than 64 KiB are not accepted', async () => {
    const { mid } = await newMerchant();
    expect(await post(mid, 'x'.repeat(64 * 1024))).toBe(200);
    expect(await post(mid, 'x'.repeat(64 * 1024 + 1))).toBe(413);
    expect((await arrived(mid)).items).toHaveLength(1);
  });

  test.each([
    ['wait=26', 'wait: This value should be a whole number from 0 to 25.'],
    ['wait=-1', 'wait: This value should be a whole number from 0 to 25.'],
    ['wait=1&wait=2', 'wait: This value should be a whole number from 0 to 25.'],
    ['after=x', 'after: This value should be a whole number from 0 to 2147483647.'],
    ['limit=501', 'limit: This value should be a whole number from 1 to 500.'],
    ['colour=red', 'colour: This parameter does not exist.'],
  ])('%s', async (query, message) => {
    const answer = await shop.sandbox('GET', `/callbacks/${shop.merchant.mid}?${query}`);
    expect([answer.status, answer.body.errors[0].error_message]).toEqual([400, message]);
  });

  test('in production there is no inbox, with or without a token', async () => {
    const production = await startTestGateway({ environment: 'production' });
    try {
      const { mid } = production.merchant;
      const response = await fetch(`${production.url}/sandbox/callbacks/${mid}`, { method: 'POST', body: 'a=1' });
      expect([response.status, await response.json()]).toMatchObject([404, { error_code: 0 }]);
      for (const [method, path, body] of CALLS(mid)) {
        expect((await production.sandbox(method, path, body, ADMIN_TOKEN)).status).toBe(404);
      }
    } finally {
      await production.close();
    }
  });
});

test('neither a password nor a secret is shown by the inbox or logged', async () => {
  const merchant = await newMerchant();
  await shop.post(saleFields(merchant));
  await drain();
  const shown = JSON.stringify(await arrived(merchant.mid)) + shop.logs.join('');
  for (const secret of [merchant.password, merchant.callback_secret]) expect(shown).not.toContain(secret);
  await expect.poll(() => shop.logs.join('')).toContain('callback received');
});

test('a resent callback arrives in the inbox again', async () => {
  const merchant = await newMerchant();
  await shop.post(saleFields(merchant));
  await drain();
  ok(await shop.admin('POST', '/callbacks/resend', { mid: merchant.mid }));
  await drain();
  const { items } = await arrived(merchant.mid);
  expect(items).toHaveLength(2);
  expect(items[0].body).toBe(items[1].body);
  expect(items[0].webhook_id).toBe(items[1].webhook_id);
});
