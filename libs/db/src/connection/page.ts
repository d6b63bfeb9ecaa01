/**
 * Keyset pagination: a page starts after the last key of the previous page, so its cost does not depend on
 * the length of the list.
 */

export interface PageRequest<Key> {
  /** Maximum number of entries in the page, 1 or more. */
  readonly limit: number;
  /** `next` of the previous page; undefined for the first page. */
  readonly after?: Key | undefined;
}

export interface LogPage<Entry, Key> {
  readonly entries: readonly Entry[];
  /** Key for the request of the next page; undefined on the last page. */
  readonly next: Key | undefined;
}

/** The key of the last row, or undefined where the page is not full and therefore the last one. */
export function nextKey<Row, Key>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => Key,
): Key | undefined {
  const last = rows.at(-1);
  return last === undefined || rows.length < limit ? undefined : keyOf(last);
}
