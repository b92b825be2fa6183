/** The ledger of a simulation: folded at any step of a run, and compared with what the payments of the run have then. */
import type pg from 'pg';
import type { Database } from '../../src/store/database/database.ts';
import { ledger } from '../../src/store/ledger/projection.ts';
import { verifyRange } from '../../src/store/ledger/verify.ts';
import { createProjectionStore } from '../../src/store/projections/projections.ts';
import type { SimulatedDatabase } from './database.ts';

const UNBALANCED = `
  select 'The trial balance of ' || currency || ' does not balance.' as sentence from ledger_totals
  where grain = 'month' group by currency having sum(debit) <> sum(credit)`;

/** Adds everything that happened to the ledger. */
export async function foldLedger({ outside: { query } }: SimulatedDatabase): Promise<void> {
  const connect = async () => ({ query, release: () => undefined });
  const projections = createProjectionStore({ pool: { query, connect } as unknown as pg.Pool } as Database);
  for (let hasMore = true; hasMore; ) {
    const settled = await projections.settled();
    if (!settled) throw new Error('A transaction writes the history while no run takes place.');
    ({ hasMore } = await projections.fold(ledger, settled));
  }
}

/** What is wrong with the ledger at this step: debits and credits, and the entries of the payments after an id. */
export async function ledgerFaults(database: SimulatedDatabase, firstId: string): Promise<string[]> {
  await foldLedger(database);
  const { rows } = await database.outside.query<{ sentence: string }>(UNBALANCED);
  const everything = { history: 'select * from history' };
  const wrong = await verifyRange(database.outside, everything, `payment_id > '${firstId}'`);
  return [...rows.map(({ sentence }) => sentence), ...wrong];
}
