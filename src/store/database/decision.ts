/** Changes of rows that people edit at the same time: decided on the locked row, in the transaction that writes them. */
import type { AuditEntry } from '../audit/audit.ts';

/** What a change writes, and its entry in the audit log. */
export interface Decision<Change> {
  /** Only the values that the caller changes. */
  change: Change;
  audit: AuditEntry;
}

/** Decides from the row as it is, which nobody else changes meanwhile. It refuses by throwing; nothing is written then. */
export type Decide<Row, Change> = (row: Row) => Decision<Change>;
