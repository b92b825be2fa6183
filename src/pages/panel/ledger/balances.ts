/** The page on balances: what is owed to an account, what becomes available when, and the entries behind it. */
import { entriesCsv } from '../../../core/exports/ledger.ts';
import { accountBalance, type Balance, listEntries } from '../../../core/ledger/ledger.ts';
import { sees } from '../../../core/operators/principal.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { keysetPage } from '../../../lib/http/keyset-page.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { Refusal } from '../../../rules/errors.ts';
import { CATEGORY_GROUPS, isCategory } from '../../../rules/ledger.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { accountNames, dayStart, downloadLink } from '../frame/filters.ts';
import { choiceField, empty, field, money, notice, pager, table } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { bars } from '../reports/charts.ts';
import { entryColumns, ledgerTabs, PATHS } from './parts.ts';

const PAGE_SIZE = 25;
const text = panelTexts.ledger;

/** The parts of a balance, and what becomes available when. */
function balanceCard({ currency, available, pending, reserve, inTransit, total, becoming }: Balance): Html {
  const parts = [
    [text.available, available],
    [text.pending, pending],
    [text.reserve, reserve],
    [text.inTransit, inTransit],
  ] as const;
  return html`<section class="card" aria-labelledby="balance-${currency}"><h2 id="balance-${currency}">${text.total}: <span class="amount">${money(total, currency)}</span></h2>
${bars(
  currency,
  parts.map(([label, amount]) => ({
    label,
    value: Math.max(0, Number(amount)),
    shown: money(amount, currency),
    ...(amount < 0n && { tone: 'bad' as const }),
  })),
)}${
  becoming.length > 0 &&
  html`<h3 class="field">${text.becoming}</h3>${bars(
    text.becoming,
    becoming.map(({ day, amount }) => ({
      label: day,
      value: Math.max(0, Number(amount)),
      shown: money(amount, currency),
    })),
  )}`
}</section>`;
}

async function balances(request: PanelRequest, mid: string): Promise<Html> {
  const { items, isComplete, isUnpriced } = await accountBalance(request.gateway, mid);
  return html`${!isComplete && notice(text.incomplete, 'wait')}${isUnpriced && notice(text.unpriced, 'wait')}${
    items.length > 0
      ? html`<div class="columns even">${items.map(balanceCard)}</div>`
      : html`<div class="card">${empty(text.noBalance, text.noBalanceHint)}</div>`
  }`;
}

function readFilter({ session, query }: PanelRequest) {
  const { mid = '', category = '' } = query;
  const to = dayStart(query.to);
  if (mid !== '' && !(isUuid(mid) && sees(session.principal, mid.toLowerCase()))) throw new Refusal('noSuchAccount');
  return {
    mid: mid === '' ? undefined : mid.toLowerCase(),
    category: isCategory(category) ? category : undefined,
    from: dayStart(query.from),
    to: to === undefined ? undefined : to + LIMITS.dayMs,
  };
}

function readCursor(cursor: string | undefined) {
  const [postedAt = '', entryId = ''] = cursor?.split('.') ?? [];
  return /^\d{1,14}$/.test(postedAt) && isUuid(entryId) ? { postedAt: Number(postedAt), entryId } : undefined;
}

async function showBalances(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session, query } = request;
  const names = await accountNames(request);
  const [only, ...others] = names.keys();
  const filter = readFilter(request);
  const mid = filter.mid ?? (session.principal.mids !== null && others.length === 0 ? only : undefined);
  const rows = await listEntries(gateway, session.principal, filter, PAGE_SIZE + 1, readCursor(query.cursor));
  const { items, last } = keysetPage(rows, PAGE_SIZE);
  return {
    title: text.title,
    body: html`<div class="head"><h1>${text.title}</h1><div class="actions">${downloadLink('/admin/ledger/entries.csv', query)}</div></div>
${ledgerTabs(request, 'balances')}
<p class="soft">${text.about}</p>
<form class="filters" action="${PATHS.balances}">${choiceField({ name: 'mid', label: text.account, value: query.mid }, [['', text.allAccounts], ...names])}
${choiceField({ name: 'category', label: text.what, value: query.category }, [['', text.any], ...CATEGORY_GROUPS.map((group) => [group, text.groups[group]] as const)])}
${field({ name: 'from', label: text.from, value: query.from, type: 'date' })}
${field({ name: 'to', label: text.to, value: query.to, type: 'date' })}
<button>${text.show}</button></form>
${mid === undefined ? html`<p class="soft">${text.chooseAccount}</p>` : await balances(request, mid)}
<section class="card flush"><h2 class="inset">${text.entries}</h2>${
      items.length > 0
        ? table(text.entries, entryColumns(names, true), items)
        : html`<p class="inset soft">${text.noEntries}. ${text.noEntriesHint}</p>`
    }${pager(PATHS.balances, query, last && `${last.postedAt}.${last.entryId}`)}</section>`,
  };
}

async function download(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session } = request;
  const filter = readFilter(request);
  return {
    download: await entriesCsv(gateway, (limit, before) =>
      listEntries(gateway, session.principal, filter, limit, before),
    ),
  };
}

export const balancePages: readonly PanelRoute[] = [
  { method: 'GET', path: PATHS.balances, permission: 'ledger.view', scope: 'accounts', handle: showBalances },
  {
    method: 'GET',
    path: '/admin/ledger/entries.csv',
    permission: 'ledger.view',
    scope: 'accounts',
    isDownload: true,
    handle: download,
  },
];
