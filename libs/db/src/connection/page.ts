/** Lists page by page. A page begins where the one before ended, by key, however long the list is. */

export interface PageRequest<Key> {
  /** 1 or more. */
  readonly limit: number;
  /** `next` of the page before. */
  readonly after?: Key | undefined;
}

export interface LogPage<Entry, Key> {
  readonly entries: readonly Entry[];
  /** Undefined on the last page. */
  readonly next: Key | undefined;
}

/** The key of the last row, where there may be more. */
export function nextKey<Row, Key>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => Key,
): Key | undefined {
  const last = rows.at(-1);
  return last === undefined || rows.length < limit ? undefined : keyOf(last);
}
