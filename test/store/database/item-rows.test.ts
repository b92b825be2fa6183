/** The text and the values of a batched statement come from one table of columns, and stay in step. */
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { assigned, type Column, itemRows, listed, namesOf } from '../../../src/store/database/item-rows.ts';

let client: pg.Client;
beforeAll(async () => {
  client = new pg.Client(inject('database'));
  await client.connect();
});
afterAll(() => client.end());

interface Item {
  id: number;
  name: string | null;
  isNew: boolean;
  at: number | null;
}

const ID: Column<Item> = ['id', 'int', ({ id }) => id];
const NAME: Column<Item> = ['name', 'text', ({ name }) => name];
const IS_NEW: Column<Item> = ['is_new', 'bool', ({ isNew }) => isNew];
const AT: Column<Item> = ['at', 'timestamptz', ({ at }) => at];

const ITEMS: Item[] = [
  { id: 7, name: 'a "quoted", \\ name', isNew: true, at: 0 },
  { id: 8, name: null, isNew: false, at: null },
];

/** Without the line breaks and indents of the source. */
const inOneLine = (sql: string): string => sql.replace(/\s+/g, ' ');

test('the text names every column once, in the order of the parameters', () => {
  const table = itemRows([ID, NAME, AT]);
  const selected = '($1::int[])[n] as id, ($2::text[])[n] as name, ($3::timestamptz[])[n] as at';
  const numbers = 'from generate_series(1, cardinality($1::int[])) n';
  expect(inOneLine(table.rows('i'))).toBe(`(select ${selected} ${numbers}) as i`);
  expect(inOneLine(table.rows('i', 'ordinal'))).toBe(`(select ${selected}, n as ordinal ${numbers}) as i`);
  expect(table.names).toEqual(['id', 'name', 'at']);
  expect(table.parameters).toEqual(['$1', '$2', '$3']);
  expect(table.next).toBe(4);
});

test('the parameters of a table follow those before it', () => {
  const first = itemRows([ID, NAME], 3);
  const second = itemRows([AT], first.next);
  expect(inOneLine(first.rows('a'))).toBe(
    '(select ($3::int[])[n] as id, ($4::text[])[n] as name from generate_series(1, cardinality($3::int[])) n) as a',
  );
  expect(second.parameters).toEqual(['$5']);
  expect(second.next).toBe(6);
});

test('there is one array for each column', () => {
  expect(itemRows([ID, NAME, IS_NEW, AT]).values(ITEMS)).toHaveLength(4);
  expect(itemRows([ID, NAME]).values([])).toHaveLength(2);
});

test('a value of an enumeration is passed as its position; another value is refused', () => {
  const table = itemRows<string | null>([['state', 'payment_state', (state) => state]]);
  expect(inOneLine(table.rows('i'))).toMatch(
    /^\(select \(array\['PREPARE', .*\]::payment_state\[\]\)\[\(\$1::int\[\]\)\[n\]\] as state/,
  );
  expect(table.values(['PREPARE', null])).toHaveLength(1);
  expect(() => table.values(['SOLD'])).toThrow('payment_state');
});

test('lists of columns, as an insert and an update write them', () => {
  const names = namesOf([ID, NAME]);
  expect(listed(names)).toBe('id, name');
  expect(listed(names, 'i')).toBe('i.id, i.name');
  expect(assigned(names, 'i')).toBe('id = i.id, name = i.name');
});

test('whatever the columns and their order, PostgreSQL reads each item as it was', async () => {
  const item = fc.record({
    id: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    name: fc.option(fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', ''))),
    isNew: fc.boolean(),
    at: fc.option(fc.integer({ min: 0, max: 4e12 })),
  });
  const columns = fc.shuffledSubarray([ID, NAME, IS_NEW, AT], { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(columns, fc.array(item, { maxLength: 5 }), fc.nat(3), async (chosen, items, before) => {
      const table = itemRows(chosen, before + 1);
      const parameters = Array.from({ length: before }, (_, index) => `$${index + 1}::int`);
      const { rows } = await client.query<Record<string, unknown>>(
        `select ${listed([...parameters, ...listedAsText(chosen)])} from ${table.rows('i', 'ordinal')} order by ordinal`,
        [...parameters.map(() => 0), ...table.values(items)],
      );
      const read = rows.map((row) => namesOf(chosen).map((name) => row[name]));
      expect(read).toEqual(items.map((one) => chosen.map(([, , value]) => textOf(value(one)))));
    }),
    { numRuns: 100 },
  );
});

/** Every column as text; times in milliseconds. */
const listedAsText = (columns: readonly Column<Item>[]): string[] =>
  columns.map(([name, type]) =>
    type === 'timestamptz'
      ? `(extract(epoch from i.${name}) * 1000)::bigint::text as ${name}`
      : `i.${name}::text as ${name}`,
  );
const textOf = (value: unknown): string | null => (value === null ? null : String(value));
