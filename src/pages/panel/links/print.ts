/** The sheet of a link for the counter: the shop, what is paid, and a large QR code on A6. */
import encodeQR from 'qr';
import { displayName } from '../../../core/accounts/accounts.ts';
import type { Account, Gateway, PaidLink } from '../../../core/context.ts';
import { linkUrl } from '../../../core/links/links.ts';
import { Html, html } from '../../../lib/text/html.ts';
import { strictHeaders } from '../../headers.ts';
import { sourceHash } from '../../source-hash.ts';
import type { PanelAnswer } from '../frame/route.ts';
import { languageTag, panelTexts } from '../locales/index.ts';

const STYLE = `@page{size:A6;margin:8mm}
*{box-sizing:border-box}body{margin:0 auto;max-width:105mm;padding:4mm;font:12pt/1.35 system-ui,sans-serif;color:#000;background:#fff;text-align:center}
h1{font-size:16pt;margin:0 0 2mm;overflow-wrap:anywhere}h2{font-size:13pt;font-weight:600;margin:0 0 2mm;overflow-wrap:anywhere}
p{margin:0 0 2mm}.qr svg{width:66mm;max-width:100%;height:auto;display:block;margin:0 auto}.address{font-size:8pt;overflow-wrap:anywhere}`;

export const printedLink = (
  gateway: Pick<Gateway, 'publicUrl' | 'environment'>,
  account: Account,
  link: PaidLink,
  amount: string,
): PanelAnswer => {
  const url = linkUrl(gateway, link);
  return {
    headers: strictHeaders(gateway, { scripts: ["'none'"], style: sourceHash(STYLE) }),
    document: String(html`<!doctype html>
<html lang="${languageTag()}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${link.title} · ${displayName(account)}</title>
<style>${new Html(STYLE)}</style>
</head>
<body><main>
<h1><bdi>${displayName(account)}</bdi></h1>
<h2><bdi>${link.title}</bdi></h2>
<p><strong>${amount}</strong></p>
<div class="qr" role="img" aria-label="${panelTexts.links.qr}">${new Html(encodeQR(url, 'svg', { border: 2 }))}</div>
<p>${panelTexts.links.printHint}</p>
<p class="address">${url}</p>
</main></body>
</html>
`),
  };
};
