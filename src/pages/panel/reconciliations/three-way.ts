/** The page on the three-way reconciliation: the ledger, the statements of providers and their payments, day by day. */
import { threeWayCsv } from '../../../core/exports/three-way.ts';
import { compareThreeWays, type ThreeWayFilter, type ThreeWayRow } from '../../../core/reconciliations/three-way.ts';
import { html } from '../../../lib/text/html.ts';
import { isException, THREE_WAY_STATES } from '../../../rules/three-way.ts';
import { providerName } from '../connections/provider-name.ts';
import { downloadLink } from '../frame/filters.ts';
import { badge, type Column, choiceField, count, empty, field, fill, money, notice, table } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { ledgerTabs, PATHS } from '../ledger/parts.ts';
import { panelTexts } from '../locales/index.ts';
import { changeTerms, providerCards, type Refused, record } from './provider-forms.ts';

const text = panelTexts.threeWay;

const filterOf = ({ query }: PanelRequest): ThreeWayFilter => ({
  state: THREE_WAY_STATES.find((one) => one === query.state),
  from: /^\d{4}-\d\d-\d\d$/.test(query.from ?? '') ? query.from : undefined,
});

const columns = (): Column<ThreeWayRow>[] => [
  { label: text.provider, cell: ({ connector }) => providerName(connector) },
  { label: text.day, cell: ({ day }) => day },
  { label: text.ours, isNumber: true, cell: ({ ours, currency }) => money(ours, currency) },
  {
    label: text.statement,
    isNumber: true,
    cell: ({ statement, currency }) => (statement === null ? null : money(statement, currency)),
  },
  { label: text.bank, isNumber: true, cell: ({ bank, currency }) => money(bank, currency) },
  { label: text.dueOn, cell: ({ dueOn }) => dueOn },
  {
    label: text.state,
    cell: ({ state }) => badge(text.states[state], state === 'matched' ? 'good' : isException(state) ? 'bad' : 'wait'),
  },
];

async function showThreeWay(request: PanelRequest, refused: Refused = {}): Promise<PanelAnswer> {
  const { gateway, query } = request;
  const { rows, isComplete } = await compareThreeWays(gateway, filterOf(request));
  const exceptions = rows.filter(({ state }) => isException(state)).length;
  const done: Readonly<Record<string, string>> = { recorded: text.recorded, known: text.known, terms: text.termsSet };
  return {
    title: text.title,
    status: refused.payment || refused.terms ? 400 : 200,
    body: html`${notice(query.done && done[query.done])}<div class="head"><h1>${text.title}</h1><div class="actions">${downloadLink(`${PATHS.threeWay}.csv`, query)}</div></div>
${ledgerTabs(request, 'threeWay')}
<p class="soft">${text.about}</p>
<form class="filters" action="${PATHS.threeWay}">${choiceField(
      { name: 'state', label: text.state, value: query.state },
      [['', text.anyState], ...THREE_WAY_STATES.map((state) => [state, text.states[state]] as const)],
    )}
${field({ name: 'from', label: text.from, value: query.from, type: 'date' })}
<button>${text.show}</button></form>
${!isComplete && notice(panelTexts.ledger.incomplete, 'wait')}
${exceptions > 0 && notice(fill(text.exceptions, { count: count(exceptions) }), 'bad')}
<section class="card flush">${rows.length > 0 ? table(text.title, columns(), rows) : empty(text.none, text.noneHint)}</section>
${await providerCards(request, refused)}`,
  };
}

const download = async (request: PanelRequest): Promise<PanelAnswer> => ({
  download: threeWayCsv((await compareThreeWays(request.gateway, filterOf(request))).rows),
});

const page = { method: 'GET', permission: 'ledger.view', scope: 'installation' } as const;
const form = { method: 'POST', scope: 'installation', confirmFor: PATHS.threeWay } as const;

export const threeWayPages: readonly PanelRoute[] = [
  { ...page, path: PATHS.threeWay, handle: (request) => showThreeWay(request) },
  { ...page, path: `${PATHS.threeWay}.csv`, isDownload: true, handle: download },
  { ...form, path: `${PATHS.threeWay}/payments`, permission: 'settlements.manage', handle: record(showThreeWay) },
  { ...form, path: `${PATHS.threeWay}/terms`, permission: 'settlements.set_terms', handle: changeTerms(showThreeWay) },
];
