/** The page at `/`: in the sandbox where to begin, in production the panel. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../core/context.ts';
import { DEMO_LOGO, demoAccount, openDemoPayment } from '../core/demo.ts';
import { html } from '../lib/html.ts';
import { isUuid } from '../lib/id.ts';
import { commonHeaders } from './layout.ts';
import { panelDocument, panelHeaders } from './panel/layout.ts';
import { en } from './panel/locales/en.ts';
import { facts, notice } from './panel/parts.ts';

const text = en.start;

/** The logo of the demo shop: a tea leaf and the name. */
const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" width="190" height="40" viewBox="0 0 190 40"><style>text{font:600 16px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}@media(prefers-color-scheme:dark){text{fill:#fff}}</style><rect width="40" height="40" rx="9" fill="#1a7f5a"/><path d="M10 30C9 17 17 9 31 9c1 14-7 21-17 18.5M10 30c3-7 7-11.5 13-14" fill="none" stroke="#fff" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"/><text x="50" y="26">Green Leaf Tea</text></svg>';

export function startRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.get<{ Querystring: Record<string, unknown> }>('/', async (request, reply) => {
    request.action = 'start';
    reply.headers(panelHeaders(gateway));
    if (gateway.environment === 'production') return reply.redirect('/admin', 303);
    const { paid } = request.query;
    return startPage(gateway, typeof paid === 'string' && isUuid(paid) ? paid : undefined);
  });
  if (gateway.environment === 'production') return;
  app.get(DEMO_LOGO, (request, reply) => {
    request.action = 'start';
    return reply.headers({ ...commonHeaders(gateway), 'content-type': 'image/svg+xml' }).send(LOGO);
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _bytes, done) => done(null));
  app.post('/sandbox/test-payment', async (request, reply) => {
    request.action = 'start';
    return reply.headers(panelHeaders(gateway)).redirect(await openDemoPayment(gateway), 303);
  });
}

async function startPage(gateway: Gateway, paid: string | undefined): Promise<string> {
  const { mid, clientKey, merchantKey, passwords } = await demoAccount(gateway);
  const mono = (value: string) => html`<span class="mono">${value}</span>`;
  const body = html`${notice(paid && text.paid)}
<div class="head"><div><h1>${text.title}</h1><p class="soft">${text.lead}</p></div></div>
<form method="post" action="/sandbox/test-payment" class="card"><h2>${text.tryTitle}</h2><p class="soft">${text.tryHint}</p><div class="actions"><button>${text.tryButton}</button>${
    paid && html` <a class="button quiet" href="/admin/payments/${paid}">${text.seePayment}</a>`
  }</div></form>
<section class="card"><h2>${text.goOn}</h2><ul class="links"><li><a href="/docs">${text.docs}</a> – ${text.docsHint}</li><li><a href="/admin">${text.panel}</a> – ${text.panelHint}</li><li><a href="/openapi.json">${text.api}</a> – ${text.apiHint}</li></ul></section>
<section class="card"><h2>${text.keys}</h2><p class="soft small">${text.keysHint}</p>${facts([
    ['mid', mono(mid)],
    ['client_key', mono(clientKey)],
    ['merchant_key', mono(merchantKey)],
    ['password', mono(passwords()[0] as string)],
  ])}</section>`;
  return panelDocument(gateway, { title: text.title, body });
}
