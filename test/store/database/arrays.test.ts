/** PostgreSQL reads the binary arrays as the original values. */
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { isItemFault } from '../../../src/lib/flow/faults.ts';
import { type ArrayType, type ArrayValue, arrayEncoder, encodeArrays } from '../../../src/store/database/arrays.ts';

let client: pg.Client;
beforeAll(async () => {
  client = new pg.Client(inject('database'));
  await client.connect();
});
afterAll(() => client.end());

const encode = <Type extends ArrayType>(items: readonly ArrayValue[Type][], type: Type): Buffer[] =>
  encodeArrays([arrayEncoder(type, (item: ArrayValue[Type]) => item)], items);

/** Reads an array back from PostgreSQL, each item as text or null. */
async function readBack<Type extends ArrayType>(
  items: readonly ArrayValue[Type][],
  type: Type,
): Promise<(string | null)[]> {
  const { rows } = await client.query<{ item: string | null }>(
    `select item::text from unnest($1::${type}[]) with ordinality as i(item, ordinal) order by ordinal`,
    encode(items, type),
  );
  return rows.map(({ item }) => item);
}

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
    expect(await readBack([text], 'text')).toEqual([text]);
  });

  test('all of them in one array stay separate, and null stays null', async () => {
    const items = [null, ...HOSTILE, null];
    expect(await readBack(items, 'text')).toEqual(items);
  });

  test('none of them is an empty array', async () => {
    expect(await readBack([], 'text')).toEqual([]);
  });

  test('property: any list of texts is unchanged', async () => {
    const anything = fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed() && !text.includes('\0'));
    const syntax = fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', ',', ' ', 'N', 'ULL', "'", '\n') });
    const item = fc.option(fc.oneof(anything, syntax, fc.constantFrom('null', 'NULL', '')), { nil: null });
    await fc.assert(
      fc.asyncProperty(fc.array(item), async (items) => {
        expect(await readBack(items, 'text')).toEqual(items);
      }),
      { numRuns: 300 },
    );
  });

  test('JSON is read as the same value', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.json({ noUnicodeString: false }), { maxLength: 5 }), async (items) => {
        const storable = items.filter((item) => !item.includes('\\u0000') && !/\\ud[89a-f]/i.test(item));
        const read = await readBack(storable, 'jsonb');
        expect(read.map((item) => JSON.parse(item as string))).toEqual(storable.map((item) => JSON.parse(item)));
      }),
      { numRuns: 100 },
    );
  });

  test('arrays of several columns stay separate, also when they exceed the buffer', async () => {
    const items = Array.from({ length: 50 }, (_, index) => ({ name: 'č'.repeat(index * 1000), index }));
    const arrays = encodeArrays(
      [arrayEncoder('text', ({ name }: { name: string }) => name), arrayEncoder('int', () => 7)],
      items,
    );
    const { rows } = await client.query<{ length: number; seven: number }>(
      'select length(i.name) as length, i.seven from unnest($1::text[], $2::int[]) as i(name, seven)',
      arrays,
    );
    expect(rows).toEqual(items.map(({ name }) => ({ length: name.length, seven: 7 })));
  });
});

describe('plain values', () => {
  test('integers, large integers and null', async () => {
    const number = fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { nil: null });
    await fc.assert(
      fc.asyncProperty(fc.array(number), async (items) => {
        const expected = items.map((item) => (item === null ? null : String(item)));
        expect(await readBack(items, 'bigint')).toEqual(expected);
      }),
      { numRuns: 100 },
    );
    expect(await readBack([0, -1, 2147483647], 'int')).toEqual(['0', '-1', '2147483647']);
  });

  test('bytes', async () => {
    const items = [Buffer.alloc(0), Buffer.from([0, 255, 92]), null, Buffer.alloc(100_000, 7)];
    expect(await readBack(items, 'bytea')).toEqual(items.map((item) => item && `\\x${item.toString('hex')}`));
  });

  test('booleans', async () => {
    expect(await readBack([true, false, null], 'bool')).toEqual(['true', 'false', null]);
  });

  test('UUIDs', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(fc.uuid(), { nil: null })), async (items) => {
        expect(await readBack(items, 'uuid')).toEqual(items);
      }),
      { numRuns: 50 },
    );
  });

  test('a value that its type cannot represent is refused as PostgreSQL would do', () => {
    const refused: [ArrayType, string | number | bigint][] = [
      ['uuid', ''],
      ['uuid', '01990000-0000-7000-8000-00000000000'],
      ['uuid', '01990000-0000-7000-8000-0000000000000'],
      ['uuid', '01990000-0000-7000-8000-00000000000g'],
      ['uuid', 'ā1990000-0000-7000-8000-000000000000'],
      ['int', 2 ** 31],
      ['int', 0.5],
      ['bigint', 2n ** 63n],
      ['bigint', 2 ** 60],
      ['timestamptz', Number.NaN],
    ];
    for (const [type, value] of refused) {
      const failure = (() => {
        try {
          encode([value as never], type);
        } catch (error) {
          return error;
        }
        return undefined;
      })();
      expect(failure, `${type} ${value}`).toBeInstanceOf(Error);
      expect(isItemFault(failure)).toBe(true);
    }
  });

  test('a refused value leaves nothing behind in the next arrays', async () => {
    expect(() => encode(['01990000-0000-7000-8000-000000000000', 'no'], 'uuid')).toThrow();
    expect(await readBack([1, 2], 'int')).toEqual(['1', '2']);
  });

  test('none of them is an empty array', async () => {
    expect(await readBack([], 'int')).toEqual([]);
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
          encode(items, 'timestamptz'),
        );
        expect(rows.map(({ ms }) => (ms === null ? null : Number(ms)))).toEqual(items);
      }),
      { numRuns: 100 },
    );
  });

  test('a known timestamp is the same in PostgreSQL', async () => {
    await client.query('set timezone to UTC');
    expect(await readBack([Date.UTC(2026, 0, 31, 23, 59, 59, 7), null], 'timestamptz')).toEqual([
      '2026-01-31 23:59:59.007+00',
      null,
    ]);
  });
});
