/** The strict form parser: values arrive under their names, and malformed input is reported. */
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { entriesBelow, type Form, readMultipart, readUrlEncoded } from '../../../src/lib/text/form.ts';
import { cpuMs } from '../../support/cpu-time.ts';

const LIMITS = { fields: 10, depth: 3 };
const read = (body: string): Form => readUrlEncoded(Buffer.from(body), LIMITS);
const valuesOf = (form: Form): [string, string][] => [...form.values];

describe('a url-encoded form', () => {
  test.each<[string, string, [string, string][]]>([
    ['an empty body', '', []],
    ['one pair', 'a=b', [['a', 'b']]],
    [
      'two pairs',
      'a=b&c=d',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['plus is a space in values', 'a=b+c', [['a', 'b c']]],
    ['plus is a space in long values', `a=${'ž+%C5%BE+'.repeat(1000)}`, [['a', 'ž ž '.repeat(1000)]]],
    ['plus is a space in names', 'a+b=c', [['a b', 'c']]],
    ['an escaped plus is a plus', 'a%2Bb=c%2bd', [['a+b', 'c+d']]],
    ['escapes in names and values', 'a%5Bb%5D=%26%3D%25', [['a[b]', '&=%']]],
    ['escapes beyond ASCII', 'a=%C4%8Digra+%F0%9F%9B%92', [['a', 'čigra 🛒']]],
    ['raw UTF-8', 'č=čigra 🛒', [['č', 'čigra 🛒']]],
    ['an escaped escape is decoded once', 'a=%2541', [['a', '%41']]],
    ['an empty value', 'a=', [['a', '']]],
    ['no value', 'a', [['a', '']]],
    ['no name', '=b', [['', 'b']]],
    ['no name and no value', '=', [['', '']]],
    ['equals signs in a value', 'a=b=c==', [['a', 'b=c==']]],
    ['empty pairs', '&&a=b&&', [['a', 'b']]],
    [
      'a pair without value before one with',
      'a&b=c',
      [
        ['a', ''],
        ['b', 'c'],
      ],
    ],
    [
      'names of the prototype are ordinary names',
      '__proto__=1&constructor=2',
      [
        ['__proto__', '1'],
        ['constructor', '2'],
      ],
    ],
  ])('%s', (_, body, expected) => {
    const form = read(body);
    expect(valuesOf(form)).toEqual(expected);
    expect(form.problems).toEqual([]);
  });

  test('property: parses what the standard encoder writes', () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/[[\]\0]/.test(text));
    const value = fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed() && !text.includes('\0'));
    const pairs = fc.uniqueArray(fc.tuple(name, value), { maxLength: 10, selector: ([key]) => key });
    fc.assert(
      fc.property(pairs, (sent) => {
        const form = read(new URLSearchParams(sent).toString());
        expect(valuesOf(form)).toEqual(sent);
        expect(form.problems).toEqual([]);
      }),
    );
  });

  test('property: arbitrary bytes never throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(readUrlEncoded(Buffer.from(bytes), LIMITS).problems).toBeInstanceOf(Array);
      }),
    );
  });

  test.each([
    ['a broken escape', 'a=%zz', 'a', 'This value is not valid percent-encoded UTF-8.'],
    ['a truncated escape', 'a=%4', 'a', 'This value is not valid percent-encoded UTF-8.'],
    ['escaped bytes that are not UTF-8', 'a=%FF', 'a', 'This value is not valid percent-encoded UTF-8.'],
    ['an escaped lone surrogate', 'a=%ED%A0%80', 'a', 'This value is not valid percent-encoded UTF-8.'],
    ['a broken escape in a name', '%zz=1', 'body', 'This value is not valid percent-encoded UTF-8.'],
    ['a NUL in a value', 'a=b%00', 'a', 'This value is not valid.'],
    ['a NUL in a name', 'a%00=b', 'body', 'This value is not valid.'],
    ['a value sent twice', 'a=1&a=1', 'a', 'This value should be sent once.'],
    ['a value sent twice, once escaped', 'a=1&%61=2', 'a', 'This value should be sent once.'],
    ['an entry sent twice', 'p[a]=1&p[a]=2', 'p[a]', 'This value should be sent once.'],
    ['a list entry with and without its index', 'p[0]=1&p[]=2', 'p[]', 'This value should be sent once.'],
    [
      'four levels',
      'p[a][b][c][d]=1',
      'p[a][b][c][d]',
      'This value is nested too deep. It should have 3 levels or less.',
    ],
    ['an unclosed bracket', 'p[a=1', 'p[a', 'This name is not valid.'],
    ['brackets inside brackets', 'p[a[b]]=1', 'p[a[b]]', 'This name is not valid.'],
    ['text after the brackets', 'p[a]b=1', 'p[a]b', 'This name is not valid.'],
    ['brackets without a name', '[a]=1', '[a]', 'This name is not valid.'],
    ['an unusual name, which is not repeated', 'a<b>[=1', 'body', 'This name is not valid.'],
    [
      'a long name, which is not repeated',
      `${'x'.repeat(65)}=1&${'x'.repeat(65)}=1`,
      'body',
      'This value should be sent once.',
    ],
    [
      'a name that could be a secret, which is not repeated',
      '9d2a6f0c4b7e81355af0c6d2e8b41790=1&9d2a6f0c4b7e81355af0c6d2e8b41790=1',
      'body',
      'This value should be sent once.',
    ],
  ])('%s is reported', (_, body, field, sentence) => {
    expect(read(body).problems).toEqual([{ field, sentence }]);
  });

  test('accepts three levels of nesting', () => {
    expect(read('p[a][b][c]=1').problems).toEqual([]);
  });

  test('bytes that are not UTF-8 are reported once', () => {
    const form = readUrlEncoded(Buffer.from([0x61, 0x3d, 0xff, 0xfe]), LIMITS);
    expect(form.problems).toEqual([{ field: 'body', sentence: 'The body should be UTF-8.' }]);
  });

  test('a malformed value is kept as sent, so that the field is not missing', () => {
    expect(valuesOf(read('a=%zz'))).toEqual([['a', '%zz']]);
  });

  test('accepts ten fields, refuses the eleventh, and still reads the first ten', () => {
    const body = (count: number) => Array.from({ length: count }, (_, at) => `f${at}=${at}`).join('&');
    expect(read(body(10)).problems).toEqual([]);
    const form = read(body(11));
    expect(form.problems).toEqual([
      { field: 'body', sentence: 'The form has too many fields. It should have 10 or less.' },
    ]);
    expect(form.values.size).toBe(10);
    expect(read(body(5000)).values.size).toBe(10);
    expect(read('%&'.repeat(5000)).problems.length).toBeLessThan(40);
    expect(read(Array(11).fill('a=1').join('&')).problems.at(-1)).toEqual({
      field: 'body',
      sentence: 'The form has too many fields. It should have 10 or less.',
    });
  });

  test('decodes nothing after the maximum number of fields', () => {
    const decode = vi.spyOn(globalThis, 'decodeURIComponent');
    try {
      const form = read('%=%&'.repeat(100_000));
      expect(form.problems).toHaveLength(LIMITS.fields * 2);
      expect(form.problems.at(-1)?.sentence).toBe('The form has too many fields. It should have 10 or less.');
      expect(decode).toHaveBeenCalledTimes(LIMITS.fields);
    } finally {
      decode.mockRestore();
    }
  });

  test('a pair after the last allowed field counts, empty pairs do not', () => {
    expect(read(`${'&'.repeat(1000)}a=1${'&'.repeat(1000)}`).problems).toEqual([]);
    expect(read(`${Array.from({ length: 10 }, (_, at) => `f${at}=1`).join('&')}&&&`).problems).toEqual([]);
  });

  test('list entries get an index, and none replaces another', () => {
    expect(valuesOf(read('p[]=a&q[x][]=b&p[]=c&q[x][]=d'))).toEqual([
      ['p[0]', 'a'],
      ['q[x][0]', 'b'],
      ['p[1]', 'c'],
      ['q[x][1]', 'd'],
    ]);
  });
});

describe('a multipart form', () => {
  const TYPE = 'multipart/form-data; boundary=B';
  const part = (name: string, value: string, more = ''): string =>
    `--B\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
  const readParts = async (body: string | Uint8Array, type = TYPE): Promise<Form> =>
    readMultipart(typeof body === 'string' ? Buffer.from(body) : Buffer.from(body), type, LIMITS);
  const BROKEN = { field: 'body', sentence: 'The body is not valid multipart/form-data.' };

  test('names and values are not decoded: plus, percent, ampersand, line breaks, UTF-8', async () => {
    const sent: [string, string][] = [
      ['a', '1+1=2 & 100%'],
      ['order description', 'Crème brûlée 🛒'],
      ['jméno', 'čigra'],
      ['lines', 'one\r\ntwo\n--B three'],
      ['empty', ''],
      ['p[a][0]', 'x'],
    ];
    const form = await readParts(`${sent.map(([name, value]) => part(name, value)).join('')}--B--\r\n`);
    expect(valuesOf(form)).toEqual(sent);
    expect(form.problems).toEqual([]);
  });

  test('parses what the standard encoder writes', async () => {
    const data = new FormData();
    data.set('a', 'b');
    data.set('č', '🛒');
    const encoded = new Response(data);
    const bytes = new Uint8Array(await encoded.arrayBuffer());
    const form = await readParts(bytes, encoded.headers.get('content-type') ?? '');
    expect(valuesOf(form)).toEqual([
      ['a', 'b'],
      ['č', '🛒'],
    ]);
  });

  test('text before the first part and after the last one is not part of the form', async () => {
    const form = await readParts(`hello\r\n${part('a', '1')}--B--\r\n${part('b', '2')}--B--`);
    expect(valuesOf(form)).toEqual([['a', '1']]);
    expect(form.problems).toEqual([]);
  });

  test.each<[string, string, string]>([
    ['no boundary', part('a', '1'), 'multipart/form-data'],
    ['an empty boundary', part('a', '1'), 'multipart/form-data; boundary='],
    ['another boundary', `${part('a', '1')}--B--\r\n`, 'multipart/form-data; boundary=C'],
    ['no end', part('a', '1'), TYPE],
    ['an end in the middle of a value', '--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n1', TYPE],
    ['an end in the middle of a header', '--B\r\nContent-Dispo', TYPE],
    ['no body', '', TYPE],
    ['bare line feeds', '--B\nContent-Disposition: form-data; name="a"\n\n1\n--B--\n', TYPE],
  ])('%s is reported', async (_, body, type) => {
    expect((await readParts(body, type)).problems).toContainEqual(BROKEN);
  });

  test.each([
    ['a part without a name', '--B\r\nContent-Disposition: form-data\r\n\r\n1\r\n--B--\r\n'],
    ['a name without a value', '--B\r\nContent-Disposition: form-data; name\r\n\r\n1\r\n--B--\r\n'],
    ['an unclosed quote', '--B\r\nContent-Disposition: form-data; name="a\r\n\r\n1\r\n--B--\r\n'],
    ['a part without headers', '--B\r\n\r\n1\r\n--B--\r\n'],
    ['a part that is not form-data', '--B\r\nContent-Disposition: attachment; name="a"\r\n\r\n1\r\n--B--\r\n'],
    ['a part without a disposition', '--B\r\nContent-Type: text/plain\r\n\r\n1\r\n--B--\r\n'],
    ['a file without a name', '--B\r\nContent-Disposition: form-data; filename="x"\r\n\r\n1\r\n--B--\r\n'],
    [
      'more text on the line of the boundary',
      '--Bee\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--B--\r\n',
    ],
  ])('%s is refused, not dropped', async (_, body) => {
    expect((await readParts(body)).problems).toEqual([BROKEN]);
  });

  test.each([
    ['a name without quotes', 'form-data; name=a'],
    ['capitals', 'FORM-DATA; NAME="a"'],
    ['other parameters', 'form-data; x=y; name="a"; z="; filename=1"'],
    ['no space', 'form-data;name="a"'],
  ])('accepts %s in the disposition, and other headers', async (_, disposition) => {
    const headers = `content-length: 1\r\ncontent-disposition: ${disposition}\r\nContent-Type: text/plain; charset=utf-16le`;
    const form = await readParts(`--B\r\n${headers}\r\n\r\nč\r\n--B--`);
    expect(valuesOf(form)).toEqual([['a', 'č']]);
    expect(form.problems).toEqual([]);
  });

  test('accepts escaped quotes in a name, and a quoted boundary', async () => {
    const form = await readParts(
      `${part('a\\"b\\\\c', '1').replace('--B', '--B c')}--B c--`,
      'multipart/form-data; boundary="B c"; x=y',
    );
    expect(valuesOf(form)).toEqual([['a"b\\c', '1']]);
  });

  test('a file is refused and named, also a large or truncated one', async () => {
    const sentence = 'This value should be a text, not a file.';
    const file = (value: string) => part('a', value, '; filename="x.txt"');
    expect((await readParts(`${file('1')}--B--\r\n`)).problems).toEqual([{ field: 'a', sentence }]);
    expect((await readParts(`${file('y'.repeat(300_000))}--B--\r\n`)).problems).toEqual([{ field: 'a', sentence }]);
    expect((await readParts(file('1').slice(0, -2))).problems).toEqual([{ field: 'a', sentence }, BROKEN]);
    const many = await readParts(`${file('1').repeat(500)}--B--\r\n`);
    expect(many.problems).toHaveLength(11);
    expect(many.problems.at(-1)?.sentence).toBe('The form has too many fields. It should have 10 or less.');
  });

  test('applies the same rules to values as the url-encoded form', async () => {
    expect((await readParts(`${part('a', '1')}${part('a', '2')}--B--\r\n`)).problems).toEqual([
      { field: 'a', sentence: 'This value should be sent once.' },
    ]);
    const many = Array.from({ length: 11 }, (_, at) => part(`f${at}`, '')).join('');
    expect((await readParts(`${many}--B--\r\n`)).problems).toEqual([
      { field: 'body', sentence: 'The form has too many fields. It should have 10 or less.' },
    ]);
    const invalid = Buffer.concat([
      Buffer.from(part('a', '1').slice(0, -2)),
      Buffer.from([0xff]),
      Buffer.from('\r\n--B--'),
    ]);
    expect((await readParts(invalid)).problems).toEqual([{ field: 'body', sentence: 'The body should be UTF-8.' }]);
  });

  test('property: a damaged form never throws and yields no other fields', () => {
    const whole = `${part('a', '1')}${part('f', 'x', '; filename="y"')}${part('č', '🛒')}--B--\r\n`;
    fc.assert(
      fc.property(fc.nat(whole.length), fc.nat(60), (start, length) => {
        const form = readMultipart(Buffer.from(whole.slice(0, start) + whole.slice(start + length)), TYPE, LIMITS);
        expect(form.values.size).toBeLessThanOrEqual(3);
      }),
      { numRuns: 500 },
    );
  });

  test('the parts after the maximum number of fields are not read', () => {
    const slice = vi.spyOn(String.prototype, 'slice');
    const split = vi.spyOn(String.prototype, 'split');
    try {
      const form = readMultipart(Buffer.from(part('a', '1').repeat(50_000)), TYPE, LIMITS);
      expect(form.problems.at(-1)?.sentence).toBe('The form has too many fields. It should have 10 or less.');
      expect(slice.mock.calls.length).toBeLessThan(100);
      expect(split).not.toHaveBeenCalled();
    } finally {
      slice.mockRestore();
      split.mockRestore();
    }
  });

  // A quadratic algorithm, or one exception per pair, would exceed the time limit of the test.
  test.each([
    '%=%&',
    '%&',
    '&',
    '=',
    'a&',
    '[',
    'a[b',
    'p[]=&',
    '+',
    '\r\n--B',
    '\r\n--B\r\n',
    'a\r\n',
    part('a', '1'),
    part('a', '1', '; filename="x"'),
  ])('6 MiB of %j are parsed within the time limit', (worst) => {
    const most = { fields: 200, depth: 3 };
    const body = Buffer.from(worst.repeat(Math.ceil((6 * 1024 * 1024) / worst.length)));
    const head = Buffer.from('--B\r\ncontent-disposition: form-data; name="a"\r\n');
    for (let times = 0; times < 3; times++) {
      readUrlEncoded(body, most);
      readMultipart(body, TYPE, most);
      readMultipart(Buffer.concat([head, body]), TYPE, most);
    }
  });

  test('64 KiB of the worst text are parsed quickly', () => {
    const started = cpuMs();
    for (const worst of [
      '--B',
      '--B\r\n',
      '\r\n--B',
      'a\r\n',
      ';',
      ';a=',
      '; name="\\',
      'content-disposition:form-data',
      '%',
    ]) {
      const body = worst.repeat(Math.ceil(65_536 / worst.length));
      for (const head of [
        '',
        '--B\r\n',
        '--B\r\ncontent-disposition: form-data',
        '--B\r\ncontent-disposition: form-data;',
      ]) {
        readMultipart(Buffer.from(head + body), TYPE, LIMITS);
        readUrlEncoded(Buffer.from(body), LIMITS);
      }
    }
    expect(cpuMs() - started).toBeLessThan(5000);
  });
});

describe('the entries below a name', () => {
  test.each<[string, string, [string, string][]]>([
    ['none', 'custom_data=1&custom=2&custom_data2[a]=3', []],
    ['one level', 'custom_data[color]=red', [['color', 'red']]],
    [
      'deeper ones keep their brackets',
      'custom_data[a][b]=1&custom_data[a][0][c]=2',
      [
        ['a[b]', '1'],
        ['a[0][c]', '2'],
      ],
    ],
    [
      'a list',
      'custom_data[]=x&custom_data[]=y',
      [
        ['0', 'x'],
        ['1', 'y'],
      ],
    ],
    [
      'empty brackets anywhere, counted from 0 in each list',
      'custom_data[][x]=1&custom_data[][y]=2&custom_data[a][][x]=3&custom_data[][][]=4&custom_data[a][]=5',
      [
        ['0[x]', '1'],
        ['1[y]', '2'],
        ['a[0][x]', '3'],
        ['2[0][0]', '4'],
        ['a[1]', '5'],
      ],
    ],
    ['names of the prototype', 'custom_data[__proto__]=1', [['__proto__', '1']]],
    [
      'odd characters',
      'custom_data[a.b c]=1&custom_data[č]=2',
      [
        ['a.b c', '1'],
        ['č', '2'],
      ],
    ],
  ])('%s', (_, body, expected) => {
    expect(entriesBelow(read(body), 'custom_data')).toEqual(expected);
  });
});
