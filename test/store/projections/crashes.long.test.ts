/** A process that dies at any statement of a fold loses nothing and folds nothing twice: another one goes on. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { foldProjections } from '../../../src/core/projections/projections.ts';
import { types } from '../../../src/store/database/database.ts';
import { ledger } from '../../../src/store/ledger/projection.ts';
import type { Numbers } from '../../../src/store/projections/portions.ts';
import { createProjectionStore, type ProjectionStore } from '../../../src/store/projections/projections.ts';
import { verifyProjections } from '../../../src/store/projections/verify.ts';
import { reports } from '../../../src/store/reports/projection.ts';
import { openShop } from '../../support/gateway.ts';
import { openPool } from '../../support/pool.ts';
import { CREATE_ROWS, rowProjection } from '../../support/row-projection.ts';

const shop = openShop();
const inPortions = (rows: number, payments: number) =>
  [rowProjection, reports, ledger].map((projection) => ({ ...projection, portion: { rows, payments } }));
const PROJECTIONS = inPortions(1000, 1000);

let pool: pg.Pool;
beforeAll(async () => {
  pool = openPool({ ...shop.connection, types, max: 2 });
  await shop.rows(CREATE_ROWS);
  for (let sale = 0; sale < 3; sale++) await shop.sale();
  await foldProjections(shop.gateway, undefined, PROJECTIONS);
});
afterAll(() => pool.end());

/** The projections of a process whose connections break before or after its n-th statement. */
function startCrashingStore(point: number, when: 'before' | 'after') {
  const doomed = openPool({ ...shop.connection, types, max: 4 });
  let count = 0;
  const died = (): boolean => count > point || (count === point && when === 'after');
  const reach = async <Result>(client: pg.PoolClient, run: () => Promise<Result>): Promise<Result> => {
    if (died()) throw new Error('The process is dead.');
    count++;
    const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
    if (count === point && when === 'before') stream.destroy();
    const result = await run();
    if (died()) {
      stream.destroy();
      throw new Error('The process is dead.');
    }
    return result;
  };
  const connect = async (): Promise<pg.PoolClient> => {
    const client = await doomed.connect();
    client.on('error', () => undefined);
    return new Proxy(client, {
      get(target, name) {
        if (name === 'query') return (...values: [string]) => reach(client, () => target.query(...values));
        const member = Reflect.get(target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  };
  const query = async (...values: [string]) => {
    const client = await connect();
    return client.query(...values).finally(() => client.release());
  };
  const store: ProjectionStore = createProjectionStore({ pool: { connect, query } } as never);
  return { store, reached: () => count >= point, close: () => doomed.end().catch(() => undefined) };
}

const isComplete = async (): Promise<boolean> => {
  await foldProjections(shop.gateway, undefined, PROJECTIONS);
  const statuses = await shop.gateway.projections.statuses(PROJECTIONS);
  return statuses.every(({ rowsBehind, backfilled }) => rowsBehind === 0n && backfilled === null);
};

const violations = async (): Promise<string[]> => {
  const client = await pool.connect();
  return verifyProjections(client, PROJECTIONS).finally(() => client.release());
};

describe.each([
  ['new rows', async () => void (await shop.sale())],
  [
    'a rebuild',
    async () => {
      for (const projection of PROJECTIONS) await shop.gateway.projections.rebuild(projection);
      await shop.sale();
    },
  ],
])('%s', (_, prepare) => {
  test.each(['before', 'after'] as const)(
    'death %s each statement',
    async (when) => {
      let point = 0;
      for (let isReached = true; isReached; ) {
        point++;
        await prepare();
        const { store, reached, close } = startCrashingStore(point, when);
        const settled = await store.settled().catch(() => undefined);
        for (const projection of settled ? inPortions(2, 2) : []) {
          await store.fold(projection, settled as Numbers).catch(() => undefined);
        }
        isReached = reached();
        // What the dead process leaves behind is what it should be, and another process goes on from there.
        expect(await violations(), `${when} statement ${point}`).toEqual([]);
        await expect.poll(isComplete, { timeout: 20_000 }).toBe(true);
        expect(await violations(), `${when} statement ${point}`).toEqual([]);
        await close();
      }
      expect(point).toBeGreaterThan(12);
    },
    180_000,
  );
});
