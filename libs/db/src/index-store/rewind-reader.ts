/** What an operator has to know before the index is taken back to a block. */
import { type BlockHash } from '#libs/domain';
import { type Database, run } from '../connection/database.js';
import { named, type Statement } from '../connection/named.js';
import { hashOf } from '../connection/rows.js';

/** What a rewind takes back. */
export interface RewindEffect {
  readonly changes: number;
  readonly wallets: number;
  /** Sealed days that have a block above the one of the rewind. */
  readonly sealedDays: number;
  /** Days since 1970-01-01 UTC; undefined where no sealed day is concerned. */
  readonly firstDay: number | undefined;
  readonly lastDay: number | undefined;
  /** Publications of these days on chain. */
  readonly published: number;
}

/** A block whose hash the index knows. */
export interface KnownBlock {
  readonly number: bigint;
  readonly hash: BlockHash;
}

/** Counting the changes of a large index reads all of them. */
const TIMEOUT_MS = 15 * 60_000;

const CHANGES = named<{ block: bigint }>(
  'rewind_changes',
  `SELECT count(*)::int AS changes, count(DISTINCT wallet)::int AS wallets
    FROM staking.balance_change WHERE block > :block`,
);

const SEALED = named<{ block: bigint }>(
  'rewind_sealed',
  `SELECT count(DISTINCT day)::int AS days, min(day) AS first, max(day) AS last
    FROM staking.sealed_day WHERE block_number > :block`,
);

const PUBLISHED = named<{ set: string; first: number; last: number }>(
  'rewind_published',
  `SELECT count(*)::int AS published FROM redemption.registry_publication
    WHERE stake_set = :set AND day BETWEEN :first AND :last AND status IN ('sent', 'mined', 'final')`,
);

const STEPS = named<{ above: bigint; upTo: bigint; steps: number }>(
  'rewind_steps',
  `SELECT percentile_disc(ARRAY(SELECT step::float8 / :steps FROM generate_series(1, :steps - 1) AS step))
      WITHIN GROUP (ORDER BY block) AS blocks
    FROM staking.balance_change WHERE block > :above AND block <= :upTo`,
);

/** Sealed days that are to be calculated again may be of blocks that the index no longer has. */
const KNOWN = named(
  'rewind_known',
  `SELECT DISTINCT ON (number) number, encode(hash, 'hex') AS hash FROM (
      SELECT number, hash, 0 AS rank FROM staking.block
      UNION ALL
      SELECT head_number, head_hash, 0 FROM staking.index_state
      UNION ALL
      SELECT block_number, block_hash, 1 FROM (
        SELECT DISTINCT ON (day) day, block_number, block_hash FROM staking.sealed_day ORDER BY day, revision DESC) AS s
      WHERE NOT EXISTS (SELECT FROM staking.seal_recheck r WHERE r.from_day <= s.day)
    ) AS known
    WHERE number <= (SELECT head_number FROM staking.index_state)
    ORDER BY number, rank`,
);

export class RewindReader {
  /**
   * @param database of the stake set
   * @param stakeSet its name
   */
  constructor(
    private readonly database: Database,
    private readonly stakeSet: string,
  ) {}

  async effect(block: bigint): Promise<RewindEffect> {
    type Sealed = { days: number; first: number | null; last: number | null };
    const [counts] = await this.slowly<{ changes: number; wallets: number }>(CHANGES({ block }));
    const [sealed] = await this.database.query<Sealed>(SEALED({ block }));
    const { changes, wallets } = counts ?? { changes: 0, wallets: 0 };
    const { days = 0, first = null, last = null } = sealed ?? {};
    if (first === null || last === null) {
      return {
        ...{ changes, wallets, sealedDays: 0, published: 0 },
        ...{ firstDay: undefined, lastDay: undefined },
      };
    }
    const [row] = await this.database.query<{ published: number }>(
      PUBLISHED({ set: this.stakeSet, first, last }),
    );
    const published = row?.published ?? 0;
    return { changes, wallets, sealedDays: days, firstDay: first, lastDay: last, published };
  }

  /** Blocks that divide the changes of a range into `steps` parts of about the same size, the newest first. */
  async steps(range: { above: bigint; upTo: bigint; steps: number }): Promise<bigint[]> {
    if (range.steps <= 1) return [];
    const [row] = await this.slowly<{ blocks: string[] | null }>(STEPS(range));
    return [...new Set(row?.blocks ?? [])].map(BigInt).reverse();
  }

  /** The blocks whose hashes the index knows, in ascending order: the last blocks of sealed days, and the newest ones. */
  async knownBlocks(): Promise<KnownBlock[]> {
    const rows = await this.database.query<{ number: string; hash: string }>(KNOWN({}));
    return rows.map(({ number, hash }) => ({ number: BigInt(number), hash: hashOf(hash) }));
  }

  private slowly<R extends object>(statement: Statement & { values: unknown[] }): Promise<R[]> {
    return this.database.transaction((client) => run<R>(client, statement), TIMEOUT_MS);
  }
}
