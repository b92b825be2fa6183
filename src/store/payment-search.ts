/** The text search for payments: turns words into statements that read a bounded number of rows through indexes. */
import { LAST_ID } from '../lib/id.ts';
import { LIMITS } from '../rules/limits.ts';
import { type SearchField, type SearchWord, searchedAmounts } from '../rules/payment-search.ts';
import { columns } from './columns.ts';
import {
  type Bind,
  type FilterParts,
  filterParts,
  IS_NOT_OPEN,
  IS_OPEN,
  idRange,
  otherConditions,
  type PaymentFilter,
} from './payment-list.ts';

/**
 * The settings of a search. The planner cannot estimate how many payments a value has; if it expects few, it would read
 * all of them at once and sort them, instead of reading an index in order until the page is full.
 */
export const SEARCH_SETTINGS = [
  'enable_bitmapscan = off',
  'enable_seqscan = off',
  'enable_sort = off',
  'max_parallel_workers_per_gather = 0',
] as const;

/** Begins a transaction with these settings. */
export const BEGIN_SEARCH = ['begin read only', ...SEARCH_SETTINGS.map((setting) => `set local ${setting}`)].join('; ');

/** One way to find the payments of a word. */
type Branch =
  /** Entries of an index for one value, in order of time. `and` is checked on the rows. */
  | { kind: 'index'; column: string; value: string; where: string; and?: string }
  /** A small set that is read completely. */
  | { kind: 'set'; set: string; and?: string }
  /** All payments in order of time, because too many match for a set. */
  | { kind: 'time'; and: string };

interface Lookup {
  branches: Branch[];
  /** Whether a payment `p` matches. */
  condition: string;
}

const CARD = `p.details #>> '{card,masked}'`;
const EMAIL = `p.details #>> '{payer,email}'`;

/** An index lookup; the condition repeats the predicate of the index, word for word, so that the planner can use it. */
const byIndex = (column: string, value: string, where: string): Lookup => ({
  branches: [{ kind: 'index', column, value, where }],
  condition: `${column} = ${value}`,
});

/** Order ids are compared byte by byte, and no character sorts after this one. */
const LAST_CHARACTER = '\u{10ffff}';
const prefixRange = (text: string, bind: Bind): string =>
  `p.order_id >= ${bind(text)} and p.order_id < ${bind(text + LAST_CHARACTER)}`;

/** How each field is compared. Open payments are not in the indexes with `IS_NOT_OPEN`, and are read separately. */
const LOOKUPS: Readonly<Record<SearchField, (word: string, isFrequentPrefix: boolean, bind: Bind) => Lookup>> = {
  paymentId: (word, _, bind) => small(`p.payment_id = ${bind(word)}::uuid`),
  operationId: (word, _, bind) =>
    small(`(p.mid, p.payment_id) in (select o.mid, o.payment_id from operations o
      where o.operation_id = ${bind(word)}::uuid)`),
  scheduleId: (word, _, bind) => byIndex('p.schedule_id', `${bind(word)}::uuid`, 'p.schedule_id is not null'),
  providerReference: (word, _, bind) =>
    byIndex('p.provider_reference', bind(word), 'length(p.provider_reference) <= 255'),
  recurringToken: (word, _, bind) => byIndex('p.recurring_token', bind(word), 'p.recurring_token is not null'),
  orderId: (word, isFrequentPrefix, bind) => {
    const condition = prefixRange(word, bind);
    return {
      branches: [isFrequentPrefix ? { kind: 'time', and: condition } : { kind: 'set', set: condition }],
      condition,
    };
  },
  email: (word, _, bind) =>
    byIndex(`lower(${EMAIL})`, `lower(${bind(word)}::text)`, `length(${EMAIL}) <= 254 and ${IS_NOT_OPEN}`),
  lastFour: (word, _, bind) => byIndex(`right(${CARD}, 4)`, bind(word), `${CARD} is not null and ${IS_NOT_OPEN}`),
  amount: (word, _, bind) => {
    const amounts = searchedAmounts(word).map(({ minor, currencies }) => ({
      ...byIndex('p.amount', `${bind(minor)}::bigint`, IS_NOT_OPEN),
      and: `p.currency = any(${bind(currencies)}::text[])`,
    }));
    return {
      branches: amounts.flatMap(({ branches, and }) => branches.map((branch) => ({ ...branch, and }))),
      condition: anyOf(amounts.map(({ condition, and }) => `${condition} and ${and}`)),
    };
  },
};

const small = (condition: string): Lookup => ({ branches: [{ kind: 'set', set: condition }], condition });
const anyOf = (conditions: readonly string[]): string =>
  conditions.length === 0 ? 'false' : `(${conditions.join(' or ')})`;

/** What decides how a search is read; each count ends after a maximum. */
export interface SearchCounts {
  /** How many orders begin with each word. */
  prefixes: number[];
  /** How many payments have to be read for each word; for a single word, zero. */
  weights: number[];
  /** How many payments the accounts of the filter have; null if it is for all accounts. */
  ofAccounts: number | null;
}

const accountsOf = ({ mid, mids }: PaymentFilter): readonly string[] | null => (mid === undefined ? mids : [mid]);

/** Up to this many entries of an index are counted to compare words; a value with more counts as frequent. */
const COUNTED_MOST = 1000;
const FREQUENT = LIMITS.searchReadMost;

const FIRST_ID = `uuid '00000000-0000-0000-0000-000000000000'`;
const HIGHEST_ID = `uuid '${LAST_ID}'`;

/** Drops the parameters that the text does not contain: PostgreSQL refuses them, because it cannot infer their types. */
function withUsedValues(text: string, values: readonly unknown[]): { text: string; values: unknown[] } {
  const used: unknown[] = [];
  const numbers = new Map<string, number>();
  const renumbered = text.replace(/\$(\d+)/g, (_, number: string) => {
    if (!numbers.has(number)) numbers.set(number, used.push(values[Number(number) - 1]));
    return `$${numbers.get(number)}`;
  });
  return { text: renumbered, values: used };
}

/** The statement that returns the counts. */
export function searchCounts(filter: PaymentFilter, words: readonly SearchWord[]): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const count = (source: string, most: number): string =>
    `(select count(*) from (select ${source} limit ${most + 1}) counted)::int`;
  const countPrefix = ({ text }: SearchWord): string =>
    count(`from payments p where ${prefixRange(text, bind)}`, LIMITS.searchPrefixMost);
  const weigh = ({ text, fields }: SearchWord): string => {
    const branches = fields.flatMap((field) => (field === 'orderId' ? [] : LOOKUPS[field](text, false, bind).branches));
    const weights = branches.flatMap((branch) => {
      if (branch.kind !== 'index') return [];
      const { column, value, where } = branch;
      const source = `from payments p where (${column}, p.payment_id) >= (${value}, ${FIRST_ID})
        and (${column}, p.payment_id) < (${value}, ${HIGHEST_ID}) and ${where} order by ${column}, p.payment_id`;
      return `(select case when n > ${COUNTED_MOST} then ${FREQUENT} else n end from (select ${count(source, COUNTED_MOST)} as n) c)`;
    });
    return weights.join(' + ');
  };
  const accounts = accountsOf(filter);
  const ofAccounts = accounts
    ? count(`from payments p where p.mid = any(${bind(accounts)}::uuid[])`, LIMITS.searchReadMost)
    : 'null::int';
  const prefixes = words.map(countPrefix).join(', ');
  const weights = words.map((word) => (words.length === 1 ? '0' : weigh(word))).join(', ');
  return withUsedValues(
    `select array[${prefixes}] as prefixes, array[${weights}] as weights, ${ofAccounts} as "ofAccounts"`,
    values,
  );
}

/**
 * A statement that searches payments, newest first. It reads the payments of the word that has the fewest, and checks the
 * other words and filters on their rows. `end` is the id at which the first branch stopped because it had read its
 * maximum before it filled the page; older payments are left to the next page. Without payments there is one row, with
 * `paymentId` null.
 */
export function paymentSearch(
  filter: PaymentFilter,
  words: readonly SearchWord[],
  { prefixes, weights, ofAccounts }: SearchCounts,
  names: readonly string[],
  aheadMs: number,
): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const parts = filterParts(filter, aheadMs, bind);
  const [first, ...others] = words
    .map(({ text, fields }, index) => {
      const prefix = prefixes[index] as number;
      const isFrequentPrefix = prefix > LIMITS.searchPrefixMost;
      const weight = (weights[index] as number) + (isFrequentPrefix ? 2 * FREQUENT : prefix);
      return { weight, lookups: fields.map((field) => LOOKUPS[field](text, isFrequentPrefix, bind)) };
    })
    .sort((a, b) => a.weight - b.weight)
    .map((word) => word.lookups);
  const lookups = first as Lookup[];
  let branches = lookups.flatMap((lookup) => lookup.branches);
  if (branches.some((branch) => branch.kind === 'index' && branch.where.includes(IS_NOT_OPEN))) {
    const and = matches(lookups);
    // The payments of small accounts are fewer than those that have, for example, the same amount in other accounts.
    const isSmall = ofAccounts !== null && ofAccounts <= LIMITS.searchReadMost;
    if (isSmall) branches = [{ kind: 'set', set: `p.mid = any(${bind(accountsOf(filter))}::uuid[])`, and }];
    else branches.push({ kind: 'set', set: IS_OPEN, and });
  }
  const conditions = [...otherConditions(parts), ...others.map(matches)];
  const limit = bind(filter.limit);
  const reads = branches.flatMap((branch) => readBranch(branch, parts, conditions, limit));
  // A branch that filled its page did not stop early; its end need not be looked for.
  const ends = reads.flatMap(({ end }, index) =>
    end === undefined ? [] : `(select payment_id from ${end} e where (select count(*) from read_${index}) < ${limit})`,
  );
  const text = `
    with ${reads.map(({ page }, index) => `read_${index} as materialized ${page}`).join(', ')},
    found as materialized (
      select mid, payment_id from (${reads.map((_, index) => `select * from read_${index}`).join(' union all ')}) f
      group by mid, payment_id order by payment_id desc limit ${limit}
    ), ended as materialized (
      ${[...ends, 'select null::uuid as payment_id where false'].join(' union all ')} order by payment_id desc limit 1
    )
    select (select payment_id from ended) as "end", p.*
    from (select) one
    left join (
      found f cross join lateral (
        select ${columns('p', names)} from payments p where p.mid = f.mid and p.payment_id = f.payment_id offset 0
      ) p
    ) on true
    order by f.payment_id desc`;
  return { text, values };
}

const matches = (lookups: readonly Lookup[]): string => anyOf(lookups.map(({ condition }) => condition));

interface Read {
  /** Selects the matching payments of the page. */
  page: string;
  /** Selects the id at which reading stops before the end of the index, if it does. */
  end?: string;
}

function readBranch(branch: Branch, parts: FilterParts, conditions: readonly string[], limit: string): Read[] {
  const checked = [...(branch.and === undefined ? [] : [branch.and]), ...conditions];
  if (branch.kind === 'set') {
    const all = [...idRange(parts), ...checked].join(' and ');
    // The offset keeps the planner from merging the subquery: the set is read through its own index, and sorted.
    const source = `(select * from payments p where ${branch.set} offset 0)`;
    return [
      { page: `(select p.mid, p.payment_id from ${source} p where ${all} order by p.payment_id desc limit ${limit})` },
    ];
  }
  return orderedSources(branch, parts).map(({ key, source }) => ({
    // The inner limit bounds what is read. The rows come in the order of the index, so that reading ends with the page.
    page: `(select p.mid, p.payment_id from (select ${key} as key, p.* ${source} limit ${LIMITS.searchReadMost}) p
      where ${['true', ...checked].join(' and ')} order by p.key desc, p.payment_id desc limit ${limit})`,
    end: `(select p.payment_id ${source} offset ${LIMITS.searchReadMost - 1} limit 1)`,
  }));
}

/** What is read in the order of an index, and its sort key. */
function orderedSources(
  branch: Exclude<Branch, { kind: 'set' }>,
  parts: FilterParts,
): { key: string; source: string }[] {
  const inOrder = (key: string, sourceConditions: readonly string[]) => ({
    key,
    source: `from payments p where ${sourceConditions.join(' and ')} order by ${key} desc, p.payment_id desc`,
  });
  if (branch.kind === 'index') {
    // The account is a column of the indexes with many entries per value: other accounts are skipped inside the index.
    const mid = parts.equalities.get('mid');
    const ofAccount = [...(mid ? [`${mid.column} = ${mid.value}`] : []), ...parts.scope];
    return [inOrder(branch.column, [...idRange(parts, branch), branch.where, ...ofAccount])];
  }
  const accounts = parts.accounts();
  if (accounts) return accounts.map((account) => inOrder(account.column, idRange(parts, account)));
  return [inOrder('p.payment_id', idRange(parts))];
}
