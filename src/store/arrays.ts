/** Array literals for the batched statements, built by hand because the driver's general way costs more than the rest. */

// Each encoding has a loop of its own: on the hot path, a shared one with a callback was measurably slower.

/** Numbers, booleans, UUIDs and words of our own: nothing in them needs a quote. */
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

/** Texts of any content. */
export function texts<Item>(items: readonly Item[], of: (item: Item) => string | null): string {
  let list = '';
  for (const item of items) {
    const text = of(item);
    list += text === null ? ',null' : `,"${escaped(text)}"`;
  }
  return `{${list.slice(1)}}`;
}

/** Moments in milliseconds. */
export function moments<Item>(items: readonly Item[], of: (item: Item) => number | null): string {
  let list = '';
  for (const item of items) {
    const ms = of(item);
    list += ms === null ? ',null' : `,"${new Date(ms).toISOString()}"`;
  }
  return `{${list.slice(1)}}`;
}
