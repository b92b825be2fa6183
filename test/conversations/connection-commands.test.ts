/** The commands `connection` and `routes`, on the gateway of a shop. */
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import {
  addedConnection,
  checkedConnection,
  listedConnections,
  listedRoutes,
  replacedRoutes,
} from '../../src/cli/connection.ts';
import { StartupError } from '../../src/lib/flow/startup-error.ts';
import { openShop } from '../support/gateway.ts';

const shop = openShop();
const json = (value: unknown): Readable => Readable.from([JSON.stringify(value)]);
const credentials = { secret_key: 'sk_test_51canary', webhook_secret: 'whsec_canary' };

test('a connection is added, listed, checked and routed to; its credentials are never printed', async () => {
  const { gateway, merchant } = shop;
  expect(await listedConnections(gateway)).toEqual({ value: { items: [] }, text: 'There are no connections.' });
  // A port on which nothing listens.
  const settings = { api_base: 'http://127.0.0.1:9' };
  const added = await addedConnection(gateway, json({ connector: 'stripe', name: 'EU', credentials, settings }));
  const [, id = '', checked] =
    /^connection_id +(\S+)\nnotification_path +\/inbound\/stripe\/\S+\n(.*)$/.exec(added.text) ?? [];
  const unreachable = 'The provider could not be reached (connect ECONNREFUSED 127.0.0.1:9).';
  expect(checked).toBe(`The connection is saved, but its check failed. ${unreachable}`);
  expect(added.value).toMatchObject({ connection_id: id, check: { ok: false, detail: unreachable } });
  expect(await listedConnections(gateway)).toEqual({
    value: { items: [{ connection_id: id, connector: 'stripe', mode: 'test', name: 'EU' }] },
    text: `${id}  stripe  test  EU`,
  });
  expect(await checkedConnection(gateway, id)).toMatchObject({
    text: expect.stringMatching(/could not be reached/),
    hasFailed: true,
  });
  const route = { connection_id: id, brands: ['card'], share: 50 };
  const replaced = await replacedRoutes(gateway, merchant.mid, json([route]));
  expect(replaced.text).toBe('The account has 1 routes.');
  const printed = await listedRoutes(gateway, merchant.mid);
  expect(JSON.parse(printed.text)).toMatchObject([route]);
  expect(JSON.stringify([added, printed])).not.toContain('canary');
  const { items } = (await shop.admin('GET', '/audit')).body;
  expect(items.map(({ action }: { action: string }) => action).slice(0, 2)).toEqual([
    'routes.change',
    'connections.create',
  ]);
});

test.each<[unknown, RegExp]>([
  [null, /^connector: This value should be one of stripe/],
  [{ connector: 'nobody' }, /^connector: /],
  [{ connector: 'stripe', name: 'EU', credentials: {} }, /credentials\.secret_key: This value should not be blank/],
  [{ connector: 'stripe', name: 'EU', credentials, mids: ['x'] }, /mids/],
])('the connection %j is refused', async (input, message) => {
  await expect(addedConnection(shop.gateway, json(input))).rejects.toThrow(message);
});

test('routes of an unknown account, and routes that are not valid, are refused', async () => {
  const unknown = '01a1dd06-691f-7000-87fc-b0749d0543ed';
  await expect(listedRoutes(shop.gateway, unknown)).rejects.toThrow(`There is no account ${unknown}.`);
  await expect(checkedConnection(shop.gateway, unknown)).rejects.toThrow(StartupError);
  const set = (value: Readable) => replacedRoutes(shop.gateway, shop.merchant.mid, value);
  await expect(set(Readable.from(['{']))).rejects.toThrow('Standard input should be JSON.');
  await expect(set(json([{ connection_id: unknown }]))).rejects.toThrow(/routes\[0\]\.connection_id/);
});
