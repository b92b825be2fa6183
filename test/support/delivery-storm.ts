/** An installation under a load of callbacks: real processes that are killed, many merchants, healthy and faulty servers. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { newMasterKey } from '../../src/lib/crypto/seal.ts';
import { selfSigned } from './certificate.ts';
import { idOf, type MerchantWithSecret } from './delivery-shop.ts';
import { ADMIN_TOKEN, saleFields } from './gateway.ts';
import { operationFields } from './operations.ts';
import { PAST_PAYMENT_ID } from './payments.ts';
import { newDatabase, newDataDir, type RunningGateway, startGateway } from './process.ts';
import {
  answers,
  type Behaviour,
  closesBeforeAnswer,
  closesInAnswer,
  drips,
  hangs,
  redirectsTo,
  startReceiver,
  type TestReceiver,
} from './receivers.ts';

const TEN_MEGABYTES = Buffer.alloc(10 * 1024 * 1024, 'x');
const floods: Behaviour = (response) => void response.writeHead(200).end(TEN_MEGABYTES);

/** Every kind of faulty server: those that recover, and those that never do. */
export const RECOVERING = {
  hangs,
  drips: drips(),
  closesBeforeAnswer,
  closesInAnswer,
  floods,
  failsTls: answers(200),
} as const satisfies Record<string, Behaviour>;
export const LOST = {
  redirects: redirectsTo('http://127.0.0.1:9/elsewhere'),
  answers400: answers(400),
  answers410: answers(410),
  answers429: answers(429, { 'retry-after': '60' }),
  answers500: answers(500),
  refusesConnections: answers(200),
} as const satisfies Record<string, Behaviour>;

export interface StormMerchant {
  name: string;
  merchant: MerchantWithSecret;
  /** Its servers; when its address is changed, the new server is appended. */
  receivers: [TestReceiver, ...TestReceiver[]];
  /** When each callback first arrived. */
  arrivals: Map<string, number>;
  /** The callbacks that got a complete answer of 200. */
  accepted: Set<string>;
  /** The payment that the others are copied from. */
  sample: string;
}

type Notes = Pick<StormMerchant, 'arrivals' | 'accepted'>;

/** Copies real payments with their history and callbacks under new ids, as if they had happened now. */
const COPY = `
  with made as materialized (
    select t.mid, t.payment_id as sample, ${PAST_PAYMENT_ID} as id, clock_timestamp() as now
    from unnest($1::uuid[], $2::uuid[]) as t(mid, payment_id), generate_series(1, $3)
  ), paid as (
    insert into payments select r.* from made m join payments p on p.mid = m.mid and p.payment_id = m.sample,
      jsonb_populate_record(p, jsonb_build_object('payment_id', m.id, 'order_id', m.id)) as r
  ), happened as (
    insert into history select r.* from made m join history h on h.mid = m.mid and h.payment_id = m.sample,
      jsonb_populate_record(h, jsonb_build_object('payment_id', m.id, 'number', nextval('history_number'))) as r
  )
  insert into callbacks select r.* from made m join callbacks c on c.mid = m.mid and c.payment_id = m.sample,
    jsonb_populate_record(c, jsonb_build_object('payment_id', m.id, 'state', 'waiting', 'reason', null,
      'body', replace(c.body, m.sample::text, m.id::text), 'attempts', 0, 'retry_index', 0, 'finished_at', null,
      'due_at', m.now, 'created_at', m.now)) as r
  returning payment_id || '-' || seq as id`;

const POUR_EVERY_MS = 100;

export async function startStorm() {
  const { url, connection } = await newDatabase();
  const variables = {
    DATABASE_URL: url,
    DATA_DIR: await newDataDir(),
    TURNPIKE_MASTER_KEY: newMasterKey(),
    TURNPIKE_ADMIN_TOKEN: ADMIN_TOKEN,
    // Never called; it keeps the provider simulator from being started with every process.
    TURNPIKE_PROVIDER_URL: 'http://127.0.0.1:9',
    TURNPIKE_PROVIDER_KEY: 'a key',
    TURNPIKE_PROVIDER_NOTIFICATION_SECRET: randomBytes(32).toString('base64'),
  };
  const gateway = await startGateway({ ...variables, TURNPIKE_ROLE: 'http' });
  const client = new pg.Client(connection);
  await client.connect();
  const receivers: TestReceiver[] = [];

  const rows = async (sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> =>
    (await client.query(sql, values)).rows;
  const count = async (where: string, mids?: readonly string[]): Promise<number> => {
    const [row] = await rows(
      `select count(*)::int as count from callbacks where ${where} and ($1::uuid[] is null or mid = any($1))`,
      [mids ?? null],
    );
    return row?.count as number;
  };
  const notify = (change: string) => rows(`select pg_notify('turnpike_changes', $1)`, [change]);

  const receiver = async (notes: Notes, name = ''): Promise<TestReceiver> => {
    const certificate = name === 'failsTls' ? { certificate: selfSigned(['127.0.0.1']) } : {};
    const started = await startReceiver(answers(200), certificate);
    receivers.push(started);
    become(started, answers(200), notes);
    return started;
  };

  return {
    connection,
    rows,
    count,

    /** A merchant with a healthy or faulty server; its first payments are real sales. */
    async merchant(name: string, behaviour: Behaviour, sales: number): Promise<StormMerchant> {
      const notes: Notes = { arrivals: new Map(), accepted: new Set() };
      const at = await receiver(notes, name);
      become(at, behaviour, notes);
      if (name === 'refusesConnections') await at.close();
      const { body: merchant } = await gateway.admin('POST', '/accounts', { name, callback_url: at.url });
      const sale = async (): Promise<string> => (await gateway.post(saleFields(merchant, { auth: 'Y' }))).body.trans_id;
      const [sample = '', ...others] = await Promise.all(Array.from({ length: sales }, sale));
      await Promise.all(others.map((id) => gateway.post(operationFields(merchant, 'CAPTURE', id))));
      return { name, merchant, receivers: [at], ...notes, sample };
    },

    /** Gives a merchant a new server under a new address. */
    async move(merchant: StormMerchant): Promise<void> {
      const at = await receiver(merchant);
      merchant.receivers.push(at);
      await gateway.admin('PATCH', `/accounts/${merchant.merchant.mid}`, { callback_url: at.url });
    },

    /** Writes this many callbacks for each merchant, evenly over the time; returns when each was written. */
    async pour(merchants: readonly StormMerchant[], each: number, overMs: number): Promise<Map<string, number>> {
      const written = new Map<string, number>();
      const steps = Math.max(1, Math.round(overMs / POUR_EVERY_MS));
      const started = performance.now();
      for (let step = 0, poured = 0; step < steps; step++) {
        const now = Math.round((each * (step + 1)) / steps) - poured;
        poured += now;
        const mids = merchants.map(({ merchant }) => merchant.mid);
        const made = await rows(COPY, [mids, merchants.map(({ sample }) => sample), now]);
        for (const { id } of made) written.set(id as string, Date.now());
        await notify('callbacks');
        const next = started + (step + 1) * POUR_EVERY_MS;
        if (next > performance.now()) await pause(next - performance.now());
      }
      return written;
    },

    /** A process that only delivers. */
    worker: (): Promise<RunningGateway> => startGateway({ ...variables, TURNPIKE_ROLE: 'work' }),

    /** Advances the gateway's clock in one step; the delivering processes are notified, and everything is due at once. */
    async leap(seconds: number): Promise<void> {
      await rows(
        `insert into clock_offsets values (null, $1)
          on conflict (mid) do update set offset_ms = clock_offsets.offset_ms + excluded.offset_ms`,
        [seconds * 1000],
      );
      await notify('clock');
      await pause(100);
      await notify('callbacks');
    },

    async close(): Promise<void> {
      await client.end();
      for (const one of receivers) await one.close();
    },
  };
}

/** Sets what a server does from now on, and records when each callback first arrived and whether it was accepted. */
export function become(receiver: TestReceiver, behaviour: Behaviour, { arrivals, accepted }: Notes): void {
  receiver.behaviour = (response, request) => {
    const id = idOf(request);
    if (!arrivals.has(id)) arrivals.set(id, Date.now());
    response.once('finish', () => response.statusCode === 200 && accepted.add(id));
    behaviour(response, request);
  };
}

/** Milliseconds from the commit of each callback of these merchants to its first arrival. */
export const delaysOf = (merchants: readonly StormMerchant[], written: ReadonlyMap<string, number>): number[] =>
  merchants.flatMap(({ arrivals }) =>
    [...arrivals].flatMap(([id, at]) => (written.has(id) ? at - (written.get(id) as number) : [])),
  );

export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;
