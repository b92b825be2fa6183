/** Test cards: the behaviour of each expiry, the validation of a card, and what is stored of it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CARDS } from '../../simulator/cards.ts';
import { newReference, startTestSimulator, type TestSimulator, waitUntil } from './test-simulator.ts';
import { cardNumber, VISA } from './three-ds.ts';

let simulator: TestSimulator;
beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterAll(() => simulator.close());

const card = (expiry: string, fields: Record<string, unknown> = {}) => {
  const [month, year] = expiry.split('/');
  return { number: VISA, month, year: `20${year}`, cvv: '123', holder: 'Ana Payer', ...fields };
};
const authenticated = (transStatus: string) => ({
  transStatus,
  eci: '05',
  authenticationValue: 'AAAAAAAAAAAAAAAAAAAAAAAAAAA=',
  dsTransID: '3bd2137d-08f1-4feb-ba50-3c2d4401c91a',
  protocolVersion: '2.2.0',
});
const pay = (expiry: string, fields: Record<string, unknown> = {}) =>
  simulator.submit({ brand: 'card', card: card(expiry), ...fields });

const BANK_DECLINED = 'Declined by the simulated bank.';
const AUTHENTICATION_REQUIRED = 'The bank wants to authenticate the payer first.';

/** The expected status or connection fault of each expiry, and the reason of a decline. */
const ROWS: Record<string, [expected: string, reason?: string]> = {
  '01/38': ['settled'],
  '02/38': ['declined', BANK_DECLINED],
  '03/38': ['settled'],
  '04/38': ['settled'],
  '05/38': ['declined', AUTHENTICATION_REQUIRED],
  '06/38': ['declined', AUTHENTICATION_REQUIRED],
  '07/38': ['settled'],
  '08/38': ['settled'],
  '09/38': ['declined', BANK_DECLINED],
  '10/38': ['settled'],
  '11/38': ['declined', BANK_DECLINED],
  '12/38': ['redirect'],
  '12/39': ['redirect'],
  '01/39': ['timeout_after'],
  '02/39': ['timeout_before'],
  '05/39': ['declined', AUTHENTICATION_REQUIRED],
  '06/39': ['declined', AUTHENTICATION_REQUIRED],
  '07/39': ['declined', AUTHENTICATION_REQUIRED],
  '08/39': ['declined', AUTHENTICATION_REQUIRED],
};
const CHALLENGED = Object.keys(ROWS).filter((expiry) => ROWS[expiry]?.[1] === AUTHENTICATION_REQUIRED);

test('the docs, the simulator and this test have the same expiries', async () => {
  const doc = await readFile(join(import.meta.dirname, '../../docs/three-ds.md'), 'utf8');
  const inDoc = [...doc.matchAll(/^\| `(\d\d\/\d\d)` \|/gm)].map(([, expiry]) => expiry);
  expect(inDoc).toEqual(Object.keys(ROWS));
  expect(Object.keys(CARDS)).toEqual(Object.keys(ROWS));
});

describe('a card without an authentication', () => {
  const answered = Object.entries(ROWS).filter(([, [expected]]) => !expected.startsWith('timeout'));

  test.each(answered)('%s: %j', async (expiry, [expected, reason]) => {
    const { status, body } = await pay(expiry);
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: expected, amount: '1000', currency: 'EUR', ...(reason && { reason }) });
    expect(await simulator.movements(body.reference)).toEqual(expected === 'settled' ? ['sale in 1000 EUR'] : []);
    expect((await simulator.query(body.reference)).body).toEqual(body);
    expect((await pay(expiry, { reference: body.reference })).body).toEqual(body);
  });

  test.each(['01/38', '04/38', '12/27', '03/39', '01/99'])('%s without capture is authorised', async (expiry) => {
    const { body } = await pay(expiry, { capture: false });
    expect(body.status).toBe('authorised');
    expect(await simulator.movements(body.reference)).toEqual([]);
  });

  test('01/39: the connection drops once, and the card is charged', async () => {
    const reference = newReference();
    await expect(pay('01/39', { reference })).rejects.toThrow();
    expect((await simulator.query(reference)).body.status).toBe('settled');
    expect((await pay('01/39', { reference })).body.status).toBe('settled');
    expect(await simulator.movements(reference)).toEqual(['sale in 1000 EUR']);
  });

  test('02/39: the connection drops, and the payment is unknown', async () => {
    const reference = newReference();
    for (let times = 0; times < 2; times++) await expect(pay('02/39', { reference })).rejects.toThrow();
    expect((await simulator.query(reference)).status).toBe(404);
  });

  test.each(['12/28', '05/40'])('%s is not in the table and succeeds with any number', async (expiry) => {
    for (const number of [VISA, '5555555555554444', '378282246310005', cardNumber('9', 12), cardNumber('6', 19)]) {
      expect((await pay(expiry, { card: card(expiry, { number }) })).body.status).toBe('settled');
    }
  });

  test('the same expiry in another century has no special behaviour', async () => {
    for (const year of ['2138', '2139', '9938'])
      expect((await pay('', { card: card('05/38', { year }) })).body.status).toBe('settled');
  });

  test.each(Object.keys(ROWS))('the number 4000000000000002 is declined with %s too', async (expiry) => {
    const fields = { card: card(expiry, { number: '4000000000000002' }), authentication: authenticated('Y') };
    expect((await pay(expiry, fields)).body).toMatchObject({ status: 'declined', reason: BANK_DECLINED });
  });

  test.each([
    ['4000000000009995', 'Insufficient funds.'],
    ['4000000000000127', 'The security code of the card is wrong.'],
  ])('the number %s is declined with a reason of its own', async (number, reason) => {
    expect((await pay('01/38', { card: card('01/38', { number }) })).body).toMatchObject({
      status: 'declined',
      reason,
    });
  });

  test('decline@example.com is declined', async () => {
    expect((await pay('01/38', { identifier: 'decline@example.com' })).body.status).toBe('declined');
  });
});

describe('a card that requires authentication', () => {
  test.each(CHALLENGED)('%s: only some authentication results are accepted', async (expiry) => {
    const statuses: Record<string, string> = {};
    for (const transStatus of ['Y', 'A', 'I', 'U', 'N', 'R', 'C', '', 'YES']) {
      statuses[transStatus] = (await pay(expiry, { authentication: authenticated(transStatus) })).body.status;
    }
    const [yes, no] = ['settled', 'declined'];
    expect(statuses).toEqual({ Y: yes, A: yes, I: yes, U: yes, N: no, R: no, C: no, '': no, YES: no });
  });

  test.each(CHALLENGED)('%s: a recurring payment needs no authentication and no security code', async (expiry) => {
    const { cvv: _cvv, ...without } = card(expiry);
    expect((await pay(expiry, { card: without, recurring: true })).body.status).toBe('settled');
    expect((await pay(expiry, { card: without, recurring: 'yes' })).body.status).toBe('declined');
  });

  test('a declined card is also declined in a recurring payment', async () => {
    for (const expiry of ['02/38', '09/38', '11/38'])
      expect((await pay(expiry, { recurring: true })).body.status).toBe('declined');
  });
});

describe('validation of a card', () => {
  const now = new Date();
  const lastMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1));
  const parts = (date: Date) => ({
    month: String(date.getUTCMonth() + 1).padStart(2, '0'),
    year: String(date.getUTCFullYear()),
  });

  test.each([
    [{ number: '4111111111111112' }, 'The card number is not valid.'],
    [{ number: cardNumber('4', 11) }, 'The card number is not valid.'],
    [{ number: cardNumber('4', 20) }, 'The card number is not valid.'],
    [{ number: '4111 1111 1111 1111' }, 'The card number is not valid.'],
    [{ number: '' }, 'The card number is not valid.'],
    [{ number: 4111111111111111 }, 'The card number is not valid.'],
    [{ number: undefined }, 'The card number is not valid.'],
    [{ month: '00' }, 'The expiry date of the card is not valid.'],
    [{ month: '13' }, 'The expiry date of the card is not valid.'],
    [{ month: '5' }, 'The expiry date of the card is not valid.'],
    [{ month: 5 }, 'The expiry date of the card is not valid.'],
    [{ year: '38' }, 'The expiry date of the card is not valid.'],
    [{ year: '20388' }, 'The expiry date of the card is not valid.'],
    [{ year: '2020' }, 'The card has expired.'],
    [parts(lastMonth), 'The card has expired.'],
  ])('%j: %s', async (fields, reason) => {
    const { status, body } = await pay('', { card: card('01/38', fields) });
    expect([status, body]).toEqual([200, expect.objectContaining({ status: 'declined', reason })]);
    expect(await simulator.details(body.reference)).not.toHaveProperty('card');
  });

  test('a card is valid until the end of its expiry month', async () => {
    expect((await pay('', { card: card('01/38', parts(now)) })).body.status).toBe('settled');
  });

  test('an invalid card is declined without a connection fault', async () => {
    const { body } = await pay('', { card: card('01/39', { year: '39' }) });
    expect(body.status).toBe('declined');
  });

  test.each([[undefined], [null], ['4111111111111111'], [[]]])('a card that is %j is refused', async (value) => {
    const { status, body } = await pay('', { card: value });
    expect([status, body]).toEqual([400, { error: 'card is not valid.' }]);
  });

  test('an authentication that is not an object is refused', async () => {
    expect(await pay('01/38', { authentication: 'Y' })).toEqual({
      status: 400,
      body: { error: 'authentication is not valid.' },
    });
  });

  test('the card of another brand is ignored', async () => {
    expect((await simulator.submit({ card: 'something else' })).body.status).toBe('settled');
  });
});

describe('operations on a card payment', () => {
  test('a card payment can be captured, refunded and voided', async () => {
    const { reference } = (await pay('01/38', { capture: false })).body;
    expect((await simulator.operate(reference, 'capture', 'c', '900')).body.status).toBe('done');
    expect((await simulator.operate(reference, 'refund', 'r', '400')).body.status).toBe('done');
    expect((await simulator.operate(reference, 'refund', 'r2', '501')).body.status).toBe('declined');
    expect(await simulator.movements(reference)).toEqual(['capture in 900 EUR', 'refund out 400 EUR']);
    const other = (await pay('01/38', { capture: false })).body.reference;
    expect((await simulator.operate(other, 'void', 'v')).body.status).toBe('done');
    expect((await simulator.query(other)).body.status).toBe('voided');
  });

  test('03/38 refuses every capture and can be voided', async () => {
    const { body } = await pay('03/38', { capture: false });
    expect(body.status).toBe('authorised');
    for (const operation of ['c1', 'c2', 'c1']) {
      expect((await simulator.operate(body.reference, 'capture', operation, '500')).body).toEqual({
        operation,
        status: 'declined',
        amount: '500',
        reason: 'The simulated bank refuses the capture.',
      });
    }
    expect((await simulator.query(body.reference)).body.status).toBe('authorised');
    expect((await simulator.operate(body.reference, 'void', 'v')).body.status).toBe('done');
    expect((await simulator.operate(body.reference, 'capture', 'c3', '500')).body.reason).toBe(
      'Only an authorised payment can be captured.',
    );
    expect(await simulator.movements(body.reference)).toEqual([]);
  });

  test('03/38 with capture settles and can be refunded', async () => {
    const { reference } = (await pay('03/38')).body;
    expect((await simulator.operate(reference, 'refund', 'r', '1000')).body.status).toBe('done');
  });

  test('a fault that was set has priority over the behaviour of the card', async () => {
    const fault = (await simulator.setFault('error_500', { brand: 'card' })).status;
    expect([fault, (await pay('01/39')).status]).toEqual([200, 500]);
  });

  test('a payout to a card needs no authentication', async () => {
    for (const fields of [{ card: card('05/38') }, { card: card('12/38') }, { card: undefined }]) {
      const { body } = await simulator.submit({ brand: 'card', direction: 'out', ...fields });
      expect(body.status).toBe('pending');
      await waitUntil(async () => (await simulator.query(body.reference)).body.status === 'settled');
    }
    const { body } = await simulator.submit({ brand: 'card', direction: 'out', card: card('02/38') });
    expect(body.status).toBe('declined');
  });
});

describe('the page of the acquirer', () => {
  test.each([
    ['12/38', 'approve', 'settled'],
    ['12/38', 'decline', 'settled'],
    ['12/39', 'approve', 'declined'],
    ['12/39', 'decline', 'declined'],
  ])('%s, the payer chooses %s: %s', async (expiry, decision, expected) => {
    const { body } = await pay(expiry);
    const page = await (await fetch(body.redirect.url)).text();
    expect(page).toContain(`whatever you choose`);
    expect(page).toContain('•••• 1111');
    expect((await simulator.decide(body.redirect.url, { decision })).status).toBe(303);
    await waitUntil(() => simulator.receiver.forPayment(body.reference).length === 1);
    expect(simulator.receiver.forPayment(body.reference)[0]).toMatchObject({
      isSigned: true,
      body: { type: 'payment', status: expected },
    });
    const after = (await simulator.query(body.reference)).body;
    expect(after).toMatchObject({ status: expected, ...(expected === 'declined' && { reason: BANK_DECLINED }) });
    expect(await simulator.movements(body.reference)).toEqual(expected === 'settled' ? ['sale in 1000 EUR'] : []);
  });

  test('without capture the amount is authorised', async () => {
    const { body } = await pay('12/38', { capture: false });
    await simulator.decide(body.redirect.url, { decision: 'approve' });
    expect((await simulator.query(body.reference)).body.status).toBe('authorised');
  });

  test('leaving the page keeps the payment open', async () => {
    const { body } = await pay('12/39');
    await simulator.decide(body.redirect.url, { decision: 'leave' });
    expect((await simulator.query(body.reference)).body.status).toBe('redirect');
  });
});

test('only the first six digits, the last four digits and the expiry are stored, visible in the control API only', async () => {
  const { body } = await pay('01/38');
  expect(Object.keys(body)).toEqual(['id', 'reference', 'status', 'amount', 'currency']);
  expect((await simulator.details(body.reference)).card).toEqual({ first6: '411111', last4: '1111', expiry: '01/38' });
});
