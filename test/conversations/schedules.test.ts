/** Schedules: creating, changing and deleting them, attaching them to a sale, and the operator’s view. */
import { describe, expect, test } from 'vitest';
import { createVcard } from '../../src/connectors/vcard.ts';
import { newId } from '../../src/lib/crypto/id.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import { BLANK, INVALID, NOT_A_CHOICE, NOT_SINGLE, tooLong } from '../support/brand-expectations.ts';
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

const vcard = createVcard();
/** While it is set, the provider answers no submission. */
let held: Promise<void> | undefined;
async function submit(...sent: Parameters<typeof vcard.submit>) {
  await held;
  return vcard.submit(...sent);
}
const shop = openShop({ connectors: { vcard: { ...vcard, submit } } });

const DAY = 86_400;

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
const UNKNOWN = refused('Schedule not found');
const NOT_UUID = refused('This is not a valid UUID.', 'schedule_id: This is not a valid UUID.');
const MONTHS_ONLY = invalid('day_of_month: This value should be sent with interval_unit month only.');
const answered = ({ status, body }: Answer) => ({ status, body });

type Action = 'CREATE_SCHEDULE' | 'UPDATE_SCHEDULE' | 'DELETE_SCHEDULE';

/** A signed request about a schedule; an empty field is not sent. */
function sendRequest(action: Action, fields: Fields, merchant: Merchant = shop.merchant): Promise<Answer> {
  const signed = action === 'CREATE_SCHEDULE' ? [] : [fields.schedule_id ?? ''];
  const whole = { action, client_key: merchant.client_key, hash: sign(merchant.password, ...signed), ...fields };
  return shop.post(Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== '')));
}

const TERMS: Fields = { name: 'Gold plan', interval_length: '1', interval_unit: 'month', payments_count: '12' };
const create = (fields: Fields = {}, merchant?: Merchant): Promise<Answer> =>
  sendRequest('CREATE_SCHEDULE', { ...TERMS, ...fields }, merchant);
const update = (schedule_id: string, fields: Fields, merchant?: Merchant): Promise<Answer> =>
  sendRequest('UPDATE_SCHEDULE', { schedule_id, ...fields }, merchant);
const remove = (schedule_id: string, merchant?: Merchant): Promise<Answer> =>
  sendRequest('DELETE_SCHEDULE', { schedule_id }, merchant);

async function created(fields: Fields = {}, merchant?: Merchant): Promise<string> {
  const { status, body } = await create(fields, merchant);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.schedule_id;
}

/** The schedules of an account as the operator sees them. */
const listSchedules = async ({ mid }: Merchant): Promise<Answer['body'][]> =>
  (await shop.admin('GET', `/schedules?mid=${mid}`)).body.items;
const scheduleOf = async (merchant: Merchant, id: string): Promise<Answer['body']> =>
  (await listSchedules(merchant)).find(({ schedule_id }) => schedule_id === id);
const paymentsOf = async (schedule_id: string): Promise<Answer['body'][]> =>
  (await shop.admin('GET', `/payments?schedule_id=${schedule_id}`)).body.items;

/** An account whose clock is set to about this time. */
async function merchantAt(time: string): Promise<Merchant> {
  const merchant = await shop.newMerchant();
  await shop.advanceClock((Date.parse(`${time}Z`) - shop.gateway.clock.now(merchant.mid)) / 1000, merchant.mid);
  return merchant;
}
const addSeconds = (date: string, seconds: number): string =>
  new Date(Date.parse(`${date}Z`) + seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');

describe('CREATE_SCHEDULE', () => {
  test('answers with a new id and nothing else', async () => {
    expect(answered(await create())).toEqual({
      status: 200,
      body: { action: 'CREATE_SCHEDULE', result: 'SUCCESS', schedule_id: expect.stringMatching(UUID_7) },
    });
    expect(await created()).not.toBe(await created());
  });

  test('lists all missing fields', async () => {
    const missing = ['name', 'interval_length', 'interval_unit', 'payments_count', 'hash'];
    const { client_key } = shop.merchant;
    expect(answered(await shop.post({ action: 'CREATE_SCHEDULE', client_key }))).toEqual(
      invalid(...missing.map((field) => `${field}: ${BLANK}`)),
    );
    for (const field of missing) {
      expect(answered(await create({ [field]: '' }))).toEqual(invalid(`${field}: ${BLANK}`));
    }
  });

  test.each<[field: string, values: string[]]>([
    ['name', ['x', 'x'.repeat(100), '🎸'.repeat(100), 'a "quoted" \\ name', 'Žluťoučký kůň']],
    ['interval_length', ['1', '2', '31', '364', '365']],
    ['interval_unit', ['day', 'week', 'month']],
    ['payments_count', ['1', '2', '1199', '1200']],
    ['day_of_month', ['1', '28', '29', '30', '31']],
    ['delays', ['0', '1', '12']],
  ])('accepts %s within its bounds and stores it as it was sent', async (field, values) => {
    const merchant = await shop.newMerchant();
    for (const value of values) {
      const id = await created({ [field]: value }, merchant);
      expect(String((await scheduleOf(merchant, id))[field])).toBe(value);
    }
  });

  const WRONG: [field: string, values: string[], sentence: string][] = [
    ['name', ['x'.repeat(101), '🎸'.repeat(101)], tooLong(100)],
    ['interval_length', ['0', '366', '-1', '1.5', '1e2', ' 1', '1 ', 'one', '9999999999', '٣'], INVALID],
    ['interval_unit', ['year', 'hour', 'Day', 'MONTH', 'days', ' day', 'constructor'], NOT_A_CHOICE],
    ['payments_count', ['0', '1201', '-5', '2.0', 'many', '1,200'], INVALID],
    ['day_of_month', ['0', '32', '-1', 'last', '1.5'], INVALID],
    ['delays', ['-1', 'two', '1.5', '1000000'], INVALID],
  ];
  test.each(WRONG)('refuses %s outside its bounds', async (field, values, sentence) => {
    for (const value of values) {
      expect(answered(await create({ [field]: value })), value).toEqual(invalid(`${field}: ${sentence}`));
    }
  });
  test.each(WRONG)(
    'UPDATE_SCHEDULE refuses the same %s before it looks up the schedule',
    async (field, values, sentence) => {
      for (const value of values) {
        expect(answered(await update(newId(), { [field]: value })), value).toEqual(invalid(`${field}: ${sentence}`));
      }
    },
  );

  test('lists several invalid fields in their order', async () => {
    expect(answered(await create({ payments_count: '0', name: '', interval_unit: 'year' }))).toEqual(
      invalid(`name: ${BLANK}`, `interval_unit: ${NOT_A_CHOICE}`, `payments_count: ${INVALID}`),
    );
    expect(answered(await create({ name: '', 'name[0]': 'Gold' }))).toEqual(invalid(`name: ${NOT_SINGLE}`));
  });

  test.each(['day', 'week'])('refuses day_of_month with interval_unit=%s', async (interval_unit) => {
    expect(answered(await create({ interval_unit, day_of_month: '15' }))).toEqual(MONTHS_ONLY);
  });

  test('checks the fields before the hash, including day_of_month', async () => {
    const fields = { interval_unit: 'week', day_of_month: '15', hash: 'wrong' };
    expect(answered(await create(fields))).toEqual(MONTHS_ONLY);
  });

  test('the hash covers the password alone', async () => {
    const { password } = shop.merchant;
    for (const hash of [sign(password, 'Gold plan'), sign('another password'), sign('')]) {
      expect(answered(await create({ hash }))).toEqual(refused('Hash is not valid', 'hash: Hash is not valid.'));
    }
    const schedule_id = newId();
    const hash = sign(password, schedule_id);
    expect((await create({ schedule_id, hash })).body.error_message).toBe('Hash is not valid');
    expect((await create({ schedule_id, hash: sign(password).toUpperCase() })).body.schedule_id).toBe(schedule_id);
  });

  describe('with its own schedule_id', () => {
    test('stores it in lower case', async () => {
      const merchant = await shop.newMerchant();
      const ids = [newId(), 'F47AC10B-58CC-4372-A567-0E02B2C3D479', '00000000-0000-0000-0000-000000000000'];
      for (const schedule_id of ids) {
        expect((await create({ schedule_id }, merchant)).body.schedule_id).toBe(schedule_id.toLowerCase());
      }
      expect((await listSchedules(merchant)).map(({ schedule_id }) => schedule_id).sort()).toEqual(
        ids.map((id) => id.toLowerCase()).sort(),
      );
    });

    test('refuses one that exists, in any letter case, and leaves it unchanged', async () => {
      const merchant = await shop.newMerchant();
      const schedule_id = await created({}, merchant);
      for (const id of [schedule_id, schedule_id.toUpperCase()]) {
        expect(answered(await create({ schedule_id: id, name: 'Another' }, merchant))).toEqual(
          invalid('schedule_id: This value is already used.'),
        );
      }
      expect(await listSchedules(merchant)).toMatchObject([{ schedule_id, name: 'Gold plan' }]);
    });

    test('refuses the id of a deleted schedule', async () => {
      const schedule_id = await created();
      await remove(schedule_id);
      expect(answered(await create({ schedule_id }))).toEqual(invalid('schedule_id: This value is already used.'));
    });

    test('twenty concurrent requests with the same id create one', async () => {
      const merchant = await shop.newMerchant();
      const schedule_id = newId();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => create({ schedule_id, name: `Plan ${n}` }, merchant)),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 400)).toHaveLength(19);
      expect(await listSchedules(merchant)).toHaveLength(1);
    });

    test('two accounts may choose the same', async () => {
      const [one, other] = [await shop.newMerchant(), await shop.newMerchant()];
      const schedule_id = await created({ name: 'One' }, one);
      await created({ name: 'Other', schedule_id }, other);
      await remove(schedule_id, one);
      expect(await scheduleOf(other, schedule_id)).toMatchObject({ name: 'Other', deleted_at: null });
    });
  });
});

describe('refuses a schedule_id that is not a UUID before any lookup', () => {
  const NOT_UUIDS = [
    'monthly',
    '1',
    'f47ac10b58cc4372a5670e02b2c3d479',
    '{f47ac10b-58cc-4372-a567-0e02b2c3d479}',
    'f47ac10b-58cc-4372-a567-0e02b2c3d47',
    'g47ac10b-58cc-4372-a567-0e02b2c3d479',
    'f47ac10b-58cc-4372-a567-0e02b2c3d479 ',
    "' or true --",
  ];
  test.each<Action>(['CREATE_SCHEDULE', 'UPDATE_SCHEDULE', 'DELETE_SCHEDULE'])('%s', async (action) => {
    const terms = action === 'CREATE_SCHEDULE' ? TERMS : {};
    for (const schedule_id of NOT_UUIDS) {
      expect(answered(await sendRequest(action, { ...terms, schedule_id })), schedule_id).toEqual(NOT_UUID);
      expect(answered(await sendRequest(action, { ...terms, schedule_id, hash: 'wrong' })), schedule_id).toEqual(
        NOT_UUID,
      );
    }
  });
  test('SALE', async () => {
    for (const schedule_id of NOT_UUIDS) {
      const fields = { schedule_id, recurring_init: 'Y', hash: 'wrong' };
      expect(answered(await shop.sale(fields)), schedule_id).toEqual(NOT_UUID);
    }
  });
  test('lists all other invalid fields too', async () => {
    expect(answered(await create({ schedule_id: 'monthly', name: '' }))).toEqual(
      refused('This is not a valid UUID.', `name: ${BLANK}`, 'schedule_id: This is not a valid UUID.'),
    );
  });
  test.each<Action>(['UPDATE_SCHEDULE', 'DELETE_SCHEDULE'])(
    '%s without a schedule_id: lists it as missing',
    async (action) => {
      expect(answered(await sendRequest(action, {}))).toEqual(invalid(`schedule_id: ${BLANK}`));
    },
  );
});

describe('UPDATE_SCHEDULE', () => {
  test.each<[field: string, value: string, kept: string | number]>([
    ['name', 'Silver plan', 'Silver plan'],
    ['interval_length', '3', 3],
    ['interval_unit', 'week', 'week'],
    ['payments_count', '24', 24],
    ['day_of_month', '15', 15],
    ['delays', '2', 2],
  ])('changes %s and nothing else', async (field, value, kept) => {
    const merchant = await shop.newMerchant();
    const schedule_id = await created({}, merchant);
    const before = await scheduleOf(merchant, schedule_id);
    expect(answered(await update(schedule_id, { [field]: value }, merchant))).toEqual({
      status: 200,
      body: { action: 'UPDATE_SCHEDULE', result: 'SUCCESS', schedule_id },
    });
    expect(await scheduleOf(merchant, schedule_id)).toEqual({ ...before, [field]: kept });
  });

  test('changes everything or nothing', async () => {
    const merchant = await shop.newMerchant();
    const schedule_id = await created({ day_of_month: '5' }, merchant);
    const before = await scheduleOf(merchant, schedule_id);
    expect((await update(schedule_id, {}, merchant)).status).toBe(200);
    expect(await scheduleOf(merchant, schedule_id)).toEqual(before);
    const all = { name: 'All new', interval_length: '2', payments_count: '3', day_of_month: '31', delays: '4' };
    expect((await update(schedule_id.toUpperCase(), all, merchant)).body.schedule_id).toBe(schedule_id);
    expect(await scheduleOf(merchant, schedule_id)).toMatchObject({
      name: 'All new',
      interval_length: 2,
      interval_unit: 'month',
      payments_count: 3,
      day_of_month: 31,
      delays: 4,
    });
  });

  test('two concurrent changes of different fields both apply', async () => {
    const merchant = await shop.newMerchant();
    const schedule_id = await created({}, merchant);
    for (let round = 1; round <= 10; round++) {
      const [name, payments_count] = [`Plan ${round}`, 100 + round];
      await Promise.all([
        update(schedule_id, { name }, merchant),
        update(schedule_id, { payments_count: String(payments_count) }, merchant),
      ]);
      expect(await scheduleOf(merchant, schedule_id)).toMatchObject({ name, payments_count });
    }
  });

  test('refuses a day of the month for a schedule in weeks, and leaves it unchanged', async () => {
    const merchant = await shop.newMerchant();
    const schedule_id = await created({ interval_unit: 'week' }, merchant);
    expect(answered(await update(schedule_id, { day_of_month: '3', name: 'Other' }, merchant))).toEqual(MONTHS_ONLY);
    expect(await scheduleOf(merchant, schedule_id)).toMatchObject({ name: 'Gold plan', day_of_month: null });
    const both = { day_of_month: '3', interval_unit: 'month' };
    expect((await update(schedule_id, both, merchant)).status).toBe(200);
  });

  test('the date of the next charge stays, later dates follow the new terms', async () => {
    const merchant = await merchantAt('2027-03-01T09:00:00');
    const schedule_id = await created({ interval_unit: 'day' }, merchant);
    const { body } = await shop.sale({ schedule_id, recurring_init: 'Y' }, merchant);
    await shop.advanceClock(1.5 * DAY, merchant.mid);
    const next = addSeconds(body.trans_date, 2 * DAY);
    expect((await scheduleOf(merchant, schedule_id)).next_charge_at).toBe(next);
    await update(schedule_id, { interval_length: '3' }, merchant);
    expect((await scheduleOf(merchant, schedule_id)).next_charge_at).toBe(next);
    await shop.advanceClock(DAY, merchant.mid);
    expect((await scheduleOf(merchant, schedule_id)).next_charge_at).toBe(addSeconds(next, 3 * DAY));
    expect(await paymentsOf(schedule_id)).toHaveLength(3);
  });
});

describe('UPDATE_SCHEDULE of payments_count', () => {
  test('to what is reached already: nothing more is charged', async () => {
    const merchant = await shop.newMerchant();
    const schedule_id = await created({ interval_unit: 'day' }, merchant);
    await shop.sale({ schedule_id, recurring_init: 'Y' }, merchant);
    await shop.advanceClock(2.5 * DAY, merchant.mid);
    expect((await update(schedule_id, { payments_count: '2' }, merchant)).status).toBe(200);
    await shop.advanceClock(5 * DAY, merchant.mid);
    expect(await paymentsOf(schedule_id)).toHaveLength(3);
    expect((await scheduleOf(merchant, schedule_id)).subscriptions).toMatchObject([
      { state: 'finished', occurrences: 2 },
    ]);
  });
});

describe('DELETE_SCHEDULE', () => {
  test('answers with the id; a second time the schedule does not exist', async () => {
    const merchant = await shop.newMerchant();
    const schedule_id = await created({}, merchant);
    expect(answered(await remove(schedule_id.toUpperCase(), merchant))).toEqual({
      status: 200,
      body: { action: 'DELETE_SCHEDULE', result: 'SUCCESS', schedule_id },
    });
    expect(answered(await remove(schedule_id, merchant))).toEqual(UNKNOWN);
    expect(answered(await update(schedule_id, { name: 'Back' }, merchant))).toEqual(UNKNOWN);
    expect(answered(await shop.sale({ schedule_id, recurring_init: 'Y' }, merchant))).toEqual(UNKNOWN);
    expect(await listSchedules(merchant)).toMatchObject([
      { schedule_id, name: 'Gold plan', deleted_at: expect.stringMatching(DATE), next_charge_at: null },
    ]);
  });

  test('of ten concurrent requests, one deletes', async () => {
    const schedule_id = await created();
    const answers = await Promise.all(Array.from({ length: 10 }, () => remove(schedule_id)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('stops further charges, and earlier ones stay', async () => {
    const merchant = await shop.newMerchant();
    const schedule_id = await created({ interval_unit: 'day' }, merchant);
    await shop.sale({ schedule_id, recurring_init: 'Y' }, merchant);
    await shop.advanceClock(2.5 * DAY, merchant.mid);
    expect(await paymentsOf(schedule_id)).toHaveLength(3);
    await remove(schedule_id, merchant);
    await shop.advanceClock(40 * DAY, merchant.mid);
    expect((await paymentsOf(schedule_id)).map(({ status }) => status)).toEqual(['SETTLED', 'SETTLED', 'SETTLED']);
    expect(await scheduleOf(merchant, schedule_id)).toMatchObject({
      next_charge_at: null,
      subscriptions: [{ state: 'ended', occurrences: 2, next_charge_at: null }],
    });
  });
});

describe('DELETE_SCHEDULE while', () => {
  /** Holds the provider until the returned function is called. */
  function hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    return () => {
      held = undefined;
      resolve();
    };
  }

  test('a charge is being made: the answer waits for it, and it is the last one', async () => {
    const merchant = await shop.newMerchant();
    const schedule_id = await created({ interval_unit: 'day' }, merchant);
    await shop.sale({ schedule_id, recurring_init: 'Y' }, merchant);
    const release = hold();
    const moved = shop.advanceClock(1.5 * DAY, merchant.mid);
    await expect.poll(async () => (await paymentsOf(schedule_id)).map(({ status }) => status)).toContain('PREPARE');
    let isAnswered = false;
    const removed = remove(schedule_id, merchant).finally(() => {
      isAnswered = true;
    });
    await expect.poll(async () => (await scheduleOf(merchant, schedule_id)).deleted_at).not.toBeNull();
    expect(isAnswered).toBe(false);
    release();
    expect((await removed).status).toBe(200);
    expect((await paymentsOf(schedule_id)).map(({ status }) => status)).toEqual(['SETTLED', 'SETTLED']);
    await moved;
    await shop.advanceClock(5 * DAY, merchant.mid);
    expect(await paymentsOf(schedule_id)).toHaveLength(2);
  });

  test('a charge is about to begin: nothing is sent', async () => {
    const merchant = await shop.newMerchant();
    const schedule_id = await created({ interval_unit: 'day' }, merchant);
    await shop.sale({ schedule_id, recurring_init: 'Y' }, merchant);
    const { schedules } = shop.gateway;
    const { findFor } = schedules;
    schedules.findFor = async (due) => {
      const found = await findFor(due);
      if (found.some(({ scheduleId }) => scheduleId === schedule_id)) await remove(schedule_id, merchant);
      return found;
    };
    await shop.advanceClock(1.5 * DAY, merchant.mid).finally(() => {
      schedules.findFor = findFor;
    });
    const [charge] = await paymentsOf(schedule_id);
    expect(await shop.inspect(charge.payment_id)).toMatchObject({
      status: 'DECLINED',
      decline_reason: 'The schedule was stopped.',
      provider_calls: [],
    });
    expect(await scheduleOf(merchant, schedule_id)).toMatchObject({
      subscriptions: [{ state: 'ended', next_charge_at: null }],
    });
    await shop.advanceClock(5 * DAY, merchant.mid);
    expect(await paymentsOf(schedule_id)).toHaveLength(2);
  });

  test('the first sale is under way: that is paid, and nothing follows', async () => {
    const merchant = await shop.newMerchant();
    const schedule_id = await created({ interval_unit: 'day' }, merchant);
    const release = hold();
    const sale = shop.sale({ schedule_id, recurring_init: 'Y' }, merchant);
    await expect.poll(async () => (await paymentsOf(schedule_id)).length).toBe(1);
    expect((await remove(schedule_id, merchant)).status).toBe(200);
    release();
    expect((await sale).body).toMatchObject({ status: 'SETTLED' });
    await shop.advanceClock(5 * DAY, merchant.mid);
    expect(await paymentsOf(schedule_id)).toHaveLength(1);
  });
});

describe('an unknown schedule: Schedule not found', () => {
  test.each<[string, () => Promise<string>]>([
    ['a random id', async () => newId()],
    ['one of another account', async () => created({}, await shop.newMerchant())],
    ['the id of a payment', async () => (await shop.sale()).body.trans_id],
  ])('%s', async (_, idOf) => {
    const schedule_id = await idOf();
    expect(answered(await update(schedule_id, { name: 'Mine' }))).toEqual(UNKNOWN);
    expect(answered(await remove(schedule_id))).toEqual(UNKNOWN);
    const order_id = newOrderId();
    expect(answered(await shop.sale({ order_id, schedule_id, recurring_init: 'Y' }))).toEqual(UNKNOWN);
    expect((await shop.sale({ order_id })).body, 'the order was not claimed').toMatchObject({ status: 'SETTLED' });
  });

  test('none of these changes another account’s schedule', async () => {
    const theirs = await shop.newMerchant();
    const schedule_id = await created({}, theirs);
    await update(schedule_id, { name: 'Mine' });
    await remove(schedule_id);
    expect(await scheduleOf(theirs, schedule_id)).toMatchObject({ name: 'Gold plan', deleted_at: null });
  });

  test('checks the hash first, so that no unsigned request learns whether a schedule exists', async () => {
    const wrong = refused('Hash is not valid', 'hash: Hash is not valid.');
    for (const schedule_id of [newId(), await created()]) {
      for (const hash of [sign(shop.merchant.password), sign('another password', schedule_id)]) {
        expect(answered(await sendRequest('UPDATE_SCHEDULE', { schedule_id, hash }))).toEqual(wrong);
        expect(answered(await sendRequest('DELETE_SCHEDULE', { schedule_id, hash }))).toEqual(wrong);
      }
    }
  });
});

test.each(['GET_SCHEDULE', 'GET_SCHEDULE_STATUS', 'READ_SCHEDULE', 'SCHEDULE', 'CANCEL_SCHEDULE', 'create_schedule'])(
  'the action %s does not exist',
  async (action) => {
    const schedule_id = await created();
    const { client_key, password } = shop.merchant;
    const { status, body } = await shop.post({ action, client_key, schedule_id, hash: sign(password, schedule_id) });
    expect(status).toBe(404);
    expect(body).toMatchObject({ error_code: 0, error_message: 'Route or parameters is not supported' });
  },
);

describe('SALE with schedule_id', () => {
  test('is refused without recurring_init=Y', async () => {
    const schedule_id = await created();
    for (const fields of [{}, { recurring_init: 'N' }] as Fields[]) {
      expect(answered(await shop.sale({ schedule_id, ...fields }))).toEqual(invalid(`recurring_init: ${BLANK}`));
    }
    expect(await paymentsOf(schedule_id)).toEqual([]);
  });

  test('carries it in the response, in every status and in the operator’s list, in lower case', async () => {
    const schedule_id = await created();
    const { status, body } = await shop.sale({ schedule_id: schedule_id.toUpperCase(), recurring_init: 'Y' });
    expect(status).toBe(200);
    expect(body).toEqual({
      action: 'SALE',
      result: 'SUCCESS',
      status: 'SETTLED',
      order_id: expect.any(String),
      trans_id: expect.stringMatching(UUID_7),
      trans_date: expect.stringMatching(DATE),
      descriptor: 'Test Shop',
      amount: '10.00',
      currency: 'USD',
      recurring_token: expect.any(String),
      schedule_id,
    });
    expect((await shop.status(body.trans_id)).body.schedule_id).toBe(schedule_id);
    const byOrder = await shop.post({
      action: 'GET_TRANS_STATUS_BY_ORDER',
      client_key: shop.merchant.client_key,
      order_id: body.order_id,
      hash: sign(shop.merchant.password, body.order_id),
    });
    expect(byOrder.body.schedule_id).toBe(schedule_id);
    expect((await shop.admin('GET', `/payments/${body.trans_id}`)).body.schedule_id).toBe(schedule_id);
  });

  test('starts the charges, as separate payments', async () => {
    const merchant = await merchantAt('2027-05-03T10:00:00');
    const schedule_id = await created({ interval_unit: 'week', payments_count: '2' }, merchant);
    const fields = { schedule_id, recurring_init: 'Y', order_amount: '19.90', order_currency: 'EUR' };
    const { body } = await shop.sale(fields, merchant);
    await shop.advanceClock(30 * DAY, merchant.mid);
    const [second, first, initial] = await paymentsOf(schedule_id);
    expect(initial.payment_id).toBe(body.trans_id);
    for (const [weeks, charge] of [first, second].entries()) {
      const { body: status } = await shop.status(charge.payment_id, merchant);
      expect(status).toEqual({
        action: 'GET_TRANS_STATUS',
        result: 'SUCCESS',
        status: 'SETTLED',
        order_id: charge.order_id,
        trans_id: charge.payment_id,
        amount: '19.90',
        currency: 'EUR',
        schedule_id,
      });
      expect(charge.created_at.slice(0, 10)).toBe(addSeconds(body.trans_date, (weeks + 1) * 7 * DAY).slice(0, 10));
    }
  });

  test('an identical sale within 15 seconds is the same sale, and is charged once', async () => {
    const merchant = await shop.newMerchant();
    const schedule_id = await created({ interval_unit: 'day', payments_count: '1' }, merchant);
    const fields = { schedule_id, recurring_init: 'Y', order_id: newOrderId() };
    const answers = await Promise.all(Array.from({ length: 20 }, () => shop.sale(fields, merchant)));
    expect(new Set(answers.map(({ body }) => body.trans_id)).size).toBe(1);
    expect((await scheduleOf(merchant, schedule_id)).subscriptions).toHaveLength(1);
    await shop.advanceClock(5 * DAY, merchant.mid);
    expect(await paymentsOf(schedule_id)).toHaveLength(2);
  });

  test('two sales on one schedule are charged separately', async () => {
    const merchant = await shop.newMerchant();
    const schedule_id = await created({ interval_unit: 'day', payments_count: '2' }, merchant);
    await shop.sale({ schedule_id, recurring_init: 'Y', order_amount: '1.00' }, merchant);
    await shop.sale({ schedule_id, recurring_init: 'Y', order_amount: '2.00' }, merchant);
    await shop.advanceClock(5 * DAY, merchant.mid);
    const amounts = (await paymentsOf(schedule_id)).map(({ amount }) => amount).sort();
    expect(amounts).toEqual(['1.00', '1.00', '1.00', '2.00', '2.00', '2.00']);
  });

  test('a declined sale is never charged', async () => {
    const merchant = await shop.newMerchant();
    const schedule_id = await created({ interval_unit: 'day' }, merchant);
    const declined = { schedule_id, recurring_init: 'Y', identifier: 'decline@example.com' };
    expect((await shop.sale(declined, merchant)).body).toMatchObject({ status: 'DECLINED', schedule_id });
    await shop.advanceClock(5 * DAY, merchant.mid);
    expect(await paymentsOf(schedule_id)).toHaveLength(1);
    expect((await scheduleOf(merchant, schedule_id)).subscriptions).toMatchObject([{ state: 'ended', occurrences: 0 }]);
  });

  test.each([
    ['month', '12'],
    ['week', '365'],
    ['month', '365'],
  ])('365 times a %s with %s delays: refused at creation, or charged at some date', async (interval_unit, delays) => {
    const { status, body } = await create({ interval_unit, interval_length: '365', delays });
    if (status === 400) return expect(body).toMatchObject({ error_message: 'Request data is invalid.' });
    const sale = await shop.sale({ schedule_id: body.schedule_id, recurring_init: 'Y' });
    expect(sale, JSON.stringify(sale.body)).toMatchObject({ status: 200, body: { status: 'SETTLED' } });
  });
});

describe('the first charge', () => {
  test.each<[words: string, first: string, terms: Fields, next: string]>([
    ['a month', '2027-01-31', {}, '2027-02-28'],
    ['a month in a leap year', '2028-01-31', {}, '2028-02-29'],
    ['two months', '2027-01-31', { interval_length: '2' }, '2027-03-31'],
    ['a month, delayed by one', '2027-01-31', { delays: '1' }, '2027-03-31'],
    ['a month, delayed by three', '2027-01-31', { delays: '3' }, '2027-05-31'],
    ['day 31 of a month', '2027-01-10', { day_of_month: '31' }, '2027-02-28'],
    ['day 1 of a month', '2027-01-10', { day_of_month: '1' }, '2027-02-01'],
    ['day 20 of a month, delayed by eleven', '2027-01-10', { day_of_month: '20', delays: '11' }, '2028-01-20'],
    ['a day at the end of a year', '2027-12-31', { interval_unit: 'day' }, '2028-01-01'],
    ['a day in a leap year', '2028-02-28', { interval_unit: 'day' }, '2028-02-29'],
    [
      'ten days, delayed by two',
      '2028-02-28',
      { interval_unit: 'day', interval_length: '10', delays: '2' },
      '2028-03-29',
    ],
    ['a week', '2027-12-27', { interval_unit: 'week' }, '2028-01-03'],
    ['a week, delayed by one', '2027-12-27', { interval_unit: 'week', delays: '1' }, '2028-01-10'],
  ])('%s after %s, at the same time of day', async (_, first, terms, next) => {
    const merchant = await merchantAt(`${first}T12:00:00`);
    const schedule_id = await created(terms, merchant);
    const { body } = await shop.sale({ schedule_id, recurring_init: 'Y' }, merchant);
    const { next_charge_at } = await scheduleOf(merchant, schedule_id);
    expect(next_charge_at).toBe(`${next} ${body.trans_date.slice(11)}`);
  });
});

describe('GET /admin/api/schedules', () => {
  test('shows the terms, the charges, and the date of the next one', async () => {
    const merchant = await shop.newMerchant();
    const schedule_id = await created({ interval_unit: 'day', delays: '1' }, merchant);
    expect(await listSchedules(merchant)).toEqual([
      {
        schedule_id,
        mid: merchant.mid,
        name: 'Gold plan',
        interval_length: 1,
        interval_unit: 'day',
        payments_count: 12,
        day_of_month: null,
        delays: 1,
        created_at: expect.stringMatching(DATE),
        deleted_at: null,
        next_charge_at: null,
        subscriptions_total: 0,
        subscriptions_by_state: { active: 0, finished: 0, ended: 0 },
        subscriptions: [],
      },
    ]);
    const one = await shop.sale({ schedule_id, recurring_init: 'Y' }, merchant);
    await shop.advanceClock(3600, merchant.mid);
    const other = await shop.sale({ schedule_id, recurring_init: 'Y' }, merchant);
    const subscription = ({ body }: Answer) => ({
      subscription_id: expect.stringMatching(UUID_7),
      first_payment_id: body.trans_id,
      state: 'active',
      occurrences: 0,
      declines: 0,
      failed: 0,
      next_charge_at: addSeconds(body.trans_date, 2 * DAY),
    });
    expect(await scheduleOf(merchant, schedule_id)).toMatchObject({
      next_charge_at: addSeconds(one.body.trans_date, 2 * DAY),
      subscriptions: [subscription(one), subscription(other)],
    });
    await shop.advanceClock(2 * DAY - 1800, merchant.mid);
    expect(await scheduleOf(merchant, schedule_id)).toMatchObject({
      next_charge_at: addSeconds(other.body.trans_date, 2 * DAY),
      subscriptions_total: 2,
      subscriptions_by_state: { active: 2, finished: 0, ended: 0 },
      subscriptions: [
        subscription(other),
        { ...subscription(one), occurrences: 1, next_charge_at: addSeconds(one.body.trans_date, 3 * DAY) },
      ],
    });
  });

  test('all subscriptions of a schedule, page by page and newest first, of one account or of all', async () => {
    const [one, other] = [await shop.newMerchant(), await shop.newMerchant()];
    const schedule_id = await created({}, one);
    await created({ schedule_id }, other);
    const ids: Record<string, string[]> = { [one.mid]: [], [other.mid]: [] };
    for (const merchant of [one, other, one, one, other]) {
      const { body } = await shop.sale({ schedule_id, recurring_init: 'Y' }, merchant);
      ids[merchant.mid]?.unshift(body.trans_id);
    }
    const pages = async (query: string): Promise<Answer['body'][][]> => {
      const found: Answer['body'][][] = [];
      for (let cursor = ''; found.length < 20; ) {
        const path = `/schedules/${schedule_id.toUpperCase()}/subscriptions?limit=2&cursor=${cursor}${query}`;
        const { status, body } = await shop.admin('GET', path);
        expect(status).toBe(200);
        found.push(body.items);
        if (body.next_cursor === null) break;
        cursor = body.next_cursor;
      }
      return found;
    };
    for (const { mid } of [one, other]) {
      const found = await pages(`&mid=${mid}`);
      expect(found.map((page) => page.length)).toEqual(mid === one.mid ? [2, 1] : [2]);
      expect(found.flat().map((item) => item.first_payment_id)).toEqual(ids[mid]);
      expect(new Set(found.flat().map((item) => item.mid))).toEqual(new Set([mid]));
    }
    const all = (await pages('')).flat();
    expect(all.map((item) => item.subscription_id)).toEqual(
      all
        .map((item) => item.subscription_id)
        .toSorted()
        .reverse(),
    );
    expect(all.map((item) => item.first_payment_id).sort()).toEqual(Object.values(ids).flat().sort());
  });

  test('a schedule without subscriptions has an empty list; an unknown one is a 404', async () => {
    const merchant = await shop.newMerchant();
    const schedule_id = await created({}, merchant);
    const read = (id: string, query = ''): Promise<Answer> =>
      shop.admin('GET', `/schedules/${id}/subscriptions${query}`);
    expect(answered(await read(schedule_id))).toEqual({ status: 200, body: { items: [], next_cursor: null } });
    const unknown = { status: 404, body: { error_code: 101000, error_message: 'Schedule does not exist.' } };
    expect(answered(await read(newId()))).toMatchObject(unknown);
    expect(answered(await read('monthly'))).toMatchObject(unknown);
    expect(answered(await read(schedule_id, `?mid=${shop.merchant.mid}`))).toMatchObject(unknown);
    for (const query of ['cursor=x', 'limit=0', 'limit=501', 'mid=x', 'state=active']) {
      expect((await read(schedule_id, `?${query}`)).status, query).toBe(400);
    }
  });

  test('a schedule whose charges are complete has no next one', async () => {
    const merchant = await shop.newMerchant();
    const schedule_id = await created({ interval_unit: 'day', payments_count: '1' }, merchant);
    await shop.sale({ schedule_id, recurring_init: 'Y' }, merchant);
    await shop.advanceClock(2 * DAY, merchant.mid);
    expect(await scheduleOf(merchant, schedule_id)).toMatchObject({
      next_charge_at: null,
      subscriptions: [{ state: 'finished', occurrences: 1, failed: 0, next_charge_at: null }],
    });
  });

  /** The names of all schedules, page by page. */
  async function paged(query: string, limit: number): Promise<string[][]> {
    const pages: string[][] = [];
    for (let cursor = ''; pages.length < 50; ) {
      const { status, body } = await shop.admin('GET', `/schedules?limit=${limit}&cursor=${cursor}${query}`);
      expect(status).toBe(200);
      pages.push(body.items.map(({ name }: { name: string }) => name));
      if (body.next_cursor === null) break;
      cursor = body.next_cursor;
    }
    return pages;
  }
  const NAMES = ['A', 'B', 'C', 'D', 'E', 'F', 'G'];

  test('newest first, page by page, of one account or of all', async () => {
    const merchant = await shop.newMerchant();
    for (const name of NAMES) {
      await created({ name }, merchant);
      await created({ name: 'Another account’s' });
    }
    const mine = `&mid=${merchant.mid}`;
    expect(await paged(mine, 3)).toEqual([['G', 'F', 'E'], ['D', 'C', 'B'], ['A']]);
    expect(await paged(mine, 7)).toEqual([['G', 'F', 'E', 'D', 'C', 'B', 'A']]);
    expect(await paged(mine, 500)).toEqual([['G', 'F', 'E', 'D', 'C', 'B', 'A']]);
    const allNames = (await paged('', 500)).flat();
    expect(allNames).toEqual(expect.arrayContaining([...NAMES, 'Another account’s']));
    expect((await paged('', 20)).flat()).toHaveLength(allNames.length);
  });

  test('lists schedules that were created at the same time, each on some page', async () => {
    const merchant = await shop.newMerchant();
    for (const name of NAMES) await created({ name }, merchant);
    await shop.rows(`update schedules set created_at = date_trunc('day', created_at) where mid = '${merchant.mid}'`);
    expect((await paged(`&mid=${merchant.mid}`, 2)).flat().sort()).toEqual(NAMES);
  });

  test('a page continues correctly although another account has a schedule of the same id', async () => {
    const [early, late] = [await merchantAt('2027-06-01T00:00:00'), await merchantAt('2031-06-01T00:00:00')];
    for (const name of NAMES) {
      const schedule_id = newId();
      await created({ name, schedule_id }, early);
      await created({ name, schedule_id }, late);
    }
    for (const { mid } of [early, late]) expect((await paged(`&mid=${mid}`, 2)).flat()).toEqual([...NAMES].reverse());
  });

  test.each([
    ['mid=none', 'mid'],
    ['limit=0', 'limit'],
    ['limit=501', 'limit'],
    ['cursor=x', 'cursor'],
    ['name=Gold', 'name'],
  ])('refuses ?%s by name', async (query, field) => {
    const { status, body } = await shop.admin('GET', `/schedules?${query}`);
    expect(status).toBe(400);
    expect(body.errors[0].error_message).toMatch(new RegExp(`^${field}: `));
  });

  test('an unknown account has no schedules, and the list requires the token', async () => {
    expect((await shop.admin('GET', `/schedules?mid=${newId()}`)).body).toEqual({ items: [], next_cursor: null });
    expect((await shop.admin('GET', '/schedules', undefined, '')).status).toBe(401);
    expect((await shop.admin('GET', '/schedules', undefined, 'x'.repeat(40))).status).toBe(401);
  });
});

test('payments are filtered by schedule_id: the first one and its charges, and no others', async () => {
  const merchant = await shop.newMerchant();
  const [mine, other] = [
    await created({ interval_unit: 'day', payments_count: '3' }, merchant),
    await created({ interval_unit: 'day', payments_count: '1' }, merchant),
  ];
  for (const schedule_id of [mine, other]) await shop.sale({ schedule_id, recurring_init: 'Y' }, merchant);
  await shop.sale({}, merchant);
  await shop.advanceClock(5 * DAY, merchant.mid);
  expect(await paymentsOf(mine)).toHaveLength(4);
  expect(await paymentsOf(mine.toUpperCase())).toHaveLength(4);
  expect(await paymentsOf(other)).toHaveLength(2);
  expect(await paymentsOf(newId())).toEqual([]);
  for (const payment of await paymentsOf(mine)) expect(payment).toMatchObject({ schedule_id: mine, mid: merchant.mid });
  expect((await shop.admin('GET', '/payments?schedule_id=monthly')).status).toBe(400);
});

test('every invariant of the database holds', async () => {
  expect((await verifyAt(shop.connection)).violations).toEqual([]);
});
