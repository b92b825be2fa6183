/** Reads the Markdown files once and makes the pages of the docs site from them. */
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { setImmediate as pause } from 'node:timers/promises';
import type { Token, Tokens } from 'marked';
import { html } from '../../lib/text/html.ts';
import { docsOfAction } from '../../rules/docs.ts';
import { S2S_OPERATIONS } from '../../rules/operations.ts';
import { AUDIENCES, type Audience, addressOf, type Chapter } from './chapters.ts';
import { LANGUAGES } from './code.ts';
import { pictureOf } from './images.ts';
import { anchorsOf, createRenderer, headingText, tokensOf, wordsOf } from './markdown.ts';
import type { DocsPage } from './page.ts';
import { REFERENCE, referencePages } from './reference.ts';
import type { SearchEntry } from './search.ts';

const ROOT = new URL('../../../', import.meta.url);

/** Files that the gateway serves under another address. */
const SERVED: Readonly<Record<string, string>> = {
  'docs/openapi.json': '/openapi.json',
  'docs/postman.json': '/docs/postman.json',
};

/** The tables of the API reference as a file; the site has the reference itself. */
export const REQUESTS_FILE = 'docs/requests.md';

/** The place in the API reference of an anchor of that file. */
export function requestsAddress(anchor = ''): string {
  if (Object.hasOwn(S2S_OPERATIONS, anchor.toUpperCase())) return docsOfAction(anchor);
  return anchor === 'checkout' ? `${REFERENCE}/checkout` : REFERENCE;
}

export interface Library {
  pages: ReadonlyMap<string, DocsPage>;
  /** Files that the pages link to, by their address. */
  files: ReadonlyMap<string, string>;
  index: readonly SearchEntry[];
}

/** A part of a file that becomes one page. */
interface Part {
  path: string;
  tokens: readonly Token[];
  raise: number;
}

interface Source {
  chapter: Chapter;
  audience: Audience;
  anchors: ReadonlyMap<Token, string>;
  parts: readonly Part[];
}

export const readFile = (file: string): string => readFileSync(new URL(file, ROOT), 'utf8');

const isHeading = (token: Token, depth: number): token is Tokens.Heading =>
  token.type === 'heading' && (token as Tokens.Heading).depth === depth;

/** Groups of tokens that begin with a heading of one of these levels. */
function groupsOf(tokens: readonly Token[], depths: readonly number[]): Token[][] {
  const groups: Token[][] = [];
  for (const token of tokens) {
    if (groups.length === 0 || depths.some((depth) => isHeading(token, depth))) groups.push([]);
    groups.at(-1)?.push(token);
  }
  return groups;
}

function sourceOf(chapter: Chapter, audience: Audience): Source {
  const tokens = tokensOf(readFile(chapter.file)).filter(({ type }) => type !== 'html' && type !== 'space');
  const anchors = anchorsOf(tokens);
  const path = addressOf(chapter);
  if (!chapter.isSplit) return { chapter, audience, anchors, parts: [{ path, tokens, raise: 0 }] };
  const [intro = [], ...rest] = groupsOf(tokens, [2]);
  const parts = rest.map((part) => ({ path: `${path}/${anchors.get(part[0] as Token)}`, tokens: part, raise: 1 }));
  return { chapter, audience, anchors, parts: [{ path, tokens: intro, raise: 0 }, ...parts] };
}

/** The sections of a page for the search, each with the text up to the next heading. */
function entriesOf(page: Pick<DocsPage, 'path' | 'title'>, groups: readonly [Token, string, string][]): SearchEntry[] {
  return groups.map(([token, anchor, body], index) => ({
    path: index === 0 ? page.path : `${page.path}#${anchor}`,
    title: page.title,
    heading: token.type === 'heading' ? headingText(token as Tokens.Heading) : page.title,
    text: wordsOf(body),
  }));
}

/**
 * Builds the site. A link that leads nowhere fails. It takes a second of computing in small steps, because the same
 * process takes payments meanwhile.
 */
export async function openLibrary(): Promise<Library> {
  const sources: Source[] = [];
  for (const audience of AUDIENCES) {
    for (const chapter of audience.chapters) {
      sources.push(sourceOf(chapter, audience));
      await pause();
    }
  }
  const byFile = new Map(sources.map((source) => [source.chapter.file, source]));
  const files = new Map<string, string>();

  /** The address of an anchor of a file, which may be on one of several pages. */
  const locate = ({ anchors, parts }: Source, anchor: string | undefined): string | undefined => {
    if (anchor === undefined) return parts[0]?.path;
    for (const { path, tokens } of parts) {
      const at = tokens.findIndex((token) => anchors.get(token) === anchor);
      if (at >= 0) return at === 0 ? path : `${path}#${anchor}`;
    }
    return undefined;
  };

  const resolveIn = (source: Source, href: string): { address: string; isExternal: boolean } => {
    if (/^https?:/.test(href)) return { address: href, isExternal: true };
    const [path = '', anchor] = href.split('#');
    const file = path === '' ? source.chapter.file : posix.join(posix.dirname(source.chapter.file), path);
    const target = byFile.get(file);
    const served = file === REQUESTS_FILE ? requestsAddress(anchor) : SERVED[file];
    const address = target ? locate(target, anchor) : (served ?? `/docs/files/${file}`);
    if (address === undefined || (!target && !existsSync(new URL(file, ROOT)))) {
      throw new Error(`${source.chapter.file} links to ${href}, which does not exist.`);
    }
    if (!target && !served) files.set(address, file);
    return { address, isExternal: false };
  };

  const pagesOf = (source: Source): DocsPage[] => {
    const { chapter, audience, anchors, parts } = source;
    const pathOf = (href: string): string => posix.join(posix.dirname(chapter.file), href);
    const made: DocsPage[] = [];
    for (const { path, tokens, raise } of parts) {
      const render = createRenderer(anchors, {
        raise,
        resolve: (href) => resolveIn(source, href),
        diagram: (href) => readFile(pathOf(href)),
        picture: (href, alt) => pictureOf(pathOf(href), alt)?.toString(),
        sample(href) {
          const [, language = '', name = ''] = /^docs\/samples\/(\w+)\/([\w-]+)\.\w+$/i.exec(pathOf(href)) ?? [];
          return LANGUAGES[language] && { language, name, text: readFile(pathOf(href)) };
        },
      });
      const first = tokens[0] as Tokens.Heading;
      const groups = groupsOf(tokens, [2, 3]).map((group): [Token, string, string] => [
        group[0] as Token,
        anchors.get(group[0] as Token) ?? '',
        render(group),
      ]);
      const title = headingText(first);
      const more = raise === 0 && parts.length > 1 ? contents(parts.slice(1)) : '';
      made.push({
        path,
        title,
        audience,
        ...(made[0] && { parent: made[0] }),
        body: groups.map(([, , body]) => body).join('') + more,
        headings: tokens
          .slice(1)
          .filter((token): token is Tokens.Heading => isHeading(token, 2 + raise) || isHeading(token, 3 + raise))
          .map((token) => ({ id: anchors.get(token) ?? '', text: headingText(token), depth: token.depth - raise })),
        entries: entriesOf({ path, title: made[0] ? `${made[0].title}: ${title}` : title }, groups),
      });
    }
    return made;
  };

  const reference = AUDIENCES.find(({ name }) => name === 'reference') as Audience;
  const list: DocsPage[] = [];
  for (const page of referencePages(reference, JSON.parse(readFile('docs/openapi.json')))) {
    list.push(page);
    await pause();
  }
  for (const source of sources) {
    list.push(...pagesOf(source));
    await pause();
  }
  return {
    pages: new Map(list.map((page) => [page.path, page])),
    files,
    index: list.flatMap(({ entries }) => entries),
  };
}

/** Links to the pages of a long chapter. */
const contents = (parts: readonly Part[]): string =>
  String(
    html`<ul class="contents">${parts.map(
      ({ path, tokens }) => html`<li><a href="${path}">${headingText(tokens[0] as Tokens.Heading)}</a></li>`,
    )}</ul>`,
  );
