/** Saved cards: tokens are requested, returned, offered to the payer again, and paid with. */
import { describe, expect, test } from 'vitest';
import { openForPayer } from '../../src/core/payments/payer.ts';
import {
  type Body,
  cardForm,
  checkoutOf,
  fill,
  follow,
  refusal,
  type Session,
  SUCCESS_URL,
} from '../support/checkout.ts';
import { type Fields, type Merchant, newOrderId, openShop, sign } from '../support/gateway.ts';

const shop = openShop({ simulator: true });
const checkout = checkoutOf(shop);

const MASTERCARD = { card_number: '5555 5555 5555 4444', card_expiry: '02/39' };

/** The saved cards that the page of a session offers. */
const offered = async ({ url }: Session) =>
  (await openForPayer(shop.gateway, url.slice(url.lastIndexOf('/') + 1)))?.savedCards ?? [];
const offeredTo = async (fields: Body, merchant: Merchant) => offered(await checkout.open(fields, merchant));
const cardsOf = async ({ mid }: Merchant): Promise<string[]> =>
  (await shop.rows(`select card_id from cards where mid = '${mid}' order by card_id`)).map((row) =>
    String(row.card_id),
  );
const cardIdOf = async (id: string): Promise<unknown> =>
  (await shop.rows(`select details -> 'card' ->> 'id' as id from payments where payment_id = '${id}'`))[0]?.id;
const statusOf = async (payment_id: string, merchant: Merchant): Promise<Body> =>
  (await checkout.status({ payment_id }, merchant)).body;
const payWith = (session: Session, saved_card: string, form: Fields = {}) =>
  fill(session.url, { method: 'card', saved_card, card_cvv: '123', ...form });

describe('a token', () => {
  test.each([true, 'Y', '1'])('is returned to a merchant that requests one: req_token %j', async (req_token) => {
    const { token } = await checkout.paidByCard({ req_token });
    expect(token).toMatch(/^[0-9a-f]{48}$/);
  });

  test.each([undefined, false, 'N', ''])('is not returned otherwise: req_token %j', async (req_token) => {
    const { id, token } = await checkout.paidByCard({ req_token });
    expect(token).toBeUndefined();
    const [row] = await shop.rows(`select details ->> 'card' as card from payments where payment_id = '${id}'`);
    expect(Object.keys(JSON.parse(String(row?.card))).sort()).toEqual(['expiry', 'id', 'masked', 'network']);
  });

  test('differs for every payment, and reveals nothing of the number', async () => {
    const tokens = await Promise.all([checkout.paidByCard(), checkout.paidByCard()]);
    expect(tokens[0].token).not.toBe(tokens[1].token);
  });

  test('is returned for a repetition too', async () => {
    const { id, token } = await checkout.paidByCard({ recurring_init: true });
    const { recurring_token } = (await checkout.status({ payment_id: id })).body;
    const order = { number: `${id} again`, amount: '3.00', description: 'Tea' };
    const { body } = await checkout.send('payment/recurring', { recurring_init_trans_id: id, recurring_token, order });
    expect(body).toMatchObject({ status: 'settled', card_token: token });
    const { client_key, password } = shop.merchant;
    const order_id = newOrderId();
    const again = { recurring_first_trans_id: id, recurring_token, order_id, order_amount: '3.00' };
    const sale = { action: 'RECURRING_SALE', client_key, ...again, order_description: 'Tea' };
    const { body: repeated } = await shop.post({ ...sale, hash: sign(password, order_id) });
    expect(repeated).toMatchObject({ status: 'SETTLED', card_token: token });
  });
});

describe('a session with tokens', () => {
  test('offers their cards, newest first, up to the limit', async () => {
    const merchant = await shop.newMerchant();
    const first = await checkout.paidByCard({}, merchant);
    const second = await checkout.paidByCard({}, merchant, MASTERCARD);
    expect(await offeredTo({ card_token: [first.token, second.token] }, merchant)).toEqual([
      {
        id: await cardIdOf(second.id),
        masked: '555555******4444',
        network: 'mastercard',
        expiry: '02/39',
        isExpired: false,
      },
      { id: await cardIdOf(first.id), masked: '411111******1111', network: 'visa', expiry: '01/38', isExpired: false },
    ]);
  });

  test('offers the same card once: its newest token', async () => {
    const merchant = await shop.newMerchant();
    const old = await checkout.paidByCard({}, merchant, { card_expiry: '01/38' });
    const renewed = await checkout.paidByCard({}, merchant, { card_expiry: '07/38' });
    const [card, ...more] = await offeredTo({ card_token: [renewed.token, old.token, old.token] }, merchant);
    expect([card?.expiry, more]).toEqual(['07/38', []]);
  });

  test('does not offer an unknown card or another account’s; accepts a single token', async () => {
    const merchant = await shop.newMerchant();
    const { token } = await checkout.paidByCard({}, merchant);
    const others = await checkout.paidByCard({}, await shop.newMerchant());
    for (const card_token of [undefined, null, '', [], ['x'], [others.token], [17, {}], others.token, { a: token }]) {
      expect(await offeredTo({ card_token }, merchant), JSON.stringify(card_token)).toEqual([]);
    }
    for (const card_token of [token, [token], ['x', token, others.token, '', 17]]) {
      expect(await offeredTo({ card_token }, merchant)).toHaveLength(1);
    }
  });

  test('accepts at most twenty', async () => {
    const tokens = (count: number) => Array.from({ length: count }, (_, index) => `token-${index}`);
    expect((await checkout.open({ card_token: tokens(20) })).url).toBeTruthy();
    const order = { number: 'x', amount: '1.00', currency: 'USD', description: 'Tea' };
    const { status, body } = await checkout.send('session', {
      ...{ operation: 'purchase', order, success_url: SUCCESS_URL, card_token: tokens(21) },
    });
    const expected = refusal('invalidData', 'card_token: This value should have 20 entries or less.');
    expect({ status, body }).toEqual(expected);
  });

  test('marks a card that has expired', async () => {
    const merchant = await shop.newMerchant();
    const now = new Date();
    const card_expiry = `${String(now.getUTCMonth() + 1).padStart(2, '0')}/${now.getUTCFullYear()}`;
    const { token } = await checkout.paidByCard({}, merchant, { card_expiry });
    expect((await offeredTo({ card_token: token }, merchant))[0]?.isExpired).toBe(false);
    await shop.advanceClock(32 * 86_400, merchant.mid);
    const session = await checkout.open({ card_token: token, methods: ['card'] }, merchant);
    const [card] = await offered(session);
    expect(card?.isExpired).toBe(true);
    expect((await payWith(session, card?.id ?? '')).status).toBe(422);
    expect(await checkout.stateOf(session.id, merchant)).toBe('prepare');
  });

  test('offers none where card payments are not available', async () => {
    const merchant = await shop.newMerchant();
    const { token } = await checkout.paidByCard({}, merchant);
    expect(await offeredTo({ card_token: token, methods: ['vcard'] }, merchant)).toEqual([]);
    expect(await offeredTo({ card_token: token, methods: ['vcard', 'card'] }, merchant)).toHaveLength(1);
  });
});

describe('paying with a saved card', () => {
  const savedAt = async (form: Fields = {}) => {
    const merchant = await shop.newMerchant();
    const { token, id } = await checkout.paidByCard({}, merchant, form);
    const cardId = String(await cardIdOf(id));
    const session = await checkout.open({ card_token: [token], methods: ['card'] }, merchant);
    return { merchant, token, cardId, session };
  };

  test('needs only its security code; the vault stores no second copy, and the token is returned', async () => {
    const { merchant, token, cardId, session } = await savedAt();
    expect((await payWith(session, cardId)).location).toBe(SUCCESS_URL);
    expect(await statusOf(session.id, merchant)).toMatchObject({ status: 'settled', card_token: token });
    expect(await cardIdOf(session.id)).toBe(cardId);
    expect(await cardsOf(merchant)).toEqual([cardId]);
    expect((await checkout.atProvider(session.id)).card).toEqual({ first6: '411111', last4: '1111', expiry: '01/38' });
  });

  test.each(['', '12', '12345', 'abc'])('is refused with the code %j, and nothing is sent', async (card_cvv) => {
    const { merchant, cardId, session } = await savedAt();
    expect((await payWith(session, cardId, { card_cvv })).status).toBe(422);
    expect(await checkout.stateOf(session.id, merchant)).toBe('prepare');
    expect((await payWith(session, cardId)).location).toBe(SUCCESS_URL);
  });

  test('is refused with a card that the session does not offer', async () => {
    const { merchant, session } = await savedAt();
    const { id } = await checkout.paidByCard({}, merchant, MASTERCARD);
    const others = await savedAt();
    for (const other of [String(await cardIdOf(id)), others.cardId, 'x', '', session.id]) {
      const { status, location } = await payWith(session, other);
      expect([status, location], other).toEqual([422, '']);
    }
    expect(await checkout.stateOf(session.id, merchant)).toBe('prepare');
  });

  test('after a decline: the same card may be tried again, or a new one entered', async () => {
    const { merchant, token, cardId, session } = await savedAt({ card_expiry: '02/38' });
    await follow(await payWith(session, cardId));
    expect(await checkout.stateOf(session.id, merchant)).toBe('decline');
    await payWith(session, cardId);
    expect((await fill(session.url, cardForm())).location).toBe(SUCCESS_URL);
    const { body } = await checkout.status({ order_id: session.orderId, size: 10 }, merchant);
    expect(body.map((one: Body) => [one.status, one.card_token])).toEqual([
      ['settled', undefined],
      ['decline', token],
      ['decline', token],
    ]);
  });

  test('submitted ten times concurrently is one submission', async () => {
    const { cardId, session } = await savedAt();
    await Promise.all(Array.from({ length: 10 }, () => payWith(session, cardId)));
    expect(await checkout.submissions(session.id)).toBe(1);
  });
});
