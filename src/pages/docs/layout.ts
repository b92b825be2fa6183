/** The HTML document and the headers of every page of the docs site. Nothing is loaded from another server. */
import { readFileSync } from 'node:fs';
import type { Gateway } from '../../core/context.ts';
import { Html, html } from '../../lib/text/html.ts';
import { strictHeaders } from '../headers.ts';
import { sourceHash } from '../source-hash.ts';
import { AUDIENCES } from './chapters.ts';
import type { Library } from './library.ts';
import type { DocsPage } from './page.ts';
import { findSections } from './search.ts';
import { DOCS_STYLE } from './style.ts';
import { SYNONYMS } from './synonyms.ts';
import { text } from './text.ts';

const SCRIPT = `const findSections=${findSections};\nconst SYNONYMS=${JSON.stringify(SYNONYMS)};\n${readFileSync(new URL('./script.js', import.meta.url), 'utf8')}`;
const SOURCES = { scripts: [sourceHash(SCRIPT)], style: sourceHash(DOCS_STYLE) };

export const docsHeaders = (gateway: Pick<Gateway, 'environment' | 'publicUrl'>): Record<string, string> =>
  strictHeaders(gateway, SOURCES);

/** The chapters; those of the current audience, and the parts of the current chapter, are visible. */
function chapters({ pages }: Library, current: DocsPage | undefined): Html {
  const link = (page: DocsPage): Html =>
    html`<a href="${page.path}"${page === current && html` aria-current="page"`}>${page.title}</a>`;
  const open = current?.parent ?? current;
  return html`<nav class="chapters" aria-label="${text.menu}">${AUDIENCES.map((audience) => {
    const own = [...pages.values()].filter((page) => page.audience === audience);
    const entries = own
      .filter(({ parent }) => !parent)
      .map((page) => {
        const parts = page === open ? own.filter(({ parent }) => parent === page) : [];
        return html`<li>${link(page)}${parts.length > 0 && html`<ul>${parts.map((part) => html`<li>${link(part)}</li>`)}</ul>`}</li>`;
      });
    const isOpen = current === undefined || current.audience === audience;
    return html`<details${isOpen && html` open`}><summary>${audience.title}</summary><ul>${entries}</ul></details>`;
  })}<ul class="phone"><li><a href="/admin">${text.panel}</a></li></ul></nav>`;
}

function contentsOf({ headings }: DocsPage): Html | false {
  return (
    headings.length > 1 &&
    html`<aside class="toc" aria-label="${text.onThisPage}"><div><h2>${text.onThisPage}</h2><ul>${headings.map(
      ({ id, text: heading, depth }) =>
        html`<li${depth > 2 && html` class="deep"`}><a href="#${id}">${heading}</a></li>`,
    )}</ul></div></aside>`
  );
}

/** Links to the neighbours of a page within its audience. */
function neighbours({ pages }: Library, page: DocsPage): Html {
  const own = [...pages.values()].filter(({ audience }) => audience === page.audience);
  const at = own.indexOf(page);
  const link = (to: DocsPage | undefined, label: string, css: string): Html | undefined =>
    to && html`<a class="${css}" href="${to.path}" rel="${css}"><span>${label}</span>${to.title}</a>`;
  return html`<nav class="turn around" aria-label="${text.pages}">${link(own[at - 1], text.previous, 'prev')}${link(own[at + 1], text.next, 'next')}</nav>`;
}

export const searchForm = (query: string): Html =>
  html`<form class="search-page" action="/docs/search" role="search"><input type="search" name="q" value="${query}" aria-label="${text.search}"><button>${text.searchTitle}</button></form>`;

export interface DocsDocument {
  title: string;
  body: Html;
  /** The page of the library, if it is one. */
  page?: DocsPage | undefined;
  /** Whose keys the code of the page has. */
  account?: string | undefined;
}

export function docsDocument(
  gateway: Pick<Gateway, 'environment'>,
  library: Library,
  { title, body, page, account }: DocsDocument,
): string {
  const keys = page && account !== undefined && /\uE000(client|merchant)_key/.test(page.body);
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Turnpike docs</title>
<link rel="icon" href="data:,">
<style>${new Html(DOCS_STYLE)}</style>
</head>
<body class="docs" data-copy="${text.copy}" data-copied="${text.copied}" data-none="${text.noResults}">
<a class="skip" href="#main">${text.skip}</a>
<input type="checkbox" id="menu" class="hush" aria-label="${text.menu}">
<header class="bar">
<label class="menu" for="menu">${text.menu}</label>
<a class="brand" href="/docs">Turnpike ${text.docs}</a>
${gateway.environment === 'sandbox' && html`<span class="badge sandbox">Sandbox</span>`}
<form class="find" action="/docs/search" role="search"><input type="search" name="q" aria-label="${text.search}" placeholder="${text.search}" autocomplete="off"><ul class="found" aria-label="${text.results}" aria-live="polite" hidden></ul></form>
<a class="link" href="/docs/reference">API</a><a class="link" href="/admin">${text.panel}</a>
</header>
${chapters(library, page)}
<main id="main" tabindex="-1">
<article class="prose${!page && ' home-page'}">
${page && html`<p class="crumb">${page.audience.title}${page.parent && html` / <a href="${page.parent.path}">${page.parent.title}</a>`}</p>`}
${keys && html`<p class="notice small">${text.withKeys.replace('{account}', account)}</p>`}
${body}
</article>
${page && contentsOf(page)}
${page && neighbours(library, page)}
</main>
<script>${new Html(SCRIPT)}</script>
</body>
</html>
`);
}
