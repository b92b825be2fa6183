/** The HTML document and the security headers of every simulator page, and its icons. */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import encodeQR from 'qr';
import { type Html, html } from '../src/lib/text/html.ts';
import type { PageType } from './brands.ts';
import { STYLE } from './style.ts';

export interface Page {
  title: string;
  body: Html;
  pageType?: PageType;
  refreshSeconds?: number;
  /** Payment pages show the page in a frame. */
  isFramed?: true;
  /** The only script that the content security policy of this page allows. */
  script?: Html;
  /** The script reads from the simulator. */
  isReading?: true;
}

const CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action *; base-uri 'none'";

const hashOf = (script: Html): string => createHash('sha256').update(String(script)).digest('base64');
const policyFor = ({ script, isReading, isFramed }: Page): string =>
  [
    CONTENT_SECURITY_POLICY,
    `frame-ancestors ${isFramed ? '*' : "'none'"}`,
    ...(script ? [`script-src 'sha256-${hashOf(script)}'`] : []),
    ...(isReading ? ["connect-src 'self'"] : []),
  ].join('; ');

export function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  const { title, body, pageType, refreshSeconds, script } = page;
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${refreshSeconds !== undefined && html`<meta http-equiv="refresh" content="${refreshSeconds}">`}
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body data-page-type="${pageType ?? ''}">
<header class="banner">Provider simulator. No real money.</header>
${body}
${script && html`<script>${script}</script>`}
</body>
</html>
`;
  return reply
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policyFor(page),
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
    .send(String(document));
}

export const messagePage = (title: string, lead: string): Page => ({
  title,
  body: html`<main class="card"><h1>${title}</h1><p class="lead">${lead}</p></main>`,
});

export const unknownPage = (): Page =>
  messagePage('Page not found', 'This page does not exist. Please go back to the shop and start again.');

/** Refuses forms that another site submits (CSRF). */
export async function refuseCrossSiteForms(
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  const site = request.headers['sec-fetch-site'];
  if (request.method === 'GET' || site === undefined || site === 'same-origin' || site === 'none') return undefined;
  return sendPage(reply.code(403), messagePage('Not accepted', 'This form was sent by another site.'));
}

const CARD =
  'M3 7.5A2.5 2.5 0 0 1 5.5 5h13A2.5 2.5 0 0 1 21 7.5v9a2.5 2.5 0 0 1-2.5 2.5h-13A2.5 2.5 0 0 1 3 16.5zM3 10h18M7 15h4';

const ICONS = {
  hosted: CARD,
  card: CARD,
  bank: 'M3 10l9-6 9 6M5 10v8M10 10v8M14 10v8M19 10v8M3 20h18',
  credit:
    'M4 7.5A1.5 1.5 0 0 1 5.5 6h13A1.5 1.5 0 0 1 20 7.5v11a1.5 1.5 0 0 1-1.5 1.5h-13A1.5 1.5 0 0 1 4 18.5zM4 11h16M8 3v4M16 3v4M8 15h3',
  crypto: 'M12 3l7.8 4.5v9L12 21l-7.8-4.5v-9zM12 8.5l3 3.5-3 3.5-3-3.5z',
  app: 'M8.5 3h7A1.5 1.5 0 0 1 17 4.5v15a1.5 1.5 0 0 1-1.5 1.5h-7A1.5 1.5 0 0 1 7 19.5v-15A1.5 1.5 0 0 1 8.5 3zM11 18h2',
  transfer: 'M4 8h15M15 4l4 4-4 4M20 16H5M9 12l-4 4 4 4',
  qr: 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h2v2h-2zM18 18h2v2h-2zM18 14h2M14 18v2',
  payout: 'M12 16V4M7 9l5-5 5 5M4 15v3a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2v-3',
  good: 'M5 12.5l4.5 4.5L19 7.5',
  bad: 'M6.5 6.5l11 11M17.5 6.5l-11 11',
  wait: 'M12 6.5V12l3.5 2M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z',
} as const;

export const icon = (name: keyof typeof ICONS, className = ''): Html =>
  html`<span class="icon ${className}"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="${ICONS[name]}"/></svg></span>`;

/** A QR code as SVG. */
export function qrSvg(text: string, label: string): Html {
  const cells = encodeQR(text, 'raw', { ecc: 'medium', border: 2 });
  const path = cells.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  return html`<svg viewBox="0 0 ${cells.length} ${cells.length}" role="img" aria-label="${label}" shape-rendering="crispEdges"><path d="${path}" fill="#000"/></svg>`;
}
