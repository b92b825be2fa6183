/** Pages of a list that is read by a key: a query reads one row more than a page has. */

/** The rows of the page, and the last of them if there is a next page. */
export function keysetPage<Row>(rows: readonly Row[], size: number): { items: Row[]; last: Row | undefined } {
  const items = rows.slice(0, size);
  return { items, last: rows.length > size ? items.at(-1) : undefined };
}
