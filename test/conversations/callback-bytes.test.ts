/** The bytes of a callback are fixed when it is written, signed at every attempt, and sent to the right address. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findAccount } from '../../src/core/accounts/accounts.ts';
import type { Account, Gateway, PaymentWithDetails } from '../../src/core/context.ts';
import { capture, refund, voidPayment } from '../../src/core/payments/change.ts';
import { Refusal } from '../../src/rules/errors.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import {
  CALLBACK_MISMATCHES,
  type Callback,
  type CallbackMerchant,
  callbacksOf,
  hashFor,
  paymentOf,
  signatureBy,
} from '../support/callbacks.ts';
import { checkoutOf, fill, VCARD } from '../support/checkout.ts';
import { type Fields, newOrderId, saleFields, sign, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { brandSale, operationFields } from '../support/operations.ts';
import { answers, inTurn } from '../support/receivers.ts';
import { sampled, sized } from '../support/size.ts';

const ROUNDS = sized(1, 10);

let shop: TestGateway;
let checkout: ReturnType<typeof checkoutOf>;
let callbacks: Awaited<ReturnType<typeof callbacksOf>>;
beforeAll(async () => {
  shop = await startTestGateway({ simulator: true, logLevel: 'error' });
  checkout = checkoutOf(shop);
  callbacks = await callbacksOf(shop);
});
afterAll(async () => {
  await shop.close();
  await callbacks.close();
});
beforeEach(() => {
  callbacks.receiver.behaviour = answers(200);
});

const FORMATS = ['form', 'json'] as const;
const change = async ({ mid }: CallbackMerchant, changes: Record<string, unknown>): Promise<void> =>
  expect((await shop.admin('PATCH', `/accounts/${mid}`, changes)).status).toBe(200);
const operate = (merchant: CallbackMerchant, action: 'CAPTURE' | 'VOID' | 'CREDITVOID', id: string, fields?: Fields) =>
  shop.post(operationFields(merchant, action, id, fields));
const textOf = ({ body }: Callback): string => body.toString('utf8');

describe.each(FORMATS)('%s', (callback_format) => {
  test('every field of a sale over /post', async () => {
    const merchant = await callbacks.newMerchant({ callback_format, descriptor: 'SHOP*17' });
    const { body: sale } = await shop.sale({ recurring_init: 'Y', 'custom_data[cart]': '17' }, merchant);
    const [callback] = await callbacks.delivered(merchant);
    const [{ fields, body, isJson } = {} as Callback] = callbacks.received(callbacks.urlOf(merchant));
    expect(isJson).toBe(callback_format === 'json');
    const { order_id, trans_id, recurring_token } = sale;
    const { trans_date, hash } = fields;
    const expected = {
      ...{ action: 'SALE', result: 'SUCCESS', status: 'SETTLED', order_id, trans_id, operation_id: trans_id },
      ...{ amount: '10.00', currency: 'USD', descriptor: 'SHOP*17', recurring_token },
    };
    expect(callback).toEqual({ ...expected, 'custom_data[cart]': '17' });
    if (!isJson) return expect(body.toString('latin1')).toMatch(/^[\w.*%+=&-]+$/);
    expect(JSON.parse(textOf({ body } as Callback))).toEqual({
      ...{ ...expected, trans_date, hash },
      custom_data: { cart: '17' },
    });
  });

  const ODD: Fields = {
    'umlauts, Cyrillic, Chinese': 'Größe, Žluťoučký kůň, чай, 茶',
    'form syntax': 'a&b=c+d%20e%3D?;#/',
    'JSON and HTML syntax': '"quoted" \\ {back: [slash]} <b>&amp;</b>',
    emoji: '🎸👩‍👩‍👧 and ☕️',
    'line breaks': 'first\r\nsecond\nthird\rfourth',
    'tabs and spaces': ' \t two  spaces ',
    'letters with unusual case mappings': 'ß ﬁ ı ÿ ǆ',
    'a JavaScript property name': '__proto__',
    'a text that could be a number': '0010',
  };
  const INVISIBLE = /[\r\n\t]|^\s|\s$|\p{C}/u;

  test.each(sampled(Object.entries(ODD)))('%s survive in every field that a merchant writes', async (_, text) => {
    const merchant = await callbacks.newMerchant({ callback_format });
    const order_id = `${INVISIBLE.test(text) ? '' : text} ${newOrderId()}`.trim();
    const custom = Object.fromEntries(
      ['text', '__proto__', 'spaced name'].map((name) => [`custom_data[${name}]`, text]),
    );
    const sale = await shop.sale({ order_id, order_description: text, ...custom }, merchant);
    expect(sale.status, JSON.stringify(sale.body)).toBe(200);
    const order = { number: `C${order_id}`, description: text };
    const custom_data = JSON.parse(JSON.stringify({ text, 'spaced name': text, 'a[b': text, '&=': text }));
    const session = await checkout.open({ methods: ['vcard'], order, custom_data, customer: { name: text } }, merchant);
    await fill(session.url, VCARD.success);
    expect(await callbacks.delivered(merchant)).toMatchObject([
      { order_id, ...custom },
      {
        ...{ order_number: order.number, order_description: text, 'custom_data[text]': text },
        ...{ 'custom_data[spaced name]': text, 'custom_data[a[b]': text, 'custom_data[&=]': text },
      },
    ]);
  });

  test('nested custom_data comes back under the same names', async () => {
    const merchant = await callbacks.newMerchant({ callback_format });
    const custom = { 'custom_data[cart][id]': '17', 'custom_data[cart][items][0]': 'tea', 'custom_data[plan]': 'gold' };
    expect((await shop.sale(custom, merchant)).status).toBe(200);
    expect(await callbacks.delivered(merchant)).toMatchObject([custom]);
  });

  test('empty brackets in custom_data come back with the index that PHP gives them', async () => {
    const merchant = await callbacks.newMerchant({ callback_format });
    const sent = { 'custom_data[][sku]': 'tea', 'custom_data[][size]': 'L', 'custom_data[tags][]': 'new' };
    expect((await shop.sale(sent, merchant)).status).toBe(200);
    const numbered = { 'custom_data[0][sku]': 'tea', 'custom_data[1][size]': 'L', 'custom_data[tags][0]': 'new' };
    expect(await callbacks.delivered(merchant)).toMatchObject([numbered]);
  });

  test('custom_data cannot replace a field', async () => {
    const merchant = await callbacks.newMerchant({ callback_format });
    const custom = { 'custom_data[status]': 'DECLINED', 'custom_data[hash]': 'x', 'custom_data[custom_data]': 'y' };
    await shop.sale(custom, merchant);
    expect(await callbacks.delivered(merchant)).toMatchObject([{ ...custom, status: 'SETTLED' }]);
  });
});

describe('every attempt', () => {
  /** Fails this many times, then accepts. */
  const failing = (times: number) => inTurn(...(Array(times).fill(answers(500)) as [never]), answers(200));

  test('has the same bytes and the same id, and a new signature over the new time', async () => {
    const merchant = await callbacks.newMerchant();
    callbacks.receiver.behaviour = failing(2);
    const { body } = await shop.sale({ 'custom_data[note]': 'čaj & 🎸' }, merchant);
    await callbacks.drain();
    for (const seconds of [12, 36]) {
      await pause(1100);
      await shop.advanceClock(seconds, merchant.mid);
    }
    const tries = callbacks.received(callbacks.urlOf(merchant));
    expect(tries).toHaveLength(3);
    expect(new Set(tries.map(textOf)).size).toBe(1);
    expect(new Set(tries.map(({ id }) => id))).toEqual(new Set([`${body.trans_id}-2`]));
    expect(new Set(tries.map(({ sequence }) => sequence))).toEqual(new Set([2]));
    const times = tries.map(({ timestamp }) => Number(timestamp));
    expect(new Set(times).size).toBe(3);
    expect(times).toEqual(times.toSorted());
    for (const one of tries) expect(signatureBy(merchant.callback_secret, one)).toBe(0);
    const [row] = [...(await callbacks.stored(merchant)).values()];
    expect(row).toMatchObject({ body: textOf(tries[0] as Callback), state: 'delivered', attempts: 3 });
  });

  test.each<[what: string, changes: Record<string, unknown>]>([
    ['the format', { callback_format: 'json' }],
    ['the name', { name: 'Another Shop' }],
    ['the descriptor', { descriptor: 'ANOTHER' }],
  ])('has the same bytes after %s was changed', async (_, changes) => {
    const merchant = await callbacks.newMerchant();
    callbacks.receiver.behaviour = failing(1);
    const { body } = await shop.sale({ auth: 'Y' }, merchant);
    await callbacks.drain();
    await change(merchant, changes);
    await shop.advanceClock(12, merchant.mid);
    await operate(merchant, 'CAPTURE', body.trans_id);
    await callbacks.drain();
    const [first, second, third] = callbacks.received(callbacks.urlOf(merchant)) as [Callback, Callback, Callback];
    expect(second.body.equals(first.body)).toBe(true);
    expect([first, second, third].map(({ isJson }) => isJson)).toEqual([false, false, 'callback_format' in changes]);
    expect(third.fields).toMatchObject({ action: 'CAPTURE', descriptor: 'Test Shop' });
  });

  test('keeps its hash after a new password, which covers only callbacks written from then on', async () => {
    const merchant = await callbacks.newMerchant();
    callbacks.receiver.behaviour = failing(1);
    const { body } = await shop.sale({ auth: 'Y' }, merchant);
    await callbacks.drain();
    const { password } = (await shop.admin('POST', `/accounts/${merchant.mid}/rotate-password`)).body;
    await shop.advanceClock(12, merchant.mid);
    await operate(merchant, 'CAPTURE', body.trans_id);
    await callbacks.drain();
    const [first, second, third] = callbacks.received(callbacks.urlOf(merchant)) as [Callback, Callback, Callback];
    expect(second.body.equals(first.body)).toBe(true);
    expect(first.fields.hash).toBe(hashFor(merchant.password, first.fields));
    expect(third.fields.hash).toBe(hashFor(password, third.fields));
  });

  test('goes to the account’s present address: a corrected one gets what failed before', async () => {
    const merchant = await callbacks.newMerchant();
    const mended = callbacks.newUrl();
    callbacks.receiver.behaviour = failing(1);
    await shop.sale({}, merchant);
    await callbacks.drain();
    await change(merchant, { callback_url: mended });
    await shop.advanceClock(12, merchant.mid);
    const [before] = callbacks.received(callbacks.urlOf(merchant)) as [Callback];
    const [after] = callbacks.received(mended) as [Callback];
    expect(callbacks.received(callbacks.urlOf(merchant))).toHaveLength(1);
    expect([after.body.equals(before.body), after.id]).toEqual([true, before.id]);
  });

  test('of a later callback of the payment waits for the failed one, and keeps its sequence number', async () => {
    const merchant = await callbacks.newMerchant();
    callbacks.receiver.behaviour = failing(1);
    const { body } = await shop.sale({ auth: 'Y' }, merchant);
    await callbacks.drain();
    for (const amount of ['4.00']) await operate(merchant, 'CAPTURE', body.trans_id, { amount });
    for (const amount of ['1.00', '3.00']) await operate(merchant, 'CREDITVOID', body.trans_id, { amount });
    await callbacks.drain();
    await shop.advanceClock(12, merchant.mid);
    const arrived = callbacks.received(callbacks.urlOf(merchant));
    expect(arrived.map(({ fields }) => fields.action)).toEqual(['SALE', 'SALE', 'CAPTURE', 'CREDITVOID', 'CREDITVOID']);
    const numbers = arrived.map(({ sequence }) => sequence);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(new Set(numbers).size).toBe(4);
  });
});

describe('the signature', () => {
  const rotate = async ({ mid }: CallbackMerchant): Promise<string> =>
    (await shop.admin('POST', `/accounts/${mid}/rotate-callback-secret`)).body.callback_secret;
  const nextOf = async (merchant: CallbackMerchant): Promise<Callback> => {
    await shop.sale({}, merchant);
    await callbacks.drain();
    return callbacks.received(callbacks.urlOf(merchant)).at(-1) as Callback;
  };

  test('does not verify after any change of a byte, id, time or secret', async () => {
    const merchant = await callbacks.newMerchant();
    const right = await nextOf(merchant);
    const by = (changes: Partial<Callback>, secret = merchant.callback_secret) =>
      signatureBy(secret, { ...right, ...changes });
    expect(by({})).toBe(0);
    for (let place = 0; place < right.body.length; place++) {
      const body = Buffer.from(right.body);
      body[place] = (body[place] as number) ^ 1;
      expect(by({ body }), `byte ${place}`).toBe(-1);
    }
    expect(by({ body: Buffer.concat([right.body, Buffer.from('\n')]) })).toBe(-1);
    expect(by({ id: `${right.id}0` })).toBe(-1);
    expect(by({ timestamp: String(Number(right.timestamp) + 1) })).toBe(-1);
    expect(by({}, (await callbacks.newMerchant()).callback_secret)).toBe(-1);
  });

  test('is made with both secrets during a rotation, and with the new one only a day later', async () => {
    const merchant = await callbacks.newMerchant();
    const next = await rotate(merchant);
    expect(next).toMatch(/^whsec_[A-Za-z0-9+/]{32,}=*$/);
    const both = await nextOf(merchant);
    expect(both.signatures).toHaveLength(2);
    expect([signatureBy(next, both), signatureBy(merchant.callback_secret, both)]).toEqual([0, 1]);
    await shop.advanceClock(86_340, merchant.mid);
    expect((await nextOf(merchant)).signatures).toHaveLength(2);
    await shop.advanceClock(60, merchant.mid);
    const one = await nextOf(merchant);
    expect(one.signatures).toHaveLength(1);
    expect([signatureBy(next, one), signatureBy(merchant.callback_secret, one)]).toEqual([0, -1]);
  });

  test('is made with both secrets also for a callback written before the rotation', async () => {
    const merchant = await callbacks.newMerchant();
    callbacks.receiver.behaviour = inTurn(answers(500), answers(200));
    await nextOf(merchant);
    const next = await rotate(merchant);
    await shop.advanceClock(12, merchant.mid);
    const [first, second] = callbacks.received(callbacks.urlOf(merchant)) as [Callback, Callback];
    expect([first, second].map((one) => signatureBy(merchant.callback_secret, one))).toEqual([0, 1]);
    expect([first, second].map((one) => signatureBy(next, one))).toEqual([-1, 0]);
  });
});

describe('the destination', () => {
  const repeat = (merchant: CallbackMerchant, first: Fields): Promise<unknown> => {
    const order_id = newOrderId();
    return shop.post({
      ...{ action: 'RECURRING_SALE', client_key: merchant.client_key, order_id, order_amount: '3.00' },
      ...{ order_description: 'Another month', recurring_first_trans_id: first.trans_id as string },
      ...{ recurring_token: first.recurring_token as string, hash: sign(merchant.password, order_id) },
    });
  };

  test('callback_url of a sale is for that payment, its operations and its recurring payments only', async () => {
    const merchant = await callbacks.newMerchant();
    const callback_url = `${callbacks.newUrl()}?shop=1&x=%20`;
    const { body: own } = await shop.sale({ callback_url, recurring_init: 'Y' }, merchant);
    const { body: other } = await shop.sale({}, merchant);
    await operate(merchant, 'CREDITVOID', own.trans_id);
    await operate(merchant, 'CREDITVOID', other.trans_id);
    await repeat(merchant, own);
    await callbacks.drain();
    const path = callback_url.slice(new URL(callback_url).origin.length);
    const toOwn = callbacks.receiver.received.filter((received) => received.path === path).map(({ body }) => body);
    const actions = toOwn.map((body) => new URLSearchParams(String(body)).get('action'));
    expect(actions.toSorted()).toEqual(['CREDITVOID', 'RECURRING_SALE', 'SALE']);
    const toOthers = callbacks.received(callbacks.urlOf(merchant));
    expect(toOthers.map(paymentOf)).toEqual([other.trans_id, other.trans_id]);
  });

  test('callback_url of a sale stays when the account’s changes, and suffices for an account without one', async () => {
    const callback_url = callbacks.newUrl();
    const merchant = await callbacks.newMerchant({ callback_url: '' });
    const { body } = await shop.sale({ callback_url, auth: 'Y' }, merchant);
    await change(merchant, { callback_url: callbacks.newUrl() });
    await operate(merchant, 'VOID', body.trans_id);
    expect(await callbacks.delivered(merchant, callback_url)).toMatchObject([{ action: 'SALE' }, { action: 'VOID' }]);
  });

  test('callbacks of an account without an address are written and parked, and not sent', async () => {
    const merchant = await callbacks.newMerchant({ callback_url: '' });
    const { body } = await shop.sale({ auth: 'Y' }, merchant);
    await operate(merchant, 'CAPTURE', body.trans_id);
    const before = callbacks.receiver.received.length;
    await callbacks.drain();
    await shop.advanceClock(86_400, merchant.mid);
    expect(callbacks.receiver.received).toHaveLength(before);
    const parked = { state: 'parked', reason: 'No callback_url is set.', attempts: 0 };
    expect([...(await callbacks.stored(merchant)).values()]).toMatchObject([
      { type: 'sale', ...parked },
      { type: 'capture', ...parked },
    ]);
  });
});

describe('state and callback are written together', () => {
  /** A pseudo-random number below `most` that is the same in every run. */
  let seed = 17;
  const random = (most: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * most);
  };
  const pick = <Value>(values: readonly Value[]): Value => values[random(values.length)] as Value;

  const SALES: [brand: string, fields: Fields][] = [
    ['vcard', {}],
    ['vcard', { auth: 'Y' }],
    ['vcard', { identifier: 'decline@example.com' }],
    ['pin-a', {}],
    ['pin-a', { auth: 'Y' }],
    ['upi-b', {}],
    ['hosted-b', {}],
  ];

  test('when a callback cannot be written, the state does not change; when it can, both are written', async () => {
    const merchant = await callbacks.newMerchant();
    const request = saleFields(merchant);
    const guard = `callbacks add constraint nothing_for_now check (mid <> '${merchant.mid}') not valid`;
    await shop.rows(`alter table ${guard}`);
    expect((await shop.post(request)).status).toBeGreaterThanOrEqual(500);
    const states = () =>
      shop.rows(`select state, history_length::int as rows from payments where mid = '${merchant.mid}'`);
    expect(await states()).toEqual([{ state: 'PREPARE', rows: 1 }]);
    await shop.rows('alter table callbacks drop constraint nothing_for_now');
    await shop.advanceClock(120, merchant.mid);
    expect(await states()).toEqual([{ state: 'SETTLED', rows: 2 }]);
    expect(await callbacks.delivered(merchant)).toMatchObject([{ status: 'SETTLED', order_id: request.order_id }]);
  });

  test(`${30 * ROUNDS} payments and their operations in two concurrent processes: one callback each, and all arrive`, async () => {
    const merchant = await callbacks.newMerchant();
    const other = await shop.anotherGateway();
    other.publicUrl = shop.url;
    other.inboundUrl = shop.url;
    const account = (await findAccount(shop.gateway, merchant.mid)) as Account;
    shop.gateway.deliverer.start();
    other.deliverer.start();

    const refusedOr = (work: Promise<unknown>): Promise<unknown> =>
      work.catch((error) => {
        if (!(error instanceof Refusal)) throw error;
      });
    const found = (gateway: Gateway, paymentId: string): Promise<PaymentWithDetails> =>
      gateway.payments.find({ mid: merchant.mid, paymentId }) as Promise<PaymentWithDetails>;
    const inCore = async (id: string): Promise<unknown> => {
      const payment = await found(other, id);
      const amount = pick(['', '1.00', '4.00']);
      return refusedOr(
        pick([
          () => capture(other, account, payment, amount, 'merchant'),
          () => voidPayment(other, payment, 'merchant'),
          () => refund(other, account, payment, amount, 'merchant'),
        ])(),
      );
    };
    const befall: ((id: string) => Promise<unknown>)[] = [
      (id) => operate(merchant, 'CAPTURE', id, { amount: pick(['4.00', '10.00']) }),
      (id) => operate(merchant, 'VOID', id),
      (id) => operate(merchant, 'CREDITVOID', id, { amount: pick(['1.00', '2.50', '10.00']) }),
      (id) => shop.status(id, merchant),
      (id) => shop.sandbox('POST', `/payments/${id}`, { provider_status: pick(['executed', 'rejected']) }),
      inCore,
      inCore,
    ];
    for (let round = 0; round < ROUNDS; round++) {
      if (round % 3 === 1) {
        await shop.sandbox('POST', '/faults', {
          mid: merchant.mid,
          mode: pick(['timeout_after', 'error_500']),
          count: 8,
        });
      }
      await Promise.all(
        Array.from({ length: 30 }, async () => {
          const [brand, fields] = pick(SALES);
          const request = brandSale(brand, merchant, fields);
          const [{ body }] = (await Promise.all([shop.post(request), shop.post(request)])) as [
            { body: Fields },
            unknown,
          ];
          await Promise.all(Array.from({ length: 4 }, () => pick(befall)(body.trans_id as string)));
        }),
      );
    }
    await shop.sandbox('POST', '/faults', { mode: 'none' });
    for (const seconds of [10, 60, 3600, 8 * 86_400]) await shop.advanceClock(seconds, merchant.mid);
    await Promise.all([shop.gateway.deliverer.drain(), other.deliverer.drain()]);

    expect(await shop.rows(CALLBACK_MISMATCHES)).toEqual([]);
    expect((await verifyAt(shop.connection)).violations).toEqual([]);
    const kept = await callbacks.stored(merchant);
    expect(kept.size).toBeGreaterThan(50 * ROUNDS);
    const arrived = new Map(callbacks.received(callbacks.urlOf(merchant)).map((one) => [one.id, one]));
    expect([...arrived.keys()].toSorted()).toEqual([...kept.keys()].toSorted());
    for (const [id, row] of kept) {
      expect(row).toMatchObject({ state: 'delivered', body: textOf(arrived.get(id) as Callback) });
    }
    const order = callbacks.received(callbacks.urlOf(merchant));
    for (const ofPayment of Map.groupBy(order, paymentOf).values()) {
      const numbers = ofPayment.map(({ sequence }) => sequence);
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    }
  }, 120_000);
});

test('in the end every change and every outcome has exactly one callback, and the check detects violations', async () => {
  expect(await shop.rows(CALLBACK_MISMATCHES)).toEqual([]);
  const merchant = await callbacks.newMerchant();
  const { body } = await shop.sale({ auth: 'Y' }, merchant);
  await operate(merchant, 'CAPTURE', body.trans_id);
  const wrongAfter = async (damage: string): Promise<unknown[]> => {
    await shop.rows(damage);
    return (await shop.rows(CALLBACK_MISMATCHES)).map(({ wrong }) => wrong);
  };
  const ofSeq = (seq: number): string => `payment_id = '${body.trans_id}' and seq = ${seq}`;
  const NONE = '0 callbacks of 1 outcomes';
  expect(await wrongAfter(`update callbacks set seq = 3 where ${ofSeq(4)}`)).toEqual([
    'no callback: captured',
    'no change: capture',
  ]);
  expect(await wrongAfter(`delete from callbacks where ${ofSeq(3)}`)).toEqual(['no callback: captured', NONE]);
  expect(await wrongAfter(`delete from callbacks where ${ofSeq(2)}`)).toHaveLength(3);
});
