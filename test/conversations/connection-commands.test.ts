/** The commands `connection` and `routes`, on the gateway of a shop. */
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { runConnection, runRoutes } from '../../src/cli/connection.ts';
import { openShop } from '../support/gateway.ts';

const shop = openShop();
const json = (value: unknown): Readable => Readable.from([JSON.stringify(value)]);
const credentials = { secret_key: 'sk_test_51canary', webhook_secret: 'whsec_canary' };

test('a connection is added, listed, checked and routed to; its credentials are never printed', async () => {
  const { gateway, merchant } = shop;
  expect(await runConnection(gateway, ['list'])).toBe('There are no connections.');
  // A port on which nothing listens.
  const settings = { api_base: 'http://127.0.0.1:9' };
  const added = await runConnection(gateway, ['add'], json({ connector: 'stripe', name: 'EU', credentials, settings }));
  const [, id = ''] = /^connection_id +(\S+)\nnotification_path +\/inbound\/stripe\/\S+$/.exec(added) ?? [];
  expect(await runConnection(gateway, ['list'])).toBe(`${id}  stripe  test  EU`);
  expect(await runConnection(gateway, ['check', id])).toMatch(/could not be reached/);
  expect(process.exitCode).toBe(1);
  process.exitCode = undefined;
  const route = { connection_id: id, brands: ['card'], share: 50 };
  expect(await runRoutes(gateway, [merchant.mid, 'set'], json([route]))).toBe('The account has 1 routes.');
  const printed = await runRoutes(gateway, [merchant.mid]);
  expect(JSON.parse(printed)).toMatchObject([route]);
  expect(added + printed).not.toContain('canary');
  const { items } = (await shop.admin('GET', '/audit')).body;
  expect(items.map(({ action }: { action: string }) => action).slice(0, 2)).toEqual([
    'routes.change',
    'connections.create',
  ]);
});

test.each<[string[], unknown, RegExp]>([
  [[], undefined, /^Say what to do/],
  [['check', 'x'], undefined, /^Say what to do/],
  [['add'], { connector: 'paypal' }, /^Say what to do/],
  [
    ['add'],
    { connector: 'stripe', name: 'EU', credentials: {} },
    /credentials\.secret_key: This value should not be blank/,
  ],
  [['add'], { connector: 'stripe', name: 'EU', credentials, mids: ['x'] }, /mids/],
])('connection %j with %j is refused', async (args, input, message) => {
  await expect(runConnection(shop.gateway, args, json(input ?? null))).rejects.toThrow(message);
});

test('routes of an unknown account, and routes that are not valid, are refused', async () => {
  const unknown = '01a1dd06-691f-7000-87fc-b0749d0543ed';
  await expect(runRoutes(shop.gateway, ['x'])).rejects.toThrow(/^Say the account/);
  await expect(runRoutes(shop.gateway, [unknown])).rejects.toThrow(`There is no account ${unknown}.`);
  const set = (value: Readable) => runRoutes(shop.gateway, [shop.merchant.mid, 'set'], value);
  await expect(set(Readable.from(['{']))).rejects.toThrow('Standard input should be JSON.');
  await expect(set(json([{ connection_id: unknown }]))).rejects.toThrow(/routes\[0\]\.connection_id/);
});
