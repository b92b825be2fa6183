/** The head of the pages on risk: the title, an action, and the tabs. */
import { type Html, html } from '../../../lib/text/html.ts';
import { tabs } from '../frame/parts.ts';
import { panelTexts } from '../locales/index.ts';

const PATHS = {
  reviews: '/admin/risk',
  rules: '/admin/risk/rules',
  shadow: '/admin/risk/shadow',
  lists: '/admin/risk/lists',
  rates: '/admin/risk/fraud-rates',
} as const;

/** The rates of connections are shown to those who see the whole installation. */
export function riskHead(active: keyof typeof PATHS, mids: readonly string[] | null, action?: Html | false): Html {
  const { title, tabs: labels } = panelTexts.risk;
  const views = (Object.keys(PATHS) as (keyof typeof PATHS)[])
    .filter((name) => name !== 'rates' || mids === null)
    .map((name) => ({ href: PATHS[name], label: labels[name], isActive: name === active }));
  return html`<div class="head"><h1>${title}</h1>${action && html`<div class="actions">${action}</div>`}</div>${tabs(title, views)}`;
}
