/** Code on the pages of the docs: coloured at start, with placeholders for the keys of the reader. */
import { type Html, html } from '../../lib/text/html.ts';

/** Marks a placeholder inside rendered HTML; these characters occur in no page. */
const [OPEN, CLOSE] = ['\uE000', '\uE001'];

/** What the reader sees in code in place of a placeholder. */
export interface ReaderValues {
  url: string;
  client_key?: string | undefined;
  merchant_key?: string | undefined;
}

/** What the sources contain in place of the values of the reader. */
const PLACEHOLDERS: readonly [pattern: RegExp, name: keyof ReaderValues][] = [
  [/http:\/\/127\.0\.0\.1:8080(?!\d)/g, 'url'],
  [/YOUR_CLIENT_KEY|(?<=CLIENT_KEY=)test_…/g, 'client_key'],
  [/YOUR_MERCHANT_KEY|(?<=MERCHANT_KEY=)test_…/g, 'merchant_key'],
];

const marked = (text: string): string =>
  PLACEHOLDERS.reduce(
    (marks, [pattern, name]) => marks.replace(pattern, (found) => `${OPEN}${name}|${found}${CLOSE}`),
    text,
  );

/** The page with the values of the reader in its code. A value that is not known stays a placeholder. */
export const withValues = (page: string, values: ReaderValues): string =>
  page.replace(
    /\uE000(url|client_key|merchant_key)\|([^\uE001]*)\uE001/g,
    (_mark, name: keyof ReaderValues, found: string) => String(html`${values[name] ?? found}`),
  );

const STRING = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/.source;
const HASH_COMMENT = /(?<=^|\s)#[^\n]*/.source;
const SLASH_COMMENT = /(?<!:)\/\/[^\n]*|\/\*[\s\S]*?\*\//.source;

/** The comments of a language; strings look the same in all of them. */
const COMMENTS: Readonly<Record<string, string>> = {
  sh: HASH_COMMENT,
  python: HASH_COMMENT,
  yaml: HASH_COMMENT,
  php: `${SLASH_COMMENT}|${HASH_COMMENT}`,
  ts: SLASH_COMMENT,
  js: SLASH_COMMENT,
  go: SLASH_COMMENT,
  java: SLASH_COMMENT,
  csharp: SLASH_COMMENT,
  json: '(?!)',
};

/** Comments and strings get a colour; more would need a grammar of each language. */
function coloured(text: string, language: string): Html[] {
  const comments = COMMENTS[language];
  if (comments === undefined) return [html`${marked(text)}`];
  const token = new RegExp(`(?<comment>${comments})|(?<string>${STRING})`, 'gm');
  const parts: Html[] = [];
  let at = 0;
  for (const match of text.matchAll(token)) {
    parts.push(html`${marked(text.slice(at, match.index))}`);
    parts.push(
      html`<span class="${match.groups?.comment === undefined ? 'string' : 'comment'}">${marked(match[0])}</span>`,
    );
    at = match.index + match[0].length;
  }
  return [...parts, html`${marked(text.slice(at))}`];
}

/** A block of code. It can be scrolled with the keyboard. */
export const codeBlock = (text: string, language = '', label = 'Code'): Html =>
  html`<div class="code"><pre tabindex="0" role="region" aria-label="${label}"><code>${coloured(text.replace(/\n$/, ''), language)}</code></pre></div>`;

/** A sample of one language. */
export interface Sample {
  language: string;
  name: string;
  text: string;
}

/** The languages of the samples: the folder, its display name, how its comments look, and how its files end. */
export const LANGUAGES: Readonly<Record<string, { name: string; syntax: string; extension: string }>> = {
  curl: { name: 'curl', syntax: 'sh', extension: 'sh' },
  typescript: { name: 'TypeScript', syntax: 'ts', extension: 'ts' },
  php: { name: 'PHP', syntax: 'php', extension: 'php' },
  python: { name: 'Python', syntax: 'python', extension: 'py' },
  go: { name: 'Go', syntax: 'go', extension: 'go' },
  java: { name: 'Java', syntax: 'java', extension: 'java' },
  csharp: { name: 'C#', syntax: 'csharp', extension: 'cs' },
};

/** Samples as tabs. Radio buttons select one, so that the tabs work without scripts. */
export function sampleTabs(group: string, samples: readonly Sample[]): Html {
  const id = (sample: Sample): string => `${group}-${sample.language}`;
  const inputs = samples.map(
    (sample, index) =>
      html`<input type="radio" name="${group}" id="${id(sample)}" value="${sample.language}"${index === 0 && html` checked`}><label for="${id(sample)}">${LANGUAGES[sample.language]?.name ?? sample.language}</label>`,
  );
  const blocks = samples.map(({ text, language, name }) => {
    const { syntax, name: label } = LANGUAGES[language] ?? { syntax: '', name: language };
    return html`<div class="tab">${codeBlock(text, syntax, `${name} in ${label}`)}</div>`;
  });
  return html`<fieldset class="samples"><legend class="hush">Language</legend>${inputs}${blocks}</fieldset>`;
}
