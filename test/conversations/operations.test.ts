/** Capture, void and refund: the responses, the resulting payment, and what moved at the provider. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Connector, OperationOutcome, ProviderOperation } from '../../src/connectors/connector.ts';
import { createVcard } from '../../src/connectors/vcard.ts';
import { findAccount } from '../../src/core/accounts/accounts.ts';
import type { Account, PaymentWithDetails } from '../../src/core/context.ts';
import { refund } from '../../src/core/payments/change.ts';
import { receiveNotifications } from '../../src/core/payments/notifications.ts';
import { applyOutcome } from '../../src/core/payments/provider.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { BLANK, INVALID, NOT_SINGLE } from '../support/brand-expectations.ts';
import { type Answer, type Merchant, PROVIDER_POLL, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { type OperationAction, operationsOf, type RefusalName, refused, statusAndBody } from '../support/operations.ts';
import { sampled } from '../support/size.ts';

/** A shop with the provider simulator, and one with a scripted provider. */
let shop: TestGateway;
let scripted: TestGateway;
let at: ReturnType<typeof operationsOf>;
let atScripted: ReturnType<typeof operationsOf>;
beforeAll(async () => {
  shop = await startTestGateway({ simulator: true });
  scripted = await startTestGateway({ connectors: { vcard: provider, upstream: { ...provider, submit: accept } } });
  at = operationsOf(shop);
  atScripted = operationsOf(scripted);
});
afterAll(async () => {
  await shop.close();
  await scripted.close();
});

type Do = (operation: ProviderOperation) => OperationOutcome | Promise<OperationOutcome>;

/** The scripted outcomes per payment; other operations succeed at once. */
const scripts = new Map<string, { operate?: Do; query?: Do }>();
const DONE: OperationOutcome = { kind: 'done' };
const INSUFFICIENT_FUNDS: OperationOutcome = { kind: 'declined', reason: 'Not enough money.' };
const provider: Connector = {
  ...createVcard(),
  operate: (operation) => scripts.get(operation.reference)?.operate?.(operation) ?? DONE,
  queryOperation: (operation) => scripts.get(operation.reference)?.query?.(operation) ?? DONE,
};
const accept: Connector['submit'] = () => ({ kind: 'accepted' });
const brokenConnection = async (): Promise<never> => {
  throw new Error('The line is dead.');
};

const DATE = expect.stringMatching(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/);
const UUID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
const DAY = 86_400;

/** The responses of the three actions, with all fields and no others. */
const captured = (id: string, amount: string, more: Answer['body'] = {}) => ({
  status: 200,
  body: {
    action: 'CAPTURE',
    result: 'SUCCESS',
    status: 'SETTLED',
    amount,
    order_id: expect.any(String),
    trans_id: id,
    trans_date: DATE,
    descriptor: 'Test Shop',
    currency: 'USD',
    operation_id: UUID,
    ...more,
  },
});
const voided = (id: string, more: Answer['body'] = {}) => ({
  status: 200,
  body: {
    action: 'VOID',
    result: 'SUCCESS',
    status: 'VOID',
    order_id: expect.any(String),
    trans_id: id,
    trans_date: DATE,
    operation_id: UUID,
    ...more,
  },
});
const accepted = (id: string) => ({
  status: 200,
  body: { action: 'CREDITVOID', result: 'ACCEPTED', order_id: expect.any(String), trans_id: id, operation_id: UUID },
});

const FREE = { reserved: 0, busy: null };

describe.each(
  sampled(
    [
      { brand: 'vcard', hasProvider: false },
      { brand: 'pin-a', hasProvider: true },
      { brand: 'upi-b', hasProvider: true },
      { brand: 'doc-a', hasProvider: true },
    ],
    2,
  ),
)('$brand', ({ brand, hasProvider }) => {
  /** The movements at the provider, if there is one. */
  const written = async (id: string, ...movements: string[]): Promise<void> =>
    expect(await at.movements(id)).toEqual(hasProvider ? movements : []);

  test('CAPTURE of everything: SETTLED, and never again', async () => {
    const id = await at.authorised(brand);
    expect(await statusAndBody(at.send('CAPTURE', id))).toEqual(captured(id, '10.00'));
    expect((await shop.status(id)).body).toMatchObject({ result: 'SUCCESS', status: 'SETTLED', amount: '10.00' });
    expect(await at.inspect(id)).toMatchObject({ status: 'SETTLED', authorised: '10.00', captured: '10.00' });
    expect(await statusAndBody(at.send('CAPTURE', id))).toEqual(refused('captureNotPending'));
    expect(await at.held(id)).toEqual(FREE);
    await written(id, 'capture in 1000');
  });

  test('CAPTURE of a part: SETTLED with that part, and the rest is released', async () => {
    const id = await at.authorised(brand);
    expect(await statusAndBody(at.send('CAPTURE', id, { amount: '4.00' }))).toEqual(captured(id, '4.00'));
    expect(await at.inspect(id)).toMatchObject({ status: 'SETTLED', authorised: '10.00', captured: '4.00' });
    expect(await statusAndBody(at.send('CAPTURE', id, { amount: '1.00' }))).toEqual(refused('captureNotPending'));
    expect(await statusAndBody(at.send('CREDITVOID', id, { amount: '4.01' }))).toEqual(refused('refundTooMuch'));
    expect(await statusAndBody(at.send('CREDITVOID', id))).toEqual(accepted(id));
    expect(await at.inspect(id)).toMatchObject({ status: 'REFUND', captured: '4.00', refunded: '4.00' });
    await written(id, 'capture in 400', 'refund out 400');
  });

  test('CAPTURE of more than is authorised: refused, and nothing changes', async () => {
    const id = await at.authorised(brand);
    expect(await statusAndBody(at.send('CAPTURE', id, { amount: '10.01' }))).toEqual(refused('captureTooMuch'));
    expect(await at.inspect(id)).toMatchObject({ status: 'PENDING', captured: '0.00', operations: [] });
    expect(await statusAndBody(at.send('CAPTURE', id, { amount: '10.00' }))).toEqual(captured(id, '10.00'));
    await written(id, 'capture in 1000');
  });

  test('VOID of an authorisation: VOID, and no further operation is possible', async () => {
    const id = await at.authorised(brand);
    expect(await statusAndBody(at.send('VOID', id))).toEqual(voided(id));
    expect((await shop.status(id)).body).toMatchObject({ status: 'VOID' });
    expect(await statusAndBody(at.send('VOID', id))).toEqual(refused('notSupported'));
    expect(await statusAndBody(at.send('CAPTURE', id))).toEqual(refused('captureNotPending'));
    expect(await statusAndBody(at.send('CREDITVOID', id))).toEqual(refused('refundNotSettled'));
    expect(await at.held(id)).toEqual(FREE);
    await written(id);
  });

  test('CREDITVOID of an authorisation: REVERSAL', async () => {
    const id = await at.authorised(brand);
    expect(await statusAndBody(at.send('CREDITVOID', id))).toEqual(accepted(id));
    expect((await shop.status(id)).body).toMatchObject({ status: 'REVERSAL' });
    expect(await at.inspect(id)).toMatchObject({ captured: '0.00', refunded: '0.00' });
    expect(await statusAndBody(at.send('CREDITVOID', id))).toEqual(refused('refundNotSettled'));
    expect(await at.held(id)).toEqual(FREE);
    await written(id);
  });

  test('CREDITVOID of everything: REFUND', async () => {
    const id = await at.settled(brand);
    expect(await statusAndBody(at.send('CREDITVOID', id))).toEqual(accepted(id));
    expect((await shop.status(id)).body).toMatchObject({ status: 'REFUND', amount: '10.00' });
    expect(await at.inspect(id)).toMatchObject({ captured: '10.00', refunded: '10.00' });
    expect(await statusAndBody(at.send('CREDITVOID', id))).toEqual(refused('refundNotSettled'));
    expect(await at.held(id)).toEqual(FREE);
    await written(id, 'sale in 1000', 'refund out 1000');
  });

  test('CREDITVOID in parts: SETTLED until the last part, each an operation of its own', async () => {
    const id = await at.settled(brand);
    const ids: string[] = [];
    for (const [amount, status, refunded] of [
      ['3.00', 'SETTLED', '3.00'],
      ['3.00', 'SETTLED', '6.00'],
      ['4.00', 'REFUND', '10.00'],
    ] as const) {
      expect(await statusAndBody(at.send('CREDITVOID', id, { amount: '10.01' }))).toEqual(refused('refundTooMuch'));
      const { body } = await at.send('CREDITVOID', id, { amount });
      ids.push(body.operation_id);
      expect((await shop.status(id)).body).toMatchObject({ status });
      expect(await at.inspect(id)).toMatchObject({ refunded });
    }
    expect(new Set([...ids, id]).size).toBe(4);
    expect(await at.held(id)).toEqual(FREE);
    await written(id, 'sale in 1000', 'refund out 300', 'refund out 300', 'refund out 400');
  });

  test('CREDITVOID without an amount refunds the rest', async () => {
    const id = await at.settled(brand);
    await at.send('CREDITVOID', id, { amount: '7.50' });
    expect(await statusAndBody(at.send('CREDITVOID', id, { amount: '2.51' }))).toEqual(refused('refundTooMuch'));
    expect(await statusAndBody(at.send('CREDITVOID', id, { amount: '' }))).toEqual(accepted(id));
    expect(await at.inspect(id)).toMatchObject({ status: 'REFUND', refunded: '10.00' });
    await written(id, 'sale in 1000', 'refund out 750', 'refund out 250');
  });
});

describe('a payment that waits for its payer', () => {
  test('upi-b, VOID: ends on both sides, and the payer comes too late', async () => {
    const id = await at.sale('upi-b', shop.merchant, {}, 'PENDING');
    expect(await statusAndBody(at.send('VOID', id))).toEqual(voided(id));
    expect(await at.atProvider(`/control/payments/${id}`)).toMatchObject({ status: 'voided' });
    await at.approve(id);
    await shop.advanceClock(60, shop.merchant.mid);
    expect(await at.inspect(id)).toMatchObject({ status: 'VOID', attention: null });
    expect(await at.movements(id)).toEqual([]);
  });
  test('upi-b, CREDITVOID: refused, because nothing is authorised', async () => {
    const id = await at.sale('upi-b', shop.merchant, {}, 'PENDING');
    expect(await statusAndBody(at.send('CREDITVOID', id))).toEqual(refused('refundNotSettled'));
  });
  test('upi-b, already ended at the provider: the VOID is declined, and the payment accepts operations again', async () => {
    const id = await at.sale('upi-b', shop.merchant, {}, 'PENDING');
    await at.atProvider(`/v1/payments/${id}/void`, { operation: 'another-client', amount: '1000' });
    const decline_reason = 'The payment can no longer be voided.';
    expect(await statusAndBody(at.send('VOID', id))).toEqual(
      voided(id, { result: 'DECLINED', status: 'PENDING', decline_reason }),
    );
    expect(await at.held(id)).toEqual(FREE);
  });
  test('upi-b, a VOID whose response is lost and a payer who approves meanwhile: SETTLED, and the VOID is declined', async () => {
    const merchant = await shop.newMerchant();
    const id = await at.sale('upi-b', merchant, {}, 'PENDING');
    await at.fault('timeout_before', { mid: merchant.mid });
    expect(await statusAndBody(at.send('VOID', id, {}, merchant))).toEqual(
      voided(id, { result: 'UNDEFINED', status: 'PENDING' }),
    );
    await at.approve(id);
    // Which of the two happened is unknown until the VOID has its outcome.
    await expect.poll(async () => (await at.inspect(id)).attention).toBe('conflict');
    await shop.advanceClock(60, merchant.mid);
    expect(await at.inspect(id)).toMatchObject({
      status: 'SETTLED',
      attention: null,
      captured: '10.00',
      operations: [{ operation: 'void', state: 'declined' }],
    });
    expect(await at.held(id)).toEqual(FREE);
    expect(await at.movements(id)).toEqual(['sale in 1000']);
  });
  test('doc-a on the provider’s page is not PENDING yet: no operation is possible', async () => {
    const id = await at.sale('doc-a', shop.merchant, {}, 'REDIRECT');
    expect(await statusAndBody(at.send('VOID', id))).toEqual(refused('notSupported'));
    expect(await statusAndBody(at.send('CAPTURE', id))).toEqual(refused('captureNotPending'));
    expect(await statusAndBody(at.send('CREDITVOID', id))).toEqual(refused('refundNotSettled'));
  });
});

describe('which operations each state allows', () => {
  const PAYMENT_IN_STATE: Record<string, (merchant: Merchant) => Promise<string>> = {
    SETTLED: (merchant) => at.settled('vcard', {}, merchant),
    DECLINED: (merchant) => at.sale('vcard', merchant, { identifier: 'decline@example.com' }, 'DECLINED'),
    async VOID(merchant) {
      const id = await at.authorised('vcard', {}, merchant);
      await at.send('VOID', id, {}, merchant);
      return id;
    },
    async REVERSAL(merchant) {
      const id = await at.authorised('vcard', {}, merchant);
      await at.send('CREDITVOID', id, {}, merchant);
      return id;
    },
    async REFUND(merchant) {
      const id = await at.settled('vcard', {}, merchant);
      await at.send('CREDITVOID', id, {}, merchant);
      return id;
    },
    async CHARGEBACK(merchant) {
      const id = await at.settled('pin-a', {}, merchant);
      await at.control(id, { chargeback: true });
      return id;
    },
    async EXPIRED(merchant) {
      const id = await at.authorised('vcard', {}, merchant);
      await shop.advanceClock(8 * DAY, merchant.mid);
      return id;
    },
  };
  test.each(Object.keys(PAYMENT_IN_STATE))(
    '%s: no CAPTURE, no VOID, and CREDITVOID only if it is SETTLED',
    async (state) => {
      const merchant = await shop.newMerchant();
      const id = await (PAYMENT_IN_STATE[state] as (merchant: Merchant) => Promise<string>)(merchant);
      await at.becomes(id, state);
      const before = await at.inspect(id);
      expect(await statusAndBody(at.send('CAPTURE', id, {}, merchant))).toEqual(refused('captureNotPending'));
      expect(await statusAndBody(at.send('VOID', id, {}, merchant))).toEqual(refused('notSupported'));
      if (state !== 'SETTLED') {
        expect(await statusAndBody(at.send('CREDITVOID', id, {}, merchant))).toEqual(refused('refundNotSettled'));
      }
      expect(await at.inspect(id)).toEqual(before);
    },
  );
});

describe('amounts', () => {
  test.each(
    sampled([
      { currency: 'JPY', order: '1000', part: '400.00', answered: '400.00', left: '600' },
      { currency: 'JPY', order: '1000.00', part: '400.00', answered: '400.00', left: '600.00' },
      { currency: 'KWD', order: '10.000', part: '4.125', answered: '4.125', left: '5.875' },
      { currency: 'KWD', order: '10.00', part: '4.125', answered: '4.125', left: '5.875' },
    ]),
  )('$currency: $part of $order', async ({ currency, order, part, answered, left }) => {
    const sold = { order_currency: currency, order_amount: order };
    const id = await at.authorised('pin-a', sold);
    expect(await statusAndBody(at.send('CAPTURE', id, { amount: part }))).toEqual(captured(id, answered, { currency }));
    const paid = await at.settled('pin-a', sold);
    await at.send('CREDITVOID', paid, { amount: part });
    expect(await at.inspect(paid)).toMatchObject({ status: 'SETTLED', refunded: answered });
    expect(await statusAndBody(at.send('CREDITVOID', paid, { amount: left }))).toEqual(accepted(paid));
    expect((await shop.status(paid)).body).toMatchObject({ status: 'REFUND', amount: order });
    const minor = currency === 'JPY' ? ['1000', '400', '600'] : ['10000', '4125', '5875'];
    expect(await at.movements(paid)).toEqual([
      `sale in ${minor[0]}`,
      `refund out ${minor[1]}`,
      `refund out ${minor[2]}`,
    ]);
  });

  test.each(
    sampled([
      ['JPY', '1000', '400'],
      ['JPY', '1000', '400.00'],
      ['KWD', '10.000', '4.50'],
      ['KWD', '10.000', '4.500'],
    ]),
  )('%s: a capture of %s that was sent as %s is answered as it was sent', async (currency, order, amount) => {
    const id = await at.authorised('vcard', { order_currency: currency, order_amount: order });
    expect((await at.send('CAPTURE', id, { amount })).body).toMatchObject({ result: 'SUCCESS', amount });
  });

  const ZERO = 'This value should be greater than 0.';
  test.each(
    sampled([
      ['USD', '1e3', INVALID],
      ['USD', '+1.00', INVALID],
      ['USD', '-1.00', INVALID],
      ['USD', '1,00', INVALID],
      ['USD', ' 1.00', INVALID],
      ['USD', '1.0', INVALID],
      ['USD', '1', INVALID],
      ['USD', '1.000', INVALID],
      ['USD', '.50', INVALID],
      ['USD', '1.', INVALID],
      ['USD', '٣.00', INVALID],
      ['USD', '1000000000000.00', INVALID],
      ['USD', '0.00', ZERO],
      ['JPY', '1.50', INVALID],
      ['JPY', '1.000', INVALID],
      ['JPY', '0', ZERO],
      ['KWD', '1', INVALID],
      ['KWD', '1.2345', INVALID],
      ['KWD', '0.000', ZERO],
    ]),
  )('%s refuses %j and changes nothing', async (currency, amount, sentence) => {
    const sold = { order_currency: currency, order_amount: '10.00' };
    const id = await at.authorised('vcard', sold);
    const paid = await at.settled('vcard', sold);
    const wrong = refused('invalidData', `amount: ${sentence}`);
    expect(await statusAndBody(at.send('CAPTURE', id, { amount }))).toEqual(wrong);
    expect(await statusAndBody(at.send('CREDITVOID', id, { amount }))).toEqual(wrong);
    expect(await statusAndBody(at.send('CREDITVOID', paid, { amount }))).toEqual(wrong);
    expect(await at.inspect(id)).toMatchObject({ status: 'PENDING', operations: [] });
    expect(await at.inspect(paid)).toMatchObject({ status: 'SETTLED', operations: [] });
  });

  test.each(['CAPTURE', 'CREDITVOID'] as const)('%s: refuses a list as the amount', async (action) => {
    const id = await at.authorised();
    expect(await statusAndBody(at.send(action, id, { 'amount[]': '1.00' }))).toEqual(
      refused('invalidData', `amount: ${NOT_SINGLE}`),
    );
  });

  test('VOID always applies to everything and ignores an amount like any unknown field', async () => {
    const id = await at.authorised();
    expect(await statusAndBody(at.send('VOID', id, { amount: '1.00' }))).toEqual(voided(id));
  });
});

describe('ownership of the payment', () => {
  const UNKNOWN_ID = '01990000-0000-7000-8000-000000000000';
  test.each([
    ['CAPTURE', 'unknownTransaction'],
    ['VOID', 'unknownPayment'],
    ['CREDITVOID', 'unknownPayment'],
  ] as const)('%s: another account’s id is as unknown as a random one', async (action, error) => {
    const [id, paid, stranger] = [await at.authorised(), await at.settled(), await shop.newMerchant()];
    for (const unknown of [id, paid, UNKNOWN_ID, 'x', `${id}0`]) {
      expect(await statusAndBody(at.send(action, unknown, {}, stranger)), unknown).toEqual(refused(error));
    }
    expect(await at.inspect(id)).toMatchObject({ status: 'PENDING', operations: [] });
    expect(await at.inspect(paid)).toMatchObject({ status: 'SETTLED', operations: [] });
    expect(await statusAndBody(at.send(action, '', {}, stranger))).toEqual(
      refused('invalidData', `trans_id: ${BLANK}`),
    );
  });
});

describe('who may refund', () => {
  /** Temporarily changes how the providers of the scripted shop support refunds. */
  async function withRefunds<Result>(refunds: Connector['capabilities']['refunds'], work: () => Promise<Result>) {
    const { connectors } = scripted.gateway;
    const changed = Object.entries(connectors).map(([name, one]) => [
      name,
      { ...one, capabilities: { ...one.capabilities, refunds } },
    ]);
    scripted.gateway.connectors = Object.fromEntries(changed);
    try {
      return await work();
    } finally {
      scripted.gateway.connectors = connectors;
    }
  }

  test('an account without permission: Refund is not allowed, also of a part', async () => {
    const merchant = await shop.newMerchant({ refunds_allowed: false });
    for (const brand of ['vcard', 'pin-a']) {
      const id = await at.settled(brand, {}, merchant);
      for (const fields of [{}, { amount: '1.00' }]) {
        expect(await statusAndBody(at.send('CREDITVOID', id, fields, merchant))).toEqual(refused('refundNotAllowed'));
      }
      expect(await at.inspect(id)).toMatchObject({ status: 'SETTLED', refunded: '0.00', operations: [] });
    }
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { refunds_allowed: true });
    const id = await at.settled('vcard', {}, merchant);
    expect(await statusAndBody(at.send('CREDITVOID', id, {}, merchant))).toEqual(accepted(id));
  });

  test.each([
    ['portal', 'onlyInPortal'],
    ['none', 'notSupported'],
  ] as [Connector['capabilities']['refunds'], RefusalName][])('a connector with refunds %s', async (refunds, error) => {
    const id = await atScripted.settled();
    const reserved = await atScripted.authorised();
    await withRefunds(refunds, async () => {
      expect(await statusAndBody(atScripted.send('CREDITVOID', id))).toEqual(refused(error));
      expect(await atScripted.inspect(id)).toMatchObject({ status: 'SETTLED', operations: [] });
      expect(await statusAndBody(atScripted.send('CAPTURE', reserved))).toEqual(captured(reserved, '10.00'));
    });
    expect(await statusAndBody(atScripted.send('CREDITVOID', id))).toEqual(accepted(id));
  });

  test.each(['payout-a', 'p2p-b'])('%s: a payout is not refunded', async (brand) => {
    const merchant = await shop.newMerchant({ account_uuid: '7d0b6e0a-3f3c-4c55-9b7e-1f7a0c2d9e41' });
    const id = await at.sale(brand, merchant, {}, 'PENDING');
    await at.becomes(id, 'SETTLED');
    expect(await statusAndBody(at.send('CREDITVOID', id, {}, merchant))).toEqual(refused('notSupported'));
    expect(await statusAndBody(at.send('CREDITVOID', id, { amount: '1.00' }, merchant))).toEqual(
      refused('notSupported'),
    );
    expect(await at.movements(id)).toEqual(['payout out 1000']);
  });
});

describe('a provider that declines', () => {
  /** A payment of the scripted shop whose operations get this outcome from now on. */
  async function paymentWithDeclines(kind: 'authorised' | 'settled'): Promise<string> {
    const id = await atScripted[kind]();
    scripts.set(id, { operate: () => INSUFFICIENT_FUNDS });
    return id;
  }

  test('CAPTURE: DECLINED with the reason, the payment stays PENDING, and a second one may succeed', async () => {
    const id = await paymentWithDeclines('authorised');
    const no = { result: 'DECLINED', status: 'PENDING', decline_reason: 'Not enough money.' };
    expect(await statusAndBody(atScripted.send('CAPTURE', id))).toEqual(captured(id, '10.00', no));
    expect((await scripted.status(id)).body).toMatchObject({ status: 'PENDING' });
    expect(await atScripted.inspect(id)).toMatchObject({ captured: '0.00', decline_reason: null });
    expect(await atScripted.held(id)).toEqual(FREE);
    scripts.delete(id);
    expect(await statusAndBody(atScripted.send('CAPTURE', id, { amount: '6.00' }))).toEqual(captured(id, '6.00'));
    expect(await atScripted.inspect(id)).toMatchObject({ status: 'SETTLED', captured: '6.00' });
  });

  test('VOID: DECLINED with the reason, the payment stays PENDING, and a CAPTURE may follow', async () => {
    const id = await paymentWithDeclines('authorised');
    const no = { result: 'DECLINED', status: 'PENDING', decline_reason: 'Not enough money.' };
    expect(await statusAndBody(atScripted.send('VOID', id))).toEqual(voided(id, no));
    scripts.delete(id);
    expect(await statusAndBody(atScripted.send('CAPTURE', id))).toEqual(captured(id, '10.00'));
  });

  test('CREDITVOID of an authorisation: accepted, and the payment stays PENDING', async () => {
    const id = await paymentWithDeclines('authorised');
    expect(await statusAndBody(atScripted.send('CREDITVOID', id))).toEqual(accepted(id));
    expect((await scripted.status(id)).body).toMatchObject({ status: 'PENDING' });
    expect(await atScripted.held(id)).toEqual(FREE);
  });

  test('CREDITVOID: accepted, the payment stays SETTLED, and the amount is available for the next one', async () => {
    const id = await paymentWithDeclines('settled');
    expect(await statusAndBody(atScripted.send('CREDITVOID', id, { amount: '6.00' }))).toEqual(accepted(id));
    expect((await scripted.status(id)).body).toMatchObject({ status: 'SETTLED' });
    expect(await atScripted.inspect(id)).toMatchObject({ refunded: '0.00', operations: [{ state: 'declined' }] });
    expect(await atScripted.held(id)).toEqual(FREE);
    scripts.delete(id);
    expect(await statusAndBody(atScripted.send('CREDITVOID', id, { amount: '10.00' }))).toEqual(accepted(id));
    expect(await atScripted.inspect(id)).toMatchObject({ status: 'REFUND', refunded: '10.00' });
  });

  test('pin-a: an authorisation that no longer exists at the provider is not captured', async () => {
    const id = await at.authorised('pin-a');
    await at.atProvider(`/v1/payments/${id}/void`, { operation: 'another-client', amount: '1000' });
    const decline_reason = 'Only an authorised payment can be captured.';
    expect(await statusAndBody(at.send('CAPTURE', id))).toEqual(
      captured(id, '10.00', { result: 'DECLINED', status: 'PENDING', decline_reason }),
    );
    expect(await at.movements(id)).toEqual([]);
  });
});

describe('a connection that breaks', () => {
  const UNDEFINED = { result: 'UNDEFINED', status: 'PENDING' };
  const CASES = [
    {
      words: 'CAPTURE of a part',
      action: 'CAPTURE',
      fields: { amount: '4.00' },
      answers: (id: string) => captured(id, '4.00', UNDEFINED),
      meanwhile: { status: 'PENDING', captured: '0.00' },
      ends: { status: 'SETTLED', captured: '4.00', refunded: '0.00' },
      movements: ['capture in 400'],
    },
    {
      words: 'VOID',
      action: 'VOID',
      fields: {},
      answers: (id: string) => voided(id, UNDEFINED),
      meanwhile: { status: 'PENDING' },
      ends: { status: 'VOID', captured: '0.00' },
      movements: [],
    },
    {
      words: 'CREDITVOID of an authorisation',
      action: 'CREDITVOID',
      fields: {},
      answers: accepted,
      meanwhile: { status: 'PENDING' },
      ends: { status: 'REVERSAL', captured: '0.00' },
      movements: [],
    },
    {
      words: 'CREDITVOID of a part',
      action: 'CREDITVOID',
      isPaid: true,
      fields: { amount: '4.00' },
      answers: accepted,
      meanwhile: { status: 'SETTLED', refunded: '0.00' },
      ends: { status: 'SETTLED', captured: '10.00', refunded: '4.00' },
      movements: ['sale in 1000', 'refund out 400'],
    },
    {
      words: 'CREDITVOID of everything',
      action: 'CREDITVOID',
      isPaid: true,
      fields: {},
      answers: accepted,
      meanwhile: { status: 'SETTLED', refunded: '0.00' },
      ends: { status: 'REFUND', captured: '10.00', refunded: '10.00' },
      movements: ['sale in 1000', 'refund out 1000'],
    },
  ] satisfies (Record<string, unknown> & { action: OperationAction })[];
  const rows = ['timeout_before', 'timeout_after', 'error_500'].flatMap((mode) =>
    sampled(CASES).map((one) => ({ isPaid: false, ...one, mode })),
  );

  test.each(rows)('$mode, $words: unknown, then $ends.status, and once on both sides', async (row) => {
    const merchant = await shop.newMerchant();
    const id = await at[row.isPaid ? 'settled' : 'authorised']('pin-a', {}, merchant);
    await at.fault(row.mode, { mid: merchant.mid });
    expect(await statusAndBody(at.send(row.action, id, row.fields, merchant))).toEqual(row.answers(id));
    expect(await at.inspect(id)).toMatchObject({
      ...row.meanwhile,
      operations: [{ state: 'sent', finished_at: null, reason: null }],
    });

    // No other operation can intervene.
    if (!row.isPaid) {
      expect(await statusAndBody(at.send('CAPTURE', id, {}, merchant))).toEqual(refused('captureNotPending'));
      expect(await statusAndBody(at.send('VOID', id, {}, merchant))).toEqual(refused('notSupported'));
    }
    expect((await at.send('CREDITVOID', id, { amount: '10.00' }, merchant)).status).toBe(400);

    await shop.advanceClock(5, merchant.mid);
    expect(await at.inspect(id)).toMatchObject({ ...row.ends, operations: [{ state: 'done' }] });
    expect(await at.held(id)).toEqual(FREE);
    await shop.advanceClock(8 * DAY, merchant.mid);
    expect(await at.inspect(id)).toMatchObject(row.ends);
    expect(await at.movements(id)).toEqual(row.movements);
    expect((await at.atProvider(`/control/payments/${id}`)).operations).toHaveLength(1);
  });

  test('for longer: queried with growing intervals, and never resolved by a guess', async () => {
    // After an outage, an answer about any other payment makes the queries early: no other payment is here.
    const alone = await startTestGateway({ simulator: true });
    onTestFinished(() => alone.close());
    const here = operationsOf(alone);
    const id = await here.settled('pin-a', {}, alone.merchant);
    await here.fault('error_500', { mid: alone.merchant.mid, count: 1000 });
    await here.send('CREDITVOID', id, { amount: '4.00' }, alone.merchant);
    /** The seconds from the last event to the next query. */
    const pauseAfter = async (): Promise<number> => {
      const [row] = await alone.rows(`select extract(epoch from o.due_at - h.at) as seconds
        from operations o join history h using (mid, payment_id) where payment_id = '${id}' order by h.seq desc limit 1`);
      return Number(row?.seconds);
    };
    const unanswered = async () => (await here.events(id)).filter((event) => event === 'unanswered refund').length;
    for (const [asked, seconds] of [5, 15, 30, 60, 300].entries()) {
      expect(await pauseAfter()).toBe(seconds);
      // A short pause may pass by itself on a slow machine.
      const early = seconds < 60 ? 0 : seconds / 2;
      if (early > 0) await alone.advanceClock(early);
      expect(await here.inspect(id)).toMatchObject({ operations: [{ state: 'sent' }] });
      expect(await unanswered()).toBe(asked + 1);
      await alone.advanceClock(seconds - early);
      // The query may be in flight in the work loop: the next step of the clock would end its lease.
      await expect.poll(unanswered, PROVIDER_POLL).toBe(asked + 2);
    }
    await here.fault('none', { mid: alone.merchant.mid });
    await alone.advanceClock(900);
    expect(await here.inspect(id)).toMatchObject({ refunded: '4.00', operations: [{ state: 'done' }] });
    expect(await here.movements(id)).toEqual(['sale in 1000', 'refund out 400']);
  });

  test('the amount reserved for a pending refund is not available to another', async () => {
    const merchant = await shop.newMerchant();
    const id = await at.settled('pin-a', {}, merchant);
    await at.fault('timeout_after', { mid: merchant.mid });
    await at.send('CREDITVOID', id, { amount: '6.00' }, merchant);
    expect(await at.held(id)).toEqual({ reserved: 600, busy: null });
    expect(await statusAndBody(at.send('CREDITVOID', id, { amount: '4.01' }, merchant))).toEqual(
      refused('refundTooMuch'),
    );
    expect(await statusAndBody(at.send('CREDITVOID', id, { amount: '4.00' }, merchant))).toEqual(accepted(id));
    expect(await statusAndBody(at.send('CREDITVOID', id, {}, merchant))).toEqual(refused('refundTooMuch'));
    expect(await at.inspect(id)).toMatchObject({ status: 'SETTLED', refunded: '4.00' });
    await shop.advanceClock(5, merchant.mid);
    expect(await at.inspect(id)).toMatchObject({ status: 'REFUND', refunded: '10.00' });
    expect(await at.movements(id)).toEqual(['sale in 1000', 'refund out 600', 'refund out 400']);
  });
});

describe('an outcome that is reported twice counts once', () => {
  /** An operation whose response the test holds back while the work loop queries its outcome. */
  async function delayedOperation(kind: 'authorised' | 'settled', query: OperationOutcome) {
    const merchant = await scripted.newMerchant();
    const id = await atScripted[kind]('vcard', {}, merchant);
    const { promise, resolve } = Promise.withResolvers<OperationOutcome>();
    const called = Promise.withResolvers<void>();
    scripts.set(id, {
      operate() {
        called.resolve();
        return promise;
      },
      query: () => query,
    });
    return { id, merchant, answer: resolve, called: called.promise };
  }

  test.each([
    ['CAPTURE', 'authorised', { amount: '4.00' }, { status: 'SETTLED', captured: '4.00' }],
    ['VOID', 'authorised', {}, { status: 'VOID', captured: '0.00' }],
    ['CREDITVOID', 'authorised', {}, { status: 'REVERSAL', captured: '0.00' }],
    ['CREDITVOID', 'settled', { amount: '4.00' }, { status: 'SETTLED', refunded: '4.00' }],
    ['CREDITVOID', 'settled', {}, { status: 'REFUND', refunded: '10.00' }],
  ] as const)('%s of what is %s %o: resolved by a query, then answered', async (action, kind, fields, ends) => {
    const { id, merchant, answer, called } = await delayedOperation(kind, DONE);
    const request = atScripted.send(action, id, fields, merchant);
    await called;
    await scripted.advanceClock(31, merchant.mid);
    expect(await atScripted.inspect(id)).toMatchObject({ ...ends, operations: [{ state: 'done' }] });
    answer(DONE);
    expect((await request).status).toBe(200);
    expect(await atScripted.inspect(id)).toMatchObject({ ...ends, operations: [{ state: 'done' }] });
    expect(await atScripted.held(id)).toEqual(FREE);
  });

  test.each([
    ['done', DONE, { status: 'SETTLED', refunded: '3.00' }],
    ['declined', INSUFFICIENT_FUNDS, { status: 'SETTLED', refunded: '0.00' }],
  ] as const)('a refund that is %s twice does not affect another pending refund', async (_, outcome, ends) => {
    const { id, merchant, answer, called } = await delayedOperation('settled', outcome);
    const first = atScripted.send('CREDITVOID', id, { amount: '3.00' }, merchant);
    await called;
    await scripted.advanceClock(31, merchant.mid);
    expect(await atScripted.inspect(id)).toMatchObject(ends);
    // Another refund of the same amount is reserved when the response of the first one arrives late.
    scripts.set(id, { operate: brokenConnection, query: brokenConnection });
    await atScripted.send('CREDITVOID', id, { amount: '3.00' }, merchant);
    answer(outcome);
    await first;
    expect(await atScripted.inspect(id)).toMatchObject(ends);
    expect(await atScripted.held(id)).toEqual({ reserved: 300, busy: null });
  });

  test('resolved as done, then answered as unknown: stays done', async () => {
    const { id, merchant, answer, called } = await delayedOperation('settled', DONE);
    const request = atScripted.send('CREDITVOID', id, { amount: '3.00' }, merchant);
    await called;
    await scripted.advanceClock(31, merchant.mid);
    answer({ kind: 'unknown' });
    await request;
    expect(await atScripted.inspect(id)).toMatchObject({ refunded: '3.00', operations: [{ state: 'done' }] });
    await scripted.advanceClock(60, merchant.mid);
    expect(await atScripted.inspect(id)).toMatchObject({ refunded: '3.00', operations: [{ state: 'done' }] });
  });
});

test('the database committed the outcome of a refund, but its response was lost: the refund counts once', async () => {
  const merchant = await scripted.newMerchant();
  const id = await atScripted.settled('vcard', {}, merchant);
  const { gateway } = scripted;
  const account = (await findAccount(gateway, merchant.mid)) as Account;
  const payment = (await gateway.payments.find({ mid: merchant.mid, paymentId: id })) as PaymentWithDetails;
  let isLost = false;
  const transition: typeof gateway.payments.transition = async (one) => {
    const isDone = await gateway.payments.transition(one);
    if (isLost || one.event !== 'partlyRefunded') return isDone;
    isLost = true;
    throw new Error('Connection terminated unexpectedly');
  };
  const shaky = { ...gateway, payments: { ...gateway.payments, transition } };
  await refund(shaky, account, payment, '3.00', 'merchant').catch(() => undefined);
  expect(isLost).toBe(true);
  await scripted.advanceClock(3600, merchant.mid);
  expect(await atScripted.inspect(id)).toMatchObject({ refunded: '3.00', operations: [{ state: 'done' }] });
  expect(await atScripted.held(id)).toEqual(FREE);
});

describe('provider notifications while an operation is pending', () => {
  test('pin-a: a partial capture whose response was lost; a settled notification does not make it a full capture', async () => {
    const merchant = await shop.newMerchant();
    const id = await at.authorised('pin-a', {}, merchant);
    await at.fault('timeout_after', { mid: merchant.mid });
    await at.send('CAPTURE', id, { amount: '4.00' }, merchant);
    expect(await at.movements(id)).toEqual(['capture in 400']);
    await at.control(id, { provider_status: 'executed' });
    await shop.advanceClock(60, merchant.mid);
    expect(await at.inspect(id)).toMatchObject({
      status: 'SETTLED',
      captured: '4.00',
      operations: [{ state: 'done' }],
    });
    expect(await at.held(id)).toEqual(FREE);
    expect(await at.movements(id)).toEqual(['capture in 400']);
  });

  test('pin-a: the provider settles by itself and declines the capture: SETTLED once, in full', async () => {
    const merchant = await shop.newMerchant();
    const id = await at.authorised('pin-a', {}, merchant);
    await at.fault('timeout_before', { mid: merchant.mid });
    await at.send('CAPTURE', id, { amount: '4.00' }, merchant);
    await at.control(id, { provider_status: 'executed' });
    await shop.advanceClock(60, merchant.mid);
    expect(await at.inspect(id)).toMatchObject({
      status: 'SETTLED',
      captured: '10.00',
      operations: [{ state: 'declined' }],
    });
    expect(await at.held(id)).toEqual(FREE);
    expect(await at.movements(id)).toEqual(['sale in 1000']);
  });

  test('the provider settles a part by itself and declines the capture of as much: the part stays', async () => {
    const merchant = await scripted.newMerchant();
    const id = await atScripted.authorised('vcard', {}, merchant);
    scripts.set(id, { operate: brokenConnection, query: () => INSUFFICIENT_FUNDS });
    await atScripted.send('CAPTURE', id, { amount: '4.00' }, merchant);
    const { gateway } = scripted;
    const payment = (await gateway.payments.findAnywhere(id)) as PaymentWithDetails;
    const account = (await findAccount(gateway, merchant.mid)) as Account;
    const call = { verb: 'query', connector: 'vcard', outcome: 'settled', tookMs: 0 } as const;
    await applyOutcome(gateway, payment, account, { kind: 'settled', captured: { amount: 400n } }, call);
    await scripted.advanceClock(5, merchant.mid);
    expect(await atScripted.inspect(id)).toMatchObject({
      status: 'SETTLED',
      captured: '4.00',
      money: { gross: '4.00' },
      operations: [{ state: 'declined' }],
    });
    expect(await atScripted.held(id)).toEqual(FREE);
  });

  test('declined by a notification, although the capture succeeded: needs an operator', async () => {
    const merchant = await scripted.newMerchant();
    const id = await atScripted.authorised('vcard', {}, merchant);
    scripts.set(id, { operate: brokenConnection });
    await atScripted.send('CAPTURE', id, {}, merchant);
    await receiveNotifications(scripted.gateway, 'vcard', [
      {
        eventId: `declined-${id}`,
        reference: id,
        body: { type: 'payment', reference: id, status: 'declined', amount: '1000', currency: 'USD' },
      },
    ]);
    expect(await atScripted.inspect(id)).toMatchObject({ status: 'DECLINED' });
    await scripted.advanceClock(5, merchant.mid);
    expect(await atScripted.inspect(id)).toMatchObject({
      status: 'DECLINED',
      attention: 'late_success',
      operations: [{ state: 'done' }],
    });
    expect(await atScripted.held(id)).toEqual(FREE);
  });

  test.each([
    {
      words: 'it never arrived',
      mode: 'timeout_before',
      refunded: '0.00',
      operation: 'declined',
      movements: ['sale in 1000', 'chargeback out 1000'],
    },
    {
      words: 'its response was lost',
      mode: 'timeout_after',
      refunded: '4.00',
      operation: 'done',
      movements: ['sale in 1000', 'refund out 400', 'chargeback out 600'],
    },
  ])('a chargeback while a refund is pending, and $words: both ledgers agree', async (row) => {
    const merchant = await shop.newMerchant();
    const id = await at.settled('pin-a', {}, merchant);
    await at.fault(row.mode, { mid: merchant.mid });
    await at.send('CREDITVOID', id, { amount: '4.00' }, merchant);
    await at.control(id, { chargeback: true });
    await at.becomes(id, 'CHARGEBACK');
    expect(await statusAndBody(at.send('CREDITVOID', id, {}, merchant))).toEqual(refused('refundNotSettled'));
    await shop.advanceClock(60, merchant.mid);
    expect(await at.held(id)).toEqual(FREE);
    expect(await at.movements(id)).toEqual(row.movements);
    expect(await at.inspect(id)).toMatchObject({
      status: 'CHARGEBACK',
      captured: '10.00',
      operations: [{ operation: 'refund', state: row.operation }],
      refunded: row.refunded,
    });
  });
});

describe('an authorisation that is not captured', () => {
  test.each([
    ['seven days', {}, 7],
    ['the account’s authorisation_days', { authorisation_days: 2 }, 2],
  ])('expires after %s', async (_, settings, days) => {
    const merchant = await shop.newMerchant(settings);
    for (const brand of ['vcard', 'pin-a']) {
      const id = await at.authorised(brand, {}, merchant);
      await shop.advanceClock(days * DAY - 60, merchant.mid);
      expect((await shop.status(id, merchant)).body).toMatchObject({ status: 'PENDING' });
      await shop.advanceClock(60, merchant.mid);
      expect((await shop.status(id, merchant)).body).toMatchObject({ status: 'EXPIRED' });
      expect(await statusAndBody(at.send('CAPTURE', id, {}, merchant))).toEqual(refused('captureNotPending'));
      expect(await at.movements(id)).toEqual([]);
      // The provider releases it too.
      if (brand === 'pin-a') expect(await at.atProvider(`/v1/payments/${id}`)).toMatchObject({ status: 'voided' });
    }
  });

  test('does not expire once it was captured, voided or reversed', async () => {
    const merchant = await shop.newMerchant();
    const ends = { CAPTURE: 'SETTLED', VOID: 'VOID', CREDITVOID: 'REVERSAL' };
    const ids = new Map<string, string>();
    for (const [action, end] of Object.entries(ends)) {
      const id = await at.authorised('pin-a', {}, merchant);
      await at.send(action as OperationAction, id, {}, merchant);
      ids.set(id, end);
    }
    await shop.advanceClock(30 * DAY, merchant.mid);
    for (const [id, end] of ids) {
      expect(await at.inspect(id)).toMatchObject({ status: end });
      expect(await at.events(id)).not.toContain('noted expired');
    }
  });

  /** A capture whose outcome is still unknown when the authorisation expires. */
  async function capturedAtTheLastMoment(mode: string) {
    const merchant = await shop.newMerchant({ authorisation_days: 1 });
    const id = await at.authorised('pin-a', {}, merchant);
    await shop.advanceClock(DAY - 10, merchant.mid);
    await at.fault(mode, { mid: merchant.mid });
    await at.fault('error_500', { mid: merchant.mid, count: 1000 });
    expect((await at.send('CAPTURE', id, {}, merchant)).body).toMatchObject({ result: 'UNDEFINED', status: 'PENDING' });
    await shop.advanceClock(45, merchant.mid);
    expect((await shop.status(id, merchant)).body).toMatchObject({ status: 'PENDING' });
    return { id, merchant };
  }

  test.each(['timeout_before', 'timeout_after'])('does not expire while a capture is pending: %s', async (mode) => {
    const { id, merchant } = await capturedAtTheLastMoment(mode);
    await at.fault('none', { mid: merchant.mid });
    await shop.advanceClock(60, merchant.mid);
    expect(await at.inspect(id)).toMatchObject({ status: 'SETTLED', captured: '10.00' });
    expect(await at.movements(id)).toEqual(['capture in 1000']);
    await shop.advanceClock(DAY, merchant.mid);
    expect(await at.inspect(id)).toMatchObject({ status: 'SETTLED' });
  });

  test('expires when the pending capture is declined', async () => {
    const { id, merchant } = await capturedAtTheLastMoment('timeout_before');
    await at.fault('none', { mid: merchant.mid });
    await at.atProvider(`/v1/payments/${id}/void`, { operation: 'another-client', amount: '1000' });
    await shop.advanceClock(120, merchant.mid);
    expect(await at.inspect(id)).toMatchObject({
      status: 'EXPIRED',
      captured: '0.00',
      operations: [
        { operation: 'capture', state: 'declined' },
        { operation: 'expiry', state: 'declined' },
      ],
    });
    expect(await at.movements(id)).toEqual([]);
  });
});

test('shows the operator every operation with its outcome, and every step in the history', async () => {
  const merchant = await shop.newMerchant();
  const id = await at.authorised('pin-a', {}, merchant);
  expect(await at.inspect(id)).toMatchObject({ operations: [] });
  const first = await at.send('CAPTURE', id, { amount: '8.00' }, merchant);
  const second = await at.send('CREDITVOID', id, { amount: '3.00' }, merchant);
  await at.fault('timeout_after', { mid: merchant.mid });
  const third = await at.send('CREDITVOID', id, { amount: '1.00' }, merchant);
  const row = (operation: string, { body }: Answer, amount: string, state: string) => ({
    operation_id: body.operation_id,
    operation,
    state,
    amount,
    reason: null,
    requested_at: DATE,
    finished_at: state === 'sent' ? null : DATE,
  });
  const { operations, history, provider_calls } = await at.inspect(id);
  expect(operations).toEqual([
    row('capture', first, '8.00', 'done'),
    row('refund', second, '3.00', 'done'),
    row('refund', third, '1.00', 'sent'),
  ]);
  const step = (event: string, from: string | null, to: string, actor: string) => ({ event, from, to, actor });
  expect(history.map(({ event, from, to, actor }: ReturnType<typeof step>) => ({ event, from, to, actor }))).toEqual([
    step('opened', null, 'PREPARE', 'merchant'),
    step('authorised', 'PREPARE', 'PENDING', 'provider'),
    step('requested capture', 'PENDING', 'PENDING', 'merchant'),
    step('captured', 'PENDING', 'SETTLED', 'provider'),
    step('requested refund', 'SETTLED', 'SETTLED', 'merchant'),
    step('partlyRefunded', 'SETTLED', 'SETTLED', 'provider'),
    step('requested refund', 'SETTLED', 'SETTLED', 'merchant'),
    step('unanswered refund', 'SETTLED', 'SETTLED', 'provider'),
  ]);
  expect(provider_calls.map(({ verb, outcome }: Record<string, string>) => `${verb}: ${outcome}`)).toEqual([
    'submit: authorised',
    'capture: done',
    'refund: done',
    'refund: no answer',
  ]);
});

test('every invariant holds in both shops', async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
  expect((await verifyAt(scripted.connection)).violations).toEqual([]);
});
