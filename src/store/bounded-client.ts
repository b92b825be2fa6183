/** A client of PostgreSQL that finds the primary, ends in bounded time, and reports a commit that was not replicated. */
import pg from 'pg';
import { singleHostAddresses } from '../lib/database-address.ts';
import { Outage, UnreplicatedCommit } from '../lib/faults.ts';
import { LIMITS } from '../rules/limits.ts';
import { StandbyServer } from './session.ts';

/** The function of PostgreSQL that reports a cancelled wait for the standby; the text of the report is translated. */
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN';

export class BoundedClient extends pg.Client {
  /** The address once for each of its hosts. */
  readonly #addresses: readonly string[];

  constructor(config: pg.ClientConfig = {}) {
    const addresses = singleHostAddresses(config.connectionString ?? '');
    super(addresses.length === 1 ? config : { ...config, connectionString: addresses[0] });
    this.#addresses = addresses;
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

/** The host that answers first that it is not a standby. */
async function findPrimary(addresses: readonly string[]): Promise<{ host: string; port: number }> {
  const probes = addresses.map(async (connectionString) => {
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
      return { host: client.host, port: client.port };
    } finally {
      client.connection.stream.destroy();
    }
  });
  return Promise.any(probes).catch(({ errors }: AggregateError) => {
    throw errors.every((error) => error instanceof Outage)
      ? new Outage('No host in the address of the database is a primary.')
      : errors.find((error) => !(error instanceof Outage));
  });
}
