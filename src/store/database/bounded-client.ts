/** A client of PostgreSQL that finds the primary, waits and ends in bounded time, and reports a commit that was not replicated. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { answerTimeout, Outage, UnreplicatedCommit } from '../../lib/flow/faults.ts';
import { singleHostAddresses } from '../../lib/http/database-address.ts';
import { LIMITS } from '../../rules/limits.ts';
import { StandbyServer } from './session.ts';

/** The function of PostgreSQL that reports a cancelled wait for the standby; the text of the report is translated. */
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN';

/** Called with the result of what was sent, or with its failure. */
export type Done<Result = pg.QueryResult> = (error: Error | null, result?: Result) => void;

/** The result of what is sent. */
export const promised = <Result>(send: (done: Done<Result>) => void): Promise<Result> =>
  new Promise((resolve, reject) => {
    send((error, result) => {
      if (!error) return resolve(result as Result);
      // The driver's leads to the event loop, and not to the caller.
      Error.captureStackTrace(error);
      reject(error);
    });
  });

export class BoundedClient extends pg.Client {
  /** The address once for each of its hosts. */
  readonly #addresses: readonly string[];
  readonly #timeoutMs: number | undefined;

  constructor({ query_timeout, ...config }: pg.ClientConfig = {}) {
    const addresses = singleHostAddresses(config.connectionString ?? '');
    super(addresses.length === 1 ? config : { ...config, connectionString: addresses[0] });
    this.#addresses = addresses;
    this.#timeoutMs = query_timeout;
    // The commit is local and may be lost in a failover, but the server reports success: the result counts as lost.
    this.on('notice', ({ routine }) => {
      if (routine !== WAIT_FOR_STANDBY) return;
      // At once, because the success is in the same packet.
      this.connection.emit('error', new UnreplicatedCommit());
      this.connection.stream.destroy();
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: the driver overloads this method
  override connect(callback?: any): any {
    if (this.#addresses.length === 1) return super.connect(callback);
    const connected = findPrimary(this.#addresses).then(({ host, port }) => {
      Object.assign(this, { host, port });
      return super.connect();
    });
    if (!callback) return connected;
    connected.then(() => callback(null, this), callback);
  }

  /**
   * The driver has a timeout and promises of its own, but they assign a function to a property of the statement. V8
   * allocates such a function as if it were to live long, so that every statement, with its values and its result, would
   * stay in memory until the next full garbage collection.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the rows of a statement that declares none
  override query<Row extends pg.QueryResultRow = any>(
    config: string | pg.QueryConfig,
    values?: unknown[],
  ): Promise<pg.QueryResult<Row>>;
  // biome-ignore lint/suspicious/noExplicitAny: the driver overloads this method a dozen times
  override query(config: any, values?: any, callback?: any): any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  override query(config: any, values?: any, callback?: any): any {
    if (typeof config?.submit === 'function') return super.query(config);
    const { query_timeout, ...statement } = typeof config === 'string' ? { text: config } : config;
    const given = typeof values === 'function' ? undefined : values;
    const send = (done: Done): void =>
      this.timed((end) => super.query(statement, given, end as () => void), done, query_timeout);
    const done: Done | undefined = typeof values === 'function' ? values : callback;
    if (done) return send(done);
    return promised(send);
  }

  /**
   * Sends something that has an end. When that exceeds the timeout, the connection is destroyed, because responses could no
   * longer be matched to statements; everything in flight fails.
   */
  timed<Result>(send: (end: Done<Result>) => void, done: Done<Result>, timeoutMs = this.#timeoutMs): void {
    let isOver = false;
    const expire = (): void => {
      isOver = true;
      done(answerTimeout());
      this.connection.stream.destroy();
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs);
    send((error, result) => {
      if (isOver) return;
      clearTimeout(timer);
      done(error, result);
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  override end(...args: any[]): any {
    const timer = setTimeout(() => this.connection.stream.destroy(), LIMITS.databaseCloseTimeoutMs).unref();
    this.once('end', () => clearTimeout(timer));
    // biome-ignore lint/suspicious/noExplicitAny: as above
    return (super.end as any)(...args);
  }
}

/** A connection of its own, beside the pools. When it is lost, the statement that uses it fails. */
export async function openClient(config: pg.ClientConfig): Promise<BoundedClient> {
  const client = new BoundedClient(config);
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Works with a connection of its own, and closes it. */
export async function withClient<Result>(
  config: pg.ClientConfig,
  work: (client: BoundedClient) => Promise<Result>,
): Promise<Result> {
  const client = await openClient({ connectionTimeoutMillis: LIMITS.databaseConnectTimeoutMs, ...config });
  return work(client).finally(() => client.end());
}

interface Primary {
  host: string;
  port: number;
  timeline: number;
}

/** The newest timeline that this process has seen at each address. */
const newestTimelines = new Map<string, number>();

/** Another connection may have found a newer timeline meanwhile. */
function refuseFormer(cluster: string, { timeline }: Primary): void {
  if (timeline < (newestTimelines.get(cluster) ?? 0)) throw new StandbyServer();
}

/**
 * The host that is not a standby. A former primary that hung answers for a moment after it is back, until it is demoted;
 * of several hosts the one with the newest timeline is the primary, and none with an older one than before.
 */
async function findPrimary(addresses: readonly string[]): Promise<Primary> {
  const cluster = addresses.join();
  const found: Primary[] = [];
  const probes = addresses.map(async (address) => {
    const primary = await probe(address);
    refuseFormer(cluster, primary);
    found.push(primary);
  });
  await Promise.any(probes).catch(({ errors }: AggregateError) => {
    throw errors.every((error) => error instanceof Outage)
      ? new Outage('No host in the address of the database is a primary.')
      : errors.find((error) => !(error instanceof Outage));
  });
  await Promise.race([Promise.allSettled(probes), pause(LIMITS.primaryChoiceMs, undefined, { ref: false })]);
  const newest = found.reduce((best, each) => (each.timeline > best.timeline ? each : best));
  refuseFormer(cluster, newest);
  newestTimelines.set(cluster, newest.timeline);
  return newest;
}

async function probe(connectionString: string): Promise<Primary> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: LIMITS.primaryProbeTimeoutMs,
    query_timeout: LIMITS.primaryProbeTimeoutMs,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query('select pg_is_in_recovery() as standby');
    if (rows[0].standby) throw new StandbyServer();
    return { host: client.host, port: client.port, timeline: await timelineOf(client) };
  } finally {
    client.connection.stream.destroy();
  }
}

/** Each promotion of a standby begins a timeline with a higher number; 0 if the server does not tell. */
const timelineOf = (client: pg.Client): Promise<number> =>
  client.query<{ file: string }>('select pg_walfile_name(pg_current_wal_insert_lsn()) as file').then(
    ({ rows }) => Number.parseInt(rows[0]?.file.slice(0, 8) ?? '0', 16),
    () => 0,
  );
