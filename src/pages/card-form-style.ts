/** The style of the card form: the marks of the networks, where the security code is, and saving the card. */

export const CARD_FORM_STYLE = `.network{display:flex;align-items:center;gap:.375rem;align-self:end;font-size:.8125rem;font-weight:650;
line-height:1.375rem}
.network svg,.networks svg{display:block;width:34px;height:21px;border-radius:4px}
.network:has(#network:empty) svg{display:none}
symbol text{fill:#fff;font:700 8.5px/1 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;text-anchor:middle}
.networks{display:flex;flex-wrap:wrap;gap:4px;margin:.5rem 0 0;padding:0;list-style:none}
.networks li{border-radius:5px;transition:opacity .15s}
.networks:has([data-on]) li:not([data-on]){opacity:.35}
.networks [data-on]{outline:2px solid var(--accent);outline-offset:1px}
.hint:has(.where){display:flex;gap:.5rem;align-items:flex-start}
.where{flex:none;width:28px;height:18px;fill:none;stroke:currentcolor;stroke-width:1.5}
.where .spot{fill:var(--accent);stroke:none}
.where .back path{stroke-width:3}
#card_cvv[data-length="4"]~div .back,#card_cvv:not([data-length="4"])~div .front{display:none}
.saving{margin-top:1.125rem}
.saved.fresh{align-items:flex-start;margin-top:1.25rem;padding-block:.75rem}
.saved.fresh input{margin-top:.125rem}
.saved.fresh .small{margin-top:.25rem}
@media(max-width:23.4rem){.networks{gap:3px}.networks svg{width:28px;height:17.5px}}
`;
