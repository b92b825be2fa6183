/** The requests and the work whose cost must not grow with the database. */
import { createDueEndpoints, type DueEndpoints } from '../src/core/callbacks/due-endpoints.ts';
import { drainDueWork, processEverythingDue, startDueWork } from '../src/core/due/due.ts';
import { createDueRows, type DueRows } from '../src/core/due/rows.ts';
import { foldProjections } from '../src/core/projections/projections.ts';
import { wireHash } from '../src/lib/crypto/hash.ts';
import { newSecret } from '../src/lib/crypto/id.ts';
import type { PaymentWithDetails } from '../src/store/payments/payments.ts';
import type { ActiveMerchant, Site } from './growth-site.ts';
import { saleForm } from './harness.ts';
import { type LoadResult, load, request } from './load.ts';

type Times = Pick<LoadResult, 'answered' | 'p50' | 'p99'>;

export interface Kind {
  name: string;
  /** How many requests a round makes. */
  count: number;
  /** How many rounds come before those that are measured, if it is not one. */
  warmUps?: number;
  /** Makes what the requests are about; not measured. */
  prepare?(site: Site, count: number): Promise<void>;
  run(site: Site, count: number, connections: number): Promise<Times>;
}

/** Sends prepared requests, each once. */
async function send(site: Site, requests: Buffer[], connections: number): Promise<Times> {
  const { hostname: host, port } = site.server.url as URL;
  const result = await load({ host, port: Number(port), connections, seconds: 600, requests });
  if (result.failed > 0) throw new Error(`${result.failed} responses were not 200.`);
  return result;
}

const RUN = newSecret(4);
let orders = 0;

/** The orders of an account follow each other, as those of a shop do. */
function newOrders({ merchants }: Site, count: number): { merchant: ActiveMerchant; order: string }[] {
  return Array.from({ length: count }, () => {
    const place = orders++ % merchants.length;
    return {
      merchant: merchants[place] as ActiveMerchant,
      order: `${place}-${RUN}-${String(orders).padStart(9, '0')}`,
    };
  });
}

async function sell(site: Site, count: number, connections: number, rest = '') {
  const made = newOrders(site, count);
  const times = await send(
    site,
    made.map(({ merchant, order }) => request('/post', saleForm(merchant, order) + rest)),
    connections,
  );
  const { rows } = await site.client.query<{ order: string; id: string }>(
    'select /* setup */ order_id as "order", payment_id as id from payments where order_id = any($1)',
    [made.map(({ order }) => order)],
  );
  const ids = new Map(rows.map(({ order, id }) => [order, id]));
  return { times, made: made.map((one) => ({ ...one, id: ids.get(one.order) as string })) };
}

/** A request to `/post` whose hash covers one value. */
const post = ({ client_key, password }: ActiveMerchant, action: string, field: string, value: string): Buffer =>
  request('/post', `action=${action}&client_key=${client_key}&${field}=${value}&hash=${wireHash([value], password)}`);

const get = ({ headers }: Site, path: string): Buffer =>
  Buffer.from(
    `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}\r\n`,
  );

/** One of the payments that were made before, another one each time. */
const some = <Item>(items: readonly Item[], index: number): Item => items[(index * 7919) % items.length] as Item;

const times = (count: number, make: (index: number) => Buffer): Buffer[] =>
  Array.from({ length: count }, (_, n) => make(n));

/** Runs work of this process one after another. */
async function repeat(
  count: number,
  work: (index: number) => Promise<unknown>,
  setUp?: () => Promise<void>,
): Promise<Times> {
  const latencies: number[] = [];
  for (let index = 0; index < count; index++) {
    await setUp?.();
    const started = performance.now();
    await work(index);
    latencies.push(performance.now() - started);
  }
  latencies.sort((a, b) => a - b);
  const percentile = (share: number): number => latencies[Math.floor(count * share)] as number;
  return { answered: count, p50: percentile(0.5), p99: percentile(0.99) };
}

const CLAIMED = 16;
const DUE_CONNECTOR = 'growth';

/** What the work loop of a process remembers between two rounds. */
const dueRows = new WeakMap<Site, DueRows<PaymentWithDetails>>();
const dueEndpoints = new WeakMap<Site, DueEndpoints>();

function remembered<Value>(values: WeakMap<Site, Value>, site: Site, create: () => Value): Value {
  const value = values.get(site) ?? create();
  values.set(site, value);
  return value;
}

/** Takes payments that no other request of this run uses. */
const takeSales = (site: Site): string[] => {
  if (site.sales.length < 2 * CLAIMED) throw new Error('Too few sales were made for the claims.');
  return site.sales.splice(0, CLAIMED).map(({ id }) => id);
};

export const KINDS: readonly Kind[] = [
  {
    name: 'SALE',
    count: 2000,
    // The pages of a large database that the accounts use have to be read, and written to the WAL for the first time.
    warmUps: 12,
    async run(site, count, connections) {
      const { times, made } = await sell(site, count, connections);
      site.sales.push(...made);
      return times;
    },
  },
  {
    name: 'status',
    count: 6000,
    run: (site, count, connections) =>
      send(
        site,
        times(count, (n) => {
          const { merchant, id } = some(site.sales, n);
          return post(merchant, 'GET_TRANS_STATUS', 'trans_id', id);
        }),
        connections,
      ),
  },
  {
    name: 'status by order',
    count: 6000,
    run: (site, count, connections) =>
      send(
        site,
        times(count, (n) => {
          const { merchant, order } = some(site.sales, n);
          return post(merchant, 'GET_TRANS_STATUS_BY_ORDER', 'order_id', order);
        }),
        connections,
      ),
  },
  {
    name: 'CAPTURE',
    count: 1500,
    warmUps: 3,
    async prepare(site, count) {
      site.authorised = (await sell(site, count, 16, '&auth=Y')).made;
    },
    run: (site, _, connections) =>
      send(
        site,
        site.authorised.map(({ merchant, id }) => post(merchant, 'CAPTURE', 'trans_id', id)),
        connections,
      ),
  },
  {
    name: 'panel: payments',
    count: 100,
    run: (site, count, connections) =>
      send(
        site,
        times(count, () => get(site, '/admin/payments')),
        connections,
      ),
  },
  {
    name: 'panel: payments of one account',
    count: 100,
    run: (site, count, connections) =>
      send(
        site,
        times(count, (n) => get(site, `/admin/payments?mid=${some(site.merchants, n).mid}`)),
        connections,
      ),
  },
  {
    name: 'panel: search for an order',
    count: 100,
    run: (site, count, connections) =>
      send(
        site,
        times(count, (n) => get(site, `/admin/payments?q=${some(site.sales, n).order}`)),
        connections,
      ),
  },
  {
    name: `claim of ${CLAIMED} due payments`,
    count: 30,
    run: (site, count) =>
      repeat(
        count,
        async () => {
          const due = remembered(dueRows, site, () => createDueRows(site.gateway.payments, site.gateway.clock.now));
          await due.connectors(false);
          const rows = await due.claim(DUE_CONNECTOR, 2 * CLAIMED);
          if (rows.length !== CLAIMED) throw new Error(`Of ${CLAIMED} due payments ${rows.length} were claimed.`);
        },
        async () => {
          await site.client.query(
            'update /* setup */ payments set due_at = null where connector = $1 and due_at is not null',
            [DUE_CONNECTOR],
          );
          await site.client.query(
            `update /* setup */ payments set due_at = now() - interval '1 second', connector = $2 where payment_id = any($1)`,
            [takeSales(site), DUE_CONNECTOR],
          );
        },
      ),
  },
  {
    name: `claim of ${CLAIMED} callbacks, and their outcomes`,
    count: 30,
    run: (site, count) =>
      repeat(
        count,
        async () => {
          const { callbacks, clock } = site.gateway;
          const now = clock.now();
          const endpoints = remembered(dueEndpoints, site, () => createDueEndpoints(site.gateway));
          await endpoints.search();
          const { rows } = await callbacks.claimDue(
            now,
            endpoints.take(() => CLAIMED),
            4 * CLAIMED,
          );
          if (rows.length !== CLAIMED) throw new Error(`Of ${CLAIMED} due callbacks ${rows.length} were claimed.`);
          await Promise.all(
            rows.map(({ mid, paymentId, seq, dueAt }) =>
              callbacks.record({
                key: { mid, paymentId, seq },
                claimedUntil: dueAt,
                state: 'delivered',
                reason: null,
                dueAt: null,
                at: now,
                status: 200,
                fault: null,
                tookMs: 1,
              }),
            ),
          );
        },
        async () => {
          await site.client.query(
            `update /* setup */ callbacks c set state = 'waiting', due_at = now() - interval '1 second', finished_at = null, reason = null
             from payments p where p.payment_id = any($1) and c.mid = p.mid and c.payment_id = p.payment_id`,
            [takeSales(site)],
          );
        },
      ),
  },
  {
    name: 'round of the work loop, nothing due',
    count: 50,
    run: (site, count) =>
      repeat(count, async () => {
        await startDueWork(site.gateway);
        await drainDueWork(site.gateway);
      }),
  },
  {
    name: 'round that reads all due rows',
    count: 50,
    run: (site, count) => repeat(count, () => processEverythingDue(site.gateway)),
  },
  {
    name: 'sums of reports, per sale',
    count: 1000,
    prepare: async (site, count) => {
      await foldProjections(site.gateway);
      site.sales.push(...(await sell(site, count, 16)).made);
    },
    async run(site, count) {
      return { ...(await repeat(1, () => foldProjections(site.gateway))), answered: count };
    },
  },
];
