/** Faulty databases: a separate PostgreSQL server that can be paused, and a proxy that can freeze or cut connections. */
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrateAt } from '../../src/store/database/migrate.ts';
import { type EmbeddedDatabase, startEmbedded } from '../../src/store/embedded/embedded.ts';
import { query, TEMPLATE } from './database.ts';
import { childrenOf, serverPid } from './process.ts';

type Address = EmbeddedDatabase['connection'];

export interface PausableServer {
  connection: Address;
  /** Stops every process of the server, like a host that hangs; its sockets stay open. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** A PostgreSQL for one test file, with the migrated template. */
export async function startPausableServer(): Promise<PausableServer> {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-pause-'));
  const server = await startEmbedded({ folder: join(folder, 'postgres') });
  await query(server.connection, `create database ${TEMPLATE}`);
  await migrateAt({ ...server.connection, database: TEMPLATE });
  let paused: number[] = [];
  const resume = (): void => {
    for (const pid of paused.splice(0)) process.kill(pid, 'SIGCONT');
  };
  return {
    connection: server.connection,
    pause() {
      const postmaster = serverPid(folder);
      // The postmaster first, because it could start other processes.
      process.kill(postmaster, 'SIGSTOP');
      paused = [postmaster];
      for (const pid of childrenOf(postmaster)) {
        process.kill(pid, 'SIGSTOP');
        paused.push(pid);
      }
    },
    resume,
    async stop() {
      resume();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface FreezingProxy {
  host: string;
  port: number;
  /**
   * Stops all traffic on the existing connections, in both directions; new ones work. With a text, only connections
   * that have sent it freeze.
   */
  freeze(sent?: string): void;
  /** Leads new connections to another server. */
  redirect(target: Pick<Address, 'host' | 'port'>): void;
  /** Closes the next connection that sends this text: before the server gets it, or in place of its answer. */
  cutAt(text: string, when: 'request' | 'answer'): void;
  /** How often connections that have sent this text sent something after an answer, since they were opened. */
  roundTrips(sent: string): number;
  close(): Promise<void>;
}

/** A proxy between a gateway and a PostgreSQL server on a Unix socket. */
export async function startFreezingProxy(first: Pick<Address, 'host' | 'port'>): Promise<FreezingProxy> {
  let target = first;
  let pairs: { sockets: [Socket, Socket]; sent: string; isFrozen: boolean; trips: number; isAsked: boolean }[] = [];
  let cut: { text: string; when: 'request' | 'answer' } | undefined;
  const server = createServer((client) => {
    const upstream = connect(`${target.host}/.s.PGSQL.${target.port}`);
    const pair = {
      ...{ sockets: [client, upstream] as [Socket, Socket], sent: '' },
      ...{ isFrozen: false, trips: 0, isAsked: false },
    };
    pairs.push(pair);
    const forward = (from: Socket, to: Socket): void => {
      from.on('data', (chunk) => pair.isFrozen || to.write(chunk));
      from.on('error', () => undefined);
      from.on('close', () => pair.isFrozen || to.destroy());
    };
    const destroy = (): void => {
      for (const socket of pair.sockets) socket.destroy();
    };
    upstream.on('data', () => {
      pair.isAsked = false;
    });
    client.on('data', (chunk) => {
      if (!pair.isAsked) pair.trips += 1;
      pair.isAsked = true;
      pair.sent += chunk;
      if (!cut || !chunk.includes(cut.text)) return;
      if (cut.when === 'request') destroy();
      else upstream.prependOnceListener('data', destroy);
      cut = undefined;
    });
    forward(client, upstream);
    forward(upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    host: '127.0.0.1',
    port,
    freeze(sent = '') {
      for (const pair of pairs) if (pair.sent.includes(sent)) pair.isFrozen = true;
    },
    redirect(next) {
      target = next;
    },
    cutAt(text, when) {
      cut = { text, when };
    },
    roundTrips: (sent) => pairs.filter((pair) => pair.sent.includes(sent)).reduce((sum, { trips }) => sum + trips, 0),
    async close() {
      for (const { sockets } of pairs) for (const socket of sockets) socket.destroy();
      pairs = [];
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
