interface Steps {
  readonly table: 'balance_change' | 'balance_day';
  /** Restricts the rows, whose alias is `t`. */
  readonly where?: string;
}

/**
 * The part `page` of a statement: the next `:limit` wallets of a table after `:after`, in the order of their addresses.
 * Steps from wallet to wallet by the primary key. DISTINCT ON would read every row for every page.
 */
export function walletsOf({ table, where = 'true' }: Steps): string {
  const next = (after: string): string =>
    `SELECT t.wallet FROM staking.${table} t WHERE t.wallet > ${after} AND ${where} ORDER BY t.wallet LIMIT 1`;
  return `WITH RECURSIVE every AS (
      (${next(':after')})
      UNION ALL
      SELECT (${next('every.wallet')}) FROM every WHERE every.wallet IS NOT NULL
    ), page AS (SELECT wallet FROM every WHERE wallet IS NOT NULL LIMIT :limit)`;
}
