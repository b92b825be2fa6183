/** The text search for payments: every kind of word, several words, other filters, pages, and refusals. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { foldProjections } from '../../src/core/projections/projections.ts';
import { FIRST_ID, LAST_ID, newId } from '../../src/lib/crypto/id.ts';
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
/** What is found as soon as it is committed, and what is found afterwards by the projection. */
const find = async (q: string, filters: Fields = {}): Promise<string[]> => {
  const { ids } = await page({ ...filters, q });
  await foldProjections(shop.gateway);
  expect((await page({ ...filters, q })).ids, q).toEqual(ids);
  return ids;
};
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

  test('any part of the provider reference', async () => {
    const id = await operations.settled('doc-a');
    const { provider_reference } = await shop.inspect(id);
    expect(provider_reference).toEqual(expect.any(String));
    expect(await find(provider_reference)).toEqual([id]);
    expect(await find(provider_reference.slice(3))).toEqual([id]);
    expect(await find(`${provider_reference}0`)).toEqual([]);
  });

  test('any part of the order id, in any case', async () => {
    const order = `Part ${newOrderId()}`;
    const ids = [await sale({ order_id: order }), await sale({ order_id: `${order}-2` })];
    const otherOne = await sale({ order_id: `${order}-3` }, other);
    expect(await find(`"${order}"`)).toEqual(newestFirst([...ids, otherOne]));
    expect(await find(`"${order.slice(3).toUpperCase()}"`)).toEqual(newestFirst([...ids, otherOne]));
    expect(await find(`"${order.slice(8)}-2"`)).toEqual([ids[1]]);
    expect(await find(`"${order}-2-"`)).toEqual([]);
  });

  test.each([
    ['ünï-訂單-🙂-', 'uni-訂單'],
    ['percent%_\\-', '%_\\'],
    ["quote'; --", "'; -"],
    ['Straße Łódź ', 'strasse lodz'],
  ])('a part of the order id %s', async (prefix, part) => {
    const order_id = `${prefix}${newOrderId()}`;
    const id = await sale({ order_id });
    expect(await find(`"${prefix}"`)).toEqual([id]);
    expect(await find(`"${part}" "${order_id.slice(-12)}"`)).toEqual([id]);
  });

  test('any part of the payer’s name and of the description, without accents', async () => {
    const tag = newOrderId().slice(-10);
    const id = await sale({
      payer_first_name: `José${tag}`,
      payer_last_name: 'Núñez',
      order_description: `Crème brûlée ${tag}`,
    });
    for (const q of [`jose${tag}`, `"${tag} NUNEZ"`, `núñ ${tag}`, `brulee ${tag}`, `"CRÈME BRU" ${tag}`]) {
      expect(await find(q), q).toEqual([id]);
    }
    expect(await find(`"${tag} nunez creme"`)).toEqual([]);
  });

  test('an order id of each shape', async () => {
    for (const order_id of [randomUUID(), `99110${Date.now()}`, `77.1${Date.now()}`, `a@${newOrderId()}`]) {
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
    expect(await find('4444')).toEqual(expect.arrayContaining([first.id, body.payment_id, open.paymentId]));
    expect(await find('5555555555554444')).toEqual([]);
    expect(await find('555555')).toEqual([]);
    // The token is found as well.
    expect(await find(recurring_token)).toEqual([first.id]);
  });

  test('any part of the payer’s e-mail, in any case, and before the payer chose a brand', async () => {
    const mail = `Ana.${newOrderId()}@Example.com`;
    const ids = [
      await sale({ payer_email: mail }),
      await sale({ payer_email: mail.toLowerCase(), identifier: 'decline@example.com' }),
      (await checkout.open({ customer: { name: 'Ana', email: mail.toUpperCase() } })).id,
    ];
    expect(await find(mail)).toEqual(newestFirst(ids));
    expect(await find(mail.slice(1))).toEqual(newestFirst(ids));
    expect(await find(mail.slice(0, -9))).toEqual(newestFirst(ids));
    expect(await find(`x${mail}`)).toEqual([]);
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
    expect(await find('4711,00')).toEqual(newestFirst(ids));
    expect(await find('4,711.00')).toEqual(newestFirst(ids));
    expect(await find('4.711,00')).toEqual(newestFirst(ids));
    expect(await find('711.0')).toEqual(newestFirst(ids));
    expect(await find('4711.000')).toEqual([ids[2]]);
    expect(await find('4711.01')).toEqual([]);
  });

  test('schedule id', async () => {
    const scheduleId = randomUUID();
    const payment = preparedPayment(shop, { scheduleId });
    await shop.gateway.payments.open(payment);
    expect(await find(scheduleId)).toEqual([payment.paymentId]);
  });
});

describe('a payment with long texts', () => {
  test('is accepted, and found by any part of them', async () => {
    const payer_email = `${'x'.repeat(20_000)}@long.example.com`;
    const id = await sale({ payer_email, order_id: `long-${newOrderId()}` });
    expect(id).toEqual(expect.any(String));
    expect((await shop.inspect(id)).details.payer.email).toBe(payer_email);
    // A random text cannot be compressed into an index entry.
    const random = Array.from({ length: 400 }, () => randomUUID()).join('');
    await shop.rows(`update payments set provider_reference = '${random}' where payment_id = '${id}'`);
    expect((await shop.inspect(id)).provider_reference).toBe(random);
    await foldProjections(shop.gateway);
    expect(await find('xx@long.exam')).toEqual([id]);
    expect(await find(random.slice(5000, 5030))).toEqual([id]);
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
    expect(seen.toSorted()).toEqual(ids.toSorted());
    const times = await Promise.all(seen.map(async (id) => (await shop.inspect(id)).created_at as string));
    expect(times).toEqual(times.toSorted().reverse());
  });

  test('end with null on a full last page', async () => {
    const order = `full-${newOrderId()}-`;
    const ids = [await sale({ order_id: `${order}1` }), await sale({ order_id: `${order}2` })];
    expect(await page({ q: order, limit: '2' })).toEqual({ ids: newestFirst(ids), next: null });
  });

  test('begin with the newest after an id of any year', async () => {
    const order = `years-${newOrderId()}`;
    const ids = [await sale({ order_id: order })];
    for (const cursor of [LAST_ID, newId()]) expect(await page({ q: order, cursor })).toEqual({ ids, next: null });
    expect(await page({ q: order, cursor: FIRST_ID })).toEqual({ ids: [], next: null });
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
