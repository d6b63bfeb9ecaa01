/** Days and balances of a wallet over time, for a person who looks at them. */
import { type Address, type BalanceDay } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { unnamed } from '../connection/named.js';
import { addressBytes, type RowOf } from '../connection/rows.js';

export interface BalanceMoment {
  readonly block: bigint;
  readonly seconds: number;
  /** The balance from the end of this block on, in the token's smallest unit. */
  readonly balance: bigint;
}

type WalletDay = Omit<BalanceDay, 'wallet'>;

export interface WalletHistory {
  /** The days with a change, oldest first, and before them the newest earlier day where there is one. */
  readonly days: readonly WalletDay[];
  /** The changes, oldest first, and before them the newest earlier change where there is one. */
  readonly changes: readonly BalanceMoment[];
  /** The range has more changes; `changes` has the newest. */
  readonly isCut: boolean;
}

export interface HistoryRange {
  /** Days since 1970-01-01 UTC. */
  readonly firstDay: number;
  readonly mostChanges: number;
}

const DAYS = unnamed<{ wallet: Buffer; firstDay: number }>(
  `SELECT day, low::text, closing::text FROM staking.balance_day
    WHERE wallet = :wallet AND day >= coalesce(
      (SELECT max(day) FROM staking.balance_day WHERE wallet = :wallet AND day < :firstDay), :firstDay)
    ORDER BY day`,
);

/** Block numbers and their times grow together, so that the newest change before the range is the first one to show. */
// Sorted by the column: `block` alone would mean the text in the output.
const CHANGES = unnamed<{ wallet: Buffer; since: number; limit: number }>(
  `SELECT c.block::text, c.seconds::float8 AS seconds, c.balance::text FROM staking.balance_change c
    WHERE wallet = :wallet AND block >= coalesce((SELECT block FROM staking.balance_change
      WHERE wallet = :wallet AND seconds < :since ORDER BY block DESC LIMIT 1), 0)
    ORDER BY c.block DESC LIMIT :limit`,
);

const FIRST_DAY = unnamed<{ wallet: Buffer }>(
  'SELECT min(day) AS day FROM staking.balance_day WHERE wallet = :wallet',
);

const SECONDS_PER_DAY = 86_400;

export class WalletHistoryStore {
  constructor(private readonly database: Database) {}

  /** The UTC day of the wallet's first change, in days since 1970-01-01; undefined where the wallet never staked. */
  async firstDay(wallet: Address): Promise<number | undefined> {
    const [row] = await this.database.query<{ day: number | null }>(
      FIRST_DAY({ wallet: addressBytes(wallet) }),
    );
    return row?.day ?? undefined;
  }

  async read(wallet: Address, { firstDay, mostChanges }: HistoryRange): Promise<WalletHistory> {
    const bytes = addressBytes(wallet);
    const since = firstDay * SECONDS_PER_DAY;
    const days = await this.database.query<RowOf<WalletDay>>(DAYS({ wallet: bytes, firstDay }));
    const changes = await this.database.query<RowOf<BalanceMoment>>(
      CHANGES({ wallet: bytes, since, limit: mostChanges + 1 }),
    );
    return {
      days: days.map(({ day, low, closing }) => ({
        day,
        low: low === null ? null : BigInt(low),
        closing: BigInt(closing),
      })),
      changes: changes
        .slice(0, mostChanges)
        .map(({ block, seconds, balance }) => ({
          block: BigInt(block),
          seconds,
          balance: BigInt(balance),
        }))
        .reverse(),
      isCut: changes.length > mostChanges,
    };
  }
}
