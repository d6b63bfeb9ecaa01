import { type Database, type Statement } from '../connection/database.js';
import { type Price, priceOf, type PriceRow } from './price.js';

// A source that repeats its observation (a chain's feed between two rounds) has it confirmed, not added.
const ADD: Statement = {
  name: 'price_add',
  text: `INSERT INTO staking.price (observed_at, source, usd) VALUES ($1, $2, $3)
    ON CONFLICT (observed_at, source) DO UPDATE SET usd = excluded.usd, read_at = clock_timestamp()`,
};

const NEWEST: Statement = {
  name: 'price_newest',
  text: 'SELECT usd, observed_at, source FROM staking.price ORDER BY read_at DESC LIMIT 1',
};

export class PriceStore {
  constructor(private readonly database: Database) {}

  /** @throws DatabaseRefusedError where the price is not above 0 */
  async add(price: Price): Promise<void> {
    await this.database.query(ADD, [price.observedAt.toISOString(), price.source, price.usd]);
  }

  /** The price that was read last. */
  async newest(): Promise<Price | undefined> {
    const [row] = await this.database.query<PriceRow>(NEWEST);
    return row && priceOf(row);
  }
}
