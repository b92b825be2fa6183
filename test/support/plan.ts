/** The plan of a statement: which indexes PostgreSQL reads, and how much. */
import type pg from 'pg';

export interface PlanReading {
  /** The indexes that were read, and `Seq Scan` for a full table scan. */
  reads: string[];
  /** The tables that were scanned in full. */
  scanned: string[];
  /** Pages of tables and indexes. */
  pages: number;
  /** Rows that were read from tables. */
  rows: number;
}

interface PlanNode {
  'Node Type': string;
  'Index Name'?: string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
}

/** Runs the statement and returns what it read. */
export async function readingOf(
  pool: pg.Pool | pg.Client,
  text: string,
  values: readonly unknown[],
): Promise<PlanReading> {
  const { rows } = await pool.query(`explain (analyze, buffers, timing off, format json) ${text}`, [...values]);
  const top = rows[0]['QUERY PLAN'][0].Plan as PlanNode;
  const reading: PlanReading = {
    reads: [],
    scanned: [],
    pages: top['Shared Hit Blocks'] + top['Shared Read Blocks'],
    rows: 0,
  };
  const visit = (node: PlanNode): void => {
    const index = node['Index Name'];
    if (index !== undefined) reading.reads.push(index);
    else if (node['Node Type'] === 'Seq Scan') {
      reading.reads.push(node['Node Type']);
      reading.scanned.push(node['Relation Name'] as string);
    }
    if (/^(Seq|Index|Index Only|Bitmap Heap) Scan$/.test(node['Node Type'])) {
      reading.rows += (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
    }
    for (const child of node.Plans ?? []) visit(child);
  };
  visit(top);
  return reading;
}
