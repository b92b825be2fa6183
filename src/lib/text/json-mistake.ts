/** Finds the place at which a text stops being JSON. */

/** What may come next. */
type Expected = 'value' | 'valueOrEnd' | 'name' | 'nameOrEnd' | 'colon' | 'commaOrEnd' | 'end';

const TOKEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a text may not contain these characters
  /[ \t\n\r]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*")|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;

const SENTENCES: Readonly<Record<Expected, string>> = {
  value: 'a value is expected: a text in double quotes, a number, a list or an object',
  valueOrEnd: 'a value or ] is expected',
  name: 'a name in double quotes is expected; a comma before } is one too many',
  nameOrEnd: 'a name in double quotes or } is expected',
  colon: 'a colon is expected after the name',
  commaOrEnd: 'a comma, or the end of the list or object, is expected',
  end: 'nothing more is expected after the value',
};

/** One sentence with the line and the column, or undefined for valid JSON. It contains nothing of the text. */
export function jsonMistake(text: string): string | undefined {
  const open: ('{' | '[')[] = [];
  const afterValue = (): Expected => (open.length === 0 ? 'end' : 'commaOrEnd');
  let expected: Expected = 'value';
  let at = 0;
  for (;;) {
    TOKEN.lastIndex = at;
    const [token, mark, quoted] = TOKEN.exec(text) ?? [];
    const next: Expected | undefined =
      token === undefined ? undefined : following(expected, mark, quoted !== undefined, open, afterValue);
    if (next === undefined) break;
    expected = next;
    at = TOKEN.lastIndex;
  }
  const rest = text.slice(at).search(/[^ \t\n\r]/);
  if (rest === -1 && expected === 'end') return undefined;
  const before = text.slice(0, rest === -1 ? text.length : at + rest).split('\n');
  return `Line ${before.length}, column ${(before.at(-1) as string).length + 1}: ${SENTENCES[expected]}.`;
}

/** What may come after a token; undefined if the token may not stand here. */
function following(
  expected: Expected,
  mark: string | undefined,
  isQuoted: boolean,
  open: ('{' | '[')[],
  afterValue: () => Expected,
): Expected | undefined {
  const isValue = expected === 'value' || expected === 'valueOrEnd';
  if (mark === undefined) {
    if (isValue) return afterValue();
    return isQuoted && (expected === 'name' || expected === 'nameOrEnd') ? 'colon' : undefined;
  }
  if (mark === ':') return expected === 'colon' ? 'value' : undefined;
  if (mark === ',') return expected !== 'commaOrEnd' ? undefined : open.at(-1) === '{' ? 'name' : 'value';
  if (mark === '{' || mark === '[') {
    if (!isValue) return undefined;
    open.push(mark);
    return mark === '{' ? 'nameOrEnd' : 'valueOrEnd';
  }
  const isEnd = expected === 'commaOrEnd' || expected === (mark === '}' ? 'nameOrEnd' : 'valueOrEnd');
  if (!isEnd || open.at(-1) !== (mark === '}' ? '{' : '[')) return undefined;
  open.pop();
  return afterValue();
}
