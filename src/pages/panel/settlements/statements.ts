/** The pages on statements: the months of an account, and a statement of a month or of a settlement, which prints on A4. */
import { requireAccount } from '../../../core/accounts/require-account.ts';
import { statementCsv, statementJson, statementMonthsCsv } from '../../../core/exports/statements.ts';
import {
  listStatements,
  monthStatement,
  type Statement,
  type StatementMonth,
  type StatementRow,
  settlementStatement,
} from '../../../core/settlements/statements.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import type { Category } from '../../../rules/ledger.ts';
import { accountNames, exportLink } from '../frame/filters.ts';
import { type Column, choiceField, count, empty, facts, fill, money, notice, table, time } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { categoryName, ledgerTabs, PATHS } from '../ledger/parts.ts';
import { panelTexts } from '../locales/index.ts';

/** How many entries the page shows; the files have all of them. */
const PAGE_ROWS = 1000;
const text = panelTexts.statements;

/** The account of the query, or the only one that there is. */
function accountOf({ query }: PanelRequest, names: ReadonlyMap<string, string>): string | undefined {
  const [only, ...others] = names.keys();
  return query.mid || (others.length === 0 ? only : undefined);
}

async function showMonths(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session } = request;
  const names = await accountNames(request);
  const chosen = accountOf(request, names);
  const mid = chosen && (await requireAccount(gateway, session.principal, chosen)).mid;
  const months = mid === undefined ? [] : await listStatements(gateway, mid);
  const columns: Column<StatementMonth>[] = [
    {
      label: text.month,
      cell: ({ month, currency }) =>
        html`<a href="${PATHS.statements}/${mid}/${month}?currency=${currency}">${month}</a>`,
    },
    ...(['opening', 'credits', 'debits', 'closing'] as const).map((name) => ({
      label: text[name],
      isNumber: true as const,
      cell: (one: StatementMonth) => money(one[name], one.currency),
    })),
  ];
  return {
    title: text.title,
    body: html`<div class="head"><h1>${text.title}</h1>${mid && html`<div class="actions">${exportLink(`${PATHS.statements}.csv?mid=${mid}`)}</div>`}</div>
${ledgerTabs(request, 'statements')}
<p class="soft">${text.about}</p>
${names.size > 1 && html`<form class="filters" action="${PATHS.statements}">${choiceField({ name: 'mid', label: text.account, value: mid }, [['', text.choose], ...names])}<button>${text.show}</button></form>`}
${mid === undefined ? html`<p class="soft">${text.chooseAccount}</p>` : html`<section class="card flush">${months.length > 0 ? table(text.title, columns, months) : empty(text.none, text.noneHint)}</section>`}`,
  };
}

async function downloadMonths({ gateway, session, query }: PanelRequest): Promise<PanelAnswer> {
  const { mid } = await requireAccount(gateway, session.principal, query.mid ?? '');
  return { download: statementMonthsCsv(await listStatements(gateway, mid)) };
}

/** The first rows; whether there are more. */
async function firstRows({ portions }: Statement): Promise<{ rows: StatementRow[]; hasMore: boolean }> {
  const rows: StatementRow[] = [];
  for await (const portion of portions) {
    rows.push(...portion);
    if (rows.length > PAGE_ROWS) return { rows: rows.slice(0, PAGE_ROWS), hasMore: true };
  }
  return { rows, hasMore: false };
}

const columnsOf = (currency: string): Column<StatementRow>[] => [
  { label: text.posted, cell: ({ postedAt }) => time(postedAt) },
  {
    label: text.entry,
    cell: ({ category, note }) =>
      html`${categoryName(category as Category)}${note !== null && html`<p class="soft small">${note}</p>`}`,
  },
  {
    label: text.order,
    cell: ({ orderId, paymentId }) =>
      paymentId && html`<a href="/admin/payments/${paymentId}">${orderId ?? paymentId.slice(-12)}</a>`,
  },
  ...(['gross', 'fee', 'tax', 'net', 'balance'] as const).map((name) => ({
    label: text[name],
    isNumber: true as const,
    cell: (row: StatementRow) => (row[name] === 0n && name !== 'balance' ? '' : money(row[name], currency)),
  })),
];

const titleOf = ({ settlement, month, currency }: Statement): string =>
  settlement
    ? fill(text.ofSettlement, { number: String(settlement.number), currency })
    : fill(text.ofMonth, { month: month ?? '', currency });

async function statementPage(statement: Statement, path: string, query: string): Promise<PanelAnswer> {
  const { name, currency, from, until, opening, closing } = statement;
  const { rows, hasMore } = await firstRows(statement);
  const title = titleOf(statement);
  const amount = (minor: bigint): Html => html`<span class="amount">${money(minor, currency)}</span>`;
  return {
    title,
    body: html`<div class="head actions"><a class="button quiet" href="${statement.settlement ? `${PATHS.settlements}/${statement.settlement.settlementId}` : `${PATHS.statements}?mid=${statement.mid}`}">${text.back}</a><button type="button" data-print hidden>${text.print}</button>${exportLink(`${path}.csv${query}`)}<a class="button quiet" href="${path}.json${query}">${text.json}</a></div>
<article class="card statement"><header><p class="shop">${name}</p><h1>${title}</h1></header>
${facts([
  [text.from, from === null ? undefined : time(from)],
  [text.until, time(until)],
  [text.opening, amount(opening)],
  [text.closing, html`<strong>${amount(closing)}</strong>`],
])}
${hasMore && notice(fill(text.cutShort, { count: count(PAGE_ROWS) }), 'wait')}
${rows.length > 0 ? table(title, columnsOf(currency), rows) : empty(text.noRows, text.noRowsHint)}</article>`,
  };
}

const ofSettlement = ({ gateway, session, params }: PanelRequest): Promise<Statement> =>
  settlementStatement(gateway, session.principal, params.settlementId ?? '');

const ofMonth = ({ gateway, session, params, query }: PanelRequest): Promise<Statement> =>
  monthStatement(gateway, session.principal, {
    mid: params.mid ?? '',
    month: params.month ?? '',
    currency: query.currency,
  });

const SETTLEMENT = `${PATHS.settlements}/:settlementId/statement`;
const MONTH = `${PATHS.statements}/:mid/:month`;
const page = { method: 'GET', permission: 'settlements.view', scope: 'accounts' } as const;
const file = { ...page, isDownload: true } as const;

export const statementPages: readonly PanelRoute[] = [
  { ...page, path: PATHS.statements, handle: showMonths },
  { ...file, path: `${PATHS.statements}.csv`, handle: downloadMonths },
  {
    ...page,
    path: SETTLEMENT,
    handle: async (request) =>
      statementPage(await ofSettlement(request), `${PATHS.settlements}/${request.params.settlementId}/statement`, ''),
  },
  {
    ...page,
    path: MONTH,
    handle: async (request) => {
      const statement = await ofMonth(request);
      const path = `${PATHS.statements}/${statement.mid}/${statement.month}`;
      return statementPage(statement, path, `?currency=${statement.currency}`);
    },
  },
  ...(
    [
      ['.csv', statementCsv],
      ['.json', statementJson],
    ] as const
  ).flatMap(([ending, write]): PanelRoute[] => [
    {
      ...file,
      path: `${SETTLEMENT}${ending}`,
      handle: async (request) => ({ download: write(await ofSettlement(request)) }),
    },
    { ...file, path: `${MONTH}${ending}`, handle: async (request) => ({ download: write(await ofMonth(request)) }) },
  ]),
];
