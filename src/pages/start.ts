/** The page at `/`: in the sandbox where to begin, in production the panel. */
import type { FastifyInstance } from 'fastify';
import { DEMO_LOGO, demoAccount, openDemoPayment } from '../core/accounts/demo.ts';
import { listenCommand, readableDemoCurl } from '../core/accounts/demo-commands.ts';
import type { Gateway } from '../core/context.ts';
import { isUuid } from '../lib/crypto/id.ts';
import { type Html, html } from '../lib/text/html.ts';
import { commonHeaders } from './layout.ts';
import { panelDocument, panelHeaders } from './panel/frame/layout.ts';
import { copyable, facts, notice } from './panel/frame/parts.ts';
import { en } from './panel/locales/en.ts';

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

/** A command to copy. */
const command = (text: string): Html =>
  html`<div class="command"><pre class="wrap"><code data-copy="${en.copy}" data-copied="${en.copied}">${text}</code></pre></div>`;

const link = (href: string, label: string, hint: string): Html =>
  html`<li><a href="${href}">${label}</a> <span class="soft">– ${hint}</span></li>`;

async function startPage(gateway: Gateway, paid: string | undefined): Promise<string> {
  const { publicUrl, simulatorUrl } = gateway;
  const demo = await demoAccount(gateway);
  const seePayment = paid && html` <a class="button" href="/admin/payments/${paid}">${text.seePayment}</a>`;
  const body = html`${notice(paid && text.paid)}
<div class="head"><div><h1>${text.title}</h1><p class="soft">${text.lead}</p></div></div>
<form method="post" action="/sandbox/test-payment" class="card"><h2>${text.tryTitle}</h2><p>${text.tryHint}</p>
<p class="pay-with">${copyable('4111 1111 1111 1111')} <span class="soft">${text.cardNumberHint}</span></p>
${facts(text.cardOutcomes.map(([expiry = '', outcome = '']) => [expiry, outcome]))}
<div class="actions"><button${paid && html` class="quiet"`}>${text.tryButton}</button>${seePayment} <a class="button quiet" href="/docs/three-ds#sandbox-cards">${text.moreCards}</a></div></form>
<section class="card"><h2>${text.curlTitle}</h2><p class="soft">${text.curlHint}</p>${command(readableDemoCurl(publicUrl, demo))}</section>
<section class="card"><h2>${text.keys}</h2><p class="soft">${text.keysHint}</p>${facts([
    ['mid', copyable(demo.mid)],
    ['client_key', copyable(demo.clientKey)],
    ['merchant_key', copyable(demo.merchantKey)],
    ['password', copyable(demo.passwords()[0] as string)],
    [text.callbackSecret, copyable(demo.callbackSecrets()[0] as string)],
  ])}</section>
<section class="card"><h2>${text.callbacksTitle}</h2><p class="soft">${text.callbacksHint}</p>${command(listenCommand(publicUrl))}</section>
<section class="card"><h2>${text.next}</h2><ul class="links">
${link('/docs/merchant/quick-start', text.quickStart, text.quickStartHint)}
${link('/docs/reference', text.reference, text.referenceHint)}
${link('/admin', text.panel, text.panelHint)}
${simulatorUrl && link(simulatorUrl, text.simulator, text.simulatorHint)}
${link('/docs', text.docs, text.docsHint)}
${link('/docs/operator/going-live', text.goingLive, text.goingLiveHint)}
</ul></section>`;
  return panelDocument(gateway, { title: text.title, body });
}
