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
[data-embedded] body{min-height:0;background:none}
[data-embedded]{overflow-y:hidden}
[hidden]{display:none!important}
.hush{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
main{display:grid;gap:1rem;align-items:start;width:100%;max-width:30rem;margin:0 auto;padding:.25rem 16px 2rem;flex:1;
align-content:start}
main:first-child{padding-top:2rem}
.card{min-width:0;background:var(--card);border:1px solid var(--line);border-radius:16px;padding:1.25rem 20px}
h1{font-size:1.25rem;line-height:1.3;margin:0 0 .375rem;text-wrap:balance}
h2{font-size:1rem;line-height:1.4;margin:0}
p{margin:.25rem 0 0}
.soft{color:var(--soft)}
.small{font-size:.875rem}
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
.hint,.error{margin-top:.375rem;color:var(--soft);font-size:.8125rem;line-height:1.4}
.error{color:var(--bad);font-size:.875rem;font-weight:500}
.notice{margin:1rem 0 0;padding:.875rem 1rem;border-radius:10px;background:var(--bad-ground);color:var(--bad)}
.notice p{color:var(--ink)}
.notice :first-child{margin-top:0}
.notice.info{background:var(--raised)}
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
.quiet{display:flex;align-items:center;justify-content:center;min-height:2.75rem;margin-top:.75rem;padding:.5rem;
border-color:transparent;background:none;color:var(--accent);font-size:.9375rem;font-weight:400;text-align:center;
text-decoration:underline}
.quiet+.quiet,#leave~.quiet{margin-top:0}
.card>.quiet:last-child{margin-bottom:-.5rem}
.choices{list-style:none;margin:1rem 0 0;padding:0;display:grid;gap:.625rem}
.choice,.group summary,.saved{display:flex;align-items:center;gap:14px;min-height:3.5rem;padding:.5rem 14px;
border-radius:12px;font-size:1rem;font-weight:600;cursor:pointer}
.choice,.group,.saved{border:1px solid var(--line);border-radius:12px}
.choice{color:inherit;text-decoration:none}
.choice:hover,.saved:hover{border-color:var(--accent)}
.choice:hover,.group summary:hover{background:var(--raised)}
.choice:hover .tile,.group summary:hover .tile{background:var(--card)}
.choice::after,summary::after{content:"";flex:none;width:.5rem;height:.5rem;margin-inline:auto .25rem;
border:solid var(--soft);border-width:2px 2px 0 0;transform:rotate(45deg)}
[dir=rtl] .choice::after{transform:rotate(-135deg)}
button.choice{justify-content:flex-start;margin:0;background:none;color:inherit;text-align:start}
.chosen{border:1px solid var(--accent);border-radius:12px;box-shadow:0 0 0 1px var(--accent)}
.chosen>.choice{border-color:transparent}
.chosen>.choice:hover{background:none}
:is(.chosen,[dir=rtl] .chosen)>.choice::after{transform:translateY(-.125rem) rotate(135deg)}
.entry{padding:0 14px 1.125rem}
.entry .field:first-of-type,.entry fieldset{margin-top:.625rem}
.tile{display:grid;place-items:center;flex:none;width:36px;height:36px;border-radius:9px;background:var(--raised);
color:var(--accent)}
.method{display:flex;align-items:center;gap:14px}
.method>div{min-width:0}
.method h1,.method p{margin:0}
.more{margin-top:1.75rem;color:var(--soft);font-size:.875rem}
.more~.choices,.group{margin-top:.625rem}
summary{display:flex;align-items:center;list-style:none;cursor:pointer}
summary::-webkit-details-marker{display:none}
summary::after{transform:translateY(-.125rem) rotate(135deg)}
[open]>summary::after{transform:translateY(.125rem) rotate(-45deg)}
.group h3{margin:0;font:inherit}
.group .choices{margin:0;padding:0 .5rem .5rem;gap:.25rem}
.group .choice{border-color:transparent}
.choice bdi,.group h3{hyphens:auto}
.count{flex:none;min-width:1.5rem;padding:0 .375rem;border-radius:99px;background:var(--raised);color:var(--soft);
font-size:.8125rem;line-height:1.5rem;text-align:center;font-variant-numeric:tabular-nums}
fieldset{margin:1.125rem 0 0;padding:0;border:0;min-width:0}
dl{margin:1rem 0 0;display:grid;grid-template-columns:auto minmax(45%,1fr);gap:.375rem 1rem}
dl div{display:contents}
dt{color:var(--soft)}
dd{margin:0;text-align:end;font-weight:500;font-variant-numeric:tabular-nums}
.stack{grid-template-columns:1fr;gap:0;padding:.25rem 16px;border-radius:12px;background:var(--raised)}
.stack dt{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.25rem .75rem;margin-top:.625rem;font-size:.8125rem}
.stack dd{text-align:start;font-size:1.0625rem;font-weight:650;padding-bottom:.625rem;user-select:all}
.copy{width:auto;min-height:2rem;margin:0;padding:.125rem .75rem;border-radius:8px;background:var(--card);
color:var(--accent);font-size:.8125rem}
.stack dd:not(:last-child){border-bottom:1px solid var(--line)}
.center,.end{text-align:center;text-wrap:pretty}
.button+.small,.stack+.small{margin-top:.75rem}
.end{padding-block:2rem 1.25rem}
.end dl{text-align:start;padding-top:1rem;border-top:1px solid var(--line);margin-top:1.5rem}
.mark{display:grid;place-items:center;width:4rem;height:4rem;margin:0 auto 1.25rem;border-radius:50%;
background:var(--bad-ground);color:var(--bad)}
.mark.good{background:var(--good-ground);color:var(--good)}
.mark.late,.mark.info{background:var(--raised);color:var(--soft)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
${CARD_FORM_STYLE}${CHALLENGE_STYLE}${FRAME_STYLE}@media(max-width:24rem){.choice,.group summary{gap:10px;padding-inline:10px}
.group .choices{padding-inline:.125rem}}
@media(min-width:54rem){.card{padding:1.75rem}}
@media(prefers-reduced-motion:reduce){*,::before,::after{animation:none!important;transition:none!important}
.pulse::before,button[disabled]::before{border-inline-end-color:currentcolor;opacity:.5}}
@media(forced-colors:active){.card,.tile,.count,.test{border:1px solid}.chosen{outline:2px solid Highlight}
button,.button,.bank{border:2px solid}
.code{forced-color-adjust:none}}
:lang(ko){word-break:keep-all}
:lang(ja){word-break:auto-phrase}
`;

/** The style rules for the accent colour of an account. */
export function accentStyle(colour: string): string {
  const rule = (scheme: Scheme): string => {
    const { fill, onFill, ink } = accentOf(colour, scheme);
    return `:root{--fill:${fill};--on-fill:${onFill};--accent:${ink}}`;
  };
  return `${rule('light')}@media(prefers-color-scheme:dark){${rule('dark')}}`;
}
