/** The text search for payments: every kind of word, several words, other filters, pages, and refusals. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/rules/limits.ts';
import { readSearch } from '../../src/rules/payment-search.ts';
import { checkoutOf } from '../support/checkout.ts';
import { entryOf } from '../support/entries.ts';
import { type Fields, type Merchant, newOrderId, openShop } from '../support/gateway.ts';
import { operationsOf } from '../support/operations.ts';
import { preparedPayment } from '../support/payments.ts';

const shop = openShop({ simulator: true });
const checkout = checkoutOf(shop);
const operations = operationsOf(shop);

let other: Merchant;
beforeAll(async () => {
  other = await shop.newMerchant();
});

const page = async (query: Fields) => {
  const { status, body } = await shop.admin('GET', `/payments?${new URLSearchParams(query)}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return {
    ids: body.items.map(({ payment_id }: { payment_id: string }) => payment_id) as string[],
    next: body.next_cursor as string | null,
  };
};
const find = async (q: string, filters: Fields = {}): Promise<string[]> => (await page({ ...filters, q })).ids;
const sale = async (fields: Fields = {}, merchant?: Merchant): Promise<string> =>
  (await shop.sale(fields, merchant)).body.trans_id;
const newestFirst = (ids: string[]): string[] => ids.toSorted().reverse();

describe('by', () => {
  test('payment id, in any case', async () => {
    const id = await sale();
    expect(await find(id)).toEqual([id]);
    expect(await find(id.toUpperCase())).toEqual([id]);
    expect(await find(randomUUID())).toEqual([]);
    expect(await find(id.slice(0, -1))).toEqual([]);
  });

  test('operation id', async () => {
    const id = await operations.authorised();
    await operations.authorised();
    const operation_id = randomUUID();
    expect((await shop.admin('POST', `/payments/${id}/capture`, { operation_id })).status).toBe(200);
    expect(await find(operation_id)).toEqual([id]);
  });

  test('provider reference, complete only', async () => {
    const id = await operations.settled('doc-a');
    const { provider_reference } = await shop.inspect(id);
    expect(provider_reference).toEqual(expect.any(String));
    expect(await find(provider_reference)).toEqual([id]);
    expect(await find(provider_reference.slice(0, -1))).toEqual([]);
    expect(await find(`${provider_reference}0`)).toEqual([]);
  });

  test('order id, complete and as a prefix, in this case only', async () => {
    const order = `Prefix ${newOrderId()}`;
    const ids = [await sale({ order_id: order }), await sale({ order_id: `${order}-2` })];
    const otherOne = await sale({ order_id: `${order}-3` }, other);
    expect(await find(`"${order}"`)).toEqual(newestFirst([...ids, otherOne]));
    expect(await find(`"${order}-2"`)).toEqual([ids[1]]);
    expect(await find(`"${order.toLowerCase()}"`)).toEqual([]);
    expect(await find(`"${order}-2-"`)).toEqual([]);
  });

  test.each(['ünï-訂單-🙂-', 'percent%_\\-', "quote'; --"])('the order id %s', async (prefix) => {
    const order_id = `${prefix}${newOrderId()}`;
    const id = await sale({ order_id });
    expect(await find(`"${prefix}"`)).toEqual([id]);
  });

  test('an order id of each shape', async () => {
    for (const order_id of [randomUUID(), '9911', '77.12', `a@${newOrderId()}`]) {
      const id = await sale({ order_id });
      expect(await find(order_id), order_id).toEqual([id]);
    }
  });

  test('last four digits of a card, also of a recurring payment and of an open one', async () => {
    const first = await checkout.paidByCard({ recurring_init: true }, other, { card_number: '5555555555554444' });
    const { recurring_token } = (await checkout.status({ payment_id: first.id }, other)).body;
    const order = { number: newOrderId(), amount: '3.00', description: 'Tea' };
    const { body } = await checkout.send(
      'payment/recurring',
      { recurring_init_trans_id: first.id, recurring_token, order },
      other,
    );
    const open = preparedPayment(shop, {
      details: {
        description: 'Tea',
        payer: {},
        card: { id: randomUUID(), masked: '411111******4444', network: 'visa', expiry: '01/2038' },
      },
    });
    expect(await shop.gateway.payments.open(open)).toBe(true);
    expect(await find('4444')).toEqual(newestFirst([first.id, body.payment_id, open.paymentId]));
    expect(await find('5555')).toEqual([]);
    expect(await find('4443')).toEqual([]);
    expect(await find('5555555555554444')).toEqual([]);
    // The token is found as well.
    expect(await find(recurring_token)).toEqual([first.id]);
  });

  test('the payer’s e-mail, in any case, complete only, and before the payer chose a brand', async () => {
    const mail = `Ana.${newOrderId()}@Example.com`;
    const ids = [
      await sale({ payer_email: mail }),
      await sale({ payer_email: mail.toLowerCase(), identifier: 'decline@example.com' }),
      (await checkout.open({ customer: { name: 'Ana', email: mail.toUpperCase() } })).id,
    ];
    expect(await find(mail)).toEqual(newestFirst(ids));
    expect(await find(mail.slice(1))).toEqual([]);
    expect(await find(mail.slice(0, -1))).toEqual([]);
  });

  test('an e-mail with other letters than those of ASCII', async () => {
    const id = await sale({ payer_email: 'Жанна@пример.рф' });
    expect(await find('Жанна@пример.рф')).toEqual([id]);
    expect(await find('жанна@пример.рф')).toEqual([id]);
  });

  test('an amount of any currency', async () => {
    const ids = [
      await sale({ order_amount: '4711.00', order_currency: 'EUR' }),
      await sale({ order_amount: '4711.00', order_currency: 'JPY' }),
      await sale({ order_amount: '4711.000', order_currency: 'KWD' }),
    ];
    // The same minor units, but other amounts.
    await sale({ order_amount: '471100', order_currency: 'JPY' });
    await sale({ order_amount: '471.100', order_currency: 'KWD' });
    expect(await find('4711.00')).toEqual(newestFirst(ids));
    expect(await find('4711.000')).toEqual([ids[2]]);
    expect(await find('4711.01')).toEqual([]);
    expect(await find('0.00')).toEqual([]);
  });

  test('schedule id', async () => {
    const scheduleId = randomUUID();
    const payment = preparedPayment(shop, { scheduleId });
    await shop.gateway.payments.open(payment);
    expect(await find(scheduleId)).toEqual([payment.paymentId]);
  });
});

describe('a payment with long texts', () => {
  test('is accepted, and not found by them', async () => {
    const payer_email = `${'x'.repeat(20_000)}@example.com`;
    const id = await sale({ payer_email, order_id: `long-${newOrderId()}` });
    expect(id).toEqual(expect.any(String));
    expect((await shop.inspect(id)).details.payer.email).toBe(payer_email);
    // A random text cannot be compressed into an index entry.
    const random = Array.from({ length: 400 }, () => randomUUID()).join('');
    await shop.rows(`update payments set provider_reference = '${random}' where payment_id = '${id}'`);
    expect((await shop.inspect(id)).provider_reference).toBe(random);
  });
});

describe('several words', () => {
  test('must all match, in any order', async () => {
    const mail = `bo-${newOrderId()}@example.com`;
    const prefix = `many-${newOrderId()}-`;
    const id = await sale({ payer_email: mail, order_id: `${prefix}1`, order_amount: '31.00' });
    const otherAmount = await sale({ payer_email: mail, order_id: `${prefix}2`, order_amount: '32.00' });
    const otherMail = await sale({ order_id: `${prefix}3`, order_amount: '31.00' });
    expect(await find(`${mail} 31.00`)).toEqual([id]);
    expect(await find(`31.00 ${mail}`)).toEqual([id]);
    expect(await find(`${prefix} 31.00`)).toEqual([otherMail, id]);
    expect(await find(`${prefix} ${mail}`)).toEqual([otherAmount, id]);
    expect(await find(`${prefix} ${mail} 31.00 ${id}`)).toEqual([id]);
    expect(await find(`${prefix} ${mail} 33.00`)).toEqual([]);
    expect(await find(`${id} ${otherAmount}`)).toEqual([]);
  });

  test('may be the same twice', async () => {
    const id = await sale();
    expect(await find(`${id} ${id}`)).toEqual([id]);
  });
});

describe('with other filters', () => {
  test('finds what matches both', async () => {
    const mail = `cy-${newOrderId()}@example.com`;
    const settled = await sale({ payer_email: mail });
    const declined = await sale({ payer_email: mail, identifier: 'decline@example.com' });
    const foreign = await sale({ payer_email: mail }, other);
    expect(await find(mail)).toEqual([foreign, declined, settled]);
    expect(await find(mail, { status: 'DECLINED' })).toEqual([declined]);
    expect(await find(mail, { mid: other.mid })).toEqual([foreign]);
    expect(await find(mail, { mid: other.mid, status: 'DECLINED' })).toEqual([]);
    expect(await find(mail, { brand: 'card' })).toEqual([]);
    expect(await find(mail, { from: '2020-01-01', to: '2020-01-02' })).toEqual([]);
    expect(await find(mail, { from: '2020-01-01' })).toEqual([foreign, declined, settled]);
    const { order_id } = await shop.inspect(settled);
    expect(await find(mail, { order_id })).toEqual([settled]);
    expect(await find(order_id, { mid: other.mid })).toEqual([]);
  });

  test('an empty search is none', async () => {
    expect(await find('')).toEqual((await page({})).ids);
  });
});

describe('the accounts of the caller', () => {
  const list = async (mids: string[] | null, q?: string, mid?: string): Promise<string[]> => {
    const words = q === undefined ? undefined : readSearch(q);
    const { payments } = await shop.gateway.payments.list({ mids, words, mid, limit: 500 });
    return payments.map(({ paymentId }) => paymentId);
  };
  test('limit every search and every list', async () => {
    const mail = `di-${newOrderId()}@example.com`;
    const third = await shop.newMerchant();
    const ids: string[] = [];
    for (const merchant of [shop.merchant, other, third]) ids.push(await sale({ payer_email: mail }, merchant));
    const [own, foreign, last] = ids as [string, string, string];
    const operation_id = randomUUID();
    await shop.admin('POST', `/payments/${foreign}/refund`, { operation_id });
    const many = Array.from({ length: 30 }, () => randomUUID());
    expect(await list(null, mail)).toEqual([last, foreign, own]);
    for (const scope of [
      [other.mid, third.mid],
      [...many, other.mid, third.mid],
    ]) {
      expect(await list(scope, mail)).toEqual([last, foreign]);
      expect(await list(scope, own)).toEqual([]);
      expect(await list(scope, foreign)).toEqual([foreign]);
      expect(await list(scope, operation_id)).toEqual([foreign]);
      expect(await list(scope, mail, shop.merchant.mid)).toEqual([]);
      expect(await list(scope, mail, other.mid)).toEqual([foreign]);
      const listed = await list(scope);
      expect(listed).toEqual(newestFirst(listed));
      expect(listed).toEqual(expect.arrayContaining([last, foreign]));
      expect(listed).not.toContain(own);
      expect(await list(scope, undefined, shop.merchant.mid)).toEqual([]);
      expect(await list(scope, undefined, third.mid)).toEqual([last]);
    }
    expect(await list([third.mid])).toEqual([last]);
    expect(await list([third.mid], operation_id)).toEqual([]);
    expect(await list([])).toEqual([]);
    expect(await list([], mail)).toEqual([]);
  });
});

describe('pages', () => {
  test('neither skip nor repeat payments while new ones arrive', async () => {
    const payer_email = `ed-${newOrderId()}@example.com`;
    const ids = await Promise.all(Array.from({ length: 23 }, () => sale({ payer_email })));
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { ids: found, next }: Awaited<ReturnType<typeof page>> = await page({ q: payer_email, limit: '5', cursor });
      seen.push(...found);
      await Promise.all([sale({ payer_email }), sale({ payer_email }, other), sale()]);
      cursor = next;
    }
    expect(seen).toEqual(newestFirst(ids));
  });

  test('end with null on a full last page', async () => {
    const order = `full-${newOrderId()}-`;
    const ids = [await sale({ order_id: `${order}1` }), await sale({ order_id: `${order}2` })];
    expect(await page({ q: order, limit: '2' })).toEqual({ ids: newestFirst(ids), next: null });
  });

  test('continue where a page stopped reading before it was full', async () => {
    const { mid } = await shop.newMerchant();
    const count = LIMITS.searchReadMost * 2 + 100;
    // All have the same amount and order prefix; the two with another currency are among the oldest.
    await shop.rows(`
      insert into payments (mid, payment_id, order_id, attempt, protocol, brand, connector, state, history_length,
        amount_text, currency, amount, authorised, captured, is_authorisation, is_recurring_init, fingerprint,
        descriptor, details, created_at, updated_at)
      select '${mid}', ('01900000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'same-' || n, 1, 's2s', 'card',
        'upstream', 'SETTLED', 2, '66.66', case when n in (7, 8) then 'USD' else 'EUR' end, 6666, 6666, 6666, false, false,
        '', 'SHOP', jsonb_build_object('payer', jsonb_build_object('email', case when n in (7, 8) then 'old@example.com' else 'x' end)),
        now(), now()
      from generate_series(1, ${count}) n`);
    const old = [8, 7].map((n) => `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`);
    for (const q of ['66.66 old@example.com', 'same- 66.66 old@example.com']) expect(await find(q), q).toEqual(old);
    for (const [q, filters] of [
      ['same- 66.66', { brand: 'vcard' }],
      ['66.66', { brand: 'vcard' }],
      ['same-', { brand: 'vcard', mid }],
    ] as const) {
      let { ids, next } = await page({ q, ...filters });
      let pages = 1;
      for (; next !== null; pages++) ({ ids, next } = await page({ q, ...filters, cursor: next }));
      expect({ ids, pages }, q).toEqual({ ids: [], pages: 3 });
    }
    // All of them, in portions, each once.
    let seen = 0;
    let previous = 'g';
    let cursor: string | null = '';
    while (cursor !== null) {
      const { ids, next }: Awaited<ReturnType<typeof page>> = await page({ q: 'same-', limit: '500', cursor });
      for (const id of ids) {
        expect(id < previous).toBe(true);
        previous = id;
      }
      seen += ids.length;
      cursor = next;
    }
    expect(seen).toBe(count);
  }, 60_000);

  test('have no gaps where one index stopped and another one found older payments', async () => {
    const { mid } = await shop.newMerchant();
    const cards = LIMITS.searchReadMost + 300;
    // Payments with the card, all newer than the one that matches, and orders with the prefix, new and old.
    const insert = (ids: string, order: string, brand: string, details: string) =>
      shop.rows(`
        insert into payments (mid, payment_id, order_id, attempt, protocol, brand, connector, state, history_length,
          amount_text, currency, amount, authorised, captured, is_authorisation, is_recurring_init, fingerprint,
          descriptor, details, created_at, updated_at)
        select '${mid}', ('01910000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, ${order} || n, 1, 's2s',
          ${brand}, 'upstream', 'SETTLED', 2, '1.00', 'EUR', 100, 100, 100, false, false, '', 'SHOP', ${details}, now(), now()
        from generate_series(${ids}) n`);
    const card = `'{"card": {"masked": "411111******7777"}}'`;
    await insert(`0, ${cards * 10}, 10`, `'card-'`, `case when n in (900, 950) then 'rare' else 'card' end`, card);
    await insert('5, 1005, 10', `'7777-'`, `'rare'`, `'{}'`);
    await insert('90005, 90205, 10', `'7777-'`, `'rare'`, `'{}'`);
    const rows = await shop.rows(`select payment_id as id from payments where mid = '${mid}' and brand = 'rare'`);
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const query: Fields = { q: '7777', brand: 'rare', limit: '50', cursor };
      const { ids, next }: Awaited<ReturnType<typeof page>> = await page(query);
      seen.push(...ids);
      cursor = next;
    }
    expect(seen).toHaveLength(101 + 21 + 2);
    expect(seen).toEqual(newestFirst(rows.map(({ id }) => String(id))));
  });
});

describe('refuses', () => {
  test.each([
    ['q=%00', 'q: This value is not valid.'],
    ['q=%20', 'q: This value is not valid.'],
    ['q=a+b+c+d+e+f', 'q: This value is not valid.'],
    [`q=${'x'.repeat(256)}`, 'q: This value is not valid.'],
    ['q=a&q=b', 'q: This value should be sent once.'],
    ['q=a&cursor=b', 'cursor: This value is not valid.'],
  ])('?%s', async (query, error_message) => {
    const { status, body } = await shop.admin('GET', `/payments?${query}`);
    expect({ status, errors: body.errors }).toEqual({ status: 400, errors: [entryOf(error_message)] });
  });
});
