/** The account pages of the panel: creation, brands and their order, the preview, addresses, and accounts of tokens. */
import { describe, expect, test } from 'vitest';
import type { Role } from '../../src/rules/roles.ts';
import { type Merchant, openShop } from '../support/gateway.ts';
import { signedIn, type TestOperator } from '../support/operators.ts';

const shop = openShop({ simulator: true });

const pathOf = ({ mid }: Merchant): string => `/admin/accounts/${mid}`;
const settingsOf = async ({ mid }: Merchant) => (await shop.admin('GET', `/accounts/${mid}`)).body.settings;

describe('a new account', () => {
  test('gets the settings that were entered with it, and the page says what to do next', async () => {
    const owner = await signedIn(shop, 'owner');
    const fields = {
      name: 'Tea House',
      callback_url: 'https://tea.example/hook',
      descriptor: 'TEA HOUSE',
    };
    const { status, text } = await owner.submit('/admin/accounts/new', { ...fields, refunds_allowed: 'false' });
    expect(status).toBe(200);
    expect(text).toContain('Next steps');
    const mid = /\/admin\/accounts\/([0-9a-f-]{36})\/test-payment/.exec(text)?.[1] ?? '';
    const { body } = await shop.admin('GET', `/accounts/${mid}`);
    // A setting that the form does not have is not taken from it.
    expect(body.settings).toMatchObject({
      callback_url: fields.callback_url,
      descriptor: 'TEA HOUSE',
      refunds_allowed: true,
    });
  });

  test('is not created with a setting that is not valid: the error is beside the field', async () => {
    const owner = await signedIn(shop, 'owner');
    const before = (await shop.admin('GET', '/accounts')).body.items.length;
    const { status, text } = await owner.submit('/admin/accounts/new', {
      name: '',
      callback_url: 'ftp://x',
      locale: 'de',
    });
    expect(status).toBe(400);
    for (const name of ['name', 'callback_url']) expect(text).toContain(`id="${name}-error"`);
    expect(text).toContain('value="ftp://x"');
    expect((await shop.admin('GET', '/accounts')).body.items).toHaveLength(before);
  });

  test('opens a test payment, unless it is suspended', async () => {
    const owner = await signedIn(shop, 'owner');
    const merchant = await shop.newMerchant();
    const { status, location } = await owner.submit(`${pathOf(merchant)}/test-payment`);
    expect([status, location]).toEqual([303, expect.stringMatching(/^\/pay\/[0-9a-f-]{36}\./)]);
    await owner.submit(`${pathOf(merchant)}/suspend`, { suspended: 'true' });
    expect((await owner.submit(`${pathOf(merchant)}/test-payment`)).status).toBe(400);
  });
});

test('an account is renamed; an empty name is refused', async () => {
  const owner = await signedIn(shop, 'owner');
  const merchant = await shop.newMerchant();
  expect((await owner.submit(`${pathOf(merchant)}/rename`, { name: 'Coffee' })).status).toBe(303);
  const refused = await owner.submit(`${pathOf(merchant)}/rename`, { name: '  ' });
  expect([refused.status, refused.text.includes('id="name-error"')]).toEqual([400, true]);
  expect((await shop.admin('GET', `/accounts/${merchant.mid}`)).body.name).toBe('Coffee');
});

test('the allowlist says from where the request comes, and whether the saved list accepts it', async () => {
  const owner = await signedIn(shop, 'owner');
  const merchant = await shop.newMerchant();
  const tab = async () => (await owner.get(`${pathOf(merchant)}?tab=security`)).text;
  expect(await tab()).toMatch(/would come from <span class="mono">127\.0\.0\.1<\/span>.*Accepted by the saved list/s);
  await shop.admin('PATCH', `/accounts/${merchant.mid}`, { ip_allowlist: ['192.0.2.0/24'] });
  expect(await tab()).toContain('Refused by the saved list');
  await shop.admin('PATCH', `/accounts/${merchant.mid}`, { ip_allowlist: ['127.0.0.0/8'] });
  expect(await tab()).toContain('Accepted by the saved list');
});

describe('brands', () => {
  const choose = (operator: TestOperator, merchant: Merchant, mode: string, ...positions: [string, string][]) =>
    operator.submit(pathOf(merchant), {
      tab: 'methods',
      'brands.mode': mode,
      ...Object.fromEntries(
        positions.flatMap(([label, position]) => [
          [`brands.use.${label}`, '1'],
          [`brands.position.${label}`, position],
        ]),
      ),
    });

  test('are saved in the order of their numbers, and the payment page has this order', async () => {
    const owner = await signedIn(shop, 'owner');
    const merchant = await shop.newMerchant({ brand_aliases: { 'My bank': 'hosted-a' } });
    const saved = await choose(owner, merchant, 'some', ['card', '2'], ['vcard', ''], ['hosted-a', '1']);
    expect(saved.location).toBe(`${pathOf(merchant)}?tab=methods&done=1`);
    expect((await settingsOf(merchant)).brands).toEqual(['hosted-a', 'card', 'vcard']);
    const { text } = await owner.get(`${pathOf(merchant)}?tab=methods`);
    const rows = [...text.matchAll(/name="brands\.use\.([^"]+)" value="1"( checked)?><span>([^<]+)</g)];
    expect(rows.slice(0, 4).map(([, label, checked, name]) => [label, name, checked !== undefined])).toEqual([
      ['hosted-a', 'My bank', true],
      ['card', 'Card', true],
      ['vcard', 'Test payment', true],
      [expect.any(String), expect.any(String), false],
    ]);
    const { location } = await owner.submit(`${pathOf(merchant)}/test-payment`);
    const page = await (await fetch(shop.url + location)).text();
    expect([...page.matchAll(/\?method=([^"]+)"/g)].map(([, label]) => label)).toEqual(['hosted-a', 'card', 'vcard']);
  });

  test('all are allowed by an empty list; none of them is refused, and nothing is saved', async () => {
    const owner = await signedIn(shop, 'owner');
    const merchant = await shop.newMerchant({ brands: ['vcard'] });
    const refused = await choose(owner, merchant, 'some');
    expect([refused.status, refused.text.includes('Choose at least one, or allow all.')]).toEqual([400, true]);
    expect((await settingsOf(merchant)).brands).toEqual(['vcard']);
    await choose(owner, merchant, 'all', ['vcard', '1']);
    expect((await settingsOf(merchant)).brands).toEqual([]);
  });
});

describe('the minutes that payers have', () => {
  const rowsOf = (...rows: [method: string, minutes: string][]): Record<string, string> =>
    Object.fromEntries(
      [...rows, ['', ''] as const].flatMap((row, index) =>
        row.map((cell, column) => [`payer_minutes.row${index}.${column}`, cell]),
      ),
    );

  test('are shown as rows, saved, and refused beside their field', async () => {
    const owner = await signedIn(shop, 'owner');
    const merchant = await shop.newMerchant({ payer_minutes: { ideal: 15 } });
    const path = `${pathOf(merchant)}?tab=methods`;
    expect((await owner.get(path)).text).toMatch(/name="payer_minutes\.row0\.1"[^>]*value="15"/);
    const saved = await owner.submit(pathOf(merchant), rowsOf(['ideal', '20'], ['card', '5']));
    expect(saved.status).toBe(303);
    expect((await settingsOf(merchant)).payer_minutes).toEqual({ ideal: '20', card: '5' });
    const refused = await owner.submit(pathOf(merchant), rowsOf(['ideal', '721']));
    expect([refused.status, refused.text.includes('id="payer_minutes-error"')]).toEqual([400, true]);
    expect((await settingsOf(merchant)).payer_minutes).toEqual({ ideal: '20', card: '5' });
  });
});

describe('the preview', () => {
  const query = (values: Record<string, string>): string => new URLSearchParams(values).toString();

  test('is the payment page with unsaved values, framed by our own pages only, and without anything to use', async () => {
    const viewer = await signedIn(shop, 'viewer');
    const merchant = await shop.newMerchant();
    const [before] = await shop.rows('select count(*) from payments');
    const values = {
      'branding.name': '<b>Tea</b>',
      'branding.colour': '#1a7f5a',
      locale: 'de',
      scheme: 'dark',
      page: 'card',
    };
    const { status, text, headers } = await viewer.get(`${pathOf(merchant)}/preview?${query(values)}`);
    expect(status).toBe(200);
    expect(text).toContain('&lt;b&gt;Tea&lt;/b&gt;');
    expect(text).toContain('--fill:#1a7f5a');
    expect(text).toContain('<html lang="de"');
    expect(text).toContain('name="card_number"');
    expect(text).toContain('<main inert>');
    expect(text).not.toContain('<script');
    expect(text).not.toContain('prefers-color-scheme');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining(["frame-ancestors 'self'", "script-src 'none'", "form-action 'none'", 'sandbox']),
    );
    expect(policy.match(/frame-ancestors/g)).toHaveLength(1);
    expect(headers.get('x-frame-options')).toBe('SAMEORIGIN');
    expect((await settingsOf(merchant)).branding).toMatchObject({ name: '', logo: '', colour: '' });
    expect((await shop.rows('select count(*) from payments'))[0]).toEqual(before);
  });

  test('ignores a value that is not valid, and is unknown for an account out of sight', async () => {
    const merchant = await shop.newMerchant({ 'branding.colour': '#112233' });
    const operator = await signedIn(shop, 'merchant', [merchant.mid]);
    const colour = { 'branding.colour': 'red;}body{display:none' };
    const { status, text } = await operator.get(`${pathOf(merchant)}/preview?${query(colour)}`);
    expect([status, text.includes('--fill:#112233'), text.includes('body{display:none')]).toEqual([200, true, false]);
    for (const path of ['preview', 'preview/notes']) {
      expect((await operator.get(`${pathOf(shop.merchant)}/${path}`)).status).toBe(404);
    }
  });

  test('payment pages themselves still refuse frames, and only the page with the preview may frame', async () => {
    const owner = await signedIn(shop, 'owner');
    const policy = async (path: string) => (await owner.get(path)).headers.get('content-security-policy') ?? '';
    expect(await policy(`${pathOf(shop.merchant)}?tab=page`)).toContain("frame-src 'self'");
    expect(await policy(`${pathOf(shop.merchant)}?tab=methods`)).not.toContain('frame-src');
    const { location } = await owner.submit(`${pathOf(shop.merchant)}/test-payment`);
    expect(await policy(location as string)).toContain("frame-ancestors 'none'");
  });

  test('works without scripts: the button shows what was typed, and saves nothing', async () => {
    const owner = await signedIn(shop, 'owner');
    const merchant = await shop.newMerchant();
    const typed = { 'branding.name': 'Tea', 'branding.colour': '#ffd400', preview_scheme: 'dark' };
    const { status, text } = await owner.submit(`${pathOf(merchant)}/preview`, typed);
    expect(status).toBe(200);
    expect(text).toMatch(/<iframe [^>]*branding\.name=Tea&amp;[^>]*scheme=dark/);
    expect(text).toContain('value="Tea"');
    expect(text).toContain('Light: text in this colour has a contrast of 1.3 to 1');
    expect((await settingsOf(merchant)).branding.name).toBe('');
  });

  test.each([
    ['#ffd400', [expect.stringMatching(/^Light: .* Links and icons use #[0-9a-f]{6} instead\.$/)]],
    ['#000080', [expect.stringMatching(/^Dark: /)]],
    ['', []],
    ['red', ['This value should be a colour such as #1a7f5a, or empty.']],
  ])('says about the colour %j where its contrast is low', async (colour, notes) => {
    const viewer = await signedIn(shop, 'viewer');
    const { text } = await viewer.get(`${pathOf(shop.merchant)}/preview/notes?${query({ 'branding.colour': colour })}`);
    expect(JSON.parse(text)).toEqual({ notes });
  });
});

describe('a token', () => {
  const create = (owner: TestOperator, role: Role, more: Record<string, string>) =>
    owner.submit('/admin/tokens', { name: 'Shop', role, days: '30', ...more });

  test('is limited to the accounts that were chosen by name', async () => {
    const owner = await signedIn(shop, 'owner');
    const merchant = await shop.newMerchant();
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { name: 'Chosen <Shop>' });
    expect((await owner.get('/admin/tokens')).text).toContain('Chosen &lt;Shop&gt;');
    const { text } = await create(owner, 'merchant', { [`mid.${merchant.mid}`]: '1' });
    const token = /(tpk_[0-9a-f]{64})/.exec(text)?.[1] ?? '';
    expect((await shop.admin('GET', '/me', undefined, token)).body).toMatchObject({ mids: [merchant.mid] });
    expect((await shop.admin('GET', `/accounts/${shop.merchant.mid}`, undefined, token)).status).toBe(404);
    expect((await owner.get('/admin/tokens')).text).toMatch(/data-label="Accounts">Chosen &lt;Shop&gt;</);
  });

  test.each([
    ['a merchant without an account', {}, 'A merchant needs at least one account.'],
    [
      'an unknown account',
      { 'mid.01234567-89ab-7def-8123-456789abcdef': '1' },
      'There is no account with one of these',
    ],
    ['what is no id', { mids: 'nonsense' }, 'There is no account with one of these'],
  ])('is refused for %s', async (_, fields, message) => {
    const owner = await signedIn(shop, 'owner');
    const { status, text } = await create(owner, 'merchant', fields as Record<string, string>);
    expect([status, text.includes(message), text.includes('tpk_')]).toEqual([400, true, false]);
  });
});
