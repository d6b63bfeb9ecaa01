import { type Address } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { addressOf } from '../rows.js';

export interface WalletBalance {
  readonly wallet: Address;
  /** In the token's smallest unit; may be 0. */
  readonly balance: bigint;
}

export interface WalletPage {
  /** At whose end the balances are read. */
  readonly block: bigint;
  /** The last wallet of the page before; absent for the first page. */
  readonly after?: Address | undefined;
  /** The most wallets in the page. */
  readonly limit: number;
}

// From wallet to wallet and to its one row, each by the primary key: DISTINCT ON would read every row for every page.
const PAGE = named<{ after: Buffer; block: bigint; limit: number }>(
  'wallet_page',
  `WITH RECURSIVE every AS (
      (SELECT wallet FROM staking.balance_change WHERE wallet > :after ORDER BY wallet LIMIT 1)
      UNION ALL
      SELECT (SELECT c.wallet FROM staking.balance_change c WHERE c.wallet > every.wallet ORDER BY c.wallet LIMIT 1)
      FROM every WHERE every.wallet IS NOT NULL
    ), page AS (SELECT wallet FROM every WHERE wallet IS NOT NULL LIMIT :limit)
    SELECT encode(page.wallet, 'hex') AS "walletHex", coalesce(c.balance, 0) AS balance
    FROM page
    LEFT JOIN LATERAL (SELECT balance FROM staking.balance_change
      WHERE wallet = page.wallet AND block <= :block ORDER BY block DESC LIMIT 1) AS c ON true
    ORDER BY page.wallet`,
);

/**
 * All wallets with history, in the order of their addresses, with the balance at the end of a block; 0 where the history begins later.
 * What is final does not change between two pages.
 * @returns fewer than `limit` on the last page only
 * @throws DatabaseUnavailableError, DatabaseRefusedError
 */
export async function readWalletPage(
  database: Database,
  { block, after, limit }: WalletPage,
): Promise<WalletBalance[]> {
  const from = Buffer.from(after?.slice(2) ?? '', 'hex');
  const rows = await database.query<{ walletHex: string; balance: string }>(
    PAGE({ after: from, block, limit }),
  );
  return rows.map(({ walletHex, balance }) => ({
    wallet: addressOf(walletHex),
    balance: BigInt(balance),
  }));
}
