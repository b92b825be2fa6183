/** Whose money it is: the balance of an account, the entries of the ledger, the trial balance, the money of a payment. */
import {
  availableAfter,
  groupOf,
  isOfMerchant,
  LEDGER_ACCOUNTS,
  type LedgerEntry,
  sideOf,
} from '../../rules/ledger.ts';
import { agesOf } from '../../rules/receivables.ts';
import { availableToday } from '../../rules/settlement-calendar.ts';
import type { Complete, EntryCursor, EntryFilter, Margin, MarginGroup, TrialSum } from '../../store/ledger/ledger.ts';
import type { Gateway } from '../context.ts';
import type { Principal } from '../operators/principal.ts';
import { planHistory } from '../prices/prices.ts';
import { listTerms } from '../settlements/terms.ts';

export type { EntryCursor, Margin, MarginGroup } from '../../store/ledger/ledger.ts';
export { MARGIN_GROUPS } from '../../store/ledger/ledger.ts';

/** The balance of an account in one currency, in minor units. */
export interface Balance {
  currency: string;
  available: bigint;
  pending: bigint;
  reserve: bigint;
  inTransit: bigint;
  total: bigint;
  /** What of `pending` becomes available on later days, in their order. */
  becoming: { day: string; amount: bigint }[];
}

export interface AccountBalance {
  asOf: number;
  isComplete: boolean;
  /** No price plan applies to the account. */
  isUnpriced: boolean;
  items: Balance[];
}

/** What the operator owes an account now, by the clock of the account. */
export async function accountBalance(gateway: Gateway, mid: string): Promise<AccountBalance> {
  const asOf = gateway.clock.now(mid);
  const terms = await listTerms(gateway, mid);
  const [{ rows, isComplete }, [plan]] = await Promise.all([
    // The day of a currency is that of UTC, or a later one.
    gateway.ledger.balances(mid, availableToday(asOf, [])),
    planHistory(gateway, { mid }),
  ]);
  const currencies = [...new Set(rows.map(({ currency }) => currency))].sort();
  const items = currencies.map((currency): Balance => {
    const ofCurrency = terms.filter((one) => one.currency === currency);
    const today = availableToday(
      asOf,
      ofCurrency.map(({ timeZone }) => timeZone),
    );
    // The accounts of merchants have their normal side at the credit.
    const own = rows.filter((row) => row.currency === currency).map((row) => ({ ...row, amount: -row.amount }));
    const sum = (name: string, isPart: (day: string) => boolean = () => true): bigint =>
      own.reduce((total, row) => (row.account === name && isPart(row.availableOn) ? total + row.amount : total), 0n);
    const named = (account: 'balance' | 'reserve' | 'inTransit'): string =>
      LEDGER_ACCOUNTS[account].name.replace('{mid}', mid);
    const later = own.filter((row) => row.account === named('balance') && row.availableOn > today && row.amount !== 0n);
    const parts = {
      available: sum(named('balance'), (day) => day <= today),
      pending: sum(named('balance'), (day) => day > today),
      reserve: sum(named('reserve')),
      inTransit: sum(named('inTransit')),
    };
    return {
      currency,
      ...parts,
      total: parts.available + parts.pending + parts.reserve + parts.inTransit,
      becoming: later
        .map(({ availableOn, amount }) => ({ day: availableOn, amount }))
        .sort((a, b) => (a.day < b.day ? -1 : 1)),
    };
  });
  return { asOf, isComplete, isUnpriced: (plan?.planId ?? null) === null, items };
}

/** Callers that are restricted to accounts see the ledger accounts and fees of these, and nothing of the operator and of providers. */
export const isMerchantView = ({ mids }: Pick<Principal, 'mids'>): boolean => mids !== null;

/** The entry as the caller may see it. */
export const seenBy = (principal: Pick<Principal, 'mids'>, entry: LedgerEntry): LedgerEntry =>
  isMerchantView(principal) ? { ...entry, postings: entry.postings.filter(isOfMerchant) } : entry;

/** Newest first. */
export async function listEntries(
  gateway: Gateway,
  principal: Principal,
  filter: Omit<EntryFilter, 'mids' | 'isMerchant'>,
  limit: number,
  before?: EntryCursor,
): Promise<LedgerEntry[]> {
  const { mids } = principal;
  const { mid, account } = filter;
  const isMerchant = isMerchantView(principal);
  if (mid !== undefined && mids !== null && !mids.includes(mid)) return [];
  if (account !== undefined && isMerchant && !isOfMerchant({ account })) return [];
  const entries = await gateway.ledger.entries({ ...filter, mids, isMerchant }, limit, before);
  return entries.map((entry) => seenBy(principal, entry));
}

export interface TrialBalance {
  at: number;
  isComplete: boolean;
  /** The balance is on the normal side of the account; a negative one is on the other side. */
  items: (TrialSum & { balance: bigint })[];
  totals: { currency: string; debit: bigint; credit: bigint }[];
}

/** The sums of all ledger accounts at a moment; debits equal credits in each currency. */
export async function trialBalance(gateway: Gateway, at?: number): Promise<TrialBalance> {
  const { rows, isComplete } = await gateway.ledger.trialBalance(at);
  const items = rows.map((row) => ({
    ...row,
    balance: sideOf(row.account) === 'debit' ? row.debit - row.credit : row.credit - row.debit,
  }));
  const totals = [...Map.groupBy(rows, ({ currency }) => currency)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, same]) => ({
      currency,
      debit: same.reduce((sum, { debit }) => sum + debit, 0n),
      credit: same.reduce((sum, { credit }) => sum + credit, 0n),
    }));
  return { at: at ?? gateway.clock.now(), isComplete, items, totals };
}

/** What became of the money of a payment, in minor units, from the merchant's view. */
export interface Money {
  /** A payout to the payer is negative. */
  gross: bigint;
  refunded: bigint;
  chargedBack: bigint;
  /** With tax, less what was returned. */
  fees: bigint;
  costs: bigint;
  /** Without costs. */
  net: bigint;
}

export interface PaymentMoney {
  money: Money;
  entries: LedgerEntry[];
}

export function moneyOf(entries: readonly LedgerEntry[]): Money {
  /** What entries of these categories add to the ledger account. */
  const added = (account: 'balance' | 'costs', ...groups: string[]): bigint =>
    entries.reduce((sum, { category, mid, postings }) => {
      if (!groups.includes(groupOf(category))) return sum;
      const name = LEDGER_ACCOUNTS[account].name.replace('{mid}', mid ?? '');
      return postings.reduce((total, posting) => (posting.account === name ? total + posting.amount : total), sum);
    }, 0n);
  const parts = {
    gross: -added('balance', 'sale', 'payout_to_payer'),
    refunded: added('balance', 'refund'),
    chargedBack: added('balance', 'chargeback', 'second_chargeback', 'chargeback_reversed'),
    fees: added('balance', 'fee', 'fee_returned'),
    costs: added('costs', 'cost'),
  };
  return { ...parts, net: parts.gross - parts.refunded - parts.chargedBack - parts.fees };
}

/** The money of a payment, and the entries that the caller may see of it. */
export async function paymentMoney(
  gateway: Gateway,
  principal: Pick<Principal, 'mids'>,
  payment: { mid: string; paymentId: string },
): Promise<PaymentMoney> {
  const entries = await gateway.ledger.ofPayment(payment);
  const isSeen = ({ postings }: LedgerEntry): boolean => !isMerchantView(principal) || postings.some(isOfMerchant);
  return { money: moneyOf(entries), entries: entries.filter(isSeen).map((entry) => seenBy(principal, entry)) };
}

/** Fees less costs of some days, in the order of the groups. */
export async function margins(
  gateway: Gateway,
  days: { from: string; to: string; mid?: string | undefined },
  groups: readonly MarginGroup[],
): Promise<Complete<Margin[]>> {
  const { rows, isComplete } = await gateway.ledger.margins(days, groups);
  const place = (row: Margin): string => [row.day, row.mid, row.brand, row.connector, row.currency].join(' ');
  return { rows: rows.toSorted((a, b) => (place(a) < place(b) ? -1 : 1)), isComplete };
}

/** What a provider still owes in one currency, by age; see `AGE_LIMITS`. */
export interface Receivable {
  connector: string;
  currency: string;
  total: bigint;
  ages: bigint[];
}

export async function receivables(gateway: Gateway): Promise<Complete<Receivable[]> & { at: number }> {
  const at = gateway.clock.now();
  const { rows, isComplete } = await gateway.ledger.receivables();
  const byAccount = [...Map.groupBy(rows, ({ account, currency }) => `${account} ${currency}`)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const items = byAccount.map(([key, sums]): Receivable => {
    const [, connector = ''] = key.split(':');
    const ages = agesOf(sums, availableAfter(at));
    return { connector, currency: sums[0]?.currency ?? '', total: ages.reduce((sum, age) => sum + age, 0n), ages };
  });
  return { at, isComplete, rows: items };
}
