/** Helpers to prepare SQLite statements. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';

type Values = Record<string, SQLInputValue>;

export type Statements = ReturnType<typeof statementsOf>;

export const statementsOf = (db: DatabaseSync) => ({
  all: <Row>(sql: string) => {
    const statement = db.prepare(sql);
    return (values: Values = {}): Row[] => statement.all(values) as unknown as Row[];
  },
  get: <Row>(sql: string) => {
    const statement = db.prepare(sql);
    return (values: Values = {}): Row | undefined => statement.get(values) as unknown as Row | undefined;
  },
  /** Returns whether any row changed. */
  run: (sql: string) => {
    const statement = db.prepare(sql);
    return (values: Values = {}): boolean => Number(statement.run(values).changes) > 0;
  },
});

/** The columns of an insert, with a parameter of the same name for each. */
export const columns = (names: string): string => `(${names}) values (${names.replace(/\w+/g, ':$&')})`;
