/** Measures what choosing a route costs: sales at the provider with many routes, against the same sales without routes. */
import {
  adminToken,
  type Merchant,
  measure,
  newMerchant,
  type Server,
  simulator,
  startServer,
  WARM_UP_SECONDS,
} from './harness.ts';
import { providerSale } from './wallet-sales.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
/** The last one takes the sale, so that all of them are compared with it. */
const ROUTES = 10;
/** Few, because the simulator needs a core. */
const CONNECTIONS = 8;

async function admin({ url }: Server, method: string, path: string, body: unknown): Promise<Record<string, string>> {
  const response = await fetch(new URL(`/admin/api${path}`, url), {
    method,
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
  return (await response.json()) as Record<string, string>;
}

async function newRoutedMerchant(server: Server): Promise<Merchant> {
  const merchant = await newMerchant(server.url as URL);
  const { url, key, notificationSecret: notification_secret } = simulator.provider;
  const { connection_id } = await admin(server, 'POST', '/connections', {
    connector: 'upstream',
    name: 'Bench',
    mids: null,
    credentials: { url, key, notification_secret },
  });
  const route = { connection_id, brands: ['pin-a'], countries: ['DE'], min_amount: '1.00', max_amount: '1000.00' };
  const routes = Array.from({ length: ROUTES - 1 }, () => ({ ...route, currencies: ['EUR'] }));
  await admin(server, 'PUT', `/accounts/${merchant.mid}/routes`, [...routes, { connection_id }]);
  return merchant;
}

/** Returns the sales per second of CPU time with routes, divided by those without: the median of several rounds. */
export async function measureRoutes(): Promise<number> {
  const server = await startServer('brands');
  const merchants = { without: await newMerchant(server.url as URL), with: await newRoutedMerchant(server) };
  const ratios: number[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const perCore = { without: 0, with: 0 };
    const kinds = ['without', 'with'] as const;
    for (const kind of round % 2 === 1 ? kinds : kinds.toReversed()) {
      const name = `(r) sales at the provider ${kind} routes, round ${round}`;
      const warmUp = round === 1 ? WARM_UP_SECONDS : 1;
      const row = await measure(name, server, () => providerSale(merchants[kind]), {
        connections: CONNECTIONS,
        warmUp,
      });
      perCore[kind] = row.perCore ?? 0;
    }
    ratios.push(perCore.with / perCore.without);
  }
  await server.stop();
  return ratios.toSorted((one, other) => one - other)[Math.floor(ROUNDS / 2)] as number;
}
