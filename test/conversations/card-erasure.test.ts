/** How long a card number is stored: while its payment is open, for a token or for repetitions, and no longer. */
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { keepCard, openCard } from '../../src/core/cards/vault.ts';
import { drainDueWork, processEverythingDue, startDueWork } from '../../src/core/due/due.ts';
import { openForPayer } from '../../src/core/payments/payer.ts';
import { Secret } from '../../src/lib/crypto/secret.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import {
  type Body,
  cardForm,
  checkoutOf,
  creditFields,
  fill,
  follow,
  refusal,
  show,
  submitPage,
} from '../support/checkout.ts';
import { type Fields, type Merchant, newOrderId, openShop, PROVIDER_POLL, sign } from '../support/gateway.ts';
import { statusAndBody } from '../support/operations.ts';

const shop = openShop({ simulator: true });
const checkout = checkoutOf(shop);

// All payers share one address here, and many of their payments fail.
const UNLIMITED = { card_failures_per_address: 0, card_failures_per_account: 0 };
beforeAll(async () => {
  expect((await shop.admin('PATCH', `/accounts/${shop.merchant.mid}`, UNLIMITED)).status).toBe(200);
});
afterEach(() => vi.restoreAllMocks());

/** The vault’s records of the cards that were entered for a payment. */
const vaultOf = (id: string) =>
  shop.rows(`select card_id, token, masked, network, fingerprint, sealed is not null as is_stored, key_version
    from cards where payment_id = '${id}'`);
/** Whether the number of the only card that was entered for a payment is stored. */
async function isStored(id: string): Promise<boolean> {
  const cards = await vaultOf(id);
  expect(cards).toHaveLength(1);
  expect(cards[0]?.is_stored).toBe(cards[0]?.key_version !== null);
  return cards[0]?.is_stored === true;
}
const cardIdOf = async (id: string): Promise<string> => String((await vaultOf(id))[0]?.card_id);

/** A session whose payer submitted this card and has not followed the redirect. */
async function submitCard(card_expiry: string, fields: Body = {}, merchant?: Merchant) {
  const session = await checkout.open({ methods: ['card'], ...fields }, merchant);
  const sent = await fill(session.url, cardForm({ card_expiry }));
  expect(sent.status, sent.text).toBe(303);
  return { ...session, sent };
}

const CARD = { number: new Secret('4111111111111111'), month: '05', year: '2038', holder: 'Ada Byron' };
/** Stores a copy of a card after the outcome of its payment, as a slow process does for a card that was submitted twice. */
const keepCopy = (paymentId: string) => keepCard(shop.gateway, { mid: shop.merchant.mid, paymentId }, CARD, false);
/** Whether the numbers of the cards that were entered for a payment are stored. */
const areStored = async (id: string) => (await vaultOf(id)).map(({ is_stored }) => is_stored).sort();

const first = async (fields: Body = {}, merchant: Merchant = shop.merchant) => {
  const { id } = await checkout.paidByCard({ req_token: false, recurring_init: true, ...fields }, merchant);
  const { recurring_token } = (await checkout.status({ payment_id: id }, merchant)).body;
  return { recurring_init_trans_id: id, recurring_token: recurring_token as string };
};
const repeat = async (pair: Body, merchant: Merchant = shop.merchant): Promise<Body> => {
  const order = { number: newOrderId(), amount: '3.00', description: 'Tea' };
  return (await checkout.send('payment/recurring', { ...pair, order }, merchant)).body;
};

describe('the card number is erased', () => {
  test.each([
    ['01/38', 'settled'],
    ['02/38', 'decline'],
    ['07/38', 'settled'],
    ['09/38', 'decline'],
    ['11/38', 'decline'],
  ])('when the payment has its outcome: %s, %s', async (expiry, state) => {
    const { id } = await submitCard(expiry);
    expect(await checkout.stateOf(id)).toBe(state);
    expect(await isStored(id)).toBe(false);
  });

  test('and the masked card data remains', async () => {
    const { id } = await submitCard('01/38');
    expect(await vaultOf(id)).toEqual([
      {
        card_id: expect.any(String),
        token: expect.stringMatching(/^[0-9a-f]{48}$/),
        masked: '411111******1111',
        network: 'visa',
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
        is_stored: false,
        key_version: null,
      },
    ]);
    expect((await checkout.inspect(id)).details.card).toMatchObject({ masked: '411111******1111', expiry: '01/2038' });
    expect(await openCard(shop.gateway, shop.merchant.mid, await cardIdOf(id))).toBeUndefined();
  });

  test('when the amount is authorised; capture, void and expiry work without it', async () => {
    for (const operation of ['capture', 'void', undefined]) {
      const merchant = await shop.newMerchant(UNLIMITED);
      const { id } = await submitCard('01/38', { auth: 'Y' }, merchant);
      expect(await checkout.stateOf(id, merchant)).toBe('pending');
      expect(await isStored(id)).toBe(false);
      if (operation) await checkout.send(`payment/${operation}`, { payment_id: id }, merchant);
      else await shop.advanceClock(8 * 86_400, merchant.mid);
      const states = { capture: 'settled', void: 'void' } as Fields;
      expect(await checkout.stateOf(id, merchant)).toBe(operation ? states[operation] : 'expired');
      expect(await isStored(id)).toBe(false);
    }
  });

  test.each([
    ['05/38', 'settled'],
    ['06/38', 'decline'],
  ])('after the bank’s challenge, and not before: %s, %s', async (expiry, state) => {
    const { id, sent } = await submitCard(expiry);
    expect(await checkout.stateOf(id)).toBe('3ds');
    expect(await isStored(id)).toBe(true);
    await submitPage(await submitPage(await submitPage(await follow(sent)), { code: '1234' }));
    expect(await checkout.stateOf(id)).toBe(state);
    expect(await isStored(id)).toBe(false);
  });

  test.each([
    ['12/38', 'settled'],
    ['12/39', 'decline'],
  ])('after the payer has been at the provider’s page, and not before: %s, %s', async (expiry, state) => {
    const { id, sent } = await submitCard(expiry);
    expect(await checkout.stateOf(id)).toBe('redirect');
    expect(await isStored(id)).toBe(true);
    await show((await fill(sent.location, { decision: 'approve' })).location);
    await expect.poll(() => checkout.stateOf(id), PROVIDER_POLL).toBe(state);
    await expect.poll(() => isStored(id), PROVIDER_POLL).toBe(false);
  });

  test.each(['05/38', '12/38'])('when the payer never finishes: %s', async (expiry) => {
    const merchant = await shop.newMerchant(UNLIMITED);
    const { id } = await submitCard(expiry, { session_expiry: 5 }, merchant);
    expect(await isStored(id)).toBe(true);
    await shop.advanceClock(5 * 60 + 1, merchant.mid);
    expect(await checkout.stateOf(id, merchant)).toBe('decline');
    expect(await isStored(id)).toBe(false);
  });

  test.each([
    ['01/39', 'settled'],
    ['02/39', 'decline'],
  ])('for a payment in doubt only when its outcome is known: %s, %s', async (expiry, state) => {
    const merchant = await shop.newMerchant(UNLIMITED);
    const { id } = await submitCard(expiry, {}, merchant);
    expect(await checkout.inspect(id)).toMatchObject({ status: 'PENDING', in_doubt: true });
    await processEverythingDue(shop.gateway);
    expect(await isStored(id)).toBe(true);
    await shop.advanceClock(3600, merchant.mid);
    expect(await checkout.stateOf(id, merchant)).toBe(state);
    expect(await isStored(id)).toBe(false);
  });

  test('for every declined attempt: the payer enters a card again', async () => {
    const { url, id, orderId } = await submitCard('02/38');
    await fill(url, cardForm({ card_expiry: '02/38', card_number: '5555555555554444' }));
    await fill(url, cardForm());
    const attempts = await checkout.attempts(orderId);
    expect(attempts).toHaveLength(3);
    expect(attempts.at(-1)).toBe(id);
    for (const attempt of attempts) expect(await isStored(attempt)).toBe(false);
  });

  test('for a declined first payment of a recurring series', async () => {
    const { id } = await submitCard('02/38', { recurring_init: true });
    expect(await checkout.stateOf(id)).toBe('decline');
    expect(await isStored(id)).toBe(false);
  });
});

describe('the card number is kept', () => {
  test.each([
    ['01/38', 'settled'],
    ['02/38', 'decline'],
  ])('when the merchant received a token: %s, %s', async (expiry, state) => {
    const { id } = await submitCard(expiry, { req_token: true });
    expect((await checkout.status({ payment_id: id })).body).toMatchObject({
      status: state,
      card_token: expect.any(String),
    });
    await shop.advanceClock(120);
    expect(await isStored(id)).toBe(true);
  });

  test('when a session that did not request a token uses it again', async () => {
    const merchant = await shop.newMerchant(UNLIMITED);
    const { id, token } = await checkout.paidByCard({}, merchant);
    for (const fields of [{}, { auth: 'Y' }, { recurring_init: true }]) {
      const session = await checkout.open({ methods: ['card'], card_token: token, ...fields }, merchant);
      await fill(session.url, { method: 'card', saved_card: await cardIdOf(id), card_cvv: '123' });
      expect(await checkout.stateOf(session.id, merchant)).toBe(fields.auth ? 'pending' : 'settled');
      expect(await vaultOf(session.id)).toEqual([]);
      await shop.advanceClock(60, merchant.mid);
      expect(await isStored(id)).toBe(true);
    }
  });

  test.each([{}, { auth: 'Y' }])('for repetitions of a first payment with %j', async (fields) => {
    const merchant = await shop.newMerchant(UNLIMITED);
    const pair = await first(fields, merchant);
    const id = pair.recurring_init_trans_id;
    await shop.advanceClock(120, merchant.mid);
    expect(await isStored(id)).toBe(true);
    for (let times = 0; times < 2; times++) {
      expect(await repeat(pair, merchant)).toMatchObject({ status: 'settled' });
      await shop.advanceClock(120, merchant.mid);
    }
    expect(await isStored(id)).toBe(true);
  });

  test('for a schedule: every charge uses it', async () => {
    const merchant = await shop.newMerchant(UNLIMITED);
    const { client_key, password } = merchant;
    const terms = { name: 'Tea', interval_length: '1', interval_unit: 'day', payments_count: '3' };
    const { body } = await shop.post({ action: 'CREATE_SCHEDULE', client_key, ...terms, hash: sign(password) });
    const { schedule_id } = body;
    const { id } = await checkout.paidByCard({ req_token: false, recurring_init: true, schedule_id }, merchant);
    await shop.advanceClock(5 * 86_400, merchant.mid);
    const { items } = (await shop.admin('GET', `/payments?schedule_id=${schedule_id}`)).body;
    expect(items.map(({ status }: Body) => status)).toEqual(Array(4).fill('SETTLED'));
    for (const { payment_id } of items) {
      expect((await checkout.atProvider(payment_id)).card).toMatchObject({ last4: '1111', expiry: '01/38' });
    }
    expect(await isStored(id)).toBe(true);
  });

  test('for repetitions after the first payment was voided or refunded', async () => {
    const pairs = [await first({ auth: 'Y' }), await first()];
    const [voided, refunded] = pairs.map(({ recurring_init_trans_id }) => recurring_init_trans_id);
    await checkout.send('payment/void', { payment_id: voided });
    await checkout.send('payment/refund', { payment_id: refunded });
    await shop.advanceClock(120);
    for (const pair of pairs) {
      expect(['void', 'refund']).toContain(await checkout.stateOf(pair.recurring_init_trans_id));
      expect(await repeat(pair)).toMatchObject({ status: 'settled' });
    }
  });
});

describe('the number is erased in the commit of the outcome', () => {
  /** The transactions that wrote the payment and its card last. */
  const writersOf = (id: string) =>
    shop.rows(`select p.xmin = c.xmin as is_same from payments p join cards c using (mid, payment_id)
      where p.payment_id = '${id}'`);

  test.each(['01/38', '02/38'])('of a payment on the page: %s', async (expiry) => {
    const { id } = await submitCard(expiry);
    expect(await isStored(id)).toBe(false);
    expect(await writersOf(id)).toEqual([{ is_same: true }]);
  });

  test('and stays if the outcome is not written', async () => {
    vi.spyOn(shop.gateway.payments, 'transition').mockRejectedValueOnce(new Error('The connection is closed.'));
    const { id, url } = await checkout.open({ methods: ['card'] });
    await fill(url, cardForm());
    expect(await isStored(id)).toBe(true);
    await shop.advanceClock(120);
    expect(await checkout.stateOf(id)).toBe('settled');
    expect(await isStored(id)).toBe(false);
  });
});

describe('a process that dies', () => {
  test('after it stored a copy of the card: the sweep erases it', async () => {
    const { id } = await submitCard('01/38');
    await keepCopy(id);
    expect(await areStored(id)).toEqual([false, true]);
    await shop.advanceClock(1);
    expect(await areStored(id)).toEqual([false, false]);
  });

  test('loses no number that is needed: the sweep skips tokens, repetitions and open payments', async () => {
    const { id: withToken } = await submitCard('01/38', { req_token: true });
    const pair = await first();
    const { id: open } = await submitCard('05/38');
    const ids = [withToken, pair.recurring_init_trans_id, open];
    await shop.rows(`update cards set is_kept = false where payment_id in (${ids.map((id) => `'${id}'`).join(', ')})`);
    await shop.advanceClock(1);
    for (const id of ids) expect(await isStored(id)).toBe(true);
    expect(await repeat(pair)).toMatchObject({ status: 'settled' });
  });

  test('before the card was linked to the payment: the number is erased when the session ends', async () => {
    const merchant = await shop.newMerchant(UNLIMITED);
    vi.spyOn(shop.gateway.payments, 'collect').mockRejectedValueOnce(new Error('The connection is closed.'));
    const { id, url } = await checkout.open({ methods: ['card'], req_token: true }, merchant);
    expect((await fill(url, cardForm())).status).toBe(503);
    await shop.advanceClock(60, merchant.mid);
    expect(await isStored(id)).toBe(true);
    await shop.advanceClock(3600, merchant.mid);
    expect(await checkout.stateOf(id, merchant)).toBe('decline');
    expect(await isStored(id)).toBe(false);
  });

  test('before the card was linked to the payment, and the payer entered it again: the copy is erased with the outcome', async () => {
    vi.spyOn(shop.gateway.payments, 'collect').mockRejectedValueOnce(new Error('The connection is closed.'));
    const { id, url } = await checkout.open({ methods: ['card'], req_token: true });
    expect((await fill(url, cardForm())).status).toBe(503);
    expect((await fill(url, cardForm())).status).toBe(303);
    const { card_token } = (await checkout.status({ payment_id: id })).body;
    expect((await vaultOf(id)).map(({ token, is_stored }) => [token === card_token, is_stored]).sort()).toEqual([
      [false, false],
      [true, true],
    ]);
  });
});

describe('the sweep', () => {
  test('runs once a minute in the work loop, and whenever the clock is moved', async () => {
    const sweep = vi.spyOn(shop.gateway.cards, 'eraseLeftovers');
    await startDueWork(shop.gateway);
    await startDueWork(shop.gateway);
    await drainDueWork(shop.gateway);
    expect(sweep).toHaveBeenCalledTimes(1);
    await shop.advanceClock(1);
    expect(sweep.mock.calls.length).toBeGreaterThan(1);
    sweep.mockRestore();
  });

  test('processes many leftovers in batches, also with several processes concurrently', async () => {
    const { id } = await submitCard('02/38');
    for (let n = 0; n < 31; n++) await keepCopy(id);
    const { cards } = shop.gateway;
    const left = async () => (await vaultOf(id)).filter(({ is_stored }) => is_stored).length;
    expect(await left()).toBe(31);
    expect(await cards.eraseLeftovers(10)).toBe(10);
    expect(await left()).toBe(21);
    const counts = await Promise.all([cards.eraseLeftovers(100), cards.eraseLeftovers(100)]);
    expect(counts[0] + counts[1]).toBe(21);
    expect(await left()).toBe(0);
    expect(await cards.eraseLeftovers(100)).toBe(0);
  });
});

describe('an erased card', () => {
  test('is not offered, and its token is invalid', async () => {
    const { id } = await submitCard('01/38');
    const [card] = await vaultOf(id);
    const session = await checkout.open({ methods: ['card'], card_token: card?.token });
    const view = await openForPayer(shop.gateway, session.url.slice(session.url.lastIndexOf('/') + 1));
    expect(view?.savedCards).toEqual([]);
    const { status } = await fill(session.url, { method: 'card', saved_card: String(card?.card_id), card_cvv: '123' });
    expect(status).toBe(422);
    const credit = checkout.send('payment/card/credit', creditFields({ card_token: card?.token }));
    expect(await statusAndBody(credit)).toEqual(refusal('noCardToken'));
  });

  test('is recognised: a credit finds the payment that used it', async () => {
    const merchant = await shop.newMerchant(UNLIMITED);
    const { token } = await checkout.paidByCard({}, merchant);
    const { id, orderId } = await submitCard('01/38', {}, merchant);
    expect(await isStored(id)).toBe(false);
    const fields = creditFields({ card_token: token, order_id: orderId });
    const { status, body } = await checkout.send('payment/card/credit', fields, merchant);
    expect([status, body.payment_id]).toEqual([200, id]);
  });

  test('ends a challenge: a later result submits nothing and logs no error', async () => {
    const merchant = await shop.newMerchant(UNLIMITED);
    const { id, sent } = await submitCard('05/38', {}, merchant);
    await shop.rows(`update cards set sealed = null, key_version = null where payment_id = '${id}'`);
    const before = shop.logs.length;
    await submitPage(await submitPage(await submitPage(await follow(sent)), { code: '1234' }));
    expect(shop.logs.slice(before).filter((line) => line.includes('"level":"error"'))).toEqual([]);
    expect(await checkout.events(id)).toEqual(['opened', 'collected', 'challenged']);
    await shop.advanceClock(601, merchant.mid);
    expect(await checkout.stateOf(id, merchant)).toBe('decline');
    expect(await checkout.submissions(id)).toBe(0);
  });

  test('declines a repetition that needs it, without calling a provider', async () => {
    const merchant = await shop.newMerchant(UNLIMITED);
    const pair = await first({}, merchant);
    const where = `where payment_id = '${pair.recurring_init_trans_id}'`;
    await shop.rows(`create table lost as select * from cards ${where};
      update cards set is_kept = false, sealed = null, key_version = null ${where}`);
    const body = await repeat(pair, merchant);
    expect(body).toMatchObject({ status: 'decline', reason: 'The provider never received the payment.' });
    expect(await checkout.submissions(String(body.payment_id))).toBe(0);
    expect(await checkout.atProvider(String(body.payment_id))).toBeUndefined();
    await shop.rows(`update cards c set is_kept = l.is_kept, sealed = l.sealed, key_version = l.key_version
      from lost l where l.card_id = c.card_id; drop table lost`);
    expect(await repeat(pair, merchant)).toMatchObject({ status: 'settled' });
  });
});

test('every invariant of the database holds', async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});
