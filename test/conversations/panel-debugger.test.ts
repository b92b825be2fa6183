/** The page of the hash debugger: it explains as the API does, refuses beside the field, and shows no secret. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Role } from '../../src/rules/roles.ts';
import { sessionFields, signed } from '../support/checkout.ts';
import { type Fields, type Merchant, openShop, saleFields } from '../support/gateway.ts';
import { type PanelAnswer, signedIn } from '../support/operators.ts';

const shop = openShop();

const md5 = (content: string): string => createHash('md5').update(content).digest('hex');
const formText = (fields: Fields): string => new URLSearchParams(fields).toString();
const withoutTags = (html: string): string => html.replace(/<[^>]+>/g, '');

interface Options {
  path?: string;
  role?: Role;
  mids?: string[];
  merchant?: Merchant;
}

/** Submits the form, and checks that the page has no secret of the account. */
async function explain(request: string, options: Options = {}): Promise<PanelAnswer> {
  const { path = '', role = 'owner', merchant = shop.merchant, mids = null } = options;
  const operator = await signedIn(shop, role, mids);
  const answer = await operator.submit('/admin/debugger', { mid: merchant.mid, request, path });
  const { password, callback_secret } = merchant as Merchant & { callback_secret: string };
  const page = answer.text.toLowerCase();
  for (const secret of [password, md5(password), md5(password.toUpperCase()), callback_secret]) {
    expect(page).not.toContain(secret.toLowerCase());
  }
  return answer;
}

/** What the page says about the request. */
function shown(text: string) {
  const cells = [...text.matchAll(/<td data-label="(?:Field|Value)">(.*?)<\/td>/gs)].map(([, cell = '']) =>
    withoutTags(cell),
  );
  const fact = (name: string) => new RegExp(`<dt>${name}</dt><dd>(.*?)</dd>`).exec(text)?.[1];
  return {
    notice: /<div class="notice [a-z]+" role="status">(.*?)<\/div>/.exec(text)?.[1],
    signedText: /<pre class="wrap">(.*?)<\/pre>/s.exec(text)?.[1],
    fields: Array.from({ length: cells.length / 2 }, (_, index) => cells.slice(index * 2, index * 2 + 2)),
    hints: [...text.matchAll(/<ul class="links">(.*?)<\/ul>/gs)].flatMap(([, list = '']) =>
      [...list.matchAll(/<li>(.*?)<\/li>/gs)].map(([, hint]) => hint),
    ),
    mistakes: [...text.matchAll(/<span class="badge ">(\w+)<\/span>/g)].map(([, mistake]) => mistake),
    operation: withoutTags(fact('Operation') ?? ''),
    md5: fact('MD5') && withoutTags(fact('MD5') as string),
    sha1: fact('SHA-1') && withoutTags(fact('SHA-1') as string),
    request: /<textarea[^>]*>\n(.*?)<\/textarea>/s.exec(text)?.[1]?.replaceAll('&amp;', '&').replaceAll('&quot;', '"'),
  };
}

describe('a request', () => {
  test('with the right hash is confirmed, with the text that was signed', async () => {
    const fields = saleFields(shop.merchant, { order_id: 'tea 1' });
    const { status, text } = await explain(formText(fields));
    expect(status).toBe(200);
    expect(shown(text)).toMatchObject({
      notice: 'The hash is right.',
      signedText: 'SUCCESS@EXAMPLE.COMTEA 110.00USD***',
      fields: [
        ['identifier', 'success@example.com'],
        ['order_id', 'tea 1'],
        ['order_amount', '10.00'],
        ['order_currency', 'USD'],
      ],
      hints: [],
      mistakes: [],
      operation: 'SALE',
      sha1: fields.hash,
      request: formText(fields),
    });
  });

  test('with a mistake has the hints and digests of the API', async () => {
    const { password } = shop.merchant;
    const fields = saleFields(shop.merchant, { order_id: 'order-7' });
    const lower = createHash('sha1')
      .update(md5(`success@example.comorder-710.00USD${password}`))
      .digest('hex');
    const request = formText({ ...fields, hash: lower });
    const { body: api } = await shop.admin('POST', '/explain', { mid: shop.merchant.mid, request });
    const page = shown((await explain(request)).text);
    expect(api.mistakes).toEqual(['not_upper_cased']);
    expect(page).toMatchObject({
      notice: 'The hash is not right.',
      signedText: api.signed_text,
      hints: api.hints,
      mistakes: api.mistakes,
      md5: api.md5,
      sha1: api.sha1,
    });
  });

  test('of Checkout is explained with its path and without it', async () => {
    const body = signed('session', sessionFields(), shop.merchant);
    const request = JSON.stringify(body, null, 2);
    for (const path of ['', '/api/v1/session']) {
      const page = shown((await explain(request, { path })).text);
      expect(page).toMatchObject({ notice: 'The hash is right.', operation: 'session', sha1: body.hash });
      expect(page.fields.map(([name]) => name)).toEqual([
        'order.number',
        'order.amount',
        'order.currency',
        'order.description',
      ]);
    }
  });

  test('may have line breaks around it, which copying adds', async () => {
    const multipart = Object.entries(saleFields(shop.merchant))
      .map(([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
      .join('');
    for (const request of [`\r\n${formText(saleFields(shop.merchant))}\r\n`, `${multipart}--b--\r\n`]) {
      expect(shown((await explain(request)).text).notice).toBe('The hash is right.');
    }
  });

  test('is escaped on the page', async () => {
    const request = formText(saleFields(shop.merchant, { order_id: '</textarea><script>1' }));
    const { text } = await explain(`${request}&x=</textarea><script>alert(1)</script>`);
    expect(text).not.toContain('<script>alert(1)');
    expect(text).not.toContain('<script>1');
  });
});

describe('a secret is not shown', () => {
  const NOT_SHOWN = 'The request is not shown again';

  test.each([
    ['in a value', (password: string) => ({ order_description: `p ${password}` })],
    ['in a signed value, in upper case', (password: string) => ({ order_id: password.toUpperCase() })],
  ])('the password %s', async (_where, fields) => {
    const request = formText(saleFields(shop.merchant, fields(shop.merchant.password)));
    const { status, text } = await explain(request);
    expect([status, shown(text).request]).toEqual([200, '']);
    expect(text).toContain(NOT_SHOWN);
  });

  test('the password in a request that cannot be read', async () => {
    const { status, text } = await explain(`{"password": "${shop.merchant.password}"`);
    expect([status, shown(text).request]).toEqual([400, '']);
    expect(text).toContain('This value is not valid JSON.');
  });

  test.each(['4111111111111111', '4111 1111 1111 1111'])('the card number %s', async (card_number) => {
    const { text } = await explain(formText(saleFields(shop.merchant, { card_number, card_cvv2: '987' })));
    expect(text).toContain(NOT_SHOWN);
    expect(shown(text).request).toBe('');
    for (const number of ['4111111111111111', '4111 1111 1111', '4111+1111']) expect(text).not.toContain(number);
  });
});

describe('a role', () => {
  test('that may not operate payments gets no digests', async () => {
    const fields = saleFields(shop.merchant);
    const { text } = await explain(formText({ ...fields, hash: 'f'.repeat(40) }), { role: 'support' });
    expect(shown(text)).toMatchObject({ notice: 'The hash is not right.', md5: undefined, sha1: undefined });
    expect(text).not.toContain(fields.hash);
    expect(text).toContain('Your role does not show the MD5 and the SHA-1');
  });

  test('that gets the digests is recorded in the audit log', async () => {
    const merchant = await shop.newMerchant();
    const request = formText(saleFields(merchant));
    await explain(request, { merchant, role: 'support' });
    await explain(request, { merchant, role: 'operator' });
    const { items } = (await shop.admin('GET', '/audit?action=requests.explain')).body;
    expect(items.filter(({ mid }: Fields) => mid === merchant.mid)).toMatchObject([
      { actor: { name: 'the operator' }, subject: 'SALE' },
    ]);
  });

  test('that is restricted to an account explains requests of this account only', async () => {
    const [own, other] = [await shop.newMerchant(), await shop.newMerchant()];
    const scope = { role: 'merchant' as const, mids: [own.mid] };
    expect(shown((await explain(formText(saleFields(own)), { ...scope, merchant: own })).text).notice).toBe(
      'The hash is right.',
    );
    const refused = await explain(formText(saleFields(other)), { ...scope, merchant: other });
    expect(refused.status).toBe(404);
    expect(refused.text).toMatch(/name="mid" aria-invalid="true"/);
    expect(shown(refused.text)).toMatchObject({ notice: undefined, signedText: undefined, request: '' });
    const form = await (await signedIn(shop, 'merchant', [own.mid])).get(`/admin/debugger?mid=${other.mid}`);
    expect([form.text.includes(own.mid), form.text.includes(other.mid)]).toEqual([true, false]);
  });
});

describe('refused beside the field', () => {
  test.each([
    ['request', '', '', 'This value should not be blank.'],
    ['request', 'order_id=1', '', 'The form has no action.'],
    ['request', '{"a":', '', 'This value is not valid JSON.'],
    ['request', '[1]', '', 'The body should be a JSON object.'],
    ['request', 'action=SALE', '/api/v1/session', 'A Checkout request should be a JSON object, not a form.'],
    ['path', 'action=SALE', '/admin', 'This is not a path of the merchant API.'],
  ])('%s of %j to %j', async (name, request, path, sentence) => {
    const { status, text } = await explain(request, { path });
    expect(status).toBe(400);
    expect(text).toMatch(new RegExp(`name="${name}" aria-invalid="true"`));
    expect(text).toContain(`id="${name}-error">${sentence}`);
    expect(shown(text).request).toBe(request);
  });

  test.each(['', 'x'])('the account %j', async (mid) => {
    const owner = await signedIn(shop, 'owner');
    const { status, text } = await owner.submit('/admin/debugger', { mid, request: 'a=1', path: '' });
    expect(status).toBe(400);
    expect(text).toContain('id="mid-error">Choose an account of the list');
  });
});

test('the page of an account leads to the form with this account', async () => {
  const owner = await signedIn(shop, 'owner');
  const { mid } = shop.merchant;
  const account = await owner.get(`/admin/accounts/${mid}`);
  expect(account.text).toContain(`href="/admin/debugger?mid=${mid}"`);
  expect((await owner.get(`/admin/debugger?mid=${mid}`)).text).toContain(`<option value="${mid}" selected>`);
});
