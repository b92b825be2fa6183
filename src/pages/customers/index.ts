/** The routes of payers' own pages: a one-time link by e-mail opens a short session in a cookie. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findAccount } from '../../core/accounts/accounts.ts';
import type { Account, Gateway } from '../../core/context.ts';
import {
  customerPath,
  endOwnSubscription,
  isCustomerLinkValid,
  redeemCustomerLink,
  removeOwnCard,
  requestCustomerLink,
  savedFor,
} from '../../core/customers/customers.ts';
import { isUuid } from '../../lib/crypto/id.ts';
import { boundTo } from '../../lib/crypto/seal.ts';
import { createWindowLimit } from '../../lib/flow/window-limit.ts';
import type { Form } from '../../lib/text/form.ts';
import { isObject } from '../../lib/text/json.ts';
import { isMailAddress } from '../../rules/contacts.ts';
import { CUSTOMER_LIMITS } from '../../rules/customers.ts';
import { compressPages } from '../compression.ts';
import { isCrossSite } from '../cross-site.ts';
import { isClientError, withFailure } from '../failure.ts';
import { readForm } from '../form-body.ts';
import { document, type Page, type PageContext, pageHeaders } from '../layout.ts';
import { localeFor } from '../locale.ts';
import { chosenLanguage } from '../pay/chosen-language.ts';
import { rateLimitPage } from '../pay/limits.ts';
import { crossSitePage, errorPage, unknownLinkPage } from '../pay/result-pages.ts';
import { readCookie } from '../read-cookie.ts';
import { type Done, openPage, requestPage, savedPage, sentPage, usedPage } from './page.ts';

interface CustomerRoute {
  Params: { mid: string; secret: string };
  Querystring: { done?: string };
}

type CustomerRequest = FastifyRequest<CustomerRoute>;

interface Opened {
  account: Account;
  context: PageContext;
  path: string;
  form: ReadonlyMap<string, string>;
}

const COOKIE = 'turnpike_customer';
const VALUE = /^[A-Za-z0-9_-]{1,1024}$/;
const NO_FORM: ReadonlyMap<string, string> = new Map();
const DONE: readonly string[] = ['removed', 'ended', 'inUse'] satisfies Done[];

export function customerPages(
  app: FastifyInstance,
  gateway: Gateway,
  addressOf: (request: FastifyRequest) => string,
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', readForm);
  app.addHook('onRequest', (request, reply, done) => {
    request.action = 'customer';
    request.isRead = request.method === 'GET';
    reply.headers(pageHeaders(gateway));
    done();
  });
  compressPages(app);
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (!isClientError(error)) gateway.log.error({ err: error, request_id: request.id }, 'page failed');
    const context = contextOf(request);
    show(withFailure(reply, error), context, errorPage(context.locale));
  });

  const contextOf = (request: Pick<FastifyRequest, 'headers' | 'query'>, account?: Account): PageContext => ({
    locale: localeFor(account?.settings.locale ?? '', request.headers['accept-language'], chosenLanguage(request)),
    account,
  });
  const show = (reply: FastifyReply, context: PageContext, page: Page): FastifyReply =>
    reply.headers(pageHeaders(gateway, context.account, page.additions)).send(document(gateway, context, page));

  /** The e-mail address of the session, if there is one. */
  const sessionOf = ({ headers }: CustomerRequest, { mid }: Account): string | undefined => {
    const value = readCookie(headers, COOKIE, VALUE);
    if (value === undefined) return undefined;
    try {
      const session: unknown = JSON.parse(
        gateway.seal.open(Buffer.from(value, 'base64url'), boundTo('cookie', COOKIE, mid)),
      );
      return isObject(session) && Number(session.until) > gateway.clock.now(mid) ? String(session.email) : undefined;
    } catch {
      // Sealed for another account, or with a master key that was retired.
      return undefined;
    }
  };
  const beginSession = (reply: FastifyReply, { mid }: Account, email: string): void => {
    const content = JSON.stringify({ email, until: gateway.clock.now(mid) + CUSTOMER_LIMITS.sessionMs });
    const value = gateway.seal.seal(content, boundTo('cookie', COOKIE, mid)).toString('base64url');
    const secure = gateway.publicUrl.startsWith('https:') ? ' Secure;' : '';
    const maxAge = CUSTOMER_LIMITS.sessionMs / 1000;
    const attributes = `Path=${customerPath(mid)}; HttpOnly;${secure} SameSite=Strict; Max-Age=${maxAge}`;
    reply.header('set-cookie', `${COOKIE}=${value}; ${attributes}`);
  };

  const isTooFast = createWindowLimit(CUSTOMER_LIMITS.requestsMost, CUSTOMER_LIMITS.requestWindowMs);

  /** Registers a page. A form that another site sends is refused before the handler. */
  const route = (
    method: 'GET' | 'POST',
    url: string,
    handle: (request: CustomerRequest, reply: FastifyReply, opened: Opened) => Promise<FastifyReply>,
  ): void => {
    app.route<CustomerRoute>({
      method,
      url: `/customer/:mid${url}`,
      async handler(request, reply) {
        const { mid } = request.params;
        // Without a mail server nobody gets a link.
        const isKnown = gateway.mailer !== undefined && isUuid(mid);
        const account = isKnown ? await findAccount(gateway, mid.toLowerCase()) : undefined;
        const context = contextOf(request, account);
        if (!account) return show(reply.code(404), context, unknownLinkPage(context.locale));
        const path = customerPath(account.mid);
        if (method === 'POST' && isCrossSite(request.headers, [new URL(gateway.publicUrl).origin, 'null'])) {
          return show(reply.code(403), context, crossSitePage(context.locale, path));
        }
        const form = (request.body as Form | undefined)?.values ?? NO_FORM;
        return handle(request, reply, { account, context, path, form });
      },
    });
  };

  route('GET', '', async (_request, reply, { account, context, path }) =>
    show(reply, context, requestPage(account, context.locale, path)),
  );

  route('POST', '', async (request, reply, { account, context, path, form }) => {
    const email = (form.get('email') ?? '').trim();
    if (!isMailAddress(email)) {
      return show(reply.code(422), context, requestPage(account, context.locale, path, email, true));
    }
    if (isTooFast(addressOf(request as FastifyRequest))) {
      reply.code(429).header('retry-after', CUSTOMER_LIMITS.requestWindowMs / 1000);
      return show(reply, context, rateLimitPage(context.locale, path));
    }
    await requestCustomerLink(gateway, account, email, context.locale.tag);
    return show(reply, context, sentPage(account, context.locale));
  });

  route('GET', '/link/:secret', async ({ params }, reply, { account, context, path }) =>
    (await isCustomerLinkValid(gateway, account, params.secret))
      ? show(reply, context, openPage(account, context.locale, `${path}/link/${params.secret}`))
      : show(reply.code(410), context, usedPage(context.locale, path)),
  );

  route('POST', '/link/:secret', async ({ params }, reply, { account, context, path }) => {
    const email = await redeemCustomerLink(gateway, account, params.secret);
    if (email === undefined) return show(reply.code(410), context, usedPage(context.locale, path));
    beginSession(reply, account, email);
    return reply.redirect(`${path}/saved`, 303);
  });

  route('GET', '/saved', async (request, reply, { account, context, path }) => {
    const email = sessionOf(request, account);
    if (email === undefined) return reply.redirect(path, 303);
    const { done = '' } = request.query;
    const saved = await savedFor(gateway, account, email);
    const told = DONE.includes(done) ? (done as Done) : undefined;
    return show(reply, context, savedPage(account, saved, context.locale, `${path}/saved`, told));
  });

  route('POST', '/saved', async (request, reply, { account, path, form }) => {
    const email = sessionOf(request, account);
    if (email === undefined) return reply.redirect(path, 303);
    const address = addressOf(request as FastifyRequest);
    const card = form.get('card');
    const subscription = form.get('subscription');
    const change = async (): Promise<Done | undefined> => {
      if (card !== undefined) {
        const outcome = await removeOwnCard(gateway, account, email, card, address);
        return outcome === 'busy' ? 'inUse' : outcome;
      }
      if (subscription === undefined) return undefined;
      const isEnded = await endOwnSubscription(gateway, account, email, subscription, address);
      return isEnded ? 'ended' : undefined;
    };
    const done = await change();
    return reply.redirect(`${path}/saved${done ? `?done=${done}` : ''}`, 303);
  });
}
