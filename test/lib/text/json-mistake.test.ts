/** The place at which a text stops being JSON. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonMistake } from '../../../src/lib/text/json-mistake.ts';

test.each([
  ['', 'Line 1, column 1: a value is expected'],
  ['{', 'Line 1, column 2: a name in double quotes or } is expected'],
  ['{"a": 1,\n "b" 2}', 'Line 2, column 6: a colon is expected'],
  ['{"a": 1\n "b": 2}', 'Line 2, column 2: a comma, or the end'],
  ['{"a": 1,}', 'Line 1, column 9: a name in double quotes is expected; a comma before } is one too many'],
  ["{'a': 1}", 'Line 1, column 2: a name in double quotes or }'],
  ['{"a": }', 'Line 1, column 7: a value is expected'],
  ['{"a": "x\ny"}', 'Line 1, column 7: a value is expected'],
  ['{"a": 01}', 'Line 1, column 8: a comma'],
  ['{"a": [1, 2}', 'Line 1, column 12: a comma'],
  ['{"a": 1}}', 'Line 1, column 9: nothing more is expected'],
  ['{"a": TRUE}', 'Line 1, column 7: a value is expected'],
  ['"\\u12g4"', 'Line 1, column 1: a value is expected'],
])('%j', (text, sentence) => {
  expect(() => JSON.parse(text)).toThrow();
  expect(jsonMistake(text)).toContain(sentence);
});

test('says nothing about valid JSON, and finds every mistake that JSON.parse refuses', () => {
  const isValid = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  fc.assert(fc.property(fc.json({ maxDepth: 4 }), (text) => jsonMistake(text) === undefined));
  const altered = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '}', '[', ':', '0', ' ', '\n', 'E', '\\', '\u0001'))
    .map(([text, at, put]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + put + text.slice(place + (at % 2));
    });
  fc.assert(
    fc.property(altered, (text) => (jsonMistake(text) === undefined) === isValid(text)),
    { numRuns: 2000 },
  );
});
