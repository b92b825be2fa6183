/** The page on the trial balance: the sums of all ledger accounts at the end of a day. */
import { trialBalanceCsv } from '../../../core/exports/ledger.ts';
import { type Receivable, receivables, type TrialBalance, trialBalance } from '../../../core/ledger/ledger.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { AGE_LIMITS } from '../../../rules/receivables.ts';
import { providerName } from '../connections/provider-name.ts';
import { accountNames, dayStart, downloadLink } from '../frame/filters.ts';
import { type Column, empty, field, fill, money, notice, table } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';
import { ledgerAccountName, ledgerTabs, PATHS } from './parts.ts';

const text = panelTexts.ledger;

/** The last moment of the day; undefined without one, and if it is no day. */
function momentOf({ query }: PanelRequest): number | undefined {
  const day = dayStart(query.at || undefined);
  return day === undefined ? undefined : day + LIMITS.dayMs - 1;
}

/** What providers owe now. */
async function receivablesCard({ gateway }: PanelRequest): Promise<Html | false> {
  const { rows } = await receivables(gateway);
  const ages = [...AGE_LIMITS.map((limit) => fill(text.upToDays, { days: String(limit) })), text.older];
  const columns: Column<Receivable>[] = [
    { label: text.connection, cell: ({ connector }) => providerName(connector) },
    { label: text.total, isNumber: true, cell: ({ total, currency }) => money(total, currency) },
    ...ages.map(
      (label, index): Column<Receivable> => ({
        label,
        isNumber: true,
        cell: ({ ages: amounts, currency }) => money(amounts[index] ?? 0n, currency),
      }),
    ),
  ];
  return (
    rows.length > 0 &&
    html`<section class="card flush dense"><h2 class="inset">${text.receivables}</h2><p class="inset soft">${text.receivablesHint}</p>${table(text.receivables, columns, rows)}</section>`
  );
}

type Item = TrialBalance['items'][number];
type Total = TrialBalance['totals'][number];

const sides = (): Column<Total>[] => [
  { label: text.debit, isNumber: true, cell: ({ debit, currency }) => money(debit, currency) },
  { label: text.credit, isNumber: true, cell: ({ credit, currency }) => money(credit, currency) },
];

async function showTrialBalance(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, query } = request;
  const at = momentOf(request);
  const isWrong = (query.at ?? '') !== '' && at === undefined;
  const { items, totals, isComplete } = await trialBalance(gateway, at);
  const names = await accountNames(request);
  const isBalanced = totals.every(({ debit, credit }) => debit === credit);
  return {
    title: text.trialBalance,
    status: isWrong ? 400 : 200,
    body: html`<div class="head"><h1>${text.trialBalance}</h1><div class="actions">${downloadLink(`${PATHS.trialBalance}.csv`, query)}</div></div>
${ledgerTabs(request, 'trialBalance')}
<form class="filters" action="${PATHS.trialBalance}">${field({
      name: 'at',
      label: text.at,
      value: query.at,
      type: 'date',
      hint: text.atHint,
      error: isWrong ? text.notADay : undefined,
    })}<button>${text.show}</button></form>
${!isComplete && notice(text.incomplete, 'wait')}${
  items.length > 0
    ? html`${notice(isBalanced ? text.balanced : text.unbalanced, isBalanced ? 'good' : 'bad')}
<section class="card flush dense"><h2 class="inset">${text.totals}</h2>${table(
        text.totals,
        [{ label: text.currency, cell: ({ currency }: Total) => currency }, ...sides()],
        totals,
      )}</section>
<section class="card flush dense"><h2 class="inset">${text.ledgerAccount}</h2>${table(
        text.trialBalance,
        [
          {
            label: text.ledgerAccount,
            cell: ({ account }: Item) =>
              html`${ledgerAccountName(account, names)}<br><span class="mono soft small">${account}</span>`,
          },
          ...sides(),
          { label: text.balance, isNumber: true, cell: ({ balance, currency }: Item) => money(balance, currency) },
        ],
        items,
      )}</section>`
    : html`<div class="card">${empty(text.noEntries, text.noEntriesHint)}</div>`
}${at === undefined && (await receivablesCard(request))}`,
  };
}

export const trialBalancePages: readonly PanelRoute[] = [
  {
    method: 'GET',
    path: PATHS.trialBalance,
    permission: 'ledger.view',
    scope: 'installation',
    handle: showTrialBalance,
  },
  {
    method: 'GET',
    path: `${PATHS.trialBalance}.csv`,
    permission: 'ledger.view',
    scope: 'installation',
    isDownload: true,
    handle: async (request) => ({
      download: trialBalanceCsv(await trialBalance(request.gateway, momentOf(request))),
    }),
  },
];
