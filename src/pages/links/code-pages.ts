/** What the pages of links and invoices share: finding what an address names, its headers, and beginning a payment. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findAccount } from '../../core/accounts/accounts.ts';
import type { Account, Gateway, PaymentWithDetails } from '../../core/context.ts';
import { payable } from '../../core/links/claims.ts';
import { linkOf } from '../../core/payments/links.ts';
import { createWindowLimit } from '../../lib/flow/window-limit.ts';
import type { Form } from '../../lib/text/form.ts';
import { LIMITS } from '../../rules/limits.ts';
import { acceptedEncoding, compressPages } from '../compression.ts';
import { isCrossSite } from '../cross-site.ts';
import { isClientError, withFailure } from '../failure.ts';
import { readForm } from '../form-body.ts';
import { document, type Page, type PageContext, pageHeaders } from '../layout.ts';
import { localeFor } from '../locale.ts';
import { chosenLanguage } from '../pay/chosen-language.ts';
import { rateLimitPage } from '../pay/limits.ts';
import { crossSitePage, errorPage, unknownLinkPage } from '../pay/result-pages.ts';
import { createKeptPages } from './kept-pages.ts';

interface CodeRoute {
  Params: { code: string };
}

/** What an address names. */
interface Named {
  mid: string;
  code: string;
  /** The language of its pages; empty for that of the account. */
  locale?: string;
}

export interface Opened<Found> {
  found: Found;
  account: Account;
  context: PageContext;
  path: string;
  form: ReadonlyMap<string, string>;
}

/** A page with its status. */
interface ShownPage {
  status: number;
  page: Page;
}

export interface CodePages<Found> {
  show(reply: FastifyReply, context: PageContext, page: Page): FastifyReply;
  /** Shows a page that depends on the address, the account and the language only. */
  showKept(reply: FastifyReply, opened: Opened<Found>, page: () => Page): Promise<FastifyReply>;
  /** The page of the address, or of an address below it. */
  get(handle: (reply: FastifyReply, opened: Opened<Found>) => Promise<FastifyReply>, below?: string): void;
  /** Begins a payment when the form of the page is submitted. The handler may return a page to show instead. */
  begin(handle: (opened: Opened<Found>) => Promise<PaymentWithDetails | ShownPage>): void;
}

const NO_FORM: ReadonlyMap<string, string> = new Map();

export function codePages<Found extends Named>(
  app: FastifyInstance,
  gateway: Gateway,
  {
    addressOf,
    prefix,
    action,
    find,
  }: {
    addressOf: (request: FastifyRequest) => string;
    prefix: string;
    action: string;
    find: (code: string) => Promise<Found | undefined>;
  },
): CodePages<Found> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', readForm);
  const headers = pageHeaders(gateway);
  app.addHook('onRequest', (request, reply, done) => {
    request.action = action;
    request.isRead = request.method === 'GET';
    reply.headers(headers);
    done();
  });
  compressPages(app);
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (!isClientError(error)) gateway.log.error({ err: error, request_id: request.id }, 'page failed');
    const context = contextOf(request);
    show(withFailure(reply, error), context, errorPage(context.locale));
  });

  const contextOf = (
    request: Pick<FastifyRequest, 'headers' | 'query'>,
    account?: Account,
    language = '',
  ): PageContext => ({
    locale: localeFor(
      language || (account?.settings.locale ?? ''),
      request.headers['accept-language'],
      chosenLanguage(request),
    ),
    account,
  });
  const show: CodePages<Found>['show'] = (reply, context, page) =>
    reply
      .removeHeader('x-frame-options')
      .headers(pageHeaders(gateway, context.account, page.additions))
      .send(document(gateway, context, page));
  const kept = createKeptPages(LIMITS.linkPagesKept);
  const showKept: CodePages<Found>['showKept'] = async (reply, { found, account, context }, page) => {
    const written = kept.get(`${found.code} ${context.locale.tag}`, account, () => {
      const shown = page();
      return {
        headers: pageHeaders(gateway, account, shown.additions),
        text: document(gateway, context, shown),
      };
    });
    reply.removeHeader('x-frame-options').headers(written.headers);
    const encoding = acceptedEncoding(reply.request.headers['accept-encoding']);
    if (encoding === undefined) return reply.send(written.text);
    reply.headers({ vary: 'accept-encoding', 'content-encoding': encoding });
    return reply.send(await kept.compress(written, encoding));
  };

  /** What the address names, with its account; otherwise the response has been sent. */
  const open = async (request: FastifyRequest<CodeRoute>, reply: FastifyReply): Promise<Opened<Found> | undefined> => {
    const found = await find(request.params.code);
    const account = found && (await findAccount(gateway, found.mid));
    if (found && account) {
      const form = (request.body as Form | undefined)?.values ?? NO_FORM;
      const context = contextOf(request, account, found.locale);
      return { found, account, context, path: `${prefix}/${found.code}`, form };
    }
    const context = contextOf(request);
    show(reply.code(404), context, unknownLinkPage(context.locale));
    return undefined;
  };

  const isTooFast = createWindowLimit(LIMITS.beginningsMost, LIMITS.beginningWindowMs);

  return {
    show,
    showKept,
    get(handle, below = '') {
      app.get<CodeRoute>(`${prefix}/:code${below}`, async (request, reply) => {
        const opened = await open(request, reply);
        return opened ? handle(reply, opened) : reply;
      });
    },
    begin(handle) {
      app.post<CodeRoute>(`${prefix}/:code`, async (request, reply) => {
        const opened = await open(request, reply);
        if (!opened) return reply;
        const { context, path } = opened;
        if (isCrossSite(request.headers, [new URL(gateway.publicUrl).origin, 'null'])) {
          return show(reply.code(403), context, crossSitePage(context.locale, path));
        }
        if (isTooFast(addressOf(request))) {
          reply.code(429).header('retry-after', LIMITS.beginningWindowMs / 1000);
          return show(reply, context, rateLimitPage(context.locale, path));
        }
        const begun = await payable(() => handle(opened));
        // What is paid was taken or closed meanwhile: the page says so.
        if (!begun) return reply.redirect(path, 303);
        if ('page' in begun) return show(reply.code(begun.status), context, begun.page);
        const language = context.locale.tag.split('-', 1)[0];
        return reply.redirect(`/pay/${linkOf(gateway, begun.paymentId)}?lang=${language}`, 303);
      });
    },
  };
}
