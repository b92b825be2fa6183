/** The style of the frame: header, order, footer; and of the receipt. */

export const FRAME_STYLE = `.top{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem .75rem;width:100%;max-width:30rem;margin:0 auto;padding:1.25rem 20px .75rem;
font-size:1.0625rem;font-weight:650;line-height:1.35}
.logo{max-width:min(12rem,50vw);max-height:2.5rem;width:auto;height:auto;border-radius:6px}
.test{display:flex;gap:.5rem;margin:0;margin-inline-start:auto;padding:.25rem .75rem;
border-radius:99px;background:#ffe3a3;color:#4a3000;font-size:.8125rem;font-weight:400;line-height:1.4}
.summary{container-type:inline-size}
.amount{margin:0;font-size:1.5rem;font-size:clamp(1.25rem,10cqi,2.125rem);font-weight:700;line-height:1.15;
letter-spacing:-.015em;font-variant-numeric:tabular-nums}
.amount.wide{font-size:1rem;font-size:clamp(1rem,6.6cqi,2rem)}
.what{margin-top:.375rem}
.what,.top>span{text-align:left}
[dir=rtl] :is(.what,.top>span){text-align:right}
.summary:has(.whole) .what{text-align:start}
.summary:has(.whole:not([open])) .what{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:3;overflow:hidden}
.about,.time{display:flex;flex-wrap:wrap;gap:.125rem 1rem;color:var(--soft);font-size:.875rem;font-variant-numeric:tabular-nums}
.about{justify-content:space-between;margin-top:.375rem}
.about p{margin:0}
.time{flex-wrap:nowrap;align-items:center;justify-content:center;gap:.375rem}
.time svg{flex:none}
.whole summary,.basket summary{width:max-content;max-width:100%;gap:.5rem;padding:.5rem 0;color:var(--accent);font-size:.9375rem}
.whole summary::after,.basket summary::after{margin-inline:.25rem;border-color:currentcolor;width:.4375rem;height:.4375rem}
.basket{margin:.75rem 0 -.5rem;border-top:1px solid var(--line)}
.basket[open]{margin-bottom:0}
.lines{width:100%;border-collapse:collapse;font-size:.9375rem}
.lines th,.lines td{padding:.375rem 0;font-weight:400;text-align:start;vertical-align:top}
.lines td{padding-inline-start:1rem;text-align:end;white-space:nowrap;font-variant-numeric:tabular-nums}
.lines small{display:block;color:var(--soft);font-size:.8125rem;font-variant-numeric:tabular-nums}
.lines tfoot :is(th,td){padding-block:.1875rem;color:var(--soft)}
.lines tbody tr:last-child>*{padding-bottom:.75rem}
.lines tfoot tr:first-child>*{padding-top:.75rem;border-top:1px solid var(--line)}
.lines tfoot tr:last-child>*{padding-bottom:0;color:inherit;font-weight:650}
.lines tfoot tr:last-child:not(:first-child)>*{padding-top:.5rem}
.foot{display:flex;flex-wrap:wrap;justify-content:center;gap:0 1.5rem;width:100%;max-width:56rem;margin:0 auto;padding:0 20px 1.5rem;
color:var(--soft);font-size:.875rem}
.foot p{display:flex;flex-wrap:wrap;justify-content:center;gap:0 1rem;margin:0}
.foot a,.foot span{display:inline-flex;align-items:center;min-height:1.75rem}
.languages summary{min-height:1.75rem;gap:.375rem}
.languages summary::after{margin-inline:.125rem;width:.375rem;height:.375rem}
.languages ul{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,8.5rem),1fr));gap:0 1rem;margin:.25rem 0 0;padding:0;list-style:none}
.languages[open]{width:100%}
.languages[open] summary{justify-content:center}
.languages [aria-current]{font-weight:650;color:inherit}
.receipt dl{padding-bottom:1rem;font-size:.9375rem}
.receipt :is(.lines,.what){padding-top:.75rem;border-top:1px solid var(--line)}
.receipt .second{margin-top:1.25rem}
.receipt .lines tbody tr:first-child>*{padding-top:.75rem}
@media(max-width:54rem){.test span{display:none}}
@media(min-width:30rem){.top>span{flex:1}}
@media(min-width:54rem){body:has(.summary) .top,main:has(.summary){max-width:56rem}
main:has(.summary){grid-template-columns:minmax(0,22rem) minmax(0,1fr);gap:1.5rem;padding-top:1rem}
.top{padding-top:2.5rem}
.summary{position:sticky;top:1.5rem}
.summary:has(.lines tr:nth-child(9)){position:static}
@supports selector(::details-content){.basket::details-content{content-visibility:visible}
.basket{margin-bottom:0}.basket summary{display:none}.basket .lines{margin-top:.5rem}}}
@media print{body{min-height:0;background:#fff}.card{border:0;padding:0}button,.button,.quiet{display:none}
.top,main,.foot{max-width:none;padding-inline:0}tr{break-inside:avoid}}
`;
