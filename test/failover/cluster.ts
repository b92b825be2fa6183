/** A PostgreSQL cluster on loopback: etcd, two nodes under Patroni with synchronous replication, and HAProxy in front. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, openSync, readFileSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { chooseSystemUser, type SystemUser } from '../../src/store/embedded/system-user.ts';
import { freePort } from '../support/free-port.ts';

const POSTGRES = '/usr/lib/postgresql/15/bin';
const PROGRAMS = { etcd: '/usr/bin/etcd', patroni: '/usr/bin/patroni', haproxy: '/usr/sbin/haproxy' };
const NAME = 'turnpike';

/** The cluster fails over soon after the leader's key expires; a real one has a longer `ttl`. */
const TIMES = { ttl: 6, loop_wait: 1, retry_timeout: 3 };

/** What is not installed, as a sentence. */
export function missingPackages(): string | undefined {
  const isComplete = [`${POSTGRES}/postgres`, ...Object.values(PROGRAMS)].every((path) => existsSync(path));
  return isComplete
    ? undefined
    : 'The failover run needs Debian packages: apt-get install postgresql-15 patroni etcd-server haproxy.';
}

export interface Node {
  name: string;
  /** The port of PostgreSQL itself. */
  port: number;
  /** Sends a signal to Patroni, to PostgreSQL and to all of its processes. */
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
  /** Starts Patroni again. */
  start(): void;
  /**
   * Continues PostgreSQL after a SIGSTOP, and starts a new Patroni, which demotes it. A Patroni 3.0 that goes on with what
   * it knew sometimes takes the lead back; then the cluster loses what the new primary has committed.
   */
  resume(): void;
}

export interface Cluster {
  /** Through HAProxy, which knows the primary; for the run itself. */
  connection: { host: string; port: number; user: string; database: string };
  /** The address for the gateway: HAProxy, or both nodes. */
  url: string;
  nodes: readonly Node[];
  primary(): Promise<Node>;
  /** Asks Patroni to make the other node the primary. */
  switchOver(): Promise<void>;
  /** Waits until there is a primary with a synchronous standby; returns the primary. */
  untilComplete(seconds?: number): Promise<Node>;
  stop(): Promise<void>;
}

interface PatroniMember {
  name: string;
  role: string;
  state: string;
}

export async function startCluster(folder: string, isDirect = false): Promise<Cluster> {
  const home = join(folder, 'cluster');
  await fs.mkdir(home);
  const account = await chooseSystemUser(home);
  if (account) await fs.chown(home, account.uid, account.gid);
  const [etcdPort, peerPort, frontPort, ...ports] = await Promise.all(Array.from({ length: 7 }, freePort));
  const start = (name: string, program: string, args: string[]): ChildProcess =>
    startAs(account, join(folder, `${name}.log`), program, args);

  const etcd = start('etcd', PROGRAMS.etcd, [
    ...['--data-dir', join(home, 'etcd'), '--log-level', 'warn'],
    ...[
      '--listen-client-urls',
      `http://127.0.0.1:${etcdPort}`,
      '--advertise-client-urls',
      `http://127.0.0.1:${etcdPort}`,
    ],
    ...[
      '--listen-peer-urls',
      `http://127.0.0.1:${peerPort}`,
      '--initial-advertise-peer-urls',
      `http://127.0.0.1:${peerPort}`,
    ],
    ...['--initial-cluster', `default=http://127.0.0.1:${peerPort}`],
  ]);

  const members = await Promise.all(
    [0, 1].map(async (index) => {
      const name = `node${index + 1}`;
      const [port, restPort] = ports.slice(2 * index) as [number, number];
      const data = join(home, name);
      const file = join(home, `${name}.json`);
      // JSON is YAML.
      await fs.writeFile(file, JSON.stringify(patroniConfig(name, data, port, restPort, etcdPort as number)));
      let patroni = start(name, PROGRAMS.patroni, [file]);
      const node: Node = {
        name,
        port,
        signal(signal) {
          // Patroni first: it would start what it finds dead.
          for (const pid of [patroni.pid, ...serverPids(data)]) if (pid !== undefined) kill(pid, signal);
        },
        start() {
          patroni = start(name, PROGRAMS.patroni, [file]);
        },
        resume() {
          patroni.kill('SIGKILL');
          for (const pid of serverPids(data)) kill(pid, 'SIGCONT');
          node.start();
        },
      };
      const stop = async (): Promise<void> => {
        node.signal('SIGCONT');
        const ended = patroni.exitCode !== null || new Promise((resolve) => patroni.once('close', resolve));
        patroni.kill('SIGTERM');
        await Promise.race([ended, pause(10_000)]);
        node.signal('SIGKILL');
      };
      return { node, restPort, stop };
    }),
  );

  const haproxyFile = join(home, 'haproxy.cfg');
  await fs.writeFile(
    haproxyFile,
    haproxyConfig(
      frontPort as number,
      members.map(({ node, restPort }) => [node, restPort]),
    ),
  );
  const haproxy = start('haproxy', PROGRAMS.haproxy, ['-db', '-f', haproxyFile]);

  /** The members as any Patroni that answers sees them. */
  async function view(): Promise<PatroniMember[]> {
    for (const { restPort } of members) {
      const response = await fetch(`http://127.0.0.1:${restPort}/cluster`, { signal: AbortSignal.timeout(2000) }).catch(
        () => undefined,
      );
      if (response?.ok) return ((await response.json()) as { members?: PatroniMember[] }).members ?? [];
    }
    return [];
  }
  const leaderIn = (list: PatroniMember[]): Node | undefined => {
    const name = list.find(({ role, state }) => role === 'leader' && state === 'running')?.name;
    return members.find(({ node }) => node.name === name)?.node;
  };
  async function until<Result>(
    seconds: number,
    what: string,
    look: () => Promise<Result | undefined>,
  ): Promise<Result> {
    const end = performance.now() + seconds * 1000;
    for (;;) {
      const result = await look().catch(() => undefined);
      if (result !== undefined) return result;
      if (performance.now() > end) throw new Error(`${what} within ${seconds} s; the logs are in ${folder}.`);
      await pause(100);
    }
  }
  const primary = (): Promise<Node> => until(120, 'The cluster had no primary', async () => leaderIn(await view()));

  const killAll = (): void => {
    for (const { node } of members) node.signal('SIGKILL');
    haproxy.kill('SIGKILL');
    etcd.kill('SIGKILL');
  };
  process.once('exit', killAll);

  const cluster: Cluster = {
    connection: { host: '127.0.0.1', port: frontPort as number, user: NAME, database: NAME },
    url: `postgres://${NAME}@${isDirect ? members.map(({ node }) => `127.0.0.1:${node.port}`).join() : `127.0.0.1:${frontPort}`}/${NAME}`,
    nodes: members.map(({ node }) => node),
    primary,
    async switchOver() {
      const leader = (await primary()).name;
      const { restPort } = members.find(({ node }) => node.name === leader) as (typeof members)[number];
      const response = await fetch(`http://127.0.0.1:${restPort}/switchover`, {
        method: 'POST',
        body: JSON.stringify({ leader }),
        signal: AbortSignal.timeout(60_000),
      });
      if (!response.ok) throw new Error(`Patroni did not switch over: ${await response.text()}`);
    },
    untilComplete: (seconds = 120) =>
      until(seconds, 'The cluster had no primary with a synchronous standby', async () => {
        const list = await view();
        const isComplete = list.some(({ role, state }) => role === 'sync_standby' && /running|streaming/.test(state));
        const leader = leaderIn(list);
        return isComplete && leader && (await isReplicated(leader)) ? leader : undefined;
      }),
    async stop() {
      await Promise.all(members.map(({ stop }) => stop()));
      killAll();
      process.off('exit', killAll);
    },
  };
  try {
    await createDatabase(await primary());
    await cluster.untilComplete();
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}

function startAs(account: SystemUser | undefined, log: string, program: string, args: string[]): ChildProcess {
  const file = openSync(log, 'a');
  const env = { PATH: `${POSTGRES}:${process.env.PATH}`, LC_ALL: 'C.UTF-8', ETCD_UNSUPPORTED_ARCH: 'arm64' };
  const child = spawn(program, args, { ...account, cwd: '/', env, stdio: ['ignore', file, file] });
  child.on('error', () => undefined);
  return child;
}

function patroniConfig(name: string, data: string, port: number, restPort: number, etcdPort: number): object {
  const trusted = ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'];
  return {
    scope: NAME,
    name,
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
    etcd3: { host: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: {
        ...TIMES,
        synchronous_mode: true,
        maximum_lag_on_failover: 0,
        postgresql: { use_pg_rewind: true, parameters: { max_connections: 200, max_wal_size: '256MB' } },
      },
      initdb: [{ encoding: 'UTF8' }, 'data-checksums'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: data,
      bin_dir: POSTGRES,
      pgpass: `${data}.pgpass`,
      pg_hba: trusted,
      parameters: { unix_socket_directories: '', shared_buffers: '64MB', log_min_error_statement: 'panic' },
      authentication: {
        superuser: { username: 'postgres', password: NAME },
        replication: { username: 'replicator', password: NAME },
      },
    },
  };
}

/** A connection of a client ends when Patroni no longer reports its server as the primary. */
const haproxyConfig = (port: number, nodes: [Node, number][]): string => `
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 1s
listen primary
  bind 127.0.0.1:${port}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${nodes.map(([node, restPort]) => `  server ${node.name} 127.0.0.1:${node.port} check port ${restPort}\n`).join('')}`;

const directly = (node: Node, database = 'postgres'): pg.Client =>
  new pg.Client({ host: '127.0.0.1', port: node.port, user: 'postgres', database, connectionTimeoutMillis: 2000 });

async function queryDirectly(node: Node, sql: string): Promise<pg.QueryResult> {
  const client = directly(node);
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await client.query(sql);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function createDatabase(node: Node): Promise<void> {
  await queryDirectly(node, `create role ${NAME} login`);
  await queryDirectly(node, `create database ${NAME} owner ${NAME}`);
}

const isReplicated = async (primary: Node): Promise<boolean> =>
  ((await queryDirectly(primary, `select from pg_stat_replication where sync_state = 'sync'`)).rowCount ?? 0) > 0;

/** The server of a data folder and its processes; the server first, because it could start others. */
function serverPids(data: string): number[] {
  const file = join(data, 'postmaster.pid');
  const server = existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : 0;
  if (!(server > 0) || !readOrEmpty(`/proc/${server}/cmdline`).includes(data)) return [];
  const children = readOrEmpty(`/proc/${server}/task/${server}/children`).trim().split(' ').filter(Boolean);
  return [server, ...children.map(Number)];
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
