/** The users of a merchant: who invites them, what they may do, and the limit of their refunds. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { INVITATIONS } from '../../src/core/operators/manage.ts';
import { pngOf } from '../../src/lib/files/png.ts';
import { type Fields, type Merchant, openShop } from '../support/gateway.ts';
import { signedIn } from '../support/operators.ts';

const shop = openShop();

let own: Merchant;
let other: Merchant;
let merchantToken: string;
beforeAll(async () => {
  [own, other] = [await shop.newMerchant(), await shop.newMerchant()];
  merchantToken = await newToken('merchant');
});

const newToken = async (role: string, more: object = {}): Promise<string> =>
  (await shop.admin('POST', '/tokens', { name: `a ${role}`, role, mids: [own.mid], ...more })).body.token;

const email = (): string => `${randomUUID()}@example.com`;
const invite = (body: object, token?: string) =>
  shop.admin('POST', '/operators', { email: email(), role: 'merchant_support', mids: [own.mid], ...body }, token);
const paramsOf = (answer: { body: { errors: { param: string }[] } }) => answer.body.errors.map(({ param }) => param);

describe('inviting', () => {
  test('an owner invites a user of a merchant, who opens the link', async () => {
    const invited = await invite({ name: 'Lena', refund_limit: '50.00' });
    expect(invited.status).toBe(201);
    expect(invited.body).toMatchObject({
      name: 'Lena',
      role: 'merchant_support',
      mids: [own.mid],
      refund_limit: '50.00',
      state: 'invited',
    });
    const { pathname } = new URL(invited.body.invitation_url);
    expect((await fetch(shop.url + pathname)).status).toBe(200);
    expect(Date.parse(`${invited.body.expires_at.replace(' ', 'T')}Z`)).toBeGreaterThan(Date.now());
    const read = await shop.admin('GET', `/operators/${invited.body.operator_id}`);
    expect(read.body).toMatchObject({ operator_id: invited.body.operator_id, refund_limit: '50.00' });
    expect(read.body).not.toHaveProperty('invitation_url');
  });

  test('a user and its link are one commit', async () => {
    const { operator_id } = (await invite({})).body;
    expect(
      await shop.rows(`select o.xmin = i.xmin as is_same from operators o join operator_invitations i using (operator_id)
        where operator_id = '${operator_id}'`),
    ).toEqual([{ is_same: true }]);
  });

  test('the limit of a user is changed and removed in the panel', async () => {
    const { operator_id } = (await invite({ refund_limit: '50.00' })).body;
    const merchant = await signedIn(shop, 'merchant', [own.mid]);
    const path = `/admin/operators/${operator_id}/refund-limit`;
    const limit = async () => (await shop.admin('GET', `/operators/${operator_id}`)).body.refund_limit;
    expect((await merchant.submit(path, { refund_limit: '75,50' })).status).toBe(303);
    expect(await limit()).toBe('75.50');
    const refused = await merchant.submit(path, { refund_limit: 'much' });
    expect([refused.status, refused.text.includes('Enter a number such as 50.00')]).toEqual([400, true]);
    expect(await limit()).toBe('75.50');
    await merchant.submit(path, { refund_limit: '' });
    expect(await limit()).toBeNull();
  });

  test('the accounts of a user are chosen in the panel, from those of the one who chooses', async () => {
    const second = await shop.newMerchant();
    const { operator_id } = (await invite({ name: 'Lena' })).body;
    const merchant = await signedIn(shop, 'merchant', [own.mid, second.mid]);
    const page = `/admin/operators/${operator_id}`;
    const path = `${page}/accounts`;
    const mids = async () => (await shop.admin('GET', `/operators/${operator_id}`)).body.mids;
    const boxes = async () =>
      [...(await merchant.get(page)).text.matchAll(/name="mid\.([^"]+)" value="1"( checked)?/g)].map(([, mid, is]) => [
        mid,
        is !== undefined,
      ]);
    expect((await merchant.get('/admin/operators')).text).toContain(`href="${page}"`);
    expect((await boxes()).toSorted()).toEqual(
      [
        [own.mid, true],
        [second.mid, false],
      ].toSorted(),
    );
    expect((await merchant.submit(path, { [`mid.${second.mid}`]: '1', [`mid.${own.mid}`]: '1' })).status).toBe(303);
    expect((await mids()).toSorted()).toEqual([own.mid, second.mid].toSorted());
    await merchant.submit(path, { [`mid.${second.mid}`]: '1' });
    expect(await mids()).toEqual([second.mid]);
    for (const wrong of [{}, { [`mid.${other.mid}`]: '1' }, { mids: 'nonsense' }]) {
      const { status, text } = await merchant.submit(path, wrong);
      expect([status, /class="error" id="accounts-error"/.test(text)]).toEqual([400, true]);
    }
    expect(await mids()).toEqual([second.mid]);
    const owner = await signedIn(shop, 'owner');
    expect((await owner.submit(path, {})).text).toContain('A merchant needs at least one account.');
    const stranger = await signedIn(shop, 'merchant', [other.mid]);
    for (const id of [operator_id, randomUUID(), 'x']) {
      expect((await stranger.get(`/admin/operators/${id}`)).status).toBe(404);
      expect((await stranger.submit(`/admin/operators/${id}/accounts`, { [`mid.${other.mid}`]: '1' })).status).toBe(
        404,
      );
    }
  });

  test.each([
    ['an address that is none', { email: 'nobody' }, ['email']],
    ['a name with a line break', { name: 'Lena\r\nBcc: all@example.com' }, ['name']],
    ['a name that is turned around', { name: 'Lena \u202eanel' }, ['name']],
    ['a role that does not exist', { role: 'seat' }, ['role']],
    ['a merchant without accounts', { mids: undefined }, ['mids']],
    ['an account that does not exist', { mids: [randomUUID()] }, ['mids']],
    ['a limit that is no number', { refund_limit: 'much' }, ['refund_limit']],
    ['a limit below nothing', { refund_limit: '-1.00' }, ['refund_limit']],
    ['a member that does not exist', { limit: '1.00' }, ['limit']],
  ])('%s is refused', async (_, body, params) => {
    const answer = await invite(body);
    expect([answer.status, paramsOf(answer)]).toEqual([400, params]);
  });

  test('an address that is in use is refused, whoever uses it', async () => {
    const { body } = await invite({});
    expect(paramsOf(await invite({ email: body.email.toUpperCase() }))).toEqual(['email']);
  });
});

describe('a merchant', () => {
  test('manages the users of its accounts', async () => {
    const { body } = await invite({ role: 'merchant_cashier' }, merchantToken);
    const path = `/operators/${body.operator_id}`;
    const changed = await shop.admin('PATCH', path, { role: 'merchant_support', refund_limit: '9.99' }, merchantToken);
    expect(changed.body).toMatchObject({ role: 'merchant_support', refund_limit: '9.99' });
    expect((await shop.admin('PATCH', path, { state: 'suspended' }, merchantToken)).body.state).toBe('suspended');
    const { items } = (await shop.admin('GET', '/operators', undefined, merchantToken)).body;
    expect(items.map((item: { operator_id: string }) => item.operator_id)).toContain(body.operator_id);
    expect((await shop.admin('DELETE', path, undefined, merchantToken)).body).toMatchObject({ deleted: true });
    expect((await shop.admin('GET', path, undefined, merchantToken)).status).toBe(404);
    const { items: log } = (await shop.admin('GET', '/audit?action=operators.delete')).body;
    expect(log[0]).toMatchObject({ subject: body.operator_id, before: { email: body.email } });
  });

  test('invites nobody into other accounts, known or not, nor with a role of the installation', async () => {
    const answers = await Promise.all([
      ...[[other.mid], [randomUUID()], [own.mid, other.mid]].map((mids) => invite({ mids }, merchantToken)),
      ...['owner', 'operator', 'support', 'viewer'].map((role) => invite({ role }, merchantToken)),
    ]);
    expect(answers.map((answer) => [answer.status, paramsOf(answer)])).toEqual([
      ...Array(3).fill([403, ['mids']]),
      ...Array(4).fill([403, ['role']]),
    ]);
  });

  test('does not see the users of other accounts', async () => {
    const { body } = await invite({ mids: [other.mid] });
    const shared = await invite({ mids: [own.mid, other.mid] });
    for (const id of [body.operator_id, shared.body.operator_id, randomUUID(), 'nonsense']) {
      for (const [method, change] of [['GET'], ['PATCH', { role: 'merchant' }], ['DELETE']] as const) {
        const { status, body: refusal } = await shop.admin(method, `/operators/${id}`, change, merchantToken);
        expect([status, refusal.error_message]).toEqual([404, 'Operator does not exist.']);
      }
    }
  });

  test('moves a user neither to another account nor out of all', async () => {
    const { operator_id: id } = (await invite({}, merchantToken)).body;
    for (const mids of [[other.mid], [randomUUID()], null]) {
      const answer = await shop.admin('PATCH', `/operators/${id}`, { mids }, merchantToken);
      expect([answer.status, paramsOf(answer)]).toEqual([403, ['mids']]);
    }
    expect(paramsOf(await shop.admin('PATCH', `/operators/${id}`, { mids: null }))).toEqual(['mids']);
  });

  test('stays signed in after a change of nothing', async () => {
    const user = await signedIn(shop, 'merchant', [own.mid]);
    const { status, body } = await shop.admin('PATCH', `/operators/${user.operatorId}`, {});
    expect([status, body.operator_id, body.role]).toEqual([200, user.operatorId, 'merchant']);
    expect((await user.get('/admin')).status).toBe(200);
    await shop.admin('PATCH', `/operators/${user.operatorId}`, { name: 'Another name' });
    expect((await user.get('/admin')).status).toBe(303);
  });

  test('who makes too many invitations is refused, and others are not', async () => {
    const token = await newToken('merchant');
    const answers = await Promise.all(Array.from({ length: INVITATIONS.most + 1 }, () => invite({}, token)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(INVITATIONS.most).fill(201), 429]);
    expect((await invite({}, merchantToken)).status).toBe(201);
    expect((await invite({})).status).toBe(201);
    const merchant = await signedIn(shop, 'merchant', [own.mid]);
    for (let count = 0; count < INVITATIONS.most; count++) shop.gateway.isInvitationTooFast(merchant.operatorId);
    const form = { email: email(), role: 'merchant_support', [`mid.${own.mid}`]: '1' };
    expect((await merchant.submit('/admin/operators', form)).status).toBe(429);
  });

  test('with a limit gives nobody a higher one', async () => {
    const limited = await newToken('merchant', { refund_limit: '20.00' });
    expect((await invite({ refund_limit: '20' }, limited)).status).toBe(201);
    for (const refund_limit of ['20.01', null]) {
      const answer = await invite({ refund_limit }, limited);
      expect([answer.status, paramsOf(answer)]).toEqual([403, ['refund_limit']]);
    }
  });

  test('changes the look, the texts and the callback address of its account, and nothing else', async () => {
    const change = (body: object) => shop.admin('PATCH', `/accounts/${own.mid}`, body, merchantToken);
    const look = { 'branding.colour': '#1a7f5a', callback_url: 'https://shop.example/callbacks', locale: 'de' };
    expect((await change(look)).body.settings).toMatchObject({ callback_url: look.callback_url, locale: 'de' });
    for (const [name, body] of [
      ['name', { name: 'Bank' }],
      ['suspended', { suspended: true }],
      ['ip_allowlist', { ip_allowlist: [] }],
      ['descriptor', { locale: 'fr', descriptor: 'BANK' }],
    ] as const) {
      const answer = await change(body);
      expect([answer.status, paramsOf(answer)]).toEqual([403, [name]]);
    }
    expect((await shop.admin('GET', `/accounts/${own.mid}`)).body.settings.locale).toBe('de');
  });

  test('changes them in the panel, where only these have fields', async () => {
    const merchant = await signedIn(shop, 'merchant', [own.mid]);
    const page = (await merchant.get(`/admin/accounts/${own.mid}?tab=page`)).text;
    expect(page).toContain('name="branding.colour"');
    expect(page).not.toMatch(/<(?:input|select|textarea|button)[^>]* disabled/);
    const security = (await merchant.get(`/admin/accounts/${own.mid}?tab=security`)).text;
    expect(security).not.toContain('name="ip_allowlist"');
    const saved = await merchant.submit(`/admin/accounts/${own.mid}`, { 'branding.colour': '#0000aa', tab: 'page' });
    expect(saved.status).toBe(303);
    const refused = await merchant.submit(`/admin/accounts/${own.mid}`, { descriptor: 'BANK' });
    expect(refused.status).toBe(403);
  });
});

describe('the limit of refunds', () => {
  const refund = (id: string, amount: string | undefined, token: string) =>
    shop.admin('POST', `/payments/${id}/refund`, amount === undefined ? undefined : { amount }, token);
  const sale = async (more: Fields = {}): Promise<string> =>
    (await shop.sale({ order_amount: '100.00', ...more }, own)).body.trans_id;

  test('bounds the sum of the refunds of one payment', async () => {
    const token = await newToken('merchant_support', { refund_limit: '30.00' });
    const id = await sale();
    const whole = await refund(id, undefined, token);
    expect([whole.status, paramsOf(whole)]).toEqual([403, ['amount']]);
    expect((await refund(id, '20.00', token)).status).toBe(200);
    const above = await refund(id, '10.01', token);
    expect(above.status).toBe(403);
    expect(above.body.errors[0].error_message).toContain('you can refund 10.00');
    expect((await refund(id, '10.00', token)).status).toBe(200);
    expect((await refund(id, '0.01', token)).status).toBe(403);
    expect((await refund(await sale(), '30.00', token)).status).toBe(200);
    expect((await refund(id, '0.01', merchantToken)).status).toBe(200);
  });

  test('holds for refunds at the same time', async () => {
    const token = await newToken('merchant_support', { refund_limit: '30.00' });
    const id = await sale();
    const answers = await Promise.all(Array.from({ length: 6 }, () => refund(id, '10.00', token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 403, 403, 403]);
    expect((await shop.admin('GET', `/payments/${id}`)).body.refunded).toBe('30.00');
  });

  test('counts each user for itself, and follows a change at once', async () => {
    const [first, second] = [
      await newToken('merchant_support', { refund_limit: '10.00' }),
      await newToken('merchant_support', { refund_limit: '10.00' }),
    ];
    const id = await sale();
    expect((await refund(id, '10.00', first)).status).toBe(200);
    expect((await refund(id, '10.00', second)).status).toBe(200);
    const user = await signedIn(shop, 'merchant_support', [own.mid], '5.00');
    expect((await user.submit(`/admin/payments/${id}/refund`, { amount: '5.01' })).status).toBe(400);
    expect((await user.submit(`/admin/payments/${id}/refund`, { amount: '5.00' })).status).toBe(303);
  });

  test('holds for the release of an authorisation', async () => {
    const token = await newToken('merchant_support', { refund_limit: '30.00' });
    const id = await sale({ auth: 'Y' });
    expect((await refund(id, undefined, token)).status).toBe(403);
  });

  test('zero allows no refund, and a repeat of an earlier one is answered as before', async () => {
    const id = await sale();
    expect((await refund(id, '0.01', await newToken('merchant_support', { refund_limit: '0' }))).status).toBe(403);
    const token = await newToken('merchant_support', { refund_limit: '5.00' });
    const request = { amount: '5.00', operation_id: randomUUID() };
    const [first, repeat] = [
      await shop.admin('POST', `/payments/${id}/refund`, request, token),
      await shop.admin('POST', `/payments/${id}/refund`, request, token),
    ];
    expect([first.status, repeat.status, repeat.body.refunded]).toEqual([200, 200, first.body.refunded]);
  });

  test('means the decimals of the currency', async () => {
    const token = await newToken('merchant_support', { refund_limit: '50.00' });
    const id = await sale({ order_amount: '100.00', order_currency: 'JPY' });
    expect((await refund(id, '51.00', token)).status).toBe(403);
    expect((await refund(id, '50.00', token)).status).toBe(200);
  });
});

test('every user of a merchant has a start page with what it may open, and nothing else', async () => {
  const texts: Record<string, string[]> = {
    merchant_accountant: ['/admin/payments', '/admin/reports'],
    merchant_support: ['/admin/payments', '/admin/callbacks'],
    merchant_cashier: ['/admin/links', '/admin/telephone-orders'],
  };
  for (const [role, paths] of Object.entries(texts)) {
    const { status, text } = await (await signedIn(shop, role as 'merchant_support', [own.mid])).get('/admin');
    expect([role, status]).toEqual([role, 200]);
    for (const path of paths) expect(text).toContain(`href="${path}"`);
    for (const path of ['/admin/accounts', '/admin/operators', '/admin/tokens', '/admin/connections', '/admin/audit']) {
      expect(text).not.toContain(`href="${path}"`);
    }
  }
});

test('a user of one shop sees its name on top, and what it does most; an operator sees neither', async () => {
  const [merchant, operator] = [
    await signedIn(shop, 'merchant', [own.mid]),
    await signedIn(shop, 'operator', [own.mid]),
  ];
  await shop.admin('PATCH', `/accounts/${own.mid}`, { 'branding.name': 'Tea & Co' });
  const page = (await merchant.get('/admin')).text;
  expect(page).toContain('<bdi>Tea &amp; Co</bdi></a>');
  expect(page).toContain('href="/admin/invoices/new"');
  for (const path of ['/admin/connections', '/admin/tokens', '/admin/audit'])
    expect(page).not.toContain(`href="${path}"`);
  const other = (await operator.get('/admin')).text;
  expect(other).toContain('href="/admin">Turnpike</a>');
  expect(other).not.toContain('href="/admin/invoices/new"');
});

test('the logo of the shop is on top of every page of its users, and is loaded from the panel only', async () => {
  const { mid } = await shop.newMerchant({ name: 'Tea House' });
  const merchant = await signedIn(shop, 'merchant', [mid]);
  const top = async () =>
    /<a class="brand" href="\/admin">(.*?)<\/a>/.exec((await merchant.get('/admin/links')).text)?.[1];
  expect(await top()).toBe('<bdi>Tea House</bdi>');
  const uploaded = await merchant.upload(
    `/admin/accounts/${mid}/logo`,
    new File([new Uint8Array(pngOf([[true]], 8))], 'logo.png'),
  );
  expect(uploaded.status).toBe(303);
  const [, logo = ''] =
    /^<img src="([^"]+)" alt="" height="28"> <bdi>Tea House<\/bdi>$/.exec((await top()) ?? '') ?? [];
  const { status, headers } = await fetch(shop.url + logo);
  expect([status, headers.get('content-type')]).toEqual([200, 'image/png']);
  await shop.admin('PATCH', `/accounts/${mid}`, { branding: { logo: 'https://elsewhere.example/logo.png' } });
  expect(await top()).toBe('<bdi>Tea House</bdi>');
  const several = await signedIn(shop, 'merchant', [mid, own.mid]);
  expect((await several.get('/admin')).text).toContain('href="/admin">Turnpike</a>');
});

test('a merchant changes the password of its account after a recent proof of who it is', async () => {
  const account = await shop.newMerchant();
  const merchant = await signedIn(shop, 'merchant', [account.mid]);
  const path = `/admin/accounts/${account.mid}/rotate-password`;
  const proven = (moment: string) =>
    shop.rows(`update operator_sessions set confirmed_at = ${moment} where operator_id = '${merchant.operatorId}'`);
  const passwordIn = (text: string) => /Password<\/dt><dd><span class="mono"[^>]*>([^<]+)</.exec(text)?.[1];
  await proven(`now() - interval '11 minutes'`);
  expect(passwordIn((await merchant.submit(path)).text)).toBeUndefined();
  expect((await shop.admin('GET', '/audit?action=accounts.rotate_secret')).body.items).toEqual([]);
  await proven('now()');
  const password = passwordIn((await merchant.submit(path)).text) ?? '';
  expect((await shop.sale({}, { ...account, password })).body).toMatchObject({ result: 'SUCCESS' });
  for (const role of ['merchant_accountant', 'merchant_support', 'merchant_cashier'] as const) {
    expect((await (await signedIn(shop, role, [account.mid])).submit(path)).status).toBe(403);
  }
  expect((await (await signedIn(shop, 'merchant', [own.mid])).submit(path)).status).toBe(404);
});
