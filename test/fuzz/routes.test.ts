/** The fuzz knows every route of the gateway and of the simulator. */
import { expect, test } from 'vitest';
import { ROLES } from '../../src/rules/roles.ts';
import { openShop } from '../support/gateway.ts';
import { writeAltered } from './alter.ts';
import { draftOf, weighted } from './drafts.ts';
import type { World } from './model.ts';
import { streamsAt } from './random.ts';
import { routeKey, routesOf } from './routes.ts';

const shop = openShop();

const SESSION = { operatorId: 'operator', cookie: 'cookie', formToken: 'token' };

async function worldWith(known: [string, string[]][]): Promise<World> {
  return {
    routes: weighted(await routesOf(shop.gateway)),
    account: shop.merchant,
    other: shop.merchant,
    tokens: ['token'],
    known: new Map(known),
    forms: new Map(),
    sessions: new Map(ROLES.map((role) => [role, SESSION])),
    simulator: { port: 0, key: 'key' },
    notificationSecret: '',
  } as unknown as World;
}

test('every registered route occurs among the requests', async () => {
  const routes = await routesOf(shop.gateway);
  for (const known of ['POST /post', 'GET /admin/payments/:paymentId', 'GET /docs/*', 'POST /v1/payments']) {
    const [method = '', path = ''] = known.split(' ');
    expect(routes.map(({ key }) => key)).toContain(routeKey(method, path));
  }
  const world = await worldWith([]);
  const drafted = new Set<string>();
  for (let number = 0; number < 10 * world.routes.length; number++) {
    const { route } = draftOf(streamsAt(17, number).draft, world);
    drafted.add(`${route.server} ${route.key}`);
  }
  expect(routes.map(({ server, key }) => `${server} ${key}`).filter((route) => !drafted.has(route))).toEqual([]);
});

test('a request is the same in another run, except for the ids that were learned', async () => {
  const ids = ['01a1e443-e136-7000-912b-bddcfeb13a5c', '01a1e443-e136-7000-912b-bddcfeb13a5d'];
  const pools = ['payment_id', 'mid', 'schedule_id', 'connection_id'].map((name): [string, string[]] => [name, ids]);
  const [empty, full] = [await worldWith([]), await worldWith(pools)];
  const outline = (world: World, number: number) => {
    const streams = streamsAt(17, number);
    const draft = draftOf(streams.draft, world);
    const { method, isFramed, isRouted } = writeAltered(streams, draft);
    const names = draft.headers.map(([name]) => name).filter((name) => !name.startsWith('webhook-'));
    return { key: draft.route.key, method, isFramed, isRouted, names, body: typeof draft.body };
  };
  for (let number = 0; number < 1000; number++) expect(outline(full, number)).toEqual(outline(empty, number));
});
