/** CSV fields: quoting by RFC 4180, and texts that a spreadsheet would run as formulas. */
import { expect, test } from 'vitest';
import { csvField, csvLine } from '../../src/lib/csv.ts';

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
])('%j', (value, written) => {
  expect(csvField(value)).toBe(written);
});

test('a line ends with CR LF', () => {
  expect(csvLine(['a', 1, null, 'b,c'])).toBe('a,1,,"b,c"\r\n');
  expect(csvLine([])).toBe('\r\n');
});
