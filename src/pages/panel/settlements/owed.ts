/** The page on what is owed: how much from which day on, to whom, when it is cut next, and why it would not be paid. */
import { type Owed, owedToMerchants } from '../../../core/settlements/owed.ts';
import { type Html, html } from '../../../lib/text/html.ts';
import { accountNames } from '../frame/filters.ts';
import { badge, type Column, empty, fill, money, notice, table, time } from '../frame/parts.ts';
import type { PanelAnswer, PanelRequest, PanelRoute } from '../frame/route.ts';
import { ledgerTabs, PATHS } from '../ledger/parts.ts';
import { panelTexts } from '../locales/index.ts';
import { bars } from '../reports/charts.ts';
import { settlementPath } from './account.ts';

const text = panelTexts.payouts;

/** How many days are drawn one by one, and how many accounts are listed. */
const DAYS = 14;
const ACCOUNTS = 200;

/** What is available now, on each of the next days, and later. */
function chart(currency: string, items: readonly Owed[]): Html {
  const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);
  const becoming = items.flatMap((one) => one.becoming);
  const days = [...new Set(becoming.map(({ day }) => day))].sort();
  const of = (some: readonly string[]): bigint =>
    sum(becoming.filter(({ day }) => some.includes(day)).map(({ amount }) => amount));
  const later = days.slice(DAYS);
  const parts = [
    [text.now, sum(items.map(({ available }) => available))] as const,
    ...days.slice(0, DAYS).map((day) => [day, of([day])] as const),
    ...(later.length > 0 ? [[text.later, of(later)] as const] : []),
  ];
  return html`<section class="card"><h2>${panelTexts.ledger.total}: <span class="amount">${money(sum(items.map(({ total }) => total)), currency)}</span></h2>${bars(
    `${text.owed}, ${currency}`,
    parts.map(([label, amount]) => ({
      label,
      value: Math.max(0, Number(amount)),
      shown: money(amount, currency),
      ...(amount < 0n && { tone: 'bad' as const }),
    })),
  )}</section>`;
}

/** Why the balance would not be paid, if it were cut now. */
function waits({ total, cycle }: Owed, now: number): Html | string | null {
  const heldUntil = cycle?.heldUntil ?? null;
  const reasons = [
    cycle?.hold && fill(text.onHold, { reason: cycle.hold }),
    heldUntil !== null && heldUntil > now && html`${text.bankHeldUntil} ${time(heldUntil)}`,
    cycle?.hasBankAccount !== true && text.noBankAccount,
    total < 0n && panelTexts.settlements.reasons.negative,
  ].filter((reason) => reason !== undefined && reason !== null && reason !== false && reason !== '');
  if (reasons.length === 0) return badge(text.free, 'good');
  return html`${reasons.map((reason, index) => html`${index > 0 && html`<br>`}${reason}`)}`;
}

async function show(request: PanelRequest): Promise<PanelAnswer> {
  const { gateway, session } = request;
  const names = await accountNames(request);
  const { items, isComplete } = await owedToMerchants(gateway, session.principal);
  const columns: Column<Owed>[] = [
    {
      label: panelTexts.settlements.account,
      cell: ({ mid }) => html`<a href="${settlementPath(mid)}">${names.get(mid) ?? mid}</a>`,
    },
    { label: text.now, isNumber: true, cell: ({ available, currency }) => money(available, currency) },
    { label: text.later, isNumber: true, cell: ({ pending, currency }) => money(pending, currency) },
    { label: text.nextCut, cell: ({ cycle }) => (cycle?.dueAt == null ? text.byHand : time(cycle.dueAt)) },
    { label: text.waitsFor, cell: (one) => waits(one, gateway.clock.now(one.mid)) },
  ];
  const byCurrency = Map.groupBy(items, ({ currency }) => currency);
  return {
    title: text.owed,
    body: html`<div class="head"><h1>${text.owed}</h1></div>
${ledgerTabs(request, 'owed')}
<div class="head"><p class="soft">${text.owedHint}</p></div>${!isComplete && notice(panelTexts.ledger.incomplete, 'wait')}
${
  items.length === 0
    ? html`<div class="card">${empty(text.nothingOwed, text.nothingOwedHint)}</div>`
    : html`<div class="columns even">${[...byCurrency].map(([currency, some]) => chart(currency, some))}</div>
<section class="card flush"><h2 class="inset">${text.toWhom}</h2>${
        items.length > ACCOUNTS && html`<p class="inset soft">${fill(text.largest, { count: String(ACCOUNTS) })}</p>`
      }${table(text.toWhom, columns, items.slice(0, ACCOUNTS))}</section>`
}`,
  };
}

export const owedPages: readonly PanelRoute[] = [
  { method: 'GET', path: PATHS.owed, permission: 'settlements.view', scope: 'accounts', handle: show },
];
