/** PostgreSQL parses the array literals to the original values. */
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { moments, plain, texts } from '../../src/store/arrays.ts';

let client: pg.Client;
beforeAll(async () => {
  client = new pg.Client(inject('database'));
  await client.connect();
});
afterAll(() => client.end());

/** Reads an array back from PostgreSQL, each item as text or null. */
async function readBack(literal: string, type: string): Promise<(string | null)[]> {
  const { rows } = await client.query<{ item: string | null }>(
    `select item::text from unnest($1::${type}[]) with ordinality as i(item, ordinal) order by ordinal`,
    [literal],
  );
  return rows.map(({ item }) => item);
}

const itself = <Item>(item: Item): Item => item;

describe('texts', () => {
  const HOSTILE = [
    '',
    ' ',
    'null',
    'NULL',
    'Null',
    '{}',
    '{a,b}',
    '"',
    '""',
    "'",
    '\\',
    '\\\\',
    '\\"',
    '"\\',
    'a,b',
    ',',
    '\n\r\t',
    '$1',
    "'); drop table payments; --",
    'č ß İ 注文 🛒 👩‍👩‍👧',
    '\u202eright to left\u202c',
    '\ufeff\u200b\u2028',
    '\u0001\u001f\u007f',
    '\\x00',
    'x'.repeat(70_000),
  ];

  test.each(HOSTILE.map((text) => [text.slice(0, 40), text]))('%j is unchanged', async (_, text) => {
    expect(await readBack(texts([text], itself), 'text')).toEqual([text]);
  });

  test('all of them in one array stay separate, and null stays null', async () => {
    const items = [null, ...HOSTILE, null];
    expect(await readBack(texts(items, itself), 'text')).toEqual(items);
  });

  test('none of them is an empty array', async () => {
    expect(await readBack(texts([], itself), 'text')).toEqual([]);
  });

  test('property: any list of texts is unchanged', async () => {
    const anything = fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed() && !text.includes('\0'));
    const syntax = fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', ',', ' ', 'N', 'ULL', "'", '\n') });
    const item = fc.option(fc.oneof(anything, syntax, fc.constantFrom('null', 'NULL', '')), { nil: null });
    await fc.assert(
      fc.asyncProperty(fc.array(item), async (items) => {
        expect(await readBack(texts(items, itself), 'text')).toEqual(items);
      }),
      { numRuns: 300 },
    );
  });

  test('JSON is passed as text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.json({ noUnicodeString: false }), { maxLength: 5 }), async (items) => {
        const storable = items.filter((item) => !item.includes('\\u0000') && !/\\ud[89a-f]/i.test(item));
        const read = await readBack(texts(storable, itself), 'json');
        expect(read).toEqual(storable);
      }),
      { numRuns: 100 },
    );
  });

  test('each item is converted with the function', async () => {
    const items = [{ name: 'a"b' }, { name: 'c\\d' }];
    expect(
      await readBack(
        texts(items, (item) => item.name),
        'text',
      ),
    ).toEqual(['a"b', 'c\\d']);
  });
});

describe('plain values', () => {
  test('integers, large integers and null', async () => {
    const number = fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { nil: null });
    await fc.assert(
      fc.asyncProperty(fc.array(number), async (items) => {
        const expected = items.map((item) => (item === null ? null : String(item)));
        expect(await readBack(plain(items, itself), 'bigint')).toEqual(expected);
      }),
      { numRuns: 100 },
    );
    expect(await readBack(plain([0, -1, 2147483647], itself), 'int')).toEqual(['0', '-1', '2147483647']);
  });

  test('booleans', async () => {
    expect(await readBack(plain([true, false, null], itself), 'bool')).toEqual(['true', 'false', null]);
  });

  test('UUIDs', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(fc.uuid(), { nil: null })), async (items) => {
        expect(await readBack(plain(items, itself), 'uuid')).toEqual(items);
      }),
      { numRuns: 50 },
    );
  });

  test('enum values', async () => {
    const words = ['PREPARE', '3DS', 's2s', 'partlyRefunded', 'find_by_order'];
    expect(await readBack(plain(words, itself), 'text')).toEqual(words);
  });

  test('none of them is an empty array', async () => {
    expect(await readBack(plain([], itself), 'int')).toEqual([]);
  });
});

describe('moments', () => {
  test('property: any timestamp is unchanged to the millisecond', async () => {
    const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
    const moment = fc.option(fc.integer({ min: 0, max: latest }), { nil: null });
    await client.query('set timezone to UTC');
    await fc.assert(
      fc.asyncProperty(fc.array(moment), async (items) => {
        const { rows } = await client.query<{ ms: string | null }>(
          `select (extract(epoch from item) * 1000)::bigint::text as ms
           from unnest($1::timestamptz[]) with ordinality as i(item, ordinal) order by ordinal`,
          [moments(items, itself)],
        );
        expect(rows.map(({ ms }) => (ms === null ? null : Number(ms)))).toEqual(items);
      }),
      { numRuns: 100 },
    );
  });

  test('a known timestamp is the same in PostgreSQL', async () => {
    await client.query('set timezone to UTC');
    expect(await readBack(moments([Date.UTC(2026, 0, 31, 23, 59, 59, 7), null], itself), 'timestamptz')).toEqual([
      '2026-01-31 23:59:59.007+00',
      null,
    ]);
  });
});
