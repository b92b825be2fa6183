/** The page on the routes of an account: their order and conditions, and which one a payment would take. */

import { listConnections } from '../../../core/connections/connections.ts';
import { changeRoutes, tryRoutes } from '../../../core/connections/routes.ts';
import type { Account } from '../../../core/context.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { type Problem, Refusal } from '../../../rules/errors.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { readRouteFacts, readRoutes, routeView } from '../../../rules/routes.ts';
import { accountOfPath } from '../accounts/parts.ts';
import { countryChoices } from '../accounts/settings.ts';
import { chipField, chipOffers, chipValues } from '../frame/chips.ts';
import { formToken } from '../frame/layout.ts';
import { badge, choiceField, facts, field, notice } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { brandChoices, currencyChoices, networkChoices } from '../payments/choices.ts';

const text = panelTexts.connections;
const LISTS = ['brands', 'networks', 'currencies', 'countries', 'bins'] as const;
type ListName = (typeof LISTS)[number];
const labelOf = (list: ListName): string => text[list];

/** The values of a list with their names; BINs are free. */
function choicesOf(list: ListName): [value: string, label: string][] {
  if (list === 'brands') return brandChoices();
  if (list === 'networks') return networkChoices();
  if (list === 'countries') return countryChoices();
  if (list === 'currencies') return currencyChoices();
  return [];
}

/** A form has a limited number of fields. */
const MOST_ROUTES = 18;
const OWN = 'own';
const SHORT = html`size="11"`;

type RouteTexts = Record<string, string>;

/** The stored routes as the texts of their inputs, and an empty one. */
function storedTexts({ routes }: Account): RouteTexts[] {
  const stored = routes.map((route, index): RouteTexts => {
    const view = routeView(route);
    return {
      position: String(index + 1),
      connection_id: view.connection_id ?? OWN,
      ...Object.fromEntries(LISTS.map((name) => [name, view[name].join(', ')])),
      min_amount: view.min_amount ?? '',
      max_amount: view.max_amount ?? '',
      share: String(view.share),
    };
  });
  return [...stored, { position: String(routes.length + 1), share: '100' }];
}

const INPUTS = ['position', 'connection_id', ...LISTS, 'min_amount', 'max_amount', 'share'];

/** The routes of a submitted form, with the number of each fieldset, in order of priority. */
function submittedTexts({ form }: PanelRequest): RouteTexts[] {
  const texts: RouteTexts[] = [];
  for (let index = 0; form.has(`route${index}.share`) && index <= MOST_ROUTES; index++)
    texts.push(Object.fromEntries(INPUTS.map((name) => [name, (form.get(`route${index}.${name}`) ?? '').trim()])));
  return texts;
}

/** A route as the admin API would get it. */
const toBody = (texts: RouteTexts): Record<string, unknown> => ({
  connection_id: texts.connection_id === OWN ? null : texts.connection_id,
  ...Object.fromEntries(LISTS.map((name) => [name, chipValues(texts[name])])),
  min_amount: texts.min_amount || null,
  max_amount: texts.max_amount || null,
  share: /^\d{1,3}$/.test(texts.share ?? '') ? Number(texts.share) : texts.share,
});

async function show(
  request: PanelRequest,
  submitted?: { texts: RouteTexts[]; problems: readonly Problem[] },
): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const account = await accountOfPath(request);
  const { principal } = session;
  const canManage = isAllowed(principal.role, 'connections.manage');
  const visible = await listConnections(gateway, principal);
  const names = new Map([
    ...visible.map(({ connectionId, name }): [string, string] => [connectionId, name]),
    // Routes may use connections that the operator does not manage.
    ...account.routes.flatMap(({ connectionId, connection }): [string, string][] =>
      connectionId !== null && connection ? [[connectionId, connection.name]] : [],
    ),
  ]);
  const usable = visible.filter(({ mids }) => mids === null || mids.includes(account.mid));
  const choices: [string, string][] = [
    [OWN, text.ownProvider],
    ...[...names].filter(
      ([id]) =>
        usable.some(({ connectionId }) => connectionId === id) ||
        account.routes.some(({ connectionId }) => connectionId === id),
    ),
  ];
  const shown = submitted?.texts ?? storedTexts(account);
  const path = `/admin/accounts/${account.mid}/routes`;
  const routeFieldset = (texts: RouteTexts, index: number): Html => {
    const isNew = index === shown.length - 1;
    const common = (name: string) => ({
      name: `route${index}.${name}`,
      value: texts[name] ?? '',
      error: submitted?.problems.find((problem) => problem.field === `route${index}.${name}`)?.sentence,
    });
    const nothing: [string, string] = ['', isNew ? text.notUsed : text.removed];
    return html`<fieldset class="card"><legend><h2>${isNew ? text.newRoute : `${text.route} ${index + 1}`}</h2></legend><div class="filters">${field(
      { ...common('position'), label: text.position, attributes: html`inputmode="numeric" size="3"` },
    )}${choiceField({ ...common('connection_id'), label: text.connection }, [nothing, ...choices])}${field({
      ...common('share'),
      label: text.share,
      attributes: html`inputmode="numeric" size="3"`,
    })}${field({ ...common('min_amount'), label: text.minAmount, attributes: SHORT })}${field({ ...common('max_amount'), label: text.maxAmount, attributes: SHORT })}${LISTS.map(
      (name) => chipField({ ...common(name), label: labelOf(name) }, name, name === 'bins'),
    )}</div></fieldset>`;
  };
  const isTooLong = account.routes.length >= MOST_ROUTES;
  const editor = html`${LISTS.map((list) => chipOffers(list, choicesOf(list)))}<form method="post" action="${path}">${formToken(session)}${shown.map(routeFieldset)}<div class="actions"><button>${text.save}</button></div></form>`;
  const readOnly = html`<div class="card">${account.routes.map((route, index) =>
    facts([[`${text.route} ${index + 1}`, describe(routeView(route), route.connection?.name)]]),
  )}</div>`;
  return {
    title: `${text.routesOf} ${account.name}`,
    status: submitted ? 400 : 200,
    body: html`${notice(query.done && text.saved)}<div class="head"><h1>${text.routesOf} <a href="/admin/accounts/${account.mid}">${account.name}</a></h1><p class="soft wide">${account.routes.length === 0 ? text.noRoutes : text.routesHint}</p></div>
${tryForm(request, account, path, names)}
${isTooLong ? notice(text.tooMany, 'wait') : canManage ? editor : account.routes.length > 0 && readOnly}`,
  };
}

const describe = ({ connection_id, ...conditions }: ReturnType<typeof routeView>, name: string | undefined): string =>
  [
    connection_id === null ? text.ownProvider : (name ?? connection_id),
    ...LISTS.flatMap((list) => {
      const names = new Map(choicesOf(list));
      const values = conditions[list].map((value) => names.get(value) ?? value);
      return values.length > 0 ? `${labelOf(list)}: ${values.join(', ')}` : [];
    }),
    ...(conditions.min_amount === null ? [] : [`${text.minAmount} ${conditions.min_amount}`]),
    ...(conditions.max_amount === null ? [] : [`${text.maxAmount} ${conditions.max_amount}`]),
    ...(conditions.share === 100 ? [] : [`${conditions.share} %`]),
  ].join(' · ');

const TRY_FIELDS = ['brand', 'currency', 'amount', 'network', 'country', 'bin'] as const;

/** The form is sent by GET, so that its result has an address. */
function tryForm(
  { gateway, query }: PanelRequest,
  account: Account,
  path: string,
  names: ReadonlyMap<string, string>,
): Html {
  const sent = Object.fromEntries(
    TRY_FIELDS.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]])),
  );
  const isTried = query.brand !== undefined || query.amount !== undefined;
  const { facts: tried, problems } = isTried ? readRouteFacts(sent) : { facts: undefined, problems: [] };
  const input = (name: (typeof TRY_FIELDS)[number], fallback = '') => ({
    name,
    label: text[name],
    value: isTried ? (query[name] ?? '') : fallback,
    error: problems.find((problem) => problem.field === name)?.sentence,
  });
  const result = tried && tryRoutes(gateway, account, tried);
  const nameOf = (id: string | null): string => (id === null ? text.ownProvider : (names.get(id) ?? id));
  return html`<section class="card"><h2>${text.tryTitle}</h2><form class="filters" action="${path}">${choiceField(input('brand', 'card'), choicesOf('brands'))}${choiceField(
    input('currency', 'EUR'),
    currencyChoices(),
  )}${field(input('amount', '10.00'))}${choiceField(input('network'), [['', text.any], ...choicesOf('networks')])}${choiceField(
    input('country'),
    [['', text.any], ...countryChoices()],
  )}${field(input('bin'))}<button class="quiet">${text.tryButton}</button></form>${
    result &&
    facts([
      [text.goesTo, badge(nameOf(result.connectionId), result.connectionId === null ? '' : 'good')],
      [text.reason, result.reason],
      [
        text.alternatives,
        result.alternatives.length > 0
          ? result.alternatives.map(({ connectionId }) => nameOf(connectionId)).join(', ')
          : undefined,
      ],
    ])
  }</section>`;
}

async function save(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, caller } = request;
  const account = await accountOfPath(request);
  const texts = submittedTexts(request);
  const kept = texts
    .map((each, index) => ({ each, index }))
    .filter(({ each }) => each.connection_id !== '')
    .toSorted((a, b) => Number(a.each.position) - Number(b.each.position) || a.index - b.index);
  const { routes, problems } = readRoutes(kept.map(({ each }) => toBody(each)));
  /** The problems name the routes by their order; the form, by the fieldset. */
  const inForm = (found: readonly Problem[]): Problem[] =>
    found.map(({ field: name, sentence }) => ({
      field: name.replace(/^routes\[(\d+)\]/, (_, order) => `route${kept[Number(order)]?.index}`),
      sentence,
    }));
  if (problems.length > 0) return show(request, { texts, problems: inForm(problems) });
  try {
    await changeRoutes(gateway, session.principal, caller, account, routes);
  } catch (error) {
    if (!(error instanceof Refusal) || error.error !== 'invalidData') throw error;
    return show(request, { texts, problems: inForm(error.problems) });
  }
  return { redirect: `/admin/accounts/${account.mid}/routes?done=1` };
}

const PATH = '/admin/accounts/:mid/routes';

export const routePages: readonly PanelRoute[] = [
  { method: 'GET', path: PATH, permission: 'connections.view', scope: 'accounts', handle: (request) => show(request) },
  { method: 'POST', path: PATH, permission: 'connections.manage', scope: 'accounts', confirmFor: PATH, handle: save },
];
