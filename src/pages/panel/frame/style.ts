/** The style sheet of the panel: the colours of the payment pages, dense tables, phone and desktop, light and dark. */
import { COLOURS } from '../../colours.ts';

export const PANEL_STYLE = `${COLOURS}:root{--second:#4263eb;--wait:#7a4f00;--wait-ground:#fdf3dc}
@media(prefers-color-scheme:dark){:root{--second:#91a7ff;--wait:#f3c969;--wait-ground:#352a10}}
*{box-sizing:border-box}
[hidden]{display:none!important}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;min-height:100vh;min-height:100dvh;background:var(--ground);color:var(--ink);
font:.9375rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:anywhere;display:grid;
grid-template:auto 1fr/13rem minmax(0,1fr);grid-template-areas:"bar bar""nav main"}
body.plain{grid-template:auto 1fr/minmax(0,1fr);grid-template-areas:"bar""main"}
.skip{position:absolute;inset-inline-start:-99rem}
.skip:focus{inset-inline-start:.5rem;top:.5rem;z-index:9;background:var(--card);padding:.5rem}
.bar{grid-area:bar;display:flex;align-items:center;gap:.75rem;padding:.5rem 1rem;background:var(--card);
border-bottom:1px solid var(--line)}
.brand{font-weight:700;font-size:1.0625rem;color:inherit;text-decoration:none}
.find{flex:1;max-width:32rem;margin-inline-start:auto}
.find input{min-height:2.25rem;margin:0}
.who{position:relative;margin-inline-start:auto}
.find+.who{margin-inline-start:0}
.who summary{cursor:pointer;padding:.375rem .5rem;border-radius:8px;list-style:none;white-space:nowrap}
.who summary::after{content:" ▾"}
.who>div{position:absolute;inset-inline-end:0;z-index:5;min-width:13rem;padding:.75rem 1rem 1rem;background:var(--card);
border:1px solid var(--line);border-radius:12px;box-shadow:0 8px 24px #0003}
nav{grid-area:nav;padding:1rem .5rem;border-inline-end:1px solid var(--line);background:var(--card)}
nav ul{list-style:none;margin:0;padding:0;display:grid;gap:.125rem}
nav a{display:flex;justify-content:space-between;align-items:center;gap:.5rem;padding:.5rem .75rem;border-radius:8px;color:inherit;text-decoration:none}
nav a:hover{background:var(--raised)}
nav a[aria-current]{background:var(--raised);font-weight:650;color:var(--accent)}
main{grid-area:main;padding:1.25rem 1.5rem 3rem;max-width:80rem;width:100%;min-width:0;outline:none}
.plain main{max-width:28rem;margin:0 auto;padding-top:2.5rem}
h1{font-size:1.375rem;line-height:1.3;margin:0;text-wrap:balance}
h2{font-size:1.0625rem;line-height:1.4;margin:0 0 .5rem}
h3{font-size:.9375rem;margin:0 0 .25rem}
p{margin:.25rem 0 0}
a{color:var(--accent)}
.head{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem 1rem;margin-bottom:1rem}
.head .actions{margin-inline-start:auto;display:flex;flex-wrap:wrap;gap:.5rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:1rem 1.25rem;margin-bottom:1rem;
min-width:0}
.card.flush{padding:0;overflow:hidden}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,11rem),1fr));gap:1rem;margin-bottom:1rem}
.cards .card{margin:0}
.figure{font-size:1.5rem;font-weight:700;letter-spacing:-.015em;font-variant-numeric:tabular-nums;line-height:1.2}
.amount{white-space:nowrap;font-variant-numeric:tabular-nums}
.figure .long{font-size:1.125rem}
.card .figure+.small{margin-top:.25rem}
code{font:.8125rem ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
button.whole{white-space:nowrap}
.bars{list-style:none;margin:0;padding:0;display:grid;gap:.625rem}
.bars li{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 1rem}
.bars .value{font-variant-numeric:tabular-nums;white-space:nowrap}
.bars svg{display:block;width:100%;flex-basis:100%;fill:var(--fill)}
.bars svg.bad{fill:var(--bad)}
.bars .ground{fill:var(--raised)}
.soft{color:var(--soft)}
.small{font-size:.8125rem}
.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.8125rem}
.badge{display:inline-block;padding:.0625rem .5rem;border-radius:99px;background:var(--raised);color:var(--soft);
font-size:.75rem;font-weight:650;white-space:nowrap}
.badge.good{background:var(--good-ground);color:var(--good)}
.badge.bad{background:var(--bad-ground);color:var(--bad)}
.badge.wait,.badge.sandbox{background:var(--wait-ground);color:var(--wait)}
.scroll{overflow-x:auto}
table{width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.5rem 1rem;text-align:start;vertical-align:top;border-bottom:1px solid var(--line)}
th{font-size:.75rem;font-weight:600;color:var(--soft);white-space:nowrap}
tr:last-child>td,tr:last-child>th{border-bottom:0}
td.number,th.number{text-align:end;white-space:nowrap}
tbody tr:hover{background:var(--raised)}
td time{white-space:nowrap}
tr[aria-current]{background:var(--raised);box-shadow:inset 3px 0 0 var(--accent)}
kbd{display:inline-block;min-width:1.5rem;padding:0 .375rem;text-align:center;border:1px solid var(--edge);border-radius:6px;
font:.8125rem ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--card)}
.tabs+.soft{margin-bottom:1rem}
td form>.actions{margin-top:0}
.group{margin:1rem 0 .75rem;padding:.25rem 1rem 1rem;border:1px solid var(--line);border-radius:12px;min-width:0}
.group legend select{width:auto;margin:0}
.comparison{display:flex;flex-wrap:wrap;align-items:end;gap:.5rem;padding:.75rem 0;border-bottom:1px solid var(--line)}
.cell{flex:1 1 9rem;min-width:0}
.cell label{color:var(--soft);font-weight:400}
.comparison .error{flex-basis:100%}
.group>.inline{margin-top:.75rem}
dl.facts{display:grid;grid-template-columns:minmax(7rem,max-content) minmax(0,1fr);gap:.375rem 1rem;margin:0}
dl.facts dt{color:var(--soft)}
dl.facts dd{margin:0}
.filters{display:flex;flex-wrap:wrap;gap:.5rem .75rem;align-items:end;margin-bottom:1rem}
p+.filters{margin-top:1rem}
.filters .field{margin:0;min-width:8.5rem;flex:0 1 auto}
.filters:has(.error){align-items:start}
.filters:has(.error)>button,.filters:has(.error)>.button{align-self:end}
.filters .error{max-width:13rem}
.choices{display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:center}
.choices legend{margin-bottom:.25rem}
.choice{display:inline-flex;align-items:center;min-height:2.5rem;font-weight:400;font-size:inherit}
.field{margin-top:1rem;min-width:0}
label,legend{display:block;padding:0;font-weight:600;font-size:.8125rem}
fieldset.card>legend{float:left;width:100%;margin-bottom:.5rem}
fieldset.card>legend+*{clear:both}
input,select,textarea{display:block;width:100%;min-height:2.5rem;margin:.25rem 0 0;padding:.375rem .75rem;font:inherit;
color:inherit;background:var(--card);border:1px solid var(--edge);border-radius:8px}
input[type=checkbox],input[type=radio]{display:inline-block;width:1.125rem;min-height:1.125rem;height:1.125rem;margin:0 .5rem 0 0;
accent-color:var(--fill);vertical-align:-.1875rem}
textarea{min-height:6rem;resize:vertical}
input[type=file]{min-height:0;padding:0;border:0;background:none;color:var(--soft);font-size:.8125rem}
input[type=file]::file-selector-button{min-height:2rem;margin-inline-end:.5rem;padding:.25rem .75rem;font:inherit;font-weight:600;
color:var(--ink);background:var(--raised);border:1px solid var(--line);border-radius:8px;cursor:pointer}
input[aria-invalid=true],select[aria-invalid=true],textarea[aria-invalid=true]{border-color:var(--bad);
box-shadow:0 0 0 1px var(--bad)}
.hint{margin-top:.25rem;color:var(--soft);font-size:.8125rem;line-height:1.4}
.error{margin-top:.25rem;color:var(--bad);font-size:.8125rem;font-weight:600}
.notice{padding:.75rem 1rem;border-radius:10px;margin-bottom:1rem;background:var(--raised)}
.notice.bad{background:var(--bad-ground);color:var(--bad)}
.notice.good{background:var(--good-ground);color:var(--good)}
.notice.wait{background:var(--wait-ground);color:var(--wait)}
button,.button{display:inline-flex;align-items:center;justify-content:center;gap:.5rem;min-height:2.5rem;padding:.375rem 1rem;
font:inherit;font-weight:600;color:var(--on-fill);background:var(--fill);border:1px solid transparent;border-radius:8px;
text-decoration:none;cursor:pointer}
button.quiet,.button.quiet{color:inherit;background:var(--card);border-color:var(--edge)}
button.danger{background:var(--bad);color:var(--card)}
:is(button,input,select,textarea):disabled{opacity:.6;cursor:default}
.wide{width:100%}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.narrow{max-width:34rem}
fieldset.bare{border:0;margin:0;padding:0;min-width:0}
.inline{display:flex;flex-wrap:wrap;gap:.375rem;align-items:center}
.inline select{width:auto;min-height:2.25rem;margin:0}
.inline form{margin:0}
.inline button{min-height:2.25rem}
.links{margin:0;padding-inline-start:1.25rem}
.plain:has(.links) main{max-width:40rem}
.chart{min-height:15.5rem;overflow:hidden}
.u-legend{color:var(--soft);font-size:.8125rem}
.uplot .u-legend th,.uplot .u-legend td{border:0;padding:.125rem .25rem;font-weight:400}
.uplot .u-inline.u-live th::after{content:none}
.uplot .u-legend tr:hover{background:none}
.tasks{list-style:none;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:.5rem 1.5rem}
.columns.even{grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr))}
.cards.inner{margin:0}
.cards.inner .card{background:var(--raised);border:0}
.inset{padding:1rem 1.25rem 0;margin:0}
p.inset,form.inset{padding-bottom:1rem}
.notice .inline{margin-top:.75rem}
td .inline .button{min-height:2rem;padding:.125rem .625rem;font-size:.8125rem}
.head>p{flex-basis:100%;margin:0}
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.actions form{margin:0}
.card>.actions,form>.actions{display:flex;flex-wrap:wrap;gap:.5rem;margin-top:1.25rem}
.empty{padding:2.5rem 1rem;text-align:center;color:var(--soft)}
.empty h2{color:var(--ink)}
.pages{display:flex;gap:.5rem;justify-content:flex-end;padding:.75rem 1rem}
.timeline{list-style:none;margin:0;padding:0}
.timeline li{position:relative;padding:0 0 1rem 1.5rem;border-inline-start:2px solid var(--line);margin-inline-start:.4rem}
.timeline li:last-child{padding-bottom:0;border-color:transparent}
.timeline li::before{content:"";position:absolute;inset-inline-start:-.4rem;top:.4rem;width:.65rem;height:.65rem;
border-radius:50%;background:var(--edge)}
.timeline li.good::before{background:var(--good)}
.timeline li.bad::before{background:var(--bad)}
.timeline li.wait::before{background:var(--wait)}
.columns{display:grid;grid-template-columns:minmax(0,3fr) minmax(0,2fr);gap:1rem;align-items:start}
details>summary{cursor:pointer;white-space:nowrap}
dl.facts{margin-top:.5rem}
td .mono{overflow-wrap:normal}
pre{margin:.5rem 0 0;padding:.75rem;overflow-x:auto;background:var(--raised);border-radius:8px;font-size:.8125rem}
td .key{white-space:nowrap}
.tabs{margin-bottom:1rem;overflow-x:auto;border-bottom:1px solid var(--line)}
.tabs ul{display:flex;gap:.25rem;list-style:none;margin:0;padding:0}
.tabs a{display:block;padding:.625rem .75rem;border-bottom:3px solid transparent;color:var(--soft);text-decoration:none;white-space:nowrap}
.tabs a:hover{color:var(--ink)}
.tabs a[aria-current]{border-color:var(--accent);color:var(--accent);font-weight:650}
.tabs a:focus-visible{outline-offset:-3px}
button.small{min-height:1.75rem;padding:0 .5rem;font-size:.8125rem}
.copy{vertical-align:middle}
.command{position:relative}
.command .copy{position:absolute;inset-block-start:.5rem;inset-inline-end:.5rem}
.command pre{padding-inline-end:4.5rem;overflow-wrap:anywhere}
.pay-with{margin:.75rem 0 0}
.confirm>summary{list-style:none;margin-top:1rem}
.confirm>p{margin-top:.75rem}
.confirm>.actions{margin-top:.75rem}
.inset.end{padding-bottom:1rem}
.inline .short{width:14rem;max-width:100%;min-height:2.25rem;margin:0}
.listed .list{margin-top:.5rem}
.listed:has(.all:checked) .list{display:none}
.listed ol{list-style:none;margin:.5rem 0 0;padding:0;border:1px solid var(--line);border-radius:10px;max-height:28rem;overflow-y:auto}
.listed li{display:flex;flex-wrap:wrap;align-items:center;gap:.25rem .75rem;padding:.125rem .75rem;border-bottom:1px solid var(--line)}
.listed li:last-child{border:0}
.listed li:has(:checked) .choice{font-weight:600}
.listed li .inline{margin-inline-start:auto}
.listed .position{width:4rem;min-height:2.25rem;margin:0;text-align:end}
code.soft{font-size:.75rem}
.pre{white-space:pre-line}
.logo{max-height:3rem;max-width:100%}
.pair{display:flex;flex-wrap:wrap;gap:.25rem .5rem}
.pair>*{flex:1 1 8rem;width:auto;min-width:0}
.chips{display:flex;flex-wrap:wrap;gap:.25rem;margin-top:.25rem}
.chips input{flex:1 1 8rem;width:auto;margin:0}
.chip{border-radius:99px}
.checklist{list-style:none;margin:.5rem 0 0;padding:0}
.checklist li{padding:.25rem 0 .25rem 1.75rem;position:relative}
.checklist li::before{content:"";position:absolute;inset-inline-start:0;top:.5rem;width:1rem;height:1rem;border:2px solid var(--edge);border-radius:50%}
.checklist .done::before{content:"✓";border-color:var(--good);color:var(--good);font-size:.75rem;line-height:.8rem;text-align:center;font-weight:700}
.checklist .done a{color:var(--soft)}
.menu,.shut{display:none}
.editor{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,26rem);gap:1rem;align-items:start}
.editor:has(#preview-desktop:checked){grid-template-columns:minmax(0,1fr)}
.preview{position:sticky;top:1rem}
.editor:has(#preview-desktop:checked) .preview{position:static}
.preview .choices .gap{flex:1}
.screen{margin-top:.75rem;overflow-x:auto;border:1px solid var(--line);border-radius:12px}
.screen iframe{display:block;width:100%;min-width:20rem;height:44rem;border:0;border-radius:12px;background:var(--ground)}
:has(#preview-desktop:checked)>.screen iframe{min-width:56rem}
.notes{margin:.5rem 0 0;padding-inline-start:1.25rem;color:var(--wait);font-size:.8125rem}
.notes:empty{display:none}
.field:has(.picker) input{display:inline-block;width:calc(100% - 4.5rem)}
.field:has(.picker) .picker{width:4rem;margin-inline-start:.5rem;padding:.125rem;vertical-align:bottom}
fieldset.field{margin-top:1rem}
.links li{padding:.25rem 0}
.links .actions{margin:.5rem 0}
.card>*+.notice{margin-top:.75rem}
dl.facts+.hint{margin-top:.75rem}
dl.facts dd:has(.copy),dl.facts dt:has(+dd>.copy){line-height:1.75rem}
.scrolled{max-height:16rem;overflow-y:auto;margin-top:.25rem;padding:.25rem .75rem;border:1px solid var(--edge);border-radius:8px}
.scrolled .choice{display:flex}
.pills{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem .375rem;margin:0 0 1rem;padding:0}
.pills li{display:inline-flex;align-items:center;border:1px solid var(--line);border-radius:99px;background:var(--card);min-width:0}
.pills a{padding:.3125rem .875rem;color:inherit;text-decoration:none;border-radius:99px}
.pills .active{border-color:var(--accent)}
.pills [aria-current]{font-weight:650;color:var(--accent)}
.pills li:has(form) a{padding-inline-end:.375rem}
.pills form{margin:0;display:flex}
button.mini{min-height:1.75rem;min-width:1.75rem;padding:0;margin-inline-end:.25rem;border-radius:99px;background:none;color:var(--soft)}
button.mini:hover{background:var(--raised);color:var(--bad)}
.saved{display:flex;flex-wrap:wrap;gap:.5rem;align-items:start;margin-bottom:1rem}
.saved .pills{margin:0}
.save{position:relative}
.save summary{list-style:none;min-height:2.125rem}
.save summary::-webkit-details-marker{display:none}
.save .card{position:absolute;z-index:4;min-width:min(20rem,80vw);margin-top:.25rem;box-shadow:0 8px 24px #0003}
.save .field{margin:0}
.export{display:inline-flex;flex-wrap:wrap;align-items:center;gap:.375rem .75rem}
.export:has(output:not([hidden])){flex-direction:row-reverse}
a[aria-disabled=true]{opacity:.6}
.upload{margin-top:1rem;display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}
progress{accent-color:var(--fill)}
.block{margin-bottom:1rem}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,15rem),1fr));gap:0 1rem}
a.card{color:inherit;text-decoration:none}
a.card:hover{border-color:var(--accent)}
.receipt{max-width:40rem;padding:2rem;margin-inline:auto}
.receipt header{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:baseline;gap:.25rem 1rem;margin-bottom:1.5rem;
border-bottom:1px solid var(--line);padding-bottom:1rem}
.receipt .shop{font-size:1.375rem;font-weight:700;margin:0;line-height:1.3}
.receipt h1{font-weight:500;color:var(--soft)}
.receipt .figure{font-size:2rem;margin:0}
.receipt .facts{margin:1.25rem 0}
.receipt .total{display:flex;justify-content:space-between;border-top:1px solid var(--line);padding-top:.75rem;font-size:1.125rem}
.receipt footer{margin-top:2rem}
.statement>*+*{margin-top:1.25rem}.statement{page:statement;padding:1.5rem}.statement header{margin-bottom:1rem}.statement .shop{font-size:1.25rem;font-weight:700;margin:0}.statement h1{font-weight:500;color:var(--soft)}.statement table{font-size:.8125rem}
.head.actions{justify-content:center;display:flex}
td .mono.any{overflow-wrap:anywhere}
@media(min-width:52.01rem){.dense th,.dense td{padding-inline:.5rem;white-space:normal}.dense th{overflow-wrap:normal}.dense td.number{white-space:nowrap}
.dense tr>:first-child{padding-inline-start:1rem}.dense tr>:last-child{padding-inline-end:1rem}}
pre.wrap{white-space:pre-wrap}
@media(max-width:70rem){.editor{grid-template-columns:minmax(0,1fr)}.preview{position:static}}
@media screen and (max-width:52rem){body{grid-template:auto auto 1fr/minmax(0,1fr);grid-template-areas:"bar""nav""main"}
nav{display:none;padding:.5rem;border:0;border-bottom:1px solid var(--line)}nav:target{display:block}
nav a{padding:.625rem .75rem}.menu{display:inline-flex;order:-1;min-height:2.25rem;padding:.25rem .75rem}
body:has(nav:target) .menu{display:none}.shut{display:inline-flex;width:100%;margin-top:.25rem}
main{padding:1rem}.columns{grid-template-columns:minmax(0,1fr)}.bar{flex-wrap:wrap}.find{order:9;flex-basis:100%;max-width:none}
.find+.who{margin-inline-start:auto}
table.stack thead{display:none}table.stack tr{display:block;padding:.5rem 0;border-bottom:1px solid var(--line)}
table.stack td,table.stack th[scope=row]{display:flow-root;padding:.1875rem 1rem;border:0;text-align:start}
table.stack td{padding-inline-start:8.5rem}table.stack td .mono{overflow-wrap:anywhere}
table.stack td::before{content:attr(data-label);float:inline-start;width:7rem;margin-inline-start:-7.5rem;color:var(--soft);font-size:.8125rem}
table.stack .actions button{padding-inline:.75rem}}
.erasure h2{margin:1.5rem 0 .5rem}.erasure ul{margin:0;padding-inline-start:1.25rem}.erasure li{margin:.25rem 0}
.erasure form{margin-top:1.5rem}.erasure fieldset.bare{margin-bottom:1.5rem}
@media(max-width:30rem){.receipt{padding:1.25rem}.find:has(+.who){flex-basis:60%}
.find+.who{order:10;max-width:calc(40% - .75rem)}.who summary{overflow:hidden;text-overflow:ellipsis}}
@media(forced-colors:active){[aria-current]{outline:2px solid Highlight;outline-offset:-2px}
.badge{border:1px solid CanvasText}.bars svg{forced-color-adjust:none;fill:Highlight}.bars .ground{fill:Canvas}
.button,button{border-color:ButtonText}.timeline li::before{forced-color-adjust:none}}
@page{margin:18mm}
@page statement{size:A4;margin:14mm}
.qr svg{width:180px;height:180px;display:block;background:#fff}
@media print{.bar,nav,.actions,.filters,.tabs,.pills,.no-print,.skip,.pages{display:none!important}body{display:block;background:#fff;color:#000}
:root{--ink:#000;--soft:#444;--line:#bbb;--card:#fff;--ground:#fff;--raised:#fff}
main{padding:0;max-width:none}.card{border:0;padding:0}.receipt{max-width:none}
.statement{padding:0}.statement .scroll{overflow:visible}.statement table{font-size:7.5pt}.statement :is(th,td){padding:.2em .35em}thead{display:table-header-group}tr{break-inside:avoid}
a{color:inherit;text-decoration:none}}
`;
