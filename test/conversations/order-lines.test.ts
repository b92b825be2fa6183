/** Order lines of a session: what is accepted, what is refused and why, and where they are shown. */
import { describe, expect, test } from 'vitest';
import {
  type Body,
  checkoutOf,
  fill,
  refusal,
  SENTENCES,
  sessionFields,
  show,
  signed,
  VCARD,
} from '../support/checkout.ts';
import { openShop } from '../support/gateway.ts';
import { readable } from '../support/pages.ts';

const shop = openShop();
const checkout = checkoutOf(shop);

const { blank, invalid, noText, tooLong } = SENTENCES;
const SUM = 'The lines, with shipping and tax and less the discount, should add up to order.amount.';
const NO_LIST = 'This value should be a list of objects.';
const line = (fields: Body = {}): Body => ({ name: 'Tea', amount: '10.00', ...fields });

test('are shown on the page, kept for the next attempt, and listed for the operator', async () => {
  const order = {
    amount: '30.00',
    lines: [line({ quantity: '2', unit_amount: '5.00' }), { name: 'كوب', unit_amount: '15.00' }],
    shipping: '7.50',
    tax: null,
    discount: '2.50',
  };
  const { url, id } = await checkout.open({ order, methods: ['vcard'] });
  const expectLines = async (): Promise<void> => {
    const page = readable((await show(url)).text);
    for (const part of ['Items (2)', 'Tea 2 × $5.00 $10.00', 'كوب $15.00', 'Subtotal $25.00']) {
      expect(page).toContain(part);
    }
    expect(page).toContain('Shipping $7.50 Discount -$2.50 Total $30.00');
  };
  await expectLines();
  expect((await fill(url, VCARD.decline)).status).toBe(303);
  await expectLines();
  expect((await shop.inspect(id)).details.order).toEqual({
    lines: [
      { name: 'Tea', quantity: 2, unit_amount: '5.00', amount: '10.00' },
      { name: 'كوب', quantity: 1, unit_amount: '15.00', amount: '15.00' },
    ],
    shipping: '7.50',
    discount: '2.50',
  });
});

describe('accepted', () => {
  test.each<[string, Body]>([
    ['none', { lines: [] }],
    ['null', { lines: null, shipping: null, tax: '', discount: null }],
    ['a list with gaps', { lines: { 1: line({ amount: '4.00' }), 5: line({ amount: '6.00' }) } }],
    ['a line for free', { lines: [line(), line({ amount: '0.00' })], shipping: '0.00' }],
    ['unknown members', { lines: [line({ sku: 'T-1', image: { url: 'x' } })] }],
    ['a quantity without a unit', { lines: [line({ quantity: 3 })] }],
    ['yen', { amount: '100', currency: 'JPY', lines: [line({ quantity: 4, unit_amount: '25', amount: '100.00' })] }],
    ['100 lines', { amount: '100.00', lines: Array(100).fill(line({ amount: '1.00' })) }],
  ])('%s', async (_, order) => {
    await checkout.open({ order });
  });
});

describe('refused', () => {
  test.each<[string, Body, ...string[]]>([
    ['a sum that is too small', { lines: [line({ amount: '9.99' })] }, `order.lines: ${SUM}`],
    ['a sum that is too large', { lines: [line()], shipping: '0.01' }, `order.lines: ${SUM}`],
    ['a discount that makes it too small', { lines: [line()], discount: '0.01' }, `order.lines: ${SUM}`],
    ['shipping without lines', { shipping: '1.00' }, `order.lines: ${blank}`],
    ['a text', { lines: 'tea' }, `order.lines: ${NO_LIST}`],
    ['an object', { lines: line() }, `order.lines: ${NO_LIST}`],
    ['a list of texts', { lines: ['tea'] }, `order.lines: ${NO_LIST}`],
    ['101 lines', { lines: Array(101).fill(line()) }, 'order.lines: This value should have 100 entries or less.'],
    ['no name', { lines: [line(), line({ name: ' ' })] }, `order.lines.1.name: ${blank}`],
    ['a name that is a number', { lines: [line({ name: 7 })] }, `order.lines.0.name: ${noText}`],
    ['a long name', { lines: [line({ name: 'x'.repeat(256) })] }, `order.lines.0.name: ${tooLong(255)}`],
    ['no amount', { lines: [{ name: 'Tea' }] }, `order.lines.0.amount: ${blank}`],
    ['an amount that is a number', { lines: [line({ amount: 10 })] }, `order.lines.0.amount: ${noText}`],
    ['a negative amount', { lines: [line({ amount: '-1.00' })] }, `order.lines.0.amount: ${invalid}`],
    ['decimals of a yen', { currency: 'JPY', lines: [line({ amount: '10.50' })] }, `order.lines.0.amount: ${invalid}`],
    ...[0, -1, 1.5, '1e3', 1_000_000, [2], ['2'], true, {}].map((quantity): [string, Body, string] => [
      `a quantity of ${JSON.stringify(quantity)}`,
      { lines: [line({ quantity })] },
      `order.lines.0.quantity: ${invalid}`,
    ]),
    [
      'a wrong product',
      { lines: [line({ quantity: 3, unit_amount: '5.00' })] },
      'order.lines.0.amount: This value should be unit_amount times quantity.',
    ],
    ['shipping that is a number', { lines: [line()], shipping: 0 }, `order.shipping: ${noText}`],
    ['a malformed tax', { lines: [line()], tax: '1' }, `order.tax: ${invalid}`],
    [
      'a card number',
      { lines: [line({ name: 'Card 4111 1111 1111 1111' })] },
      'order.lines.0.name: This value looks like a card number, which should never be sent here.',
    ],
    // A wrong amount of the order has its own entry, and no second one about the sum.
    ['a wrong order amount', { amount: '10', lines: [line()] }, `order.amount: ${invalid}`],
  ])('%s', async (_, order, ...entries) => {
    expect(await checkout.send('session', sessionFields({ order }))).toMatchObject(refusal('invalidData', ...entries));
  });

  test('before the hash, which does not cover them', async () => {
    const fields = signed('session', sessionFields({ order: { lines: [line()] } }), shop.merchant);
    expect((await checkout.sendBody('session', fields)).status).toBe(200);
    const wrong = { ...sessionFields({ order: { lines: [line({ amount: '1.00' })] } }), hash: 'x' };
    expect(await checkout.send('session', wrong)).toMatchObject(refusal('invalidData', `order.lines: ${SUM}`));
  });
});
