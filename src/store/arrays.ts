/** Array literals for the batched statements, built by hand because the driver's general way costs more than the rest. */

/** Numbers, booleans, UUIDs and words of our own: nothing in them needs a quote. */
export function plain<Item>(
  items: readonly Item[],
  of: (item: Item) => string | number | bigint | boolean | null,
): string {
  return `{${items.map((item) => String(of(item))).join(',')}}`;
}

const NEEDS_ESCAPE = /["\\]/;

/** Texts of any content. */
export function texts<Item>(items: readonly Item[], of: (item: Item) => string | null): string {
  return plain(items, (item) => {
    const text = of(item);
    if (text === null) return null;
    return `"${NEEDS_ESCAPE.test(text) ? text.replaceAll('\\', '\\\\').replaceAll('"', '\\"') : text}"`;
  });
}

/** Moments in milliseconds. */
export function moments<Item>(items: readonly Item[], of: (item: Item) => number | null): string {
  return plain(items, (item) => {
    const ms = of(item);
    return ms === null ? null : `"${new Date(ms).toISOString()}"`;
  });
}
