/** Reads the index: its state, wallets and balances, and the remembered blocks. */
import { randomBytes } from 'node:crypto';
import { type Address, type BlockRef } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { type Findings, hasFindings, recordFinding } from './finding-store.js';
import { type IndexState, indexStateOf, type IndexStateRow, STATE_COLUMNS } from './index-state.js';
import { type IndexSums, readIndexSums } from './index-sums.js';
import { addressOf, blockOf, byteaArray } from '../connection/rows.js';
import { walletsOf } from './wallets-of.js';

const READ_STATE = named('index_state', `SELECT ${STATE_COLUMNS} FROM staking.index_state s`);

const BALANCES_AT = named<{ wallets: Buffer; block: bigint }>(
  'index_balances_at',
  `SELECT coalesce(c.balance, 0) AS balance
    FROM unnest(:wallets::bytea[]) WITH ORDINALITY AS w (wallet, position)
    LEFT JOIN LATERAL (SELECT balance FROM staking.balance_change
      WHERE wallet = w.wallet AND block <= :block ORDER BY block DESC LIMIT 1) AS c ON true
    ORDER BY w.position`,
);

/**
 * The wallets next to random points of the address space, by two index look-ups per point, whatever
 * the number of wallets.
 */
const SAMPLE_WALLETS = named<{ points: Buffer[] }>(
  'index_sample_wallets',
  `SELECT DISTINCT encode(coalesce(
        (SELECT wallet FROM staking.balance_change WHERE wallet >= point ORDER BY wallet LIMIT 1),
        (SELECT wallet FROM staking.balance_change ORDER BY wallet LIMIT 1)), 'hex') AS wallet
    FROM unnest(:points::bytea[]) AS p (point)`,
);

/**
 * The order names the column by its table. A bare `wallet` would mean the text that is selected, for which every page
 * would read and sort all changes.
 */
const CHANGED_WALLETS = named<{ above: bigint; block: bigint; after: Buffer; limit: number }>(
  'index_changed_wallets',
  `SELECT DISTINCT ON (c.wallet) encode(c.wallet, 'hex') AS wallet FROM staking.balance_change c
    WHERE block > :above AND block <= :block AND c.wallet > :after ORDER BY c.wallet LIMIT :limit`,
);

const BLOCKS_FROM = named<{ number: bigint }>(
  'index_blocks',
  `SELECT number, encode(hash, 'hex') AS hash, seconds FROM staking.block WHERE number >= :number ORDER BY number`,
);

const WALLET_PAGE = named<{ after: Buffer; block: bigint; limit: number }>(
  'wallet_page',
  `${walletsOf({ table: 'balance_change' })}
    SELECT encode(page.wallet, 'hex') AS wallet, coalesce(c.balance, 0) AS balance
    FROM page
    LEFT JOIN LATERAL (SELECT balance FROM staking.balance_change
      WHERE wallet = page.wallet AND block <= :block ORDER BY block DESC LIMIT 1) AS c ON true
    ORDER BY page.wallet`,
);

export class IndexReader {
  constructor(protected readonly database: Database) {}

  async state(): Promise<IndexState | undefined> {
    const [row] = await this.database.query<IndexStateRow>(READ_STATE({}));
    return row && indexStateOf(row);
  }

  /** Whether a check has found something wrong that is not repaired yet. */
  hasFindings(): Promise<boolean> {
    return hasFindings(this.database);
  }

  /** @see recordFinding */
  recordFinding(found: Findings, foundBy: string): Promise<void> {
    return recordFinding(this.database, found, foundBy);
  }

  /** Balances at the end of a block, in the order of `wallets`; 0 for a wallet without history. */
  async balancesAt(wallets: readonly Address[], block: bigint): Promise<bigint[]> {
    const rows = await this.database.query<{ balance: string }>(
      BALANCES_AT({ wallets: byteaArray(wallets), block }),
    );
    return rows.map(({ balance }) => BigInt(balance));
  }

  /** Up to `count` different wallets with history, picked at random. */
  async sampleWallets(count: number): Promise<Address[]> {
    const points = Array.from({ length: count }, () => randomBytes(20));
    const rows = await this.database.query<{ wallet: string | null }>(SAMPLE_WALLETS({ points }));
    return rows.flatMap(({ wallet }) => (wallet === null ? [] : [addressOf(wallet)]));
  }

  /**
   * A page of the wallets with a balance change in the blocks above `above` and up to `block`, ordered by address.
   * @returns fewer than `limit` on the last page only
   */
  async changedWallets({
    above,
    block,
    after,
    limit,
  }: WalletPage & { readonly above: bigint }): Promise<Address[]> {
    const from = Buffer.from(after?.slice(2) ?? '', 'hex');
    const rows = await this.database.query<{ wallet: string }>(
      CHANGED_WALLETS({ above, block, after: from, limit }),
    );
    return rows.map(({ wallet }) => addressOf(wallet));
  }

  /**
   * A page of all wallets with history, ordered by address, with their balances at the end of a block; 0 where the
   * history begins later. Balances at a final block do not change between two pages.
   * @returns fewer than `limit` on the last page only
   */
  async walletPage({ block, after, limit }: WalletPage): Promise<WalletBalance[]> {
    const from = Buffer.from(after?.slice(2) ?? '', 'hex');
    const rows = await this.database.query<{ wallet: string; balance: string }>(
      WALLET_PAGE({ after: from, block, limit }),
    );
    return rows.map(({ wallet, balance }) => ({
      wallet: addressOf(wallet),
      balance: BigInt(balance),
    }));
  }

  /** @see readIndexSums */
  sums(beforePage?: (wallets: number) => void): Promise<IndexSums | undefined> {
    return readIndexSums(this.database, beforePage);
  }

  /** The remembered blocks from a number on, in ascending order. */
  async blocks(fromNumber: bigint): Promise<BlockRef[]> {
    const rows = await this.database.query<Record<'number' | 'hash' | 'seconds', string>>(
      BLOCKS_FROM({ number: fromNumber }),
    );
    return rows.map(({ number, hash, seconds }) => blockOf(number, hash, seconds));
  }
}

export interface WalletBalance {
  readonly wallet: Address;
  /** In the token's smallest unit; may be 0. */
  readonly balance: bigint;
}

export interface WalletPage {
  /** The block at whose end balances are read. */
  readonly block: bigint;
  /** The last wallet of the previous page; absent for the first page. */
  readonly after?: Address | undefined;
  /** Maximum number of wallets in the page. */
  readonly limit: number;
}

/** All pages of `walletPage`; all but the last one have `limit` wallets. */
export async function* walletPages(
  index: Pick<IndexReader, 'walletPage'>,
  { block, limit }: Omit<WalletPage, 'after'>,
): AsyncGenerator<readonly WalletBalance[], void, undefined> {
  let after: Address | undefined;
  do {
    const page = await index.walletPage({ block, after, limit });
    yield page;
    after = page.length < limit ? undefined : page.at(-1)?.wallet;
  } while (after !== undefined);
}
