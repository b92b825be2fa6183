/** The style sheet of the docs site: that of the panel, with text to read, code, tabs and a table of contents. */
import { PANEL_STYLE } from '../panel/frame/style.ts';
import { LANGUAGES } from './code.ts';

const TABS = Object.keys(LANGUAGES).map((_language, index) => index + 1);
const checkedTab = (of: (index: number) => string): string => TABS.map(of).join(',');

export const DOCS_STYLE = `${PANEL_STYLE}
body.docs{grid-template:auto 1fr/17rem minmax(0,1fr);grid-template-areas:"bar bar""nav main";background:var(--card)}
.hush{position:absolute;width:1px;height:1px;min-height:0;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.docs .bar{position:sticky;top:0;z-index:6}
.docs .find{position:relative}
.bar .link{color:inherit;text-decoration:none;padding:.375rem .5rem;border-radius:8px}
.bar .link:hover{background:var(--raised)}
.found{position:absolute;z-index:7;inset-inline:0;top:100%;margin:.25rem 0 0;padding:.375rem;list-style:none;background:var(--card);
border:1px solid var(--line);border-radius:12px;box-shadow:0 8px 24px #0003;max-height:70vh;overflow-y:auto}
.found a,.results a{display:block;padding:.5rem .625rem;border-radius:8px;color:inherit;text-decoration:none}
.found a:hover,.found a:focus{background:var(--raised)}
.found b,.results b{color:var(--accent)}
.found span,.results span{display:block;color:var(--soft);font-size:.8125rem}
.found .none{padding:.5rem .625rem;color:var(--soft)}
.docs nav.chapters{position:sticky;top:3.4rem;align-self:start;max-height:calc(100vh - 3.4rem);overflow-y:auto;
border-inline-end:1px solid var(--line);min-height:calc(100vh - 3.4rem)}
.chapters summary{padding:.5rem .75rem;font-weight:650;border-radius:8px}
.chapters summary:hover{background:var(--raised)}
.chapters a{padding:.3125rem .75rem .3125rem 1.5rem;font-size:.875rem}
.chapters ul ul a{padding-inline-start:2.5rem;font-size:.8125rem}
.menu,.chapters .phone{display:none}
.docs main{display:grid;grid-template-columns:minmax(0,50rem) minmax(0,14rem);gap:0 3rem;max-width:none;padding:2rem 2.5rem 4rem;
align-content:start;justify-content:center}
.prose,.around{min-width:0}
.prose{grid-column:1;font-size:1rem;line-height:1.65}
.around{grid-column:1}
main:not(:has(.toc))>*{grid-column:1/-1}
.toc{grid-column:2;grid-row:1/span 3}
.toc>div{position:sticky;top:5rem;max-height:calc(100vh - 6rem);overflow-y:auto;font-size:.8125rem}
.toc h2{font-size:.8125rem;color:var(--soft)}
.toc ul{list-style:none;margin:0;padding:0;border-inline-start:2px solid var(--line)}
.toc a{display:block;padding:.1875rem .75rem;color:var(--soft);text-decoration:none}
.toc a:hover{color:var(--ink)}
.toc .deep a{padding-inline-start:1.5rem}
.toc a.here{color:var(--accent);margin-inline-start:-2px;border-inline-start:2px solid var(--accent)}
.crumb{margin:0 0 .25rem;color:var(--accent);font-size:.8125rem;font-weight:650}
.crumb a{text-decoration:none}
.prose h1{font-size:1.875rem;line-height:1.2;letter-spacing:-.015em;margin:0 0 1rem}
.prose h2{font-size:1.3125rem;margin:2.5rem 0 .75rem;line-height:1.3}
.prose h3{font-size:1.0625rem;margin:1.75rem 0 .5rem}
.prose h2,.prose h3,.prose h4{scroll-margin-top:4.5rem}
.prose h1:target{scroll-margin-top:6rem}
.anchor{visibility:hidden;text-decoration:none;font-weight:400;color:var(--soft)}
:is(h2,h3,h4):hover .anchor,.anchor:focus{visibility:visible}
.prose p{margin:0 0 1rem}
.prose :is(ul,ol){margin:0 0 1rem;padding-inline-start:1.5rem}
.prose li{margin:.25rem 0}
.prose li>:is(ul,ol){margin:.25rem 0}
.prose :is(a,li,p){overflow-wrap:anywhere}
.prose blockquote{margin:0 0 1rem;padding:.25rem 1rem;border-inline-start:3px solid var(--line);color:var(--soft)}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.875em}
:not(pre)>code{padding:.0625rem .3125rem;border-radius:5px;background:var(--raised)}
.prose :is(.scroll,.code,.samples){margin:0 0 1.25rem}
.prose .scroll{border:1px solid var(--line);border-radius:12px;background:var(--card)}
.prose table{font-size:.875rem;line-height:1.5}
.prose td{min-width:6rem;overflow-wrap:break-word}
.prose td :is(a,code){overflow-wrap:break-word}
.prose table:has(th:nth-child(5)){min-width:52rem}
.prose table:has(th:nth-child(6)){min-width:66rem}
.prose th{white-space:nowrap}
.code{position:relative}
.code pre{margin:0;padding:1rem;border:1px solid var(--line);border-radius:12px;background:var(--raised);line-height:1.55;overflow-wrap:normal}
.code code{font-size:.8125rem}
.code .string{color:var(--good)}
.code .comment{color:var(--soft);font-style:italic}
.code .copy{position:absolute;inset-inline-end:.5rem;top:.5rem}
.samples{display:flex;flex-wrap:wrap;gap:0 .25rem;border:0;padding:0;min-width:0}
.samples>label{padding:.5rem .75rem;border-bottom:3px solid transparent;color:var(--soft);font-size:.875rem;cursor:pointer}
.samples>label:hover{color:var(--ink)}
.samples>input{position:absolute;width:1px;height:1px;min-height:0;margin:0;opacity:0;pointer-events:none}
.samples>input:checked+label{border-color:var(--accent);color:var(--accent)}
.samples>input:focus-visible+label{outline:3px solid var(--accent);outline-offset:-3px;border-radius:6px}
.samples>.tab{display:none;flex-basis:100%;min-width:0;order:1}
.samples .code{margin:0}
${checkedTab((index) => `.samples>input:nth-of-type(${index}):checked~.tab:nth-of-type(${index})`)}{display:block}
.diagram{display:block;width:100%;min-width:40rem;height:auto;color:var(--ink)}
.diagram .ground{fill:var(--card)}
.diagram .box{fill:var(--raised);stroke:var(--edge)}
.diagram .good{fill:var(--good-ground);stroke:var(--good)}
.diagram .band{fill:var(--good-ground)}
.diagram .end{fill:var(--bad-ground);stroke:var(--bad)}
.diagram .line{stroke:var(--edge)}
.diagram .head{fill:var(--edge)}
.diagram .event{fill:var(--soft);stroke:var(--card)}
.diagram .state{fill:var(--ink)}
.screenshot{display:block;width:100%;height:auto;border:1px solid var(--line);border-radius:12px;margin:0 0 .5rem}
figure{margin:2rem 0 0}
figcaption{color:var(--soft);font-size:.8125rem}
.contents{columns:2;list-style:none;padding:0}
.contents a{display:block;padding:.25rem 0}
.calls{list-style:none;padding:0!important}
.calls li{margin:.375rem 0}
.method{min-width:3.5rem;text-align:center}
.call{border-top:1px solid var(--line)}
.call h2{margin-top:1.75rem}
.alternative{margin:0 0 .75rem;border:1px solid var(--line);border-radius:12px;background:var(--card)}
.alternative>summary{padding:.625rem 1rem;font-weight:600}
.prose .alternative>:not(summary){margin-inline:1rem}
.prose .alternative>h3{margin-top:.75rem}
.turn{display:grid;grid-template-columns:1fr 1fr;gap:1rem;margin-top:3rem;padding:0;border:0;background:none}
.turn a{display:block;padding:.75rem 1rem;border:1px solid var(--line);border-radius:12px;background:var(--card);color:inherit}
.turn a:hover{border-color:var(--accent);background:var(--card)}
.turn span{display:block;color:var(--soft);font-size:.8125rem}
.turn .next{grid-column:2;text-align:end}
.home{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,17rem),1fr));gap:1rem;align-items:start}
.first{display:flex;flex-wrap:wrap;gap:.5rem}
.first .button{text-decoration:none}
.prose.home-page .card h2{margin:0 0 .25rem}
.prose.home-page .card ul{margin:0;padding-inline-start:1.125rem;font-size:.9375rem}
.search-page{display:flex;gap:.5rem;margin:0 0 1.5rem;max-width:36rem}
.search-page input{margin:0}
.search-page button{overflow-wrap:normal}
.results{list-style:none;padding:0!important}
.results a{padding:.625rem 0}
@media(max-width:80rem){.docs main{grid-template-columns:minmax(0,54rem)}.toc{display:none}}
@media(max-width:40rem){.prose :is(details,section,article){overflow-x:auto}
.prose table.fields thead{display:none}
.prose table.fields tr{display:block;padding:.5rem 0;border-bottom:1px solid var(--line)}
.prose table.fields td{display:block;padding:.125rem .75rem;border:0}}
@media(max-width:52rem){body.docs{grid-template:auto auto 1fr/minmax(0,1fr);grid-template-areas:"bar""nav""main"}
.docs main{padding:1.25rem 1rem 3rem}
.docs .bar{position:static}
.bar .link{display:none}.chapters .phone{display:block}
.menu{display:inline-flex;align-items:center;padding:.375rem .75rem;border:1px solid var(--edge);border-radius:8px;font-size:.875rem;cursor:pointer}
#menu:focus-visible~.bar .menu{outline:3px solid var(--accent);outline-offset:2px}
.docs nav.chapters{display:none;position:static;max-height:none;min-height:0;overflow:visible;padding:.5rem}
#menu:checked~nav.chapters{display:block}
.chapters ul{display:grid}
.prose h1{font-size:1.5rem}
.contents{columns:1}
.code:has(.copy) pre{padding-top:2.75rem}
.turn{padding:0}}
@media(min-width:52.01rem){#menu{display:none}}
@media print{.toc,.turn,.code .copy,.samples>label{display:none!important}.docs main{display:block}}
`;
