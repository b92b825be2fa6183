/** Searches the whole database for values that should not be in it any more. */
import type { TestGateway } from './gateway.ts';

/** As text, in a body of a form, and inside a column of bytes. */
const spellings = (value: string): string[] => [
  value,
  encodeURIComponent(value),
  encodeURIComponent(value).replaceAll('%20', '+'),
  Buffer.from(value).toString('hex'),
  Buffer.from(encodeURIComponent(value)).toString('hex'),
];

/** The tables and values of which a row contains one of the values, in any column. */
export async function leftovers({ rows }: TestGateway, values: readonly string[]): Promise<string[]> {
  const tables = await rows(`select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' and not (
      select relispartition from pg_class where oid = table_name::regclass) order by 1`);
  const found: string[] = [];
  for (const { name } of tables) {
    for (const value of values) {
      const conditions = [...new Set(spellings(value))].map(
        (text) => `position(lower('${text.replaceAll("'", "''")}') in lower(t::text)) > 0`,
      );
      const [row] = await rows(`select count(*)::int as count from ${name} t where ${conditions.join(' or ')}`);
      if (row?.count !== 0) found.push(`${name}: ${value}`);
    }
  }
  return found;
}
