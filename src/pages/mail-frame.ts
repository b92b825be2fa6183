/** What all e-mails share: the frame, a white sheet on grey in the direction of the language, and the button. */
import { type Html, html } from '../lib/text/html.ts';

/** The style of what matters less. */
export const SOFT = 'color:#565f6b';

interface Frame {
  /** The language. */
  tag: string;
  direction?: string;
  subject: string;
  /** The colour of the shop, as a line on top. */
  accent?: string;
  /** That this is a test, so that no payer takes it for a purchase. */
  test?: string | false;
}

export const mailPage = ({ tag, direction = 'ltr', subject, accent, test = false }: Frame, content: Html): string =>
  String(html`<!doctype html>
<html lang="${tag}" dir="${direction}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${subject}</title></head>
<body style="margin:0;padding:24px 12px;background:#f3f4f6;color:#14181d;font-family:system-ui,-apple-system,Segoe UI,Roboto,Noto Sans,sans-serif;line-height:1.5">
<div style="max-width:520px;margin:0 auto;padding:24px;background:#fff;${accent && `border-top:6px solid ${accent};`}border-radius:12px" dir="${direction}">
${test && html`<p style="margin:0 0 12px;padding:6px 12px;background:#ffe3a3;color:#4a3000;border-radius:8px;font-size:14px">${test}</p>`}
${content}
</div></body></html>
`);

export const mailButton = (link: string, label: string, { fill, onFill }: { fill: string; onFill: string }): Html =>
  html`<p style="margin:24px 0 0"><a href="${link}" style="display:inline-block;padding:12px 20px;background:${fill};color:${onFill};border-radius:10px;text-decoration:none;font-weight:600">${label}</a></p>`;
