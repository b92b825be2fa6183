/** Array literals for batched statements, built by hand because the driver's generic conversion is too slow. */

// Each encoding has its own loop: on the hot path, a shared one with a callback was measurably slower.

/** Numbers, booleans, UUIDs and enum values, which need no quotes. */
export function plain<Item>(
  items: readonly Item[],
  of: (item: Item) => string | number | bigint | boolean | null,
): string {
  let list = '';
  for (const item of items) list += `,${of(item)}`;
  return `{${list.slice(1)}}`;
}

const NEEDS_ESCAPE = /["\\]/;
const escaped = (text: string): string =>
  NEEDS_ESCAPE.test(text) ? text.replaceAll('\\', '\\\\').replaceAll('"', '\\"') : text;

/** Arbitrary texts, quoted and escaped. */
export function texts<Item>(items: readonly Item[], of: (item: Item) => string | null): string {
  let list = '';
  for (const item of items) {
    const text = of(item);
    list += text === null ? ',null' : `,"${escaped(text)}"`;
  }
  return `{${list.slice(1)}}`;
}

/** Timestamps, from milliseconds since 1970. */
export function moments<Item>(items: readonly Item[], of: (item: Item) => number | null): string {
  let list = '';
  for (const item of items) {
    const ms = of(item);
    list += ms === null ? ',null' : `,"${new Date(ms).toISOString()}"`;
  }
  return `{${list.slice(1)}}`;
}
