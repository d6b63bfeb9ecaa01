import { type Address, type BalanceDay } from '#libs/domain';
import { type Database, type Statement } from '../connection/database.js';
import {
  type IndexState,
  type IndexStateRow,
  indexStateOf,
  STATE_COLUMNS,
} from '../index-store/index-state.js';
import { type Price, priceOf, type PriceRow } from '../prices/price.js';

/** All that one answer is made of, as it stood at one moment. */
export interface SnapshotRead {
  readonly index: IndexState;
  /** The wallet ever staked. */
  readonly hasHistory: boolean;
  /** The wallet's newest `lastDays + 1` days with a change before `endDay`, newest first. */
  readonly days: readonly Omit<BalanceDay, 'wallet'>[];
  /** The one that was read last, however old. */
  readonly price: Price | undefined;
}

interface SnapshotRow extends IndexStateRow {
  has_history: boolean;
  days: [day: number, low: string | null, closing: string][] | null;
  price: PriceRow | null;
}

// At most lastDays + 1 entries of one index are read, however many changes the wallet has.
const READ: Statement = {
  name: 'snapshot',
  text: `SELECT ${STATE_COLUMNS},
      EXISTS (SELECT FROM staking.balance_day WHERE wallet = $1) AS has_history,
      (SELECT json_agg(json_build_array(day, low::text, closing::text)) FROM (
        SELECT day, low, closing FROM staking.balance_day
        WHERE wallet = $1 AND day < $2 ORDER BY day DESC LIMIT $3) AS newest) AS days,
      (SELECT json_build_object('observed_at', observed_at, 'source', source, 'usd', usd::text)
        FROM staking.price ORDER BY read_at DESC LIMIT 1) AS price
    FROM staking.index_state s`,
};

export class SnapshotStore {
  constructor(private readonly database: Database) {}

  /**
   * One statement, one round trip, one state of the index; undefined where there is no index yet.
   * @param endDay days since 1970-01-01 UTC, exclusive
   * @throws DatabaseUnavailableError, DatabaseRefusedError
   */
  async read(wallet: Address, endDay: number, lastDays: number): Promise<SnapshotRead | undefined> {
    const [row] = await this.database.query<SnapshotRow>(READ, [
      Buffer.from(wallet.slice(2), 'hex'),
      endDay,
      lastDays + 1,
    ]);
    if (row === undefined) return undefined;
    return {
      index: indexStateOf(row),
      hasHistory: row.has_history,
      days: (row.days ?? []).map(([day, low, closing]) => ({
        day,
        low: low === null ? null : BigInt(low),
        closing: BigInt(closing),
      })),
      price: row.price === null ? undefined : priceOf(row.price),
    };
  }
}
