import { type Database } from '../connection/database.js';
import { named, type Statement } from '../connection/named.js';
import { FencedError } from '../index-store/index-state.js';
import { type RowOf } from '../connection/rows.js';
import { type Price, type PriceHold, type QuotedPrices, type PriceReference } from './price.js';

/**
 * Stores a price unless the source has reported a newer one. Observations dated more than five minutes ahead do not
 * count as newer, because those of a wrong clock would block every later price. Where the source reports another price
 * for the same time, this price is stored a microsecond later: no reading is overwritten, so that a drift shows.
 */
const RECORD = named<{ fence: bigint; observedAt: string; source: string; usd: string }>(
  'price_record',
  `WITH leader AS (SELECT FROM staking.index_state WHERE fence = :fence),
    same AS (SELECT observed_at, usd FROM staking.price
      WHERE source = :source AND observed_at >= :observedAt AND observed_at < :observedAt::timestamptz + interval '1 millisecond'
      ORDER BY observed_at DESC LIMIT 1),
    stored AS (
      INSERT INTO staking.price (observed_at, source, usd)
      SELECT coalesce((SELECT CASE WHEN usd = :usd THEN observed_at ELSE observed_at + interval '1 microsecond' END FROM same), :observedAt),
        :source::text, :usd::numeric FROM leader
      WHERE NOT EXISTS (SELECT FROM staking.price newer WHERE newer.source = :source
        AND newer.observed_at >= :observedAt::timestamptz + interval '1 millisecond'
        AND newer.observed_at <= clock_timestamp() + interval '5 minutes')
      -- A source that repeats its observation (a chain's feed between two rounds) has it confirmed, not added.
      ON CONFLICT (observed_at, source) DO UPDATE SET usd = excluded.usd, read_at = clock_timestamp()
      RETURNING 1),
    released AS (DELETE FROM staking.price_hold WHERE EXISTS (SELECT FROM stored))
    SELECT EXISTS (SELECT FROM leader) AS leads, EXISTS (SELECT FROM stored) AS is_stored`,
);

interface HoldValues {
  readonly fence: bigint;
  readonly reason: string;
  readonly beforeUsd: string | null;
  readonly maxChange: string;
  readonly usd: string;
  readonly observedAt: string;
  readonly source: string;
  readonly isNewHold: boolean;
}

const HOLD = named<HoldValues>(
  'price_hold',
  `WITH leader AS (SELECT FROM staking.index_state WHERE fence = :fence),
    held AS (
      INSERT INTO staking.price_hold AS h (reason, before_usd, max_change, usd, observed_at, source)
      SELECT :reason::text, :beforeUsd::numeric, :maxChange::numeric, :usd::numeric, :observedAt::timestamptz, :source::text FROM leader
      ON CONFLICT (only_row) DO UPDATE SET usd = excluded.usd, observed_at = excluded.observed_at, source = excluded.source,
        max_change = excluded.max_change, read_at = clock_timestamp(),
        since = CASE WHEN :isNewHold THEN clock_timestamp() ELSE h.since END,
        reason = CASE WHEN :isNewHold THEN excluded.reason ELSE h.reason END,
        before_usd = CASE WHEN :isNewHold THEN excluded.before_usd ELSE h.before_usd END)
    SELECT EXISTS (SELECT FROM leader) AS leads`,
);

/** The columns of a HoldRow, with `h` as alias of the hold. */
export const HOLD_COLUMNS = `h.since, h.reason, h.before_usd AS "heldFromUsd", h.max_change AS "maxChange", h.usd,
  h.observed_at AS "observedAt", h.source, EXISTS (SELECT FROM staking.price_acceptance a WHERE a.at >= h.since) AS "isAccepted"`;

// Prices from before the newest acceptance do not count, because they say nothing about the prices after it.
const STANDING: Statement = {
  name: 'price_standing',
  text: `WITH accepted AS (SELECT usd, at FROM staking.price_acceptance ORDER BY id DESC LIMIT 1),
    newest AS (SELECT usd, read_at FROM staking.price ORDER BY read_at DESC LIMIT 1),
    hour AS (
      SELECT usd FROM staking.price WHERE read_at > greatest(clock_timestamp() - interval '1 hour', (SELECT at FROM accepted))
      UNION ALL SELECT usd FROM accepted WHERE at > clock_timestamp() - interval '1 hour')
    SELECT (SELECT usd FROM (SELECT usd, read_at AS at FROM newest UNION ALL SELECT usd, at FROM accepted) AS either
        ORDER BY at DESC LIMIT 1) AS "beforeUsd",
      (SELECT min(usd) FROM hour) AS "lowestUsd", (SELECT max(usd) FROM hour) AS "highestUsd",
      (SELECT usd FROM accepted) AS "acceptedUsd", ${HOLD_COLUMNS}
    FROM (VALUES (1)) AS one LEFT JOIN staking.price_hold h ON true`,
};

const QUOTED: Statement = {
  name: 'price_quoted',
  text: `SELECT p.usd, p.observed_at AS "observedAt", p.source, EXISTS (SELECT FROM staking.price_hold) AS "isHeld",
      (SELECT usd FROM staking.price_acceptance ORDER BY id DESC LIMIT 1) AS "acceptedUsd"
    FROM (VALUES (1)) AS one LEFT JOIN LATERAL
      (SELECT usd, observed_at, source FROM staking.price ORDER BY read_at DESC LIMIT 1) AS p ON true`,
};

const ADD = named<Price>(
  'price_add',
  `INSERT INTO staking.price (observed_at, source, usd) VALUES (:observedAt, :source, :usd)
    ON CONFLICT (observed_at, source) DO UPDATE SET usd = excluded.usd, read_at = clock_timestamp()`,
);

const NEWEST: Statement = {
  name: 'price_newest',
  text: `SELECT usd, observed_at AS "observedAt", source FROM staking.price ORDER BY read_at DESC LIMIT 1`,
};

export type HoldRow = Price &
  Omit<PriceHold, 'price' | 'beforeUsd'> & { readonly heldFromUsd: string | null };

type StandingRow = RowOf<Omit<PriceReference, 'hold'>> & (HoldRow | { readonly since: null });

type QuotedRow = RowOf<Omit<QuotedPrices, 'price'>> & (Price | { readonly usd: null });

/** A reading that must not be used. */
export interface HeldReading {
  readonly price: Price;
  readonly reason: string;
  readonly beforeUsd: string | undefined;
  /** The largest change that was allowed, as a share in decimals. */
  readonly maxChange: string;
  /** True where the previous hold was accepted and this reading starts another hold. */
  readonly isNewHold: boolean;
}

export class PriceStore {
  constructor(private readonly database: Database) {}

  /** The prices by which the next reading is judged. */
  async standing(): Promise<PriceReference> {
    const [row] = await this.database.query<StandingRow>(STANDING);
    return {
      beforeUsd: row?.beforeUsd ?? undefined,
      lowestUsd: row?.lowestUsd ?? undefined,
      highestUsd: row?.highestUsd ?? undefined,
      acceptedUsd: row?.acceptedUsd ?? undefined,
      hold: row && row.since !== null ? holdOf(row) : undefined,
    };
  }

  /**
   * Holds a reading: no price is used until one is recorded. A hold that goes on keeps its reason and its beginning,
   * and takes the reading as its newest one. With `isNewHold` the hold begins again.
   * @throws FencedError where another process is the leader
   */
  async hold(fence: bigint, { price, isNewHold, ...held }: HeldReading): Promise<void> {
    const { usd, observedAt, source } = price;
    const { reason, beforeUsd = null, maxChange } = held;
    const about = { fence, reason, beforeUsd, maxChange, isNewHold };
    const [row] = await this.database.query<{ leads: boolean }>(
      HOLD({ ...about, usd, source, observedAt: observedAt.toISOString() }),
    );
    if (row?.leads !== true) throw new FencedError();
  }

  /** The price for quotes of redemptions: the price that was read last, and whether it may be used. */
  async quoted(): Promise<QuotedPrices> {
    const [row] = await this.database.query<QuotedRow>(QUOTED);
    return {
      price: row && row.usd !== null ? priceOf(row) : undefined,
      isHeld: row?.isHeld ?? false,
      acceptedUsd: row?.acceptedUsd ?? undefined,
    };
  }

  /**
   * Stores a reading of the leading indexer and ends a hold. Stores nothing where the source has reported a newer
   * observation before, because then a node was behind.
   * @param fence fencing token under which the price was read
   * @returns whether this is the newest price now
   * @throws FencedError where another process is the leader; DatabaseRefusedError where the price is not above 0
   */
  async record(fence: bigint, { observedAt, source, usd }: Price): Promise<boolean> {
    const [row] = await this.database.query<{ leads: boolean; is_stored: boolean }>(
      RECORD({ fence, observedAt: observedAt.toISOString(), source, usd }),
    );
    if (row?.leads !== true) throw new FencedError();
    return row.is_stored;
  }

  /**
   * For a database that no indexer writes, in tests and benchmarks.
   * @throws DatabaseRefusedError where the price is not above 0
   */
  async add({ observedAt, source, usd }: Price): Promise<void> {
    await this.database.query(ADD({ observedAt, source, usd }));
  }

  /** The price that was read last. */
  async newest(): Promise<Price | undefined> {
    return (await this.database.query<Price & object>(NEWEST))[0];
  }
}

function priceOf({ usd, observedAt, source }: Price): Price {
  return { usd, observedAt, source };
}

export function holdOf(row: HoldRow): PriceHold {
  const { since, reason, heldFromUsd, maxChange, isAccepted } = row;
  const beforeUsd = heldFromUsd ?? undefined;
  return { since, reason, beforeUsd, price: priceOf(row), maxChange, isAccepted };
}
