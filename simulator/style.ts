/** The style sheet of the simulator pages: mobile first, light and dark. */
import { html } from '../src/lib/text/html.ts';

export const STYLE = html`
:root {
  color-scheme: light dark;
  --ground: #f3f4f6; --paper: #ffffff; --ink: #17202c; --quiet: #566273; --line: #d9dee5; --field: #f7f8fa;
  --accent: #1f55c4; --on-accent: #ffffff; --tint: #eaf0fc;
  --good: #14653f; --good-tint: #e3f4ea; --bad: #a3222f; --bad-tint: #fbe9ea; --wait: #7a4b00; --wait-tint: #fcf0d9;
  --hatch: #f2c14e; --hatch-two: #e9b12e; --on-hatch: #231a02;
}
[data-page-type='bank'] { --accent: #0c6657; --tint: #e2f3ef; }
[data-page-type='credit'] { --accent: #7a2b8f; --tint: #f6eaf9; }
[data-page-type='crypto'] { --accent: #8a4300; --tint: #fbeee1; }
[data-page-type='app'] { --accent: #17643b; --tint: #e5f3ea; }
[data-page-type='transfer'] { --accent: #0b5c80; --tint: #e3f1f8; }
[data-page-type='qr'] { --accent: #9c1f3c; --tint: #fbe9ee; }
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0e1217; --paper: #171c23; --ink: #e8ecf1; --quiet: #a3aebd; --line: #303945; --field: #1e252e;
    --accent: #8fb4ff; --on-accent: #0b1526; --tint: #1c2940;
    --good: #7fd6a4; --good-tint: #14301f; --bad: #ff9aa2; --bad-tint: #3a181c; --wait: #f3c370; --wait-tint: #35270d;
    --hatch: #c99a2b; --hatch-two: #b98a1d; --on-hatch: #1a1302;
  }
  [data-page-type='bank'] { --accent: #6fd3c0; --on-accent: #06211c; --tint: #123029; }
  [data-page-type='credit'] { --accent: #dba6ea; --on-accent: #28092f; --tint: #311d38; }
  [data-page-type='crypto'] { --accent: #f5b26b; --on-accent: #2b1500; --tint: #37240f; }
  [data-page-type='app'] { --accent: #83d6a3; --on-accent: #07210f; --tint: #15301f; }
  [data-page-type='transfer'] { --accent: #7cc8ee; --on-accent: #04202e; --tint: #122c3a; }
  [data-page-type='qr'] { --accent: #ff9fb3; --on-accent: #33060f; --tint: #3b1822; }
}
* { box-sizing: border-box; margin: 0; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  min-height: 100vh; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif; overflow-wrap: break-word;
}
.banner {
  padding: .5rem 1rem; text-align: center; font-size: .875rem; font-weight: 600; color: var(--on-hatch);
  background: repeating-linear-gradient(135deg, var(--hatch) 0 12px, var(--hatch-two) 12px 24px);
}
a { color: var(--accent); text-underline-offset: .2em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: .25rem; }
code, .mono { font-family: ui-monospace, 'SF Mono', Menlo, Consolas, monospace; font-size: .9375em; }
h1 { font-size: 1.375rem; line-height: 1.3; font-weight: 650; letter-spacing: -.01em; text-wrap: balance; }

.card { width: min(100%, 28rem); margin: 0 auto; background: var(--paper); padding: 1.5rem 1.25rem 1.75rem; }
.who { display: flex; align-items: center; gap: .625rem; margin-bottom: 1.5rem; color: var(--accent); font-weight: 600; }
.icon { flex: none; display: grid; place-items: center; width: 2.25rem; height: 2.25rem; border-radius: .625rem; background: var(--tint); }
.icon svg { width: 1.25rem; height: 1.25rem; fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
.who .brand { margin-left: auto; }
.brand { padding: .125rem .5rem; border: 1px solid var(--line); border-radius: 1rem; color: var(--quiet); font-size: .8125rem; font-weight: 500; white-space: nowrap; }
.amount { margin: .25rem 0 0; font-size: clamp(1.75rem, 9vw, 2.375rem); line-height: 1.2; font-weight: 700; letter-spacing: -.02em; font-variant-numeric: tabular-nums; }
.amount.wide { font-size: clamp(1.25rem, 6.2vw, 1.75rem); overflow-wrap: anywhere; }
.lead { margin-top: .75rem; color: var(--quiet); text-wrap: pretty; }
.facts { margin-top: 1.25rem; border-top: 1px solid var(--line); }
.facts > div { display: grid; grid-template-columns: 6.5rem minmax(0, 1fr); gap: .75rem; padding: .625rem 0; border-bottom: 1px solid var(--line); }
.facts dt { color: var(--quiet); }
.facts .long { max-height: 9rem; overflow-y: auto; }
.code { margin-top: 1.25rem; text-align: center; }
.code svg { width: min(100%, 13rem); height: auto; background: #fff; padding: .5rem; border-radius: .75rem; border: 1px solid var(--line); }
.copy { display: block; overflow-wrap: anywhere; margin-top: .25rem; padding: .625rem .75rem; background: var(--field); border: 1px solid var(--line); border-radius: .5rem; user-select: all; }
.label { margin-top: 1rem; color: var(--quiet); font-size: .875rem; }

form { margin-top: 1.5rem; }
fieldset { border: 0; padding: 0; margin-bottom: 1.25rem; }
legend { padding: 0; margin-bottom: .5rem; font-weight: 600; }
.choice { display: flex; align-items: center; gap: .75rem; min-height: 3rem; padding: .5rem .875rem; border: 1px solid var(--line); border-bottom-width: 0; cursor: pointer; }
.choice:first-of-type { border-radius: .625rem .625rem 0 0; }
.choice:last-of-type { border-radius: 0 0 .625rem .625rem; border-bottom-width: 1px; }
.choice:first-of-type:last-of-type { border-radius: .625rem; }
.choice:has(:checked) { background: var(--tint); }
.choice input { flex: none; width: 1.125rem; height: 1.125rem; accent-color: var(--accent); }
.ask { display: block; margin-bottom: .375rem; font-weight: 600; }
.digits { display: block; width: 100%; min-height: 3.25rem; padding: .5rem .875rem; border: 1px solid var(--quiet); border-radius: .625rem; background: var(--paper); color: var(--ink); font: 600 1.375rem/1.2 ui-monospace, 'SF Mono', Menlo, Consolas, monospace; letter-spacing: .3em; }
.digits[aria-invalid] { border-color: var(--bad); outline-color: var(--bad); }
.hint { margin: .5rem 0 1.25rem; color: var(--quiet); font-size: .875rem; }
.problem { margin-top: 1rem; padding: .625rem .875rem; border-radius: .5rem; background: var(--bad-tint); color: var(--bad); font-weight: 600; text-wrap: balance; }

button, .button {
  display: block; width: 100%; min-height: 3rem; padding: .625rem 1rem; border: 1px solid transparent; border-radius: .625rem;
  font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer;
}
.yes, .button { background: var(--accent); color: var(--on-accent); }
.no { margin-top: .75rem; background: var(--paper); color: var(--ink); border-color: var(--quiet); }
.leave { margin-top: .5rem; background: none; color: var(--quiet); font-weight: 400; text-decoration: underline; text-underline-offset: .2em; }
button:hover, .button:hover { filter: brightness(.94); }
.leave:hover { color: var(--ink); filter: none; }
/* The frame of a challenge is 600 pixels high. */
@media (max-height: 40rem) {
  .card { padding-block: 1rem; }
  .who { margin-bottom: 1rem; }
  .lead { margin-top: .5rem; }
  .facts { margin-top: .75rem; }
  .facts > div { padding: .375rem 0; }
  form { margin-top: 1rem; }
  .hint { margin-bottom: .875rem; }
}
.done { text-align: center; }
.done .lead { text-wrap: balance; }
.done .icon { width: 4rem; height: 4rem; margin: .5rem auto 1.25rem; border-radius: 50%; }
.done .icon svg { width: 2rem; height: 2rem; stroke-width: 2; }
.done .facts { text-align: left; }
.done .button { margin-top: 1.5rem; }
.good { background: var(--good-tint); color: var(--good); }
.bad { background: var(--bad-tint); color: var(--bad); }
.wait { background: var(--wait-tint); color: var(--wait); }

.console { max-width: 76rem; margin: 0 auto; padding: 1.25rem 1rem 2rem; }
.console .lead { margin: .25rem 0 1.25rem; }
.console table, .console tbody { display: block; }
.console thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.console tr { display: grid; grid-template-columns: auto 1fr auto; gap: .25rem .75rem; margin-bottom: .75rem; padding: .875rem 1rem; background: var(--paper); border: 1px solid var(--line); border-radius: .75rem; }
.console td { padding: 0; }
.console .sum { grid-row: 1; grid-column: 1 / 3; font-weight: 650; font-variant-numeric: tabular-nums; }
.console .state { grid-row: 1; grid-column: 3; justify-self: end; }
.console .when { grid-row: 2; grid-column: 2 / 4; justify-self: end; color: var(--quiet); font-size: .875rem; font-variant-numeric: tabular-nums; }
.console .which { display: contents; }
.console .which .brand { grid-row: 2; grid-column: 1; justify-self: start; }
.console .sum { overflow-wrap: anywhere; }
.console .reference, .console .actions { grid-column: 1 / -1; }
.console .reference { color: var(--quiet); font-size: .8125rem; }
.console .actions:empty { display: none; }
.console form { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; margin-top: .375rem; }
.console button, .console .open { width: auto; white-space: nowrap; min-width: 2.75rem; min-height: 2.75rem; margin: 0; padding: .25rem .875rem; font-size: .875rem; }
.console .open { display: inline-flex; align-items: center; padding: .25rem .5rem; }
.console form span { color: var(--quiet); font-size: .875rem; }
.state b { display: inline-block; white-space: nowrap; padding: .125rem .625rem; border-radius: 1rem; font-size: .8125rem; font-weight: 600; }
.state small { display: block; margin-top: .125rem; padding: 0 .625rem; color: var(--quiet); }
.plain { background: var(--field); color: var(--quiet); }
.empty { padding: 2.5rem 1rem; text-align: center; color: var(--quiet); background: var(--paper); border: 1px dashed var(--line); border-radius: .75rem; }

@media (max-width: 39.99rem) {
  body:has(.card) { background: var(--paper); }
}
@media (min-width: 40rem) {
  .card { margin: 2.5rem auto; padding: 2rem 2rem 1.75rem; border: 1px solid var(--line); border-radius: 1rem; box-shadow: 0 1px 2px rgb(0 0 0 / .05), 0 12px 32px -16px rgb(0 0 0 / .2); }
}
@media (min-width: 60rem) {
  .console { padding: 2rem 2rem 3rem; }
  .console table { display: table; width: 100%; border-collapse: collapse; background: var(--paper); border: 1px solid var(--line); }
  .console thead { position: static; display: table-header-group; clip-path: none; width: auto; height: auto; }
  .console tbody { display: table-row-group; }
  .console tr { display: table-row; background: none; border: 0; }
  .console th, .console td { padding: .625rem .875rem; text-align: left; vertical-align: middle; border-bottom: 1px solid var(--line); }
  .console th { color: var(--quiet); font-size: .8125rem; font-weight: 600; }
  .console tbody tr:last-child td { border-bottom: 0; }
  .console .sum { text-align: right; white-space: nowrap; }
  .console .when { white-space: nowrap; }
  .console .which { display: table-cell; }
  .console .when { margin-left: .375rem; }
  .console .reference { display: block; margin-top: .25rem; white-space: nowrap; }
  .console form { margin: 0; flex-wrap: nowrap; }
  .console .actions:empty { display: table-cell; }
}
`;
