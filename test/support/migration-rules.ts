/** The rules for migrations of a database that is in use, while the previous version serves as well. */
import { type Migration, statementsOf } from '../../src/store/database/migration-files.ts';

/** Tables that grow with the number of payments. */
export const LARGE_TABLES = [
  ...['payments', 'history', 'operations', 'credits', 'cards', 'former_submissions', 'chargebacks', 'receipts'],
  ...['callbacks', 'callback_attempts', 'provider_notifications', 'api_calls', 'subscriptions', 'wallet_tokens'],
  'risk_decisions',
  ...['payment_search', 'payment_search_bits', 'callback_log', 'ledger_entries', 'ledger_sums', 'ledger_totals'],
  ...['rollups', 'rollup_calls', 'rollup_declines', 'rollup_deliveries', 'rollup_account_totals'],
  'rollup_decline_classes',
];

interface Subject {
  /** The statement in lower case, with single spaces and without the contents of texts. */
  text: string;
  isBatch: boolean;
  /** Whether the table of the statement grows with the number of payments and existed before the file. */
  isLarge: boolean;
  /** Whether its table existed before the file. */
  isExisting: boolean;
  /** The statements before it in the file. */
  before: readonly string[];
  file: Migration;
}

interface Rule {
  advice: string;
  isBrokenBy: (subject: Subject) => boolean;
}

/** A function call or a keyword that PostgreSQL evaluates for each row. `now()` is evaluated once. */
const VOLATILE_DEFAULT =
  /add column[^,]* default (?!now\(\))(?:[a-z_]+\(|\()|add column[^,]*\b(?:bigserial|serial|generated)\b/;
/** Statements do not name indexes. */
const BREAKING =
  /^(?!alter index).*\brename (?:to|column)\b|\bdrop column\b|^drop (?:table|type|function|sequence|domain)\b/;

export const MIGRATION_RULES: Readonly<Record<string, Rule>> = {
  indexes: {
    advice: 'Build and drop indexes of large tables with `concurrently`: otherwise writes wait until it is done.',
    isBrokenBy: ({ text, isLarge }) =>
      /^create (?:unique )?index (?!concurrently)/.test(text)
        ? isLarge
        : /^(?:drop|re)\s?index (?!concurrently)/.test(text),
  },
  transaction: {
    advice:
      'Statements with `concurrently`, `validate constraint` and batches need the line `-- outside a transaction`.',
    isBrokenBy: ({ text, isBatch, isLarge, file }) =>
      file.isTransaction &&
      (isBatch || /\bindex concurrently\b/.test(text) || (isLarge && /\bvalidate constraint\b/.test(text))),
  },
  repeatable: {
    advice:
      'A file outside a transaction is repeated after an interruption: use `if not exists`, `if exists`, `or replace`, `on conflict`, and drop a constraint before it is added.',
    isBrokenBy: ({ text, file }) => !file.isTransaction && !isRepeatable(text),
  },
  volatileDefaults: {
    advice:
      'A default that is evaluated for each row rewrites the table: add the column without it, and fill it in batches.',
    isBrokenBy: ({ text, isLarge }) => isLarge && VOLATILE_DEFAULT.test(text),
  },
  notNull: {
    advice:
      '`set not null` reads the whole table: add a check `not valid`, validate it in the same file, and then set the column.',
    isBrokenBy: ({ text, isLarge, before }) =>
      isLarge && /\bset not null\b/.test(text) && !before.some((earlier) => /\bvalidate constraint\b/.test(earlier)),
  },
  newColumns: {
    advice: 'The previous version does not fill a new column: let it be null, or give it a default.',
    isBrokenBy: ({ text, isExisting }) =>
      isExisting && /add column[^,]* not null/.test(text) && !/add column[^,]* default /.test(text),
  },
  types: {
    advice: 'A change of a type rewrites the table: add another column, and fill it in batches.',
    isBrokenBy: ({ text, isExisting }) => isExisting && /\balter (?:column )?\S+ (?:set data )?type\b/.test(text),
  },
  contract: {
    advice:
      'The previous version uses what is renamed or dropped: stop using it in one version, and drop it in the next with `-- needs NNNN`.',
    isBrokenBy: ({ text, isExisting, file }) =>
      BREAKING.test(text) && (isExisting || !/^alter table/.test(text)) && file.needs === undefined,
  },
  constraints: {
    advice:
      'A constraint on a large table is added `not valid` (or `using index`), and validated by its own statement.',
    isBrokenBy: ({ text, isLarge }) =>
      isLarge &&
      /\badd (?:constraint|check|foreign key|unique|primary key)\b|\badd column[^,]*\b(?:check|references|unique)\b/.test(
        text,
      ) &&
      !/\bnot valid\b|\busing index\b/.test(text),
  },
  batches: {
    advice:
      'Rows of a large table are changed in batches: a `limit`, and the line `-- in batches` before the statement.',
    isBrokenBy: ({ text, isBatch }) =>
      LARGE_TABLES.some((table) => new RegExp(`\\b(?:update|delete from) (?:only )?${table}\\b`).test(text)) &&
      !/\bcreate (?:or replace )?(?:trigger|function)\b/.test(text) &&
      !(isBatch && /\blimit \d/.test(text)),
  },
  locks: {
    advice: 'These statements lock a table while they read or rewrite all of it.',
    isBrokenBy: ({ text }) => /^(?:lock|cluster|vacuum full|refresh materialized view (?!concurrently))\b/.test(text),
  },
};

const REPEATABLE: readonly (readonly [RegExp, RegExp])[] = [
  [/^create (?:unique )?index/, /if not exists/],
  [/^create (?:table|sequence|schema|extension)/, /if not exists/],
  [/^create (?:function|trigger|view|procedure)/, /^create or replace/],
  [/^create (?:type|domain)/, /^$/],
  [/\badd column/, /^(?:(?!add column (?!if not exists)).)*$/],
  [/\badd value/, /if not exists/],
  [/\badd constraint/, /drop constraint if exists/],
  [/\brename\b/, /^$/],
  [/\bdrop (?:column|constraint|index|table|type|function|trigger)/, /if exists/],
  [/^insert/, /on conflict|not exists/],
];

const isRepeatable = (text: string): boolean =>
  REPEATABLE.every(([kind, condition]) => !kind.test(text) || condition.test(text));

const normalised = (text: string): string =>
  text
    .replace(/\$(\w*)\$[\s\S]*?\$\1\$|'(?:[^']|'')*'/g, "''")
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim();

const TABLE =
  /^(?:alter table (?:if exists )?(?:only )?|drop table (?:if exists )?|create (?:unique )?index .*? on (?:only )?)(\w+)/;

/** The rules that a file breaks, as `rule: statement`. */
export function brokenRules(file: Migration): string[] {
  const statements = statementsOf(file.sql).map(({ text, isBatch }) => ({ text: normalised(text), isBatch }));
  const created = statements.flatMap(({ text }) => /^create table (?:if not exists )?(\w+)/.exec(text)?.[1] ?? []);
  return statements.flatMap(({ text, isBatch }, index) => {
    const table = TABLE.exec(text)?.[1] ?? '';
    const isExisting = table !== '' && !created.includes(table);
    const isLarge = isExisting && LARGE_TABLES.includes(table);
    const before = statements.slice(0, index).map((earlier) => earlier.text);
    return Object.entries(MIGRATION_RULES)
      .filter(([, { isBrokenBy }]) => isBrokenBy({ text, isBatch, isLarge, isExisting, before, file }))
      .map(([name]) => `${name}: ${text}`);
  });
}
