/** Decisions of risk rules about payments, many at a time: reads what they need, decides, and writes them. */
import type pg from 'pg';
import { batch } from '../../lib/flow/batch.ts';
import { isItemFault } from '../../lib/flow/faults.ts';
import { LIMITS } from '../../rules/limits.ts';
import {
  type MatchedRule,
  NOTHING_ASKED,
  type RecordedThreeDs,
  type ReviewEnd,
  type ReviewState,
  type RiskDecision,
} from '../../rules/risk/actions.ts';
import { KEY_FIELDS, type KeyField } from '../../rules/risk/velocities.ts';
import type { BoundedClient } from '../database/bounded-client.ts';
import { columns } from '../database/columns.ts';
import { type Database, sendTogether } from '../database/database.ts';
import { assigned, type Column, itemRows, listed, namesOf } from '../database/item-rows.ts';
import { createPacket } from '../database/packet.ts';
import type { PaymentKey } from '../payments/payments.ts';
import type { Addition, OpenItem } from '../payments/write.ts';
import {
  addsFoundValues,
  type DecidedItem,
  type Evaluation,
  type Findings,
  hasKeys,
  read,
  usesLowValue,
} from './findings.ts';
import { readWatchedDays, type WatchedDay } from './shadow.ts';
import { columnOf, type Keys, keyColumns } from './velocities.ts';
import type { Runner } from './volumes.ts';

export interface DecisionRow extends PaymentKey {
  at: number;
  decision: RiskDecision;
  score: number;
  rules: MatchedRule[];
  shadow: MatchedRule[];
  threeDs: RecordedThreeDs;
  input: Record<string, unknown>;
  failure: string | null;
  /** When it was evaluated once more, after a challenge. */
  evaluatedAgainAt: number | null;
  reviewState: ReviewState | null;
  reviewThen: ReviewEnd | null;
  reviewDueAt: number | null;
  /** The review made the payment an authorisation. Null without a review, and in rows of versions that did not write it. */
  reviewCaptures: boolean | null;
  reviewedAt: number | null;
  reviewedBy: string | null;
  reviewNote: string | null;
}

/** The decision as it is written; the evaluation has the rest. */
export type NewDecision = Omit<
  DecisionRow,
  keyof PaymentKey | 'at' | 'evaluatedAgainAt' | 'reviewCaptures' | 'reviewedAt' | 'reviewedBy' | 'reviewNote'
> & {
  /** The review makes the payment an authorisation; the merchant did not ask for one. */
  isAuthorisation: boolean;
};

export interface RiskDecisionStore {
  /**
   * Decides about a payment and writes the decision. Payments that share a key of a velocity, or a volume limit, are
   * decided one after another, in all processes; the others do not wait for them. A payment that was decided before keeps
   * that decision, which is returned then.
   */
  evaluate(item: Evaluation, decide: (found: Findings) => NewDecision): Promise<NewDecision>;
  /** Reads the same without writing anything; each item by itself. */
  findings(item: Evaluation): Promise<Findings>;
  findingsOfAll(items: readonly Evaluation[]): Promise<Findings[]>;
  /**
   * Writes the decision about a payment that could not be evaluated. Returns the one that stands: the evaluation may have
   * been written all the same.
   */
  record(item: Evaluation, decision: NewDecision): Promise<NewDecision>;
  find(key: PaymentKey): Promise<DecisionRow | undefined>;
  /** What rules that only watch have matched since then, by day; see `readWatchedDays`. */
  watched(since: number, mids: readonly string[] | null): Promise<WatchedDay[]>;
  /** The keys under which a payment counts. */
  keys(key: PaymentKey): Promise<Keys | undefined>;
}

export const DECISION_COLUMNS = [
  'mid',
  'paymentId',
  'at',
  'decision',
  'score',
  'rules',
  'shadow',
  'threeDs',
  'input',
  'failure',
  'evaluatedAgainAt',
  'reviewState',
  'reviewThen',
  'reviewDueAt',
  'reviewCaptures',
  'reviewedAt',
  'reviewedBy',
  'reviewNote',
] as const;

/** SQL: how strict a decision is. */
const strictness = (of: string): string => `(case ${of}.decision when 'block' then 2 when 'review' then 1 else 0 end)`;
const STRICTER = `${strictness('i')} > ${strictness('d')}`;
const REPLACED = [
  ...['decision', 'score', 'rules', 'shadow', 'input'],
  ...['review_state', 'review_then', 'review_due_at', 'review_captures'],
];
const DECIDED = [...REPLACED, 'three_ds', 'failure'];

/** An item and the decision about it. */
export interface Made {
  item: Evaluation;
  made: NewDecision;
}

/** Most decisions match no rule. */
const jsonOf = (rules: readonly MatchedRule[]): string => (rules.length === 0 ? '[]' : JSON.stringify(rules));

const DECISION: Column<Made>[] = [
  ['mid', 'uuid', ({ item }) => item.mid],
  ['payment_id', 'uuid', ({ item }) => item.paymentId],
  ['at', 'timestamptz', ({ item }) => item.at],
  ['amount', 'bigint', ({ item }) => item.amount],
  ['currency', 'text', ({ item }) => item.currency],
  ...keyColumns<Made>(({ item }) => item.keys),
  ['decision', 'text', ({ made }) => made.decision],
  ['score', 'int', ({ made }) => made.score],
  ['rules', 'jsonb', ({ made }) => jsonOf(made.rules)],
  ['shadow', 'jsonb', ({ made }) => jsonOf(made.shadow)],
  ['three_ds', 'jsonb', ({ made }) => JSON.stringify(made.threeDs)],
  ['input', 'jsonb', ({ made }) => JSON.stringify(made.input)],
  ['failure', 'text', ({ made }) => made.failure],
  ['review_state', 'text', ({ made }) => made.reviewState],
  ['review_then', 'text', ({ made }) => made.reviewThen],
  ['review_due_at', 'timestamptz', ({ made }) => made.reviewDueAt],
  ['review_captures', 'bool', ({ made }) => (made.reviewState === null ? null : made.isAuthorisation)],
];

const PLAIN = itemRows<Made>(DECISION);
const WITH_EFFECTS = itemRows<Made>([
  ...DECISION,
  ['is_authorisation', 'bool', ({ made }) => made.isAuthorisation],
  ['is_again', 'bool', ({ item }) => item.isAgain === true],
  ['counts_volume', 'bool', ({ item }) => item.countsVolume === true],
]);

const insertFrom = (rows: string): string => `
  insert into risk_decisions as d (${listed(namesOf(DECISION))})
  select ${listed(namesOf(DECISION))} from ${rows}
  on conflict (mid, payment_id)`;

/** Each returns the payments whose decision it wrote, but for second decisions. */
const WRITE = `${insertFrom(PLAIN.rows('i'))} do nothing returning d.payment_id as "paymentId"`;
const WRITE_WITH_EFFECTS = `
  with items as (
    select * from ${WITH_EFFECTS.rows('i')}
  ), authorised as (
    -- Written with the decision, so that the payment is never captured by itself after a crash.
    update payments p set is_authorisation = true from items i
    where i.is_authorisation and p.mid = i.mid and p.payment_id = i.payment_id and not p.is_authorisation
  ), counted as (
    insert into risk_volume_open (mid, currency, payment_id, is_let_through)
    select mid, currency, payment_id, true from items where counts_volume and decision <> 'block'
    on conflict (mid, currency, payment_id) do update set is_let_through = true
  ), again as (
    -- The second decision replaces a milder one. What was asked of the issuer, and when the payment counts, stay.
    update risk_decisions d set evaluated_again_at = i.at, failure = coalesce(i.failure, d.failure),
      ${REPLACED.map((column) => `${column} = case when ${STRICTER} then i.${column} else d.${column} end`).join(', ')}
    from items i
    where i.is_again and d.mid = i.mid and d.payment_id = i.payment_id
  )
  -- Replaces the row of a payment that was not decided yet.
  ${insertFrom('items where not is_again')} do update set ${assigned(DECIDED, 'excluded')}
    where d.decision = 'none' and d.failure is null
  returning d.payment_id as "paymentId"`;

/** Whether a decision changes more than its own row. */
const hasEffects = ({ item, made }: Made): boolean =>
  made.isAuthorisation || item.isAgain === true || item.countsVolume === true;

/** The items of one transaction, in the order in which they are decided. */
interface Queued {
  item: Evaluation;
  decide: (found: Findings) => NewDecision;
}

/** The locks that put evaluations of the same key one after another. */
const lockTexts = (item: Evaluation): string[] => [
  ...item.measurements
    .filter((measurement) => hasKeys(item, measurement))
    .map(({ velocity: { by }, isOfInstallation }) =>
      ['risk', isOfInstallation ? '' : item.mid, ...by.map((field) => item.keys[field])].join(' '),
    ),
  ...(usesLowValue(item) ? [`low value ${item.mid} ${item.keys.card}`] : []),
  ...item.volumes.map(({ currency }) => `volume ${item.mid} ${currency}`),
];

const LOCKS = itemRows<string>([['lock', 'text', (lock) => lock]]);
const KEYS_OF_LOCKS = `(select distinct hashtextextended(l.lock, 0) as k from ${LOCKS.rows('l')} order by k) s`;
const LOCK = `select pg_advisory_xact_lock(k) from ${KEYS_OF_LOCKS}`;
/** Fails by an integer that is too large if another transaction has one of the locks. */
const TRY_LOCK = `select 2147483647 + (not pg_try_advisory_xact_lock(k))::int from ${KEYS_OF_LOCKS}`;

/** Writes decisions; returns the payments whose decision is the one that was written. */
export async function write(
  runner: Runner,
  all: readonly Made[],
  isFull = all.some(hasEffects),
): Promise<Set<PaymentKey['paymentId']>> {
  const [name, text, { values }] = isFull
    ? (['risk_write_effects', WRITE_WITH_EFFECTS, WITH_EFFECTS] as const)
    : (['risk_write', WRITE, PLAIN] as const);
  const { rows } = await runner.query<Pick<PaymentKey, 'paymentId'>>({ name, text, values: values(all) });
  return new Set(rows.map(({ paymentId }) => paymentId));
}

const FIND = `select ${columns('d', DECISION_COLUMNS)} from risk_decisions d
  join unnest($1::uuid[], $2::uuid[]) as i(mid, payment_id) using (mid, payment_id)`;

const findAll = async (runner: Runner, keys: readonly PaymentKey[]): Promise<DecisionRow[]> => {
  const values = [keys.map(({ mid }) => mid), keys.map(({ paymentId }) => paymentId)];
  return (await runner.query<DecisionRow>({ name: 'risk_find', text: FIND, values })).rows;
};

const recorded = (row: DecisionRow): NewDecision => ({ ...row, isAuthorisation: row.reviewCaptures === true });

/**
 * What was decided about each payment. One whose decision was written before, and whose answer was lost, keeps that
 * decision, and it is followed: the queue of reviews and later payments depend on it.
 */
async function standing(runner: Runner, all: readonly Made[], written: ReadonlySet<string>): Promise<NewDecision[]> {
  const others = all.filter(({ item }) => item.isAgain !== true && !written.has(item.paymentId));
  const rows =
    others.length === 0
      ? []
      : await findAll(
          runner,
          others.map(({ item }) => item),
        );
  const found = new Map(rows.map((row) => [row.paymentId, recorded(row)]));
  return all.map(({ item, made }) => found.get(item.paymentId) ?? made);
}

/** The columns of what is written with a payment that is opened, besides those of the payment itself. */
const COUNTED: Column<CountedItem>[] = [
  ['counted_at', 'timestamptz', ({ item }) => item.at],
  ...keyColumns<CountedItem>(({ item }) => item.keys),
  ['input', 'jsonb', ({ item }) => JSON.stringify(item.values)],
];

/** A payment that is opened and counted in one statement. */
export interface CountedItem extends OpenItem {
  item: Evaluation;
}

/** Writes the same as `undecided` with the payments that are opened. */
export const COUNT_OPENED: Addition<CountedItem> = {
  name: 'counted',
  columns: COUNTED,
  cte: `counted as (
    insert into risk_decisions (mid, payment_id, amount, currency, at, ${listed(KEY_FIELDS.map(columnOf))}, input, decision,
      score, rules, shadow, three_ds)
    select i.mid, i.payment_id, i.amount, i.currency, ${listed(namesOf(COUNTED), 'i')}, 'none', 0, '[]', '[]',
      '${JSON.stringify(NOTHING_ASKED)}'
    from opened o join items i on i.payment_id = o.payment_id
  )`,
};

/** What is written of a payment before it is decided, and stands if no rule matches it. */
const undecided = (item: Evaluation): Made => ({
  item,
  made: {
    ...{ decision: 'none', score: 0, rules: [], shadow: [], threeDs: NOTHING_ASKED, input: item.values, failure: null },
    ...{ reviewState: null, reviewThen: null, reviewDueAt: null, isAuthorisation: false },
  },
});

/** Whether a decision is what was written before it was made. What was found is added to the input, and nothing else. */
export const isUndecided = ({ item, made }: Made): boolean =>
  made.decision === 'none' &&
  made.rules.length === 0 &&
  made.shadow.length === 0 &&
  Object.keys(made.input).length === Object.keys(item.values).length;

/** Whether later payments depend on the decision about this one, and not only on its keys; or it has a row already. */
export const isDecidedInTurn = (item: Evaluation): boolean =>
  item.isAgain === true ||
  item.countsVolume === true ||
  item.volumes.length > 0 ||
  usesLowValue(item) ||
  addsFoundValues(item);

/** Takes the locks of the items until the transaction ends; with `waits: false` it fails if it cannot have them at once. */
export function lock(
  runner: Runner,
  items: readonly Evaluation[],
  { waits } = { waits: true },
): Promise<unknown> | undefined {
  const locks = [...new Set(items.flatMap(lockTexts))];
  if (locks.length === 0) return undefined;
  const [name, text] = waits ? ['risk_lock', LOCK] : ['risk_try_lock', TRY_LOCK];
  return runner.query({ name, text, values: LOCKS.values(locks) });
}

function decideAll(queued: readonly Queued[], findingsOf: Awaited<ReturnType<typeof read>>): Made[] {
  const decided: (DecidedItem & Made)[] = [];
  queued.forEach(({ item, decide }, index) => {
    const made = decide(findingsOf(index, decided));
    const isLowValue = made.decision !== 'block' && made.threeDs.reason === 'low_value';
    decided.push({ item, made, decision: made.decision, input: made.input, isLowValue });
  });
  return decided;
}

/** Reads under the locks, decides, and writes the decisions. */
async function decideInTurn(client: pg.PoolClient, queued: readonly Queued[]): Promise<NewDecision[]> {
  const items = queued.map(({ item }) => item);
  const [, , findingsOf] = await sendTogether(client, () =>
    Promise.all([client.query('begin'), lock(client, items), read(client, items, true)]),
  );
  const decided = decideAll(queued, findingsOf);
  // A commit after a statement that failed takes everything back.
  const [written] = await sendTogether(client, () => Promise.all([write(client, decided), client.query('commit')]));
  return standing(client, decided, written);
}

/**
 * Reads and counts the payments in one round trip, so that the locks do not wait for this process; then decides. Most
 * payments match no rule, and what was written stands. If the process dies before it has decided, the payment was not
 * submitted: the work loop declines it.
 */
async function decideAfterwards(client: BoundedClient, queued: readonly Queued[]): Promise<NewDecision[]> {
  const items = queued.map(({ item }) => item);
  const packet = createPacket();
  const [, findingsOf, counted] = await Promise.all([
    lock(packet, items),
    read(packet, items),
    write(packet, items.map(undecided)),
    packet.send(client),
  ]);
  const decided = decideAll(queued, findingsOf);
  const rest = decided.filter((one) => !isUndecided(one));
  const written = rest.length > 0 ? await write(client, rest, true) : new Set<string>();
  return standing(client, decided, new Set([...counted, ...written]));
}

/** Works with a connection of a pool. After a failure it is rolled back, or closed if that is not possible. */
export async function onConnection<Result>(
  connections: pg.Pool,
  work: (client: pg.PoolClient & BoundedClient) => Promise<Result>,
): Promise<Result> {
  const client = (await connections.connect()) as pg.PoolClient & BoundedClient;
  let isBroken: Error | undefined;
  try {
    return await work(client);
  } catch (error) {
    isBroken = error as Error;
    await client
      .query('rollback')
      .then(() => (isBroken = undefined))
      .catch(() => undefined);
    throw error;
  } finally {
    client.release(isBroken);
  }
}

export function createRiskDecisionStore({ pool, decisions }: Database): RiskDecisionStore {
  const evaluateAll = (queued: Queued[]): Promise<NewDecision[]> =>
    onConnection(decisions, async (client) => {
      const decideThem = queued.some(({ item }) => isDecidedInTurn(item)) ? decideInTurn : decideAfterwards;
      return decideThem(client, queued);
    });

  const evaluateOne = batch<Queued, NewDecision>(evaluateAll, {
    maxItems: LIMITS.riskBatchItems,
    maxInFlight: LIMITS.riskBatchesInFlight,
    besideAfterMs: LIMITS.riskBesideAfterMs,
    maxWaiting: LIMITS.batchWaiting,
    maxWaitMs: LIMITS.batchWaitTimeoutMs,
    isItemFault,
  });

  return {
    evaluate: (item, decide) => evaluateOne({ item, decide }),
    async findings(item) {
      return (await read(pool, [item]))(0, []);
    },
    async findingsOfAll(items) {
      const findingsOf = await read(pool, items);
      return items.map((_, index) => findingsOf(index, []));
    },
    async record(item, made) {
      await write(pool, [{ item, made }], true);
      const [row] = await findAll(pool, [item]);
      return row ? recorded(row) : made;
    },
    async find(key) {
      return (await findAll(pool, [key]))[0];
    },
    watched: (since, mids) => readWatchedDays(pool, since, mids),
    async keys({ mid, paymentId }) {
      const { rows } = await pool.query<Record<KeyField, string | null>>(
        `select ${KEY_FIELDS.map((field) => `${columnOf(field)} as ${field}`).join(', ')}
         from risk_decisions where mid = $1 and payment_id = $2`,
        [mid, paymentId],
      );
      const [row] = rows;
      return row && (Object.fromEntries(Object.entries(row).filter(([, key]) => key !== null)) as Keys);
    },
  };
}
