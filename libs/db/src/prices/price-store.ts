import { type Database, type Statement } from '../connection/database.js';
import { FencedError } from '../index-store/index-store.error.js';
import { type Price, priceOf, type PriceRow } from './price.js';

// A source that repeats its observation (a chain's feed between two rounds) has it confirmed, not added.
const CONFIRM = `ON CONFLICT (observed_at, source) DO UPDATE SET usd = excluded.usd, read_at = clock_timestamp()`;

/** What a clock that was wrong has dated far ahead must not hold back every price after it. */
const RECORD: Statement = {
  name: 'price_record',
  text: `WITH leader AS (SELECT FROM staking.index_state WHERE fence = $1),
    stored AS (
      INSERT INTO staking.price (observed_at, source, usd)
      SELECT $2::timestamptz, $3::text, $4::numeric FROM leader
      WHERE NOT EXISTS (SELECT FROM staking.price newer WHERE newer.source = $3 AND newer.observed_at > $2
        AND newer.observed_at <= clock_timestamp() + interval '5 minutes')
      ${CONFIRM} RETURNING 1)
    SELECT EXISTS (SELECT FROM leader) AS leads, EXISTS (SELECT FROM stored) AS is_stored`,
};

const ADD: Statement = {
  name: 'price_add',
  text: `INSERT INTO staking.price (observed_at, source, usd) VALUES ($1, $2, $3) ${CONFIRM}`,
};

const NEWEST: Statement = {
  name: 'price_newest',
  text: 'SELECT usd, observed_at, source FROM staking.price ORDER BY read_at DESC LIMIT 1',
};

export class PriceStore {
  constructor(private readonly database: Database) {}

  /**
   * Stores what the leading indexer has read, unless its source has told a newer observation: then a node was behind.
   * @param fence of the lead that it was read under
   * @returns whether it is the newest price now
   * @throws FencedError where another leads by now; DatabaseRefusedError where the price is not above 0
   */
  async record(fence: bigint, { observedAt, source, usd }: Price): Promise<boolean> {
    const values = [fence, observedAt.toISOString(), source, usd];
    const [row] = await this.database.query<{ leads: boolean; is_stored: boolean }>(RECORD, values);
    if (row?.leads !== true) throw new FencedError();
    return row.is_stored;
  }

  /**
   * For a database that no indexer writes: of a test or a benchmark.
   * @throws DatabaseRefusedError where the price is not above 0
   */
  async add({ observedAt, source, usd }: Price): Promise<void> {
    await this.database.query(ADD, [observedAt.toISOString(), source, usd]);
  }

  /** The price that was read last. */
  async newest(): Promise<Price | undefined> {
    const [row] = await this.database.query<PriceRow>(NEWEST);
    return row && priceOf(row);
  }
}
