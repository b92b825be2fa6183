/** The pages on settlements: the list, and one settlement with its lines, which can be approved or voided. */

import { entriesCsv } from '../../../core/exports/ledger.ts';
import { settlementsCsv } from '../../../core/exports/settlements.ts';
import {
  cutByHand,
  decideSettlement,
  findSettlement,
  listSettlements,
  type Settlement,
  settlementEntries,
} from '../../../core/settlements/settlements.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { keysetPage } from '../../../lib/http/keyset-page.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import type { Problem } from '../../../rules/errors.ts';
import type { Category } from '../../../rules/ledger.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { SETTLEMENT_STATES, type SettlementState } from '../../../rules/settlements.ts';
import { accountNames, downloadLink } from '../frame/filters.ts';
import { formToken } from '../frame/layout.ts';
import {
  badge,
  type Column,
  choiceField,
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
import { categoryName, entryColumns, ledgerTabs, PATHS } from '../ledger/parts.ts';
import { panelTexts } from '../locales/index.ts';
import { changed, errorsOf, settlementPath, typedCut } from './account.ts';

const PAGE_SIZE = 25;
const text = panelTexts.settlements;
const more = panelTexts.payouts;
const TONES = {
  draft: 'wait',
  approved: 'wait',
  in_payout: 'wait',
  paid: 'good',
  returned: 'bad',
  void: 'bad',
} as const satisfies Record<SettlementState, string>;

export const stateBadge = (state: SettlementState): Html => badge(text.states[state], TONES[state]);
export const titleOf = ({ number, currency }: Settlement): string =>
  fill(text.numbered, { number: String(number), currency });

/** Cuts one now. */
function cutForm(
  { session, form, query }: PanelRequest,
  names: ReadonlyMap<string, string>,
  problems: readonly Problem[],
): Html {
  const errorOf = errorsOf(problems);
  return html`<details class="card narrow"${problems.length > 0 && html` open`}><summary>${more.cut}</summary><p class="soft">${more.cutHint}</p><form method="post" action="${PATHS.settlements}">${formToken(session)}
${choiceField({ name: 'mid', label: text.account, value: form.get('mid') ?? query.mid, error: errorOf('mid') }, [...names])}
${field({ name: 'currency', label: more.currency, value: form.get('currency'), error: errorOf('currency'), attributes: html`required maxlength="3" size="5" autocomplete="off" autocapitalize="characters"` })}
${field({ name: 'until', label: text.until, type: 'date', value: form.get('until'), hint: more.untilHint, error: errorOf('until') })}
<div class="actions"><button>${more.cut}</button></div></form></details>`;
}

async function cut(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, caller } = request;
  const input = typedCut(request);
  const change = async (): Promise<string> => {
    const { settlement, isNew } = await cutByHand(gateway, session.principal, caller, input);
    return `${PATHS.settlements}/${settlement.settlementId}?done=${isNew ? 'cut' : 'unchanged'}`;
  };
  return changed(change, (problems) => showSettlements(request, problems));
}

async function showSettlements(request: PanelRequest, problems: readonly Problem[] = []): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const mayManage = isAllowed(session.principal.role, 'settlements.manage');
  const names = await accountNames(request);
  const state = SETTLEMENT_STATES.find((one) => one === query.state);
  const mid = isUuid(query.mid ?? '') ? query.mid?.toLowerCase() : undefined;
  const before = idCursor(query);
  const found = await listSettlements(gateway, session.principal, { mid, state }, PAGE_SIZE + 1, before);
  const { items, last } = keysetPage(found, PAGE_SIZE);
  const columns: Column<Settlement>[] = [
    {
      label: text.settlement,
      cell: (one) => html`<a href="${PATHS.settlements}/${one.settlementId}">${titleOf(one)}</a>`,
    },
    {
      label: text.account,
      cell: ({ mid: owner }) => html`<a href="${settlementPath(owner)}">${names.get(owner) ?? owner}</a>`,
    },
    { label: text.until, cell: ({ untilAt }) => time(untilAt) },
    { label: text.closing, isNumber: true, cell: ({ closing, currency }) => money(closing, currency) },
    { label: text.payout, isNumber: true, cell: ({ payout, currency }) => money(payout, currency) },
    {
      label: text.state,
      cell: (one) =>
        html`${stateBadge(one.state)}${
          state === 'draft' &&
          mayManage &&
          html`<form method="post" action="${PATHS.settlements}/${one.settlementId}/approve">${formToken(session)}<button class="quiet">${text.approve}</button></form>`
        }`,
    },
  ];
  const { state: _state, cursor: _cursor, done: _done, ...rest } = query;
  const views = [undefined, ...SETTLEMENT_STATES].map((one) => ({
    href: withQuery(PATHS.settlements, { ...rest, ...(one && { state: one }) }),
    label: one === undefined ? panelTexts.ledger.any : one === 'draft' ? more.toApprove : text.states[one],
    isActive: one === state,
  }));
  return {
    title: text.title,
    status: problems.length > 0 ? 400 : 200,
    body: html`<div class="head"><h1>${text.title}</h1><div class="actions">${downloadLink(`${PATHS.settlements}.csv`, {})}</div></div>
${ledgerTabs(request, 'settlements')}
${mayManage && cutForm(request, names, problems)}
${pills(text.state, views)}
<section class="card flush"><p class="soft inset">${text.about}</p>${
      items.length > 0 ? table(text.title, columns, items) : empty(text.none, text.noneHint)
    }${pager(PATHS.settlements, query, last?.settlementId)}</section>`,
  };
}

/** From the opening balance over the lines to the closing balance, and from there to the payout. */
function amounts({ opening, closing, payout, lines, withheld, currency }: Settlement): Html {
  const amount = (minor: bigint): Html => html`<span class="amount">${money(minor, currency)}</span>`;
  const sum = (minor: bigint): Html => html`<strong>${amount(minor)}</strong>`;
  return facts([
    [text.opening, amount(opening)],
    ...lines.map(
      (line) => [`${categoryName(line.category as Category)} (${line.count})`, amount(line.amount)] as const,
    ),
    [text.closing, sum(closing)],
    ...withheld.map((one) => [text.reasons[one.reason], amount(-one.amount)] as const),
    [text.payout, sum(payout)],
  ]);
}

/** Whose settlement it is, of which time, and who made it. */
const about = ({ mid, fromAt, untilAt, cutBy, decidedBy }: Settlement, names: ReadonlyMap<string, string>): Html =>
  facts([
    [text.account, names.get(mid) ?? mid],
    [text.from, fromAt === null ? undefined : time(fromAt)],
    [text.until, time(untilAt)],
    [text.cutBy, cutBy],
    [text.decidedBy, decidedBy ?? undefined],
  ]);

async function showSettlement(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, query, params } = request;
  const { principal } = session;
  const settlement = await findSettlement(gateway, principal, params.settlementId ?? '');
  const { settlementId, state } = settlement;
  const names = await accountNames(request);
  const entries = await settlementEntries(gateway, principal, settlement, PAGE_SIZE);
  const path = `${PATHS.settlements}/${settlementId}`;
  const button = (name: string, label: string, kind: string): Html =>
    html`<form method="post" action="${path}/${name}">${formToken(session)}<button class="${kind} whole">${label}</button></form>`;
  const isOpen = state === 'draft' && isAllowed(principal.role, 'settlements.manage');
  const title = titleOf(settlement);
  const done: Readonly<Record<string, string>> = {
    approved: text.approved,
    void: text.voided,
    cut: more.wasCut,
    unchanged: more.unchanged,
  };
  return {
    title,
    body: html`${notice(query.done && done[query.done])}<div class="head"><h1>${title} ${stateBadge(state)}</h1>${
      isOpen &&
      html`<div class="actions">${button('approve', text.approve, '')}${button('void', text.void, 'quiet')}</div>`
    }</div>
${ledgerTabs(request, 'settlements')}
<section class="card"><h2>${text.lines}</h2>${amounts(settlement)}</section>
<section class="card"><h2>${text.settlement}</h2>${about(settlement, names)}</section>
<section class="card flush"><div class="head inset"><h2>${text.entries}</h2><div class="actions">${state !== 'void' && html`<a class="button quiet" href="${path}/statement">${text.statement}</a>`}${downloadLink(`${path}/entries.csv`, {})}</div></div>${
      entries.length > 0
        ? table(text.entries, entryColumns(names, true), entries)
        : empty(text.noEntries, text.noEntriesHint)
    }</section>`,
  };
}

const decide =
  (state: 'approved' | 'void') =>
  async ({ gateway, session, caller, params }: PanelRequest): Promise<PanelAnswer> => {
    const { settlementId } = await decideSettlement(
      gateway,
      session.principal,
      caller,
      params.settlementId ?? '',
      state,
    );
    return { redirect: `${PATHS.settlements}/${settlementId}?done=${state}` };
  };

const download = async ({ gateway, session: { principal } }: PanelRequest): Promise<PanelAnswer> => ({
  download: await settlementsCsv(gateway, (limit, before) => listSettlements(gateway, principal, {}, limit, before)),
});

async function downloadEntries({ gateway, session, params }: PanelRequest): Promise<PanelAnswer> {
  const { principal } = session;
  const settlement = await findSettlement(gateway, principal, params.settlementId ?? '');
  return {
    download: await entriesCsv(
      gateway,
      (limit, last) => settlementEntries(gateway, principal, settlement, limit, last),
      `settlement-${settlement.number}-${settlement.currency}`,
    ),
  };
}

const page = { method: 'GET', permission: 'settlements.view', scope: 'accounts' } as const;
const form = {
  method: 'POST',
  permission: 'settlements.manage',
  scope: 'accounts',
  confirmFor: PATHS.settlements,
} as const;
const ONE = `${PATHS.settlements}/:settlementId`;

export const settlementPages: readonly PanelRoute[] = [
  { ...page, path: PATHS.settlements, handle: (request) => showSettlements(request) },
  { ...page, path: `${PATHS.settlements}.csv`, isDownload: true, handle: download },
  { ...page, path: ONE, handle: showSettlement },
  { ...page, path: `${ONE}/entries.csv`, isDownload: true, handle: downloadEntries },
  { ...form, path: PATHS.settlements, handle: cut },
  { ...form, path: `${ONE}/approve`, handle: decide('approved') },
  { ...form, path: `${ONE}/void`, handle: decide('void') },
];
