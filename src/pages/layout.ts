/** The HTML document and the headers of every payment page. Only the logo is loaded from another server. */
import { displayName } from '../core/accounts/accounts.ts';
import type { Account, Gateway } from '../core/context.ts';
import { isWebAddress } from '../core/payments/return.ts';
import { Html, html } from '../lib/text/html.ts';
import { FRAME_SCRIPT } from './embed/scripts.ts';
import { type FooterContext, footer, header, iconUrl } from './frame.ts';
import { SCRIPT, SCRIPT_HASH } from './script.ts';
import { sourceHash } from './source-hash.ts';
import { accentStyle, STYLE } from './style.ts';

const STYLE_HASH = sourceHash(STYLE);
const FRAME_SCRIPT_HASH = sourceHash(FRAME_SCRIPT);

/** The results of payments, for the scripts of shops. */
export type ToldResult = 'paid' | 'declined' | 'cancelled';

export interface Page {
  title: string;
  body: Html;
  /** The address that the script polls for changes, and the version of the payment that the page shows. */
  live?: { url: string; version: string; isWaiting: boolean };
  additions?: PageAdditions | undefined;
  /** What a shop that shows the page in a frame is told: the result, and the address that the payer returns to. */
  told?: { result: ToldResult; back?: string | undefined } | undefined;
  /** Without JavaScript the page reloads itself after this many seconds. */
  refreshSeconds?: number | undefined;
}

/** What a page contains besides the common script and style; the policy allows exactly this. */
export interface PageAdditions {
  /** Inline scripts, in this order. */
  scripts: readonly string[];
  styles: readonly string[];
  /** The origin of the bank whose challenge a frame of the page shows. */
  bank?: string | undefined;
  /** The page is shown in no frame, also not of the shop. */
  isNeverFramed?: true;
  /** The page is shown in that frame, after the challenge. */
  isInBankFrame?: true;
  /** A vendor's script, and the hosts that it uses; its styles have the nonce. */
  vendor?: { script: string; frames: string; connections: string; images: string; nonce: string } | undefined;
}

const NO_ADDITIONS: PageAdditions = { scripts: [], styles: [] };

/** The locale of a page, and its account if it is known. */
export interface PageContext extends FooterContext {}

export type GatewayInfo = Pick<Gateway, 'environment' | 'publicUrl'>;

/** The headers of every response to a payer's browser, including redirects. */
export const commonHeaders = ({ publicUrl }: GatewayInfo): Record<string, string> => ({
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'permissions-policy':
    'payment=(self), accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), ' +
    'microphone=(), midi=(), usb=()',
  ...(publicUrl.startsWith('https:') && { 'strict-transport-security': 'max-age=31536000' }),
});

/** The origins that may show the pages of an account in a frame. */
const embeddersOf = (gateway: GatewayInfo, account: Account | undefined): string[] =>
  account?.settings.frame_ancestors.filter((origin) => isWebAddress(gateway, origin)) ?? [];

/** `form-action` allows any https address, because forms are sent to providers and banks that are not known in advance. */
export function pageHeaders(
  gateway: GatewayInfo & Pick<Gateway, 'marks'>,
  account?: Account,
  { scripts, styles, vendor, bank, isInBankFrame, isNeverFramed }: PageAdditions = NO_ADDITIONS,
): Record<string, string> {
  const embedders = isNeverFramed ? [] : embeddersOf(gateway, account);
  const allowedFrames = isInBankFrame ? ["'self'", ...embedders] : embedders;
  const logo = logoOf(gateway, account);
  const accent = account?.settings['branding.colour'];
  const styleHashes = [...(accent ? [accentStyle(accent)] : []), ...styles].map(sourceHash);
  return {
    ...commonHeaders(gateway),
    'content-type': 'text/html; charset=utf-8',
    ...(allowedFrames.length === 0 && { 'x-frame-options': 'DENY' }),
    'content-security-policy': [
      "default-src 'none'",
      `script-src ${[SCRIPT_HASH, ...(embedders.length > 0 ? [FRAME_SCRIPT_HASH] : []), ...scripts.map(sourceHash), ...(vendor ? [vendor.script] : [])].join(' ')}`,
      `style-src ${[STYLE_HASH, ...styleHashes, ...(vendor ? [`'nonce-${vendor.nonce}'`] : [])].join(' ')}`,
      `connect-src 'self'${vendor ? ` ${vendor.connections}` : ''}`,
      ...(vendor ? [`frame-src ${vendor.frames}`] : []),
      // After the challenge the frame shows a page of ours.
      ...(bank ? [`frame-src 'self' ${bank}`] : []),
      // The icon is a data URL; the marks of the operator are ours; a vendor's button has a picture.
      `img-src ${[
        ...(gateway.marks.size > 0 ? ["'self'"] : []),
        'data:',
        ...(logo ? [cspSource(logo)] : []),
        ...(vendor ? [vendor.images] : []),
      ].join(' ')}`,
      `form-action 'self' https:${gateway.environment === 'sandbox' ? ' http:' : ''}${(account?.settings.return_schemes ?? []).map((scheme) => ` ${scheme}:`).join('')}`,
      "base-uri 'none'",
      `frame-ancestors ${allowedFrames.length === 0 ? "'none'" : allowedFrames.join(' ')}`,
      // A vendor's script may use strings as HTML.
      ...(vendor ? [] : ["require-trusted-types-for 'script'", "trusted-types 'none'"]),
    ].join('; '),
  };
}

const logoOf = (gateway: GatewayInfo, account: Account | undefined): URL | undefined => {
  const address = account?.settings['branding.logo'] ?? '';
  return isWebAddress(gateway, address) ? new URL(address) : undefined;
};

/** A CSP source for one image; the separators of the policy are percent-encoded. */
const cspSource = ({ origin, pathname }: URL): string =>
  origin + pathname.replace(/[;,]/g, (character) => (character === ';' ? '%3B' : '%2C'));

export function document(gateway: GatewayInfo, context: PageContext, page: Page): string {
  const { locale, account, isPreview } = context;
  const {
    title,
    body,
    live,
    told,
    refreshSeconds,
    additions: { scripts, styles, vendor, isNeverFramed } = NO_ADDITIONS,
  } = page;
  const merchant = account && displayName(account);
  const logo = logoOf(gateway, account);
  const accent = account?.settings['branding.colour'];
  const isFrameable = !isPreview && !isNeverFramed && embeddersOf(gateway, account).length > 0;
  return String(html`<!doctype html>
<html lang="${locale.tag}" dir="${locale.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${refreshSeconds && html`<noscript><meta http-equiv="refresh" content="${refreshSeconds}"></noscript>`}
<title>${title}${merchant && ` · ${merchant}`}</title>
<link rel="icon" href="${iconUrl(account)}">
<style>${new Html(STYLE)}</style>
${accent && html`<style>${new Html(accentStyle(accent))}</style>`}
${styles.map((style) => html`<style>${new Html(style)}</style>`)}
</head>
<body${live && html` data-status="${live.url}" data-version="${live.version}"${live.isWaiting && html` data-waits`}`}${isFrameable && told && html` data-result="${told.result}"${told.back && html` data-back="${told.back}"`}`}>
${header(locale, account, { logo, isSandbox: gateway.environment === 'sandbox' })}
<main${isPreview && html` inert`}>
${body}
</main>
${footer(context)}
<p class="hush" aria-live="polite" id="said"></p>
${!isPreview && html`<script>${new Html(SCRIPT)}</script>`}
${isFrameable && html`<script>${new Html(FRAME_SCRIPT)}</script>`}
${vendor && html`<script async src="${vendor.script}" id="wallet-vendor" data-nonce="${vendor.nonce}"></script>`}
${scripts.map((script) => html`<script>${new Html(script)}</script>`)}
</body>
</html>
`);
}
