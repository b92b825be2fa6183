/** CSV fields: quoting by RFC 4180, and texts that a spreadsheet would run as formulas. */
import { expect, test } from 'vitest';
import { csvRows } from '../../../src/lib/text/csv.ts';

test.each([
  ['', ''],
  [null, ''],
  [0, '0'],
  [-3, '-3'],
  ['plain text', 'plain text'],
  [' spaces ', ' spaces '],
  ['a,b', '"a,b"'],
  ['say "yes"', '"say ""yes"""'],
  ['two\nlines', '"two\nlines"'],
  ['two\r\nlines', '"two\r\nlines"'],
  ['-3.00', '-3.00'],
  ['=1+1', "'=1+1"],
  ['+31 20', "'+31 20"],
  ['-1+2', "'-1+2"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', '"\'\r=1"'],
  ['=HYPERLINK("x","y")', '"\'=HYPERLINK(""x"",""y"")"'],
  ['a=b', 'a=b'],
  [' =1+1', "' =1+1"],
  ['\n=1+1', '"\'\n=1+1"'],
  ['\ntext', '"\'\ntext"'],
  ['\u00a0\u2003@SUM(A1)', "'\u00a0\u2003@SUM(A1)"],
  ['\u200b=1', "'\u200b=1"],
  ['\u0001=1', "'\u0001=1"],
  ['＝1+1', "'＝1+1"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['　＠SUM(A1)', "'　＠SUM(A1)"],
  ['﹦1', "'﹦1"],
  [' -3.00', "' -3.00"],
  [' a = b', ' a = b'],
])('%j', (value, written) => {
  expect(csvRows([[value, 'x']])).toBe(`${written},x\r\n`);
});

test('each row is a line that ends with CR LF', () => {
  const rows = [
    ['a', 1, null],
    ['b,c', '', 'd'],
  ];
  expect(csvRows(rows)).toBe('a,1,\r\n"b,c",,d\r\n');
  expect(csvRows([])).toBe('');
});
