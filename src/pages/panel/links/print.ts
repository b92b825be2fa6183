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

/** A6 has no name in style sheets. The code takes what the texts leave of the sheet, and long texts are cut. */
const STYLE = `@page{size:105mm 148mm;margin:8mm}
*{box-sizing:border-box}body{margin:0 auto;max-width:105mm;padding:4mm;font:12pt/1.35 system-ui,sans-serif;color:#000;background:#fff;text-align:center}
main{display:flex;flex-direction:column;height:131mm}
h1{font-size:16pt;font-weight:700}h2{font-size:13pt;font-weight:600}
h1,h2{margin:0 0 2mm;overflow:hidden;overflow-wrap:anywhere;display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:3;flex:none}
p{margin:0 0 2mm}.qr{flex:1 1 0;min-height:0;max-height:66mm;margin-bottom:2mm}.qr svg{width:100%;height:100%;display:block}
.address{font-size:8pt;overflow-wrap:anywhere}
@media print{body{padding:0}}`;

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
