/** The style sheet of the payment pages: mobile first, light and dark, left-to-right and right-to-left. */
import { accentOf, type Scheme } from './accent.ts';
import { CARD_FORM_STYLE } from './card-form-style.ts';
import { CHALLENGE_STYLE } from './challenge-style.ts';
import { COLOURS } from './colours.ts';
import { FRAME_STYLE } from './frame-style.ts';

export const STYLE = `${COLOURS}*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;background:var(--ground);
color:var(--ink);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:anywhere}
[hidden]{display:none}
.hush{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.top{display:flex;align-items:center;gap:.75rem;width:100%;max-width:30rem;margin:0 auto;padding:1.25rem 20px .75rem;
font-size:1.0625rem;font-weight:650}
.logo{max-width:9rem;max-height:2.5rem;width:auto;height:auto;border-radius:6px}
main{display:grid;gap:1rem;align-items:start;width:100%;max-width:30rem;margin:0 auto;padding:.25rem 16px 2.5rem;flex:1;
align-content:start}
main:first-child{padding-top:2rem}
.card{min-width:0;background:var(--card);border:1px solid var(--line);border-radius:16px;padding:1.25rem 20px}
h1{font-size:1.25rem;line-height:1.3;margin:0 0 .375rem;text-wrap:balance}
h2{font-size:1rem;line-height:1.4;margin:0}
p{margin:.25rem 0 0}
.soft{color:var(--soft)}
.small{font-size:.875rem}
.summary{container-type:inline-size}
.amount{margin:0;font-size:1.5rem;font-size:clamp(1.25rem,10cqi,2.125rem);font-weight:700;line-height:1.15;
letter-spacing:-.015em;font-variant-numeric:tabular-nums}
.amount.wide{font-size:1rem;font-size:clamp(1rem,6.6cqi,2rem)}
.what{margin-top:.5rem;text-align:left}
[dir=rtl] .what{text-align:right}
.summary:has(.whole) .what{text-align:start}
.summary:has(.whole:not([open])) .what{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:4;overflow:hidden}
.whole summary{width:max-content;max-width:100%;padding:.625rem 0;color:var(--accent);font-size:.875rem;cursor:pointer}
.time{display:inline-flex;align-items:center;gap:.5rem;margin-top:.875rem;padding:.25rem .75rem;border-radius:99px;
background:var(--raised);color:var(--soft);font-size:.875rem;font-variant-numeric:tabular-nums}
.time svg{flex:none}
.field{margin-top:1.125rem;min-width:0}
label,legend{display:block;padding:0;font-weight:600;font-size:.9375rem}
input,select{display:block;width:100%;min-height:3rem;margin:.375rem 0 0;padding:.5rem .875rem;font:inherit;
font-variant-numeric:tabular-nums;color:inherit;background:var(--card);border:1px solid var(--edge);border-radius:10px;
appearance:none}
select{background-image:linear-gradient(45deg,transparent 50%,currentcolor 50%),
linear-gradient(-45deg,transparent 50%,currentcolor 50%);background-size:6px 6px;background-repeat:no-repeat;
background-position:calc(100% - 1.25rem) 55%,calc(100% - .875rem) 55%}
[dir=rtl] select{background-position:.875rem 55%,1.25rem 55%}
input[dir=ltr]{text-align:start}
[dir=rtl] input[dir=ltr]{text-align:end}
input[aria-invalid=true],select[aria-invalid=true]{border-color:var(--bad);box-shadow:0 0 0 1px var(--bad)}
.hint{margin-top:.375rem;color:var(--soft);font-size:.8125rem;line-height:1.4}
.error{margin-top:.375rem;color:var(--bad);font-size:.875rem;font-weight:600;line-height:1.4}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,7rem),1fr));column-gap:.75rem}
.pair .field{display:grid;grid-row:span 3;grid-template-rows:subgrid;row-gap:0}
.pair label{align-self:end}
.number{display:grid;grid-template-columns:minmax(0,1fr) auto;column-gap:.5rem}
.number>:not(label,.network){grid-column:1/-1}
.notice{margin:1rem 0 0;padding:.875rem 1rem;border-radius:10px;background:var(--bad-ground);color:var(--bad)}
.notice p{color:var(--ink)}
.notice :first-child{margin-top:0}
button,.button{display:flex;align-items:center;justify-content:center;gap:.625rem;width:100%;min-height:3.25rem;
margin-top:1.5rem;padding:.75rem 16px;border:1px solid var(--accent);border-radius:12px;background:var(--fill);
color:var(--on-fill);font:inherit;font-weight:650;text-align:center;text-decoration:none;cursor:pointer;
font-variant-numeric:tabular-nums}
button:hover,.button:hover{filter:brightness(1.06)}
button:active,.button:active{transform:translateY(1px)}
.second{background:transparent;color:var(--accent);margin-top:.75rem}
button[disabled]{cursor:progress;opacity:.85}
button[disabled]::before,.pulse::before{content:"";width:1.125rem;height:1.125rem;border:2px solid currentcolor;
border-inline-end-color:transparent;border-radius:50%;animation:turn .9s linear infinite}
.pulse{display:block;color:var(--accent);margin-bottom:.75rem}
.pulse::before{display:block;width:1.75rem;height:1.75rem;margin:0 auto;border-width:3px}
@keyframes turn{to{transform:rotate(1turn)}}
a{color:var(--accent);text-underline-offset:.15em}
.quiet{display:flex;align-items:center;justify-content:center;min-height:2.75rem;margin-top:.5rem;padding:.5rem;
text-align:center;font-size:.9375rem}
.quiet+.quiet{margin-top:0}
.safe{display:flex;gap:.5rem;align-items:flex-start;margin-top:1rem;color:var(--soft);font-size:.8125rem;line-height:1.4}
.safe svg{flex:none;margin-top:.125rem}
.choices{list-style:none;margin:1rem 0 0;padding:0;display:grid;gap:.625rem}
.choice{display:flex;align-items:center;gap:14px;min-height:3.5rem;padding:.5rem 14px;color:inherit;
text-decoration:none;border:1px solid var(--edge);border-radius:12px;font-weight:600}
.choice:hover{border-color:var(--accent);background:var(--raised)}
.choice::after{content:"›";content:"›"/"";margin-inline-start:auto;color:var(--soft);font-size:1.5rem;line-height:1;font-weight:400}
[dir=rtl] .choice::after{transform:scaleX(-1)}
.tile{display:grid;place-items:center;flex:none;width:36px;height:36px;border-radius:9px;background:var(--raised);
color:var(--accent);font-weight:700;line-height:1;text-transform:uppercase}
.choice:hover .tile{background:var(--card)}
fieldset{margin:1.125rem 0 0;padding:0;border:0;min-width:0}
.series{margin-top:1.25rem;padding-top:1rem;border-top:1px solid var(--line)}
.series h2{margin:0;font-size:1rem}
.series dl{display:block;margin:.5rem 0 0;font-size:.9375rem}
.series dl div{display:flex;justify-content:space-between;gap:1rem;padding:.125rem 0}
.series dt{color:var(--soft)}
.series dd{margin:0;text-align:end}
.saved{position:relative;display:flex;align-items:center;gap:14px;min-height:3.5rem;margin-top:.5rem;
padding:.5rem 14px;border:1px solid var(--edge);border-radius:12px;cursor:pointer}
.saved:has(:checked){border-color:var(--accent);box-shadow:0 0 0 1px var(--accent)}
.saved:has(:disabled){cursor:default;opacity:.75}
.saved input{appearance:auto;flex:none;width:1.25rem;min-height:1.25rem;height:1.25rem;margin:0;accent-color:var(--accent)}
.saved span{display:block}
.saved .soft{font-weight:400}
form:has([name=saved_card]:checked:not([value=new])) .fresh{display:none}
dl{margin:1rem 0 0;display:grid;grid-template-columns:auto 1fr;gap:.375rem 1rem}
dt{color:var(--soft)}
dd{margin:0;text-align:end;font-weight:600;font-variant-numeric:tabular-nums}
.stack{grid-template-columns:1fr;gap:0;padding:.25rem 16px;border-radius:12px;background:var(--raised)}
.stack dt{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.25rem .75rem;margin-top:.625rem;font-size:.8125rem}
.stack dd{text-align:start;font-size:1.0625rem;font-weight:650;padding-bottom:.625rem;user-select:all}
.copy{width:auto;min-height:2rem;margin:0;padding:.125rem .75rem;border-radius:8px;background:var(--card);
color:var(--accent);font-size:.8125rem}
.stack dd:not(:last-child){border-bottom:1px solid var(--line)}
.code{max-width:17rem;margin:1.25rem auto;padding:1rem;background:#fff;border:1px solid var(--line);border-radius:16px}
.code svg{display:block;width:100%;height:auto}
.center,.end{text-align:center;text-wrap:pretty}
.button+.small,.stack+.small{margin-top:.75rem}
.end{padding-block:2rem 1.25rem}
.end dl{text-align:start;padding-top:1rem;border-top:1px solid var(--line);margin-top:1.5rem}
.mark{display:grid;place-items:center;width:4rem;height:4rem;margin:0 auto 1.25rem;border-radius:50%;
background:var(--bad-ground);color:var(--bad)}
.mark.good{background:var(--good-ground);color:var(--good)}
.mark.late,.mark.info{background:var(--raised);color:var(--soft)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
${CARD_FORM_STYLE}@media(min-width:54rem){body:has(.summary) .top,main:has(.summary){max-width:56rem}
main:has(.summary){grid-template-columns:minmax(0,22rem) minmax(0,1fr);gap:1.5rem;padding-top:1rem}
.summary{position:sticky;top:1.5rem}
.card{padding:1.75rem}
.top{padding-top:2.5rem}}
@media(prefers-reduced-motion:reduce){*,::before,::after{animation:none!important;transition:none!important}
.pulse::before,button[disabled]::before{border-inline-end-color:currentcolor;opacity:.5}}
@media(forced-colors:active){.card,.time,.tile{border:1px solid}button,.button{border:2px solid}
.code{forced-color-adjust:none}}
.method{display:flex;align-items:center;gap:.75rem;margin:0 0 1rem;padding-bottom:1rem;border-bottom:1px solid var(--line);font-weight:600}
.more{margin-top:1.75rem;color:var(--soft);font-size:.875rem;font-weight:600}
.more~.choices{margin-top:.625rem}
.group{margin-top:.625rem;border:1px solid var(--edge);border-radius:12px}
.group summary{display:flex;align-items:center;gap:14px;min-height:3.5rem;padding:.5rem 14px;border-radius:12px;font-weight:600;list-style:none;cursor:pointer}
.group summary::-webkit-details-marker{display:none}
.group summary:hover{background:var(--raised)}
.group summary:hover .tile{background:var(--card)}
.group summary::after{content:"";flex:none;width:.5rem;height:.5rem;margin-inline:auto .25rem;border:solid var(--soft);border-width:0 2px 2px 0;transform:translateY(-.125rem) rotate(45deg)}
.group[open] summary::after{transform:translateY(.125rem) rotate(225deg)}
.group h3{margin:0;font:inherit}
.group .choices{margin:0;padding:0 .5rem .5rem;gap:.25rem}
.group .choice{border-color:transparent}
.choice bdi,.group h3{hyphens:auto}
:lang(ko){word-break:keep-all}
:lang(ja){word-break:auto-phrase}
.count{flex:none;min-width:1.5rem;padding:0 .375rem;border-radius:99px;background:var(--raised);color:var(--soft);font-size:.8125rem;line-height:1.5rem;text-align:center;font-variant-numeric:tabular-nums}
@media(max-width:24rem){.choice,.group summary{gap:10px;padding-inline:10px}.group .choices{padding-inline:.125rem}}
@media(forced-colors:active){.count{border:1px solid}}
${CHALLENGE_STYLE}
${FRAME_STYLE}`;

/** The style rules for the accent colour of an account. */
export function accentStyle(colour: string): string {
  const rule = (scheme: Scheme): string => {
    const { fill, onFill, ink } = accentOf(colour, scheme);
    return `:root{--fill:${fill};--on-fill:${onFill};--accent:${ink}}`;
  };
  return `${rule('light')}@media(prefers-color-scheme:dark){${rule('dark')}}`;
}
