import { type Database, type Statement } from '../connection/database.js';
import { FencedError } from '../index-store/index-store.error.js';
import { ACCEPTED_SINCE, holdOf, type HoldRow } from './price-hold.js';
import {
  type Price,
  priceOf,
  type PriceRow,
  type QuotedPrices,
  type StandingPrice,
} from './price.js';

// A source that repeats its observation (a chain's feed between two rounds) has it confirmed, not added.
const CONFIRM = `ON CONFLICT (observed_at, source) DO UPDATE SET usd = excluded.usd, read_at = clock_timestamp()`;

/**
 * What a clock that was wrong has dated far ahead must not hold back every price after it. A source that tells another figure of the same
 * time adds it, a microsecond later: no reading is overwritten, so that a drift shows.
 */
const RECORD: Statement = {
  name: 'price_record',
  text: `WITH leader AS (SELECT FROM staking.index_state WHERE fence = $1),
    same AS (SELECT observed_at, usd FROM staking.price
      WHERE source = $3 AND observed_at >= $2 AND observed_at < $2::timestamptz + interval '1 millisecond'
      ORDER BY observed_at DESC LIMIT 1),
    stored AS (
      INSERT INTO staking.price (observed_at, source, usd)
      SELECT coalesce((SELECT CASE WHEN usd = $4 THEN observed_at ELSE observed_at + interval '1 microsecond' END FROM same), $2),
        $3::text, $4::numeric FROM leader
      WHERE NOT EXISTS (SELECT FROM staking.price newer WHERE newer.source = $3
        AND newer.observed_at >= $2::timestamptz + interval '1 millisecond'
        AND newer.observed_at <= clock_timestamp() + interval '5 minutes')
      ${CONFIRM} RETURNING 1),
    released AS (DELETE FROM staking.price_hold WHERE EXISTS (SELECT FROM stored))
    SELECT EXISTS (SELECT FROM leader) AS leads, EXISTS (SELECT FROM stored) AS is_stored`,
};

const ADD: Statement = {
  name: 'price_add',
  text: `INSERT INTO staking.price (observed_at, source, usd) VALUES ($1, $2, $3) ${CONFIRM}`,
};

const HOLD: Statement = {
  name: 'price_hold',
  text: `WITH leader AS (SELECT FROM staking.index_state WHERE fence = $1),
    held AS (
      INSERT INTO staking.price_hold AS h (reason, before_usd, max_change, usd, observed_at, source)
      SELECT $2::text, $3::numeric, $4::numeric, $5::numeric, $6::timestamptz, $7::text FROM leader
      ON CONFLICT (only_row) DO UPDATE SET usd = excluded.usd, observed_at = excluded.observed_at, source = excluded.source,
        max_change = excluded.max_change, read_at = clock_timestamp(),
        since = CASE WHEN $8 THEN clock_timestamp() ELSE h.since END,
        reason = CASE WHEN $8 THEN excluded.reason ELSE h.reason END,
        before_usd = CASE WHEN $8 THEN excluded.before_usd ELSE h.before_usd END)
    SELECT EXISTS (SELECT FROM leader) AS leads`,
};

// What was in use before an acceptance says nothing of what comes after it.
const STANDING: Statement = {
  name: 'price_standing',
  text: `WITH accepted AS (SELECT usd, at FROM staking.price_acceptance ORDER BY id DESC LIMIT 1),
    newest AS (SELECT usd, read_at FROM staking.price ORDER BY read_at DESC LIMIT 1),
    hour AS (
      SELECT usd FROM staking.price WHERE read_at > greatest(clock_timestamp() - interval '1 hour', (SELECT at FROM accepted))
      UNION ALL SELECT usd FROM accepted WHERE at > clock_timestamp() - interval '1 hour')
    SELECT (SELECT usd FROM (SELECT usd, read_at AS at FROM newest UNION ALL SELECT usd, at FROM accepted) AS either
        ORDER BY at DESC LIMIT 1) AS before_usd,
      (SELECT min(usd) FROM hour) AS lowest_usd, (SELECT max(usd) FROM hour) AS highest_usd,
      (SELECT usd FROM accepted) AS accepted_usd,
      h.since, h.reason, h.before_usd AS held_from_usd, h.max_change, h.usd, h.observed_at, h.source, ${ACCEPTED_SINCE} AS is_accepted
    FROM (VALUES (1)) AS one LEFT JOIN staking.price_hold h ON true`,
};

const QUOTED: Statement = {
  name: 'price_quoted',
  text: `SELECT p.usd, p.observed_at, p.source, EXISTS (SELECT FROM staking.price_hold) AS is_held,
      (SELECT usd FROM staking.price_acceptance ORDER BY id DESC LIMIT 1) AS accepted_usd
    FROM (VALUES (1)) AS one LEFT JOIN LATERAL
      (SELECT usd, observed_at, source FROM staking.price ORDER BY read_at DESC LIMIT 1) AS p ON true`,
};

const NEWEST: Statement = {
  name: 'price_newest',
  text: 'SELECT usd, observed_at, source FROM staking.price ORDER BY read_at DESC LIMIT 1',
};

/** Those of the hold are null where there is none. */
interface StandingRow extends Omit<HoldRow, 'since'> {
  since: Date | null;
  held_from_usd: string | null;
  lowest_usd: string | null;
  highest_usd: string | null;
  accepted_usd: string | null;
}

interface QuotedRow {
  usd: string | null;
  observed_at: Date;
  source: string;
  is_held: boolean;
  accepted_usd: string | null;
}

/** A reading that is not to be used. */
export interface HeldReading {
  readonly price: Price;
  readonly reason: string;
  readonly beforeUsd: string | undefined;
  /** PRICE_MAX_CHANGE as text. */
  readonly maxChange: string;
  /** Whether it was accepted what the hold before was about, and this is another one. */
  readonly isAnew: boolean;
}

export class PriceStore {
  constructor(private readonly database: Database) {}

  /** What the next reading is judged by. */
  async standing(): Promise<StandingPrice> {
    const [row] = await this.database.query<StandingRow>(STANDING);
    const hold = row && row.since !== null ? { ...row, before_usd: row.held_from_usd } : undefined;
    return {
      beforeUsd: row?.before_usd ?? undefined,
      lowestUsd: row?.lowest_usd ?? undefined,
      highestUsd: row?.highest_usd ?? undefined,
      acceptedUsd: row?.accepted_usd ?? undefined,
      hold: hold && holdOf(hold as HoldRow),
    };
  }

  /**
   * Lets no price be used until one is recorded. A hold that lasts keeps its reason and its beginning, and takes this as its newest
   * reading; one whose acceptance was seen and did not suffice begins anew.
   * @throws FencedError where another leads by now
   */
  async hold(fence: bigint, { price, isAnew, ...held }: HeldReading): Promise<void> {
    const { usd, observedAt, source } = price;
    const about = [fence, held.reason, held.beforeUsd ?? null, held.maxChange];
    const values = [...about, usd, observedAt.toISOString(), source, isAnew];
    const [row] = await this.database.query<{ leads: boolean }>(HOLD, values);
    if (row?.leads !== true) throw new FencedError();
  }

  /** What a redemption is quoted with: the price that was read last, and whether it may be used. */
  async quoted(): Promise<QuotedPrices> {
    const [row] = await this.database.query<QuotedRow>(QUOTED);
    const { usd = null, accepted_usd: accepted = null } = row ?? {};
    return {
      price: row && usd !== null ? priceOf({ ...row, usd }) : undefined,
      isHeld: row?.is_held ?? false,
      acceptedUsd: accepted ?? undefined,
    };
  }

  /**
   * Stores what the leading indexer has read and ends a hold, unless its source has told a newer observation: then a node was behind.
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
