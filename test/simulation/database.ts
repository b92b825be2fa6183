/** The database of a simulation: one real connection for all processes, whose statements are steps in virtual time. */
import pg from 'pg';
import { type Connection, type Database, INDEX_ONLY, queryBuilder, types } from '../../src/store/database/database.ts';
import type { PipelinedConnection } from '../../src/store/database/pipelined-connection.ts';
import { prepareSession } from '../../src/store/database/session.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import { START } from './virtual-time.ts';

type Statement = string | { name?: string; text: string; values?: unknown[] };

/**
 * The functions of PostgreSQL that read its clock, by the virtual time. They are found first, because the search path
 * of the connection names `pg_catalog` last.
 */
const CLOCK_FUNCTIONS = `
  create schema simulation;
  ${['now', 'statement_timestamp', 'clock_timestamp']
    .map(
      (name) => `create function simulation.${name}() returns timestamptz language sql stable
        as $$ select pg_catalog.current_setting('simulation.now')::timestamptz $$;`,
    )
    .join('\n')}`;

/** No process takes back that a callback was delivered. */
const DELIVERED_STAYS = `
  create function simulation.refuse() returns trigger language plpgsql
    as $$ begin raise 'A delivered callback is to be delivered again.'; end $$;
  create trigger delivered_stays before update on callbacks for each row
    when (old.state = 'delivered' and new.state <> 'delivered') execute function simulation.refuse()`;

const READS_CLOCK = /\b(now|statement_timestamp|clock_timestamp)\(\)/;

/** The tables that runs write. */
const WRITTEN = [
  ...['payments', 'history', 'callbacks', 'callback_attempts', 'operations', 'provider_notifications'],
  ...['schedules', 'subscriptions', 'ledger_entries', 'ledger_sums', 'ledger_totals', 'ledger_margins'],
];

export interface SimulatedDatabase {
  /** From now on statements run at the time of this scheduler. */
  begin(scheduler: Scheduler): void;
  /** The database as a process sees it. */
  of(owner: Owner): Database;
  /** For statements that are not part of the simulation. */
  outside: Pick<pg.ClientBase, 'query'>;
  /** Grows with every statement of a process. */
  readonly version: number;
  /** Removes everything that runs wrote. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

const textOf = (statement: Statement): string => (typeof statement === 'string' ? statement : statement.text);

const labelOf = (statement: Statement): string => {
  const name = typeof statement === 'string' ? undefined : statement.name;
  return `sql ${name ?? textOf(statement).trim().slice(0, 60).replace(/\s+/g, ' ')}`;
};

/** Opens a migrated database that nothing else uses. */
export async function openSimulatedDatabase(connection: Connection): Promise<SimulatedDatabase> {
  const client = new pg.Client({
    ...connection,
    types,
    pipeline: true,
  } as pg.ClientConfig);
  await client.connect();
  await client.query(CLOCK_FUNCTIONS);
  await client.query(DELIVERED_STAYS);
  await prepareSession(client, { ...INDEX_ONLY, search_path: 'simulation,public,pg_catalog' });
  const { stream } = client.connection;
  let scheduler: Scheduler;
  let sentTime = -1;
  let isInTransaction = false;
  let version = 0;

  /** What is known of each text. */
  const known = new Map<string, { name: string; isPrepared: boolean; readsClock: boolean }>();
  const lookUp = (text: string) => {
    const found = known.get(text) ?? {
      name: `statement_${known.size + 1}`,
      isPrepared: /^\s*(select|with|insert|update|delete)\b/i.test(text),
      readsClock: READS_CLOCK.test(text),
    };
    known.set(text, found);
    return found;
  };

  const send = (statement: Statement, values: unknown[] = []): Promise<pg.QueryResult> => {
    const { text, ...named } = typeof statement === 'string' ? { text: statement, values } : statement;
    const { name, isPrepared, readsClock } = lookUp(text);
    // A transaction keeps the time at which it began.
    const isTimeSent = (readsClock || !isPrepared) && sentTime !== scheduler.now && !isInTransaction;
    // Both in one packet.
    stream.cork();
    if (isTimeSent) {
      sentTime = scheduler.now;
      void client.query(`set simulation.now = '${new Date(START + sentTime).toISOString()}'`);
    }
    // Statements that the core sends unprepared are prepared as well: planning takes longer than running them.
    const result = client.query(isPrepared ? { values, ...named, name, text } : (statement as string));
    stream.uncork();
    return result;
  };

  const execute = (owner: Owner) => (statement: Statement, values?: unknown[]) =>
    scheduler.step(owner, labelOf(statement), () => {
      version += 1;
      return send(statement, values);
    });

  /** A client of the pool: from `begin` to `commit`, only its statements run. */
  const acquire = (owner: Owner) => {
    const transaction = {};
    return {
      query: (statement: Statement, values?: unknown[]) =>
        scheduler.step(
          owner,
          labelOf(statement),
          async () => {
            version += 1;
            const result = await send(statement, values);
            const [word = ''] = textOf(statement).trim().toLowerCase().split(/\s/);
            if (['begin', 'commit', 'rollback'].includes(word)) {
              isInTransaction = word === 'begin';
              scheduler.hold(isInTransaction ? transaction : undefined);
            }
            return result;
          },
          transaction,
        ),
      release: () => undefined,
    };
  };

  return {
    get version() {
      return version;
    },
    begin(next) {
      scheduler = next;
      sentTime = -1;
      // A run that failed may have left a transaction open.
      if (isInTransaction) void client.query('rollback');
      isInTransaction = false;
    },
    of(owner) {
      const end = async (): Promise<void> => undefined;
      const hot = { query: execute(owner), end } as unknown as PipelinedConnection;
      const pool = { query: execute(owner), connect: async () => acquire(owner), end } as unknown as pg.Pool;
      return {
        ...{
          pool,
          query: queryBuilder(pool),
          writes: hot,
          reads: hot,
          deliveries: hot,
          isolated: hot,
          decisions: pool,
        },
        leaveOtherServers: () => undefined,
        close: end,
      };
    },
    outside: { query: send as pg.ClientBase['query'] },
    async clear() {
      await client.query(`truncate ${WRITTEN.join(', ')} cascade`);
    },
    close: () => client.end(),
  };
}
