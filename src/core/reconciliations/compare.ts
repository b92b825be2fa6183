/** Compares a statement with our movements of money: reads its rows in batches, and lets the database compare them. */

import { FIRST_ID, idOf, isUuid, nameId, timeOfId } from '../../lib/crypto/id.ts';
import { CsvProblem, csvRecords } from '../../lib/text/csv-reader.ts';
import { LATEST_TIME } from '../../lib/time/date-time.ts';
import { invalidField, type Problem, Refusal } from '../../rules/errors.ts';
import { LIMITS } from '../../rules/limits.ts';
import { DELIMITERS } from '../../rules/statements.ts';
import type {
  Reconciliation,
  ReconciliationRun,
  StatementProblem,
  StatementTerms,
} from '../../store/reconciliations/reconciliations.ts';
import type { StatementRow } from '../../store/reconciliations/rows.ts';
import type { Gateway } from '../context.ts';
import { auditEntry, type Caller } from '../operators/principal.ts';
import { BadRow, PERIOD_TOO_LONG, rowReader, termProblems } from './terms.ts';
import { requireHead, statementParts } from './upload.ts';

/** The statement cannot be compared; the record keeps the reason. */
class StatementFault extends Error {
  readonly problem: StatementProblem;

  constructor(problem: StatementProblem) {
    super(problem.sentence);
    this.problem = problem;
  }
}

/** Another run began, or the reconciliation was deleted. */
class RunEnded extends Error {}

/** Whether a run has died: it made no progress for a while. */
export const isStale = ({ clock }: Pick<Gateway, 'clock'>, { state, updatedAt }: Reconciliation): boolean =>
  state === 'comparing' && updatedAt < clock.real() - LIMITS.comparisonTimeoutMs;

/** Checks the terms and begins a run, which `runComparison` continues. */
export async function beginComparison(
  gateway: Gateway,
  by: Caller,
  reconciliationId: string,
  terms: StatementTerms,
): Promise<ReconciliationRun> {
  const { header } = await requireHead(gateway, reconciliationId, terms.delimiter);
  const problems: Problem[] = termProblems(gateway, header, terms);
  if (problems.length > 0) throw new Refusal('invalidData', problems);
  const now = gateway.clock.real();
  const after = { ...terms.mapping, connector: terms.connector, from: terms.from, to: terms.to };
  const audit = auditEntry(gateway, by, 'reconciliations.compare', { subject: reconciliationId, after });
  const staleBefore = now - LIMITS.comparisonTimeoutMs;
  const run = await gateway.reconciliations.begin(reconciliationId, terms, now, staleBefore, audit);
  if (!run) throw invalidField('file', 'The statement is being compared, or has been compared already.');
  return run;
}

/** Continues a run to its end. The record keeps a fault of the statement; any other error is thrown. */
export async function runComparison(gateway: Gateway, run: ReconciliationRun, terms: StatementTerms): Promise<void> {
  const { reconciliations, clock } = gateway;
  try {
    await compare(gateway, run, terms);
  } catch (error) {
    if (error instanceof RunEnded) return;
    const isFault = error instanceof StatementFault;
    const problem = isFault ? error.problem : { field: 'file', sentence: 'The comparison broke off. Start it again.' };
    await reconciliations.fail(run, problem, clock.real());
    if (!isFault) throw error;
  }
}

async function compare(gateway: Gateway, run: ReconciliationRun, terms: StatementTerms): Promise<void> {
  const { reconciliations, reconciliationRows, clock } = gateway;
  const counts = await readRows(gateway, run, terms);
  const report = async (): Promise<void> => {
    if (!(await reconciliations.progress(run, counts.read, counts.skipped, clock.real()))) throw new RunEnded();
  };
  await report();
  const scope = { ...(await periodOf(gateway, run, terms)), connector: terms.connector };
  let after: string | undefined = FIRST_ID;
  while (after !== undefined) {
    after = await reconciliationRows.comparePortion(run, scope, after);
    await report();
  }
  for (let from = scope.from; from < scope.to; from += LIMITS.dayMs) {
    await reconciliationRows.addMissing(run, { ...scope, from, to: Math.min(from + LIMITS.dayMs, scope.to) });
    await report();
  }
  await postCosts(gateway, run, report);
  const totals = await reconciliationRows.totals(run);
  await reconciliations.finish(run, { ...scope, totals }, clock.real());
}

/** Posts what the provider charged to the ledger, as far as it is not there. A run that is repeated finds it there. */
async function postCosts(gateway: Gateway, run: ReconciliationRun, report: () => Promise<void>): Promise<void> {
  const { reconciliations, reconciliationRows, ledger, clock } = gateway;
  const statement = await reconciliations.find(run.reconciliationId);
  for (let after = 0n; ; ) {
    const rows = await reconciliationRows.charged(run, LIMITS.statementPortion, after);
    const last = rows.at(-1);
    if (!last) return;
    await ledger.postCosts(
      rows.map(({ number, ...row }) => ({
        ...row,
        sourceId: sourceOfRow(run.reconciliationId, number),
        postedAt: clock.now(row.mid),
        note: statement?.fileName ?? null,
      })),
    );
    await report();
    after = last.number;
  }
}

/** The source of the entry of a row; it sorts by the time of its reconciliation. */
const sourceOfRow = (reconciliationId: string, row: bigint): string =>
  idOf(timeOfId(reconciliationId), nameId(`statement ${reconciliationId} ${row}`).replaceAll('-', ''));

interface RowCounts {
  read: number;
  skipped: number;
}

/** Stores the rows of the file in batches, so that only one batch is in memory. */
async function readRows(gateway: Gateway, run: ReconciliationRun, terms: StatementTerms): Promise<RowCounts> {
  const { reconciliations, reconciliationRows, clock } = gateway;
  const counts: RowCounts = { read: 0, skipped: 0 };
  let readRow: ReturnType<typeof rowReader> | undefined;
  let batch: StatementRow[] = [];
  const store = async (): Promise<void> => {
    if (!(await reconciliations.progress(run, counts.read, counts.skipped, clock.real()))) throw new RunEnded();
    if (batch.length > 0) await reconciliationRows.insert(run, terms.connector, batch);
    batch = [];
  };
  try {
    const parts = statementParts(gateway, run.reconciliationId);
    for await (const record of csvRecords(parts, DELIMITERS[terms.delimiter])) {
      if (!readRow) {
        readRow = rowReader(record.cells, terms);
        continue;
      }
      counts.read++;
      const row = readRow(record);
      if (row) batch.push(row);
      else counts.skipped++;
      if (counts.read % LIMITS.statementPortion === 0) await store();
    }
    await store();
  } catch (error) {
    if (error instanceof BadRow) throw new StatementFault({ field: error.column, sentence: error.message });
    if (error instanceof CsvProblem)
      throw new StatementFault({ field: 'file', sentence: `Row ${error.line}: ${error.message}` });
    throw error;
  }
  return counts;
}

const dayStart = (ms: number): number => Math.floor(ms / LIMITS.dayMs) * LIMITS.dayMs;

/** The period of the terms, or the whole days from the first date of the statement to the last. */
async function periodOf(
  { reconciliationRows }: Gateway,
  run: ReconciliationRun,
  { from, to }: StatementTerms,
): Promise<{ from: number; to: number }> {
  const range = await reconciliationRows.prepare(run);
  if (from !== null && to !== null) return { from, to };
  if (!range) throw new StatementFault({ field: 'from', sentence: 'No row has a date: enter the period.' });
  const period = { from: dayStart(range.from), to: Math.min(dayStart(range.to) + LIMITS.dayMs, LATEST_TIME) };
  if (period.to - period.from > LIMITS.reportMostMs)
    throw new StatementFault({ field: 'from', sentence: PERIOD_TOO_LONG });
  return period;
}

/** Refuses a reconciliation that does not exist. */
export async function requireReconciliation(gateway: Gateway, reconciliationId: string): Promise<Reconciliation> {
  const found = isUuid(reconciliationId) ? await gateway.reconciliations.find(reconciliationId) : undefined;
  if (!found) throw new Refusal('noSuchReconciliation');
  return found;
}

export async function deleteReconciliation(gateway: Gateway, by: Caller, reconciliationId: string): Promise<void> {
  const { fileName, digest } = await requireReconciliation(gateway, reconciliationId);
  const before = { file_name: fileName, sha256: digest.toString('hex') };
  const audit = auditEntry(gateway, by, 'reconciliations.delete', { subject: reconciliationId, before });
  if (!(await gateway.reconciliations.delete(reconciliationId, audit))) throw new Refusal('noSuchReconciliation');
}
