/** E-mail addresses with characters that nobody sees are refused wherever one is read, so that two addresses never look alike. */
import { describe, expect, test } from 'vitest';
import { isEmail } from '../../src/lib/text/identifiers.ts';
import { isMailAddress } from '../../src/rules/contacts.ts';
import { checkoutOf, sessionFields } from '../support/checkout.ts';
import { cardSalesOf } from '../support/dialect.ts';
import { openShop } from '../support/gateway.ts';

const shop = openShop();
const checkout = checkoutOf(shop);

const HIDDEN: [name: string, character: string][] = [
  ['of no width', '\u200b'],
  ['that joins words', '\u2060'],
  ['that is a soft hyphen', '\u00ad'],
  ['that is a mark of direction', '\u200f'],
  ['that turns around what follows', '\u202e'],
  ['that fills a syllable', '\u3164'],
  ['that selects a variation', '\ufe0f'],
  ['that is a byte order mark', '\ufeff'],
  ['that separates lines', '\u2028'],
  ['that controls a terminal', '\u0007'],
];

const paramsOf = ({ status, body }: { status: number; body: unknown }) => [
  status,
  ((body as { errors?: { error_message: string }[] }).errors ?? []).map(
    ({ error_message: message }) => message.split(':')[0],
  ),
];

describe.each(HIDDEN)('an address with a character %s', (_, character) => {
  test.each([`an${character}a@example.com`, `ana@ex${character}ample.com`, `ana@example.c${character}om`])(
    'is none: %j',
    (address) => {
      expect([isMailAddress(address), isEmail(address)]).toEqual([false, false]);
    },
  );

  test('is refused, and the field is named', async () => {
    const address = `an${character}a@example.com`;
    const { mid } = shop.merchant;
    expect(paramsOf(await shop.sale({ payer_email: address }))).toEqual([400, ['payer_email']]);
    const session = await checkout.send('session', sessionFields({ customer: { name: 'Ana', email: address } }));
    expect(paramsOf(session)).toEqual([400, ['customer.email']]);
    const operator = { email: address, role: 'merchant_support', mids: [mid] };
    expect(paramsOf(await shop.admin('POST', '/operators', operator))).toEqual([400, ['email']]);
    const invoice = {
      ...{ mid, currency: 'EUR', due_on: '2099-01-31', payer: { name: 'Ana', email: address } },
      lines: [{ description: 'Tea', quantity: '1', unit_amount: '1.00' }],
    };
    expect(paramsOf(await shop.admin('POST', '/invoices', invoice))).toEqual([400, ['payer.email']]);
    const settings = { 'branding.support_email': address };
    expect((await shop.admin('PATCH', `/accounts/${mid}`, settings)).status).toBe(400);
  });
});

test('is refused in a card sale', async () => {
  const own = await shop.newMerchant({ 'dialect.card_sales': true });
  const send = cardSalesOf(shop, () => own);
  expect(paramsOf(await send({ payer_email: 'an\u200ba@example.com' }))).toEqual([
    400,
    expect.arrayContaining(['payer_email']),
  ]);
});

test.each(['ana@example.com', 'ana@bücher.example', 'no address', ' ana@example.com '])(
  'a shop may send %j for its payer',
  async (address) => {
    expect((await shop.sale({ payer_email: address })).status).toBe(200);
    expect((await checkout.send('session', sessionFields({ customer: { email: address } }))).status).toBe(200);
  },
);
