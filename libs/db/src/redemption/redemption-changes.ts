/** Reads what has changed in redemptions since the last look, for clients that are told of changes. */
import { type Address, mintUuidV7, UUID_V7_RANDOM_BYTES, type UuidV7 } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { addressBytes, addressOf } from '../rows.js';
import {
  type EvidenceSeal,
  READ_COLUMNS,
  readRows,
  type RedemptionRow,
  type StoredRedemption,
} from './redemption-row.js';

/**
 * Milliseconds. A row has the time at which it was written, but is visible only from its commit on, which may wait for
 * a standby. So a read of what changed since a moment starts this much earlier.
 */
const LATE_MS = 300_000;

const OPEN = `state NOT IN ('claimed', 'reverted', 'failed')`;

/**
 * For all wallets in one statement: their open redemptions, those created lately, and those
 * watched since the last look.
 */
const LOOK = named<{ wallets: Buffer[]; since: string; watched: UuidV7[] }>(
  'redemption_look',
  `SELECT (extract(epoch FROM now()) * 1000)::float8 AS "asOfMs",
      coalesce((SELECT jsonb_agg(jsonb_build_object('id', r.id, 'wallet', encode(r.wallet, 'hex'), 'version', r.version,
          'isWatched', r.${OPEN} OR r.id >= :since::uuid))
        FROM redemption.redemption r WHERE r.id IN (
          SELECT id FROM redemption.redemption WHERE wallet = ANY (:wallets::bytea[]) AND ${OPEN}
          UNION SELECT id FROM redemption.redemption WHERE wallet = ANY (:wallets::bytea[]) AND id >= :since::uuid
          UNION SELECT unnest(:watched::uuid[]))), '[]') AS seen`,
);

const READ = named<{ ids: UuidV7[] }>(
  'redemption_read',
  `SELECT ${READ_COLUMNS} FROM redemption.redemption r WHERE r.id = ANY (:ids::uuid[]) ORDER BY r.id`,
);

/** Open redemptions, and those whose newest transition is at `since` or later, by the database's clock. */
const CHANGED = named<{ wallet: Buffer; since: Date | null; limit: number }>(
  'redemption_changed',
  `SELECT ${READ_COLUMNS} FROM redemption.redemption r WHERE r.wallet = :wallet AND (r.${OPEN}
      OR (:since::timestamptz IS NOT NULL AND EXISTS (SELECT FROM redemption.transition t
        WHERE t.redemption_id = r.id AND t.version = r.version AND t.at >= :since)))
    ORDER BY r.id LIMIT :limit`,
);

const AS_OF = named<object>(
  'redemption_as_of',
  `SELECT (extract(epoch FROM now()) * 1000)::float8 AS "asOfMs"`,
);

export interface SeenRedemption {
  readonly id: UuidV7;
  readonly wallet: Address;
  readonly version: number;
  /** The redemption is open, or so new that its first commits may still become visible. */
  readonly isWatched: boolean;
}

export interface LookRequest {
  readonly wallets: readonly Address[];
  /** Ids whose `isWatched` was true at the last look. */
  readonly watched: readonly UuidV7[];
  /** Unix time in milliseconds of the last look, by the clock that ids are made with. */
  readonly sinceMs: number;
}

export interface Look {
  /** Unix time in milliseconds by the database's clock. Everything committed before this time is in `seen`. */
  readonly asOfMs: number;
  readonly seen: readonly SeenRedemption[];
}

export class RedemptionChanges {
  constructor(
    private readonly database: Database,
    private readonly seal: EvidenceSeal,
  ) {}

  /**
   * The newest versions of all redemptions that may have changed. A caller that passes ids and time of the last
   * look misses no change.
   */
  async look({ wallets, watched, sinceMs }: LookRequest): Promise<Look> {
    const oldest = Math.max(0, sinceMs - LATE_MS);
    const since = mintUuidV7(oldest, new Uint8Array(UUID_V7_RANDOM_BYTES));
    const statement = LOOK({ wallets: wallets.map(addressBytes), since, watched: [...watched] });
    const [row] = await this.database.query<Look>(statement);
    if (row === undefined) return { asOfMs: 0, seen: [] };
    const seen = row.seen.map((one) => ({ ...one, wallet: addressOf(one.wallet) }));
    return { asOfMs: Math.floor(row.asOfMs), seen };
  }

  /** The redemptions with these ids that exist and can be read, ordered by id. */
  async read(ids: readonly UuidV7[]): Promise<StoredRedemption[]> {
    if (ids.length === 0) return [];
    const rows = await this.database.query<RedemptionRow>(READ({ ids: [...ids] }));
    return readRows(rows, this.seal).found;
  }

  /** Unix time in milliseconds by the database's clock. */
  async asOfMs(): Promise<number> {
    const [row] = await this.database.query<{ asOfMs: number }>(AS_OF({}));
    return Math.floor(row?.asOfMs ?? 0);
  }

  /**
   * A wallet's open redemptions, and all that have changed since a time of `asOfMs`. Some may have
   * changed shortly before.
   * @returns undefined where there are more than `most`
   */
  async changedSince(
    wallet: Address,
    sinceMs: number | undefined,
    most: number,
  ): Promise<StoredRedemption[] | undefined> {
    const since = sinceMs === undefined ? null : new Date(sinceMs - LATE_MS);
    const statement = CHANGED({ wallet: addressBytes(wallet), since, limit: most + 1 });
    const rows = await this.database.query<RedemptionRow>(statement);
    return rows.length > most ? undefined : readRows(rows, this.seal).found;
  }
}
