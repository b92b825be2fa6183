/** Reconciliations of providers' statements: their records and, until they are compared, their files. */
import type { AmountFormat, DelimiterName, Outcome, StatementMapping, StatementType } from '../../rules/statements.ts';
import { type AuditEntry, appendAudit } from '../audit/audit.ts';
import { iso, isoOrNull } from '../database/columns.ts';
import type { Database } from '../database/database.ts';

/** How a statement is read and what it is compared with. */
export interface StatementTerms {
  mapping: StatementMapping;
  delimiter: DelimiterName;
  amountFormat: AmountFormat;
  /** The currency of a statement without such a column. */
  currency: string | null;
  /** The connector whose payments the statement should have; null means all. */
  connector: string | null;
  /** Null for the days of the statement itself. */
  from: number | null;
  to: number | null;
}

/** Why a statement could not be compared. */
export interface StatementProblem {
  /** The setting or the column that is at fault. */
  field: string;
  sentence: string;
}

/** Counts, and sums in minor units as text; zero for a side that does not have the rows. */
export interface StatementTotal {
  outcome: Outcome;
  type: StatementType;
  currency: string;
  rows: number;
  statement: string;
  ours: string;
}

export interface Reconciliation {
  reconciliationId: string;
  fileName: string;
  digest: Buffer;
  bytes: bigint;
  createdAt: number;
  createdBy: string;
  state: 'uploaded' | 'comparing' | 'failed' | 'done';
  terms: StatementTerms | null;
  problem: StatementProblem | null;
  run: number;
  rowsRead: bigint;
  /** Rows of other types, such as fees. */
  rowsSkipped: bigint;
  periodFrom: number | null;
  periodTo: number | null;
  totals: StatementTotal[] | null;
  updatedAt: number;
}

/** One run of a comparison; `run` differs from that of every other one. */
export type ReconciliationRun = Pick<Reconciliation, 'reconciliationId' | 'run'>;

export interface ReconciliationStore {
  /** Writes the record of a file whose parts follow. */
  insert(
    reconciliation: Pick<Reconciliation, 'reconciliationId' | 'fileName' | 'createdAt' | 'createdBy'>,
  ): Promise<void>;
  insertPart(reconciliationId: string, part: number, content: Buffer): Promise<void>;
  /** The file is complete. */
  complete(reconciliationId: string, digest: Buffer, bytes: number, audit: AuditEntry): Promise<void>;
  /** Removes a file that could not be received, or that is not to be kept, without a trace. */
  discard(reconciliationId: string): Promise<void>;
  part(reconciliationId: string, part: number): Promise<Buffer | undefined>;
  find(reconciliationId: string): Promise<Reconciliation | undefined>;
  /** Newest first; `before` is the id of the last one of the previous page. */
  list(limit: number, before?: string): Promise<Reconciliation[]>;
  /** Begins a run, unless another one made progress after `staleBefore`; undefined if there is nothing to compare. */
  begin(
    reconciliationId: string,
    terms: StatementTerms,
    now: number,
    staleBefore: number,
    audit: AuditEntry,
  ): Promise<ReconciliationRun | undefined>;
  /** False if the run is over, because another one began or the reconciliation was deleted. */
  progress(run: ReconciliationRun, rowsRead: number, rowsSkipped: number, now: number): Promise<boolean>;
  fail(run: ReconciliationRun, problem: StatementProblem, now: number): Promise<void>;
  /** The result is complete, and the file is deleted. */
  finish(
    run: ReconciliationRun,
    result: { from: number; to: number; totals: readonly StatementTotal[] },
    now: number,
  ): Promise<void>;
  /** False if there is no such reconciliation. */
  delete(reconciliationId: string, audit: AuditEntry): Promise<boolean>;
  /** Deletes files that were uploaded before this time and never compared. */
  deleteDrafts(before: number): Promise<void>;
}

const INCOMPLETE = Buffer.alloc(0);

export function createReconciliationStore({ query }: Database): ReconciliationStore {
  /** Complete ones: a file without a digest is still being received. */
  const all = () => query.selectFrom('reconciliations').selectAll().where('digest', '<>', INCOMPLETE);
  const ofRun = ({ reconciliationId, run }: ReconciliationRun) =>
    query
      .updateTable('reconciliations')
      .where('reconciliationId', '=', reconciliationId)
      .where('run', '=', run)
      .where('state', '=', 'comparing');
  return {
    async insert({ createdAt, ...reconciliation }) {
      const at = iso(createdAt);
      await query
        .insertInto('reconciliations')
        .values({ ...reconciliation, createdAt: at, updatedAt: at, state: 'uploaded', digest: INCOMPLETE, bytes: 0n })
        .execute();
    },
    async insertPart(reconciliationId, part, content) {
      await query.insertInto('reconciliationParts').values({ reconciliationId, part, content }).execute();
    },
    async complete(reconciliationId, digest, bytes, audit) {
      await query.transaction().execute(async (transaction) => {
        await transaction
          .updateTable('reconciliations')
          .set({ digest, bytes: BigInt(bytes) })
          .where('reconciliationId', '=', reconciliationId)
          .execute();
        await appendAudit(transaction, audit);
      });
    },
    async discard(reconciliationId) {
      await query.deleteFrom('reconciliations').where('reconciliationId', '=', reconciliationId).execute();
    },
    async part(reconciliationId, part) {
      const row = await query
        .selectFrom('reconciliationParts')
        .select('content')
        .where('reconciliationId', '=', reconciliationId)
        .where('part', '=', part)
        .executeTakeFirst();
      return row?.content;
    },
    async find(reconciliationId) {
      const row = await all().where('reconciliationId', '=', reconciliationId).executeTakeFirst();
      return row as Reconciliation | undefined;
    },
    async list(limit, before) {
      const rows = await all()
        .$if(before !== undefined, (some) => some.where('reconciliationId', '<', before as string))
        .orderBy('reconciliationId', 'desc')
        .limit(limit)
        .execute();
      return rows as Reconciliation[];
    },
    begin: (reconciliationId, terms, now, staleBefore, audit) =>
      query.transaction().execute(async (transaction) => {
        const row = await transaction
          .updateTable('reconciliations')
          .set((eb) => ({
            state: 'comparing',
            terms: JSON.stringify(terms),
            problem: null,
            run: eb('run', '+', 1),
            rowsRead: 0n,
            rowsSkipped: 0n,
            updatedAt: iso(now),
          }))
          .where('reconciliationId', '=', reconciliationId)
          .where('state', '<>', 'done')
          .where((eb) => eb.or([eb('state', '<>', 'comparing'), eb('updatedAt', '<', iso(staleBefore) as never)]))
          .returning(['reconciliationId', 'run'])
          .executeTakeFirst();
        if (!row) return undefined;
        await transaction.deleteFrom('reconciliationRows').where('reconciliationId', '=', reconciliationId).execute();
        await appendAudit(transaction, audit);
        return row;
      }),
    async progress(run, rowsRead, rowsSkipped, now) {
      const { numUpdatedRows } = await ofRun(run)
        .set({ rowsRead: BigInt(rowsRead), rowsSkipped: BigInt(rowsSkipped), updatedAt: iso(now) })
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },
    async fail(run, problem, now) {
      await ofRun(run)
        .set({ state: 'failed', problem: JSON.stringify(problem), updatedAt: iso(now) })
        .execute();
    },
    async finish(run, { from, to, totals }, now) {
      const { numUpdatedRows } = await ofRun(run)
        .set({
          state: 'done',
          periodFrom: isoOrNull(from),
          periodTo: isoOrNull(to),
          totals: JSON.stringify(totals),
          updatedAt: iso(now),
        })
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return;
      await query.deleteFrom('reconciliationParts').where('reconciliationId', '=', run.reconciliationId).execute();
    },
    delete: (reconciliationId, audit) =>
      query.transaction().execute(async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom('reconciliations')
          .where('reconciliationId', '=', reconciliationId)
          .executeTakeFirst();
        if (numDeletedRows === 0n) return false;
        await appendAudit(transaction, audit);
        return true;
      }),
    async deleteDrafts(before) {
      await query
        .deleteFrom('reconciliations')
        .where('state', '<>', 'done')
        .where('updatedAt', '<', iso(before) as never)
        .execute();
    },
  };
}
