/** Renders Markdown to HTML: anchors of headings, links between pages, samples as tabs, diagrams. */
import { Marked, type Token, type Tokens } from 'marked';
import { html } from '../../lib/text/html.ts';
import { codeBlock, type Sample, sampleTabs } from './code.ts';

/** The anchor of a heading, as other sites that show Markdown compute it. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\d\s_-]/gu, '')
    .replaceAll(' ', '-');

/** What the renderer needs to know of the other files. */
export interface Surroundings {
  /** The address of a link of this file. */
  resolve(href: string): { address: string; isExternal: boolean };
  /** The sample that a link leads to; undefined for any other link. */
  sample(href: string): Sample | undefined;
  /** The SVG image that a link leads to. */
  diagram(href: string): string;
  /** The screenshot that a link leads to; undefined for any other image. */
  picture(href: string, alt: string): string | undefined;
  /** The level of headings is reduced by this number. */
  raise: number;
}

export const headingText = ({ text }: Tokens.Heading): string =>
  text.replaceAll('`', '').replace(/\[(.*?)\]\(.*?\)/g, '$1');

/** The anchors of the headings of a file; a repeated heading gets a number. */
export function anchorsOf(tokens: readonly Token[]): Map<Token, string> {
  const times = new Map<string, number>();
  return new Map(
    tokens
      .filter((token): token is Tokens.Heading => token.type === 'heading')
      .map((token) => {
        const anchor = anchorOf(token.text);
        const count = times.get(anchor) ?? 0;
        times.set(anchor, count + 1);
        return [token, count === 0 ? anchor : `${anchor}-${count}`];
      }),
  );
}

const lexer = new Marked();
export const tokensOf = (markdown: string): Token[] => lexer.lexer(markdown);

/** The samples of a paragraph that consists of links to samples; undefined for any other paragraph. */
function samplesOf(tokens: readonly Token[], sample: Surroundings['sample']): Sample[] | undefined {
  const parts = tokens.filter((token) => !(token.type === 'text' && /^[\s,·]*$/.test(token.raw)));
  const samples = parts.map((token) => (token.type === 'link' ? sample((token as Tokens.Link).href) : undefined));
  return samples.length > 0 && samples.every((one) => one !== undefined) ? samples : undefined;
}

/** A function that renders tokens of one file. */
export function createRenderer(
  anchors: ReadonlyMap<Token, string>,
  { resolve, sample, diagram, picture, raise }: Surroundings,
): (tokens: readonly Token[]) => string {
  let groups = 0;
  const marked = new Marked({
    renderer: {
      heading(token) {
        const [depth, id] = [Math.max(1, token.depth - raise), anchors.get(token) ?? ''];
        const text = this.parser.parseInline(token.tokens);
        if (depth === 1) return `<h1 id="${id}">${text}</h1>\n`;
        const label = html`<a class="anchor" href="#${id}" aria-label="Link to ${headingText(token)}">#</a>`;
        return `<h${depth} id="${id}">${text} ${label}</h${depth}>\n`;
      },
      code: ({ text, lang }) => `${codeBlock(text, lang?.split(' ')[0])}\n`,
      // The only HTML in the files is the note of generated pages.
      html: () => '',
      link({ href, tokens }) {
        const { address, isExternal } = resolve(href);
        return `<a href="${html`${address}`}"${isExternal ? ' rel="noopener noreferrer"' : ''}>${this.parser.parseInline(tokens)}</a>`;
      },
      image: ({ href, text }) =>
        picture(href, text) ??
        `<div class="scroll" role="region" tabindex="0" aria-label="Diagram">${diagram(href)}</div>`,
      paragraph({ tokens }) {
        const samples = samplesOf(tokens, sample);
        if (samples) return `${sampleTabs(`samples-${++groups}`, samples)}\n`;
        const text = this.parser.parseInline(tokens);
        return tokens.length === 1 && tokens[0]?.type === 'image' ? `${text}\n` : `<p>${text}</p>\n`;
      },
      table(token) {
        const cells = (row: readonly Tokens.TableCell[], tag: string): string =>
          row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag.split(' ')[0]}>`).join('');
        const head = cells(token.header, 'th scope="col"');
        const body = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
        return `<div class="scroll" role="region" tabindex="0" aria-label="Table"><table${token.header.length === 3 ? ' class="fields"' : ''}><thead><tr>${head}</tr></thead><tbody>\n${body}</tbody></table></div>\n`;
      },
    },
  });
  return (tokens) => marked.parser([...tokens]);
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

/** The words of rendered HTML without code, for the search. */
export const wordsOf = (page: string): string =>
  page
    .replace(/<pre.*?<\/pre>|<fieldset.*?<\/fieldset>|<svg.*?<\/svg>|<h[1-6].*?<\/h[1-6]>/gs, ' ')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&(amp|lt|gt|quot|#39);/g, (_entity, name: string) => ENTITIES[name] as string)
    .replace(/\s+/g, ' ')
    .trim();
