/** The lows of all wallets on a day, calculated from the index in the order of the wallets. */
import { type Database, run } from '../connection/database.js';
import { named, unnamed } from '../connection/named.js';
import { walletsOf } from '../index-store/wallets-of.js';

export interface WalletDayBytes {
  /** 20 bytes. */
  readonly wallet: Buffer;
  /** The lowest balance of the day, in the token's smallest unit. */
  readonly low: bigint;
  /** The balance at the end of the day, in the token's smallest unit. */
  readonly closing: bigint;
}

/** The blocks of one day: above the last block of the day before, up to the last block of the day. */
export interface DayBlocks {
  readonly day: number;
  readonly above: bigint;
  readonly upTo: bigint;
}

interface LowRow {
  wallet: Buffer;
  low: string;
  closing: string;
}

/** Wallets in a page: few enough to be garbage of the youngest generation, which keeps the heap small. */
const PAGE_SIZE = 2000;

// The newest row of each wallet up to the day, by the primary key. The time grows with the number of wallets and of
// partitions up to the day, not with the wallets' days.
const PAGE = named<{ after: Buffer; day: number; limit: number }>(
  'day_lows_page',
  `${walletsOf({ table: 'balance_day', where: 't.day <= :day' })}
    SELECT page.wallet, (CASE WHEN d.day = :day THEN least(d.low, d.closing) ELSE d.closing END)::text AS low,
      d.closing::text AS closing
    FROM page
    CROSS JOIN LATERAL (SELECT day, low, closing FROM staking.balance_day
      WHERE wallet = page.wallet AND day <= :day ORDER BY day DESC LIMIT 1) AS d
    ORDER BY page.wallet`,
);

/**
 * The wallets with a change on the day, found by the index of blocks and read by the primary key. A wallet with changes
 * in these blocks and no row of the day was indexed wrongly, and its low is null.
 */
const CHANGED = unnamed<DayBlocks>(
  `DECLARE day_lows NO SCROLL CURSOR FOR
    SELECT c.wallet, least(d.low, d.closing)::text AS low, d.closing::text AS closing
    FROM (SELECT DISTINCT wallet FROM staking.balance_change WHERE block > :above AND block <= :upTo) AS c
    LEFT JOIN staking.balance_day d ON d.wallet = c.wallet AND d.day = :day
    ORDER BY c.wallet`,
);

const TOTAL = named<{ day: number }>(
  'day_lows_total',
  'SELECT total FROM staking.day_total WHERE day <= :day ORDER BY day DESC LIMIT 1',
);

export class DayLows {
  constructor(
    private readonly database: Database,
    private readonly pageSize = PAGE_SIZE,
  ) {}

  /** All wallets with a change up to the day. Balances of a final day do not change between two pages. */
  async *all(day: number): AsyncGenerator<WalletDayBytes> {
    let after: Buffer = Buffer.alloc(0);
    for (;;) {
      const page = await this.database.query<LowRow>(PAGE({ after, day, limit: this.pageSize }));
      for (const row of page) yield walletDayOf(row);
      const last = page.at(-1);
      if (last === undefined || page.length < this.pageSize) return;
      after = last.wallet;
    }
  }

  /** The sum of all balances at the end of the day, as the index stored it. */
  async total(day: number): Promise<bigint> {
    const [row] = await this.database.query<{ total: string }>(TOTAL({ day }));
    return BigInt(row?.total ?? 0);
  }

  /**
   * Passes each wallet with a change on the day to `take`.
   * @throws Error where the rows of a wallet contradict each other; DatabaseUnavailableError, DatabaseRefusedError
   */
  async changed(blocks: DayBlocks, take: (wallet: WalletDayBytes) => void): Promise<void> {
    await this.database.transaction(async (client) => {
      await client.query('SET TRANSACTION READ ONLY');
      await run(client, CHANGED(blocks));
      for (;;) {
        const { rows } = await client.query<LowRow>(`FETCH ${this.pageSize} FROM day_lows`);
        for (const row of rows) take(walletDayOf(row, blocks.day));
        if (rows.length < this.pageSize) return;
      }
    });
  }
}

function walletDayOf({ wallet, low, closing }: LowRow, day?: number): WalletDayBytes {
  if ((low as string | null) === null) {
    throw new Error(
      `wallet 0x${wallet.toString('hex')} has balance changes on day ${String(day)} and no row of that day: repair it (docs/operating/troubleshooting.md#a-wrong-figure)`,
    );
  }
  return { wallet, low: BigInt(low), closing: BigInt(closing) };
}
