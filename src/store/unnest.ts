/** Passes many items to one prepared statement: a list of columns gives the SQL of its `unnest` and the values. */
import { moments, plain, texts } from './arrays.ts';

const ENCODINGS = { plain, texts, moments };

/** The value types of each encoding in `arrays.ts`. */
interface Encoded {
  plain: string | number | bigint | boolean | null;
  texts: string | null;
  moments: number | null;
}

/** A column: its name, its SQL type, the encoding of its values, and how a value is read from an item. */
export type Column<Item> = {
  [Encoding in keyof Encoded]: [
    name: string,
    type: string,
    encoding: Encoding,
    read: (item: Item) => Encoded[Encoding],
  ];
}[keyof Encoded];

export interface UnnestTable<Item> {
  names: readonly string[];
  /** The parameters of the statement, such as `$3`, one for each column. */
  parameters: readonly string[];
  /** The number of the first parameter after its own. */
  next: number;
  /** `unnest(…)` under this alias; `ordinality` names one more column, which counts the items from 1. */
  rows(alias: string, ordinality?: string): string;
  /** The values of its parameters: an array literal for each column. */
  values(items: readonly Item[]): string[];
}

/** Each item becomes a row of these columns. `first` is the number of its first parameter in the statement. */
export function unnestTable<Item>(columns: readonly Column<Item>[], first = 1): UnnestTable<Item> {
  const names = namesOf(columns);
  const parameters = columns.map((_, index) => `$${first + index}`);
  const arrays = columns.map(([, type], index) => `${parameters[index]}::${type}[]`).join(', ');
  // Prepared once, not at each call: this is the hot path.
  const encoders = columns.map(([, , encoding, read]) => {
    const encode = ENCODINGS[encoding] as (items: readonly Item[], of: typeof read) => string;
    return (items: readonly Item[]): string => encode(items, read);
  });
  return {
    names,
    parameters,
    next: first + columns.length,
    rows: (alias, ordinality) =>
      ordinality === undefined
        ? `unnest(${arrays}) as ${alias}(${listed(names)})`
        : `unnest(${arrays}) with ordinality as ${alias}(${listed([...names, ordinality])})`,
    values: (items) => encoders.map((encode) => encode(items)),
  };
}

export const namesOf = <Item>(columns: readonly Column<Item>[]): string[] => columns.map(([name]) => name);

/** `a, b`; with an alias `i.a, i.b`. */
export const listed = (names: readonly string[], alias?: string): string =>
  names.map((name) => (alias === undefined ? name : `${alias}.${name}`)).join(', ');

/** `a = i.a, b = i.b`, as an update sets them. */
export const assigned = (names: readonly string[], alias: string): string =>
  names.map((name) => `${name} = ${alias}.${name}`).join(', ');
