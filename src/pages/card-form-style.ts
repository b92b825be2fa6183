/** The style of the card form: the marks of the networks, where the security code is, saved cards, and what the payer agrees to. */

export const CARD_FORM_STYLE = `.number{display:grid;grid-template-columns:minmax(0,1fr) auto;column-gap:.5rem}
.number>:not(label,.network){grid-column:1/-1}
.network{display:flex;align-items:center;gap:.375rem;align-self:end;font-size:.8125rem;font-weight:650;
line-height:1.375rem}
.placed{display:block;flex:none;height:24px;width:auto;border-radius:4px;background:#fff}
.tile .placed{max-width:30px;height:auto;max-height:24px}
.networks{display:flex;flex-wrap:wrap;gap:4px;margin:.5rem 0 0;padding:0;list-style:none}
.networks li{padding:0 .3125rem;border:1px solid var(--line);border-radius:5px;background:var(--card);color:var(--soft);
font-size:.75rem;font-weight:600;line-height:1.25rem}
.networks li:has(img){padding:0;border:0}
.networks:has([data-on]) li:not([data-on]) img{opacity:.35}
.networks [data-on]{border-color:var(--accent);color:var(--ink);box-shadow:0 0 0 1px var(--accent)}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,7rem),1fr));column-gap:.75rem}
.pair .field{display:grid;grid-row:span 3;grid-template-rows:subgrid;grid-template-columns:minmax(0,1fr);row-gap:0}
.pair label{align-self:end}
.pair input{grid-area:2/1}
.where{grid-area:2/1;place-self:center end;z-index:1;width:28px;height:18px;margin:.375rem .875rem 0;fill:none;
stroke:var(--soft);stroke-width:1.5;pointer-events:none}
.where~input{padding-inline-end:3.25rem}
.where .spot{fill:var(--accent);stroke:none}
.where .back path{stroke-width:3}
.field:has([data-length="4"]) .back,.field:not(:has([data-length="4"])) .front{display:none}
#card_cvv-error:not([hidden])+.hint{display:none}
.saved{margin-top:.5rem;font-size:.9375rem}
.saved:has(:checked){border-color:var(--accent);box-shadow:0 0 0 1px var(--accent)}
.saved:has(:disabled){cursor:default;opacity:.75}
.saved input{appearance:auto;flex:none;width:1.25rem;min-height:1.25rem;height:1.25rem;margin:0;accent-color:var(--accent)}
.saved span{display:block}
.saved .soft{font-weight:400}
.saved.fresh .soft{margin-top:.25rem}
.saved:has([type=checkbox]){align-items:flex-start;padding-block:.875rem;font-weight:500}
.saved [type=checkbox]{margin-top:.125rem}
.saved.fresh,.saving,.series{margin-top:1.25rem}
form:has([name=saved_card]:checked:not([value=new],[value=kept])) .fresh,
form:has([value=kept]:checked) :is(.number,.networks){display:none}
.series{padding-top:1rem;border-top:1px solid var(--line)}
.series dl{margin-block:.5rem .75rem;gap:.25rem 1rem;font-size:.9375rem}
.safe{display:flex;gap:.5rem;justify-content:center;margin-top:1rem;color:var(--soft);font-size:.8125rem;line-height:1.4}
.safe svg{flex:none;margin-top:.0625rem}
`;
