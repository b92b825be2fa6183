/** The page with a code to scan: large on a desktop; on a phone with ways to pass it to the banking app. */
import encodeQR from 'qr';
import type { NextStep } from '../../core/context.ts';
import { pngOf } from '../../lib/files/png.ts';
import { Html, html } from '../../lib/text/html.ts';
import { AUTO_SUBMIT } from './redirect-pages.ts';
import type { PageView } from './view.ts';
import { countdown, withElement } from './view.ts';

export type CodeStep = Extract<NextStep, { kind: 'code' }>;

/** Schemes that lead nowhere or run a script; the code comes from the provider. */
const NO_APP = /^(javascript|data|blob|file|about|vbscript|view-source|http):/i;

/** The address that a code consists of, if it is one that an app or a browser opens, such as `upi://pay?…`. */
export const appLinkOf = (text: string): string | undefined =>
  /^[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(text) && !NO_APP.test(text) ? text : undefined;

/** Whether banking apps take the text of a code instead of its picture: addresses, and codes in the format of EMVCo. */
const isPasted = (text: string): boolean => appLinkOf(text) !== undefined || text.startsWith('000201');

/** The pixels of one square of the picture that the payer saves. */
const SCALE = 8;

/** The picture of the code; the script passes the same picture to other apps. */
function saveLink(text: string, { payment, locale: { messages } }: PageView): Html {
  const picture = pngOf(encodeQR(text, 'raw', { border: 4 }), SCALE).toString('base64');
  const name = `${payment.orderId.replace(/[^\w.-]+/g, '-').slice(0, 40)}.png`;
  return html`<div class="pass"><a class="button second" href="data:image/png;base64,${picture}" download="${name}">${messages.scan.save}</a><button class="second" type="button" hidden data-share>${messages.scan.share}</button></div>`;
}

const steps = (className: string, texts: readonly string[]): Html =>
  html`<ol class="steps ${className}">${texts.map((text) => html`<li>${text}</li>`)}</ol>`;

/** The text of the code; with JavaScript it has a button to copy it. */
function codeText(text: string, { locale: { messages } }: PageView): Html {
  const { copy, copied, scan } = messages;
  return html`<dl class="stack"><dt>${scan.text}<button class="copy" type="button" hidden data-copy="${copy}" data-copied="${copied}" aria-label="${copy}: ${scan.text}">${copy}</button></dt><dd><bdi>${text}</bdi></dd></dl>`;
}

/** The code until it expires. The style shows the parts for phones on phones only. */
export function codeContent(view: PageView, { text, until }: CodeStep): Html {
  const { now, locale } = view;
  const { messages } = locale;
  const { scan } = messages;
  const appLink = appLinkOf(text);
  return html`<div class="center">
<h1>${messages.scanToPay}</h1>
${appLink !== undefined && html`<a class="button on-phone" href="${appLink}">${scan.openApp}</a>`}
<div class="code" role="img" aria-label="${messages.codeAlt}">${new Html(encodeQR(text, 'svg'))}</div>
<p class="time"><span>${withElement(messages.codeLeft, 'time', countdown(until - now, locale))}</span></p>
</div>
${saveLink(text, view)}
${steps('on-desktop', [messages.scanHow, scan.confirm])}
${steps('on-phone', appLink === undefined ? [scan.onPhone1, scan.onPhone2, scan.onPhone3] : [scan.inApp, scan.onPhone3])}
${isPasted(text) && codeText(text, view)}`;
}

/** After the code has expired, while the session lasts: the script gets a new one, unless the provider has just not answered. */
export const newCodeForm = ({ path, canRenewCode, isStillOpen, locale: { messages } }: PageView): Html | false =>
  canRenewCode &&
  html`<form method="post" action="${path}/code" data-busy="${messages.oneMoment}"${!isStillOpen && AUTO_SUBMIT}><button>${messages.scan.again}</button></form>`;
