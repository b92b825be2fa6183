/** The page on rules that only watch: what each of them would have done in the last days, drawn. */
import { WATCHED_DAYS, type WatchedAmount, type WatchedRule, watchedRules } from '../../../core/risk/shadow.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { count, empty, facts, fill, money } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { bars } from '../reports/charts.ts';
import { riskHead } from './head.ts';

const RULES = '/admin/risk/rules';
const text = panelTexts.risk;

const sums = (amounts: readonly WatchedAmount[]): string =>
  amounts.map(({ amount, currency }) => money(amount, currency)).join(', ');

function ruleCard(
  { ruleId, name, action, hits, settled, chargedBack, amounts, days }: WatchedRule,
  link: boolean,
): Html {
  const { watched } = text;
  return html`<section class="card" aria-labelledby="rule-${ruleId}"><h2 id="rule-${ruleId}">${
    link ? html`<a href="${RULES}/${ruleId}">${name}</a>` : name
  }</h2><p class="soft">${fill(watched.wouldHave, { action: text.actions[action.kind] })}</p>${
    hits === 0
      ? html`<p class="field">${watched.nothing}</p>`
      : html`<div class="field">${facts([
          [watched.hits, `${count(hits)} (${sums(amounts)})`],
          [watched.settled, count(settled)],
          [watched.chargedBack, count(chargedBack)],
        ])}</div><div class="field">${bars(
          name,
          days.map((day) => ({ label: day.day, value: day.hits, note: sums(day.amounts) || undefined })),
        )}</div>`
  }</section>`;
}

async function showWatched({ gateway, session }: PanelRequest): Promise<PanelAnswer> {
  const { mids, role } = session.principal;
  const all = await watchedRules(gateway, mids);
  // A rule that was deleted has no page.
  const hasPage = ({ exists }: WatchedRule): boolean => exists && isAllowed(role, 'risk.manage');
  return {
    title: text.tabs.shadow,
    body: html`${riskHead('shadow', mids)}<p class="soft">${fill(text.watched.about, { days: count(WATCHED_DAYS) })}</p>${
      all.length > 0
        ? all.map((one) => ruleCard(one, hasPage(one)))
        : html`<div class="card flush">${empty(text.watched.none, text.watched.noneHint)}</div>`
    }`,
  };
}

export const riskShadowPages: readonly PanelRoute[] = [
  { method: 'GET', path: '/admin/risk/shadow', permission: 'risk.view', scope: 'accounts', handle: showWatched },
];
