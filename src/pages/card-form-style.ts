/** The style of the card form: the marks of the networks, where the security code is, saved cards, and what the payer agrees to. */

export const CARD_FORM_STYLE = `.number{display:grid;grid-template-columns:minmax(0,1fr) auto;column-gap:.5rem}
.number>:not(label,.network){grid-column:1/-1}
.network{display:flex;align-items:center;gap:.375rem;align-self:end;font-size:.8125rem;font-weight:650;
line-height:1.375rem}
.network svg,.networks svg,.network-mark{display:block;flex:none;width:34px;height:21px;border-radius:4px}
.network-mark{margin-inline-start:auto}
.network:has(#network:empty) svg{display:none}
symbol text{fill:#fff;font:700 8.5px/1 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;text-anchor:middle}
.networks{display:flex;flex-wrap:wrap;gap:4px;margin:.5rem 0 0;padding:0;list-style:none}
.networks li{border-radius:5px;transition:opacity .15s}
.networks:has([data-on]) li:not([data-on]){opacity:.35}
.networks [data-on]{outline:2px solid var(--accent);outline-offset:1px}
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
form:has([name=saved_card]:checked:not([value=new])) .fresh{display:none}
.series{padding-top:1rem;border-top:1px solid var(--line)}
.series dl{margin-block:.5rem .75rem;gap:.25rem 1rem;font-size:.9375rem}
.safe{display:flex;gap:.5rem;justify-content:center;margin-top:1rem;color:var(--soft);font-size:.8125rem;line-height:1.4}
.safe svg{flex:none;margin-top:.0625rem}
@media(max-width:23.4rem){.networks{gap:3px}.networks svg{width:28px;height:17.5px}}
`;
