/** Credits to a tokenised card: which payment they refund, how much of it, how often, and for which accounts. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { findAccount } from '../../src/core/accounts/accounts.ts';
import type { Account, Gateway } from '../../src/core/context.ts';
import { credit } from '../../src/core/payments/credit.ts';
import { requestFingerprint } from '../../src/core/payments/open.ts';
import { newId } from '../../src/lib/crypto/id.ts';
import { canonicalJson } from '../../src/lib/text/json.ts';
import { type Body, checkoutOf, creditFields, refusal, sessionFields, signed } from '../support/checkout.ts';
import { type Answer, type Fields, type Merchant, newOrderId, openShop } from '../support/gateway.ts';
import { refused, statusAndBody } from '../support/operations.ts';

const shop = openShop({ simulator: true });
const checkout = checkoutOf(shop);

const A_UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const DUPLICATE = refusal('duplicate', 'order_id: Duplicate payment.');
const DUPLICATE_OPERATION = refused('duplicateOperation', 'operation_id: Duplicate operation.');
const times = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** A card payment of 10.00 USD by a merchant of its own. */
async function makeCardSale(fields: Body = {}, settings: Body = {}, form: Fields = {}) {
  const merchant = await shop.newMerchant(settings);
  const session = await checkout.paidByCard(fields, merchant, form);
  const credit = (more: Body = {}) =>
    statusAndBody(checkout.send('payment/card/credit', creditFields({ card_token: session.token, ...more }), merchant));
  return { ...session, merchant, credit };
}

const accepted = (payment_id: string) => ({
  status: 200,
  body: { payment_id, result: 'accepted', operation_id: A_UUID },
});
const inspect = async (id: string) => {
  const { status, refunded, operations } = await checkout.inspect(id);
  return { status, refunded, operations: operations.map((one: Body) => [one.operation, one.amount, one.state]) };
};
const operationOf = ({ body }: Pick<Answer, 'body'>): string => body.operation_id;

describe('a credit', () => {
  test('under its own order refunds the sale that issued the token', async () => {
    const { id, credit } = await makeCardSale();
    expect(await credit({ order_amount: '4.00' })).toEqual(accepted(id));
    expect(await inspect(id)).toEqual({
      status: 'SETTLED',
      refunded: '4.00',
      operations: [['credit', '4.00', 'done']],
    });
    expect((await checkout.atProvider(id)).operations).toMatchObject([{ kind: 'refund', amount: '400' }]);
  });

  test('under the order of the sale refunds that sale; all of it in parts', async () => {
    const { id, orderId: order_id, merchant, credit } = await makeCardSale();
    expect(await credit({ order_id, order_amount: '3.00' })).toEqual(accepted(id));
    expect(await credit({ order_id, order_amount: '5.00' })).toEqual(accepted(id));
    expect(await credit({ order_id, order_amount: '2.01' })).toEqual(refusal('refundTooMuch'));
    expect(await credit({ order_id, order_amount: '2.00' })).toEqual(accepted(id));
    expect(await checkout.stateOf(id, merchant)).toBe('refund');
    expect(await credit({ order_id, order_amount: '0.01' })).toEqual(refusal('refundNotSettled'));
  });

  test('under the order of another payment with the same card refunds that payment', async () => {
    const { id, merchant, credit } = await makeCardSale();
    const other = await checkout.paidByCard({ req_token: false }, merchant, { card_number: '4111 1111 1111 1111' });
    expect(await credit({ order_id: other.orderId })).toEqual(accepted(other.id));
    expect([(await inspect(id)).refunded, (await inspect(other.id)).refunded]).toEqual(['0.00', '5.00']);
  });

  test('under the order of a repetition refunds the repetition', async () => {
    const { id, merchant, credit } = await makeCardSale({ recurring_init: true });
    const { recurring_token } = (await checkout.status({ payment_id: id }, merchant)).body;
    const order = { number: newOrderId(), amount: '6.00', description: 'Tea' };
    const repeat = { recurring_init_trans_id: id, recurring_token, order };
    const { body } = await checkout.send('payment/recurring', repeat, merchant);
    expect(await credit({ order_id: order.number, order_amount: '6.00' })).toEqual(accepted(body.payment_id));
  });

  test('counts together with refunds', async () => {
    const { id, merchant, credit } = await makeCardSale();
    await checkout.send('payment/refund', { payment_id: id, amount: '6.00' }, merchant);
    expect(await credit({ order_amount: '4.01' })).toEqual(refusal('refundTooMuch'));
    expect(await credit({ order_amount: '4.00' })).toEqual(accepted(id));
    expect(await inspect(id)).toMatchObject({ status: 'REFUND', refunded: '10.00' });
  });

  test('is bounded by the captured amount, not by the authorised one', async () => {
    const { id, merchant, credit } = await makeCardSale({ auth: 'Y' });
    expect(await credit()).toEqual(refusal('refundNotSettled'));
    await checkout.send('payment/capture', { payment_id: id, amount: '7.00' }, merchant);
    expect(await credit({ order_amount: '7.01' })).toEqual(refusal('refundTooMuch'));
    expect(await credit({ order_amount: '7.00' })).toEqual(accepted(id));
  });
});

describe('a token', () => {
  test('refuses one that does not exist, one of another account, and one of an expired card', async () => {
    const now = new Date();
    const card_expiry = `${String(now.getUTCMonth() + 1).padStart(2, '0')}/${now.getUTCFullYear()}`;
    const { id, token, merchant, credit } = await makeCardSale({}, {}, { card_expiry });
    const rival = await shop.newMerchant();
    const byRival = (more: Body = {}) =>
      statusAndBody(checkout.send('payment/card/credit', creditFields({ card_token: token, ...more }), rival));
    expect(await credit({ card_token: 'x' })).toEqual(refusal('noCardToken'));
    expect(await byRival()).toEqual(refusal('cardTokenForeign'));
    expect(await credit({ order_amount: '1.00' })).toEqual(accepted(id));
    await shop.advanceClock(32 * 86_400, merchant.mid);
    expect(await credit({ order_amount: '1.00' })).toEqual(refusal('cardTokenExpired'));
    // Ownership is checked before expiry.
    expect(await byRival()).toEqual(refusal('cardTokenForeign'));
  });
});

describe('refusals, in order of precedence', () => {
  test('another currency', async () => {
    const { credit } = await makeCardSale({}, { refunds_allowed: false });
    const entry = 'order_currency: This value should be the currency of the payment.';
    expect(await credit({ order_currency: 'EUR' })).toEqual(refusal('invalidData', entry));
  });

  test('not allowed, only in the portal, not supported by the method, not settled, too much', async () => {
    const { merchant, credit } = await makeCardSale({ auth: 'Y' }, { refunds_allowed: false });
    const { upstream } = shop.gateway.connectors;
    if (!upstream) throw new Error('There is no provider.');
    const setRefunds = (refunds: 'api' | 'portal' | 'none') => {
      shop.gateway.connectors = {
        ...shop.gateway.connectors,
        upstream: { ...upstream, capabilities: { ...upstream.capabilities, refunds } },
      };
    };
    const tooMuch = { order_amount: '10.01' };
    try {
      setRefunds('portal');
      expect(await credit(tooMuch)).toEqual(refusal('refundNotAllowed'));
      await shop.admin('PATCH', `/accounts/${merchant.mid}`, { refunds_allowed: true });
      expect(await credit(tooMuch)).toEqual(refusal('onlyInPortal'));
      setRefunds('none');
      expect(await credit(tooMuch)).toEqual(refusal('notSupported'));
    } finally {
      setRefunds('api');
    }
    expect(await credit(tooMuch)).toEqual(refusal('refundNotSettled'));
    const { credit: again } = await makeCardSale();
    expect(await again(tooMuch)).toEqual(refusal('refundTooMuch'));
  });

  test('claims no order when it is refused', async () => {
    const { id, credit } = await makeCardSale();
    const order_id = newOrderId();
    expect(await credit({ order_id, order_amount: '10.01' })).toEqual(refusal('refundTooMuch'));
    expect(await credit({ order_id, order_amount: '10.00' })).toEqual(accepted(id));
  });
});

describe('the same order twice', () => {
  test('a payment that takes the order in between keeps it, and the credit is a duplicate that claims nothing', async () => {
    const { id, token, merchant } = await makeCardSale();
    const account = (await findAccount(shop.gateway, merchant.mid)) as Account;
    const orderId = newOrderId();
    const { credits } = shop.gateway;
    const slow: Gateway = {
      ...shop.gateway,
      credits: {
        ...credits,
        async reserve(row) {
          expect((await shop.sale({ order_id: orderId }, merchant)).body.status).toBe('SETTLED');
          return credits.reserve(row);
        },
      },
    };
    const order = { orderId, amountText: '5.00', currency: 'USD', card: { token }, content: 'x' };
    await expect(credit(slow, account, order)).rejects.toMatchObject({ error: 'duplicatePayment' });
    expect(await credits.find({ mid: merchant.mid, orderId, part: '' })).toBeUndefined();
    expect((await inspect(id)).refunded).toBe('0.00');
  });

  test('its own order: an identical request within fifteen seconds is the same operation; any other is a duplicate', async () => {
    const { id, merchant, credit } = await makeCardSale();
    const order_id = newOrderId();
    const first = await credit({ order_id });
    await shop.advanceClock(3, merchant.mid);
    expect(await credit({ order_id })).toEqual(first);
    expect(await credit({ order_id, order_amount: '4.00' })).toEqual(DUPLICATE);
    expect(await credit({ order_id, name: 'Ada' })).toEqual(DUPLICATE);
    await shop.advanceClock(12, merchant.mid);
    expect(await credit({ order_id })).toEqual(DUPLICATE);
    expect((await inspect(id)).refunded).toBe('5.00');
  });

  test('returns the same operation on a repeat when nothing is left to refund', async () => {
    const { credit } = await makeCardSale();
    const order = { order_id: newOrderId(), order_amount: '10.00' };
    expect(await credit(order)).toEqual(await credit(order));
  });

  test('the order of the sale: an identical request within fifteen seconds is the same part, later another one', async () => {
    const { id, orderId: order_id, merchant, credit } = await makeCardSale();
    const first = await credit({ order_id });
    expect(await credit({ order_id })).toEqual(first);
    expect((await inspect(id)).refunded).toBe('5.00');
    await shop.advanceClock(15, merchant.mid);
    const second = await credit({ order_id });
    expect(operationOf(second)).not.toBe(operationOf(first));
    expect(await credit({ order_id })).toEqual(second);
    expect(await inspect(id)).toMatchObject({ status: 'REFUND', refunded: '10.00' });
  });

  test('refuses the order of a payment with another card or method as a duplicate', async () => {
    const { merchant, credit } = await makeCardSale();
    const { orderId } = await checkout.paid({}, merchant);
    const { orderId: byAnotherCard } = await checkout.paidByCard({}, merchant, { card_number: '5555555555554444' });
    for (const order_id of [orderId, byAnotherCard]) expect(await credit({ order_id })).toEqual(DUPLICATE);
  });

  test('its own order is taken for payments too', async () => {
    const { merchant, credit } = await makeCardSale();
    const order_id = newOrderId();
    const first = await credit({ order_id });
    const session = () =>
      statusAndBody(checkout.send('session', sessionFields({ order: { number: order_id } }), merchant));
    const sale = () => statusAndBody(shop.sale({ order_id }, merchant));
    expect([await session(), await sale()]).toEqual([DUPLICATE, DUPLICATE]);
    // A repeat therefore still finds its operation.
    expect(await credit({ order_id })).toEqual(first);
    await shop.advanceClock(15, merchant.mid);
    expect([await session(), await sale()]).toEqual([DUPLICATE, DUPLICATE]);
  });

  test.each(['after_failure', 'never'])('its own order, of a declined credit, where reuse is %s', async (reuse) => {
    const { id, merchant, credit } = await makeCardSale({}, { order_id_reuse: reuse });
    const { upstream } = shop.gateway.connectors;
    if (!upstream) throw new Error('There is no provider.');
    const operate = () => ({ kind: 'declined', reason: 'The card is closed.' }) as const;
    const order_id = newOrderId();
    shop.gateway.connectors = { ...shop.gateway.connectors, upstream: { ...upstream, operate } };
    const first = await credit({ order_id }).finally(() => {
      shop.gateway.connectors = { ...shop.gateway.connectors, upstream };
    });
    expect(await credit({ order_id })).toEqual(first);
    expect(await credit({ order_id, order_amount: '4.00' })).toEqual(DUPLICATE);
    await shop.advanceClock(15, merchant.mid);
    const again = await Promise.all(times(5, () => credit({ order_id })));
    const isReused = reuse === 'after_failure';
    expect(again).toEqual(times(5, () => (isReused ? again[0] : DUPLICATE)));
    const done = ['credit', '5.00', 'done'];
    expect((await inspect(id)).operations).toEqual([['credit', '5.00', 'declined'], ...(isReused ? [done] : [])]);
    if (isReused) expect(operationOf(again[0] as Pick<Answer, 'body'>)).not.toBe(operationOf(first));
  });

  test('the same order id of another account is independent', async () => {
    const order_id = newOrderId();
    const [one, other] = [await makeCardSale(), await makeCardSale()];
    expect(await one.credit({ order_id })).toEqual(accepted(one.id));
    expect(await other.credit({ order_id })).toEqual(accepted(other.id));
  });
});

describe('concurrent requests', () => {
  test.each(['its own', 'the one of the sale'])(
    'ten identical requests under one order, %s: one operation',
    async (whose) => {
      const { id, orderId, credit } = await makeCardSale();
      const order_id = whose === 'its own' ? newOrderId() : orderId;
      const answers = await Promise.all(times(10, () => credit({ order_id, order_amount: '1.00' })));
      expect(new Set(answers.map(operationOf)).size).toBe(1);
      expect(await inspect(id)).toMatchObject({ refunded: '1.00', operations: [['credit', '1.00', 'done']] });
    },
  );

  test('ten different amounts under one own order: one succeeds', async () => {
    const { id, credit } = await makeCardSale();
    const order_id = newOrderId();
    const answers = await Promise.all(times(10, (index) => credit({ order_id, order_amount: `0.1${index}` })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await inspect(id)).operations).toHaveLength(1);
  });

  test('ten of 3.00 under their own orders: three succeed, and never more than the captured amount', async () => {
    const { id, credit } = await makeCardSale();
    const answers = await Promise.all(times(10, () => credit({ order_amount: '3.00' })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(await inspect(id)).toMatchObject({ status: 'SETTLED', refunded: '9.00' });
  });
});

describe('an operation_id of the merchant', () => {
  test.each(['its own', 'the one of the sale'])(
    'order %s: an identical request at any time is one operation',
    async (whose) => {
      const { id, orderId, merchant, credit } = await makeCardSale();
      const request = { order_id: whose === 'its own' ? newOrderId() : orderId, operation_id: randomUUID() };
      const first = await credit({ ...request, operation_id: request.operation_id.toUpperCase() });
      expect(first).toEqual({ status: 200, body: { ...accepted(id).body, operation_id: request.operation_id } });
      expect(await credit(request)).toEqual(first);
      // Other fields of the request are not part of the operation.
      expect(await credit({ ...request, name: 'Ada', order_description: 'Later' })).toEqual(first);
      await shop.advanceClock(86_400, merchant.mid);
      expect(await credit(request)).toEqual(first);
      expect(await inspect(id)).toMatchObject({ refunded: '5.00', operations: [['credit', '5.00', 'done']] });
    },
  );

  test('with another order, amount, currency, card or action: a duplicate that claims no order', async () => {
    const { id, orderId, merchant, credit } = await makeCardSale();
    const second = await checkout.paidByCard({}, merchant, { card_number: '5555555555554444' });
    const request = { order_id: newOrderId(), operation_id: randomUUID() };
    await credit(request);
    const another = newOrderId();
    expect(await credit({ ...request, order_id: another })).toEqual(DUPLICATE_OPERATION);
    expect(await credit({ ...request, order_id: orderId })).toEqual(DUPLICATE_OPERATION);
    expect(await credit({ ...request, order_amount: '4.00' })).toEqual(DUPLICATE_OPERATION);
    expect(await credit({ ...request, card_token: second.token })).toEqual(DUPLICATE_OPERATION);
    const entry = 'order_currency: This value should be the currency of the payment.';
    expect(await credit({ ...request, order_currency: 'EUR' })).toEqual(refusal('invalidData', entry));
    const { operation_id } = request;
    const refund = { payment_id: id, amount: '5.00', operation_id };
    expect(await statusAndBody(checkout.send('payment/refund', refund, merchant))).toEqual(DUPLICATE_OPERATION);
    expect((await shop.sale({ order_id: another }, merchant)).body.status).toBe('SETTLED');
    expect([(await inspect(id)).refunded, (await inspect(second.id)).refunded]).toEqual(['5.00', '0.00']);
  });

  test('two ids for the same request under the order of the sale are two credits', async () => {
    const { id, orderId: order_id, credit } = await makeCardSale();
    for (const operation_id of [randomUUID(), randomUUID()]) {
      expect(operationOf(await credit({ order_id, operation_id }))).toBe(operation_id);
    }
    expect((await inspect(id)).refunded).toBe('10.00');
  });

  test('another id for the own order of a credit: the order is taken', async () => {
    const { id, merchant, credit } = await makeCardSale();
    const order_id = newOrderId();
    await credit({ order_id, operation_id: randomUUID() });
    expect(await credit({ order_id, operation_id: randomUUID() })).toEqual(DUPLICATE);
    expect(await credit({ order_id })).toEqual(DUPLICATE);
    await shop.advanceClock(60, merchant.mid);
    expect(await credit({ order_id, operation_id: randomUUID() })).toEqual(DUPLICATE);
    expect((await inspect(id)).refunded).toBe('5.00');
  });

  test('refuses an id that is not a UUID before the token lookup', async () => {
    const { credit } = await makeCardSale();
    const request = { operation_id: 'x', card_token: 'x' };
    expect(await credit(request)).toEqual(refused('notUuid', 'operation_id: This is not a valid UUID.'));
  });

  test('checks for a duplicate after the token and before the refusals of refunds', async () => {
    const { merchant, credit } = await makeCardSale();
    const operation_id = randomUUID();
    await credit({ operation_id });
    expect(await credit({ operation_id, card_token: 'x' })).toEqual(refusal('noCardToken'));
    expect(await credit({ operation_id, order_amount: '10.01' })).toEqual(DUPLICATE_OPERATION);
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { refunds_allowed: false });
    expect(await credit({ operation_id, order_amount: '4.00' })).toEqual(DUPLICATE_OPERATION);
  });

  test('uses neither the id nor the order when it is refused', async () => {
    const { id, credit } = await makeCardSale();
    const request = { order_id: newOrderId(), operation_id: randomUUID() };
    expect(await credit({ ...request, order_amount: '10.01' })).toEqual(refusal('refundTooMuch'));
    expect(await credit({ ...request, order_amount: '10.00' })).toEqual(accepted(id));
  });

  test('finds the credit on a repeat after the card has expired', async () => {
    const now = new Date();
    const card_expiry = `${String(now.getUTCMonth() + 1).padStart(2, '0')}/${now.getUTCFullYear()}`;
    const { merchant, credit } = await makeCardSale({}, {}, { card_expiry });
    const request = { order_id: newOrderId(), operation_id: randomUUID() };
    const first = await credit(request);
    await shop.advanceClock(32 * 86_400, merchant.mid);
    expect(await credit(request)).toEqual(first);
    expect(await credit({ ...request, order_amount: '4.00' })).toEqual(refusal('cardTokenExpired'));
  });

  test('stores a decline as the outcome of the id; another id starts a new credit', async () => {
    const { id, merchant, credit } = await makeCardSale();
    const { upstream } = shop.gateway.connectors;
    if (!upstream) throw new Error('There is no provider.');
    const operate = () => ({ kind: 'declined', reason: 'The card is closed.' }) as const;
    const request = { order_id: newOrderId(), operation_id: randomUUID() };
    shop.gateway.connectors = { ...shop.gateway.connectors, upstream: { ...upstream, operate } };
    const first = await credit(request).finally(() => {
      shop.gateway.connectors = { ...shop.gateway.connectors, upstream };
    });
    await shop.advanceClock(15, merchant.mid);
    expect(await credit(request)).toEqual(first);
    const again = { ...request, operation_id: randomUUID() };
    expect(operationOf(await credit(again))).toBe(again.operation_id);
    expect((await inspect(id)).operations).toEqual([
      ['credit', '5.00', 'declined'],
      ['credit', '5.00', 'done'],
    ]);
  });

  test.each(['its own', 'the one of the sale'])(
    'ten identical concurrent requests under one order, %s: one operation',
    async (whose) => {
      const { id, orderId, credit } = await makeCardSale();
      const request = { order_id: whose === 'its own' ? newOrderId() : orderId, operation_id: randomUUID() };
      const answers = await Promise.all(times(10, () => credit(request)));
      expect(answers).toEqual(times(10, () => answers[0]));
      expect(operationOf(answers[0] as Pick<Answer, 'body'>)).toBe(request.operation_id);
      expect((await inspect(id)).operations).toEqual([['credit', '5.00', 'done']]);
    },
  );

  test('one id for ten orders concurrently: one credit, and the other orders stay free', async () => {
    const { id, merchant, credit } = await makeCardSale();
    const operation_id = randomUUID();
    const orders = times(10, newOrderId);
    const answers = await Promise.all(orders.map((order_id) => credit({ order_id, operation_id })));
    const lost = orders.filter((_, index) => answers[index]?.status !== 200);
    expect(lost).toHaveLength(9);
    for (const answer of answers) if (answer.status !== 200) expect(answer).toEqual(DUPLICATE_OPERATION);
    expect((await inspect(id)).operations).toHaveLength(1);
    for (const order_id of lost) expect((await shop.sale({ order_id }, merchant)).body.status).toBe('SETTLED');
  });
});

describe('a process that died between the claim and the operation', () => {
  /** The rows that it left behind. */
  async function leaveClaim(request: Body, merchant: Merchant): Promise<string> {
    const { hash: _hash, ...content } = signed('payment/card/credit', request, merchant);
    const operationId = newId();
    await shop.gateway.credits.reserve({
      mid: merchant.mid,
      orderId: String(request.order_id),
      part: '',
      fingerprint: requestFingerprint(shop.gateway, canonicalJson(content)),
      operationId,
      createdAt: shop.gateway.clock.now(merchant.mid),
    });
    return operationId;
  }

  test('has moved nothing: a repeat continues with its claim, now or later', async () => {
    for (const seconds of [0, 60]) {
      const { id, token, merchant, credit } = await makeCardSale();
      const request = creditFields({ card_token: token });
      const operation_id = await leaveClaim(request, merchant);
      if (seconds > 0) await shop.advanceClock(seconds, merchant.mid);
      expect(await credit(request)).toEqual({ status: 200, body: { ...accepted(id).body, operation_id } });
      expect((await inspect(id)).refunded).toBe('5.00');
    }
  });

  test('frees its order after the window, for one request only', async () => {
    const { id, token, merchant, credit } = await makeCardSale();
    const request = creditFields({ card_token: token });
    await leaveClaim(request, merchant);
    const other = { ...request, order_amount: '4.00' };
    expect(await credit(other)).toEqual(DUPLICATE);
    await shop.advanceClock(15, merchant.mid);
    expect(await credit(other)).toEqual(accepted(id));
    expect(await credit(request)).toEqual(DUPLICATE);
    expect((await inspect(id)).refunded).toBe('4.00');
  });
});

test('every invariant of the database holds', async () => {
  const broken = await shop.rows('select payment_id from payments where reserved <> 0 or refunded > captured');
  expect(broken).toEqual([]);
});
