/** Recurring sales: the pair that names the first payment, the data that is copied from it, and the refusals. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Submission } from '../../src/connectors/connector.ts';
import { createVcard } from '../../src/connectors/vcard.ts';
import { newId } from '../../src/lib/crypto/id.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { BLANK, BRAND_EXPECTATIONS, INVALID, NOT_A_CHOICE, NOT_URL, tooLong } from '../support/brand-expectations.ts';
import { entryOf } from '../support/entries.ts';
import {
  type Answer,
  DATE,
  type Fields,
  type Merchant,
  newOrderId,
  openShop,
  sign,
  UUID_7,
} from '../support/gateway.ts';

/** Every request to the provider of the wallets and of the other brands. */
const submissions: Submission[] = [];
const upstream = {
  ...createVcard(),
  submit: (submission: Submission) => {
    submissions.push(submission);
    return { kind: 'settled' } as const;
  },
};

const shop = openShop({ connectors: { vcard: createVcard(), upstream } });

const DAY = 86_400;
const NOT_POSITIVE = 'This value should be greater than 0.';

const refused = (error_message: string, ...entries: string[]) => ({
  status: 400,
  body: {
    result: 'ERROR',
    error_code: 100000,
    error_message,
    errors: entries.map((entry) => entryOf(entry)),
  },
});
const invalid = (...entries: string[]) => refused('Request data is invalid.', ...entries);
const INCORRECT = refused('Incorrect transaction');
const DUPLICATE = refused('order_id: Duplicate payment.', 'order_id: Duplicate payment.');
const answered = ({ status, body }: Answer) => ({ status, body });

interface First {
  trans_id: string;
  recurring_token: string;
  order_id: string;
}

/** A first payment that may be repeated. */
async function first(fields: Fields = {}, merchant: Merchant = shop.merchant): Promise<First> {
  const { body } = await shop.sale({ recurring_init: 'Y', ...fields }, merchant);
  expect(body).toMatchObject({ result: 'SUCCESS', recurring_token: expect.any(String) });
  return body;
}

/** A signed RECURRING_SALE of it, with these fields in place of the defaults; an empty one is not sent. */
function repeatFields(of: Partial<First>, fields: Fields = {}, merchant: Merchant = shop.merchant): Fields {
  const sale: Fields = {
    action: 'RECURRING_SALE',
    client_key: merchant.client_key,
    order_id: newOrderId(),
    order_amount: '10.00',
    order_description: 'Another month',
    recurring_first_trans_id: of.trans_id ?? '',
    recurring_token: of.recurring_token ?? '',
    ...fields,
  };
  const whole = { ...sale, hash: fields.hash ?? sign(merchant.password, sale.order_id ?? '') };
  return Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== ''));
}
const repeat = (of: Partial<First>, fields?: Fields, merchant?: Merchant): Promise<Answer> =>
  shop.post(repeatFields(of, fields, merchant));

const paymentsOf = async ({ mid }: Merchant): Promise<Answer['body'][]> =>
  (await shop.admin('GET', `/payments?mid=${mid}`)).body.items;

describe('the first payment', () => {
  test('recurring_init=Y: a success returns a token, in the response and in every status', async () => {
    const { body } = await shop.sale({ recurring_init: 'Y' });
    expect(body).toMatchObject({ status: 'SETTLED', recurring_token: expect.stringMatching(/^[0-9a-f]{32,}$/) });
    expect((await shop.status(body.trans_id)).body.recurring_token).toBe(body.recurring_token);
    const byOrder = await shop.post({
      action: 'GET_TRANS_STATUS_BY_ORDER',
      client_key: shop.merchant.client_key,
      order_id: body.order_id,
      hash: sign(shop.merchant.password, body.order_id),
    });
    expect(byOrder.body.recurring_token).toBe(body.recurring_token);
  });

  test('an authorisation returns one too, and keeps it when it is captured', async () => {
    const { trans_id, recurring_token } = await first({ auth: 'Y' });
    const captured = await shop.post({
      action: 'CAPTURE',
      client_key: shop.merchant.client_key,
      trans_id,
      hash: sign(shop.merchant.password, trans_id),
    });
    expect(captured.body).toMatchObject({ result: 'SUCCESS', status: 'SETTLED' });
    expect((await shop.status(trans_id)).body).toMatchObject({ status: 'SETTLED', recurring_token });
  });

  test('each has its own token', async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, async () => (await first()).recurring_token));
    expect(new Set(tokens).size).toBe(20);
  });

  test.each<[string, Fields]>([
    ['without recurring_init', {}],
    ['recurring_init=N', { recurring_init: 'N' }],
    ['a decline', { recurring_init: 'Y', identifier: 'decline@example.com' }],
  ])('%s: no token', async (_, fields) => {
    const { body } = await shop.sale(fields);
    expect(body).not.toHaveProperty('recurring_token');
    expect((await shop.status(body.trans_id)).body).not.toHaveProperty('recurring_token');
  });

  test.each(['y', '1', 'true', 'Yes', ' Y'])('refuses recurring_init=%j', async (recurring_init) => {
    expect(answered(await shop.sale({ recurring_init }))).toEqual(invalid(`recurring_init: ${NOT_A_CHOICE}`));
  });
});

describe('which brands support it', () => {
  /** `wallets.test.ts` has the recurring sales of wallets. */
  const RECUR = ['vcard', 'wallet-a', 'wallet-b'];
  const others = Object.keys(BRAND_EXPECTATIONS).filter((brand) => !RECUR.includes(brand));
  let merchant: Merchant;
  beforeAll(async () => {
    const settings = Object.values(BRAND_EXPECTATIONS).map((expected) => expected.settings);
    merchant = await shop.newMerchant(Object.assign({}, ...settings));
  });
  const complete = (brand: string): Fields => ({ brand, ...BRAND_EXPECTATIONS[brand]?.complete });

  test.each(others)('%s does not: refuses recurring_init=Y and claims no order', async (brand) => {
    const fields = { ...complete(brand), recurring_init: 'Y', order_id: newOrderId() };
    expect(answered(await shop.sale(fields, merchant))).toEqual(invalid(`recurring_init: ${NOT_A_CHOICE}`));
    const { status } = await shop.sale({ ...fields, recurring_init: 'N' }, merchant);
    expect(status).toBe(200);
  });
});

describe('a recurring sale', () => {
  test('answers like a sale, with exactly these fields', async () => {
    const paid = await first();
    const fields = repeatFields(paid, { order_amount: '12.34' });
    const { status, body } = await shop.post(fields);
    expect(status).toBe(200);
    expect(body).toEqual({
      action: 'RECURRING_SALE',
      result: 'SUCCESS',
      status: 'SETTLED',
      order_id: fields.order_id,
      trans_id: expect.stringMatching(UUID_7),
      trans_date: expect.stringMatching(DATE),
      descriptor: 'Test Shop',
      amount: '12.34',
      currency: 'USD',
    });
    expect(body.trans_id).not.toBe(paid.trans_id);
    expect((await shop.status(body.trans_id)).body).toEqual({
      action: 'GET_TRANS_STATUS',
      result: 'SUCCESS',
      status: 'SETTLED',
      order_id: fields.order_id,
      trans_id: body.trans_id,
      amount: '12.34',
      currency: 'USD',
    });
  });

  test('leaves the first payment unchanged, and can be repeated any number of times', async () => {
    const merchant = await shop.newMerchant();
    const paid = await first({}, merchant);
    const before = await shop.inspect(paid.trans_id);
    for (const order_amount of ['1.00', '2000.00', '0.01']) {
      expect((await repeat(paid, { order_amount }, merchant)).body).toMatchObject({
        status: 'SETTLED',
        amount: order_amount,
      });
    }
    expect(await shop.inspect(paid.trans_id)).toEqual(before);
    expect(await paymentsOf(merchant)).toHaveLength(4);
  });

  test('copies the payer, and has its own description', async () => {
    const paid = await first({
      payer_first_name: 'Ada',
      payer_email: 'ada@shop.example',
      callback_url: 'https://shop.example/news',
      'custom_data[plan]': 'gold',
    });
    const { body } = await repeat(paid);
    expect((await shop.inspect(body.trans_id)).details).toMatchObject({
      description: 'Another month',
      payer: { first_name: 'Ada', email: 'ada@shop.example', ip: '203.0.113.7' },
      callback_url: 'https://shop.example/news',
      custom_data: { plan: 'gold' },
      recurring_init_trans_id: paid.trans_id,
    });
  });

  test('may have its own return address for 3DS', async () => {
    const paid = await first({ term_url_3ds: 'https://shop.example/old' });
    const own = await repeat(paid, { term_url_3ds: 'https://shop.example/new' });
    expect((await shop.inspect(own.body.trans_id)).details.term_url_3ds).toBe('https://shop.example/new');
    const same = await repeat(paid);
    expect((await shop.inspect(same.body.trans_id)).details.term_url_3ds).toBe('https://shop.example/old');
  });

  test('auth=Y: PENDING, and captured later', async () => {
    const { body } = await repeat(await first(), { auth: 'Y', order_amount: '25.00' });
    expect(body).toMatchObject({ result: 'SUCCESS', status: 'PENDING', amount: '25.00' });
    const captured = await shop.post({
      action: 'CAPTURE',
      client_key: shop.merchant.client_key,
      trans_id: body.trans_id,
      amount: '20.00',
      hash: sign(shop.merchant.password, body.trans_id),
    });
    expect(captured.body).toMatchObject({ result: 'SUCCESS', status: 'SETTLED', amount: '20.00' });
  });

  test('does not copy auth: after an authorised first payment, the next one is settled', async () => {
    const paid = await first({ auth: 'Y' });
    expect((await repeat(paid)).body.status).toBe('SETTLED');
    expect((await repeat(paid, { auth: 'N' })).body.status).toBe('SETTLED');
  });

  test('is declined while the card is invalid, and a new order is paid when it is valid again', async () => {
    const merchant = await shop.newMerchant();
    const paid = await first({}, merchant);
    const settings = (success: string[], decline: string[]) =>
      shop.admin('PATCH', `/accounts/${merchant.mid}`, { 'vcard.success': success, 'vcard.decline': decline });
    await settings(['other@example.com'], ['success@example.com']);
    const { status, body } = await repeat(paid, {}, merchant);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      action: 'RECURRING_SALE',
      result: 'DECLINED',
      status: 'DECLINED',
      decline_reason: expect.any(String),
    });
    await settings(['success@example.com'], ['decline@example.com']);
    expect((await repeat(paid, {}, merchant)).body).toMatchObject({ result: 'SUCCESS', status: 'SETTLED' });
  });
});

describe('amount and currency', () => {
  /** The amount of a first payment in each currency. */
  const AMOUNTS: Fields = { USD: '10.00', EUR: '10.00', JPY: '100', KWD: '1.234' };
  const firstIn = (order_currency: string): Promise<First> =>
    first({ order_currency, order_amount: AMOUNTS[order_currency] as string });

  test.each<[first: string, amount: string, own: string, captured: string]>([
    ['EUR', '7.50', '', '7.50'],
    ['JPY', '250', '', '250.00'],
    ['JPY', '250.00', '', '250.00'],
    ['KWD', '0.001', '', '0.001'],
    ['KWD', '2.50', '', '2.500'],
    ['USD', '3.00', 'EUR', '3.00'],
    ['USD', '300', 'JPY', '300.00'],
    ['JPY', '3.50', 'USD', '3.50'],
    ['JPY', '0.005', 'KWD', '0.005'],
  ])('after a first payment in %s: charges %s %s', async (before, order_amount, order_currency, captured) => {
    const { status, body } = await repeat(await firstIn(before), { order_amount, order_currency });
    expect(status).toBe(200);
    const charged = { amount: order_amount, currency: order_currency || before };
    expect(body).toMatchObject({ status: 'SETTLED', ...charged });
    expect((await shop.status(body.trans_id)).body).toMatchObject(charged);
    expect(await shop.inspect(body.trans_id)).toMatchObject({ ...charged, captured });
  });

  test.each<[first: string, amount: string, own: string, sentence: string]>([
    ['USD', '10', '', INVALID],
    ['USD', '10.005', '', INVALID],
    ['USD', '0.00', '', NOT_POSITIVE],
    ['USD', '1e3', '', INVALID],
    ['USD', '-1.00', '', INVALID],
    ['USD', '1,00', '', INVALID],
    ['USD', '1000000000000.00', '', INVALID],
    ['JPY', '100.50', '', INVALID],
    ['JPY', '100.000', '', INVALID],
    ['JPY', '0', '', NOT_POSITIVE],
    ['KWD', '1', '', INVALID],
    ['KWD', '0.000', '', NOT_POSITIVE],
    ['USD', '1.234', 'EUR', INVALID],
    ['USD', '10.50', 'JPY', INVALID],
  ])('after a first payment in %s: refuses %s %s', async (before, order_amount, order_currency, sentence) => {
    const paid = await firstIn(before);
    const order_id = newOrderId();
    expect(answered(await repeat(paid, { order_id, order_amount, order_currency }))).toEqual(
      invalid(`order_amount: ${sentence}`),
    );
    const right = await repeat(paid, { order_id, order_amount: AMOUNTS[before] as string });
    expect(right.body, 'the order was not claimed').toMatchObject({ status: 'SETTLED' });
  });

  test.each(['usd', 'XXX', 'DOGE'])('refuses order_currency=%s', async (order_currency) => {
    expect(answered(await repeat(await first(), { order_currency }))).toEqual(
      invalid(`order_currency: ${NOT_A_CHOICE}`),
    );
  });
});

describe('one order, one payment', () => {
  test('an identical request within 15 seconds: the same payment, at any concurrency', async () => {
    const merchant = await shop.newMerchant();
    const fields = repeatFields(await first({}, merchant), {}, merchant);
    const answers = await Promise.all(Array.from({ length: 30 }, () => shop.post(fields)));
    for (const answer of answers) expect(answered(answer)).toEqual(answered(answers[0] as Answer));
    await shop.advanceClock(3, merchant.mid);
    expect((await shop.post(fields)).body).toEqual(answers[0]?.body);
    expect(await paymentsOf(merchant)).toHaveLength(2);
  });

  test('the same order with other content is a duplicate, and so is the same request after the window', async () => {
    const merchant = await shop.newMerchant();
    const paid = await first({}, merchant);
    const fields = repeatFields(paid, {}, merchant);
    const { body } = await shop.post(fields);
    const order_id = fields.order_id as string;
    const CHANGES: Fields[] = [
      { order_amount: '11.00' },
      { order_currency: 'EUR' },
      { order_description: 'Yet another month' },
      { auth: 'Y' },
    ];
    for (const change of CHANGES) {
      expect(answered(await repeat(paid, { order_id, ...change }, merchant))).toEqual(DUPLICATE);
    }
    expect(answered(await shop.sale({ order_id }, merchant))).toEqual(DUPLICATE);
    await shop.advanceClock(16, merchant.mid);
    expect(answered(await shop.post(fields))).toEqual(DUPLICATE);
    expect((await shop.status(body.trans_id, merchant)).body).toMatchObject({ status: 'SETTLED', amount: '10.00' });
    expect(await paymentsOf(merchant)).toHaveLength(2);
  });

  test('refuses the order of the first payment', async () => {
    const paid = await first();
    expect(answered(await repeat(paid, { order_id: paid.order_id }))).toEqual(DUPLICATE);
  });

  test('after a decline the order may be tried again', async () => {
    const merchant = await shop.newMerchant();
    const paid = await first({}, merchant);
    const fields = repeatFields(paid, {}, merchant);
    const decline = { 'vcard.success': ['other@example.com'], 'vcard.decline': ['success@example.com'] };
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, decline);
    const declined = await shop.post(fields);
    expect(declined.body.status).toBe('DECLINED');
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { 'vcard.success': ['success@example.com'] });
    expect((await shop.post(fields)).body).toEqual(declined.body);
    await shop.advanceClock(16, merchant.mid);
    const again = await shop.post(fields);
    expect(again.body).toMatchObject({ status: 'SETTLED', order_id: fields.order_id });
    expect(again.body.trans_id).not.toBe(declined.body.trans_id);
    expect((await paymentsOf(merchant)).map(({ attempt, status }) => [attempt, status])).toEqual([
      [2, 'SETTLED'],
      [1, 'DECLINED'],
      [1, 'SETTLED'],
    ]);
  });
});

describe('a pair that names no first payment: Incorrect transaction', () => {
  test.each<[string, (paid: First) => Promise<Partial<First>>]>([
    ['another token', async (paid) => ({ ...paid, recurring_token: '0'.repeat(32) })],
    ['a truncated token', async (paid) => ({ ...paid, recurring_token: paid.recurring_token.slice(0, -1) })],
    ['a token with a suffix', async (paid) => ({ ...paid, recurring_token: `${paid.recurring_token}0` })],
    ['a token in upper case', async (paid) => ({ ...paid, recurring_token: paid.recurring_token.toUpperCase() })],
    ['a random id', async (paid) => ({ ...paid, trans_id: newId() })],
    ['an id that is not a UUID', async (paid) => ({ ...paid, trans_id: 'not-a-uuid' })],
    ['an id with a quote', async (paid) => ({ ...paid, trans_id: "' or true --" })],
    ['the order in place of the id', async (paid) => ({ ...paid, trans_id: paid.order_id })],
    ['the id of another first payment', async (paid) => ({ ...paid, trans_id: (await first()).trans_id })],
    ['a payment without recurring_init', async (paid) => ({ ...paid, trans_id: (await shop.sale()).body.trans_id })],
    [
      'a first payment that was declined',
      async (paid) => {
        const { body } = await shop.sale({ recurring_init: 'Y', identifier: 'decline@example.com' });
        return { ...paid, trans_id: body.trans_id };
      },
    ],
    [
      'a payment that was a repetition itself',
      async (paid) => ({ ...paid, trans_id: (await repeat(paid)).body.trans_id }),
    ],
    ['a pair of another account', async () => first({}, await shop.newMerchant())],
    [
      'an id of another account',
      async (paid) => ({ ...paid, trans_id: (await first({}, await shop.newMerchant())).trans_id }),
    ],
  ])('%s', async (_, wrong) => {
    const paid = await first();
    const order_id = newOrderId();
    expect(answered(await repeat(await wrong(paid), { order_id }))).toEqual(INCORRECT);
    expect((await repeat(paid, { order_id })).body, 'the order was not claimed').toMatchObject({ status: 'SETTLED' });
  });
});

describe('earlier checks', () => {
  test('lists all missing fields', async () => {
    const { client_key } = shop.merchant;
    expect(answered(await shop.post({ action: 'RECURRING_SALE', client_key }))).toEqual(
      invalid(
        ...['order_id', 'order_amount', 'order_description', 'recurring_first_trans_id', 'recurring_token', 'hash'].map(
          (field) => `${field}: ${BLANK}`,
        ),
      ),
    );
  });

  test.each(['order_id', 'order_amount', 'order_description', 'recurring_first_trans_id', 'recurring_token', 'hash'])(
    'without %s',
    async (field) => {
      const fields = repeatFields(await first());
      delete fields[field];
      expect(answered(await shop.post(fields))).toEqual(invalid(`${field}: ${BLANK}`));
    },
  );

  test.each<[string, Fields, string]>([
    ['an order_id that is too long', { order_id: 'x'.repeat(256) }, `order_id: ${tooLong(255)}`],
    ['a description that is too long', { order_description: 'x'.repeat(1025) }, `order_description: ${tooLong(1024)}`],
    ['auth that is neither Y nor N', { auth: 'yes' }, `auth: ${NOT_A_CHOICE}`],
    ['a term_url_3ds that is not a URL', { term_url_3ds: 'shop.example' }, `term_url_3ds: ${NOT_URL}`],
    ['an amount that is not a number', { order_amount: 'ten' }, `order_amount: ${INVALID}`],
  ])('refuses %s before the pair is looked up', async (_, fields, entry) => {
    const unknownPair = { trans_id: newId(), recurring_token: 'none' };
    expect(answered(await repeat(unknownPair, fields))).toEqual(invalid(entry));
    expect(answered(await repeat(unknownPair, { ...fields, hash: 'wrong' }))).toEqual(invalid(entry));
  });

  test('refuses a schedule_id that is not a UUID before the pair is looked up', async () => {
    const unknownPair = { trans_id: newId(), recurring_token: 'none' };
    expect(answered(await repeat(unknownPair, { schedule_id: 'monthly', hash: 'wrong' }))).toEqual(
      refused('This is not a valid UUID.', 'schedule_id: This is not a valid UUID.'),
    );
  });

  test('the hash covers the order_id and nothing else', async () => {
    const { password } = shop.merchant;
    const paid = await first();
    const order_id = newOrderId();
    for (const hash of [
      sign(password),
      sign(password, order_id, '10.00'),
      sign(password, paid.trans_id),
      sign(password, paid.trans_id, paid.recurring_token, order_id, '10.00', 'Another month'),
      sign('another password', order_id),
    ]) {
      expect(answered(await repeat(paid, { order_id, hash }))).toEqual(
        refused('Hash is not valid', 'hash: Hash is not valid.'),
      );
    }
    const unknownPair = { trans_id: newId(), recurring_token: 'none' };
    expect((await repeat(unknownPair, { order_id, hash: 'wrong' })).body.error_message).toBe('Hash is not valid');
    const hash = sign(password, order_id).toUpperCase();
    expect((await repeat(paid, { order_id, hash, order_amount: '99.00' })).body).toMatchObject({ amount: '99.00' });
  });
});

describe('with a schedule', () => {
  async function dailySchedule(merchant: Merchant): Promise<string> {
    const { body } = await shop.post({
      action: 'CREATE_SCHEDULE',
      client_key: merchant.client_key,
      name: 'Every day',
      interval_length: '1',
      interval_unit: 'day',
      payments_count: '2',
      hash: sign(merchant.password),
    });
    return body.schedule_id;
  }

  test('the response and the status carry it, and it repeats the charge', async () => {
    const merchant = await shop.newMerchant();
    const schedule_id = await dailySchedule(merchant);
    const paid = await first({}, merchant);
    const { status, body } = await repeat(paid, { schedule_id, order_amount: '4.00' }, merchant);
    expect(status).toBe(200);
    expect(body).toMatchObject({ result: 'SUCCESS', status: 'SETTLED', schedule_id });
    expect((await shop.status(body.trans_id, merchant)).body.schedule_id).toBe(schedule_id);
    await shop.advanceClock(DAY + 60, merchant.mid);
    expect((await paymentsOf(merchant)).map(({ amount, schedule_id }) => [amount, schedule_id])).toEqual([
      ['4.00', schedule_id],
      ['4.00', schedule_id],
      ['10.00', null],
    ]);
  });

  test('unknown, or of another account: Schedule not found, and no order is claimed', async () => {
    const paid = await first();
    const theirs = await dailySchedule(await shop.newMerchant());
    for (const schedule_id of [newId(), theirs]) {
      const order_id = newOrderId();
      expect(answered(await repeat(paid, { schedule_id, order_id }))).toEqual(refused('Schedule not found'));
      expect((await repeat(paid, { order_id })).body.status).toBe('SETTLED');
    }
  });
});

test('a token is returned only to its merchant', async () => {
  const { trans_id, recurring_token } = await first();
  await repeat({ trans_id, recurring_token });
  expect(shop.logs.join('')).not.toContain(recurring_token);
  expect(JSON.stringify(await shop.inspect(trans_id))).not.toContain(recurring_token);
});

test('repeats a payment that was signed with a password since rotated', async () => {
  const merchant = await shop.newMerchant();
  const paid = await first({}, merchant);
  const { body } = await shop.admin('POST', `/accounts/${merchant.mid}/rotate-password`);
  expect((await repeat(paid, {}, { ...merchant, password: body.password })).body.status).toBe('SETTLED');
});

test('every invariant of the database holds', async () => {
  const { violations, payments } = await verifyAt(shop.connection);
  expect(violations).toEqual([]);
  expect(payments).toBeGreaterThan(100n);
});
