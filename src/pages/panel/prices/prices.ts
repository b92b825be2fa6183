/** The pages on price plans: the list, a new plan, and one plan with its versions and what an event would cost. */

import { linesCsv, plansCsv } from '../../../core/exports/prices.ts';
import { createPlan, type ListedPlan, listPlans, quote, type StoredVersion } from '../../../core/prices/prices.ts';
import { keysetPage } from '../../../lib/http/keyset-page.ts';
import { amountText } from '../../../lib/money/money.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import type { Problem } from '../../../rules/errors.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { PLAN_NAME_LENGTH, priceWarnings, readPlan, readQuote } from '../../../rules/price-plans.ts';
import { PLAN_SIDES, type PlanSide, PRICE_EVENTS, versionAt } from '../../../rules/pricing.ts';
import { downloadLink, exportLink } from '../frame/filters.ts';
import { formToken } from '../frame/layout.ts';
import {
  badge,
  type Column,
  choiceField,
  count,
  empty,
  facts,
  field,
  fill,
  idCursor,
  money,
  notice,
  pager,
  pills,
  table,
  time,
  withQuery,
} from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { brandChoices, currencyChoices, networkChoices } from '../payments/choices.ts';
import { lineColumns, listChoices, mayManage, PRICES, planPath, requirePlan, typedNumber } from './parts.ts';

const text = panelTexts.prices;
const PAGE_SIZE = 50;

const sideOf = ({ query }: PanelRequest): PlanSide | undefined => PLAN_SIDES.find((side) => side === query.side);

const planColumns = (): Column<ListedPlan>[] => [
  { label: text.name, cell: ({ planId, name }) => html`<a href="${planPath(planId)}">${name}</a>` },
  { label: text.side, cell: ({ side }) => text.sides[side] },
  { label: text.versions, isNumber: true, cell: ({ versions }) => count(versions) },
  { label: text.assigned, isNumber: true, cell: ({ assigned }) => count(assigned) },
  { label: text.created, cell: ({ createdAt }) => time(createdAt) },
];

async function showList(request: PanelRequest, problems: readonly Problem[] = []): Promise<PanelAnswer> {
  const { gateway, session, query, form } = request;
  const side = sideOf(request);
  const cursor = idCursor(query);
  const { items, last } = keysetPage(
    await listPlans(gateway, session.principal, side, PAGE_SIZE + 1, cursor),
    PAGE_SIZE,
  );
  const errorOf = (name: string): string | undefined => problems.find(({ field: named }) => named === name)?.sentence;
  const title = panelTexts.sections.prices;
  const sides = [undefined, ...PLAN_SIDES].map((one) => ({
    href: withQuery(PRICES, one ? { side: one } : {}),
    label: one ? text.sides[one] : text.all,
    isActive: one === side,
  }));
  return {
    title,
    status: problems.length > 0 ? 400 : 200,
    body: html`<div class="head"><h1>${title}</h1><p class="soft wide">${text.about}</p><div class="actions">${downloadLink(`${PRICES}.csv`, query)}</div></div>
${session.principal.mids === null && pills(text.side, sides)}
<div class="card flush">${items.length > 0 ? table(title, planColumns(), items) : empty(text.none, text.noneHint)}</div>${pager(PRICES, query, last?.planId)}
${
  mayManage(request) &&
  html`<section class="card narrow"><h2>${text.newPlan}</h2><form method="post" action="${PRICES}">${formToken(session)}${field(
    {
      name: 'name',
      label: text.name,
      value: form.get('name') ?? '',
      hint: text.nameHint,
      error: errorOf('name'),
      attributes: html`required maxlength="${PLAN_NAME_LENGTH}" autocomplete="off"`,
    },
  )}${choiceField(
    { name: 'side', label: text.side, value: form.get('side') ?? side ?? 'sell', error: errorOf('side') },
    PLAN_SIDES.map((one) => [one, `${text.sides[one]}: ${text.sideHints[one]}`] as const),
  )}<div class="actions"><button>${text.create}</button></div></form></section>`
}`,
  };
}

async function create(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, caller, form } = request;
  const { value, problems } = readPlan({ name: form.get('name'), side: form.get('side') });
  if (problems) return showList(request, problems);
  const { planId } = await createPlan(gateway, caller, value);
  return { redirect: `${planPath(planId)}/new` };
}

/** The lines of a version that price a sale above its amount, in words. */
const warningsOf = (version: StoredVersion): string[] =>
  priceWarnings(version).map(({ line, amount, cost, currency }) => {
    const shown = (minor: bigint): string => (currency === null ? amountText(minor, 2) : money(minor, currency));
    return fill(text.warning, { line: String(line + 1), amount: shown(amount), cost: shown(cost) });
  });

const VERSION_TONES = { current: 'good', future: 'wait', former: '' } as const;

function versionCard(version: StoredVersion, state: keyof typeof VERSION_TONES): Html {
  const { version: number, lines } = version;
  const title = `${text.version} ${number}`;
  return html`<section class="card" id="version-${number}"><div class="head"><h2>${title}</h2>${badge(text[state], VERSION_TONES[state])}</div>${facts(
    [
      [text.validFrom, time(version.validFrom)],
      [text.policy, text.policies[version.refundPolicy]],
      [text.tax, version.taxPercent],
    ],
  )}${
    lines.length > 0
      ? table(
          title,
          lineColumns(),
          lines.map((line, index) => ({ ...line, number: index + 1 })),
        )
      : html`<p class="soft">${text.free}</p>`
  }${state !== 'former' && warningsOf(version).map((warning) => html`<p class="hint">${warning}</p>`)}</section>`;
}

const TRY_FIELDS = ['event', 'brand', 'network', 'currency', 'amount', 'connector'] as const;

/** The form is sent by GET, so that its result has an address. */
function tryForm({ gateway, query }: PanelRequest, planId: string, versions: readonly StoredVersion[]): Html {
  const isTried = query.amount !== undefined;
  const sent = Object.fromEntries(TRY_FIELDS.map((name) => [name, query[name] ?? '']));
  const { value, problems = [] } = isTried ? readQuote({ ...sent, amount: typedNumber(sent.amount) }) : {};
  const input = (name: (typeof TRY_FIELDS)[number], fallback = '') => ({
    name,
    label: text[name],
    value: isTried ? (query[name] ?? '') : fallback,
    error: problems.find((problem) => problem.field === name)?.sentence,
  });
  const priced = value && quote(gateway, versions, value);
  const shown = (minor: bigint): string => money(minor, value?.facts.currency ?? '');
  return html`<section class="card"><h2>${text.tryTitle}</h2><form class="filters" action="${planPath(planId)}">${choiceField(
    input('event', 'sale'),
    PRICE_EVENTS.map((event) => [event, text.events[event]] as const),
  )}${choiceField(input('brand', 'card'), brandChoices())}${choiceField(input('network'), [['', text.any], ...networkChoices()])}${choiceField(
    input('currency', 'EUR'),
    currencyChoices(),
  )}${field({ ...input('amount', '100.00'), attributes: html`size="11"` })}${choiceField(input('connector'), [['', text.any], ...listChoices('connectors')])}<button class="quiet">${text.tryButton}</button></form>${
    priced &&
    (priced.line === null
      ? html`<p class="soft">${text.noLine}</p>`
      : facts([
          [text.fee, html`<strong>${shown(priced.amount)}</strong>`],
          [text.feeTax, shown(priced.tax)],
          [text.appliedLine, fill(text.byLine, { line: String(priced.line + 1), version: String(priced.version) })],
        ]))
  }</section>`;
}

async function showPlan(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, query } = request;
  const { planId, name, side, versions } = await requirePlan(request);
  const current = versionAt(versions, gateway.clock.now());
  const stateOf = (version: StoredVersion): keyof typeof VERSION_TONES => {
    if (version === current) return 'current';
    return current === undefined || version.validFrom > current.validFrom ? 'future' : 'former';
  };
  return {
    title: name,
    body: html`${notice(query.done && text.saved)}<div class="head"><h1>${name}</h1>${badge(text.sides[side], '')}<div class="actions">${exportLink(`${planPath(planId)}/lines.csv`)}${
      mayManage(request) && html`<a class="button" href="${planPath(planId)}/new">${text.newVersion}</a>`
    }</div></div>
${versions.length > 0 ? tryForm(request, planId, versions) : html`<div class="card flush">${empty(text.noVersions, text.noVersionsHint)}</div>`}
${versions.toReversed().map((version) => versionCard(version, stateOf(version)))}`,
  };
}

const ONE = `${PRICES}/:planId`;

export const pricePages: readonly PanelRoute[] = [
  {
    method: 'GET',
    path: PRICES,
    permission: 'prices.view',
    scope: 'accounts',
    handle: (request) => showList(request),
  },
  {
    method: 'GET',
    path: `${PRICES}.csv`,
    permission: 'prices.view',
    scope: 'accounts',
    isDownload: true,
    handle: async (request) => {
      const { gateway, session } = request;
      const plans = await listPlans(gateway, session.principal, sideOf(request), LIMITS.reportCsvRowsMost);
      return { download: { filename: 'price-plans.csv', chunks: [plansCsv(plans)] } };
    },
  },
  {
    method: 'POST',
    path: PRICES,
    permission: 'prices.manage',
    scope: 'installation',
    unconfirmed: 'A plan without versions and assignments prices nothing.',
    handle: create,
  },
  { method: 'GET', path: ONE, permission: 'prices.view', scope: 'accounts', handle: showPlan },
  {
    method: 'GET',
    path: `${ONE}/lines.csv`,
    permission: 'prices.view',
    scope: 'accounts',
    isDownload: true,
    handle: async (request) => {
      const { planId, versions } = await requirePlan(request);
      return { download: { filename: `price-plan-${planId}.csv`, chunks: [linesCsv(versions)] } };
    },
  },
];
