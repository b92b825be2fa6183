/** Retries, timeouts and error classes of the client, against a server that answers as it is told. */
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ConnectionError, Turnpike, TurnpikeError, type TurnpikeOptions } from '../../client/src/index.ts';
import { ERRORS, type Problem } from '../../src/rules/errors.ts';
import { entryOf, envelope } from '../../src/wire/envelope.ts';
import {
  answers,
  type Behaviour,
  closesBeforeAnswer,
  hangs,
  inTurn,
  redirectsTo,
  startReceiver,
  type TestReceiver,
} from '../support/receivers.ts';

const LINK = 'https://gateway.example/docs/errors#';

const invalid = (...problems: Problem[]) =>
  envelope(
    'invalidData',
    problems.map((problem) => entryOf(problem, problem.field, LINK + problem.field)),
  );

let server: TestReceiver;
beforeAll(async () => {
  server = await startReceiver();
});
afterAll(() => server.close());
beforeEach(() => {
  server.received.length = 0;
});

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Behaviour =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const refuses = (name: keyof typeof ERRORS, headers?: Record<string, string>): Behaviour =>
  json(ERRORS[name].http, envelope(name), headers);
const succeeds = json(200, { result: 'SUCCESS' });

const PASSWORD = 'the-password-of-this-shop';
const SECRET = 'whsec_dGhlLWNhbGxiYWNrLXNlY3JldA==';
const newClient = (options: Partial<TurnpikeOptions> = {}): Turnpike =>
  new Turnpike({
    url: new URL('/', server.url).href,
    clientKey: 'test_client',
    merchantKey: 'test_merchant',
    password: PASSWORD,
    callbackSecret: SECRET,
    retryPauseMs: 1,
    ...options,
  });

const SALE = {
  brand: 'vcard',
  identifier: 'success@example.com',
  order_id: 'order-1',
  order_amount: '1.00',
  order_currency: 'USD',
  order_description: 'Tea',
  payer_ip: '203.0.113.7',
  return_url: 'https://shop.example/return',
} as const;
const ORDER = { number: 'order-1', amount: '1.00', currency: 'USD', description: 'Tea' };
const SCHEDULE = { name: 'Tea', interval_length: 1, interval_unit: 'month', payments_count: 3 } as const;
const CREDIT = { order_id: '1', order_amount: '1.00', order_currency: 'USD', order_description: 'x', card_token: 't' };
const CHARGE = { recurring_init_trans_id: 'id', recurring_token: 't', order: ORDER };
const AGAIN = {
  ...{ order_id: '1', order_amount: '1.00', order_description: 'x' },
  ...{ recurring_first_trans_id: 'id', recurring_token: 't' },
};

/** Every request of the client, and whether it is repeated when its outcome is unknown. */
const CALLS: [name: string, call: (client: Turnpike) => Promise<unknown>, isRepeated: boolean][] = [
  ['checkout.session', ({ checkout }) => checkout.session({ order: ORDER, success_url: 'https://x.example' }), true],
  ['checkout.status', ({ checkout }) => checkout.status({ order_id: '1' }), true],
  ['checkout.refund', ({ checkout }) => checkout.refund({ payment_id: 'id', amount: '1.00' }), true],
  ['checkout.capture', ({ checkout }) => checkout.capture({ payment_id: 'id' }), true],
  ['checkout.void', ({ checkout }) => checkout.void({ payment_id: 'id' }), true],
  ['checkout.credit', ({ checkout }) => checkout.credit(CREDIT), true],
  ['checkout.recurring', ({ checkout }) => checkout.recurring(CHARGE), true],
  ['checkout.retry', ({ checkout }) => checkout.retry({ payment_id: 'id' }), true],
  ['s2s.sale', ({ s2s }) => s2s.sale(SALE), true],
  ['s2s.status', ({ s2s }) => s2s.status({ trans_id: 'id' }), true],
  ['s2s.status by order', ({ s2s }) => s2s.status({ order_id: '1' }), true],
  ['s2s.capture', ({ s2s }) => s2s.capture({ trans_id: 'id' }), true],
  ['s2s.void', ({ s2s }) => s2s.void({ trans_id: 'id' }), true],
  ['s2s.creditvoid', ({ s2s }) => s2s.creditvoid({ trans_id: 'id', amount: '1.00' }), true],
  ['s2s.recurringSale', ({ s2s }) => s2s.recurringSale(AGAIN), true],
  ['s2s.schedules.create', ({ s2s }) => s2s.schedules.create(SCHEDULE), true],
  [
    's2s.schedules.create with an id of the merchant',
    ({ s2s }) => s2s.schedules.create({ ...SCHEDULE, schedule_id: '6f0c8b9e-4d1a-4c6e-9a54-0d8f2f3b7c11' }),
    false,
  ],
  ['s2s.schedules.update', ({ s2s }) => s2s.schedules.update({ schedule_id: 'id', name: 'x' }), false],
  ['s2s.schedules.delete', ({ s2s }) => s2s.schedules.delete({ schedule_id: 'id' }), false],
];

/** What a call throws. */
async function thrown(call: Promise<unknown>): Promise<TurnpikeError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(TurnpikeError);
  return error as TurnpikeError;
}

const bodies = (): string[] => server.received.map(({ body }) => String(body));

describe.each(CALLS)('%s', (_name, call, isRepeated) => {
  const ambiguous: [string, Behaviour][] = [
    ['a lost answer', closesBeforeAnswer],
    ['HTTP 503', refuses('unavailable')],
    ['HTTP 500', refuses('internal')],
    ['HTTP 502 of a proxy', answers(502, {}, '<h1>Bad gateway</h1>')],
  ];
  test.each(ambiguous)(`${isRepeated ? 'is' : 'is not'} repeated after %s`, async (_what, failure) => {
    server.behaviour = inTurn(failure, succeeds);
    if (isRepeated) {
      expect(await call(newClient())).toMatchObject({ result: 'SUCCESS' });
      const [first, second] = bodies();
      expect(second, 'the same bytes, with the same id').toBe(first);
    } else {
      expect(await thrown(call(newClient()))).toMatchObject({ mayHaveHappened: true });
    }
    expect(server.received).toHaveLength(isRepeated ? 2 : 1);
  });

  test.each(['tooManyRequests', 'providerBusy'] as const)('is repeated after %s', async (name) => {
    server.behaviour = inTurn(refuses(name, { 'retry-after': '0' }), succeeds);
    expect(await call(newClient())).toMatchObject({ result: 'SUCCESS' });
    expect(server.received).toHaveLength(2);
  });

  test('is not repeated after a refusal', async () => {
    server.behaviour = refuses('wrongHash');
    expect(await thrown(call(newClient()))).toMatchObject({ reason: 'wrongHash', mayHaveHappened: false });
    expect(server.received).toHaveLength(1);
  });
});

describe('repeats', () => {
  test('end after the configured number', async () => {
    server.behaviour = refuses('unavailable');
    const error = await thrown(newClient({ retries: 2 }).s2s.sale(SALE));
    expect(error).toMatchObject({ name: 'UnavailableError', reason: 'unavailable', mayHaveHappened: true });
    expect(server.received).toHaveLength(3);
  });

  test('can be switched off', async () => {
    server.behaviour = refuses('tooManyRequests');
    const error = await thrown(newClient({ retries: 0 }).s2s.sale(SALE));
    expect(error).toMatchObject({ name: 'UnavailableError', mayHaveHappened: false });
    expect(server.received).toHaveLength(1);
  });

  test('wait as long as Retry-After says', async () => {
    server.behaviour = inTurn(refuses('providerBusy', { 'retry-after': '1' }), succeeds);
    const begun = performance.now();
    await newClient().s2s.sale(SALE);
    expect(performance.now() - begun).toBeGreaterThan(990);
  });

  test('do not wait for minutes: the caller gets the pause', async () => {
    server.behaviour = refuses('tooManyRequests', { 'retry-after': '90' });
    expect(await thrown(newClient().s2s.status({ order_id: '1' }))).toMatchObject({ retryAfter: 90 });
    expect(server.received).toHaveLength(1);
  });

  test('of a sale in doubt end before the duplicate window of the gateway does', async () => {
    server.behaviour = refuses('unavailable', { 'retry-after': '11' });
    expect(await thrown(newClient().s2s.sale(SALE))).toMatchObject({ retryAfter: 11, mayHaveHappened: true });
    expect(server.received).toHaveLength(1);
  });

  test('that are refused leave the doubt of the first attempt', async () => {
    server.behaviour = inTurn(closesBeforeAnswer, refuses('duplicatePayment'));
    expect(await thrown(newClient().s2s.sale(SALE))).toMatchObject({ name: 'DuplicateError', mayHaveHappened: true });
  });

  test('of an operation keep the id of the caller, and have a new one otherwise', async () => {
    server.behaviour = succeeds;
    const operation_id = '6f0c8b9e-4d1a-4c6e-9a54-0d8f2f3b7c11';
    await newClient().s2s.creditvoid({ trans_id: 'id', operation_id });
    await newClient().s2s.creditvoid({ trans_id: 'id' });
    await newClient().s2s.creditvoid({ trans_id: 'id' });
    const ids = bodies().map((body) => new URLSearchParams(body).get('operation_id'));
    expect(ids[0]).toBe(operation_id);
    expect(new Set(ids).size).toBe(3);
  });

  test('that end in vain leave the id, with which the caller can go on later', async () => {
    server.behaviour = closesBeforeAnswer;
    const refund = { payment_id: 'id', amount: '5.00' };
    const { operationId, mayHaveHappened } = await thrown(newClient({ retries: 1 }).checkout.refund(refund));
    expect(mayHaveHappened).toBe(true);
    server.behaviour = succeeds;
    await newClient().checkout.refund({ ...refund, operation_id: operationId });
    expect(new Set(bodies()).size, 'the same request').toBe(1);
  });

  test('of a schedule recognise the one that the lost request created', async () => {
    const exists = invalid({ field: 'schedule_id', sentence: 'This value is already used.' });
    server.behaviour = inTurn(closesBeforeAnswer, json(400, exists));
    const { schedule_id } = await newClient().s2s.schedules.create(SCHEDULE);
    expect(bodies().map((body) => new URLSearchParams(body).get('schedule_id'))).toEqual([schedule_id, schedule_id]);
    server.behaviour = json(400, exists);
    expect(await thrown(newClient().s2s.schedules.create(SCHEDULE))).toMatchObject({
      entries: { schedule_id: 'This value is already used.' },
    });
  });
});

describe('a request without a response', () => {
  test('ends with its timeout', async () => {
    server.behaviour = hangs;
    const error = await thrown(newClient({ timeoutMs: 30, retries: 0 }).s2s.sale(SALE));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.message).toBe(
      'The connection failed (no response within 30 ms); the gateway may have received the request.',
    );
    expect(error.mayHaveHappened).toBe(true);
  });

  test('that was never sent cannot have happened', async () => {
    const closed = await startReceiver();
    await closed.close();
    const error = await thrown(
      newClient({ url: new URL('/', closed.url).href }).s2s.schedules.delete({ schedule_id: 'x' }),
    );
    expect(error).toMatchObject({ name: 'ConnectionError', mayHaveHappened: false });
    expect(error.message).toBe('The gateway cannot be reached (ECONNREFUSED); the request was not sent.');
  });

  test('that only reads cannot have happened', async () => {
    server.behaviour = closesBeforeAnswer;
    expect(await thrown(newClient().s2s.status({ order_id: '1' }))).toMatchObject({ mayHaveHappened: false });
    expect(server.received).toHaveLength(4);
  });
});

describe('an error', () => {
  const CLASSES: [keyof typeof ERRORS, string][] = [
    ['unknownRoute', 'InvalidRequestError'],
    ['bodyTooLarge', 'InvalidRequestError'],
    ['notUuid', 'InvalidRequestError'],
    ['invalidData', 'InvalidRequestError'],
    ['wrongEnvironment', 'AuthenticationError'],
    ['addressNotAllowed', 'AuthenticationError'],
    ['wrongHash', 'AuthenticationError'],
    ['duplicatePayment', 'DuplicateError'],
    ['duplicateOperation', 'DuplicateError'],
    ['unknownTransaction', 'NotFoundError'],
    ['unknownOrder', 'NotFoundError'],
    ['unknownPayment', 'NotFoundError'],
    ['unknownSchedule', 'NotFoundError'],
    ['unknownRecurringPair', 'NotFoundError'],
    ['unknownCardToken', 'NotFoundError'],
    ['expiredCardToken', 'StateError'],
    ['refundNotAllowed', 'StateError'],
    ['captureNotPending', 'StateError'],
    ['refundTooMuch', 'StateError'],
    ['tooManyRequests', 'UnavailableError'],
    ['providerBusy', 'UnavailableError'],
    ['unavailable', 'UnavailableError'],
    ['internal', 'UnavailableError'],
  ];
  test.each(CLASSES)('%s is a %s', async (name, errorClass) => {
    server.behaviour = refuses(name, { 'x-request-id': 'req-1' });
    expect(await thrown(newClient({ retries: 0 }).s2s.sale(SALE))).toMatchObject({
      name: errorClass,
      reason: name,
      code: ERRORS[name].code,
      httpStatus: ERRORS[name].http,
      requestId: 'req-1',
    });
  });

  test('lists what is wrong with each field', async () => {
    const problems = [
      { field: 'order_amount', sentence: 'This value is not valid.' },
      { field: 'parameters[pin]', sentence: 'This value is too short. It should have 16 characters or more.' },
    ];
    server.behaviour = json(400, invalid(...problems));
    const { entries, message } = await thrown(newClient().s2s.sale(SALE));
    expect(entries).toEqual(Object.fromEntries(problems.map(({ field, sentence }) => [field, sentence])));
    expect(message).toContain('order_amount: This value is not valid.');
  });

  test('names the first field, what is expected and where the docs explain it', async () => {
    const wrong = {
      field: 'hash',
      sentence: 'Hash is not valid.',
      expected: '40 hex digits.',
      hint: 'The text is not upper-cased.',
      signedText: 'A***',
    };
    server.behaviour = json(400, invalid(wrong, { field: 'order_id', sentence: 'This value is not valid.' }));
    const error = await thrown(newClient().s2s.sale(SALE));
    expect([error.param, error.expected, error.link]).toEqual(['hash', '40 hex digits.', `${LINK}hash`]);
    expect(error.problems).toEqual([
      {
        param: 'hash',
        message: 'Hash is not valid.',
        expected: '40 hex digits.',
        hint: 'The text is not upper-cased.',
        signedText: 'A***',
        link: `${LINK}hash`,
      },
      { param: 'order_id', message: 'This value is not valid.', link: `${LINK}order_id` },
    ]);
  });

  test('without entries has the link of the header, and none from an older gateway', async () => {
    server.behaviour = refuses('unknownOrder', { link: `<${LINK}unknownorder>; rel="help"` });
    const error = await thrown(newClient().s2s.sale(SALE));
    expect([error.param, error.expected, error.link, error.problems]).toEqual([
      undefined,
      undefined,
      `${LINK}unknownorder`,
      [],
    ]);
    const entry = { error_code: 100000, error_message: 'order_id: This value is not valid.' };
    server.behaviour = json(400, { ...envelope('invalidData'), errors: [entry] });
    const older = await thrown(newClient().s2s.sale(SALE));
    expect(older.problems).toEqual([{ param: 'order_id', message: 'This value is not valid.' }]);
    expect(older.link).toBeUndefined();
  });

  test('about the key is an error of authentication', async () => {
    server.behaviour = json(400, invalid({ field: 'client_key', sentence: 'This value is not valid.' }));
    expect(await thrown(newClient().s2s.sale(SALE))).toMatchObject({ name: 'AuthenticationError' });
  });

  test('that this version does not know has a class by its code', async () => {
    const unknown = (error_code: number, http = 400): Behaviour =>
      json(http, { result: 'ERROR', error_code, error_message: 'Something new.', errors: [] });
    const rows = [
      [unknown(100000), 'InvalidRequestError'],
      [unknown(101000), 'NotFoundError'],
      [unknown(299999), 'StateError'],
      [unknown(100000, 500), 'UnavailableError'],
      [redirectsTo('https://elsewhere.example', 302), 'UnavailableError'],
      [answers(200, {}, '<html>'), 'UnavailableError'],
    ] satisfies [Behaviour, string][];
    for (const [behaviour, name] of rows) {
      server.behaviour = behaviour;
      expect(await thrown(newClient({ retries: 0 }).s2s.sale(SALE))).toMatchObject({ name, reason: 'unknown' });
    }
  });
});

test('neither the client nor an error shows a secret', async () => {
  const client = newClient({ retries: 0, timeoutMs: 50 });
  const shown = [inspect(client, { depth: 9, showHidden: true }), JSON.stringify(client)];
  for (const behaviour of [closesBeforeAnswer, hangs, refuses('internal'), refuses('wrongHash')]) {
    server.behaviour = behaviour;
    const pin = '1234567890123456';
    const error = await thrown(client.s2s.sale({ ...SALE, brand: 'pin-a', parameters: { pin } }));
    shown.push(inspect(error, { depth: 9, showHidden: true }), String(error.stack), JSON.stringify(error));
    expect(shown.join('\n')).not.toContain(pin);
  }
  for (const secret of [PASSWORD, SECRET, SECRET.slice(6)]) expect(shown.join('\n')).not.toContain(secret);
});

test('options that cannot work are refused at once, without showing the password', () => {
  for (const url of [
    '',
    'pay.example',
    'ftp://pay.example',
    'https://me:secret@pay.example',
    'https://pay.example?x',
  ]) {
    expect(() => newClient({ url })).toThrow('The option `url` is not the web address of a gateway.');
  }
  expect(() => newClient({ password: '' })).toThrow('The option `password` is missing.');
});

test('a missing key is named when it is needed', async () => {
  await expect(newClient({ clientKey: '' }).s2s.sale(SALE)).rejects.toThrow('The option `clientKey` is missing.');
  await expect(newClient({ merchantKey: undefined }).checkout.void({ payment_id: 'x' })).rejects.toThrow(
    'The option `merchantKey` is missing.',
  );
});

test('the types require what a brand requires, and take the aliases of an account', async () => {
  server.behaviour = succeeds;
  const { s2s } = newClient();
  const { brand: _brand, identifier: _identifier, ...common } = SALE;
  const names = { payer_first_name: 'Ana', payer_last_name: 'Payer' };
  await s2s.sale({ ...common, ...names, brand: 'bank-a', parameters: { bank_code: 'x', bank_account_number: '1' } });
  // @ts-expect-error the account number is missing
  await s2s.sale({ ...common, ...names, brand: 'bank-a', parameters: { bank_code: 'x' } });
  // @ts-expect-error the brand does not take this currency
  await s2s.sale({ ...common, brand: 'ips', order_currency: 'USD' });
  // @ts-expect-error the identifier is missing
  await s2s.sale({ ...common, brand: 'vcard' });
  await s2s.sale({ ...common, brand: 'alias-of-the-account', parameters: { pin: '1' } });
  expect(server.received).toHaveLength(5);
});

test('a form has nested fields, Y and N, and the brand before the long fields', async () => {
  server.behaviour = succeeds;
  await newClient().s2s.sale({
    parameters: {
      payee_name: 'Tea & Co',
      payee_country: 'DE',
      payee_identifications: [{ type: 'IBAN', identification: 'DE1' }],
    },
    custom_data: { cart: { id: 17 }, gift: true },
    auth: true,
    recurring_init: false,
    payer_city: undefined,
    ...SALE,
    brand: 'open-banking-a',
  });
  const form = [...new URLSearchParams(bodies()[0])];
  expect(form.slice(0, 4).map(([name]) => name)).toEqual(['action', 'client_key', 'hash', 'brand']);
  expect(Object.fromEntries(form)).toMatchObject({
    'parameters[payee_identifications][0][type]': 'IBAN',
    'custom_data[cart][id]': '17',
    'custom_data[gift]': 'true',
    auth: 'Y',
    recurring_init: 'N',
  });
  expect(form.map(([name]) => name)).not.toContain('payer_city');
});
