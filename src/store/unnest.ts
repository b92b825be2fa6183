/** Passes many items to one prepared statement: a list of columns gives the SQL of its `unnest` and the values. */
import { type ArrayEncoder, type ArrayType, type ArrayValue, arrayEncoder, encodeArrays } from './arrays.ts';

/** The enumerations of the schema. Their binary format depends on the database, so that they are passed as texts. */
const ENUMERATIONS = [
  'actor',
  'attention',
  'callback_state',
  'operation_state',
  'operation_verb',
  'payment_state',
  'protocol',
  'subscription_state',
] as const;
type Enumeration = (typeof ENUMERATIONS)[number];

const isEnumeration = (type: ArrayType | Enumeration): type is Enumeration =>
  (ENUMERATIONS as readonly string[]).includes(type);

/** A column: its name, its SQL type, and how a value is read from an item. */
export type Column<Item> =
  | { [Type in ArrayType]: [name: string, type: Type, read: (item: Item) => ArrayValue[Type]] }[ArrayType]
  | [name: string, type: Enumeration, read: (item: Item) => string | null];

export interface UnnestTable<Item> {
  names: readonly string[];
  /** The parameters of the statement, such as `$3`, one for each column. */
  parameters: readonly string[];
  /** The number of the first parameter after its own. */
  next: number;
  /** `unnest(…)` under this alias; `ordinality` names one more column, which counts the items from 1. */
  rows(alias: string, ordinality?: string): string;
  /** The values of its parameters: an array for each column. */
  values(items: readonly Item[]): Buffer[];
}

/** Each item becomes a row of these columns. `first` is the number of its first parameter in the statement. */
export function unnestTable<Item>(columns: readonly Column<Item>[], first = 1): UnnestTable<Item> {
  const names = namesOf(columns);
  const parameters = columns.map((_, index) => `$${first + index}`);
  const arrays = columns
    .map(([, type], index) => `${parameters[index]}::${isEnumeration(type) ? 'text[]::' : ''}${type}[]`)
    .join(', ');
  // Prepared once, not at each call: this is the hot path.
  const encoders = columns.map(([, type, read]) => {
    const encoded = isEnumeration(type) ? 'text' : type;
    return arrayEncoder(encoded, read as (item: Item) => ArrayValue[typeof encoded]) as ArrayEncoder<Item>;
  });
  return {
    names,
    parameters,
    next: first + columns.length,
    rows: (alias, ordinality) =>
      ordinality === undefined
        ? `unnest(${arrays}) as ${alias}(${listed(names)})`
        : `unnest(${arrays}) with ordinality as ${alias}(${listed([...names, ordinality])})`,
    values: (items) => encodeArrays(encoders, items),
  };
}

export const namesOf = <Item>(columns: readonly Column<Item>[]): string[] => columns.map(([name]) => name);

/** `a, b`; with an alias `i.a, i.b`. */
export const listed = (names: readonly string[], alias?: string): string =>
  names.map((name) => (alias === undefined ? name : `${alias}.${name}`)).join(', ');

/** `a = i.a, b = i.b`, as an update sets them. */
export const assigned = (names: readonly string[], alias: string): string =>
  names.map((name) => `${name} = ${alias}.${name}`).join(', ');
