/** Passes many items to one prepared statement: a list of columns gives the SQL of their rows and the values. */
import { ATTENTIONS } from '../../rules/attention.ts';
import { STATE_NAMES } from '../../rules/states.ts';
import {
  type ArrayEncoder,
  type ArrayType,
  type ArrayValue,
  arrayEncoder,
  encodeArrays,
  InvalidValue,
} from './arrays.ts';

/**
 * The enumerations of the schema that columns have, and their values. A value is passed as its position in this list: the
 * binary format of an enumeration depends on the database, and a text would be looked up in the catalogue.
 */
export const ENUMERATIONS = {
  actor: ['merchant', 'provider', 'payer', 'operator', 'clock'],
  attention: ATTENTIONS,
  callback_state: ['waiting', 'delivered', 'parked'],
  operation_state: ['sent', 'done', 'declined'],
  operation_verb: ['capture', 'void', 'reversal', 'refund', 'credit', 'expiry', 'late_refund', 'late_void'],
  payment_state: STATE_NAMES,
  protocol: ['checkout', 's2s'],
  subscription_state: ['active', 'finished', 'ended'],
} as const satisfies Record<string, readonly string[]>;
type Enumeration = keyof typeof ENUMERATIONS;

const isEnumeration = (type: ArrayType | Enumeration): type is Enumeration => type in ENUMERATIONS;

/** A column: its name, its SQL type, and how a value is read from an item. */
export type Column<Item> =
  | { [Type in ArrayType]: [name: string, type: Type, read: (item: Item) => ArrayValue[Type]] }[ArrayType]
  | [name: string, type: Enumeration, read: (item: Item) => string | null];

export interface ItemRows<Item> {
  names: readonly string[];
  /** The parameters of the statement, such as `$3`, one for each column. */
  parameters: readonly string[];
  /** The number of the first parameter after its own. */
  next: number;
  /** A table with a row for each item; `ordinality` names one more column, which counts the items from 1. */
  rows(alias: string, ordinality?: string): string;
  /** The same table for thousands of items. */
  manyRows(alias: string): string;
  /** The values of its parameters: an array for each column. */
  values(items: readonly Item[]): Buffer[];
}

/**
 * Each item becomes a row of these columns. `first` is the number of its first parameter in the statement. The rows of a
 * batch are read by their position in each array: `unnest` would first copy each array into a table of its own. It is
 * the better one for thousands of items, because a text is found in its array by counting.
 */
export function itemRows<Item>(columns: readonly Column<Item>[], first = 1): ItemRows<Item> {
  const names = namesOf(columns);
  const parameters = columns.map((_, index) => `$${first + index}`);
  const arrays = columns.map(([, type], index) => `${parameters[index]}::${isEnumeration(type) ? 'int' : type}[]`);
  /** The columns, of the values that are passed for them. */
  const selected = (passed: (name: string, index: number) => string): string[] =>
    columns.map(([name, type], index) => {
      if (!isEnumeration(type)) return `${passed(name, index)} as ${name}`;
      const values = ENUMERATIONS[type].map((value) => `'${value}'`).join(', ');
      return `(array[${values}]::${type}[])[${passed(name, index)}] as ${name}`;
    });
  const byPosition = selected((_, index) => `(${arrays[index]})[n]`);
  // Prepared once, not at each call: this is the hot path.
  const encoders = columns.map(
    ([, type, read]): ArrayEncoder<Item> =>
      isEnumeration(type)
        ? arrayEncoder('int', positionReader(type, read as (item: Item) => string | null))
        : arrayEncoder<Item, ArrayType>(type, read as (item: Item) => ArrayValue[ArrayType]),
  );
  return {
    names,
    parameters,
    next: first + columns.length,
    rows: (alias, ordinality) =>
      `(select ${listed([...byPosition, ...(ordinality === undefined ? [] : [`n as ${ordinality}`])])}
       from generate_series(1, cardinality(${arrays[0]})) n) as ${alias}`,
    manyRows: (alias) =>
      `(select ${listed(selected((name) => `u.${name}`))} from unnest(${listed(arrays)}) u(${listed(names)})) as ${alias}`,
    values: (items) => encodeArrays(encoders, items),
  };
}

/** Reads the position of a value in its enumeration, from 1. */
function positionReader<Item>(type: Enumeration, read: (item: Item) => string | null): (item: Item) => number | null {
  const positions = new Map<string, number>(ENUMERATIONS[type].map((value, index) => [value, index + 1]));
  return (item) => {
    const value = read(item);
    if (value === null) return null;
    const position = positions.get(value);
    if (position === undefined) throw new InvalidValue(type);
    return position;
  };
}

export const namesOf = <Item>(columns: readonly Column<Item>[]): string[] => columns.map(([name]) => name);

/** `a, b`; with an alias `i.a, i.b`. */
export const listed = (names: readonly string[], alias?: string): string =>
  names.map((name) => (alias === undefined ? name : `${alias}.${name}`)).join(', ');

/** `a = i.a, b = i.b`, as an update sets them. */
export const assigned = (names: readonly string[], alias: string): string =>
  names.map((name) => `${name} = ${alias}.${name}`).join(', ');
