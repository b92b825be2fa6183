/** The page for a person whose browser opened an address that does not exist, or that is for programs. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Gateway } from '../core/context.ts';
import { html } from '../lib/text/html.ts';
import { panelDocument, panelHeaders } from './panel/frame/layout.ts';
import { start as startText, unknownPage as text } from './panel/locales/en/start.ts';

/** Whether a browser asks for a page at an address that has none. */
export const isPageAsked = ({ is404, method, headers }: FastifyRequest): boolean =>
  is404 && method === 'GET' && /\btext\/html\b/.test(headers.accept ?? '');

export function sendUnknownPage(reply: FastifyReply, gateway: Gateway, hint: string): FastifyReply {
  const ways = [
    ...(gateway.environment === 'sandbox' ? [['/', text.start]] : []),
    ['/docs', startText.docs],
    ['/docs/reference', startText.reference],
    ['/admin', startText.panel],
  ];
  const body = html`<div class="head"><div><h1>${text.title}</h1><p class="soft">${hint}</p></div></div>
<section class="card"><h2>${text.ways}</h2><ul class="links">${ways.map(([href, label]) => html`<li><a href="${href}">${label}</a></li>`)}</ul></section>`;
  return reply.headers(panelHeaders(gateway)).send(panelDocument(gateway, { title: text.title, body }));
}
