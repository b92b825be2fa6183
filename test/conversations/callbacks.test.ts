/** Callbacks of `/post` payments: every change and every outcome, once, in order, and nothing else. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readClock } from '../../src/core/sandbox/clock.ts';
import { BRAND_EXPECTATIONS, without } from '../support/brand-expectations.ts';
import { CALLBACK_MISMATCHES, type CallbackMerchant, callbacksOf, readCallback } from '../support/callbacks.ts';
import { fill } from '../support/checkout.ts';
import {
  type Fields,
  newOrderId,
  PROVIDER_POLL,
  saleFields,
  sign,
  startTestGateway,
  type TestGateway,
} from '../support/gateway.ts';
import { brandSale, type OperationAction, operationFields, operationsOf } from '../support/operations.ts';
import { sampled } from '../support/size.ts';

let shop: TestGateway;
let at: ReturnType<typeof operationsOf>;
let callbacks: Awaited<ReturnType<typeof callbacksOf>>;
beforeAll(async () => {
  shop = await startTestGateway({ simulator: true });
  at = operationsOf(shop);
  callbacks = await callbacksOf(shop);
});
afterAll(async () => {
  await shop.close();
  await callbacks.close();
});

const DAY = 86_400;
const OPERATION = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
const SETTINGS = { account_uuid: '7d0b6e0a-3f3c-4c55-9b7e-1f7a0c2d9e41' };

/** A payment and the parties that act on it. */
interface Scene {
  merchant: CallbackMerchant;
  id: string;
  /** The page to which the payer was redirected. */
  page: string;
  pass(seconds: number): Promise<void>;
  send(action: OperationAction, fields?: Fields): Promise<Fields>;
}

type Step = (scene: Scene) => Promise<unknown>;

/** A sale of an account of its own, so that no other test moves its clock. */
async function begin(brand: string, fields: Fields = {}, settings: Record<string, unknown> = {}) {
  const merchant = await callbacks.newMerchant({ ...SETTINGS, ...settings });
  return continueWith(merchant, brandSale(brand, merchant, fields));
}

async function continueWith(merchant: CallbackMerchant, request: Fields) {
  const { status, body } = await shop.post(request);
  expect(status, JSON.stringify(body)).toBe(200);
  const scene: Scene = {
    merchant,
    id: body.trans_id,
    page: body.redirect_url,
    pass: (seconds) => shop.advanceClock(seconds, merchant.mid),
    send: async (action, more = {}) => {
      const answer = await shop.post(operationFields(merchant, action, body.trans_id, more));
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      return answer.body;
    },
  };
  return { ...scene, body, request };
}

const fault = (merchant: CallbackMerchant, mode: string, more: Record<string, unknown> = {}): Promise<void> =>
  at.fault(mode, { mid: merchant.mid, ...more });

// Steps: actions and events that change a payment.
const operation =
  (action: OperationAction, amount = ''): Step =>
  ({ send }) =>
    send(action, amount === '' ? {} : { amount });
const passes =
  (...seconds: number[]): Step =>
  async ({ pass }) => {
    for (const some of seconds) await pass(some);
  };
const provider =
  (command: Record<string, unknown>): Step =>
  ({ id }) =>
    at.control(id, command);
const bank = (code: string): Step => provider({ bank_callback: code });
const executes = provider({ provider_status: 'executed' });
const approves: Step = ({ id }) => at.approve(id);
/** Changes the provider’s ledger without a notification to the gateway. */
const atProviderOnly =
  (kind: string, amount: string): Step =>
  ({ id }) =>
    at.atProvider(`/v1/payments/${id}/${kind}`, { operation: 'another-client', amount });
const decides =
  (decision: string): Step =>
  ({ page }) =>
    fill(page, { decision });
const becomes =
  (state: string): Step =>
  ({ id }) =>
    at.becomes(id, state);
const isAttendedTo =
  (attention: string): Step =>
  ({ id }) =>
    expect.poll(async () => (await at.inspect(id)).attention, PROVIDER_POLL).toBe(attention);
const setFault =
  (mode: string): Step =>
  ({ merchant }) =>
    fault(merchant, mode);

// Expected callbacks: the fields besides those that every callback of a payment has.
const callback = (action: string, result: string, status: string, more: Fields = {}): Fields => ({
  ...{ action, result, status },
  ...more,
});
const SETTLED = callback('SALE', 'SUCCESS', 'SETTLED');
const PENDING = callback('SALE', 'SUCCESS', 'PENDING');
const REDIRECT = callback('SALE', 'REDIRECT', 'REDIRECT');
const UNDEFINED = callback('SALE', 'UNDEFINED', 'PENDING');
const declined = (decline_reason: string): Fields => callback('SALE', 'DECLINED', 'DECLINED', { decline_reason });
const TOO_LATE = declined('The payer did not finish in time.');
const BY_PROVIDER = declined('Declined by the simulated provider.');
const done = (action: string, status: string, amount = '10.00'): Fields =>
  callback(action, 'SUCCESS', status, { amount, operation_id: OPERATION });
const refused = (action: string, status: string, decline_reason: string, amount = '10.00'): Fields =>
  callback(action, 'DECLINED', status, { amount, decline_reason, operation_id: OPERATION });

const AUTH = { auth: 'Y' };
const passesQueryIntervals = passes(5, 5, 15, 30, 60, 300, 900, 3600, 21_600);

type Row = [what: string, brand: string, fields: Fields, steps: Step[], callbacks: Fields[]];

const SALES: Row[] = [
  ['settled', 'vcard', {}, [], [SETTLED]],
  ['settled', 'pin-a', {}, [], [SETTLED]],
  ['declined', 'vcard', { identifier: 'decline@example.com' }, [], [declined('Declined by the test connector.')]],
  ['declined', 'pin-a', { payer_email: 'decline@example.com' }, [], [BY_PROVIDER]],
  ['authorised', 'vcard', AUTH, [], [PENDING]],
  [
    'taken back by the bank',
    'vcard',
    {},
    [provider({ chargeback: true })],
    [SETTLED, callback('CHARGEBACK', 'SUCCESS', 'CHARGEBACK')],
  ],
  ['authorised, and settled by the provider itself', 'pin-a', AUTH, [executes], [PENDING, SETTLED]],
];

const OPERATIONS: Row[] = [
  ['CAPTURE of everything', 'vcard', AUTH, [operation('CAPTURE')], [PENDING, done('CAPTURE', 'SETTLED')]],
  ['CAPTURE of a part', 'vcard', AUTH, [operation('CAPTURE', '4.00')], [PENDING, done('CAPTURE', 'SETTLED', '4.00')]],
  [
    'CAPTURE that the provider refuses',
    'pin-a',
    AUTH,
    [atProviderOnly('void', '1000'), operation('CAPTURE')],
    [PENDING, refused('CAPTURE', 'PENDING', 'Only an authorised payment can be captured.')],
  ],
  [
    'CAPTURE whose response is lost: no callback before its outcome is known',
    'pin-a',
    AUTH,
    [setFault('timeout_after'), operation('CAPTURE'), passes(10)],
    [PENDING, done('CAPTURE', 'SETTLED')],
  ],
  [
    'CAPTURE pending while the provider settles it: a callback for both',
    'pin-a',
    AUTH,
    [setFault('timeout_after'), operation('CAPTURE'), executes, passes(10)],
    [PENDING, SETTLED, done('CAPTURE', 'SETTLED')],
  ],
  ['VOID', 'vcard', AUTH, [operation('VOID')], [PENDING, done('VOID', 'VOID')]],
  ['VOID of a payment that waits for its payer', 'upi-b', {}, [operation('VOID')], [PENDING, done('VOID', 'VOID')]],
  [
    'CREDITVOID of an authorisation',
    'vcard',
    AUTH,
    [operation('CREDITVOID')],
    [PENDING, done('CREDITVOID', 'REVERSAL')],
  ],
  ['CREDITVOID', 'vcard', {}, [operation('CREDITVOID')], [SETTLED, done('CREDITVOID', 'REFUND')]],
  [
    'CREDITVOID of a part, another part and the rest',
    'pin-a',
    {},
    [operation('CREDITVOID', '2.50'), operation('CREDITVOID', '2.50'), operation('CREDITVOID')],
    [
      SETTLED,
      done('CREDITVOID', 'SETTLED', '2.50'),
      done('CREDITVOID', 'SETTLED', '2.50'),
      done('CREDITVOID', 'REFUND', '5.00'),
    ],
  ],
  [
    'CREDITVOID that the provider refuses',
    'pin-a',
    {},
    [atProviderOnly('refund', '500'), operation('CREDITVOID')],
    [SETTLED, refused('CREDITVOID', 'SETTLED', 'The amount is more than what is left of the payment.')],
  ],
  [
    'CAPTURE of a part, and all of it back',
    'vcard',
    AUTH,
    [operation('CAPTURE', '4.00'), operation('CREDITVOID')],
    [PENDING, done('CAPTURE', 'SETTLED', '4.00'), done('CREDITVOID', 'REFUND', '4.00')],
  ],
  [
    'an authorisation that is not captured within seven days',
    'vcard',
    AUTH,
    [passes(7 * DAY)],
    [PENDING, callback('EXPIRY', 'SUCCESS', 'EXPIRED')],
  ],
];

const PESOS = { order_currency: 'ARS' };
const DINARS = { order_currency: 'RSD' };
const PAYERS: Row[] = [
  ['the bank reports ACSC', 'ips', DINARS, [bank('ACSC')], [PENDING, SETTLED]],
  [
    'the bank reports PDNG and RJCT',
    'ips',
    DINARS,
    [bank('PDNG'), bank('RJCT')],
    [PENDING, declined('Rejected by the bank.')],
  ],
  ['paid in time', 'transfer-a', PESOS, [executes], [PENDING, SETTLED]],
  ['not paid in five minutes', 'transfer-a', PESOS, [passes(300)], [PENDING, TOO_LATE]],
  [
    'paid after that: nothing changes',
    'transfer-a',
    PESOS,
    [passes(300), executes, isAttendedTo('late_success')],
    [PENDING, TOO_LATE],
  ],
  ['approved', 'hosted-b', {}, [decides('approve'), becomes('SETTLED')], [REDIRECT, SETTLED]],
  [
    'declined by the payer',
    'hosted-b',
    {},
    [decides('decline'), becomes('DECLINED')],
    [REDIRECT, declined('The payer declined the payment.')],
  ],
  ['left', 'hosted-b', {}, [decides('leave'), passes(3600)], [REDIRECT, TOO_LATE]],
  [
    'approved, and only authorised',
    'doc-a',
    AUTH,
    [approves, passes(1), operation('CAPTURE')],
    [REDIRECT, PENDING, done('CAPTURE', 'SETTLED')],
  ],
  [
    'approved in an app, and only authorised: pending before and after',
    'upi-b',
    AUTH,
    [approves, passes(1), operation('VOID')],
    [PENDING, PENDING, done('VOID', 'VOID')],
  ],
  ['sent', 'payout-a', {}, [becomes('SETTLED')], [PENDING, SETTLED]],
  ['not sent', 'payout-a', { payer_email: 'decline@example.com' }, [], [BY_PROVIDER]],
  ['sent', 'p2p-a', {}, [becomes('SETTLED')], [PENDING, SETTLED]],
];

function checks([, brand, fields, steps, expected]: Row) {
  return async () => {
    const scene = await begin(brand, fields);
    for (const step of steps) await step(scene);
    expect(await callbacks.delivered(scene.merchant)).toEqual(
      expected.map((row) => ({
        order_id: scene.body.order_id,
        trans_id: scene.id,
        operation_id: scene.id,
        amount: '10.00',
        currency: scene.request.order_currency,
        descriptor: 'Test Shop',
        ...row,
      })),
    );
  };
}
const named = (rows: Row[]) => rows.map((row) => ({ what: row[0], brand: row[1], row }));

describe('a sale', () => {
  test.each(sampled(named(SALES)))('$brand, $what', ({ row }) => checks(row)());
});
describe('an operation', () => {
  test.each(sampled(named(OPERATIONS)))('$brand, $what', ({ row }) => checks(row)());
});
describe('a payer', () => {
  test.each(sampled(named(PAYERS)))('$brand, $what', ({ row }) => checks(row)());
});

describe('a failing provider', () => {
  const NEVER = declined('The provider never received the payment.');
  test.each<[mode: string, brand: string, fields: Fields, steps: Step[], callbacks: Fields[]]>(
    sampled([
      ['timeout_before', 'pin-a', {}, [], [UNDEFINED, NEVER]],
      ['timeout_after', 'pin-a', {}, [], [UNDEFINED, SETTLED]],
      ['error_500', 'pin-a', {}, [], [UNDEFINED, NEVER]],
      ['wrong_amount', 'pin-a', {}, [], [UNDEFINED, SETTLED]],
      ['late_success', 'pin-a', {}, [isAttendedTo('late_success')], [BY_PROVIDER]],
      ['duplicate_news', 'hosted-b', {}, [decides('approve'), becomes('SETTLED')], [REDIRECT, SETTLED]],
      ['timeout_before', 'vcard', {}, [], [UNDEFINED, SETTLED]],
      [
        'timeout_after',
        'vcard',
        { identifier: 'decline@example.com' },
        [],
        [UNDEFINED, declined('Declined by the test connector.')],
      ],
      ['timeout_after', 'vcard', AUTH, [], [UNDEFINED, PENDING]],
      ['timeout_after', 'hosted-b', {}, [], [UNDEFINED, TOO_LATE]],
      ['timeout_after', 'ips', DINARS, [passes(5), bank('ACSC')], [UNDEFINED, SETTLED]],
      ['timeout_after', 'upi-b', {}, [passes(5), approves, becomes('SETTLED')], [UNDEFINED, SETTLED]],
      ['timeout_after', 'transfer-a', PESOS, [passes(300)], [UNDEFINED, TOO_LATE]],
      ['timeout_after', 'payout-a', {}, [passes(5), becomes('SETTLED')], [UNDEFINED, SETTLED]],
      ['timeout_before', 'payout-a', {}, [], [UNDEFINED, NEVER]],
    ]),
  )('%s, %s %j', async (mode, brand, fields, steps, expected) => {
    const merchant = await callbacks.newMerchant(SETTINGS);
    await fault(merchant, mode, { brand });
    const scene = await continueWith(merchant, brandSale(brand, merchant, fields));
    for (const step of [...steps, passesQueryIntervals]) await step(scene);
    const { order_id, order_currency } = scene.request;
    const common = { order_id, trans_id: scene.id, operation_id: scene.id, amount: '10.00', currency: order_currency };
    expect(await callbacks.delivered(merchant)).toEqual(
      expected.map((row) => ({ ...common, descriptor: 'Test Shop', ...row })),
    );
    await fault(merchant, 'none');
  });

  test('sends no callback when an operator attends to a payment', async () => {
    const scene = await begin('transfer-a', PESOS);
    for (const step of [passes(300), executes, isAttendedTo('late_success')]) await step(scene);
    expect((await shop.admin('POST', `/payments/${scene.id}/attended`)).status).toBe(200);
    expect(await callbacks.delivered(scene.merchant)).toHaveLength(2);
  });

  test('sends no callback for a notification with a wrong amount, but one for the outcome of the query', async () => {
    const scene = await begin('hosted-b');
    await fault(scene.merchant, 'wrong_amount');
    for (const step of [decides('approve'), isAttendedTo('wrong_amount')]) await step(scene);
    expect(await callbacks.delivered(scene.merchant)).toMatchObject([REDIRECT]);
    await scene.pass(60);
    expect(await callbacks.delivered(scene.merchant)).toMatchObject([REDIRECT, SETTLED]);
  });
});

describe('a payer who fills in fields on the payment page', () => {
  test.each<[brand: string, fields: Fields, after: Step[], callbacks: Fields[]]>(
    sampled([
      ['local-b', { payer_country: 'PE' }, [approves, becomes('SETTLED')], [REDIRECT, REDIRECT, SETTLED]],
      ['upi-a', { payer_country: 'IN' }, [approves, becomes('SETTLED')], [REDIRECT, PENDING, SETTLED]],
      ['transfer-a', { payer_country: 'AR', ...PESOS }, [passes(300)], [REDIRECT, PENDING, TOO_LATE]],
    ]),
  )(
    '%s: a callback when the payer is sent to the payment page, and another one when the payment proceeds',
    async (brand, fields, after, expected) => {
      const { complete = {}, asked = [] } = BRAND_EXPECTATIONS[brand] ?? {};
      const merchant = await callbacks.newMerchant();
      const bare = without(complete, ...asked);
      const scene = await continueWith(merchant, saleFields(merchant, { brand, identifier: '', ...bare, ...fields }));
      expect(await callbacks.delivered(merchant)).toMatchObject([REDIRECT]);
      expect(
        (await fill(scene.page, Object.fromEntries(asked.map((name) => [name, complete[name] ?? ''])))).status,
      ).toBe(303);
      for (const step of after) await step(scene);
      expect(await callbacks.delivered(merchant)).toMatchObject(expected);
    },
  );

  test('a payer who never comes: a callback after one hour', async () => {
    const merchant = await callbacks.newMerchant();
    const fields = { brand: 'upi-a', identifier: '', payer_country: 'IN' };
    const { pass } = await continueWith(merchant, saleFields(merchant, fields));
    await pass(3600);
    expect(await callbacks.delivered(merchant)).toMatchObject([REDIRECT, TOO_LATE]);
  });
});

describe('a repeated payment', () => {
  const CUSTOM = { 'custom_data[plan]': 'gold' };
  const repeatFields = (merchant: CallbackMerchant, first: Fields, fields: Fields = {}): Fields => {
    const order_id = newOrderId();
    return {
      ...{ action: 'RECURRING_SALE', client_key: merchant.client_key, order_id, order_amount: '3.00' },
      ...{ order_description: 'Another month', hash: sign(merchant.password, order_id) },
      recurring_first_trans_id: first.trans_id as string,
      recurring_token: first.recurring_token as string,
      ...fields,
    };
  };
  const schedule = async (merchant: CallbackMerchant): Promise<string> => {
    const terms = { name: 'Gold', interval_length: '1', interval_unit: 'day', payments_count: '2' };
    const hash = sign(merchant.password);
    const { body } = await shop.post({ action: 'CREATE_SCHEDULE', client_key: merchant.client_key, ...terms, hash });
    return body.schedule_id;
  };

  test('RECURRING_SALE: the first payment sends its token, the repetition has callbacks of its own', async () => {
    const { merchant, body: first } = await begin('vcard', { recurring_init: 'Y', ...CUSTOM });
    const again = await continueWith(merchant, repeatFields(merchant, first));
    const reserved = await continueWith(merchant, repeatFields(merchant, first, AUTH));
    const { operation_id } = await reserved.send('CAPTURE', { amount: '1.00' });
    const common = { ...CUSTOM, currency: 'USD', descriptor: 'Test Shop' };
    const of = ({ id, body }: Pick<typeof again, 'id' | 'body'>) => ({
      ...{ ...common, order_id: body.order_id, trans_id: id, operation_id: id, amount: '3.00' },
    });
    expect(await callbacks.delivered(merchant)).toEqual([
      {
        ...{ ...common, ...SETTLED, order_id: first.order_id, trans_id: first.trans_id, operation_id: first.trans_id },
        ...{ amount: '10.00', recurring_token: first.recurring_token },
      },
      { ...of(again), ...callback('RECURRING_SALE', 'SUCCESS', 'SETTLED') },
      { ...of(reserved), ...callback('RECURRING_SALE', 'SUCCESS', 'PENDING') },
      { ...of(reserved), ...done('CAPTURE', 'SETTLED', '1.00'), operation_id },
    ]);
  });

  test('a repetition that is declined, and one whose response is lost', async () => {
    const { merchant, body: first, pass } = await begin('vcard', { recurring_init: 'Y' });
    const change = { 'vcard.success': [], 'vcard.decline': ['success@example.com'] };
    expect((await shop.admin('PATCH', `/accounts/${merchant.mid}`, change)).status).toBe(200);
    await continueWith(merchant, repeatFields(merchant, first));
    await fault(merchant, 'timeout_after');
    await continueWith(merchant, repeatFields(merchant, first));
    await pass(5);
    const decline_reason = 'Declined by the test connector.';
    expect(await callbacks.delivered(merchant)).toMatchObject([
      { ...SETTLED, recurring_token: first.recurring_token },
      callback('RECURRING_SALE', 'DECLINED', 'DECLINED', { decline_reason }),
      callback('RECURRING_SALE', 'UNDEFINED', 'PENDING'),
      callback('RECURRING_SALE', 'DECLINED', 'DECLINED', { decline_reason }),
    ]);
  });

  test('scheduled charges carry the schedule and their own order ids', async () => {
    const merchant = await callbacks.newMerchant();
    const schedule_id = await schedule(merchant);
    const { body: first, pass } = await continueWith(
      merchant,
      saleFields(merchant, { recurring_init: 'Y', schedule_id, ...CUSTOM }),
    );
    await pass(3 * DAY);
    const common = { ...CUSTOM, schedule_id, amount: '10.00', currency: 'USD', descriptor: 'Test Shop' };
    const ids = { trans_id: expect.any(String), operation_id: expect.any(String) };
    const charge = callback('RECURRING_SALE', 'SUCCESS', 'SETTLED');
    expect(await callbacks.delivered(merchant)).toEqual([
      { ...common, ...SETTLED, ...ids, order_id: first.order_id, recurring_token: first.recurring_token },
      { ...common, ...charge, ...ids, order_id: `${first.order_id}:1` },
      { ...common, ...charge, ...ids, order_id: `${first.order_id}:2` },
    ]);
  });
});

describe('no callback is sent for', () => {
  test('a repeated sale, sequential or ten times concurrently', async () => {
    const merchant = await callbacks.newMerchant();
    const request = saleFields(merchant);
    for (let times = 0; times < 2; times++) await Promise.all(Array.from({ length: 10 }, () => shop.post(request)));
    expect(await callbacks.delivered(merchant)).toHaveLength(1);
  });

  test('the declined attempt when its order is tried again: the new payment has its own callback', async () => {
    const { merchant, pass, request } = await begin('vcard', { identifier: 'decline@example.com' });
    await pass(16);
    const { order_id = '' } = request;
    const second = await continueWith(merchant, saleFields(merchant, { order_id }));
    expect(await callbacks.delivered(merchant)).toMatchObject([
      { ...declined('Declined by the test connector.'), order_id },
      { ...SETTLED, order_id, trans_id: second.id },
    ]);
  });

  test('refused requests and status queries', async () => {
    const { merchant, id, body } = await begin('vcard', AUTH);
    const wrong: Fields[] = [
      saleFields(merchant, { hash: 'wrong' }),
      saleFields(merchant, { order_amount: '0.00' }),
      saleFields(merchant, { order_id: body.order_id, order_amount: '11.00' }),
      operationFields(merchant, 'CAPTURE', id, { amount: '10.01' }),
      operationFields(merchant, 'CAPTURE', id, { hash: 'wrong' }),
      operationFields(merchant, 'CREDITVOID', id, { amount: '1.00' }),
      operationFields(merchant, 'VOID', shop.merchant.mid),
    ];
    for (const request of wrong) expect((await shop.post(request)).status, JSON.stringify(request)).toBe(400);
    for (let times = 0; times < 3; times++) expect((await shop.status(id, merchant)).status).toBe(200);
    expect(await callbacks.delivered(merchant)).toMatchObject([PENDING]);
  });

  test('the second of two identical operations', async () => {
    const { merchant, id } = await begin('vcard', AUTH);
    const capture = () => shop.post(operationFields(merchant, 'CAPTURE', id));
    const answers = await Promise.all(Array.from({ length: 8 }, capture));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await callbacks.delivered(merchant)).toMatchObject([PENDING, done('CAPTURE', 'SETTLED')]);
  });
});

describe('the trigger of a change does not matter', () => {
  test.each<[action: string, fields: Fields, callbacks: Fields[]]>(
    sampled([
      ['capture', AUTH, [PENDING, done('CAPTURE', 'SETTLED')]],
      ['void', AUTH, [PENDING, done('VOID', 'VOID')]],
      ['refund', {}, [SETTLED, done('CREDITVOID', 'REFUND')]],
    ]),
  )('an operator who requests a %s', async (action, fields, expected) => {
    const { merchant, id } = await begin('vcard', fields);
    expect((await shop.admin('POST', `/payments/${id}/${action}`, {})).status).toBe(200);
    expect(await callbacks.delivered(merchant)).toMatchObject(expected);
  });

  test('ten status queries at the moment when the payment expires', async () => {
    const { merchant, id } = await begin('transfer-a', PESOS);
    await shop.gateway.installation.moveClock(merchant.mid, 300_000);
    await readClock(shop.gateway);
    const answers = await Promise.all(Array.from({ length: 10 }, () => shop.status(id, merchant)));
    for (const { body } of answers) expect(body).toMatchObject({ status: 'DECLINED' });
    expect(await callbacks.delivered(merchant)).toMatchObject([PENDING, TOO_LATE]);
  });

  test('a status query that finds the bank’s decision', async () => {
    const { merchant, id } = await begin('ips', DINARS);
    await executes({ id } as Scene);
    for (let times = 0; times < 3; times++) await shop.status(id, merchant);
    expect(await callbacks.delivered(merchant)).toMatchObject([PENDING, SETTLED]);
  });
});

test('the callback of an operation carries the operation id of the response', async () => {
  const { merchant, send } = await begin('vcard', AUTH);
  const { operation_id: captured } = await send('CAPTURE');
  const { operation_id: refunded } = await send('CREDITVOID', { amount: '4.00' });
  expect((await callbacks.delivered(merchant)).slice(1)).toMatchObject([
    { action: 'CAPTURE', operation_id: captured },
    { action: 'CREDITVOID', operation_id: refunded },
  ]);
});

test.each(
  sampled([
    ['100', 'JPY'],
    ['1.25', 'KWD'],
  ]),
)(
  'an operation on all of %s %s sends the amount as the merchant wrote it, like its response',
  async (amount, currency) => {
    const { merchant, send } = await begin('vcard', { ...AUTH, order_amount: amount, order_currency: currency });
    expect(await send('CAPTURE')).toMatchObject({ amount });
    await send('CREDITVOID');
    expect((await callbacks.delivered(merchant)).map((fields) => fields.amount)).toEqual([amount, amount, amount]);
  },
);

test('every change and every outcome has exactly one callback', async () => {
  expect(await shop.rows(CALLBACK_MISMATCHES)).toEqual([]);
});

test('logs neither a hash nor a secret of any callback', async () => {
  const { merchant } = await begin('vcard');
  await callbacks.drain();
  const hashes = callbacks.receiver.received.map((received) => readCallback(received).fields.hash as string);
  const log = shop.logs.join('\n');
  expect(log).toContain(merchant.mid);
  expect([...hashes, merchant.callback_secret].filter((secret) => log.includes(secret))).toEqual([]);
});
