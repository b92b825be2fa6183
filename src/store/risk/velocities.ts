/** Measures velocities of many payments in one statement: how many payments, which amounts and which values a key had. */
import { UNCOUNTED_CLASS } from '../../rules/declines.ts';
import { UNCOUNTED_DECLINES } from '../../rules/reasons.ts';
import { KEY_FIELDS, type KeyField, type Measurement, type Velocity } from '../../rules/risk/velocities.ts';
import { type Column, itemRows } from '../database/item-rows.ts';
import type { PaymentKey } from '../payments/payments.ts';
import type { Runner } from './volumes.ts';

/** A keyed digest of what velocities are measured by. */
export type Keys = Partial<Record<KeyField, string>>;

export interface MeasuredPayment extends PaymentKey {
  at: number;
  keys: Keys;
  measurements: readonly Measurement[];
}

export const columnOf = (field: KeyField): string => `${field}_key`;

/** The columns of the keys. */
export const keyColumns = <Item>(
  keysOf: (item: Item) => Keys,
  fields: readonly KeyField[] = KEY_FIELDS,
): Column<Item>[] =>
  fields.map((field): Column<Item> => [columnOf(field), 'text', (item) => keysOf(item)[field] ?? null]);

/** What a velocity counts the different values of: a key, or a value of the input. */
const COUNTED = `case m.counted ${KEY_FIELDS.map((field) => `when '${field}' then d.${columnOf(field)}`).join(' ')}
  else d.input ->> m.counted end`;

const UNCOUNTED = UNCOUNTED_DECLINES.map((reason) => `'${reason.replaceAll("'", "''")}'`).join(', ');

const HAS_OUTCOME = `(m.outcome = 'attempted' or exists (
    select from payments p where p.mid = d.mid and p.payment_id = d.payment_id
      and case m.outcome when 'settled' then p.captured > 0
        else p.state = 'DECLINED' and d.decision <> 'block' and coalesce(p.decline_reason, '') not in (${UNCOUNTED})
          and p.provider_data #>> '{decline,class}' is distinct from '${UNCOUNTED_CLASS}' end
  ))`;

const HAS_SECOND_KEY = `case m.second
    ${KEY_FIELDS.map((field) => `when '${field}' then d.${columnOf(field)} = i.${columnOf(field)}`).join(' ')}
    else true end`;

/** An item whose velocities are measured: `set` is the position of its measurements among those of the batch. */
interface MeasuredItem {
  n: number;
  set: number;
  item: MeasuredPayment;
}

/** A measurement, once for all payments of the batch that need it. */
interface MeasurementRow extends Measurement {
  set: number;
  position: number;
}

/**
 * The parts of the statement that some velocities need. Most velocities count payments by one key and need none, and
 * PostgreSQL would prepare each part for every batch.
 */
const PARTS = {
  amounts: ({ measure }: Velocity) => measure === 'amount',
  outcomes: ({ outcome }: Velocity) => outcome !== 'attempted',
  seconds: ({ by }: Velocity) => by.length > 1,
  values: ({ of }: Velocity) => of !== null,
};
type Part = keyof typeof PARTS;
const PART_NAMES = Object.keys(PARTS) as Part[];

interface MeasureStatement {
  name: string;
  text: string;
  values(items: readonly MeasuredItem[], measurements: readonly MeasurementRow[]): Buffer[];
}

function createMeasureStatement(name: string, drivers: readonly KeyField[], parts: readonly Part[]): MeasureStatement {
  const has = (part: Part): boolean => parts.includes(part);
  const items = itemRows<MeasuredItem>([
    ['n', 'int', ({ n }) => n],
    ['set', 'int', ({ set }) => set],
    ['mid', 'uuid', ({ item }) => item.mid],
    ['payment_id', 'uuid', ({ item }) => item.paymentId],
    ['at', 'timestamptz', ({ item }) => item.at],
    ...keyColumns<MeasuredItem>(({ item }) => item.keys, has('seconds') ? KEY_FIELDS : drivers),
  ]);
  const measurements = itemRows<MeasurementRow>(
    [
      ['set', 'int', ({ set }) => set],
      ['position', 'int', ({ position }) => position],
      ['driver', 'text', ({ velocity }) => velocity.by[0] as string],
      ['is_of_all', 'bool', ({ isOfInstallation }) => isOfInstallation],
      ['within_ms', 'bigint', ({ velocity }) => velocity.withinMs],
      ...columnsIf<MeasurementRow>(has('amounts'), ['currency', 'text', ({ velocity }) => velocity.currency]),
      ...columnsIf<MeasurementRow>(has('outcomes'), ['outcome', 'text', ({ velocity }) => velocity.outcome]),
      ...columnsIf<MeasurementRow>(has('seconds'), ['second', 'text', ({ velocity }) => velocity.by[1] ?? null]),
      ...columnsIf<MeasurementRow>(has('values'), ['counted', 'text', ({ velocity }) => velocity.of]),
    ],
    items.next,
  );
  const sum = `coalesce(sum(d.amount) filter (where d.currency = m.currency), 0)::bigint`;
  const values = `case when m.counted is not null then array_agg(distinct ${COUNTED}) end`;
  /** The payments that a velocity counts, found by the index of its first key. A velocity that counts none has no row. */
  const measuredBy = (driver: KeyField): string => `
  select i.n, m.position, c.* from m join i on i.set = m.set cross join lateral (
    select count(*)::int as count, ${has('amounts') ? sum : '0::bigint'} as amount, ${has('values') ? values : 'null::text[]'} as values
    from risk_decisions d
    where d.${columnOf(driver)} = i.${columnOf(driver)} and d.at > i.at - m.within_ms * interval '1 millisecond'
      and (m.is_of_all or d.mid = i.mid) and d.payment_id <> i.payment_id
      ${has('seconds') ? `and ${HAS_SECOND_KEY}` : ''}
      ${has('outcomes') ? `and ${HAS_OUTCOME}` : ''}
  ) c where m.driver = '${driver}' and c.count > 0`;
  return {
    name,
    text: `
  with i as (select * from ${items.rows('i')}), m as (select * from ${measurements.rows('m')})
  ${drivers.map(measuredBy).join('\n  union all')}`,
    values: (measured, all) => [...items.values(measured), ...measurements.values(all)],
  };
}

const columnsIf = <Item>(isNeeded: boolean, column: Column<Item>): Column<Item>[] => (isNeeded ? [column] : []);

/** The statements that were needed so far, by their names. */
const measureStatements = new Map<string, MeasureStatement>();

/** The statement for certain velocities. */
function measureStatementFor(measurements: readonly Measurement[]): MeasureStatement {
  const isNeeded = (test: (velocity: Velocity) => boolean): boolean =>
    measurements.some(({ velocity }) => test(velocity));
  const drivers = KEY_FIELDS.filter((field) => isNeeded(({ by }) => by[0] === field));
  const parts = PART_NAMES.filter((part) => isNeeded(PARTS[part]));
  // PostgreSQL takes 63 characters of a name.
  const name = ['risk_measure', ...drivers, ...parts.map(([letter]) => letter)].join('_');
  const known = measureStatements.get(name);
  if (known) return known;
  const made = createMeasureStatement(name, drivers, parts);
  measureStatements.set(name, made);
  return made;
}

export interface Measured {
  n: number;
  position: number;
  count: number;
  amount: bigint;
  values: (string | null)[] | null;
}

/** More measurements or lookups than the rules of an account and of the installation can have. */
const PLACES = 1_000_000;

/** A number for a measurement, or a lookup, of an item. */
export const placeOf = (item: number, position: number): number => item * PLACES + position;

/** Returns what was measured, by its place. */
export async function measure(runner: Runner, items: readonly MeasuredPayment[]): Promise<Map<number, Measured>> {
  const sets = [...new Set(items.map(({ measurements }) => measurements))].filter(({ length }) => length > 0);
  if (sets.length === 0) return new Map();
  const measurements = sets.flatMap((all, set) => all.map((one, position) => ({ ...one, set, position })));
  const measured = items.map((item, n) => ({ n, set: sets.indexOf(item.measurements), item }));
  const { name, text, values } = measureStatementFor(measurements);
  const { rows } = await runner.query<Measured>({ name, text, values: values(measured, measurements) });
  return new Map(rows.map((row) => [placeOf(row.n, row.position), row]));
}
