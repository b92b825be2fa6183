/** The ledger as tables: its accounts with their normal sides, and the accounts that each category debits and credits. */
import { nameId } from '../lib/crypto/id.ts';
import { utcDay } from '../lib/time/day.ts';
import { splitConnectionKey } from './connectors.ts';

export type Side = 'debit' | 'credit';

/** Whose money a ledger account holds: `{mid}` and `{connector}` stand for the account and the provider of an entry. */
export const LEDGER_ACCOUNTS = {
  balance: { name: 'merchant:{mid}:balance', side: 'credit' },
  reserve: { name: 'merchant:{mid}:reserve', side: 'credit' },
  inTransit: { name: 'merchant:{mid}:in_transit', side: 'credit' },
  receivable: { name: 'provider:{connector}:receivable', side: 'debit' },
  fees: { name: 'operator:fees', side: 'credit' },
  tax: { name: 'operator:tax', side: 'credit' },
  costs: { name: 'operator:costs', side: 'debit' },
  bank: { name: 'operator:bank', side: 'debit' },
  suspense: { name: 'operator:suspense', side: 'debit' },
  writeOff: { name: 'operator:write_off', side: 'debit' },
  adjustments: { name: 'operator:adjustments', side: 'debit' },
} as const satisfies Record<string, { name: string; side: Side }>;

export type LedgerAccount = keyof typeof LEDGER_ACCOUNTS;

const OUT = { debit: 'balance', credit: 'receivable' } as const;
const IN = { debit: 'receivable', credit: 'balance' } as const;

/** What an entry of each category debits and credits; the name of a priced event follows `fee`, `fee_returned`, `cost`. */
export const CATEGORIES = {
  sale: IN,
  refund: OUT,
  payout_to_payer: OUT,
  chargeback: OUT,
  second_chargeback: OUT,
  chargeback_reversed: IN,
  fee: { debit: 'balance', credit: 'fees' },
  fee_returned: { debit: 'fees', credit: 'balance' },
  cost: { debit: 'costs', credit: 'receivable' },
  reserve_held: { debit: 'balance', credit: 'reserve' },
  reserve_released: { debit: 'reserve', credit: 'balance' },
  payout: { debit: 'balance', credit: 'inTransit' },
  payout_paid: { debit: 'inTransit', credit: 'bank' },
  payout_returned: { debit: 'inTransit', credit: 'balance' },
  provider_payment: { debit: 'bank', credit: 'receivable' },
  adjustment: { debit: 'adjustments', credit: 'balance' },
} as const satisfies Record<string, { debit: LedgerAccount; credit: LedgerAccount }>;

export type CategoryGroup = keyof typeof CATEGORIES;
export const CATEGORY_GROUPS = Object.keys(CATEGORIES) as CategoryGroup[];

/** The categories whose entries name the event that was priced. */
export const PRICED_GROUPS = ['fee', 'fee_returned', 'cost'] as const satisfies readonly CategoryGroup[];
type PricedGroup = (typeof PRICED_GROUPS)[number];

export type Category = Exclude<CategoryGroup, PricedGroup> | `${PricedGroup}.${string}`;

export const groupOf = (category: Category): CategoryGroup => category.split('.', 1)[0] as CategoryGroup;

/** A debit is positive, a credit negative; minor units. */
export interface Posting {
  account: string;
  amount: bigint;
}

/** The line of a version of a price plan that set an amount. */
export interface PlanLine {
  planId: string;
  version: number;
  line: number;
}

export interface LedgerEntry {
  entryId: string;
  /** The payment, or what else the entry records, such as an adjustment. */
  sourceId: string;
  /** The history row that the entry is about; 0 if there is none. A source has one entry of a category for each. */
  seq: number;
  category: Category;
  mid: string | null;
  paymentId: string | null;
  operationId: string | null;
  /** Of the payment: its brand, and the key of its connection. */
  brand: string | null;
  connector: string | null;
  currency: string;
  postedAt: number;
  /** The day from which a posting of a merchant counts as available, such as `2026-11-15`. */
  availableOn: string;
  /** The entry that this one corrects. */
  reverses: string | null;
  note: string | null;
  plan: PlanLine | null;
  postings: readonly Posting[];
}

type Owner = Pick<LedgerEntry, 'mid' | 'connector'>;

/** The name of an account; that of a provider has no connection, as in the admin API. */
export function accountName(account: LedgerAccount, { mid, connector }: Owner): string {
  const { name } = LEDGER_ACCOUNTS[account];
  return name
    .replace('{mid}', mid ?? '')
    .replace('{connector}', connector === null ? '' : splitConnectionKey(connector).connector);
}

/** The part of an entry that its postings depend on; a negative amount debits what the category credits. */
export type EntryAmount = { amount: bigint; tax?: bigint };

/** The postings of an entry; tax is debited or credited together with the fee. */
function postingsOf(category: Category, owner: Owner, { amount, tax = 0n }: EntryAmount): Posting[] {
  const { debit, credit } = CATEGORIES[groupOf(category)];
  const post = (account: LedgerAccount, value: bigint): Posting => ({
    account: accountName(account, owner),
    amount: value,
  });
  if (tax === 0n) return [post(debit, amount), post(credit, -amount)];
  return debit === 'balance'
    ? [post(debit, amount + tax), post(credit, -amount), post('tax', -tax)]
    : [post(debit, amount), post('tax', tax), post(credit, -(amount + tax))];
}

const DAY_MS = 86_400_000;

/** Most entries are of one day. */
let latest = { day: Number.NaN, text: '' };

/** The day, in UTC, from which something that was posted at this time is available. */
export function availableAfter(postedAt: number): string {
  const day = Math.floor(postedAt / DAY_MS);
  if (day !== latest.day) latest = { day, text: utcDay(day * DAY_MS) };
  return latest.text;
}

export type EntryFacts = Pick<LedgerEntry, 'sourceId' | 'category' | 'currency' | 'postedAt'> &
  Partial<Omit<LedgerEntry, 'entryId' | 'postings'>>;

/** Composes an entry. Its id depends on its source, so that the same source always gives the same entry. */
export function composeEntry(facts: EntryFacts, amount: EntryAmount): LedgerEntry {
  const { sourceId, seq = 0, category, mid = null, connector = null, postedAt } = facts;
  return {
    entryId: nameId(`ledger ${sourceId} ${seq} ${category}`),
    sourceId,
    seq,
    category,
    mid,
    paymentId: facts.paymentId ?? null,
    operationId: facts.operationId ?? null,
    brand: facts.brand ?? null,
    connector,
    currency: facts.currency,
    postedAt,
    availableOn: facts.availableOn ?? availableAfter(postedAt),
    reverses: facts.reverses ?? null,
    note: facts.note ?? null,
    plan: facts.plan ?? null,
    postings: postingsOf(category, { mid, connector }, amount),
  };
}

/** The account with this name. */
function accountOf(name: string): { name: string; side: Side } | undefined {
  const shape = name
    .replace(/^merchant:[0-9a-f-]{36}:/, 'merchant:{mid}:')
    .replace(/^provider:[\w-]+:/, 'provider:{connector}:');
  return Object.values(LEDGER_ACCOUNTS).find((account) => account.name === shape);
}

export const isAccountName = (text: string): boolean => !text.includes('{') && accountOf(text) !== undefined;

export const sideOf = (name: string): Side => accountOf(name)?.side ?? 'debit';

/** Whether a text is a category, or the part before the point of several. */
export function isCategory(text: string): boolean {
  const [group, event, ...rest] = text.split('.');
  const isPriced = PRICED_GROUPS.some((priced) => priced === group);
  return (
    CATEGORY_GROUPS.some((known) => known === group) &&
    rest.length === 0 &&
    (event === undefined || (isPriced && /^[a-z_]+$/.test(event)))
  );
}

/** The entry of an adjustment is posted when it is approved. */
export const ADJUSTMENT_STATES = ['waiting', 'approved', 'refused'] as const;
export type AdjustmentState = (typeof ADJUSTMENT_STATES)[number];

/** Whether merchants may see a posting: those of their own accounts. */
export const isOfMerchant = ({ account }: Pick<Posting, 'account'>): boolean => account.startsWith('merchant:');
