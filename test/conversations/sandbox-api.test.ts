/** The sandbox API: who may control the provider simulator, what each command does, and that production has none. */
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/lib/crypto/id.ts';
import { Deadline } from '../../src/lib/time/deadline.ts';
import { BRAND_EXPECTATIONS } from '../support/brand-expectations.ts';
import { cardSalesOf } from '../support/dialect.ts';
import { UNKNOWN_ROUTE } from '../support/entries.ts';
import { ADMIN_TOKEN, type Fields, type Merchant, openShop, saleFields, startTestGateway } from '../support/gateway.ts';
import { testSubmission } from '../support/submissions.ts';

const shop = openShop({ simulator: true });

const NOT_A_CHOICE = 'The value you selected is not a valid choice.';
const sale = async (brand: string, merchant: Merchant = shop.merchant, fields: Fields = {}) =>
  (await shop.post(saleFields(merchant, { brand, identifier: '', ...BRAND_EXPECTATIONS[brand]?.complete, ...fields })))
    .body;
const control = (id: string, body: unknown) => shop.sandbox('POST', `/payments/${id}`, body);
const messages = (body: { errors: { error_message: string }[] }): string[] =>
  body.errors.map((error) => error.error_message);

/** Every call of the API. */
const CALLS = (id: string): [string, string, unknown][] => [
  ['POST', `/payments/${id}`, { chargeback: true }],
  ['POST', '/faults', { mode: 'error_500' }],
  ['GET', '/faults', undefined],
  ['GET', '/ledger', undefined],
];

describe('authorisation', () => {
  test.each([
    ['no token', ''],
    ['a wrong token', `${ADMIN_TOKEN.slice(0, -1)}x`],
    ['a part of the token', ADMIN_TOKEN.slice(0, 20)],
  ])('%s: 401, and nothing changes', async (_, token) => {
    const { trans_id } = await sale('ips');
    for (const [method, path, body] of CALLS(trans_id)) {
      const answer = await shop.sandbox(method, path, body, token);
      expect([method, path, answer.status]).toEqual([method, path, 401]);
      expect(answer.body).toMatchObject({ result: 'ERROR', error_code: 100000, errors: [{ param: 'authorization' }] });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    expect((await shop.status(trans_id)).body).toMatchObject({ status: 'PENDING' });
    expect((await shop.sandbox('GET', '/faults')).body).toEqual({ faults: [] });
  });

  test('none of these paths exist in production', async () => {
    const production = await startTestGateway({ environment: 'production' });
    try {
      for (const token of [ADMIN_TOKEN, '']) {
        for (const [method, path, body] of CALLS(newId())) {
          const answer = await production.sandbox(method, path, body, token);
          expect([path, answer.status]).toEqual([path, 404]);
          expect(answer.body).toEqual(UNKNOWN_ROUTE);
        }
      }
    } finally {
      await production.close();
    }
  });

  test('refuses every call when no provider simulator runs', async () => {
    const alone = await startTestGateway();
    try {
      const { body } = await alone.sale();
      for (const [method, path, command] of CALLS(body.trans_id)) {
        const answer = await alone.sandbox(method, path, command);
        expect([path, answer.status, answer.body.error_code]).toEqual([path, 400, 204005]);
      }
    } finally {
      await alone.close();
    }
  });
});

describe('a command for a payment', () => {
  test.each([
    ['a random id', newId()],
    ['a malformed id', 'nonsense'],
    ['an SQL injection', "'; drop table payments; --"],
  ])('%s: 404', async (_, id) => {
    const { status, body } = await control(encodeURIComponent(id), { provider_status: 'executed' });
    expect(status).toBe(404);
    expect(body).toMatchObject({ error_code: 101000, error_message: 'Payment does not exist.', errors: [] });
  });

  test('a payment whose payer still has to fill in fields is not at the provider: 404', async () => {
    const { trans_id } = await sale('upi-a', shop.merchant, { 'parameters[personal_id]': '' });
    expect((await control(trans_id, { provider_status: 'executed' })).status).toBe(404);
    expect((await shop.inspect(trans_id)).status).toBe('REDIRECT');
  });

  const ONE_OF =
    'body: The body should have one of provider_status, bank_callback, chargeback, chargeback_reversed, second_chargeback.';
  test.each<[unknown, string]>([
    [{ provider_status: 'done' }, `provider_status: ${NOT_A_CHOICE}`],
    [{ provider_status: 'EXECUTED' }, `provider_status: ${NOT_A_CHOICE}`],
    [{ provider_status: 7 }, `provider_status: ${NOT_A_CHOICE}`],
    [{ provider_status: ['executed'] }, `provider_status: ${NOT_A_CHOICE}`],
    [{ bank_callback: 'acsc' }, `bank_callback: ${NOT_A_CHOICE}`],
    [{ bank_callback: 'ACSCX' }, `bank_callback: ${NOT_A_CHOICE}`],
    [{ bank_callback: '' }, `bank_callback: ${NOT_A_CHOICE}`],
    [{ chargeback: false }, `chargeback: ${NOT_A_CHOICE}`],
    [{ chargeback: 'true' }, `chargeback: ${NOT_A_CHOICE}`],
    [{ refund: true }, 'refund: This value does not exist.'],
    [{ provider_status: 'executed', colour: 'red' }, 'colour: This value does not exist.'],
    [{ constructor: 'executed' }, 'constructor: This value does not exist.'],
    [{}, ONE_OF],
    [{ provider_status: null }, ONE_OF],
    [{ provider_status: 'executed', bank_callback: 'RJCT' }, ONE_OF],
    [['executed'], 'body: The body should be a JSON object.'],
    ['executed', 'body: The body should be a JSON object.'],
    [undefined, 'body: The body should be a JSON object.'],
  ])('%j: 400, “%s”', async (command, message) => {
    const { trans_id } = await sale('ips');
    const { status, body } = await control(trans_id, command);
    expect(status).toBe(400);
    expect(body).toMatchObject({ result: 'ERROR', error_code: 100000, error_message: 'Request data is invalid.' });
    expect(messages(body)).toEqual([message]);
    expect((await shop.status(trans_id)).body).toMatchObject({ status: 'PENDING' });
  });

  test('names all invalid members', async () => {
    const { trans_id } = await sale('ips');
    const { body } = await control(trans_id, { provider_status: 'done', chargeback: 1, colour: 'red' });
    expect(messages(body)).toEqual([
      `provider_status: ${NOT_A_CHOICE}`,
      `chargeback: ${NOT_A_CHOICE}`,
      'colour: This value does not exist.',
    ]);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['provider_status', { provider_status: 'executed' }, 'SETTLED'],
    ['provider_status', { provider_status: 'rejected' }, 'DECLINED'],
    ['provider_status', { provider_status: 'pending' }, 'PENDING'],
    ['bank_callback', { bank_callback: 'ACSC' }, 'SETTLED'],
    ['bank_callback', { bank_callback: 'RJCT' }, 'DECLINED'],
    ['bank_callback', { bank_callback: 'PDNG' }, 'PENDING'],
  ])('%s %j leads to %s', async (_, command, expected) => {
    const { trans_id } = await sale('ips');
    const { status, body } = await control(trans_id, command);
    expect(status).toBe(200);
    expect(body).toMatchObject({ result: 'SUCCESS', payment: { reference: trans_id, brand: 'ips', direction: 'in' } });
    expect((await shop.status(trans_id)).body).toMatchObject({ status: expected });
  });

  test('takes effect before the call is answered, including the notification', async () => {
    const { trans_id } = await sale('upi-b');
    await control(trans_id, { provider_status: 'executed' });
    expect((await shop.inspect(trans_id)).status).toBe('SETTLED');
    await control(trans_id, { chargeback: true });
    expect((await shop.inspect(trans_id)).status).toBe('CHARGEBACK');
  });

  test.each<[string, Record<string, unknown>[], string]>([
    [
      'a decline of a settled payment',
      [{ provider_status: 'executed' }, { provider_status: 'rejected' }],
      'provider_status',
    ],
    ['a chargeback of a payment that is not settled', [{ chargeback: true }], 'chargeback'],
    [
      'a second chargeback',
      [{ provider_status: 'executed' }, { chargeback: true }, { chargeback: true }],
      'chargeback',
    ],
  ])('refuses what contradicts the state: %s', async (_, commands, member) => {
    const { trans_id } = await sale('upi-b');
    for (const command of commands.slice(0, -1)) expect((await control(trans_id, command)).status).toBe(200);
    const { status, body } = await control(trans_id, commands.at(-1));
    expect(status).toBe(400);
    expect(messages(body)).toEqual([expect.stringMatching(new RegExp(`^${member}: \\S`))]);
  });

  test('the test brand, which has no provider, accepts a chargeback only', async () => {
    const { body } = await shop.sale();
    expect((await control(body.trans_id, { provider_status: 'rejected' })).status).toBe(400);
    expect((await shop.inspect(body.trans_id)).status).toBe('SETTLED');
    expect((await control(body.trans_id, { chargeback: true })).status).toBe(200);
    expect((await shop.inspect(body.trans_id)).status).toBe('CHARGEBACK');
  });
});

describe('faults', () => {
  test.each<[unknown, string]>([
    [{}, 'mode: This value should not be blank.'],
    [{ mode: null }, 'mode: This value should not be blank.'],
    [{ mode: 'explode' }, `mode: ${NOT_A_CHOICE}`],
    [{ mode: ['none'] }, `mode: ${NOT_A_CHOICE}`],
    [{ mode: 'error_500', count: 0 }, `count: ${NOT_A_CHOICE}`],
    [{ mode: 'error_500', count: -1 }, `count: ${NOT_A_CHOICE}`],
    [{ mode: 'error_500', count: 1.5 }, `count: ${NOT_A_CHOICE}`],
    [{ mode: 'error_500', count: '2' }, `count: ${NOT_A_CHOICE}`],
    [{ mode: 'error_500', count: 1e9 }, `count: ${NOT_A_CHOICE}`],
    [{ mode: 'error_500', mid: 'me' }, `mid: ${NOT_A_CHOICE}`],
    [{ mode: 'error_500', brand: 'nothing' }, `brand: ${NOT_A_CHOICE}`],
    [{ mode: 'error_500', brand: 'constructor' }, `brand: ${NOT_A_CHOICE}`],
    [{ mode: 'error_500', when: 'now' }, 'when: This value does not exist.'],
    [[], 'body: The body should be a JSON object.'],
  ])('%j: 400, “%s”', async (fault, message) => {
    const { status, body } = await shop.sandbox('POST', '/faults', fault);
    expect(status).toBe(400);
    expect(messages(body)).toEqual([message]);
    expect((await shop.sandbox('GET', '/faults')).body).toEqual({ faults: [] });
  });

  test('are listed with their remaining count, and deleted by the mode none', async () => {
    const mid = shop.merchant.mid;
    const set = await shop.sandbox('POST', '/faults', { mode: 'error_500', mid, brand: 'ips', count: 3 });
    expect(set.status).toBe(200);
    const fault = { id: expect.any(Number), mid, brand: 'ips', mode: 'error_500', left: 3, code: null, advice: null };
    expect(set.body).toEqual({ result: 'SUCCESS', faults: [fault] });
    await sale('ips');
    expect((await shop.sandbox('GET', '/faults')).body).toEqual({
      faults: [{ ...fault, left: 2, code: null, advice: null }],
    });
    const none = await shop.sandbox('POST', '/faults', { mode: 'none' });
    expect(none.body).toEqual({ result: 'SUCCESS', faults: [] });
    expect(await sale('ips')).toMatchObject({ result: 'SUCCESS', status: 'PENDING' });
  });

  test('apply to cards alone', async () => {
    const merchant = await shop.newMerchant({ dialect: { card_sales: true } });
    const fault = { mode: 'decline', mid: merchant.mid, brand: 'card', count: 1 };
    expect((await shop.sandbox('POST', '/faults', fault)).body).toMatchObject({ faults: [{ brand: 'card', left: 1 }] });
    expect(await sale('pin-a', merchant)).toMatchObject({ result: 'SUCCESS' });
    const sell = cardSalesOf(shop, () => merchant);
    expect((await sell()).body.status).toBe('DECLINED');
    expect((await sell()).body.status).toBe('SETTLED');
  });

  test.each(['pin-a', 'vcard'])(
    'apply to the account, the brand and the number of calls that were requested: %s',
    async (brand) => {
      const [meant, other] = [await shop.newMerchant(), await shop.newMerchant()];
      const isSpared = async (whose: Merchant, which = brand): Promise<boolean> =>
        (await sale(which, whose)).result === 'SUCCESS';
      await shop.sandbox('POST', '/faults', { mode: 'error_500', mid: meant.mid, brand, count: 2 });
      expect(await isSpared(other)).toBe(true);
      expect(await isSpared(meant, brand === 'vcard' ? 'pin-a' : 'vcard')).toBe(true);
      expect(await isSpared(meant)).toBe(false);
      expect(await isSpared(other)).toBe(true);
      expect(await isSpared(meant)).toBe(false);
      expect(await isSpared(meant)).toBe(true);
      await shop.sandbox('POST', '/faults', { mode: 'none' });
    },
  );

  test.each(['pin-a', 'vcard'])('several are applied in order: %s', async (brand) => {
    const merchant = await shop.newMerchant();
    await shop.sandbox('POST', '/faults', { mode: 'timeout_before', mid: merchant.mid });
    await shop.sandbox('POST', '/faults', { mode: 'error_500', mid: merchant.mid });
    const results: string[] = [];
    for (let times = 0; times < 3; times++) results.push((await sale(brand, merchant)).result);
    expect(results).toEqual(['UNDEFINED', 'UNDEFINED', 'SUCCESS']);
    await shop.sandbox('POST', '/faults', { mode: 'none' });
  });

  test('apply to every process of the installation', async () => {
    const other = await shop.anotherGateway();
    const submission = testSubmission({
      brand: 'vcard',
      mid: shop.merchant.mid,
      currency: 'USD',
      identifier: 'success@example.com',
      notifyUrl: `${shop.url}/inbound/vcard`,
      setting: () => ['success@example.com'],
    });
    const call = async (): Promise<string> =>
      Promise.resolve(other.connectors.vcard?.submit(submission, new Deadline(5000))).then(
        (outcome) => outcome?.kind ?? 'nothing',
        () => 'dead',
      );
    expect(await call()).toBe('settled');
    await shop.sandbox('POST', '/faults', { mode: 'timeout_before', brand: 'vcard', count: 1 });
    await expect.poll(call).toBe('dead');
    expect(await call()).toBe('settled');
  });
});

describe('the ledger', () => {
  test('lists every movement once, in order, and can be continued from any position', async () => {
    const start = (await shop.sandbox('GET', '/ledger')).body.items.at(-1)?.id ?? 0;
    const { trans_id: first } = await sale('pin-a');
    const { trans_id: second } = await sale('upi-b');
    await control(second, { provider_status: 'executed' });
    await control(second, { chargeback: true });
    const { status, body } = await shop.sandbox('GET', `/ledger?after=${start}`);
    expect(status).toBe(200);
    const common = { id: expect.any(Number), operation: '', mid: shop.merchant.mid, amount: '1000', currency: 'USD' };
    expect(body).toEqual({
      items: [
        { ...common, reference: first, brand: 'pin-a', kind: 'sale', direction: 'in', at: expect.any(Number) },
        { ...common, reference: second, brand: 'upi-b', kind: 'sale', direction: 'in', at: expect.any(Number) },
        { ...common, reference: second, brand: 'upi-b', kind: 'chargeback', direction: 'out', at: expect.any(Number) },
      ],
      next: null,
    });
    const rest = await shop.sandbox('GET', `/ledger?after=${body.items[1].id}`);
    expect(rest.body.items).toEqual([body.items[2]]);
    expect((await shop.sandbox('GET', '/ledger?after=999999999')).body).toEqual({ items: [], next: null });
  });

  test.each(['x', '-1', '1.5', "1' or 1=1"])('after %s is refused, and the member named', async (after) => {
    const { status, body } = await shop.sandbox('GET', `/ledger?after=${encodeURIComponent(after)}`);
    expect(status).toBe(400);
    expect(messages(body)).toEqual([expect.stringMatching(/^after: \S/)]);
  });

  test('contains no payment of the test brand', async () => {
    const { body } = await shop.sale();
    const { items } = (await shop.sandbox('GET', '/ledger')).body;
    expect(items.map((item: { reference: string }) => item.reference)).not.toContain(body.trans_id);
  });
});

test('what the API changes in the sandbox is in the audit log, as what the panel changes', async () => {
  const merchant = await shop.newMerchant();
  const { mid } = merchant;
  const { trans_id } = await sale('ips', merchant);
  expect((await control(trans_id, { provider_status: 'executed' })).status).toBe(200);
  await shop.sandbox('POST', '/faults', { mid, mode: 'none' });
  await shop.sandbox('POST', `/callbacks/${mid}`, { answer: 500 });
  await shop.sandbox('DELETE', `/callbacks/${mid}`);
  await shop.advanceClock(60, mid);
  const entry = async (action: string) =>
    (await shop.admin('GET', `/audit?action=${action}`)).body.items
      .filter((item: { mid: string }) => item.mid === mid)
      .map(({ subject, after }: { subject: string; after: object }) => [subject, after]);
  expect(await entry('sandbox.bank')).toEqual([[trans_id, { provider_status: 'executed' }]]);
  expect(await entry('sandbox.fault')).toEqual([['none', {}]]);
  expect(await entry('sandbox.set_answer')).toEqual([[null, { status: 500, count: 1 }]]);
  expect(await entry('sandbox.clear_inbox')).toEqual([[null, { deleted: expect.any(Number) }]]);
  expect(await entry('sandbox.clock')).toEqual([[null, { seconds: 60 }]]);
});
