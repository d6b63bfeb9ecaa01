/** What the balances of the index add up to: its two large tables beside its stored total. */
import { type PoolClient } from 'pg';
import { type BlockRef } from '#libs/domain';
import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';
import { type BlockColumns, blockOf } from '../connection/rows.js';
import { type SumsOfIndex } from './audit-run.js';
import { walletsOf } from './wallets-of.js';

export interface IndexSums extends SumsOfIndex {
  readonly head: BlockRef;
  /** Number of wallets with a balance change. */
  readonly wallets: number;
}

interface PageRow {
  wallets: number;
  sum: string;
  last: Buffer | null;
}

/** Wallets in a page: a fraction of a second. */
const PAGE_SIZE = 20_000;

const HEAD = named(
  'index_sums_head',
  `SELECT total, ARRAY[head_number::text, encode(head_hash, 'hex'), head_seconds::text] AS head FROM staking.index_state`,
);

const CLOSINGS = pageOf({ table: 'balance_day', amount: 'closing', order: 'day' });
const BALANCES = pageOf({ table: 'balance_change', amount: 'balance', order: 'block' });

/** The newest row of each wallet, by the primary key, whatever the number of its rows. */
function pageOf({
  table,
  amount,
  order,
}: Parameters<typeof walletsOf>[0] & Record<'amount' | 'order', string>) {
  return named<{ after: Buffer; limit: number }>(
    `index_sum_${table}`,
    `${walletsOf({ table })}
      SELECT count(*)::int AS wallets, coalesce(sum(n.${amount}), 0) AS sum,
        (SELECT wallet FROM page ORDER BY wallet DESC LIMIT 1) AS last
      FROM page CROSS JOIN LATERAL (SELECT ${amount} FROM staking.${table} t
        WHERE t.wallet = page.wallet ORDER BY t.${order} DESC LIMIT 1) AS n`,
  );
}

/**
 * Reads everything from one snapshot of the database, page by page, so that a running indexer changes nothing of it.
 * @param database of the stake set
 * @param beforePage is told how many rows were read before each page; what it throws ends the reading
 * @returns undefined where there is no index
 */
export function readIndexSums(
  database: Database,
  beforePage: (wallets: number) => void = () => undefined,
  pageSize = PAGE_SIZE,
): Promise<IndexSums | undefined> {
  return database.transaction(async (client) => {
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    const [row] = await run<{ total: string; head: BlockColumns }>(client, HEAD({}));
    if (row === undefined) return undefined;
    const sum = async (page: typeof CLOSINGS) => sumOf(client, page, { beforePage, pageSize });
    const { sum: closings } = await sum(CLOSINGS);
    const { sum: balances, wallets } = await sum(BALANCES);
    return { stored: BigInt(row.total), closings, balances, wallets, head: blockOf(...row.head) };
  });
}

async function sumOf(
  client: PoolClient,
  page: typeof CLOSINGS,
  { beforePage, pageSize: limit }: { beforePage: (wallets: number) => void; pageSize: number },
): Promise<{ readonly sum: bigint; readonly wallets: number }> {
  let [sum, wallets] = [0n, 0];
  let after: Buffer = Buffer.alloc(0);
  for (;;) {
    beforePage(wallets);
    const [row] = await run<PageRow>(client, page({ after, limit }));
    if (row === undefined || row.last === null) return { sum, wallets };
    sum += BigInt(row.sum);
    wallets += row.wallets;
    if (row.wallets < limit) return { sum, wallets };
    after = row.last;
  }
}
