/** The pages of the operator's panel over HTTP: who may open them, what they show, and what their forms do. */
import { describe, expect, test } from 'vitest';
import { PANEL_ROUTES } from '../../src/pages/panel/index.ts';
import { isAllowed, isMerchantRole, ROLES } from '../../src/rules/roles.ts';
import { SETTING_GROUPS } from '../../src/rules/setting-groups.ts';
import { SETTING_NAMES } from '../../src/rules/settings.ts';
import { type Merchant, openShop } from '../support/gateway.ts';
import { COOKIE, signedIn, type TestOperator } from '../support/operators.ts';
import { hiddenValue } from '../support/sign-in.ts';

const shop = openShop({ simulator: true });

/** A path of a route with ids that exist. */
const filled = (path: string, { mid }: Merchant, paymentId: string): string =>
  path
    .replace(':paymentId', paymentId)
    .replace(':mid', mid)
    .replace(':id', `${paymentId}-2`)
    .replace(':tokenId', paymentId)
    .replace(':operatorId', paymentId)
    .replace(':passkeyId', 'unknown')
    .replace(':sessionId', 'unknown');

describe('without a session', () => {
  test.each(PANEL_ROUTES.map(({ method, path }) => [method, path] as const))(
    '%s %s leads to the sign-in',
    async (method, path) => {
      const url = shop.url + filled(path, shop.merchant, shop.merchant.mid);
      for (const cookie of ['', `${COOKIE}=wrong`, 'other=1; x']) {
        const response = await fetch(url, { method, redirect: 'manual', headers: { cookie } });
        expect([response.status, response.headers.get('location')?.replace(/\?.*/, '')]).toEqual([
          303,
          '/admin/sign-in',
        ]);
      }
    },
  );
});

describe.each(ROLES)('the role %s', (role) => {
  test('the navigation has the sections that the role may open', async () => {
    const operator = await signedIn(shop, role, isMerchantRole(role) ? [shop.merchant.mid] : null);
    const { text } = await operator.get('/admin');
    const links = [...text.matchAll(/<li><a href="([^"]+)"/g)].map(([, href]) => href);
    for (const { method, path, permission } of PANEL_ROUTES) {
      if (method !== 'GET' || !links.includes(path) || permission === 'any') continue;
      expect(isAllowed(role, permission), path).toBe(true);
    }
    expect(links).toContain(isAllowed(role, 'payments.view') ? '/admin/payments' : '/admin/links');
  });
});

describe('a form', () => {
  test('of another session, or without its token, changes nothing', async () => {
    const [owner, other] = [await signedIn(shop, 'owner'), await signedIn(shop, 'owner')];
    const foreign = /name="form_token" value="([^"]+)"/.exec((await other.get('/admin/payments')).text)?.[1] ?? '';
    const { mid } = await shop.newMerchant();
    for (const token of ['', 'x', foreign]) {
      const { status } = await owner.submit(`/admin/accounts/${mid}/suspend`, { suspended: 'true' }, token);
      expect(status).toBe(403);
    }
    expect((await shop.admin('GET', `/accounts/${mid}`)).body.suspended).toBe(false);
  });

  test('of a session that has ended leads to the sign-in', async () => {
    const owner = await signedIn(shop, 'owner');
    await shop.rows(`delete from operator_sessions where operator_id = '${owner.operatorId}'`);
    expect((await owner.submit('/admin/tokens', { name: 'x', role: 'viewer', days: '' }, 'x')).location).toBe(
      '/admin/sign-in',
    );
  });

  test.each([
    ['created_at', '13 hours'],
    ['used_at', '31 minutes'],
  ])('a session whose %s is %s ago has ended', async (column, ago) => {
    const owner = await signedIn(shop, 'owner');
    await shop.rows(
      `update operator_sessions set ${column} = ${column} - interval '${ago}' where operator_id = '${owner.operatorId}'`,
    );
    expect((await owner.get('/admin/payments')).location).toMatch(/^\/admin\/sign-in/);
  });

  test('a suspended operator is signed out', async () => {
    const owner = await signedIn(shop, 'owner');
    await shop.rows(`update operators set state = 'suspended' where operator_id = '${owner.operatorId}'`);
    expect((await owner.get('/admin/payments')).status).toBe(303);
  });
});

test('every page has a strict content security policy and cannot be framed', async () => {
  const owner = await signedIn(shop, 'owner');
  const { headers } = await owner.get('/admin/payments');
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-/);
  expect(policy).toContain("frame-ancestors 'none'");
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(headers.get('cache-control')).toBe('no-store');
});

test('a filter that no text of the database can match is ignored', async () => {
  const owner = await signedIn(shop, 'owner');
  const filters = ['actor', 'action', 'q', 'order_id', 'brand', 'mid', 'error_message', 'payment_id', 'status'];
  const query = filters.map((name) => `${name}=%00`).join('&');
  for (const page of ['audit', 'payments', 'requests', 'callbacks', 'attention', 'chargebacks']) {
    expect([page, (await owner.get(`/admin/${page}?${query}`)).status]).toEqual([page, 200]);
  }
});

test('a form with a character that the database cannot store is refused', async () => {
  const owner = await signedIn(shop, 'owner');
  const { status, text } = await owner.submit('/admin/payments/filters/delete', { name: '\0', query: '' });
  expect(status).toBe(400);
  expect(text).toContain('This form contains a character that cannot be stored.');
});

describe('payments', () => {
  test('the list filters, and pages with a cursor', async () => {
    const merchant = await shop.newMerchant();
    const viewer = await signedIn(shop, 'viewer', [merchant.mid]);
    expect((await viewer.get('/admin/payments')).text).toContain('No payments yet');
    const orders = await Promise.all(
      Array.from({ length: 27 }, async () => (await shop.sale({}, merchant)).body.order_id),
    );
    const listed = (text: string) => orders.filter((order) => text.includes(`>${order}</a>`)).length;
    const first = await viewer.get('/admin/payments');
    expect(listed(first.text)).toBe(25);
    const next = /href="(\/admin\/payments\?cursor=[^"]+)"/.exec(first.text)?.[1] ?? '';
    expect(listed((await viewer.get(next)).text)).toBe(2);
    expect((await viewer.get('/admin/payments?status=DECLINED')).text).toContain('No payment matches');
    expect(listed((await viewer.get('/admin/payments?status=SETTLED')).text)).toBe(25);
  });

  test('one payment has its timeline and the actions of its state, and the role decides who may take them', async () => {
    const { trans_id: id } = (await shop.sale()).body;
    const operator = await signedIn(shop, 'operator');
    const page = await operator.get(`/admin/payments/${id}`);
    expect(page.text).toContain('The shop opened the payment');
    expect(page.text).toContain(`/admin/payments/${id}/refund"`);
    expect(page.text).not.toContain(`/admin/payments/${id}/capture"`);
    expect((await (await signedIn(shop, 'support')).get(`/admin/payments/${id}`)).text).not.toContain('/refund"');
  });

  test('a refund is confirmed, made once although it is sent twice, and named in history and audit log', async () => {
    const { trans_id: id } = (await shop.sale()).body;
    const operator = await signedIn(shop, 'operator');
    const confirm = await operator.get(`/admin/payments/${id}/refund`);
    const operationId = /name="operation_id" value="([^"]+)"/.exec(confirm.text)?.[1] ?? '';
    const fields = { amount: '4.00', operation_id: operationId };
    for (let times = 0; times < 2; times++) {
      const done = await operator.submit(`/admin/payments/${id}/refund`, fields);
      expect([done.status, done.location]).toEqual([303, `/admin/payments/${id}?done=${operationId}`]);
    }
    const payment = await shop.inspect(id);
    expect(payment).toMatchObject({ refunded: '4.00', operations: [{ operation_id: operationId, state: 'done' }] });
    expect(payment.history).toContainEqual(expect.objectContaining({ actor: 'operator', actor_name: operator.name }));
    expect((await shop.admin('GET', `/audit?actor=${operator.operatorId}`)).body.items).toMatchObject([
      { action: 'payments.refund', actor: { kind: 'operator', name: operator.name }, subject: id },
    ]);
  });

  test.each([
    ['11', 'At most USD\u00a010.00 is left.'],
    ['x', 'Enter an amount such as 10.00.'],
    ['1,234', 'It is not clear whether this is a fraction or thousands.'],
    ['0.00', 'This value should be greater than 0.'],
  ])('a refund of %s is refused beside the field', async (amount, sentence) => {
    const { trans_id: id } = (await shop.sale()).body;
    const operator = await signedIn(shop, 'operator');
    const refused = await operator.submit(`/admin/payments/${id}/refund`, { amount });
    expect([refused.status, refused.text.includes(sentence)]).toEqual([400, true]);
    expect(refused.text).toContain(`value="${amount}"`);
    expect((await shop.inspect(id)).refunded).toBe('0.00');
  });

  test('of another account do not exist', async () => {
    const merchant = await shop.newMerchant();
    const { trans_id: id } = (await shop.sale()).body;
    const operator = await signedIn(shop, 'operator', [merchant.mid]);
    for (const path of [
      `/admin/payments/${id}`,
      `/admin/payments/${id}/refund`,
      `/admin/accounts/${shop.merchant.mid}`,
      `/admin/callbacks/${id}-2`,
    ]) {
      expect((await operator.get(path)).status, path).toBe(404);
    }
    expect((await operator.submit(`/admin/payments/${id}/refund`, { amount: '1.00' })).status).toBe(404);
    expect((await operator.submit(`/admin/accounts/${shop.merchant.mid}`, { descriptor: 'x' })).status).toBe(404);
  });
});

describe('accounts', () => {
  test('from creation to the first payment', async () => {
    const owner = await signedIn(shop, 'owner');
    expect((await owner.submit('/admin/accounts/new', { name: ' ' })).status).toBe(400);
    const { text } = await owner.submit('/admin/accounts/new', { name: 'Tea & Sons' });
    const values = [...text.matchAll(/<dd><span class="mono"[^>]*>([^<]+)<\/span><\/dd>/g)].map(
      ([, value]) => value as string,
    );
    const [mid, client_key, merchant_key, password] = values as [string, string, string, string];
    const merchant = { mid, client_key, merchant_key, password };
    expect((await shop.sale({}, merchant)).body).toMatchObject({ result: 'SUCCESS', status: 'SETTLED' });
    const again = await owner.get(`/admin/accounts/${mid}`);
    expect(again.text).toContain('Tea &amp; Sons');
    expect(again.text).not.toContain(password);
  });

  test('the tabs have every setting of the table, and save what was changed', async () => {
    const owner = await signedIn(shop, 'owner');
    const { mid } = await shop.newMerchant();
    for (const [group, sections] of SETTING_GROUPS) {
      const { text } = await owner.get(`/admin/accounts/${mid}?tab=${group}`);
      expect(text).toMatch(new RegExp(`tab=${group}" aria-current="page"`));
      for (const name of [...sections.values()].flat()) {
        expect(text, name).toMatch(new RegExp(`name="${name}(\\.mode|\\.row0\\.0)?"`));
      }
    }
    expect([...SETTING_GROUPS.values()].flatMap((sections) => [...sections.values()].flat()).sort()).toEqual(
      [...SETTING_NAMES].sort(),
    );
    const changes = {
      refunds_allowed: 'false',
      ip_allowlist: '192.0.2.0/24\r\n 198.51.100.7 \r\n',
      authorisation_days: '5',
      brand_aliases: 'mine: vcard',
      'branding.colour': '#1a7f5a',
    };
    expect((await owner.submit(`/admin/accounts/${mid}`, changes)).location).toBe(`/admin/accounts/${mid}?done=1`);
    expect((await shop.admin('GET', `/accounts/${mid}`)).body.settings).toMatchObject({
      refunds_allowed: false,
      ip_allowlist: ['192.0.2.0/24', '198.51.100.7'],
      authorisation_days: 5,
      brand_aliases: { mine: 'vcard' },
      branding: { colour: '#1a7f5a' },
    });
    const [entry] = (await shop.admin('GET', `/audit?actor=${owner.operatorId}`)).body.items;
    expect(Object.keys(entry.after).sort()).toEqual(Object.keys(changes).sort());
  });

  test('a value that is not valid is refused beside its field, with what was typed, and nothing is saved', async () => {
    const owner = await signedIn(shop, 'owner');
    const { mid } = await shop.newMerchant();
    const sent = { authorisation_days: 'many', descriptor: 'Fine' };
    const { status, text } = await owner.submit(`/admin/accounts/${mid}`, sent);
    expect(status).toBe(400);
    expect(text).toMatch(/name="authorisation_days" aria-invalid="true" aria-describedby="authorisation_days-error/);
    expect(text).toContain('value="many"');
    expect((await shop.admin('GET', `/accounts/${mid}`)).body.settings.descriptor).toBe('');
  });

  test('are suspended and resumed, and their secrets rotated', async () => {
    const owner = await signedIn(shop, 'owner');
    const merchant = await shop.newMerchant();
    await owner.submit(`/admin/accounts/${merchant.mid}/suspend`, { suspended: 'true' });
    expect((await shop.sale({}, merchant)).status).toBe(400);
    await owner.submit(`/admin/accounts/${merchant.mid}/suspend`, { suspended: 'false' });
    const rotated = await owner.submit(`/admin/accounts/${merchant.mid}/rotate-password`);
    const password = /Password<\/dt><dd><span class="mono"[^>]*>([^<]+)</.exec(rotated.text)?.[1] ?? '';
    expect((await shop.sale({}, { ...merchant, password })).body).toMatchObject({ result: 'SUCCESS' });
  });
});

test('a token that is created on the page works, and is refused after it was revoked there', async () => {
  const owner = await signedIn(shop, 'owner');
  const { text } = await owner.submit('/admin/tokens', { name: 'Monitor', role: 'viewer', days: '30' });
  const token = /(tpk_[0-9a-f]{64})/.exec(text)?.[1] ?? '';
  expect((await shop.admin('GET', '/me', undefined, token)).body).toMatchObject({ name: 'Monitor', role: 'viewer' });
  const id = /\/admin\/tokens\/([0-9a-f-]{36})\/revoke/.exec((await owner.get('/admin/tokens')).text)?.[1];
  await owner.submit(`/admin/tokens/${id}/revoke`);
  expect((await shop.admin('GET', '/me', undefined, token)).status).toBe(401);
});

describe('sensitive changes need a recent proof of who the operator is', () => {
  /** An owner who signed in a while ago. */
  const unconfirmed = async (): Promise<TestOperator> => {
    const owner = await signedIn(shop, 'owner');
    await shop.rows(
      `update operator_sessions set confirmed_at = confirmed_at - interval '11 minutes' where operator_id = '${owner.operatorId}'`,
    );
    return owner;
  };

  const isConfirmFirst = (route: (typeof PANEL_ROUTES)[number]): boolean => 'confirmFirst' in route;
  test.each(PANEL_ROUTES.filter(isConfirmFirst).map(({ path }) => path))(
    'the page %s asks for it before it shows its form',
    async (path) => {
      const owner = await unconfirmed();
      const url = filled(path, shop.merchant, shop.merchant.mid);
      const { status, location } = await owner.get(url);
      expect([status, location]).toEqual([303, `/admin/confirm?next=${encodeURIComponent(url)}`]);
    },
  );

  test.each(PANEL_ROUTES.flatMap((route) => ('confirmFor' in route ? [[route.path, route.confirmFor] as const] : [])))(
    'the form %s changes nothing without it',
    async (path, page) => {
      const owner = await unconfirmed();
      const [before] = await shop.rows('select seq from audit_head');
      const { status, text } = await owner.submit(filled(path, shop.merchant, shop.merchant.mid));
      expect([status, text.includes('Nothing was changed yet.')]).toEqual([403, true]);
      expect(text).toContain(`<a href="${filled(page, shop.merchant, shop.merchant.mid)}">Cancel</a>`);
      expect((await shop.rows('select seq from audit_head'))[0]).toEqual(before);
    },
  );

  describe('a form that was sent without it', () => {
    const confirm = ({ operatorId }: TestOperator) =>
      shop.rows(`update operator_sessions set confirmed_at = now() where operator_id = '${operatorId}'`);

    test('waits with what was typed, and is saved when the operator goes on', async () => {
      const owner = await unconfirmed();
      const { mid } = await shop.newMerchant();
      const settings = async () => (await shop.admin('GET', `/accounts/${mid}`)).body.settings;
      const before = await settings();
      const typed = { callback_url: 'https://shop.example/hook', descriptor: 'Typed' };
      const waiting = await owner.submit(`/admin/accounts/${mid}`, typed);
      expect(waiting.text).not.toContain('shop.example');
      const held = hiddenValue(waiting.text, 'held');
      const early = await owner.submit(`/admin/accounts/${mid}`, { held });
      expect([early.status, early.text.includes('Nothing was changed yet.')]).toEqual([403, true]);
      expect(await settings()).toEqual(before);
      await confirm(owner);
      const done = await owner.submit(`/admin/accounts/${mid}`, { held: hiddenValue(early.text, 'held') });
      expect([done.status, done.location]).toEqual([303, `/admin/accounts/${mid}?done=1`]);
      expect(await settings()).toMatchObject(typed);
    });

    test('is accepted at its own address, from its own operator, and unchanged', async () => {
      const [owner, other] = [await unconfirmed(), await signedIn(shop, 'owner')];
      const [{ mid }, { mid: second }] = [await shop.newMerchant(), await shop.newMerchant()];
      const waiting = await owner.submit(`/admin/accounts/${mid}/suspend`, { suspended: 'true' });
      const held = hiddenValue(waiting.text, 'held');
      await confirm(owner);
      const refused = [
        await owner.submit(`/admin/accounts/${second}/suspend`, { held }),
        await other.submit(`/admin/accounts/${mid}/suspend`, { held }),
        await owner.submit(`/admin/accounts/${mid}/suspend`, { held: `${held.slice(0, -4)}AAAA` }),
        await owner.submit(`/admin/accounts/${mid}/suspend`, { held }, 'x'),
      ];
      for (const { status, text } of refused) {
        expect([status, text.includes('This form is out of date.')]).toEqual([403, true]);
      }
      expect((await shop.admin('GET', `/accounts/${mid}`)).body.suspended).toBe(false);
      expect((await owner.submit(`/admin/accounts/${mid}/suspend`, { held })).status).toBe(303);
      expect((await shop.admin('GET', `/accounts/${mid}`)).body.suspended).toBe(true);
    });
  });
});

describe('operators', () => {
  test('are invited with a link that is shown once', async () => {
    const owner = await signedIn(shop, 'owner');
    const { text } = await owner.submit('/admin/operators', { email: 'Grace@Example.com', role: 'support' });
    expect(text).toMatch(/\/admin\/invitation\/[0-9a-f]{64}</);
    expect((await shop.admin('GET', '/operators')).body.items).toContainEqual(
      expect.objectContaining({ email: 'grace@example.com', role: 'support', state: 'invited', mids: null }),
    );
    expect((await owner.get('/admin/operators')).text).not.toContain('/admin/invitation/');
    const again = await owner.submit('/admin/operators', { email: 'grace@example.com', role: 'viewer' });
    expect([again.status, again.text.includes('There is an operator with this address.')]).toEqual([400, true]);
    expect((await owner.submit('/admin/operators', { email: 'nonsense', role: 'viewer' })).status).toBe(400);
    const merchant = { email: 'shop@example.com', role: 'merchant' };
    expect((await owner.submit('/admin/operators', merchant)).text).toContain('A merchant needs at least one account.');
    for (const mids of ['nonsense', '01234567-89ab-7def-8123-456789abcdef']) {
      expect((await owner.submit('/admin/operators', { ...merchant, mids })).status).toBe(400);
    }
    expect((await owner.submit('/admin/operators', { ...merchant, mids: shop.merchant.mid })).status).toBe(200);
  });

  test('a changed role and a suspension take effect at once', async () => {
    const [owner, other] = [await signedIn(shop, 'owner'), await signedIn(shop, 'operator')];
    await owner.submit(`/admin/operators/${other.operatorId}/role`, { role: 'viewer' });
    expect((await other.get('/admin/payments')).status).toBe(303);
    await owner.submit(`/admin/operators/${other.operatorId}/suspend`, { suspended: 'true' });
    const listed = (await shop.admin('GET', '/operators')).body.items;
    expect(listed).toContainEqual(
      expect.objectContaining({ operator_id: other.operatorId, role: 'viewer', state: 'suspended' }),
    );
  });

  test('the last active owner cannot be suspended or lose the role', async () => {
    await shop.rows(`update operators set state = 'suspended' where role = 'owner'`);
    const owner = await signedIn(shop, 'owner');
    const refused = [
      await owner.submit(`/admin/operators/${owner.operatorId}/suspend`, { suspended: 'true' }),
      await owner.submit(`/admin/operators/${owner.operatorId}/role`, { role: 'viewer' }),
    ];
    for (const { status, text } of refused) {
      expect([status, text.includes('There has to be an active owner.')]).toEqual([400, true]);
    }
    expect((await owner.get('/admin/operators')).status).toBe(200);
  });
});

test('a callback is sent again', async () => {
  const { trans_id: id } = (await shop.sale()).body;
  const support = await signedIn(shop, 'support');
  expect((await support.get(`/admin/callbacks/${id}-2`)).text).toContain('No address is set');
  expect((await support.submit(`/admin/callbacks/${id}-2/resend`)).location).toBe(`/admin/callbacks/${id}-2?done=1`);
  expect((await support.get('/admin/callbacks?state=waiting')).text).toContain(`/admin/callbacks/${id}-2`);
});
