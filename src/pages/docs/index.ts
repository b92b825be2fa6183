/** The routes of the docs site: pages, search, linked files, the Postman collection. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { attachmentHeaders } from '../../lib/files/file-type.ts';
import { Html, html } from '../../lib/text/html.ts';
import { commonHeaders } from '../layout.ts';
import { sessionCookie } from '../panel/frame/cookie.ts';
import { sendJson } from '../panel/frame/layout.ts';
import { AUDIENCES } from './chapters.ts';
import { codeBlock, type ReaderValues, withValues } from './code.ts';
import { imageOf, picture, SCREENS } from './images.ts';
import { type DocsDocument, docsDocument, docsHeaders, searchForm } from './layout.ts';
import { type Library, openLibrary, readFile, requestsAddress } from './library.ts';
import { accountOfReader } from './reader.ts';
import { withoutConsole } from './reference.ts';
import { findSections } from './search.ts';
import { SYNONYMS } from './synonyms.ts';
import { text } from './text.ts';

const MOST_RESULTS = 30;
const QUERY_LENGTH = 200;

/** What readers come for, by audience, and the pages that they open first. */
const FIRST: Readonly<Record<string, readonly string[]>> = {
  merchants: [
    'merchant/quick-start',
    'merchant/samples',
    'merchant/checkout',
    'merchant/callbacks',
    'merchant/going-live',
  ],
  operators: ['operator/install', 'operator/providers', 'operator/panel', 'operator/monitoring', 'operator/going-live'],
  reference: ['reference', 'brands', 'errors', 'states', 'settings', 'command-line'],
};

let library: Promise<Library> | undefined;

/** The site, which is built once per process: on the first request, so that it does not delay the start. */
export function docsLibrary(): Promise<Library> {
  library ??= openLibrary();
  return library;
}

function homeBody({ pages }: Library): Html {
  const link = (path: string): Html =>
    html`<li><a href="/docs/${path}">${pages.get(`/docs/${path}`)?.title ?? path}</a></li>`;
  return html`<h1>${text.homeTitle}</h1><p class="soft">${text.homeLead}</p>
<p class="first"><a class="button" href="/docs/merchant/quick-start">${text.quickStart}</a> <a class="button quiet" href="/docs/reference">${text.reference}</a></p>
<div class="home">${AUDIENCES.map(
    ({ name, title, about }) =>
      html`<section class="card"><h2>${title}</h2><p class="soft small">${about}</p><ul>${(FIRST[name] ?? []).map(link)}</ul></section>`,
  )}</div>
<figure>${picture(SCREENS.page)}<figcaption>${text.pagePicture}</figcaption></figure>
<figure>${picture(SCREENS.panel)}<figcaption>${text.panelPicture}</figcaption></figure>`;
}

function resultsBody({ index }: Library, query: string): Html {
  const results = findSections(index, query, MOST_RESULTS, SYNONYMS);
  const list = results.map(
    ({ path, title, heading, excerpt }) =>
      html`<li><a href="${path}"><b>${heading}</b> <span>${title !== heading && `${title} · `}${excerpt}</span></a></li>`,
  );
  const nothing = query.trim() === '' ? text.searchHint : text.noResults;
  return html`<h1>${text.searchTitle}</h1>${searchForm(query)}${
    results.length > 0 ? html`<ul class="results">${list}</ul>` : html`<p class="soft">${nothing}</p>`
  }`;
}

export function docsRoutes(app: FastifyInstance, gateway: Gateway): void {
  const show = async (
    reply: FastifyReply,
    content: DocsDocument,
    values: Partial<ReaderValues> = {},
  ): Promise<FastifyReply> => {
    const document = docsDocument(gateway, await docsLibrary(), content);
    return reply.headers(docsHeaders(gateway)).send(withValues(document, { url: gateway.publicUrl, ...values }));
  };

  const refuse = (reply: FastifyReply): Promise<FastifyReply> => {
    const body = html`<h1>${text.notFound}</h1><p>${text.notFoundHint}</p>${searchForm('')}`;
    return show(reply.code(404), { title: text.notFound, body });
  };

  app.addHook('onRequest', async (request) => {
    request.action = 'docs';
    request.isRead = true;
  });
  app.get('/docs', async (_request, reply) =>
    show(reply, { title: text.homeTitle, body: homeBody(await docsLibrary()) }),
  );
  app.get<{ Params: { name: string } }>('/docs/images/:name', async ({ params }, reply) => {
    const bytes = imageOf(params.name);
    if (!bytes) return refuse(reply);
    const headers = {
      ...commonHeaders(gateway),
      'content-type': 'image/webp',
      'cache-control': 'public, max-age=3600',
    };
    return reply.headers(headers).send(bytes);
  });
  app.get('/docs/search', async (request, reply) => {
    const { q } = request.query as { q?: unknown };
    const query = typeof q === 'string' ? q.slice(0, QUERY_LENGTH) : '';
    return show(reply, { title: text.searchTitle, body: resultsBody(await docsLibrary(), query) });
  });
  app.get('/docs/search.json', async (_request, reply) => sendJson(reply, gateway, (await docsLibrary()).index));
  app.get('/docs/postman.json', async (_request, reply) =>
    reply
      .headers({ ...commonHeaders(gateway), ...attachmentHeaders('turnpike.postman.json', 'application/json') })
      .send(readFile('docs/postman.json').replace('http://127.0.0.1:8080', gateway.publicUrl)),
  );
  // The addresses of earlier versions, which error responses linked to.
  app.get('/docs/requests', async (_request, reply) => reply.redirect(requestsAddress(), 301));
  app.get<{ Params: { action: string } }>('/docs/requests/:action', async ({ params }, reply) =>
    reply.redirect(requestsAddress(params.action), 301),
  );
  app.get('/docs/files/*', async (request, reply) => {
    const file = (await docsLibrary()).files.get(pathOf(request));
    if (file === undefined) return refuse(reply);
    return show(reply, { title: file, body: html`<h1>${file}</h1>${codeBlock(readFile(file), syntaxOf(file))}` });
  });
  app.get('/docs/*', async (request, reply) => {
    const page = (await docsLibrary()).pages.get(pathOf(request));
    if (!page) return refuse(reply);
    const account = await accountOfReader(gateway, sessionCookie(request));
    const keys = { client_key: account?.clientKey, merchant_key: account?.merchantKey };
    const shown = gateway.environment === 'sandbox' ? page.body : withoutConsole(page.body);
    return show(reply, { title: page.title, body: new Html(shown), page, account: account?.name }, keys);
  });
}

const pathOf = (request: FastifyRequest): string =>
  (request.url.split('?')[0] as string).replace(/\/{2,}/g, '/').replace(/\/$/, '');

/** The language of a file, for its colours. */
const syntaxOf = (file: string): string => {
  const extension = file.split('.').at(-1) as string;
  return { py: 'python' }[extension] ?? extension;
};
