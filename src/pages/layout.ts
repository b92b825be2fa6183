/** The frame of every page for payers: one document, one style, one script, nothing from anybody else. */
import { hash } from 'node:crypto';
import { displayName } from '../core/accounts.ts';
import type { Account, Gateway } from '../core/context.ts';
import { isWebAddress } from '../core/payments/return.ts';
import { Html, html } from '../lib/html.ts';
import type { Locale } from './locale.ts';
import { SCRIPT, SCRIPT_HASH } from './script.ts';
import { accentStyle, STYLE } from './style.ts';

const sourceHash = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`;
const STYLE_HASH = sourceHash(STYLE);

export interface Page {
  title: string;
  body: Html;
  /** Where the script asks whether the payment has moved on, and what it was when the page was made. */
  live?: { url: string; version: string; isWaiting: boolean };
  /** Without scripts the page looks again by itself after so many seconds. */
  refreshSeconds?: number | undefined;
}

/** What a page is shown with: how it speaks, and whose it is, where that is known. */
export interface Frame {
  locale: Locale;
  account?: Account | undefined;
}

type Tools = Pick<Gateway, 'environment' | 'publicUrl'>;

/** What every answer says to the browser, whether it is a page or leads to one. */
export const commonHeaders = ({ publicUrl }: Tools): Record<string, string> => ({
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'permissions-policy':
    'payment=(self), accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), ' +
    'microphone=(), midi=(), usb=()',
  ...(publicUrl.startsWith('https:') && { 'strict-transport-security': 'max-age=31536000' }),
});

/** Forms may lead on to providers, banks and shops, whose names nobody knows here. */
export function pageHeaders(gateway: Tools, account?: Account): Record<string, string> {
  const framers = account?.settings.frame_ancestors.filter((origin) => isWebAddress(gateway, origin)) ?? [];
  const logo = logoOf(gateway, account);
  const accent = account?.settings['branding.colour'];
  return {
    ...commonHeaders(gateway),
    'content-type': 'text/html; charset=utf-8',
    ...(framers.length === 0 && { 'x-frame-options': 'DENY' }),
    'content-security-policy': [
      "default-src 'none'",
      `script-src ${SCRIPT_HASH}`,
      `style-src ${[STYLE_HASH, ...(accent ? [sourceHash(accentStyle(accent))] : [])].join(' ')}`,
      "connect-src 'self'",
      ...(logo ? [`img-src ${sourceOf(logo)}`] : []),
      `form-action 'self' https:${gateway.environment === 'sandbox' ? ' http:' : ''}`,
      "base-uri 'none'",
      `frame-ancestors ${framers.length === 0 ? "'none'" : framers.join(' ')}`,
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].join('; '),
  };
}

const logoOf = (gateway: Tools, account: Account | undefined): URL | undefined => {
  const address = account?.settings['branding.logo'] ?? '';
  return isWebAddress(gateway, address) ? new URL(address) : undefined;
};

/** One picture alone; the signs that part the rules of a policy are written in another way. */
const sourceOf = ({ origin, pathname }: URL): string =>
  origin + pathname.replace(/[;,]/g, (sign) => (sign === ';' ? '%3B' : '%2C'));

export function document(gateway: Tools, { locale, account }: Frame, page: Page): string {
  const { title, body, live, refreshSeconds } = page;
  const merchant = account && displayName(account);
  const logo = logoOf(gateway, account);
  const accent = account?.settings['branding.colour'];
  return String(html`<!doctype html>
<html lang="${locale.tag}" dir="${locale.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${refreshSeconds && html`<noscript><meta http-equiv="refresh" content="${refreshSeconds}"></noscript>`}
<title>${title}${merchant && ` · ${merchant}`}</title>
<style>${new Html(STYLE)}</style>
${accent && html`<style>${new Html(accentStyle(accent))}</style>`}
</head>
<body${live && html` data-status="${live.url}" data-version="${live.version}"${live.isWaiting && html` data-waits`}`}>
${
  merchant &&
  html`<header class="top">${logo && html`<img class="logo" src="${logo.href}" alt="${merchant}">`}<span${logo && html` aria-hidden="true"`}>${merchant}</span></header>`
}
<main>
${body}
</main>
<p class="hush" aria-live="polite" id="said"></p>
<script>${new Html(SCRIPT)}</script>
</body>
</html>
`);
}
