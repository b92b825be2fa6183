/** The fuzz knows every route of the gateway and of the simulator. */
import { expect, test } from 'vitest';
import { ROLES } from '../../src/rules/roles.ts';
import { seeded } from '../support/chance.ts';
import { openShop } from '../support/gateway.ts';
import { draftOf, weighted } from './drafts.ts';
import { routeKey, routesOf } from './routes.ts';
import type { World } from './world.ts';

const shop = openShop();

test('every registered route occurs among the requests', async () => {
  const routes = await routesOf(shop.gateway);
  for (const known of ['POST /post', 'GET /admin/payments/:paymentId', 'GET /docs/*', 'POST /v1/payments']) {
    const [method = '', path = ''] = known.split(' ');
    expect(routes.map(({ key }) => key)).toContain(routeKey(method, path));
  }
  const session = { cookie: 'cookie', formToken: 'token' };
  const world = {
    routes: weighted(routes),
    account: shop.merchant,
    other: shop.merchant,
    tokens: ['token'],
    known: new Map(),
    forms: new Map(),
    sessions: new Map(ROLES.map((role) => [role, session])),
    simulator: { port: 0, key: 'key' },
    notificationSecret: '',
  } as unknown as World;
  const random = seeded(17);
  const drafted = new Set<string>();
  const bySender = new Set<string>();
  for (let drafts = 0; drafts < 20 * world.routes.length; drafts++) {
    const { route, headers } = draftOf(random, world);
    drafted.add(`${route.server} ${route.key}`);
    for (const [name] of headers) bySender.add(name);
  }
  expect(routes.map(({ server, key }) => `${server} ${key}`).filter((route) => !drafted.has(route))).toEqual([]);
  expect([...bySender].sort()).toEqual(['authorization', 'cookie', 'sec-fetch-site']);
});
