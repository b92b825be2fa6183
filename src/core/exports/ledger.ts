/** The ledger as the admin API and the panel show it: entries, balances and the trial balance, also as CSV. */
import { amountText } from '../../lib/money/money.ts';
import { type CsvValue, csvRows } from '../../lib/text/csv.ts';
import { wireDate, wireDateOrNull } from '../../lib/time/clock.ts';
import { utcDay } from '../../lib/time/day.ts';
import { exponentOf } from '../../rules/currencies.ts';
import type { LedgerEntry, Posting } from '../../rules/ledger.ts';
import { LIMITS } from '../../rules/limits.ts';
import { AGE_LIMITS } from '../../rules/receivables.ts';
import type { Gateway } from '../context.ts';
import type { Adjustment } from '../ledger/adjustments.ts';
import type {
  AccountBalance,
  EntryCursor,
  Margin,
  MarginGroup,
  Money,
  Receivable,
  TrialBalance,
} from '../ledger/ledger.ts';
import type { Download } from './download.ts';

/** Amounts of the ledger have the fraction digits of their currency, and a sign. */
export const ledgerAmount = (minor: bigint, currency: string): string => amountText(minor, exponentOf(currency));

const postingView = ({ account, amount }: Posting, currency: string) => ({
  account,
  side: amount < 0n ? 'credit' : 'debit',
  amount: ledgerAmount(amount < 0n ? -amount : amount, currency),
  currency,
});

export const entryView = (entry: LedgerEntry) => ({
  entry_id: entry.entryId,
  category: entry.category,
  mid: entry.mid,
  payment_id: entry.paymentId,
  operation_id: entry.operationId,
  posted_at: wireDate(entry.postedAt),
  available_on: entry.availableOn,
  reverses: entry.reverses,
  note: entry.note,
  plan: entry.plan && { plan_id: entry.plan.planId, version: entry.plan.version, line: entry.plan.line },
  postings: entry.postings.map((posting) => postingView(posting, entry.currency)),
});

export const balanceView = ({ asOf, isComplete, isUnpriced, items }: AccountBalance) => ({
  as_of: wireDate(asOf),
  complete: isComplete,
  unpriced: isUnpriced,
  items: items.map(({ currency, available, pending, reserve, inTransit, total, becoming }) => ({
    currency,
    available: ledgerAmount(available, currency),
    pending: ledgerAmount(pending, currency),
    reserve: ledgerAmount(reserve, currency),
    in_transit: ledgerAmount(inTransit, currency),
    total: ledgerAmount(total, currency),
    becoming_available: becoming.map(({ day, amount }) => ({ day, amount: ledgerAmount(amount, currency) })),
  })),
});

export const trialBalanceView = ({ at, isComplete, items, totals }: TrialBalance) => ({
  at: wireDate(at),
  complete: isComplete,
  items: items.map(({ account, currency, debit, credit, balance }) => ({
    account,
    currency,
    debit: ledgerAmount(debit, currency),
    credit: ledgerAmount(credit, currency),
    balance: ledgerAmount(balance, currency),
  })),
  totals: totals.map(({ currency, debit, credit }) => ({
    currency,
    debit: ledgerAmount(debit, currency),
    credit: ledgerAmount(credit, currency),
  })),
});

/** The money of a payment; merchants do not see costs. */
export const moneyView = (money: Money, currency: string, isMerchant: boolean) => ({
  gross: ledgerAmount(money.gross, currency),
  refunded: ledgerAmount(money.refunded, currency),
  charged_back: ledgerAmount(money.chargedBack, currency),
  fees: ledgerAmount(money.fees, currency),
  ...(!isMerchant && { costs: ledgerAmount(money.costs, currency) }),
  net: ledgerAmount(money.net, currency),
});

const ENTRY_HEADER = [
  ...['entry_id', 'category', 'mid', 'payment_id', 'operation_id', 'posted_at', 'available_on', 'reverses', 'note'],
  ...['plan_id', 'version', 'line', 'account', 'side', 'amount', 'currency'],
];

/** A line for each posting. */
const entryLines = (entry: LedgerEntry): CsvValue[][] => {
  const { plan, postings, ...view } = entryView(entry);
  const facts = [...Object.values(view), plan?.plan_id ?? null, plan?.version ?? null, plan?.line ?? null];
  return postings.map((posting) => [...facts, ...Object.values(posting)]);
};

/** A list as CSV, in portions. A failure of the first read is thrown here, while an error can still be answered. */
export async function portionsCsv<Row>(
  gateway: Gateway,
  name: string,
  header: readonly string[],
  lines: (row: Row) => CsvValue[][],
  read: (limit: number, last?: Row) => Promise<Row[]>,
): Promise<Download> {
  const first = await read(LIMITS.exportPortion);
  async function* chunks(): AsyncGenerator<string, void> {
    yield csvRows([header, ...first.flatMap(lines)]);
    for (let portion = first; portion.length === LIMITS.exportPortion; ) {
      portion = await read(LIMITS.exportPortion, portion.at(-1));
      // An empty chunk would end the stream.
      if (portion.length > 0) yield csvRows(portion.flatMap(lines));
    }
  }
  const time = new Date(gateway.clock.now()).toISOString().replace(/\..*|:/g, '');
  return { filename: `${name}-${time}Z.csv`, chunks: chunks() };
}

/** A line for each posting. */
export const entriesCsv = (
  gateway: Gateway,
  read: (limit: number, last?: EntryCursor) => Promise<LedgerEntry[]>,
  name = 'ledger-entries',
): Promise<Download> => portionsCsv(gateway, name, ENTRY_HEADER, entryLines, read);

export function trialBalanceCsv(found: TrialBalance): Download & { chunks: [string] } {
  const { items } = trialBalanceView(found);
  const rows = items.map((item) => Object.values(item));
  const day = utcDay(found.at);
  return {
    filename: `trial-balance-${day}.csv`,
    chunks: [csvRows([['account', 'currency', 'debit', 'credit', 'balance'], ...rows])],
  };
}

export const adjustmentView = (adjustment: Adjustment) => ({
  adjustment_id: adjustment.adjustmentId,
  mid: adjustment.mid,
  currency: adjustment.currency,
  amount: ledgerAmount(adjustment.amount, adjustment.currency),
  reason: adjustment.reason,
  state: adjustment.state,
  proposed_by: adjustment.authorName,
  proposed_at: wireDate(adjustment.proposedAt),
  decided_by: adjustment.decidedBy,
  decided_at: wireDateOrNull(adjustment.decidedAt),
});

const ADJUSTMENT_HEADER = [
  ...['adjustment_id', 'mid', 'currency', 'amount', 'reason', 'state'],
  ...['proposed_by', 'proposed_at', 'decided_by', 'decided_at'],
];

export const adjustmentsCsv = (
  gateway: Gateway,
  read: (limit: number, before?: string) => Promise<Adjustment[]>,
): Promise<Download> =>
  portionsCsv<Adjustment>(
    gateway,
    'adjustments',
    ADJUSTMENT_HEADER,
    (one) => [Object.values(adjustmentView(one))],
    (limit, last) => read(limit, last?.adjustmentId),
  );

/** The names of groups in the API. */
const MARGIN_COLUMNS = { day: 'day', mid: 'mid', brand: 'brand', connector: 'connection' } as const;

export const marginView = (row: Margin, groups: readonly MarginGroup[]) => ({
  ...Object.fromEntries(groups.map((group) => [MARGIN_COLUMNS[group], row[group]])),
  currency: row.currency,
  fees: ledgerAmount(row.fees, row.currency),
  costs: ledgerAmount(row.costs, row.currency),
  margin: ledgerAmount(row.fees - row.costs, row.currency),
});

export function marginsCsv(
  rows: readonly Margin[],
  groups: readonly MarginGroup[],
  days: { from: string; to: string },
): Download & { chunks: [string] } {
  const header = [...groups.map((group) => MARGIN_COLUMNS[group]), 'currency', 'fees', 'costs', 'margin'];
  const lines = rows.map((row): CsvValue[] => Object.values(marginView(row, groups)));
  return { filename: `margin-${days.from}-to-${days.to}.csv`, chunks: [csvRows([header, ...lines])] };
}

/** What a provider owes; an age without an end has the oldest amounts. */
export const receivableView = ({ connector, currency, total, ages }: Receivable) => ({
  connector,
  currency,
  total: ledgerAmount(total, currency),
  ages: ages.map((amount, index) => ({
    from_days: index === 0 ? 0 : (AGE_LIMITS[index - 1] as number) + 1,
    to_days: AGE_LIMITS[index] ?? null,
    amount: ledgerAmount(amount, currency),
  })),
});

export function receivablesCsv(rows: readonly Receivable[], at: number): Download & { chunks: [string] } {
  const names = [...AGE_LIMITS.map((limit) => `up_to_${limit}_days`), 'older'];
  const lines = rows.map(({ connector, currency, total, ages }): CsvValue[] => [
    connector,
    currency,
    ledgerAmount(total, currency),
    ...ages.map((amount) => ledgerAmount(amount, currency)),
  ]);
  const day = utcDay(at);
  return {
    filename: `receivables-${day}.csv`,
    chunks: [csvRows([['connector', 'currency', 'total', ...names], ...lines])],
  };
}
