/** The admin API: accounts and their settings, the list of payments, the details of a payment, the sandbox clock. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { entryOf, UNKNOWN_ROUTE } from '../support/entries.ts';
import { DEFAULT_SETTINGS, SANDBOX_SETTINGS } from '../support/expected.ts';
import {
  ADMIN_TOKEN,
  newOrderId,
  openShop,
  saleFields,
  startTestGateway,
  type TestGateway,
} from '../support/gateway.ts';
import { preparedPayment } from '../support/payments.ts';

const shop = openShop({ trustedProxies: ['127.0.0.0/8'] });

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const DATE = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/;
const NAME_PROBLEM = 'name: This value should be a text of 100 characters or less without control characters.';
const UNKNOWN_ID = '01990000-0000-7000-8000-000000000000';

const invalid = (...entries: string[]) => ({
  result: 'ERROR',
  error_code: 100000,
  error_message: 'Request data is invalid.',
  errors: entries.map((entry) => entryOf(entry)),
});
const missing = (error_message: string) => ({ result: 'ERROR', error_code: 101000, error_message, errors: [] });

/** Sends exactly these bytes. */
async function raw(method: string, path: string, body: string | undefined, headers: Record<string, string> = {}) {
  const response = await fetch(`${shop.url}/admin/api${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests read any response body
  return { status: response.status, body: (await response.json()) as any };
}

describe('bearer token', () => {
  const UNAUTHORISED = {
    result: 'ERROR',
    error_code: 100000,
    error_message: 'The admin token is missing or wrong.',
  };
  const MISSING = { ...UNAUTHORISED, errors: [entryOf('authorization: This header is missing.')] };
  const WRONG = { ...UNAUTHORISED, errors: [entryOf('authorization: This value is not valid.')] };
  const CALLS = [
    ['GET', '/accounts'],
    ['POST', '/accounts'],
    ['GET', `/accounts/${UNKNOWN_ID}`],
    ['PATCH', `/accounts/${UNKNOWN_ID}`],
    ['POST', `/accounts/${UNKNOWN_ID}/rotate-password`],
    ['GET', '/payments'],
    ['GET', '/payments.csv'],
    ['GET', `/payments/${UNKNOWN_ID}`],
    ['GET', '/clock'],
    ['POST', '/clock'],
  ] as const;
  test.each(CALLS)('%s %s requires it', async (method, path) => {
    const { status, body, headers } = await shop.admin(method, path, undefined, '');
    expect(status).toBe(401);
    expect(body).toEqual(MISSING);
    expect(headers.get('www-authenticate')).toBe('Bearer');
  });
  test.each([
    ['wrong', `Bearer ${'x'.repeat(41)}`],
    ['too short', `Bearer ${ADMIN_TOKEN.slice(0, -1)}`],
    ['too long', `Bearer ${ADMIN_TOKEN}x`],
    ['in another case', `Bearer ${ADMIN_TOKEN.toUpperCase()}`],
    ['with a suffix', `Bearer ${ADMIN_TOKEN} x`],
    ['without a scheme', ADMIN_TOKEN],
    ['of another scheme', `Basic ${Buffer.from(`admin:${ADMIN_TOKEN}`).toString('base64')}`],
    ['of a similar scheme', `Bearers ${ADMIN_TOKEN}`],
    ['empty', 'Bearer '],
    ['only a scheme', 'Bearer'],
  ])('%s: 401', async (_, authorization) => {
    const { status, body } = await raw('GET', '/accounts', undefined, { authorization });
    expect(status).toBe(401);
    expect(body).toEqual(WRONG);
    expect(body.errors[0].expected).toMatch(/^Authorization: Bearer, a space and the admin token/);
    expect(JSON.stringify(body)).not.toContain(ADMIN_TOKEN.slice(0, -1));
  });
  test('is not accepted in the query', async () => {
    expect((await fetch(`${shop.url}/admin/api/accounts?token=${ADMIN_TOKEN}`)).status).toBe(401);
  });
  test('accepts a lower-case scheme', async () => {
    expect((await raw('GET', '/accounts', undefined, { authorization: `bearer ${ADMIN_TOKEN}` })).status).toBe(200);
  });
  test('creates nothing without authorisation', async () => {
    const before = await shop.rows('select count(*) from accounts');
    expect((await shop.admin('POST', '/accounts', { name: 'Thief' }, 'wrong')).status).toBe(401);
    expect(await shop.rows('select count(*) from accounts')).toEqual(before);
  });
});

describe('creating an account', () => {
  test('answers 201 with its keys, secrets and settings', async () => {
    const { status, body } = await shop.admin('POST', '/accounts', { name: 'Käsehaus & Söhne' });
    expect(status).toBe(201);
    expect(body).toEqual({
      mid: expect.stringMatching(UUID),
      name: 'Käsehaus & Söhne',
      suspended: false,
      environment: 'sandbox',
      client_key: expect.stringMatching(/^test_[0-9a-f]{32}$/),
      merchant_key: expect.stringMatching(/^test_[0-9a-f]{32}$/),
      password: expect.stringMatching(/^[0-9a-f]{32,}$/),
      callback_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32,}=*$/),
      settings: SANDBOX_SETTINGS,
      created_at: expect.stringMatching(DATE),
    });
    expect(new Set([body.client_key, body.merchant_key, `test_${body.password}`]).size).toBe(3);
  });
  test('issues keys that begin with live_ in production', async () => {
    const production = await startTestGateway({ environment: 'production' });
    expect(await production.newMerchant()).toMatchObject({
      environment: 'production',
      client_key: expect.stringMatching(/^live_[0-9a-f]{32}$/),
      merchant_key: expect.stringMatching(/^live_[0-9a-f]{32}$/),
    });
    await production.close();
  });
  test('gives two accounts of the same name different ids, keys and secrets', async () => {
    const [one, other] = await Promise.all([shop.newMerchant(), shop.newMerchant()]);
    for (const field of ['mid', 'client_key', 'merchant_key', 'password'] as const) {
      expect(one?.[field]).not.toBe(other?.[field]);
    }
  });
  test.each([
    ['no name', {}, 'name: This value should not be blank.'],
    ['an empty name', { name: '' }, 'name: This value should not be blank.'],
    ['a name of spaces', { name: '   ' }, 'name: This value should not be blank.'],
    ['101 characters', { name: 'x'.repeat(101) }, NAME_PROBLEM],
    ['a number', { name: 5 }, NAME_PROBLEM],
    ['null', { name: null }, NAME_PROBLEM],
    ['a list', { name: ['x'] }, NAME_PROBLEM],
    ['a NUL', { name: 'a\0b' }, NAME_PROBLEM],
    ['a lone surrogate', { name: 'a\ud800' }, NAME_PROBLEM],
    ['a line break', { name: 'Tea\r\nBcc: eve@example.com' }, NAME_PROBLEM],
    ['letters that are turned around', { name: 'Tea \u202epohs' }, NAME_PROBLEM],
    ['an unknown setting', { name: 'x', colour: 'red' }, 'colour: This setting does not exist.'],
    [
      'a bad setting',
      { name: 'x', locale: 5 },
      'locale: This value should be a language tag such as en or pt-BR, or empty.',
    ],
  ])('answers 400 for %s and creates no account', async (_, body, entry) => {
    const before = await shop.rows('select count(*) from accounts');
    expect(await shop.admin('POST', '/accounts', body)).toMatchObject({ status: 400, body: invalid(entry) });
    expect(await shop.rows('select count(*) from accounts')).toEqual(before);
  });
  test('lists all invalid fields, the name first', async () => {
    const { body } = await shop.admin('POST', '/accounts', { locale: 5, nonsense: 1, name: '' });
    expect(body).toEqual(
      invalid(
        'name: This value should not be blank.',
        'locale: This value should be a language tag such as en or pt-BR, or empty.',
        'nonsense: This setting does not exist.',
      ),
    );
  });
  test('accepts a name of 100 characters', async () => {
    expect((await shop.admin('POST', '/accounts', { name: 'x'.repeat(100) })).status).toBe(201);
  });
});

describe('reading accounts', () => {
  test('never returns the secrets again', async () => {
    const merchant = await shop.newMerchant();
    const { body: created } = await shop.admin('POST', '/accounts', { name: 'Secretive' });
    const answers = [
      await shop.admin('GET', `/accounts/${created.mid}`),
      await shop.admin('GET', '/accounts?limit=500'),
      await shop.admin('PATCH', `/accounts/${created.mid}`, { locale: 'en' }),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      const text = JSON.stringify(body);
      expect(text).toContain(created.client_key);
      for (const secret of [created.password, created.callback_secret, merchant.password]) {
        expect(text).not.toContain(secret);
      }
      expect(text).not.toMatch(/"(password|callback_secret|previous_password)"/);
    }
  });
  test('returns an account as it was created, without the secrets', async () => {
    const { body: created } = await shop.admin('POST', '/accounts', { name: 'Shown', descriptor: 'SHOWN' });
    const { password, callback_secret, ...rest } = created;
    const { status, body } = await shop.admin('GET', `/accounts/${created.mid}`);
    expect(status).toBe(200);
    expect(body).toEqual(rest);
    expect(body.settings.descriptor).toBe('SHOWN');
    expect((await shop.admin('GET', `/accounts/${created.mid.toUpperCase()}`)).body).toEqual(rest);
  });
  test.each([UNKNOWN_ID, 'x', '%00', "' or 1=1", '..%2f..', 'null', 'x'.repeat(150)])(
    'answers 404 for %s',
    async (mid) => {
      for (const [method, path, body] of [
        ['GET', `/accounts/${mid}`, undefined],
        ['PATCH', `/accounts/${mid}`, { locale: 'en' }],
        ['POST', `/accounts/${mid}/rotate-password`, undefined],
      ] as const) {
        expect(await shop.admin(method, path, body)).toMatchObject({
          status: 404,
          body: missing('Account does not exist.'),
        });
      }
    },
  );
  test('lists accounts newest first, in consecutive pages', async () => {
    const made: string[] = [];
    for (let count = 0; count < 5; count++) made.unshift((await shop.newMerchant()).mid);
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await shop.admin('GET', `/accounts?limit=3&cursor=${cursor}`);
      expect(body.items.length).toBeLessThanOrEqual(3);
      if (body.next_cursor !== null) expect(body.items).toHaveLength(3);
      seen.push(...body.items.map((account: { mid: string }) => account.mid));
      // An account created between two requests is newer than all remaining pages.
      await shop.newMerchant();
      cursor = body.next_cursor;
    } while (cursor !== null);
    expect(seen.slice(0, 5)).toEqual(made);
    expect(new Set(seen).size).toBe(seen.length);
    const first = await shop.rows('select mid from accounts order by created_at, mid limit 1');
    expect(seen.at(-1)).toBe(first[0]?.mid);
  });
  test('returns no cursor when the page ends with the last account', async () => {
    const [row] = await shop.rows('select count(*)::int as n from accounts');
    const { body } = await shop.admin('GET', `/accounts?limit=${row?.n}`);
    expect(body.items).toHaveLength(row?.n as number);
    expect(body.next_cursor).toBe(null);
    const short = await shop.admin('GET', `/accounts?limit=${(row?.n as number) - 1}`);
    expect(short.body.next_cursor).toBe(short.body.items.at(-1).mid);
  });
  test.each([
    ['limit=0', 'limit: This value is not valid.'],
    ['limit=501', 'limit: This value is not valid.'],
    ['limit=-1', 'limit: This value is not valid.'],
    ['limit=1e2', 'limit: This value is not valid.'],
    ['limit=all', 'limit: This value is not valid.'],
    ['limit=1&limit=2', 'limit: This value should be sent once.'],
    ['cursor=x', 'cursor: This value is not valid.'],
    ['name=Shop', 'name: This parameter does not exist.'],
    ['__proto__=1', '__proto__: This parameter does not exist.'],
    ['%3Cb%3E=1', 'query: This parameter does not exist.'],
  ])('?%s: 400', async (query, entry) => {
    expect(await shop.admin('GET', `/accounts?${query}`)).toMatchObject({ status: 400, body: invalid(entry) });
  });
});

describe('changing an account', () => {
  test.each([
    ['a flag', { refunds_allowed: false }, { refunds_allowed: false }],
    ['an address', { callback_url: 'https://shop.example/cb?x=1' }, { callback_url: 'https://shop.example/cb?x=1' }],
    ['a choice', { callback_format: 'json' }, { callback_format: 'json' }],
    [
      'another choice',
      { fee_calculation_method: 'transaction_level' },
      { fee_calculation_method: 'transaction_level' },
    ],
    ['addresses', { ip_allowlist: ['10.0.0.0/8', '2001:db8::1'] }, { ip_allowlist: ['10.0.0.0/8', '2001:db8::1'] }],
    ['a text', { three_ds_link_target: '_top' }, { three_ds_link_target: '_top' }],
    ['a UUID', { account_uuid: UNKNOWN_ID }, { account_uuid: UNKNOWN_ID }],
    ['brands', { brands: ['vcard'] }, { brands: ['vcard'] }],
    ['aliases', { brand_aliases: { visa: 'vcard' } }, { brand_aliases: { visa: 'vcard' } }],
    ['a number', { authorisation_days: 30 }, { authorisation_days: 30 }],
    ['a language', { locale: 'pt-BR' }, { locale: 'pt-BR' }],
    ['nothing', {}, {}],
    [
      'a nested one',
      { branding: { colour: '#1a7f5a' } },
      { branding: { ...DEFAULT_SETTINGS.branding, colour: '#1a7f5a' } },
    ],
    ['a dotted one', { 'branding.name': 'Käse' }, { branding: { ...DEFAULT_SETTINGS.branding, name: 'Käse' } }],
    ['one below settings', { settings: { descriptor: 'CHEESE' } }, { descriptor: 'CHEESE' }],
    [
      'nested below settings',
      { settings: { branding: { name: 'A' } } },
      { branding: { ...DEFAULT_SETTINGS.branding, name: 'A' } },
    ],
    [
      'dotted below settings',
      { settings: { 'branding.name': 'B' } },
      { branding: { ...DEFAULT_SETTINGS.branding, name: 'B' } },
    ],
    [
      'two that stand in both places',
      { settings: { locale: 'de' }, descriptor: 'X' },
      { locale: 'de', descriptor: 'X' },
    ],
    ['one back to its default', { locale: '' }, { locale: '' }],
  ])('%s', async (_, change, expected) => {
    const merchant = await shop.newMerchant();
    const { status, body } = await shop.admin('PATCH', `/accounts/${merchant.mid}`, change);
    expect(status).toBe(200);
    expect(body.settings).toEqual({ ...SANDBOX_SETTINGS, ...expected });
    expect((await shop.admin('GET', `/accounts/${merchant.mid}`)).body).toEqual(body);
  });

  test('merges settings into the existing ones and replaces lists and objects as a whole', async () => {
    const { mid } = await shop.newMerchant({
      brand_aliases: { visa: 'vcard' },
      ip_allowlist: ['10.0.0.1'],
      locale: 'en',
    });
    const { body } = await shop.admin('PATCH', `/accounts/${mid}`, {
      brand_aliases: { mc: 'vcard' },
      ip_allowlist: [],
    });
    expect(body.settings).toMatchObject({ ip_allowlist: [], locale: 'en' });
    expect(body.settings.brand_aliases).toEqual({ mc: 'vcard' });
  });

  test('changes the name alone and keeps the keys', async () => {
    const { mid, client_key, merchant_key } = await shop.newMerchant();
    const { body } = await shop.admin('PATCH', `/accounts/${mid}`, { name: 'Renamed' });
    expect(body).toMatchObject({ mid, name: 'Renamed', client_key, merchant_key, settings: SANDBOX_SETTINGS });
  });

  const ADDRESS = 'This value should be an http or https address without a password in it, or empty.';
  const CALLBACK_ADDRESS =
    'This value should be an http or https address of 2048 characters or less, without a user name, a password or a fragment.';
  const PRIVATE = 'This value should be a public address, callbacks do not go to private ones.';
  const NO_SETTING = 'This setting does not exist.';
  test.each<[Record<string, unknown>, string]>([
    [{ refunds_allowed: 'yes' }, 'refunds_allowed: This value should be true or false.'],
    [{ refunds_allowed: null }, 'refunds_allowed: This value should be true or false.'],
    [{ return_parameters: 1 }, 'return_parameters: This value should be true or false.'],
    [{ callback_url: 'ftp://x' }, `callback_url: ${CALLBACK_ADDRESS}`],
    [{ callback_url: 'not an address' }, `callback_url: ${CALLBACK_ADDRESS}`],
    [{ callback_url: 'https://user:pass@x.example/' }, `callback_url: ${CALLBACK_ADDRESS}`],
    [{ callback_url: ['https://x.example/'] }, `callback_url: ${CALLBACK_ADDRESS}`],
    [{ callback_url: `https://x.example/${'x'.repeat(2048)}` }, `callback_url: ${CALLBACK_ADDRESS}`],
    [{ callback_url: 'https://x.example/\0' }, `callback_url: ${CALLBACK_ADDRESS}`],
    [{ callback_url: 'https://x.example/#x' }, `callback_url: ${CALLBACK_ADDRESS}`],
    [{ callback_url: 'https://169.254.169.254/' }, `callback_url: ${PRIVATE}`],
    [{ callback_url: 'http://[::ffff:a00:1]/' }, `callback_url: ${PRIVATE}`],
    [{ branding: { logo: 'javascript:alert(1)' } }, `branding.logo: ${ADDRESS}`],
    [{ callback_format: 'xml' }, 'callback_format: This value should be one of form, json.'],
    [{ callback_format: ['form'] }, 'callback_format: This value should be one of form, json.'],
    [{ order_id_reuse: 'always' }, 'order_id_reuse: This value should be one of after_failure, never.'],
    [{ ip_allowlist: '10.0.0.1' }, 'ip_allowlist: This value should be a list of IP addresses and CIDR ranges.'],
    [{ ip_allowlist: ['10.0.0.0/33'] }, 'ip_allowlist: This value should be a list of IP addresses and CIDR ranges.'],
    [{ ip_allowlist: [''] }, 'ip_allowlist: This value should be a list of IP addresses and CIDR ranges.'],
    [{ ip_allowlist: [[]] }, 'ip_allowlist: This value should be a list of IP addresses and CIDR ranges.'],
    [
      { ip_allowlist: Array(201).fill('10.0.0.1') },
      'ip_allowlist: This value should be a list of IP addresses and CIDR ranges.',
    ],
    [
      { three_ds_link_target: 'x'.repeat(65) },
      'three_ds_link_target: This value should be a text of 64 characters or less.',
    ],
    [{ descriptor: 'x'.repeat(23) }, 'descriptor: This value should be a text of 22 characters or less.'],
    [{ descriptor: 'a\ud800' }, 'descriptor: This value should be a text of 22 characters or less.'],
    [{ descriptor: '\0' }, 'descriptor: This value should be a text of 22 characters or less.'],
    [{ account_uuid: 'x' }, 'account_uuid: This value should be a UUID, or empty.'],
    [{ brands: ['nothing'] }, 'brands: This value should be a list of brand labels.'],
    [{ brands: ['toString'] }, 'brands: This value should be a list of brand labels.'],
    [{ brands: { 0: 'vcard' } }, 'brands: This value should be a list of brand labels.'],
    [{ brand_aliases: { visa: 'nothing' } }, 'brand_aliases: This value should be an object of alias: brand label.'],
    [{ brand_aliases: { visa: ['vcard'] } }, 'brand_aliases: This value should be an object of alias: brand label.'],
    [{ brand_aliases: { '': 'vcard' } }, 'brand_aliases: This value should be an object of alias: brand label.'],
    [{ brand_aliases: ['vcard'] }, 'brand_aliases: This value should be an object of alias: brand label.'],
    [{ authorisation_days: 0 }, 'authorisation_days: This value should be a whole number from 1 to 365.'],
    [{ authorisation_days: 366 }, 'authorisation_days: This value should be a whole number from 1 to 365.'],
    [{ authorisation_days: 1.5 }, 'authorisation_days: This value should be a whole number from 1 to 365.'],
    [{ authorisation_days: '7' }, 'authorisation_days: This value should be a whole number from 1 to 365.'],
    [{ branding: { colour: 'red' } }, 'branding.colour: This value should be a colour such as #1a7f5a, or empty.'],
    [
      { branding: { colour: ['#1a7f5a'] } },
      'branding.colour: This value should be a colour such as #1a7f5a, or empty.',
    ],
    [{ locale: 'English' }, 'locale: This value should be a language tag such as en or pt-BR, or empty.'],
    [{ vcard: { success: [''] } }, 'vcard.success: This value should be a list of texts.'],
    [{ nonsense: 1 }, `nonsense: ${NO_SETTING}`],
    [{ branding: { font: 'x' } }, `branding.font: ${NO_SETTING}`],
    [{ branding: 'x' }, `branding: ${NO_SETTING}`],
    [{ branding: null }, `branding: ${NO_SETTING}`],
    [{ settings: { nonsense: 1 } }, `nonsense: ${NO_SETTING}`],
    [{ settings: null }, 'settings: This value should be an object.'],
    [{ settings: ['x'] }, 'settings: This value should be an object.'],
    [{ toString: 1 }, `toString: ${NO_SETTING}`],
    [{ '<b>': 1 }, `body: ${NO_SETTING}`],
    ...['mid', 'client_key', 'merchant_key', 'password', 'callback_secret', 'environment'].map(
      (name): [Record<string, unknown>, string] => [{ [name]: 'x' }, `${name}: ${NO_SETTING}`],
    ),
    [{ name: '' }, 'name: This value should not be blank.'],
  ])('refuses %j by name and changes nothing', async (change, entry) => {
    const { mid } = await shop.newMerchant({ descriptor: 'BEFORE' });
    const before = await shop.admin('GET', `/accounts/${mid}`);
    const { status, body } = await shop.admin('PATCH', `/accounts/${mid}`, { descriptor: 'AFTER', ...change });
    expect(status).toBe(400);
    expect(body).toEqual(invalid(entry));
    expect((await shop.admin('GET', `/accounts/${mid}`)).body).toEqual(before.body);
  });
});

describe('malformed bodies', () => {
  const NOT_AN_OBJECT = 'body: The body should be a JSON object.';
  const NOT_JSON = 'body: The body is not valid JSON.';
  test.each([
    ['a list', '[]', NOT_AN_OBJECT],
    ['a number', '1', NOT_AN_OBJECT],
    ['null', 'null', NOT_AN_OBJECT],
    ['a text', '"x"', NOT_AN_OBJECT],
    ['true', 'true', NOT_AN_OBJECT],
    ['nothing', '', NOT_AN_OBJECT],
    ['a form', 'name=x', NOT_JSON],
    ['a truncated object', '{"name":"x"', NOT_JSON],
    ['a trailing comma', '{"name":"x",}', NOT_JSON],
    [
      'a number too large',
      '{"authorisation_days":1e999}',
      'authorisation_days: This value should be a whole number from 1 to 365.',
    ],
    ['NaN', '{"authorisation_days":NaN}', NOT_JSON],
    ['a __proto__', '{"__proto__":{"name":"x"},"name":"y"}', NOT_JSON],
    ['a __proto__ inside', '{"brand_aliases":{"__proto__":{"visa":"vcard"}}}', NOT_JSON],
    ['an escaped __proto__', '{"\\u005f_proto__":{"name":"x"}}', NOT_JSON],
    ['a constructor with a prototype', '{"constructor":{"prototype":{"x":1}}}', NOT_JSON],
    ['an escaped lone surrogate', '{"name":"\\ud800"}', NAME_PROBLEM],
    ['an escaped NUL', '{"name":"\\u0000"}', NAME_PROBLEM],
    [
      'deep nesting',
      `{"branding":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
      'branding: This setting does not exist.',
    ],
  ])('%s: 400', async (_, body, entry) => {
    const { mid } = await shop.newMerchant();
    expect(await raw('PATCH', `/accounts/${mid}`, body)).toEqual({ status: 400, body: invalid(entry) });
    expect((await shop.admin('GET', `/accounts/${mid}`)).body.settings).toEqual(SANDBOX_SETTINGS);
    expect(({} as Record<string, unknown>).x).toBe(undefined);
  });
  test('more than 64 KiB: 413', async () => {
    expect(await raw('POST', '/accounts', `{"name":"${'x'.repeat(70_000)}"}`)).toEqual({
      status: 413,
      body: { result: 'ERROR', error_code: 100000, error_message: 'Request body is too large.', errors: [] },
    });
  });
  test('another content type: 400', async () => {
    expect(await raw('POST', '/accounts', '<name>x</name>', { 'content-type': 'application/xml' })).toEqual({
      status: 400,
      body: invalid('content-type: This content type is not supported.'),
    });
  });
});

describe('a changed setting takes effect with the next request', () => {
  test('ip_allowlist', async () => {
    const merchant = await shop.newMerchant();
    expect((await shop.sale({}, merchant)).body).toMatchObject({ result: 'SUCCESS' });
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { ip_allowlist: ['203.0.113.7'] });
    expect((await shop.sale({}, merchant)).body).toMatchObject({
      error_message: 'Request from this ip is not allowed.',
    });
    expect((await shop.post(saleFields(merchant), { 'x-forwarded-for': '203.0.113.7' })).body).toMatchObject({
      result: 'SUCCESS',
    });
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { ip_allowlist: [] });
    expect((await shop.sale({}, merchant)).body).toMatchObject({ result: 'SUCCESS' });
  });
  test('brand_aliases and brands', async () => {
    const merchant = await shop.newMerchant();
    expect((await shop.sale({ brand: 'visa' }, merchant)).status).toBe(400);
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { brand_aliases: { visa: 'vcard' }, brands: ['vcard'] });
    expect((await shop.sale({ brand: 'visa' }, merchant)).body).toMatchObject({ result: 'SUCCESS' });
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { brand_aliases: {} });
    expect((await shop.sale({ brand: 'visa' }, merchant)).status).toBe(400);
  });
  test('order_id_reuse', async () => {
    const merchant = await shop.newMerchant({ order_id_reuse: 'never' });
    const order_id = newOrderId();
    await shop.sale({ order_id, identifier: 'decline@example.com' }, merchant);
    await shop.advanceClock(16, merchant.mid);
    expect((await shop.sale({ order_id }, merchant)).status).toBe(400);
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { order_id_reuse: 'after_failure' });
    expect((await shop.sale({ order_id }, merchant)).body).toMatchObject({ result: 'SUCCESS' });
  });
  test('descriptor and name', async () => {
    const merchant = await shop.newMerchant();
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { name: 'Renamed Shop' });
    expect((await shop.sale({}, merchant)).body.descriptor).toBe('Renamed Shop');
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { descriptor: 'CHEESE 24' });
    expect((await shop.sale({}, merchant)).body.descriptor).toBe('CHEESE 24');
  });
});

describe('rotating the password', () => {
  test('returns a new password once, accepts the previous one for a day and no older ones', async () => {
    const merchant = await shop.newMerchant();
    const before = shop.gateway.clock.now(merchant.mid);
    const { status, body } = await shop.admin('POST', `/accounts/${merchant.mid}/rotate-password`);
    const after = shop.gateway.clock.now(merchant.mid);
    expect(status).toBe(200);
    expect(body).toEqual({
      mid: merchant.mid,
      password: expect.stringMatching(/^[0-9a-f]{32,}$/),
      previous_password_valid_until: expect.stringMatching(DATE),
    });
    const until = Date.parse(`${body.previous_password_valid_until.replace(' ', 'T')}Z`);
    expect(until - 86_400_000).toBeGreaterThan(before - 1000);
    expect(until - 86_400_000).toBeLessThanOrEqual(after);
    expect(body.password).not.toBe(merchant.password);
    const { body: again } = await shop.admin('POST', `/accounts/${merchant.mid}/rotate-password`, {});
    const sale = async (password: string) => (await shop.sale({}, { ...merchant, password })).status;
    expect([await sale(merchant.password), await sale(body.password), await sale(again.password)]).toEqual([
      400, 200, 200,
    ]);
    await shop.advanceClock(86_401, merchant.mid);
    expect([await sale(body.password), await sale(again.password)]).toEqual([400, 200]);
    expect(JSON.stringify((await shop.admin('GET', `/accounts/${merchant.mid}`)).body)).not.toContain(again.password);
  });
});

describe('the list of payments', () => {
  interface Item {
    payment_id: string;
    order_id: string;
    status: string;
  }
  const list = async (query: string): Promise<Item[]> => {
    const { status, body } = await shop.admin('GET', `/payments?${query}`);
    expect(status).toBe(200);
    return body.items;
  };
  const ids = async (query: string): Promise<string[]> => (await list(query)).map((item) => item.payment_id);

  test('returns items of this shape', async () => {
    const merchant = await shop.newMerchant();
    const { body: sale } = await shop.sale({ order_amount: '100', order_currency: 'JPY' }, merchant);
    expect(await list(`mid=${merchant.mid}`)).toEqual([
      {
        payment_id: sale.trans_id,
        mid: merchant.mid,
        order_id: sale.order_id,
        attempt: 1,
        status: 'SETTLED',
        brand: 'vcard',
        protocol: 's2s',
        amount: '100',
        currency: 'JPY',
        authorised: '100.00',
        captured: '100.00',
        refunded: '0.00',
        decline_reason: null,
        decline_class: null,
        decline_code: null,
        attention: null,
        schedule_id: null,
        created_at: sale.trans_date,
        updated_at: expect.stringMatching(DATE),
        connector: 'vcard',
        connection_id: null,
        route_reason: null,
        provider_reference: null,
        link_id: null,
        invoice_id: null,
        channel: null,
      },
    ]);
  });

  test('filters by account, order, status, brand and schedule, and by combinations', async () => {
    const merchant = await shop.newMerchant();
    const other = await shop.newMerchant();
    const order = newOrderId();
    const settled = (await shop.sale({}, merchant)).body.trans_id;
    const declined = (await shop.sale({ identifier: 'decline@example.com' }, merchant)).body.trans_id;
    const pending = (await shop.sale({ auth: 'Y', order_id: order }, merchant)).body.trans_id;
    const theirs = (await shop.sale({ order_id: order }, other)).body.trans_id;
    const planned = preparedPayment(shop, { mid: merchant.mid, scheduleId: UNKNOWN_ID, brand: 'planned-brand' });
    await shop.gateway.payments.open(planned);
    const mine = `mid=${merchant.mid}`;
    expect(await ids(mine)).toEqual([planned.paymentId, pending, declined, settled]);
    expect(await ids(`mid=${merchant.mid.toUpperCase()}`)).toHaveLength(4);
    expect(await ids(`mid=${UNKNOWN_ID}`)).toEqual([]);
    expect(await ids(`order_id=${order}`)).toEqual([theirs, pending]);
    expect(await ids(`order_id=${order}&${mine}`)).toEqual([pending]);
    expect(await ids(`${mine}&status=SETTLED`)).toEqual([settled]);
    expect(await ids(`${mine}&status=DECLINED`)).toEqual([declined]);
    expect(await ids(`${mine}&status=PENDING`)).toEqual([pending]);
    expect(await ids(`${mine}&status=REFUND`)).toEqual([]);
    expect(await ids(`${mine}&brand=vcard`)).toEqual([pending, declined, settled]);
    expect(await ids('brand=planned-brand')).toEqual([planned.paymentId]);
    expect(await ids(`brand=${encodeURIComponent("x' or 1=1 --")}`)).toEqual([]);
    expect(await ids(`schedule_id=${UNKNOWN_ID}`)).toEqual([planned.paymentId]);
    expect(await ids(`${mine}&status=&brand=&order_id=&from=&to=`)).toHaveLength(4);
  });

  test('filters by time: from is inclusive, to is exclusive', async () => {
    const merchant = await shop.newMerchant();
    await shop.advanceClock(
      Math.ceil((Date.parse('2031-05-06T07:08:09Z') - shop.gateway.clock.now()) / 1000),
      merchant.mid,
    );
    const { body: sale } = await shop.sale({}, merchant);
    const at = Date.parse(`${sale.trans_date.replace(' ', 'T')}Z`);
    expect(Math.abs(at - Date.parse('2031-05-06T07:08:09Z'))).toBeLessThan(50_000);
    const found = (query: string) => ids(`mid=${merchant.mid}&${query}`);
    const hours = (zone: string) => encodeURIComponent(`2031-05-06T07:08${zone}`);
    for (const query of [
      'from=2031-05-06',
      'to=2031-05-07',
      'from=2031-05-06%2007:08:00',
      'from=2031-05-06T07:08:00Z',
      `from=${hours('Z')}`,
      `from=${hours('+01:00')}`,
      `to=${hours('-01:00')}`,
      'from=2031-05-06&to=2031-05-07T00:00:00.000Z',
      `from=${encodeURIComponent(sale.trans_date)}`,
    ]) {
      expect(await found(query), query).toEqual([sale.trans_id]);
    }
    for (const query of [
      'from=2031-05-07',
      'to=2031-05-06',
      `from=${hours('-01:00')}`,
      `to=${hours('+01:00')}`,
      `to=${encodeURIComponent(sale.trans_date)}`,
      'from=2031-05-07&to=2031-05-06',
    ]) {
      expect(await found(query), query).toEqual([]);
    }
  });

  test.each([
    ['nothing=1', 'nothing: This parameter does not exist.'],
    ['Mid=x', 'Mid: This parameter does not exist.'],
    ['mid=x', 'mid: This value is not valid.'],
    [`mid=${UNKNOWN_ID}&mid=${UNKNOWN_ID}`, 'mid: This value should be sent once.'],
    ['mid[]=x', 'query: This parameter does not exist.'],
    ['status=PAID', 'status: This value is not valid.'],
    ['status=settled', 'status: This value is not valid.'],
    ['status=toString', 'status: This value is not valid.'],
    ['schedule_id=1', 'schedule_id: This value is not valid.'],
    ['order_id=a%00b', 'order_id: This value is not valid.'],
    ['brand=%00', 'brand: This value is not valid.'],
    ['from=yesterday', 'from: This value is not valid.'],
    ['from=2026-13-01', 'from: This value is not valid.'],
    ['from=2026-02-30', 'from: This value is not valid.'],
    ['from=2026-01-01T25:00', 'from: This value is not valid.'],
    ['from=0000-01-01', 'from: This value is not valid.'],
    ['from=1767225600', 'from: This value is not valid.'],
    ['to=9999-12-31T23:59-23:59', 'to: This value is not valid.'],
    ['to=0001-01-01T00:00%2B01:00', 'to: This value is not valid.'],
    ['limit=0', 'limit: This value is not valid.'],
    ['limit=501', 'limit: This value is not valid.'],
    ['cursor=abc', 'cursor: This value is not valid.'],
  ])('?%s: 400, and names the parameter', async (query, entry) => {
    expect(await shop.admin('GET', `/payments?${query}`)).toMatchObject({ status: 400, body: invalid(entry) });
  });
  test('names all invalid parameters', async () => {
    expect((await shop.admin('GET', '/payments?a=1&mid=x&limit=0')).body).toEqual(
      invalid('a: This parameter does not exist.', 'mid: This value is not valid.', 'limit: This value is not valid.'),
    );
  });
  test('accepts the earliest and the latest time', async () => {
    expect(await ids(`mid=${UNKNOWN_ID}&from=0001-01-01&to=9999-12-31T23:59:59.999Z`)).toEqual([]);
  });

  test('neither skips nor repeats payments while new ones arrive', async () => {
    const merchant = await shop.newMerchant();
    const sales = await Promise.all(Array.from({ length: 30 }, () => shop.sale({}, merchant)));
    const before = sales
      .map(({ body }) => body.trans_id)
      .sort()
      .reverse();
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body } = await shop.admin('GET', `/payments?mid=${merchant.mid}&limit=7&cursor=${cursor}`);
      seen.push(...body.items.map((item: Item) => item.payment_id));
      await Promise.all([shop.sale({}, merchant), shop.sale({}, merchant), shop.sale()]);
      cursor = body.next_cursor;
    }
    expect(seen).toEqual(before);
  });

  test('returns 50 items without a limit', async () => {
    const merchant = await shop.newMerchant();
    await Promise.all(Array.from({ length: 51 }, () => shop.sale({}, merchant)));
    const { body } = await shop.admin('GET', `/payments?mid=${merchant.mid}`);
    expect(body.items).toHaveLength(50);
    expect(body.next_cursor).toBe(body.items[49].payment_id);
    const last = await shop.admin('GET', `/payments?mid=${merchant.mid}&cursor=${body.next_cursor}`);
    expect(last.body.items).toHaveLength(1);
    expect(last.body.next_cursor).toBe(null);
  });
});

describe('payment details', () => {
  test('include the whole history', async () => {
    const merchant = await shop.newMerchant({ authorisation_days: 1 });
    const { body: sale } = await shop.sale({ auth: 'Y', payer_first_name: 'Ana' }, merchant);
    await shop.advanceClock(86_401, merchant.mid);
    const { status, body } = await shop.admin('GET', `/payments/${sale.trans_id}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      payment_id: sale.trans_id,
      mid: merchant.mid,
      order_id: sale.order_id,
      attempt: 1,
      status: 'EXPIRED',
      brand: 'vcard',
      protocol: 's2s',
      amount: '10.00',
      currency: 'USD',
      authorised: '10.00',
      captured: '0.00',
      refunded: '0.00',
      decline_reason: null,
      decline_class: null,
      decline_code: null,
      attention: null,
      schedule_id: null,
      created_at: sale.trans_date,
      updated_at: expect.stringMatching(DATE),
      connector: 'vcard',
      connection_id: null,
      route_reason: null,
      provider_reference: null,
      digital_wallet: null,
      link_id: null,
      invoice_id: null,
      channel: null,
      money: { gross: '0.00', refunded: '0.00', charged_back: '0.00', fees: '0.00', costs: '0.00', net: '0.00' },
      entries: [],
      fee: null,
      in_doubt: false,
      payer_until: null,
      next_step: null,
      details: {
        description: 'A test order',
        identifier: 'success@example.com',
        return_url: 'https://shop.example/return',
        payer: { first_name: 'Ana', ip: '203.0.113.7' },
      },
      history: [
        {
          seq: 1,
          event: 'opened',
          from: null,
          to: 'PREPARE',
          actor: 'merchant',
          actor_name: null,
          note: null,
          amount: null,
          at: sale.trans_date,
        },
        {
          seq: 2,
          event: 'authorised',
          from: 'PREPARE',
          to: 'PENDING',
          actor: 'provider',
          actor_name: null,
          note: null,
          amount: null,
          at: expect.stringMatching(DATE),
        },
        {
          seq: 3,
          event: 'requested expiry',
          from: 'PENDING',
          to: 'PENDING',
          actor: 'clock',
          actor_name: null,
          note: null,
          amount: null,
          at: expect.stringMatching(DATE),
        },
        {
          seq: 4,
          event: 'expired',
          from: 'PENDING',
          to: 'EXPIRED',
          actor: 'clock',
          actor_name: null,
          note: null,
          amount: null,
          at: expect.stringMatching(DATE),
        },
      ],
      operations: [expect.objectContaining({ operation: 'expiry', state: 'done', amount: '10.00' })],
      provider_calls: [
        {
          verb: 'submit',
          connector: 'vcard',
          connection_id: null,
          outcome: 'authorised',
          reason: null,
          took_ms: expect.any(Number),
          reported: null,
          authentication: null,
          at: expect.stringMatching(DATE),
        },
        expect.objectContaining({ verb: 'expiry', connector: 'vcard', connection_id: null, outcome: 'done' }),
      ],
      notifications: [],
      // The account has no callback_url.
      refund_requests: [],
      receipt: null,
      risk: null,
      callbacks: [
        expect.objectContaining({ sequence: 2, type: 'sale', state: 'parked', tries: 0, url: null, log: [] }),
        expect.objectContaining({ sequence: 4, type: 'expiry', state: 'parked', tries: 0, url: null, log: [] }),
      ],
    });
  });
  test.each([UNKNOWN_ID, 'x', '%00', "' or 1=1", '1'])('answers 404 for %s', async (id) => {
    expect(await shop.admin('GET', `/payments/${id}`)).toMatchObject({
      status: 404,
      body: missing('Payment does not exist.'),
    });
  });
});

describe('the clock', () => {
  let own: TestGateway;
  beforeAll(async () => {
    own = await startTestGateway();
  });
  afterAll(() => own.close());
  const ms = (date: string): number => Date.parse(`${date.replace(' ', 'T')}Z`);
  /** Expects a time in whole seconds between two moments. */
  const expectBetween = (time: number, from: number, to: number): void => {
    expect(time).toBeGreaterThan(from - 1000);
    expect(time).toBeLessThanOrEqual(to);
  };

  test('shows real time, and runs ahead for one account or for all', async () => {
    const { mid } = own.merchant;
    const began = own.gateway.clock.real();
    const { body: start } = await own.admin('GET', '/clock');
    expect(start).toEqual({ now: expect.stringMatching(DATE), offset_seconds: 0, mid: null });
    expectBetween(ms(start.now), began, own.gateway.clock.real());
    const { status, body } = await own.admin('POST', '/clock', { advance_seconds: 3600, mid });
    expect(status).toBe(200);
    expect(body).toEqual({ now: expect.stringMatching(DATE), offset_seconds: 3600, mid });
    expectBetween(ms(body.now) - 3_600_000, began, own.gateway.clock.real());
    expect((await own.admin('GET', '/clock')).body.offset_seconds).toBe(0);
    expect((await own.admin('POST', '/clock', { advance_seconds: 60 })).body).toMatchObject({
      offset_seconds: 60,
      mid: null,
    });
    expect((await own.admin('GET', `/clock?mid=${mid}`)).body).toMatchObject({ offset_seconds: 3660, mid });
    expect((await own.admin('POST', '/clock', { advance_seconds: 0.5, mid: null })).body.offset_seconds).toBe(60.5);
    expect((await own.admin('POST', '/clock', { advance_seconds: 0 })).body.offset_seconds).toBe(60.5);
  });

  test('dates a sale by the clock of its account', async () => {
    const merchant = await own.newMerchant();
    await own.advanceClock(86_400, merchant.mid);
    const other = await own.newMerchant();
    const began = own.gateway.clock.now();
    const { body: ahead } = await own.sale({}, merchant);
    const { body: usual } = await own.sale({}, other);
    const ended = own.gateway.clock.now();
    expectBetween(ms(ahead.trans_date) - 86_400_000, began, ended);
    expectBetween(ms(usual.trans_date), began, ended);
  });

  const RANGE = 'advance_seconds: This value should be a number from 0 to 3162240000.';
  test.each([
    ['{}', RANGE],
    ['{"advance_seconds":-1}', RANGE],
    ['{"advance_seconds":"60"}', RANGE],
    ['{"advance_seconds":null}', RANGE],
    ['{"advance_seconds":[60]}', RANGE],
    ['{"advance_seconds":true}', RANGE],
    ['{"advance_seconds":1e999}', RANGE],
    ['{"advance_seconds":3162240001}', RANGE],
    ['{"advance_seconds":3162240000}', 'advance_seconds: The clock should not run more than 3162240000 seconds ahead.'],
    ['{"advance_seconds":1,"mid":"x"}', 'mid: This is not a valid UUID.'],
    ['{"advance_seconds":1,"mid":5}', 'mid: This is not a valid UUID.'],
    ['[]', 'body: The body should be a JSON object.'],
    ['', 'body: The body should be a JSON object.'],
  ])('refuses %s and leaves the clock unchanged', async (text, entry) => {
    const before = (await own.admin('GET', '/clock')).body.offset_seconds;
    const response = await fetch(`${own.url}/admin/api/clock`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      body: text,
    });
    expect([response.status, await response.json()]).toEqual([400, invalid(entry)]);
    expect((await own.admin('GET', '/clock')).body.offset_seconds).toBe(before);
  });

  test('answers 404 for an unknown account', async () => {
    for (const call of [
      own.admin('GET', `/clock?mid=${UNKNOWN_ID}`),
      own.admin('POST', '/clock', { advance_seconds: 1, mid: UNKNOWN_ID }),
    ]) {
      expect(await call).toMatchObject({ status: 404, body: missing('Account does not exist.') });
    }
    expect((await own.admin('GET', '/clock?mid=x')).body).toEqual(invalid('mid: This value is not valid.'));
  });

  test('does not exist in production', async () => {
    const production = await startTestGateway({ environment: 'production' });
    expect(await production.admin('GET', '/clock')).toMatchObject({ status: 404, body: UNKNOWN_ROUTE });
    expect(await production.admin('POST', '/clock', { advance_seconds: 1 })).toMatchObject({
      status: 404,
      body: UNKNOWN_ROUTE,
    });
    await production.close();
  });
});
