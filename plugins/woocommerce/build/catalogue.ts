/** The texts of the plugin in gettext's formats: the template from the PHP files, and compiled translations. */

export interface Message {
  text: string;
  /** What a translator has to know about the placeholders. */
  comment: string;
  places: string[];
}

const CALL =
  /(?:\/\* (translators: .*?) \*\/\s*(?:'\w+' => sprintf\()?\s*)?(?:esc_html)?__\(\s*'((?:[^'\\]|\\.)*)',\s*'turnpike-gateway',?\s*\)/gs;
const ENTRY = /^msgid ((?:".*"\n?)+)msgstr ((?:".*"\n?)+)/gm;

/** The texts that PHP files translate, in their order; files are given by path. */
export function messagesOf(files: ReadonlyMap<string, string>): Message[] {
  const messages = new Map<string, Message>();
  for (const [path, code] of files) {
    for (const match of code.matchAll(CALL)) {
      const [, comment = '', quoted = ''] = match;
      const text = quoted.replace(/\\(['\\])/g, '$1');
      const line = code.slice(0, match.index + match[0].lastIndexOf('__(')).split('\n').length;
      const message = messages.get(text) ?? { text, comment, places: [] };
      message.places.push(`${path}:${line}`);
      messages.set(text, message);
    }
  }
  return [...messages.values()];
}

/** The template for translators. */
export function template(messages: readonly Message[], version: string): string {
  const head = [
    'msgid ""',
    'msgstr ""',
    `"Project-Id-Version: Turnpike for WooCommerce ${version}\\n"`,
    '"MIME-Version: 1.0\\n"',
    '"Content-Type: text/plain; charset=UTF-8\\n"',
    '"Content-Transfer-Encoding: 8bit\\n"',
    '"X-Domain: turnpike-gateway\\n"',
  ];
  const entries = messages.map(({ text, comment, places }) =>
    [
      ...(comment === '' ? [] : [`#. ${comment}`]),
      ...places.map((place) => `#: ${place}`),
      ...(/%(\d\$)?s/.test(text) ? ['#, php-format'] : []),
      `msgid ${JSON.stringify(text)}`,
      'msgstr ""',
    ].join('\n'),
  );
  return `${[head.join('\n'), ...entries].join('\n\n')}\n`;
}

/** The translations of a .po file by their texts; the header is that of the empty text. */
export function translations(po: string): Map<string, string> {
  const join = (lines: string): string => [...lines.matchAll(/"(.*)"/g)].map(([text]) => JSON.parse(text)).join('');
  return new Map([...po.matchAll(ENTRY)].map(([, id = '', text = '']) => [join(id), join(text)]));
}

/** The compiled form of a .po file, which WordPress reads: two tables of lengths and offsets, then the texts. */
export function compile(po: string): Buffer {
  const pairs = [...translations(po)]
    .filter(([, text]) => text !== '')
    .map((pair) => pair.map((text) => Buffer.from(text)) as [Buffer, Buffer])
    .sort(([a], [b]) => a.compare(b));
  const HEADER = 28;
  const table = 8 * pairs.length;
  const head = Buffer.alloc(HEADER + 2 * table);
  [0x950412de, 0, pairs.length, HEADER, HEADER + table, 0, 0].forEach((value, n) => {
    head.writeUInt32LE(value, 4 * n);
  });
  const texts: Buffer[] = [];
  let offset = head.length;
  for (const side of [0, 1] as const) {
    pairs.forEach((pair, n) => {
      const at = HEADER + side * table + 8 * n;
      head.writeUInt32LE(pair[side].length, at);
      head.writeUInt32LE(offset, at + 4);
      texts.push(pair[side], Buffer.alloc(1));
      offset += pair[side].length + 1;
    });
  }
  return Buffer.concat([head, ...texts]);
}
