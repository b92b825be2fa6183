/** The frame of every page for payers: one document, one style, nothing from anybody else. */
import { hash } from 'node:crypto';
import { Html, html } from '../lib/html.ts';

const STYLE = `
:root{color-scheme:light dark;--ground:#f4f5f7;--card:#fff;--ink:#16191d;--soft:#59616b;--line:#c9ced6;--accent:#0b5d4e;
--on-accent:#fff;--bad:#b3261e;--bad-ground:#fdecea;--good:#0b5d4e}
@media(prefers-color-scheme:dark){:root{--ground:#101316;--card:#191d22;--ink:#eceff3;--soft:#a5aeb9;--line:#3a424c;
--accent:#6fd3bb;--on-accent:#08251e;--bad:#ffb4ab;--bad-ground:#3a1714;--good:#6fd3bb}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;background:var(--ground);color:var(--ink);
font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
main{max-width:28rem;margin:0 auto;padding:1rem 1rem 3rem}
header{padding:1.25rem 0 1rem;font-weight:600}
.card{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:1.25rem}
.card+.card{margin-top:1rem}
h1{font-size:1.25rem;line-height:1.3;margin:0 0 .5rem}
p{margin:.25rem 0}
.soft{color:var(--soft)}
.small{font-size:.875rem}
.amount{font-size:clamp(1.25rem,7vw,2rem);font-weight:650;line-height:1.2;font-variant-numeric:tabular-nums}
dl{display:grid;grid-template-columns:auto 1fr;gap:.25rem 1rem;margin:.75rem 0 0}
dt{color:var(--soft)}
dd{margin:0;text-align:end;font-variant-numeric:tabular-nums}
.stack{grid-template-columns:1fr;gap:0}
.stack dd{text-align:start;font-size:1.125rem;font-weight:600;margin-bottom:.75rem;user-select:all}
label{display:block;font-weight:600;margin-top:1rem}
input{width:100%;min-height:3rem;margin-top:.25rem;padding:.5rem .75rem;font:inherit;color:inherit;background:var(--card);
border:1px solid var(--soft);border-radius:10px}
input[aria-invalid=true]{border:2px solid var(--bad)}
.hint{color:var(--soft);font-size:.875rem;margin-top:.25rem}
.error{color:var(--bad);font-size:.9375rem;font-weight:600;margin-top:.25rem}
.notice{background:var(--bad-ground);color:var(--bad);border-radius:10px;padding:.75rem 1rem;margin-bottom:1rem}
button,.button{display:block;width:100%;min-height:3.25rem;margin-top:1.5rem;padding:.75rem 1rem;border:0;border-radius:10px;
background:var(--accent);color:var(--on-accent);font:inherit;font-weight:650;text-align:center;text-decoration:none;cursor:pointer}
a{color:var(--accent)}
.choices{list-style:none;margin:.75rem 0 0;padding:0}
.choice{display:flex;align-items:center;justify-content:space-between;min-height:3.25rem;padding:.5rem .25rem;color:inherit;
text-decoration:none;border-bottom:1px solid var(--line);font-weight:600}
.choice::after{content:"›";color:var(--soft);font-size:1.5rem}
.choice:hover{color:var(--accent)}
.code{max-width:16rem;margin:1rem auto;padding:1rem;background:#fff;border-radius:10px}
.code svg{display:block;width:100%;height:auto}
.quiet{display:block;min-height:2.75rem;padding:.75rem;margin-top:.5rem;text-align:center}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.mark{font-size:2.5rem;line-height:1;font-weight:700}
.mark.good{color:var(--good)}.mark.bad{color:var(--bad)}
@media(min-width:40rem){main{padding-top:3rem}}
`;

const STYLE_HASH = `'sha256-${hash('sha256', STYLE, 'base64')}'`;

/** What every page says to the browser; forms may lead on to providers and shops, whose names nobody knows here. */
export const pageHeaders = (allowsHttp: boolean): Record<string, string> => ({
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'content-security-policy': [
    "default-src 'none'",
    `style-src ${STYLE_HASH}`,
    `form-action 'self' https:${allowsHttp ? ' http:' : ''}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
});

export interface Page {
  title: string;
  /** Whose page it is, in the payer's eyes. */
  merchant: string;
  body: Html;
  /** Where the page goes by itself, and after how many seconds; to itself when no address is given. */
  refresh?: { seconds: number; url?: string | undefined } | undefined;
}

export function document({ title, merchant, body, refresh }: Page): string {
  const again = refresh && `${refresh.seconds}${refresh.url === undefined ? '' : `; url=${refresh.url}`}`;
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${again && html`<meta http-equiv="refresh" content="${again}">`}
<title>${title}${merchant && ` · ${merchant}`}</title>
<style>${new Html(STYLE)}</style>
</head>
<body><main>
${merchant && html`<header>${merchant}</header>`}
${body}
</main></body>
</html>
`);
}
