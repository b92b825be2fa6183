/** What the pages of the ledger share: their tabs, and the names of categories and ledger accounts. */

import { type Html, html } from '../../../lib/text/html.ts';
import {
  type Category,
  groupOf,
  LEDGER_ACCOUNTS,
  type LedgerAccount,
  type LedgerEntry,
} from '../../../rules/ledger.ts';
import type { PriceEvent } from '../../../rules/pricing.ts';
import { isAllowed } from '../../../rules/roles.ts';
import { providerName } from '../connections/provider-name.ts';
import { type Column, fill, money, tabs, time } from '../frame/parts.ts';
import type { PanelRequest } from '../frame/route.ts';
import { panelTexts } from '../locales/index.ts';

const text = panelTexts.ledger;

export const PATHS = {
  balances: '/admin/ledger',
  settlements: '/admin/ledger/settlements',
  owed: '/admin/ledger/owed',
  payouts: '/admin/ledger/payouts',
  calendar: '/admin/ledger/calendar',
  statements: '/admin/ledger/statements',
  feeInvoices: '/admin/ledger/fee-invoices',
  threeWay: '/admin/ledger/three-way',
  trialBalance: '/admin/ledger/trial-balance',
  margin: '/admin/ledger/margin',
  adjustments: '/admin/ledger/adjustments',
} as const;

/** What merchants see as well. */
const OF_MERCHANTS = ['settlements', 'statements', 'feeInvoices', 'owed'] as const satisfies (keyof typeof PATHS)[];

/** Callers that are restricted to accounts see nothing of the operator and of providers. */
export function ledgerTabs({ session: { principal } }: PanelRequest, active: keyof typeof PATHS): Html | false {
  const seen = (Object.keys(PATHS) as (keyof typeof PATHS)[]).filter((name) => {
    if (name === 'adjustments') return isAllowed(principal.role, 'adjustments.view');
    if (OF_MERCHANTS.some((one) => one === name)) return isAllowed(principal.role, 'settlements.view');
    return name === 'balances' || principal.mids === null;
  });
  const views = seen.map((name) => ({ href: PATHS[name], label: text[name], isActive: name === active }));
  return views.length > 1 && tabs(text.title, views);
}

/** The kind of an entry; a fee or a cost names the event. */
export function categoryName(category: Category): string {
  const [, event] = category.split('.');
  const name = text.groups[groupOf(category)];
  return event === undefined ? name : `${name}: ${panelTexts.prices.events[event as PriceEvent] ?? event}`;
}

/** The name of a ledger account as people read it. */
export function ledgerAccountName(account: string, names: ReadonlyMap<string, string>): string {
  const [, owner = ''] = account.split(':');
  const shape = account.replace(/^merchant:[^:]*/, 'merchant:{mid}').replace(/^provider:[^:]*/, 'provider:{connector}');
  const known = (Object.keys(LEDGER_ACCOUNTS) as LedgerAccount[]).find((one) => LEDGER_ACCOUNTS[one].name === shape);
  if (!known) return account;
  const name = account.startsWith('provider:') ? providerName(owner) : (names.get(owner) ?? owner);
  return fill(text.accounts[known], { name });
}

/** The postings of an entry, a line for each. */
function postings(
  { postings: all, currency }: LedgerEntry,
  names: ReadonlyMap<string, string>,
  isDebit: boolean,
): Html {
  const lines = all.filter(({ amount }) => amount > 0n === isDebit);
  return html`${lines.map(
    ({ account, amount }, index) =>
      html`${index > 0 && html`<br>`}${ledgerAccountName(account, names)} <span class="amount">${money(amount < 0n ? -amount : amount, currency)}</span>`,
  )}`;
}

/** What an entry says besides its postings. */
function remark({ note, plan, reverses }: LedgerEntry): Html | false {
  const parts = [
    note,
    plan && html`<a href="/admin/prices/${plan.planId}">${fill(text.priceLine, { line: String(plan.line + 1) })}</a>`,
    reverses && text.reverses,
  ].filter((part) => part !== null && part !== '');
  return (
    parts.length > 0 &&
    html`<p class="soft small">${parts.map((part, index) => html`${index > 0 && ' · '}${part}`)}</p>`
  );
}

export const entryColumns = (names: ReadonlyMap<string, string>, hasPayment: boolean): Column<LedgerEntry>[] => [
  { label: text.posted, cell: ({ postedAt }) => time(postedAt) },
  { label: text.category, cell: (entry) => html`${categoryName(entry.category)}${remark(entry)}` },
  { label: text.debit, cell: (entry) => postings(entry, names, true) },
  { label: text.credit, cell: (entry) => postings(entry, names, false) },
  ...(hasPayment
    ? [
        {
          label: text.payment,
          cell: ({ paymentId }: LedgerEntry) =>
            paymentId && html`<a class="mono" href="/admin/payments/${paymentId}">${paymentId.slice(-12)}</a>`,
        },
      ]
    : []),
];
