/** The panel on connections and routes: forms, refusals beside their fields, and who may do what. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Merchant, openShop } from '../support/gateway.ts';
import { signedIn, type TestOperator } from '../support/operators.ts';
import { connect, openProviders, type TestProvider } from '../support/providers.ts';

const shop = openShop();
const providers = openProviders(1);
const provider = (): TestProvider => providers[0] as TestProvider;

let owner: TestOperator;
let viewer: TestOperator;
let merchant: Merchant;
let connection: string;
beforeAll(async () => {
  owner = await signedIn(shop, 'owner');
  viewer = await signedIn(shop, 'viewer');
  merchant = await shop.newMerchant();
  connection = await connect(shop, provider(), { name: 'EU acquirer' });
});

const fields = (changes: Record<string, string> = {}): Record<string, string> => ({
  name: 'New one',
  accounts: '1',
  'settings.methods.row0.0': '',
  'settings.methods.row0.1': '',
  'settings.api_base': '',
  ...Object.fromEntries(Object.entries(provider().credentials).map(([name, value]) => [`credentials.${name}`, value])),
  ...changes,
});
const routeFields = (index: number, changes: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ position: String(index + 1), share: '100', brands: '', ...changes }).map(([name, value]) => [
      `route${index}.${name}`,
      value,
    ]),
  );

describe('connections', () => {
  test('an owner connects a provider, checks it, changes and deletes it', async () => {
    expect((await owner.get('/admin/connections/new')).text).toContain('/admin/connections/new/upstream');
    const created = await owner.submit('/admin/connections/new/upstream', fields({ [`mid.${merchant.mid}`]: '1' }));
    expect(created.status).toBe(303);
    const [path = ''] = (created.location as string).split('?');
    const page = (await owner.get(created.location as string)).text;
    for (const part of ['New one', 'Saved.', 'The check succeeded. The provider is Turnpike sandbox.'])
      expect(page).toContain(part);
    for (const secret of [provider().credentials.key, provider().credentials.notification_secret])
      expect(page).not.toContain(secret);
    expect((await owner.submit(`${path}/check`)).text).toContain('The check succeeded.');
    const changed = fields({
      name: 'Renamed',
      'settings.methods.row0.0': 'bank-a',
      'settings.methods.row0.1': 'ideal',
    });
    for (const name of Object.keys(changed)) if (name.startsWith('credentials.')) changed[name] = '';
    const saved = (await owner.submit(path, changed)).location as string;
    expect(saved.startsWith(`${path}?done=1&check=`)).toBe(true);
    expect((await owner.get(saved)).text).toContain('value="ideal"');
    expect((await owner.submit(`${path}/check`)).text).toContain('The check succeeded.');
    expect((await owner.submit(`${path}/delete`)).location).toBe('/admin/connections');
    expect((await owner.get(path)).status).toBe(404);
  });

  test.each<[string, Record<string, string>, string]>([
    ['a blank name', { name: '' }, 'name-error'],
    ['a bad address', { 'credentials.url': 'x' }, 'credentials.url-error'],
    ['a bad method', { 'settings.methods.row0.1': 'ideal' }, 'settings.methods-error'],
    [
      'an unknown brand',
      { 'settings.methods.row0.0': 'gold', 'settings.methods.row0.1': 'x' },
      'settings.methods-error',
    ],
    ['an unknown account', { 'mid.01a1dd00-0000-7000-8000-000000000001': '1' }, 'accounts-error'],
  ])('%s is refused beside its field, and no secret comes back', async (_, changes, id) => {
    const answer = await owner.submit('/admin/connections/new/upstream', fields(changes));
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(`id="${id}"`);
    expect(answer.text).not.toContain(provider().credentials.key);
  });

  test('a setting with a number is shown, and kept by a form that is sent as it is', async () => {
    const id = await connect(shop, provider(), { settings: { calls_per_second: 40 } });
    const path = `/admin/connections/${id}`;
    expect((await owner.get(path)).text).toMatch(/name="settings.calls_per_second"[^>]*value="40"/);
    const unchanged = fields({ 'settings.calls_per_second': '40' });
    for (const name of Object.keys(unchanged)) if (name.startsWith('credentials.')) unchanged[name] = '';
    expect((await owner.submit(path, unchanged)).status).toBe(303);
    expect((await shop.admin('GET', `/connections/${id}`)).body.settings).toEqual({ calls_per_second: 40 });
  });

  test('a viewer sees the list and no forms', async () => {
    expect((await viewer.get('/admin/connections')).text).toContain('EU acquirer');
    const page = (await viewer.get(`/admin/connections/${connection}`)).text;
    expect(page).not.toContain('credentials.key');
    expect((await viewer.submit(`/admin/connections/${connection}/check`)).status).toBe(403);
    expect((await viewer.get('/admin/connections/new/upstream')).status).toBe(403);
  });

  test('an operator of other accounts sees neither the connection nor the routes', async () => {
    const restricted = await signedIn(shop, 'operator', [(await shop.newMerchant()).mid]);
    expect((await restricted.get(`/admin/connections/${connection}`)).status).toBe(404);
    expect((await restricted.get('/admin/connections')).text).not.toContain('EU acquirer');
    expect((await restricted.get(`/admin/accounts/${merchant.mid}/routes`)).status).toBe(404);
  });
});

describe('routes', () => {
  const path = (): string => `/admin/accounts/${merchant.mid}/routes`;

  test('are saved in order of priority, tried, and removed', async () => {
    const first = routeFields(0, { position: '2', connection_id: 'own' });
    const second = routeFields(1, { position: '1', connection_id: connection, brands: 'card, pin-a', share: '50' });
    const unused = routeFields(2, { position: '3', connection_id: '' });
    expect((await owner.submit(path(), { ...first, ...second, ...unused })).location).toBe(`${path()}?done=1`);
    expect((await shop.admin('GET', `/accounts/${merchant.mid}/routes`)).body).toMatchObject([
      { connection_id: connection, brands: ['card', 'pin-a'], share: 50 },
      { connection_id: null, share: 100 },
    ]);
    const tried = await owner.get(`${path()}?brand=card&currency=EUR&amount=10.00`);
    expect(tried.text).toContain('Route 1 (EU acquirer)');
    expect((await owner.get(`${path()}?brand=card&currency=EUR&amount=0`)).text).toContain('amount-error');
    expect((await viewer.get(path())).text).toContain('EU acquirer');
    expect((await viewer.submit(path(), {})).status).toBe(403);
    expect((await owner.submit(path(), { ...unused, ...routeFields(0, { connection_id: '' }) })).status).toBe(303);
    expect((await shop.admin('GET', `/accounts/${merchant.mid}/routes`)).body).toEqual([]);
  });

  test('a refusal is shown beside the field of its route', async () => {
    const answer = await owner.submit(path(), {
      ...routeFields(0, { position: '2', connection_id: connection, share: '101' }),
      ...routeFields(1, { position: '1', connection_id: connection, brands: 'gold' }),
    });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('id="route0.share-error"');
    expect(answer.text).toContain('id="route1.brands-error"');
  });
});
