/** Connections over the admin API: credentials are write-only, refusals name the field, and scopes are kept. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createConnection } from '../../src/core/connections/connections.ts';
import { rotateKeys } from '../../src/core/installation/rotation.ts';
import { commandCaller, type Principal } from '../../src/core/operators/principal.ts';
import { boundTo, createSeal, newMasterKey } from '../../src/lib/crypto/seal.ts';
import { refuseSimulatedRoutes } from '../../src/server/provider.ts';
import { openRotationStore } from '../../src/store/installation/rotation.ts';
import { ADMIN_TOKEN, openShop, startTestGateway } from '../support/gateway.ts';
import { connect, openProviders, type TestProvider } from '../support/providers.ts';

const OWNER: Principal = { kind: 'token', id: null, name: 'test', role: 'owner', mids: null, refundLimit: null };
const OLD_KEY = newMasterKey();
const shop = openShop({ masterKey: OLD_KEY });
const providers = openProviders(1);
const provider = (): TestProvider => providers[0] as TestProvider;
const body = (changes: Record<string, unknown> = {}) => ({
  connector: 'upstream',
  name: 'EU acquirer',
  credentials: provider().credentials,
  ...changes,
});
const fieldsOf = (answer: { body: { errors: { error_message: string }[] } }): string[] =>
  answer.body.errors.map(({ error_message }) => error_message.split(':')[0] as string);
const tokenFor = async (role: string, mids?: string[]): Promise<string> =>
  (await shop.admin('POST', '/tokens', { name: role, role, ...(mids && { mids }) })).body.token;

describe('a connection', () => {
  test('is created, read, listed, changed and deleted, and never shows its credentials', async () => {
    const created = await shop.admin('POST', '/connections', body());
    expect(created.status).toBe(201);
    const { connection_id } = created.body;
    expect(created.body).toEqual({
      connection_id,
      connector: 'upstream',
      name: 'EU acquirer',
      mids: null,
      mode: null,
      credentials: { url: 'set', key: 'set', notification_secret: 'set' },
      settings: {},
      active_methods: null,
      notification_url: `${shop.url}/inbound/upstream/${connection_id}`,
      health: { state: 'closed', since: null, last_error: null },
      created_at: expect.any(String),
      updated_at: expect.any(String),
      check: { ok: true, detail: 'The provider is Turnpike sandbox.' },
    });
    const changed = await shop.admin('PATCH', `/connections/${connection_id}`, {
      name: 'Renamed',
      credentials: { key: 'wrong' },
      settings: { methods: { 'bank-a': 'ideal' } },
    });
    const { check, ...saved } = changed.body;
    expect(saved).toMatchObject({ name: 'Renamed', settings: { methods: { 'bank-a': 'ideal' } } });
    expect(check).toEqual({ ok: false, detail: 'The provider does not accept the key.' });
    expect((await shop.admin('GET', `/connections/${connection_id}`)).body).toEqual(saved);
    expect((await shop.admin('GET', '/connections')).body.items).toContainEqual(saved);
    expect((await shop.admin('DELETE', `/connections/${connection_id}`)).body).toEqual({
      connection_id,
      deleted: true,
    });
    expect((await shop.admin('GET', `/connections/${connection_id}`)).status).toBe(404);
    const audit = JSON.stringify((await shop.admin('GET', '/audit')).body.items);
    for (const action of ['create', 'change', 'delete']) expect(audit).toContain(`connections.${action}`);
    for (const secret of [provider().credentials.key, provider().credentials.notification_secret, 'wrong']) {
      expect(audit + shop.logs.join('')).not.toContain(secret);
    }
  });

  test('is checked by a harmless call', async () => {
    const id = await connect(shop, provider());
    expect((await shop.admin('POST', `/connections/${id}/check`)).body).toEqual({
      ok: true,
      detail: 'The provider is Turnpike sandbox.',
    });
    await shop.admin('PATCH', `/connections/${id}`, { credentials: { key: 'wrong' } });
    expect((await shop.admin('POST', `/connections/${id}/check`)).body).toEqual({
      ok: false,
      detail: 'The provider does not accept the key.',
    });
    await shop.admin('PATCH', `/connections/${id}`, { credentials: { url: 'http://127.0.0.1:9' } });
    expect((await shop.admin('POST', `/connections/${id}/check`)).body).toMatchObject({ ok: false });
  });

  test('that a route uses is not deleted', async () => {
    const id = await connect(shop, provider());
    const { mid } = await shop.newMerchant();
    await shop.admin('PUT', `/accounts/${mid}/routes`, [{ connection_id: id }]);
    expect((await shop.admin('DELETE', `/connections/${id}`)).status).toBe(400);
    await shop.admin('PUT', `/accounts/${mid}/routes`, []);
    expect((await shop.admin('DELETE', `/connections/${id}`)).status).toBe(200);
    expect((await shop.admin('DELETE', `/connections/${id}`)).status).toBe(404);
  });

  test.each<[string, Record<string, unknown>, string[]]>([
    ['an unknown connector', { connector: 'nobody' }, ['connector']],
    ['no connector', { connector: undefined }, ['connector']],
    ['a blank name', { name: ' ' }, ['name']],
    [
      'no credentials',
      { credentials: undefined },
      ['credentials.url', 'credentials.key', 'credentials.notification_secret'],
    ],
    ['credentials that are no object', { credentials: 'x' }, ['credentials']],
    ['accounts that do not exist', { mids: [randomUUID()] }, ['mids']],
    ['no accounts', { mids: [] }, ['mids']],
    ['an unknown setting', { settings: { colour: 'red' } }, ['settings.colour']],
    ['a method of an unknown brand', { settings: { methods: { gold: 'x' } } }, ['settings.methods.gold']],
    ['a bad address', { settings: { api_base: 'ftp://x' } }, ['settings.api_base']],
    ['a number that is none', { settings: { calls_per_second: 'many' } }, ['settings.calls_per_second']],
    ['an unknown member', { secret: 'x' }, ['secret']],
  ])('with %s is refused, and the refusal names the field', async (_, changes, fields) => {
    const answer = await shop.admin('POST', '/connections', body(changes));
    expect([answer.status, fieldsOf(answer)]).toEqual([400, fields]);
  });

  test('with an unknown or a malformed credential is refused', async () => {
    const credentials = { ...provider().credentials, key: 'a\nb', token: 'x', url: 'not an address' };
    const answer = await shop.admin('POST', '/connections', body({ credentials }));
    expect(fieldsOf(answer).toSorted()).toEqual(['credentials.key', 'credentials.token', 'credentials.url']);
    expect(JSON.stringify(answer.body)).not.toContain('a\\nb');
  });
});

describe('scopes', () => {
  test('a caller restricted to accounts sees the connections of these accounts only, and has to name them', async () => {
    const [own, other] = [await shop.newMerchant(), await shop.newMerchant()];
    const token = await tokenFor('operator', [own.mid]);
    const shared = await connect(shop, provider());
    const foreign = await connect(shop, provider(), { mids: [other.mid] });
    const both = await connect(shop, provider(), { mids: [own.mid, other.mid] });
    const mine = await connect(shop, provider(), { mids: [own.mid] });
    const { items } = (await shop.admin('GET', '/connections', undefined, token)).body;
    expect(items.map((item: { connection_id: string }) => item.connection_id)).toEqual([mine]);
    for (const id of [shared, foreign, both, randomUUID(), 'x']) {
      for (const [method, sent] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as const)
        expect((await shop.admin(method, `/connections/${id}`, sent, token)).status).toBe(404);
    }
    expect(fieldsOf(await shop.admin('POST', '/connections', body(), token))).toEqual(['mids']);
    expect(fieldsOf(await shop.admin('POST', '/connections', body({ mids: [other.mid] }), token))).toEqual(['mids']);
    expect((await shop.admin('POST', '/connections', body({ mids: [own.mid] }), token)).status).toBe(201);
    const put = (id: string) => shop.admin('PUT', `/accounts/${own.mid}/routes`, [{ connection_id: id }], token);
    expect((await put(mine)).status).toBe(200);
    expect((await put(shared)).status).toBe(400);
    expect((await shop.admin('GET', `/accounts/${other.mid}/routes`, undefined, token)).status).toBe(404);
  });

  test('roles: viewers read, merchants do neither', async () => {
    const { mid } = await shop.newMerchant();
    const viewer = await tokenFor('viewer');
    const merchant = await tokenFor('merchant', [mid]);
    expect((await shop.admin('GET', '/connections', undefined, viewer)).status).toBe(200);
    expect((await shop.admin('POST', '/connections', body(), viewer)).status).toBe(403);
    expect((await shop.admin('GET', '/connections', undefined, merchant)).status).toBe(403);
    expect((await shop.admin('GET', `/accounts/${mid}/routes`, undefined, merchant)).status).toBe(403);
    expect((await shop.admin('GET', '/connections', undefined, 'no token')).status).toBe(401);
  });
});

test('notifications of a connection need its signature, and an unknown connection has no address', async () => {
  const id = await connect(shop, provider());
  const post = async (path: string): Promise<number> =>
    (await fetch(`${shop.url}/inbound/${path}`, { method: 'POST', body: '{}' })).status;
  expect(await post(`upstream/${id}`)).toBe(401);
  expect(await post(`stripe/${id}`)).toBe(404);
  expect(await post(`upstream/${randomUUID()}`)).toBe(404);
  expect(await post('upstream/x')).toBe(404);
});

test('key rotation seals the credentials under the new key', async () => {
  const id = await connect(shop, provider());
  const newKey = newMasterKey();
  const rows = openRotationStore(shop.connection);
  await rotateKeys({ seal: createSeal(`${newKey},${OLD_KEY}`) }, rows, () => undefined).finally(rows.close);
  const sealed = (await shop.gateway.connectionStore.find(id))?.credentials as Buffer;
  const opened = createSeal(newKey).open(sealed, boundTo('connections', 'credentials', id));
  expect(JSON.parse(opened)).toEqual(provider().credentials);
});

test('production accepts https and no other host', async () => {
  const live = await startTestGateway({ environment: 'production' });
  try {
    const create = (changes: Record<string, unknown>) => live.admin('POST', '/connections', body(changes), ADMIN_TOKEN);
    expect(fieldsOf(await create({}))).toEqual(['credentials.url']);
    const credentials = { ...provider().credentials, url: 'https://provider.example' };
    const settings = { api_base: 'https://double.example' };
    expect(fieldsOf(await create({ credentials, settings }))).toEqual(['settings.api_base']);
    expect((await create({ credentials })).status).toBe(201);
  } finally {
    await live.close();
  }
});

test('production routes no payment to a simulator, and does not start while a route leads to one', async () => {
  const live = await startTestGateway({ environment: 'production' });
  try {
    const { gateway, merchant } = live;
    const saved = await createConnection(gateway, OWNER, commandCaller('test'), 'upstream', {
      name: 'Simulator',
      credentials: provider().credentials,
    });
    const { connectionId } = saved.row;
    const checked = await live.admin('POST', `/connections/${connectionId}/check`);
    expect(checked.body).toEqual({
      ok: false,
      detail: 'The provider is a simulator, which production does not use.',
    });
    const routes = [{ connection_id: null }, { connection_id: connectionId }];
    const refused = await live.admin('PUT', `/accounts/${merchant.mid}/routes`, routes);
    expect([refused.status, fieldsOf(refused)]).toEqual([400, ['routes[1].connection_id']]);
    await refuseSimulatedRoutes(gateway);
    // Its provider became a simulator later.
    await live.rows(
      `update accounts set routes = '[{"connectionId": "${connectionId}"}]' where mid = '${merchant.mid}'`,
    );
    await expect(refuseSimulatedRoutes(gateway)).rejects.toThrow(`turnpike routes ${merchant.mid} set`);
    expect((await live.admin('PUT', `/accounts/${merchant.mid}/routes`, [])).status).toBe(200);
    await refuseSimulatedRoutes(gateway);
  } finally {
    await live.close();
  }
});
