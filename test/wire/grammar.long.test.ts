/** Fuzzing of `/post` with mutated requests: every response is well-formed, and a refused request writes nothing. */
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isWireHash } from '../../src/lib/crypto/hash.ts';
import { CURRENCIES } from '../../src/rules/currencies.ts';
import { amount } from '../../src/rules/fields.ts';
import { type Merchant, newOrderId, saleFields, sign, startTestGateway, type TestGateway } from '../support/gateway.ts';

/** Multiplies the number of generated requests, for a long run. */
const TIMES = Number(process.env.TURNPIKE_FUZZ_RUNS ?? 1);
const TIMEOUT = 120_000 * TIMES;

let shop: TestGateway;
/** The existing objects that generated requests refer to by a name in braces, which keeps failure messages readable. */
let fixtures: Record<string, string>;
beforeAll(async () => {
  shop = await startTestGateway();
  const other = await shop.newMerchant();
  const [mine, theirs] = await Promise.all([
    shop.sale({ auth: 'Y', recurring_init: 'Y' }),
    shop.sale({ auth: 'Y', order_id: 'their-order' }, other),
  ]);
  fixtures = {
    key: shop.merchant.client_key,
    password: shop.merchant.password,
    merchant_key: shop.merchant.merchant_key,
    mid: shop.merchant.mid,
    trans_id: mine.body.trans_id,
    recurring_token: mine.body.recurring_token,
    taken_order: mine.body.order_id,
    their_key: other.client_key,
    their_mid: other.mid,
    their_trans_id: theirs.body.trans_id,
    '60KB': 'x'.repeat(60 * 1024),
    '70KB': 'y'.repeat(70 * 1024),
  };
});
afterAll(() => shop.close());

const fill = (text: string): string =>
  text.replace(/\{([\w ]+)\}/g, (whole, name: string) =>
    name === 'new_order' ? newOrderId() : (fixtures[name] ?? whole),
  );

const SCHEDULE = { name: 'Gold', interval_length: '1', interval_unit: 'month', payments_count: '12' };
const SOME_UUID = '01990000-0000-7000-8000-0123456789ab';

/** A valid request of each action, without action, key and hash. */
const GOOD: Record<string, Record<string, string>> = {
  SALE: {
    brand: 'vcard',
    identifier: 'success@example.com',
    order_id: '{new_order}',
    order_amount: '10.00',
    order_currency: 'USD',
    order_description: 'A test order',
    payer_ip: '203.0.113.7',
    return_url: 'https://shop.example/return',
  },
  GET_TRANS_STATUS: { trans_id: '{trans_id}' },
  GET_TRANS_STATUS_BY_ORDER: { order_id: '{taken_order}' },
  CAPTURE: { trans_id: '{trans_id}', amount: '1.00' },
  VOID: { trans_id: '{trans_id}' },
  CREDITVOID: { trans_id: '{trans_id}', amount: '1.00' },
  RECURRING_SALE: {
    order_id: '{new_order}',
    order_amount: '10.00',
    order_description: 'Again',
    recurring_first_trans_id: '{trans_id}',
    recurring_token: '{recurring_token}',
  },
  CREATE_SCHEDULE: SCHEDULE,
  UPDATE_SCHEDULE: { schedule_id: SOME_UUID, ...SCHEDULE },
  DELETE_SCHEDULE: { schedule_id: SOME_UUID },
};

const SIGNED: Record<string, string[]> = {
  SALE: ['identifier', 'order_id', 'order_amount', 'order_currency'],
  GET_TRANS_STATUS_BY_ORDER: ['order_id'],
  RECURRING_SALE: ['order_id'],
  CREATE_SCHEDULE: [],
  UPDATE_SCHEDULE: ['schedule_id'],
  DELETE_SCHEDULE: ['schedule_id'],
};

/** Hostile values; text after `raw:` is put into the body without encoding. */
const HOSTILE = [
  '',
  ' ',
  '0',
  '1e3',
  '-1.00',
  '0.00',
  '1.005',
  '100000000000000000000',
  '99999999999999999999.99',
  'NaN',
  'Infinity',
  'null',
  'undefined',
  'true',
  '[object Object]',
  '__proto__',
  'constructor',
  'toString',
  '{"a":{"b":[1]}}',
  '[]',
  '🛒👩‍👩‍👧',
  'čigra İ ß ı ſ',
  '\u202eright to left\u202c',
  '\u200f\u200b\ufeff',
  '\ufffd\uffff',
  'a\nb\r\nSet-Cookie: c=d',
  "' or '1'='1",
  "'); drop table payments; --",
  '1; update accounts set name = 1',
  '$(reboot) `id` ; cat /etc/passwd | sh',
  '../../../../etc/passwd',
  '<script>alert(1)</script>',
  '%s%n%x',
  '$ {7*7}',
  'http://169.254.169.254/',
  'javascript:alert(1)',
  '{key}',
  '{merchant_key}',
  '{password}',
  'my {password}!',
  '{mid}',
  '{trans_id}',
  '{taken_order}',
  '{their_key}',
  '{their_mid}',
  '{their_trans_id}',
  'their-order',
  'live_0123456789abcdef0123456789abcdef',
  'test_0123456789abcdef0123456789abcdef',
  '4111111111111111',
  SOME_UUID,
  '{60KB}',
  '{70KB}',
  'raw:%00',
  'raw:a%00b',
  'raw:%ED%A0%80',
  'raw:%ED%BF%BF%ED%A0%80',
  'raw:%F4%90%80%80',
  'raw:%C0%AF',
  'raw:%FF%FE',
  'raw:%',
  'raw:%4',
  'raw:%zz',
  'raw:%25%',
  'raw:%u0041',
  'raw:a=b=c',
  'raw:&&&',
  'raw:;',
  'raw:+',
];

const hostile = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...HOSTILE) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 300 }) },
);

const NAMES = [
  'auth',
  'recurring_init',
  'schedule_id',
  'callback_url',
  'term_url_3ds',
  'payer_email',
  'amount',
  'order_currency',
  'day_of_month',
  'delays',
  'custom_data[a]',
  'custom_data[__proto__]',
  'custom_data[]',
  'parameters[a][0][b]',
  'action',
  'client_key',
  'hash',
];
const RENAMES = [
  '@[]',
  '@[0]',
  '@[a][b]',
  '@[a][b][c][d]',
  '@[__proto__]',
  '@[',
  '@]',
  '[@]',
  '@ ',
  '@.x',
  '__proto__',
  '__proto__[@]',
  'constructor[prototype][@]',
  '{password}',
  '',
  'raw:%zz',
  'raw:@%00',
];

const place = fc.nat(30);
const mutation = fc.oneof(
  fc.record({ kind: fc.constant('drop' as const), place }),
  fc.record({ kind: fc.constant('repeat' as const), place }),
  fc.record({ kind: fc.constant('rename' as const), place, to: fc.constantFrom(...RENAMES) }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('replace' as const), place, value: hostile }) },
  fc.record({ kind: fc.constant('add' as const), name: fc.oneof(fc.constantFrom(...NAMES), hostile), value: hostile }),
  fc.record({ kind: fc.constant('extend' as const), place, value: hostile }),
);
type Mutation = typeof mutation extends fc.Arbitrary<infer Value> ? Value : never;

type Pair = [name: string, value: string];

function mutate(pairs: Pair[], change: Mutation): Pair[] {
  if (change.kind === 'add') return [...pairs, [change.name, change.value]];
  if (pairs.length === 0) return pairs;
  const at = change.place % pairs.length;
  const [name, value] = pairs[at] as Pair;
  const instead = (...pair: Pair[]): Pair[] => pairs.toSpliced(at, 1, ...pair);
  if (change.kind === 'drop') return instead();
  if (change.kind === 'repeat') return instead([name, value], [name, value]);
  if (change.kind === 'rename') return instead([change.to.replace('@', name), value]);
  return instead([name, change.kind === 'replace' ? change.value : value + change.value]);
}

/** A mutated request: signed before the mutations, which then break the hash, or after them. */
const request = fc.record({
  action: fc.oneof(
    { weight: 2, arbitrary: fc.constant('SALE') },
    { weight: 3, arbitrary: fc.constantFrom(...Object.keys(GOOD)) },
  ),
  mutations: fc.oneof(fc.array(mutation, { maxLength: 1 }), fc.array(mutation, { maxLength: 4 })),
  isSignedAfter: fc.constantFrom(true, true, false),
});
type Request = typeof request extends fc.Arbitrary<infer Value> ? Value : never;

function pairsOf({ action, mutations, isSignedAfter }: Request): Pair[] {
  const good: Pair[] = [...Object.entries(GOOD[action] ?? {}), ['client_key', '{key}'], ['action', action]];
  const filled = (pairs: Pair[]): Pair[] => pairs.map(([name, value]) => [fill(name), fill(value)]);
  const before = filled(good);
  const after = filled(mutations.reduce(mutate, before));
  const signed = isSignedAfter ? after : before;
  const values = (SIGNED[action] ?? ['trans_id']).map((name) => signed.find((pair) => pair[0] === name)?.[1] ?? '');
  return [...after, ['hash', sign(shop.merchant.password, ...values)]];
}

const encoded = (text: string): string =>
  text.startsWith('raw:') ? text.slice(4) : encodeURIComponent(text.toWellFormed()).replaceAll('%20', '+');
const urlEncoded = (pairs: Pair[]): string =>
  pairs.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&');
const multipart = (pairs: Pair[], boundary: string): string =>
  pairs
    .map(([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
    .join('')
    .concat(`--${boundary}--\r\n`);

interface Sent {
  head: string;
  body: Buffer;
  /** Whether the request is complete; if not, the server may also close the connection without a response. */
  isWhole: boolean;
}

const FORM = 'application/x-www-form-urlencoded';
const compose = (headers: string[], body: Buffer, isWhole = true): Sent => ({
  head: ['POST /post HTTP/1.1', 'Host: gateway.example', 'Connection: close', ...headers, '', ''].join('\r\n'),
  body,
  isWhole,
});
const post = (contentType: string, body: string | Uint8Array, more: string[] = []): Sent => {
  const bytes = Buffer.from(body as string);
  return compose([`Content-Type: ${contentType}`, `Content-Length: ${bytes.length}`, ...more], bytes);
};

/** A mutation of a text: truncation, deletion or insertion. */
const damage = fc.record({
  at: fc.nat(2000),
  length: fc.nat(40),
  text: fc.constantFrom('', '%', '%z', '%C4', '\r\n', '--', '"', ';', '&', '\0'),
});
const damaged = (text: string, { at, length, text: put }: { at: number; length: number; text: string }): string => {
  const start = at % (text.length + 1);
  return text.slice(0, start) + put + text.slice(start + length);
};

const MORE_HEADERS = [
  `Content-Type: ${FORM}`,
  'Content-Type: application/json',
  'Content-Length: 5',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip',
  'Content-Encoding: gzip',
  'Host: other.example',
  'Expect: 100-continue',
  'X-Forwarded-For: 1.2.3.4',
  'X-Forwarded-For: garbage, %zz, ,',
  'X-HTTP-Method-Override: DELETE',
  'Upgrade: h2c',
  'Cookie: a=b',
  'Authorization: Bearer x',
  'X-Long: {20KB}',
  'no colon',
  ': no name',
  'X-Nul: \0',
  '__proto__: x',
];
const CONTENT_TYPES = [
  '',
  ';',
  '/',
  'x',
  'x/y; z',
  'application/json',
  'text/plain',
  `${FORM}; charset=utf-16`,
  `${FORM.toUpperCase()} ; charset=UTF-8`,
  `${FORM}, ${FORM}`,
  'multipart/form-data',
  'multipart/form-data; boundary=',
  'multipart/form-data; boundary="',
  `multipart/form-data; boundary=${'x'.repeat(71)}`,
  'multipart/mixed; boundary=B',
  'multipart/form-data; boundary=B; boundary=C',
  '__proto__',
];

const chunk = (text: string, size = Buffer.byteLength(text)): string => `${size.toString(16)}\r\n${text}\r\n`;

/** Every kind of request, given the existing objects. */
const message: fc.Arbitrary<() => Sent> = fc.oneof(
  { weight: 12, arbitrary: request.map((one) => () => post(FORM, urlEncoded(pairsOf(one)))) },
  {
    weight: 2,
    arbitrary: fc.tuple(request, damage).map(
      ([one, harm]) =>
        () =>
          post(FORM, damaged(urlEncoded(pairsOf(one)), harm)),
    ),
  },
  {
    weight: 2,
    arbitrary: request.map((one) => () => post('multipart/form-data; boundary=B', multipart(pairsOf(one), 'B'))),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(request, damage, fc.constantFrom('B', 'C', 'B-', '')).map(
      ([one, harm, boundary]) =>
        () =>
          post(`multipart/form-data; boundary=${boundary}`, damaged(multipart(pairsOf(one), 'B'), harm)),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.uint8Array({ maxLength: 400 }).map((bytes) => () => post(FORM, bytes)),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(request, fc.oneof(fc.constantFrom(...CONTENT_TYPES), fc.string({ maxLength: 40 }).map(printable)))
      .map(
        ([one, type]) =>
          () =>
            post(type, urlEncoded(pairsOf(one))),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(request, fc.array(fc.constantFrom(...MORE_HEADERS), { minLength: 1, maxLength: 3 }))
      .map(([one, headers]) => () => {
        const more = headers.map((header) => header.replace('{20KB}', 'x'.repeat(20_000)));
        // With two conflicting framings the server may choose either, so it may wait for more.
        const isFraming = headers.some((header) => /^(Content-Length|Transfer-Encoding)/.test(header));
        return { ...post(FORM, urlEncoded(pairsOf(one)), more), isWhole: !isFraming };
      }),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(request, fc.integer({ min: 1, max: 60 })).map(([one, size]) => () => {
      const text = urlEncoded(pairsOf(one));
      const pieces = text.match(new RegExp(`[^]{1,${size * 20}}`, 'gu')) ?? [];
      const body = `${pieces.map((piece) => chunk(piece)).join('')}0\r\n\r\n`;
      return compose([`Content-Type: ${FORM}`, 'Transfer-Encoding: chunked'], Buffer.from(body));
    }),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(request, fc.constantFrom(-5, -1, 1, 5, 1_000_000), fc.constantFrom('0\r\n\r\n', '', '0\r\nX', 'zz\r\n'))
      .map(([one, by, end]) => () => {
        const text = urlEncoded(pairsOf(one));
        const body = chunk(text, Buffer.byteLength(text) + by) + end;
        return compose([`Content-Type: ${FORM}`, 'Transfer-Encoding: chunked'], Buffer.from(body), false);
      }),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(request, fc.constantFrom('-30', '-1', '+1', '+1000', 'x', '-', '1e3', '99999999999999999999'))
      .map(([one, length]) => () => {
        const body = Buffer.from(urlEncoded(pairsOf(one)));
        const said = /^[+-]\d/.test(length) ? String(body.length + Number(length)) : length;
        return compose([`Content-Type: ${FORM}`, `Content-Length: ${said}`], body, false);
      }),
  },
);

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}

interface Reply {
  status: number;
  type: string;
  text: string;
}

/** Sends bytes over a new connection and reads all responses. */
function exchange({ head, body, isWhole }: Sent): Promise<Reply[]> {
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    const socket = connect(Number(new URL(shop.url).port), '127.0.0.1');
    socket.setTimeout(20_000, () => socket.destroy(new Error('No response within 20 seconds.')));
    socket.on('data', (bytes: Buffer) => received.push(bytes));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // After the response to a bad request the server need not read the rest of it.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => resolve(readReplies(Buffer.concat(received))));
    socket.write(Buffer.concat([Buffer.from(head, 'latin1'), body]));
    if (!isWhole) socket.end();
  });
}

function readReplies(bytes: Buffer): Reply[] {
  const replies: Reply[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n');
    const head = rest.subarray(0, end).toString('latin1');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
    const text = rest.subarray(end + 4, end + 4 + length).toString('utf8');
    if (status >= 200) replies.push({ status, type: /^content-type: (.+)$/im.exec(head)?.[1] ?? '', text });
    rest = rest.subarray(end + 4 + length);
  }
  return replies;
}

/** A readable description of a failed exchange. */
const told = ({ head, body }: Sent, replies: Reply[]): string =>
  `To\n${(head + body.toString('utf8')).slice(0, 3000)}\nthe gateway answered ${JSON.stringify(replies).slice(0, 3000)}`;

/** What no response and no log line may contain: secrets, hashes, and implementation details. */
function expectNothingLeaks(text: string): void {
  expect(text.toLowerCase()).not.toContain(shop.merchant.password);
  expect(text).not.toMatch(/[0-9a-f]{40}/i);
  expect(text).not.toMatch(/\.[jt]s:\d+|\bat \S+ \(/);
  expect(text).not.toMatch(/node_modules|postgres|select |insert into|unnest\(|payments p\b/i);
}

const ENVELOPE = {
  result: 'ERROR',
  error_code: expect.toSatisfy(Number.isInteger),
  error_message: expect.stringMatching(/./),
  errors: expect.any(Array),
};
/** What an unknown action is answered with besides. */
const ROUTE_HELP = { hint: expect.stringMatching(/^(There is no such|The field) action/), link: expect.any(String) };
const ENTRY = {
  error_code: expect.toSatisfy(Number.isInteger),
  error_message: expect.stringMatching(/^[^:]+: .+\.$/s),
  param: expect.stringMatching(/./),
  link: expect.stringMatching(/^http:\S+\/docs\/\S+$/),
};
/** Members that only some entries have. */
const OPTIONAL = ['expected', 'hint', 'signed_text'];

// biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary JSON
function expectInOrder({ status, type, text }: Reply): any {
  expect([200, 400, 404, 413]).toContain(status);
  expect(type).toMatch(/^application\/json/);
  expectNothingLeaks(text);
  const body = JSON.parse(text);
  if (status === 200) {
    expect(['SUCCESS', 'DECLINED', 'REDIRECT', 'UNDEFINED', 'ACCEPTED']).toContain(body.result);
    expect(body).not.toHaveProperty('errors');
    expect(body.trans_id).not.toBe(fixtures.their_trans_id);
  } else {
    expect(body).toStrictEqual(body.error_code === 0 ? { ...ENVELOPE, ...ROUTE_HELP } : ENVELOPE);
    for (const entry of body.errors) {
      const optional = OPTIONAL.filter((name) => name in entry);
      const sentences = Object.fromEntries(optional.map((name) => [name, expect.stringMatching(/./)]));
      expect(entry).toStrictEqual({ ...ENTRY, ...sentences });
    }
    // A larger response would make the gateway an amplifier for attacks.
    expect(text.length).toBeLessThan(64 * 1024);
  }
  return body;
}

describe('mutated requests', () => {
  test(
    'every request gets a well-formed response, a refused one writes nothing, and no secret leaks',
    async () => {
      const count = async (): Promise<number> =>
        Number((await shop.rows('select count(*)::int as n from payments'))[0]?.n);
      const before = await count();
      const paid = new Set<string>();
      const seen = new Map<string, number>();
      await fc.assert(
        fc.asyncProperty(message, async (make) => {
          const sent = make();
          const replies = await exchange(sent);
          try {
            if (sent.isWhole) expect(replies).toHaveLength(1);
            for (const reply of replies) {
              const body = expectInOrder(reply);
              const kind = reply.status === 200 ? body.action : `${body.error_code} ${body.error_message}`;
              seen.set(kind, (seen.get(kind) ?? 0) + 1);
              if (reply.status === 200 && /SALE$/.test(body.action)) paid.add(body.trans_id);
            }
          } catch (error) {
            throw new Error(told(sent, replies), { cause: error });
          }
        }),
        { numRuns: 1500 * TIMES, endOnFailure: true },
      );
      expect(await count()).toBe(before + paid.size);
      for (const line of shop.logs) {
        expect(JSON.parse(line)).not.toMatchObject({ level: 'error' });
        expectNothingLeaks(line);
      }
      // The generated requests reach all stages of the checks.
      for (const kind of [
        'SALE',
        'GET_TRANS_STATUS',
        '0 Route or parameters is not supported',
        '100000 Request data is invalid.',
        '100000 Hash is not valid',
      ]) {
        expect(seen.get(kind), kind).toBeGreaterThan(0);
      }
      expect((await shop.sale()).body).toMatchObject({ result: 'SUCCESS', status: 'SETTLED' });
    },
    TIMEOUT,
  );
});

describe('hash mutants', () => {
  const HASH = '8bf50e9c31913c99e7e22c61134d6e029b6eeb31';
  const PASSWORD = '9d2a6f0c4b7e81355af0c6d2e8b41790';
  const VALUES = ['success@example.com', 'order-1001', '19.99', 'USD'];

  const digit = fc.record({ kind: fc.constant('digit' as const), at: fc.nat(39), by: fc.integer({ min: 1, max: 15 }) });
  const length = fc.record({ kind: fc.constant('length' as const), at: fc.nat(39) });
  const field = fc.record({
    kind: fc.constant('field' as const),
    which: fc.nat(3),
    at: fc.nat(100),
    put: fc.constantFrom('', '0', '1', '7', '.', '-', '_', '%', 'x', '注'),
  });
  const order = fc.record({
    kind: fc.constant('order' as const),
    of: fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 }).filter((places) => places.join() !== '0,1,2,3,4'),
  });
  const missing = fc.record({ kind: fc.constant('missing' as const), which: fc.nat(4) });
  const mutant = fc.oneof(digit, length, field, order, missing);
  type Mutant = typeof mutant extends fc.Arbitrary<infer Value> ? Value : never;

  /** The values and the hash of a mutant of a validly signed request. */
  function mutantOf(
    change: Mutant,
    values: string[],
    hash: string,
    password: string,
  ): { values: string[]; hash: string } {
    if (change.kind === 'digit') {
      const other = ((Number.parseInt(hash.charAt(change.at), 16) + change.by) % 16).toString(16);
      return { values, hash: hash.slice(0, change.at) + other + hash.slice(change.at + 1) };
    }
    if (change.kind === 'length') return { values, hash: hash.slice(0, change.at) + hash.slice(change.at + 1) };
    if (change.kind === 'order') {
      return { values, hash: sign('', ...change.of.map((place) => [...values, password][place] as string)) };
    }
    if (change.kind === 'missing')
      return { values, hash: sign('', ...[...values, password].toSpliced(change.which, 1)) };
    const value = values[change.which] as string;
    const at = change.at % value.length;
    return { values: values.with(change.which, value.slice(0, at) + change.put + value.slice(at + 1)), hash };
  }

  // The hash ignores case, and a digit may be replaced by itself.
  const isReal = (changed: { values: string[]; hash: string }, values: string[], hash: string): boolean =>
    changed.hash !== hash || changed.values.join('').toUpperCase() !== values.join('').toUpperCase();

  test('the unchanged request has a valid hash', () => {
    expect(isWireHash(HASH, VALUES, [PASSWORD])).toBe(true);
  });

  test('2,000 mutants have an invalid hash', () => {
    fc.assert(
      fc.property(mutant, (change) => {
        const changed = mutantOf(change, VALUES, HASH, PASSWORD);
        fc.pre(isReal(changed, VALUES, HASH));
        expect(isWireHash(changed.hash, changed.values, [PASSWORD])).toBe(false);
      }),
      { numRuns: 2000 * TIMES },
    );
  });

  test(
    '200 mutants are refused over HTTP',
    async () => {
      const names = ['identifier', 'order_id', 'order_amount', 'order_currency'];
      await fc.assert(
        fc.asyncProperty(mutant, async (change) => {
          const good = saleFields(shop.merchant);
          const values = names.map((name) => good[name] as string);
          const changed = mutantOf(change, values, good.hash as string, shop.merchant.password);
          fc.pre(isReal(changed, values, good.hash as string));
          const fields = Object.fromEntries(names.map((name, at) => [name, changed.values[at] as string]));
          const { status, body } = await shop.post({ ...good, ...fields, hash: changed.hash });
          expect(status).toBe(400);
          const expected =
            change.kind === 'field' ? ['Hash is not valid', 'Request data is invalid.'] : ['Hash is not valid'];
          expect(expected).toContain(body.error_message);
        }),
        { numRuns: 200 * TIMES },
      );
    },
    TIMEOUT,
  );

  test.each(Object.keys(GOOD).filter((action) => action !== 'SALE'))(
    'the hash of a SALE is invalid for %s',
    async (action) => {
      const sale = saleFields(shop.merchant);
      const fields = Object.fromEntries(Object.entries(GOOD[action] ?? {}).map(([name, value]) => [name, fill(value)]));
      const { status, body } = await shop.post({ ...sale, ...fields, action, hash: sale.hash as string });
      expect(status).toBe(400);
      expect(body).toMatchObject({ error_code: 100000, error_message: 'Hash is not valid' });
    },
  );

  test.each(Object.keys(GOOD).filter((action) => action !== 'SALE'))(
    'the hash of %s is invalid for a SALE',
    async (action) => {
      const sale = saleFields(shop.merchant);
      const values = (SIGNED[action] ?? ['trans_id']).map((name) => fill(sale[name] ?? GOOD[action]?.[name] ?? ''));
      const { status, body } = await shop.post({ ...sale, hash: sign(shop.merchant.password, ...values) });
      expect(status).toBe(400);
      expect(body).toMatchObject({ error_code: 100000, error_message: 'Hash is not valid' });
    },
  );

  test('the hash of one account is invalid for another', async () => {
    const other: Merchant = await shop.newMerchant();
    const { body } = await shop.post({ ...saleFields(shop.merchant), client_key: other.client_key });
    expect(body).toMatchObject({ error_code: 100000, error_message: 'Hash is not valid' });
  });
});

describe('amounts', () => {
  const WITHOUT_FRACTION = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'.split(' ');
  const WITH_THREE_DIGITS = 'BHD IQD JOD KWD LYD OMR TND'.split(' ');

  /** The valid amounts of a currency as a pattern; at least one digit is not zero, and the first only before the point. */
  const accepted = (currency: string): RegExp =>
    WITHOUT_FRACTION.includes(currency)
      ? /^(?=.*[1-9])(0|[1-9][0-9]{0,11})(\.00)?$/
      : WITH_THREE_DIGITS.includes(currency)
        ? /^(?=.*[1-9])(0|[1-9][0-9]{0,11})\.[0-9]{2,3}$/
        : /^(?=.*[1-9])(0|[1-9][0-9]{0,11})\.[0-9]{2}$/;

  const digits = (most: number) => fc.string({ unit: fc.constantFrom(...'0012345678900'), maxLength: most });
  const wellFormed = fc.tuple(digits(13), fc.constantFrom('', '.', '.'), digits(4)).map((parts) => parts.join(''));
  const usual = fc
    .tuple(fc.nat(99_999), fc.constantFrom('', '.00', '.50', '.05', '.000', '.500', '.005'))
    .map((parts) => parts.join(''));
  const odd = fc
    .tuple(
      fc.constantFrom('', '+', '-', ' ', '0x', '٣'),
      usual,
      fc.constantFrom('', ' ', '\n', 'e3', ',00', '.', 'USD', '０'),
    )
    .map((parts) => parts.join(''));
  const anyAmount = fc.oneof(
    wellFormed,
    usual,
    odd,
    fc.constantFrom(...HOSTILE.filter((value) => !/[{:]/.test(value))),
  );

  test('are valid exactly if they have the fraction digits of their currency', () => {
    for (const currency of Object.keys(CURRENCIES)) {
      const context = { value: () => currency, positions: () => [], setting: () => [], allowsHttp: true };
      fc.assert(
        fc.property(anyAmount, (text) => {
          const isAccepted = amount('order_currency').check(text, context) === undefined;
          expect(isAccepted, `${currency} ${text}`).toBe(accepted(currency).test(text));
        }),
        { numRuns: 200 * TIMES },
      );
    }
  });

  test(
    'are accepted over HTTP by the same rule',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom('USD', 'EUR', 'JPY', 'KRW', 'KWD', 'TND'),
          anyAmount,
          async (currency, text) => {
            const { status, body } = await shop.sale({ order_amount: text, order_currency: currency });
            expect(status).toBe(accepted(currency).test(text) ? 200 : 400);
            if (status === 200) expect(body.amount).toBe(text);
          },
        ),
        { numRuns: 150 * TIMES },
      );
    },
    TIMEOUT,
  );
});
