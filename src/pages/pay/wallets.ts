/** The device wallets of a page: their buttons, which the script shows, and the page of a session without other methods. */

import { newSecret } from '../../lib/crypto/id.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { type Brand, brandOf } from '../../rules/brands.ts';
import type { Page, PageAdditions } from '../layout.ts';
import { PRETEND_SCRIPT, PRETEND_STYLE, VENDOR_B, WALLET_SCRIPT, WALLET_STYLE } from '../wallets/scripts.ts';
import { METHOD_ICONS } from './method-icons.ts';
import { namesOn } from './method-names.ts';
import { placedMark } from './network-marks.ts';
import { noticeBox } from './notices.ts';
import { orderSummary, type PageView, pageTitle, statusPolling, wayBack } from './view.ts';

/** What the buttons need; nothing if no wallet is offered, so that the page stays as it is. */
export function walletAdditions({ wallets, pretend }: PageView): PageAdditions | undefined {
  if (wallets.length === 0) return undefined;
  if (pretend) return { scripts: [PRETEND_SCRIPT, WALLET_SCRIPT], styles: [WALLET_STYLE, PRETEND_STYLE] };
  const hasVendor = wallets.some(({ label }) => label === 'wallet-b');
  return {
    scripts: [WALLET_SCRIPT],
    styles: [WALLET_STYLE],
    vendor: hasVendor ? { ...VENDOR_B, nonce: newSecret() } : undefined,
  };
}

/** The buttons, hidden until the script knows that the browser has the wallet; `or` separates them from a form. */
export function walletButtons(view: PageView, separator?: 'or'): Html | undefined {
  const { wallets, path, pretend, locale } = view;
  const { messages, formatMessage } = locale;
  if (wallets.length === 0) return undefined;
  const nameOf = namesOn(view);
  const requests = Object.fromEntries(wallets.map(({ label, request }) => [label, request]));
  return html`<div class="wallets" id="wallets" hidden data-path="${path}" data-requests="${JSON.stringify(requests)}" data-busy="${messages.paying}" data-failed="${messages.walletFailed}"${pretend && html` data-pretend="${JSON.stringify(pretend)}"`}>
${wallets.map(({ label }) => {
  const text = formatMessage(messages.payWith, { method: nameOf(label) });
  const className = label === 'wallet-a' && !pretend ? 'vendor-a' : '';
  const mark = placedMark(view, label, '') ?? METHOD_ICONS[(brandOf(label) as Brand).kind];
  return html`<button type="button" class="${className}" data-wallet="${label}" data-label="${text}" hidden>${mark}<span>${text}</span></button>
`;
})}
<p class="error" id="wallet-problem" role="alert" hidden></p>
${separator && html`<p class="or">${messages.or}</p>`}
</div>`;
}

/** The page of a session that allows wallets only. Without one of them the payer can only go back. */
export function walletPage(view: PageView): Page {
  const { wallets, locale } = view;
  const { messages, formatMessage } = locale;
  const [only, ...others] = wallets;
  const title =
    others.length === 0
      ? formatMessage(messages.payWith, { method: namesOn(view)(only?.label ?? '') })
      : messages.howToPay;
  return {
    title: pageTitle(view, title),
    ...statusPolling(view),
    additions: walletAdditions(view),
    body: html`${orderSummary(view)}
<section class="card">
<h1>${title}</h1>
${noticeBox(view)}
<p id="no-wallet">${messages.walletMissing}</p>
${walletButtons(view)}
${wayBack(view)}
</section>`,
  };
}
