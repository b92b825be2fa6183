/** The style of the frame, the order lines and the receipt. */

export const FRAME_STYLE = `
.test{display:flex;flex-wrap:wrap;align-items:center;gap:.125rem .5rem;margin:0;margin-inline-start:auto;padding:.25rem .75rem;
border-radius:99px;background:#ffe3a3;color:#4a3000;font-size:.8125rem;font-weight:400;line-height:1.4}
@media(max-width:30rem){.test span{display:none}}
.top:has(.test){flex-wrap:wrap}
.foot{width:100%;max-width:30rem;margin:0 auto;padding:0 20px 1.5rem;color:var(--soft);font-size:.875rem;text-align:center}
.foot p{display:flex;flex-wrap:wrap;justify-content:center;gap:0 1rem;margin:0}
.foot a,.foot span{display:inline-flex;align-items:center;min-height:1.75rem}
.basket{margin-top:.75rem;border-top:1px solid var(--line)}
.basket summary{padding:.75rem 0 .25rem;color:var(--accent);font-size:.9375rem;cursor:pointer}
.lines{width:100%;border-collapse:collapse;font-size:.9375rem}
.lines th,.lines td{padding:.375rem 0;font-weight:400;text-align:start;vertical-align:top}
.lines td{padding-inline-start:1rem;text-align:end;white-space:nowrap;font-variant-numeric:tabular-nums}
.lines small{display:block;color:var(--soft);font-size:.8125rem;font-variant-numeric:tabular-nums}
.lines tfoot tr:first-child>*{padding-top:.75rem;border-top:1px solid var(--line)}
.lines tbody tr:last-child>*{padding-bottom:.75rem}
.lines tfoot tr:last-child>*{font-weight:650}
@media(min-width:54rem){body:has(.summary) .foot{max-width:56rem}
.summary:has(.lines tr:nth-child(9)){position:static}
@supports selector(::details-content){.basket::details-content{content-visibility:visible}
.basket summary{display:none}.basket .lines{margin-top:.5rem}}}
@media(forced-colors:active){.test{border:1px solid}}
.receipt dl{display:block;padding-bottom:1rem}
.receipt dl div{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 1.5rem;padding:.25rem 0}
.receipt dd{margin-inline-start:auto;font-weight:500}
.receipt .lines{border-top:1px solid var(--line)}
.receipt .lines tbody tr:first-child>*{padding-top:.75rem}
@media print{body{min-height:0;background:#fff}.card{border:0;padding:0}button,.button,.quiet{display:none}
.top,main,.foot{max-width:none}tr{break-inside:avoid}}
`;
