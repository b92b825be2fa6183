/** The hash debugger: it confirms correct hashes, names the mistake in wrong ones, and reveals no password. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { explain } from '../../src/core/explain/explain.ts';
import { readRequest } from '../../src/core/explain/request.ts';
import { CHECKOUT_OPERATIONS, S2S_OPERATIONS } from '../../src/rules/operations.ts';
import { creditFields, SIGNED, sessionFields, signed } from '../support/checkout.ts';
import { cpuMs } from '../support/cpu-time.ts';
import { entryOf } from '../support/entries.ts';
import { type Answer, type Fields, type Merchant, newOrderId, openShop, saleFields, sign } from '../support/gateway.ts';

const shop = openShop();
const PAGE = readFileSync(new URL('../../docs/operator/hash-debugger.md', import.meta.url), 'utf8');
const SOME_UUID = '01990000-0000-7000-8000-0123456789ab';

const digest = (algorithm: string, content: string | Buffer): Buffer => createHash(algorithm).update(content).digest();
const md5 = (content: string): string => digest('md5', content).toString('hex');
const sha1 = (content: string | Buffer): string => digest('sha1', content).toString('hex');
const upper = (text: string): string => text.replace(/[a-z]/g, (letter) => letter.toUpperCase());

/** The secrets that no answer may contain; the digests of a password alone are secrets, too. */
const secrets = new Set<string>();
const keep = (merchant: Merchant & { callback_secret?: string }): Merchant => {
  const { password, callback_secret = password } = merchant;
  for (const secret of [password, md5(password), md5(upper(password)), callback_secret])
    secrets.add(secret.toLowerCase());
  return merchant;
};

const callbackSecret = (): string => (shop.merchant as Merchant & { callback_secret: string }).callback_secret;

const send = async (body: unknown, token?: string): Promise<Answer> => {
  const answer = await shop.admin('POST', '/explain', body, token);
  const text = JSON.stringify(answer.body).toLowerCase();
  for (const secret of secrets) expect(text).not.toContain(secret);
  return answer;
};

const ask = async (request: string, path?: string, merchant: Merchant = shop.merchant) => {
  const answer = await send({ mid: merchant.mid, request, path });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  for (const mistake of answer.body.mistakes)
    expect(PAGE, 'docs/operator/hash-debugger.md').toContain(`\`${mistake}\``);
  return answer.body;
};

const formText = (fields: Fields): string => new URLSearchParams(fields).toString();

beforeAll(() => void keep(shop.merchant));

/** A request of each action without key and hash, and the fields that its hash covers. */
const FORMS: Record<string, { fields: Fields; signs: string[] }> = {
  SALE: {
    fields: {
      brand: 'vcard',
      identifier: 'first@example.com',
      order_id: 'order a/7&x',
      order_amount: '1210.00',
      order_currency: 'USD',
      order_description: 'Two teapots',
      payer_ip: '203.0.113.7',
      return_url: 'https://shop.example/return',
    },
    signs: ['identifier', 'order_id', 'order_amount', 'order_currency'],
  },
  GET_TRANS_STATUS: { fields: { trans_id: SOME_UUID }, signs: ['trans_id'] },
  GET_TRANS_STATUS_BY_ORDER: { fields: { order_id: 'order i-7' }, signs: ['order_id'] },
  CAPTURE: { fields: { trans_id: SOME_UUID, amount: '1.00' }, signs: ['trans_id'] },
  VOID: { fields: { trans_id: SOME_UUID }, signs: ['trans_id'] },
  CREDITVOID: { fields: { trans_id: SOME_UUID, amount: '1.00' }, signs: ['trans_id'] },
  RECURRING_SALE: {
    fields: {
      order_id: 'order i-8',
      order_amount: '10.00',
      order_description: 'Again',
      recurring_first_trans_id: SOME_UUID,
      recurring_token: 'token',
    },
    signs: ['order_id'],
  },
  CREATE_SCHEDULE: {
    fields: { name: 'Gold', interval_length: '1', interval_unit: 'month', payments_count: '12' },
    signs: [],
  },
  UPDATE_SCHEDULE: { fields: { schedule_id: SOME_UUID, name: 'Silver' }, signs: ['schedule_id'] },
  DELETE_SCHEDULE: { fields: { schedule_id: SOME_UUID }, signs: ['schedule_id'] },
};

const order = { number: 'order i/9', amount: '1210.00', currency: 'USD', description: 'Two teapots & a cup' };
const CHECKOUTS: Record<string, Record<string, unknown>> = {
  session: sessionFields({ order }),
  link: { title: 'Two teapots & a cup', amount: '1210.00', currency: 'USD', description: 'With i', uses: null },
  'payment/status': { payment_id: SOME_UUID },
  'payment/card/credit': creditFields({ order_id: 'order i-10' }),
  'payment/refund': { payment_id: SOME_UUID, amount: '5.00' },
  'payment/capture': { payment_id: SOME_UUID, amount: '5.00' },
  'payment/void': { payment_id: SOME_UUID },
  'payment/retry': { payment_id: SOME_UUID },
  'payment/recurring': { recurring_init_trans_id: SOME_UUID, recurring_token: 'token', order },
};

interface Example {
  name: string;
  path: string | undefined;
  signs: string[];
  values: string[];
  /** The text of the request with this hash. */
  text: (hash: string | undefined) => string;
}

const at = (body: unknown, path: string): string =>
  String(path.split('.').reduce((place, name) => (place as Record<string, unknown>)?.[name], body) ?? '');

const EXAMPLES: Example[] = [
  ...Object.entries(FORMS).map(([action, { fields, signs }]) => ({
    name: action,
    path: undefined,
    signs,
    values: signs.map((name) => fields[name] ?? ''),
    text: (hash: string | undefined) =>
      formText({ action, client_key: shop.merchant.client_key, ...fields, ...(hash !== undefined && { hash }) }),
  })),
  ...Object.entries(CHECKOUTS).map(([path, fields]) => {
    const signs = (SIGNED[path] ?? []).filter((name) => at(fields, name) !== '');
    return {
      name: path,
      path: `/api/v1/${path}`,
      signs,
      values: signs.map((name) => at(fields, name)),
      text: (hash: string | undefined) => JSON.stringify({ merchant_key: shop.merchant.merchant_key, ...fields, hash }),
    };
  }),
];

test('there is an example of every operation', () => {
  const operations = [...Object.keys(S2S_OPERATIONS), ...Object.keys(CHECKOUT_OPERATIONS)];
  expect(EXAMPLES.map(({ name }) => name).toSorted()).toEqual(operations.toSorted());
});

describe.each(EXAMPLES)('$name', ({ name, path, signs, values, text }) => {
  test('a correct hash matches, and the answer has every step of it', async () => {
    const { password, mid } = shop.merchant;
    const signedText = upper(values.join('') + password);
    const body = await ask(text(sign(password, ...values)), path);
    expect(body).toMatchObject({
      mid,
      protocol: path === undefined ? 's2s' : 'checkout',
      action: name,
      signed_text: `${upper(values.join(''))}***`,
      md5: values.length === 0 ? null : md5(signedText),
      sha1: sha1(md5(signedText)),
      matches: true,
      mistakes: [],
      hints: [],
    });
    const sent = body.fields.filter(({ value }: { value: string }) => value !== '');
    expect(sent).toEqual(signs.map((field, index) => ({ name: field, value: values[index] })));
  });

  test('every known mistake is named', async () => {
    const { password, client_key, merchant_key } = shop.merchant;
    const join = values.join('');
    const recipe = (content: string): string => sha1(md5(content));
    const whole = upper(join + password);
    const hasValues = values.length > 0;
    const amounts = values.map((value) => (/^\d+\.00$/.test(value) ? value.slice(0, -3) : value));
    const cases: [mistake: string, hash: string, applies?: boolean][] = [
      ['not_upper_cased', recipe(join + password)],
      ['password_not_upper_cased', recipe(upper(join) + password), upper(join) !== join],
      ['values_not_upper_cased', recipe(join + upper(password)), upper(join) !== join],
      ['turkish_upper_casing', recipe((join + password).toLocaleUpperCase('tr')), join.includes('i')],
      ['lower_cased', recipe((join + password).toLowerCase()), /[A-Z]/.test(join)],
      ['md5_only', md5(whole)],
      ['sha1_only', sha1(whole)],
      ['md5_upper_cased', sha1(md5(whole).toUpperCase())],
      ['md5_bytes', sha1(digest('md5', whole))],
      ['md5_base64', sha1(digest('md5', whole).toString('base64'))],
      ['text_after_md5', sha1(`${md5(whole)}\n`)],
      ['text_after_md5', sha1(`${md5(whole)}  -\n`)],
      ['md5_of_sha1', md5(sha1(whole))],
      ['md5_twice', md5(md5(whole))],
      ['sha1_twice', sha1(sha1(whole))],
      ['sha256', digest('sha256', whole).toString('hex')],
      ['password_first', recipe(upper(password + join)), hasValues],
      ['separator', recipe(upper([...values, password].join('|'))), hasValues],
      ['separator', recipe(upper(values.join(':') + password)), values.length > 1],
      ['whitespace_before_password', recipe(`${upper(join)} ${upper(password)}`), values.length > 1],
      ['whitespace_after_password', recipe(`${whole}\n`)],
      ['client_key_as_password', recipe(upper(join + client_key))],
      ['merchant_key_as_password', recipe(upper(join + merchant_key))],
      ['callback_secret_as_password', recipe(upper(join + callbackSecret()))],
      ['password_missing', recipe(upper(join)), hasValues],
      ['password_hashed', recipe(upper(join + md5(password)))],
      ['missing_field', recipe(upper(values.slice(1).join('') + password)), hasValues],
      ['field_order', recipe(upper(values.toReversed().join('') + password)), values.length > 1],
      ['amount_format', recipe(upper(amounts.join('') + password)), amounts.join() !== values.join()],
      ['url_encoded', recipe(upper(values.map(encodeURIComponent).join('') + password)), /[ &/]/.test(join)],
      ['plus_sign', recipe(upper(join.replaceAll(' ', '+') + password)), join.includes(' ')],
      ['html_escaped', recipe(upper(join.replaceAll('&', '&amp;') + password)), join.includes('&')],
      ['json_escaped', recipe(upper(join.replaceAll('/', '\\/') + password)), join.includes('/')],
      ['hash_base64', digest('sha1', md5(whole)).toString('base64')],
      ['hash_whitespace', ` ${sign(password, ...values)}\n`],
    ];
    for (const [mistake, hash, applies = true] of cases) {
      if (!applies) continue;
      const body = await ask(text(hash), path);
      expect(body, mistake).toMatchObject({ matches: false, mistakes: [mistake] });
      expect(body.hints, mistake).toHaveLength(1);
      expect(body.hints[0]).toMatch(/^[A-Z].*\.$/s);
    }
  });

  test('a missing hash and an unknown hash have hints', async () => {
    for (const hash of [undefined, '', '  ']) {
      expect(await ask(text(hash), path)).toMatchObject({ matches: false, mistakes: ['hash_missing'] });
    }
    const other = await ask(text(sign('another password', ...values)), path);
    expect(other).toMatchObject({ matches: false, mistakes: ['unknown'] });
    expect(other.hints.length).toBeGreaterThan(2);
    for (const hash of ['x', '0'.repeat(39), 'z'.repeat(40)]) {
      expect((await ask(text(hash), path)).mistakes, hash).toEqual(['hash_format']);
    }
    expect((await ask(text('0'.repeat(32)), path)).mistakes).toEqual(['hash_length', 'unknown']);
  });
});

describe('hints', () => {
  const hashed = (...parts: string[]): string => sha1(md5(upper(parts.join(''))));
  const sale = (fields: Fields, hash: string): string =>
    formText({ ...saleFields(shop.merchant, { order_id: 'o-1', ...fields }), hash });

  test('name the fields that are in another order, missing or too many', async () => {
    const { password } = shop.merchant;
    const rule = 'SALE signs identifier, order_id, order_amount, order_currency in this order.';
    const id = 'success@example.com';
    const hints = async (...parts: string[]) => (await ask(sale({}, hashed(...parts, password)))).hints;
    expect(await hints('o-1', id, '10.00', 'USD')).toEqual([
      `The fields are signed in another order: order_id, identifier, order_amount, order_currency. ${rule}`,
    ]);
    expect(await hints('o-1', '10.00', 'USD')).toEqual([`The hash does not cover identifier. ${rule}`]);
    expect(await hints('o-1', 'USD', '10.00')).toEqual([
      'The fields are signed in another order: order_id, order_currency, order_amount. ' +
        `The hash does not cover identifier. ${rule}`,
    ]);
    expect(await hints(id, 'o-1', '10.00', 'USD', 'A test order')).toEqual([
      `The hash also covers order_description. ${rule}`,
    ]);
    expect(await hints('o-1', '10.00', 'USD', 'A test order')).toEqual([
      `The hash covers the fields of session: order_id, order_amount, order_currency, order_description. ${rule}`,
    ]);
  });

  test('a field that is not sent is not part of the rule', async () => {
    const { password } = shop.merchant;
    const body = await ask(sale({ identifier: '' }, hashed('USD', 'o-1', '10.00', password)));
    expect(body.hints[0]).toContain('SALE signs order_id, order_amount, order_currency in this order.');
    expect(body.fields[0]).toEqual({ name: 'identifier', value: '' });
  });

  test.each([
    ['10.00', '10'],
    ['10.00', '10.0'],
    ['10.00', '1000'],
    ['10.00', '10,00'],
    ['10.00', '10.000'],
    ['0.50', '50'],
    ['1234567.00', '1,234,567.00'],
    ['10', '10.00'],
    ['10.5', '10.50'],
  ])('an amount that is sent as %s and signed as %s', async (order_amount, spelling) => {
    const hash = hashed('success@example.com', 'o-1', spelling, 'USD', shop.merchant.password);
    expect(await ask(sale({ order_amount }, hash))).toMatchObject({ matches: false, mistakes: ['amount_format'] });
  });

  test('two mistakes of different steps are both named', async () => {
    const { password } = shop.merchant;
    const text = ['o-1', 'success@example.com', '10.00', 'USD'].join('');
    expect((await ask(sale({}, sha1(md5(text + password))))).mistakes).toEqual(['not_upper_cased', 'field_order']);
    expect((await ask(sale({}, md5(upper(text + password))))).mistakes).toEqual(['md5_only', 'field_order']);
    expect((await ask(sale({}, digest('sha1', upper(text + password)).toString('base64')))).mistakes).toEqual([
      'hash_base64',
      'sha1_only',
      'field_order',
    ]);
  });

  test('a body that is encoded twice, or contains a plus sign', async () => {
    const { password } = shop.merchant;
    const fields = saleFields(shop.merchant, { identifier: 'me+test@example.com', order_id: 'a b/c' });
    const encoded = Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, encodeURIComponent(value)]),
    );
    expect((await ask(formText(encoded))).mistakes).toEqual(['encoded_twice']);
    const raw = Object.entries({ ...fields, order_id: 'o-1' }).map(([name, value]) => `${name}=${value}`);
    const hash = sign(password, 'me+test@example.com', 'o-1', '10.00', 'USD');
    expect((await ask(raw.join('&').replace(/hash=.*$/, `hash=${hash}`))).mistakes).toEqual(['plus_sign']);
  });

  test('letters outside ASCII', async () => {
    const { password } = shop.merchant;
    const text = `success@example.comčigra straße10.00USD${password}`;
    const fields = { order_id: 'čigra straße' };
    const signedText = `SUCCESS@EXAMPLE.COMčIGRA STRAßE10.00USD***`;
    const ascii = await ask(sale(fields, sha1(md5(upper(text)))));
    expect(ascii).toMatchObject({ matches: true, mistakes: [], hints: [], signed_text: signedText });
    const unicode = await ask(sale(fields, sha1(md5(text.toUpperCase()))));
    expect(unicode).toMatchObject({ matches: true, mistakes: ['unicode_upper_casing'], signed_text: signedText });
    const latin1 = digest('md5', Buffer.from(upper(text.replace('č', 'é')), 'latin1')).toString('hex');
    expect((await ask(sale({ order_id: 'éigra straße' }, sha1(latin1)))).mistakes).toEqual(['latin1']);
    const misread = Buffer.from(text).toString('latin1');
    expect((await ask(sale(fields, sha1(md5(upper(misread)))))).mistakes).toEqual(['wrong_encoding']);
    const decomposed = sha1(md5(upper(text.normalize('NFD'))));
    expect((await ask(sale(fields, decomposed))).mistakes).toEqual(['unicode_normalisation']);
    const unicodeWithoutIdentifier = sha1(md5(text.replace('success@example.com', '').toUpperCase()));
    expect((await ask(sale(fields, unicodeWithoutIdentifier))).mistakes).toEqual([
      'unicode_upper_casing',
      'missing_field',
    ]);
  });

  test('white space in the request', async () => {
    const request = formText(saleFields(shop.merchant));
    expect((await ask(`${request}\n`)).mistakes).toEqual(['hash_whitespace']);
    const hash = hashed('success@example.com', 'o-1', '10.00', 'USD', shop.merchant.password);
    expect((await ask(sale({ order_id: 'o-1 ' }, hash))).mistakes).toEqual(['whitespace']);
  });

  test('the account of the key', async () => {
    const other = keep(await shop.newMerchant());
    const { client_key, merchant_key } = shop.merchant;
    const mistakes = async (key: string) =>
      (await ask(formText({ ...saleFields(shop.merchant), client_key: key }))).mistakes;
    expect(await mistakes(client_key)).toEqual([]);
    expect(await mistakes('')).toEqual(['key_missing']);
    expect(await mistakes(merchant_key)).toEqual(['wrong_key']);
    expect(await mistakes(client_key.replace('test_', 'live_'))).toEqual(['wrong_environment']);
    expect(await mistakes(other.client_key)).toEqual(['key_of_another_account']);
    // The same answer for a key that does not exist: the call does not tell which accounts exist.
    const unknown = await ask(formText({ ...saleFields(shop.merchant), client_key: `test_${'0'.repeat(32)}` }));
    const known = await ask(formText({ ...saleFields(shop.merchant), client_key: other.client_key }));
    expect(unknown.hints).toEqual(known.hints);
    const session = signed('session', sessionFields(), shop.merchant);
    expect((await ask(JSON.stringify({ ...session, merchant_key: client_key }))).mistakes).toEqual(['wrong_key']);
    // Another account's request, explained for the right account.
    expect((await ask(formText(saleFields(other)), undefined, other)).matches).toBe(true);
    expect((await ask(formText(saleFields(other)))).mistakes).toEqual(['unknown', 'key_of_another_account']);
  });

  test('an amount that is a JSON number', async () => {
    const request = {
      ...sessionFields({ order: { ...order, amount: 10.5 } }),
      merchant_key: shop.merchant.merchant_key,
    };
    const values = [order.number, '10.50', 'USD', order.description];
    const body = await ask(JSON.stringify({ ...request, hash: sign(shop.merchant.password, ...values) }));
    expect(body.mistakes).toEqual(['amount_format', 'wrong_type']);
    expect(body.hints[1]).toContain('order.amount: This value should be a text.');
  });

  test('a field that is sent twice, as a list, or in an invalid encoding', async () => {
    const request = formText(saleFields(shop.merchant));
    const body = await ask(`${request}&order_id=x`);
    expect(body.mistakes).toContain('unreadable_body');
    expect(body.hints).toContain('order_id: This value should be sent once.');
    expect((await ask(`${request}&payer_city=%zz`)).mistakes).toEqual(['unreadable_body']);
    expect((await ask(`${request}&order_id[]=x`)).mistakes).toEqual(['unreadable_body', 'wrong_type']);
    const json = JSON.stringify(signed('payment/void', { payment_id: SOME_UUID }, shop.merchant));
    expect((await ask(json.replace('{', '{"hash":"x",'))).hints).toEqual(['hash: This value should be sent once.']);
  });
});

describe('passwords', () => {
  test('the previous password is accepted during a rotation and recognised after it', async () => {
    const merchant = keep(await shop.newMerchant());
    const { body: rotated } = await shop.admin('POST', `/accounts/${merchant.mid}/rotate-password`);
    const renewed = keep({ ...merchant, password: rotated.password });
    const request = (who: Merchant) => formText(saleFields(who, { order_id: 'o-1' }));
    const during = await ask(request(merchant), undefined, merchant);
    expect(during).toMatchObject({ matches: true, mistakes: ['previous_password'] });
    const wrongOrder = sign(merchant.password, 'o-1', 'success@example.com', '10.00', 'USD');
    const text = formText({ ...saleFields(merchant, { order_id: 'o-1' }), hash: wrongOrder });
    expect(await ask(text, undefined, merchant)).toMatchObject({
      matches: false,
      mistakes: ['previous_password', 'field_order'],
    });
    const canonical = sign(renewed.password, 'success@example.com', 'o-1', '10.00', 'USD');
    expect(during.sha1).toBe(canonical);
    expect(await ask(request(renewed), undefined, merchant)).toMatchObject({ matches: true, mistakes: [] });
    await shop.advanceClock(86_401, merchant.mid);
    expect(await ask(request(merchant), undefined, merchant)).toMatchObject({
      matches: false,
      mistakes: ['expired_password'],
      sha1: canonical,
    });
    for (const password of [merchant.password, renewed.password.toUpperCase()]) {
      const { fields, signed_text } = await ask(
        formText(saleFields(renewed, { order_id: password })),
        undefined,
        merchant,
      );
      expect(fields[1]).toEqual({ name: 'order_id', value: '***' });
      expect(signed_text).toBe('SUCCESS@EXAMPLE.COM***10.00USD***');
    }
  });

  test('a request that contains the password is answered without it', async () => {
    const { password } = shop.merchant;
    const fields: Fields[] = [
      { order_id: password },
      { identifier: `my ${password.toUpperCase()}!` },
      { order_description: password },
      { [password]: 'x' },
      { [`custom_data[${password}]`]: 'x' },
      { hash: password },
      { card_cvv2: password },
      { identifier: password.slice(0, 16), order_id: password.slice(16) },
    ];
    for (const each of fields.slice(0, 7)) {
      const body = await ask(formText(saleFields(shop.merchant, each)));
      expect(body.mistakes, Object.keys(each).join()).toContain('password_sent');
    }
    expect((await ask(formText(saleFields(shop.merchant, fields[7])))).signed_text).toBe('***10.00USD***');
    const session = signed('session', sessionFields({ order: { ...order, description: password } }), shop.merchant);
    const body = await ask(JSON.stringify(session));
    expect(body).toMatchObject({ matches: true, mistakes: ['password_sent'] });
    expect(body.fields[3]).toEqual({ name: 'order.description', value: '***' });
  });

  test('card numbers are masked', async () => {
    const description = 'Paid with 4111 1111 1111 1111';
    const session = signed('session', sessionFields({ order: { ...order, description } }), shop.merchant);
    const body = await ask(JSON.stringify(session));
    expect(body.fields[3].value).toBe('Paid with 411111******1111');
    expect(JSON.stringify(body)).not.toMatch(/4111 ?1111 ?1111 ?1111/);
  });

  test('requests without signed values have no md5, which would be that of the password', async () => {
    const { client_key } = shop.merchant;
    for (const fields of [{ action: 'CREATE_SCHEDULE' }, { action: 'GET_TRANS_STATUS' }] as Fields[]) {
      const body = await ask(formText({ ...fields, client_key }));
      expect(body).toMatchObject({ md5: null, signed_text: '***', sha1: sign(shop.merchant.password) });
    }
  });

  test('neither hashes nor passwords are logged', async () => {
    const request = saleFields(shop.merchant);
    const { sha1: hash } = await ask(formText(request));
    const logs = shop.logs.join('').toLowerCase();
    for (const secret of [...secrets, hash]) expect(logs).not.toContain(secret);
    expect(logs).toContain('"action":"admin"');
  });

  test('a caller that may not operate payments gets no digests', async () => {
    const { mid } = shop.merchant;
    const text = formText(saleFields(shop.merchant));
    const read = () => readRequest(text, undefined);
    const answer = await explain(shop.gateway, { mid, mids: [mid], showsDigests: false }, read);
    expect(answer).toMatchObject({ md5: null, sha1: null, matches: true });
  });
});

describe('the gateway agrees', () => {
  test('a request with the explained sha1 is accepted', async () => {
    const { hash: _hash, ...fields } = saleFields(shop.merchant);
    const { sha1: hash } = await ask(formText(fields));
    expect((await shop.post({ ...fields, hash })).body).toMatchObject({ result: 'SUCCESS' });
    const { body: schedule } = await shop.post({
      action: 'CREATE_SCHEDULE',
      client_key: shop.merchant.client_key,
      ...FORMS.CREATE_SCHEDULE?.fields,
      hash: (await ask(formText({ action: 'CREATE_SCHEDULE' }))).sha1,
    });
    expect(schedule).toMatchObject({ result: 'SUCCESS' });
  });

  test('any values: a signed sale matches, and another order of its fields is named', async () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((each) => each.isWellFormed());
    const amount = fc.integer({ min: 1, max: 10_000_000 }).map((units) => (units / 100).toFixed(2));
    await fc.assert(
      fc.asyncProperty(text, text, amount, fc.constantFrom('USD', 'EUR', 'JPY'), async (...values) => {
        const [identifier, order_id, order_amount, order_currency] = values;
        const fields = saleFields(shop.merchant, { identifier, order_id, order_amount, order_currency });
        expect((await ask(formText(fields))).matches).toBe(true);
        const { password } = shop.merchant;
        const [a, b, c, d] = values.map(upper) as [string, string, string, string];
        if (d + c + b + a === a + b + c + d) return;
        const body = await ask(formText({ ...fields, hash: sha1(md5(d + c + b + a + upper(password))) }));
        expect(body.matches).toBe(false);
        expect(body.mistakes).toContain('field_order');
      }),
      { numRuns: 60 },
    );
  });
});

describe('the operation of a Checkout request', () => {
  test.each(Object.entries(CHECKOUTS))('%s is explained without its path', async (path, fields) => {
    const body = await ask(JSON.stringify(signed(path, fields, shop.merchant)));
    expect(body).toMatchObject({ protocol: 'checkout', matches: true, mistakes: [] });
    expect([body.action, ...body.alternatives]).toContain(path);
  });

  test('a byte order mark before the JSON is passed over', async () => {
    const body = await ask(`\ufeff${JSON.stringify(signed('session', sessionFields(), shop.merchant))}`);
    expect(body).toMatchObject({ protocol: 'checkout', matches: true, mistakes: [] });
  });

  test.each<[expected: string, fields: Record<string, unknown>]>([
    ['payment/status', { order_id: 'o-1', size: 5 }],
    ['payment/status', { trans_id: SOME_UUID }],
    ['session', { operation: 'purchase', order }],
    ['session', { order }],
    ['payment/recurring', { recurring_token: 'x', order: { number: '1' } }],
    ['payment/card/credit', { operation: 'credit', order_id: '1', order_amount: '1.00' }],
    ['payment/refund', { payment_id: SOME_UUID, amount: '5.00' }],
  ])('%s is inferred from the fields', async (expected, fields) => {
    expect((await ask(JSON.stringify({ ...fields, merchant_key: 'x', hash: 'x' }))).action).toBe(expected);
  });

  test('the hash decides between operations that fit', async () => {
    const fields = { payment_id: SOME_UUID, order_id: 'o-1', merchant_key: shop.merchant.merchant_key };
    const both = await ask(JSON.stringify({ ...fields, hash: sign(shop.merchant.password, SOME_UUID, 'o-1') }));
    expect(both).toMatchObject({ action: 'payment/status', matches: true });
    const onlyId = await ask(JSON.stringify({ ...fields, hash: sign(shop.merchant.password, SOME_UUID) }));
    expect(onlyId.matches).toBe(true);
    expect([onlyId.action, ...onlyId.alternatives]).toContain('payment/void');
  });

  test('the path decides if it is sent', async () => {
    const request = JSON.stringify(signed('payment/void', { payment_id: SOME_UUID, amount: '5.00' }, shop.merchant));
    expect(await ask(request, '/api/v1/payment/void')).toMatchObject({ action: 'payment/void', matches: true });
    const refund = await ask(request, 'https://pay.example.com/api/v1/payment/refund?x=1');
    expect(refund).toMatchObject({ action: 'payment/refund', matches: false, alternatives: [] });
    expect(refund.mistakes).toEqual(['missing_field']);
    expect(refund.hints[0]).toContain('payment/refund signs payment_id, amount in this order.');
    expect((await ask(request, 'payment/void/')).action).toBe('payment/void');
    expect((await ask(formText(saleFields(shop.merchant)), '/post')).action).toBe('SALE');
  });
});

describe('forms', () => {
  test.each(['\r\n', '\n'])('a multipart body with the line breaks %j', async (end) => {
    const parts = Object.entries(saleFields(shop.merchant)).map(
      ([name, value]) => `--B\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    const body = await ask(`${parts.join('')}--B--\r\n`.replaceAll('\r\n', end));
    expect(body).toMatchObject({ protocol: 's2s', action: 'SALE', matches: true, mistakes: [] });
  });

  test('long values and many fields are explained in bounded time', async () => {
    const fields: Fields = saleFields(shop.merchant, { hash: '0'.repeat(40), order_id: 'xé'.repeat(8000) });
    for (let index = 0; index < 180; index++) fields[`field_${index}`] = 'x'.repeat(20);
    const started = cpuMs();
    expect((await ask(formText(fields))).mistakes).toEqual(['unknown']);
    expect(cpuMs() - started).toBeLessThan(5000);
  });
});

describe('refusals', () => {
  const refused = (entry: string) => ({
    status: 400,
    body: {
      result: 'ERROR',
      error_code: 100000,
      error_message: 'Request data is invalid.',
      errors: [entryOf(entry)],
    },
  });
  const ACTIONS = `The actions are ${Object.keys(S2S_OPERATIONS).join(', ')}.`;

  test.each<[what: string, input: Record<string, unknown>, entry: string]>([
    ['no mid', { mid: undefined }, 'mid: This value should not be blank.'],
    ['a mid that is not a UUID', { mid: 'x' }, 'mid: This is not a valid UUID.'],
    ['a mid that is a list', { mid: [SOME_UUID] }, 'mid: This is not a valid UUID.'],
    ['no request', { request: undefined }, 'request: This value should not be blank.'],
    ['white space', { request: ' \n' }, 'request: This value should not be blank.'],
    ['an object', { request: { order } }, 'request: This value should be a text.'],
    ['invalid JSON', { request: '{"order": ' }, 'request: This value is not valid JSON.'],
    ['a JSON list', { request: '[]' }, 'request: The body should be a JSON object.'],
    [
      'deep JSON',
      { request: `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}` },
      'request: The body is nested too deep. It should have 16 levels or less.',
    ],
    [
      'JSON without known fields',
      { request: '{"hash":"x"}' },
      'request: The operation cannot be inferred from the fields: send the path of the request as path.',
    ],
    ['a form without an action', { request: 'order_id=1' }, `request: The form has no action. ${ACTIONS}`],
    ['an unknown action', { request: 'action=sale' }, `request: The action of the form is not known. ${ACTIONS}`],
    ['another text', { request: 'hello' }, `request: The form has no action. ${ACTIONS}`],
    ['a broken form', { request: 'action=%zz&x=%zz' }, `request: The action of the form is not known. ${ACTIONS}`],
    ['an invalid encoding', { request: 'a=%zz' }, 'request: a: This value is not valid percent-encoded UTF-8.'],
    ['JSON for /post', { request: '{"action":"SALE"}' }, 'request: A request to /post should be a form, not JSON.'],
    ['JSON with /post', { request: '{}', path: '/post' }, 'request: A request to /post should be a form, not JSON.'],
    ['a form for Checkout', { request: 'merchant_key=x' }, 'request: A Checkout request should be JSON, not a form.'],
    [
      'a form with a Checkout path',
      { request: 'action=SALE', path: '/api/v1/session' },
      'request: A Checkout request should be a JSON object, not a form.',
    ],
    [
      'an unknown path',
      { path: '/api/v1/payment/constructor' },
      'path: This is not a path of the merchant API. The paths are /post, ' +
        `${Object.keys(CHECKOUT_OPERATIONS)
          .map((path) => `/api/v1/${path}`)
          .join(', ')}.`,
    ],
    ['a path that is a number', { path: 5 }, 'path: This value should be a text.'],
  ])('%s', async (_, input, entry) => {
    const { mid } = shop.merchant;
    const answer = await send({ mid, request: formText(saleFields(shop.merchant)), ...input });
    expect(answer).toMatchObject(refused(entry));
  });

  test('a body that is not an object lists no account', async () => {
    expect(await send([])).toMatchObject(refused('body: The body should be a JSON object.'));
    expect((await send({})).body.errors).toHaveLength(2);
    expect((await send({ mid: shop.merchant.mid, request: 'action=SALE' }, '')).status).toBe(401);
    expect((await send({ mid: shop.merchant.mid, request: 'action=SALE' }, 'x'.repeat(40))).status).toBe(401);
  });

  test('an unknown account, and one out of scope', async () => {
    const request = formText(saleFields(shop.merchant));
    const answer = await send({ mid: SOME_UUID, request });
    expect(answer).toMatchObject({
      status: 404,
      body: { result: 'ERROR', error_code: 101000, error_message: 'Account does not exist.', errors: [] },
    });
    // The account is looked up before the request is read.
    expect((await send({ mid: SOME_UUID, request: 'hello' })).status).toBe(404);
    const { mid } = shop.merchant;
    const read = () => readRequest(request, undefined);
    for (const mids of [[], [SOME_UUID]]) {
      const call = explain(shop.gateway, { mid, mids, showsDigests: true }, read);
      await expect(call).rejects.toMatchObject({ error: 'noSuchAccount' });
    }
    expect(await explain(shop.gateway, { mid, mids: [SOME_UUID, mid], showsDigests: true }, read)).toMatchObject({
      matches: true,
    });
  });

  test('explaining a request changes nothing', async () => {
    const order_id = newOrderId();
    await ask(formText(saleFields(shop.merchant, { order_id })));
    expect((await shop.admin('GET', `/payments?order_id=${order_id}`)).body.items).toEqual([]);
    expect((await shop.sale({ order_id })).body).toMatchObject({ result: 'SUCCESS' });
  });
});
