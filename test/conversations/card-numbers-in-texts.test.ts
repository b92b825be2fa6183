/** Card numbers in texts are refused in every field and protocol, and in every spelling; other numbers are accepted. */
import { describe, expect, test } from 'vitest';
import { checkoutOf, sessionFields } from '../support/checkout.ts';
import { entryOf } from '../support/entries.ts';
import { type Fields, newOrderId, openShop, saleFields, sign } from '../support/gateway.ts';

const shop = openShop({ simulator: true });
const checkout = checkoutOf(shop);

const NUMBER = '4179488123395679';
const fullWidth = NUMBER.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
const arabic = NUMBER.replace(/\d/g, (digit) => String.fromCodePoint(0x660 + Number(digit)));

const SPELLINGS: [string, string][] = [
  ['plain', NUMBER],
  ['with spaces', '4179 4881 2339 5679'],
  ['with hyphens', '4179-4881-2339-5679'],
  ['with letters beside it', `x${NUMBER}y`],
  ['with slashes', '417948/812339/5679'],
  ['with underscores', [...NUMBER].join('_')],
  ['in full-width digits', fullWidth],
  ['in Arabic-Indic digits', arabic],
  ['in raised digits', NUMBER.replace(/\d/g, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'.charAt(Number(digit)))],
  ['in circles', NUMBER.replace(/\d/g, (digit) => '⓪①②③④⑤⑥⑦⑧⑨'.charAt(Number(digit)))],
  ['with zero-width spaces', [...NUMBER].join('\u200b')],
  ['with dots', '4179.4881.2339.5679'],
  ['with no-break spaces', '4179\u00a04881\u00a02339\u00a05679'],
  ['with several separators', '4179 4881-2339.5679'],
  ['with references of HTML', '4179&nbsp;4881&nbsp;2339&nbsp;5679'],
];

const SENTENCE = 'This value looks like a card number, which should never be sent here.';

describe.each(SPELLINGS)('%s', (_, text) => {
  test.each([
    ['order_description'],
    ['payer_first_name'],
    ['payer_last_name'],
    ['payer_address'],
    ['payer_city'],
    ['payer_state'],
    ['payer_zip'],
    ['payer_phone'],
    ['payer_email'],
    ['custom_data[a]'],
    ['custom_data[a][b]'],
  ])('a sale with it in %s', async (field) => {
    const { status, body } = await shop.sale({ [field]: text });
    expect({ status, errors: body.errors }).toEqual({ status: 400, errors: [entryOf(`${field}: ${SENTENCE}`)] });
  });

  test('a sale with it in a parameter', async () => {
    const brand = { brand: 'telecom-a', identifier: '', 'parameters[productReceiver]': text };
    const { body } = await shop.sale(brand);
    expect(body.errors).toContainEqual(entryOf(`parameters[productReceiver]: ${SENTENCE}`));
  });

  test('a sale with it in the name of a field', async () => {
    expect((await shop.sale({ [`custom_data[${text}]`]: 'x' })).body.errors).toContainEqual(
      entryOf(`body: ${SENTENCE}`),
    );
  });

  test.each<[string, Record<string, unknown>]>([
    ['order.description', { order: { description: text } }],
    ['customer.name', { customer: { name: text } }],
    ['billing_address.address', { billing_address: { address: text } }],
    ['billing_address.house_number', { billing_address: { house_number: text } }],
    ['custom_data.a', { custom_data: { a: text } }],
  ])('a session with it in %s', async (field, changes) => {
    const { body } = await checkout.send('session', sessionFields(changes));
    expect(body.errors).toEqual([entryOf(`${field}: ${SENTENCE}`)]);
  });

  test('a schedule with it as its name', async () => {
    const fields: Fields = {
      ...{ action: 'CREATE_SCHEDULE', client_key: shop.merchant.client_key, name: text },
      ...{ interval_unit: 'day', interval_length: '1', payments_count: '2' },
    };
    const { body } = await shop.post({ ...fields, hash: sign(shop.merchant.password) });
    expect(body.errors).toEqual([entryOf(`name: ${SENTENCE}`)]);
  });

  test('the note of a decision', async () => {
    const { body: paid } = await shop.sale();
    const answer = await shop.admin('POST', `/payments/${paid.trans_id}/attention`, { resolve: 'dismiss', note: text });
    expect(answer.body.errors).toEqual([entryOf('note: This value should not contain a card number.')]);
  });
});

test('digits of the order number are accepted, another card number beside them is not', async () => {
  const order_id = newOrderId() + NUMBER;
  expect((await shop.sale({ order_id, order_description: `Order ${order_id}` })).body.status).toBe('SETTLED');
  const spaced = `order 4000 0566 5566 5556 ${newOrderId()}`;
  const described = { order_id: spaced, order_description: `For ${spaced.slice(0, 25)}` };
  expect((await shop.sale(described)).body.status).toBe('SETTLED');
  const { body } = await shop.sale({
    order_id: newOrderId() + NUMBER,
    order_description: `${NUMBER} 5555555555554444`,
  });
  expect(body.errors).toEqual([entryOf(`order_description: ${SENTENCE}`)]);
});

test.each([
  'Order 2026111704584 of 2026-11-17 04:58:44',
  'To DK5000400440116243, parcel 1Z999AA10123456784',
  'Tel. +49 30 123456789, +45 12 34 56 78',
  'EAN 4006381333931 100 pcs, 0192f0c4-8a3e-7d51-9b6f-2c4e8d1a7f30',
])('%j is accepted', async (order_description) => {
  expect((await shop.post(saleFields(shop.merchant, { order_description }))).body.status).toBe('SETTLED');
});
