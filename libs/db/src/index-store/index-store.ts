import { type PoolClient } from 'pg';
import { type Address, type BlockRef, type FoldedBlocks, type WalletState } from '#libs/domain';
import { run } from '../connection/database.js';
import { DatabaseRefusedError } from '../connection/database.error.js';
import { named } from '../connection/named.js';
import { hashOf, hexOf } from '../connection/rows.js';
import { IndexReader } from './index-reader.js';
import {
  FencedError,
  fingerprintOf,
  StaleHeadError,
  IndexMissingError,
  type IndexSettings,
  type IndexState,
  type InitialIndexState,
  PartitionAwaitedError,
  requireSameSettings,
} from './index-state.js';
import { recountTotal, rewind, rollBack, type RollbackResult } from './rollback.js';
import { type RangeText, rangeText, readWalletStates, writeRange } from './range-rows.js';

/**
 * Milliseconds: shorter than the silence after which another process may take the lead, longer than a live program
 * leaves a transaction idle.
 */
const STALLED_MS = 5000;
/** The time limit of each statement of a rollback. */
export const ROLLBACK_WITHIN_MS = 15 * 60_000;

/** One range of blocks to add to the index. */
export interface IndexBatch {
  /** The fencing token from `takeLead`. */
  readonly fence: bigint;
  readonly previousHead: BlockRef;
  readonly head: BlockRef;
  /** All balance changes above `previousHead` and up to `head`. Absent: none. */
  readonly folded?: FoldedBlocks;
  /** Blocks to remember, for finding the fork of a reorganisation. Those below the finalised block are not stored. */
  readonly blocks: readonly BlockRef[];
  readonly finalised?: BlockRef;
  readonly verifiedNumber?: bigint;
  /** True where the index is level with the chain. */
  readonly synced?: boolean;
}

interface RollbackRange {
  readonly fence: bigint;
  readonly head: BlockRef;
  readonly to: BlockRef;
}

interface LeadOptions {
  /** The settings that the index must have been made with. Default: any. */
  readonly settings?: IndexSettings;
  /**
   * Milliseconds. An earlier leader's transaction that is older than this and waits for its program
   * is ended. Default: 5 s.
   */
  readonly stalledMs?: number;
}

const CREATE_STATE = named<Record<string, unknown>>(
  'index_create',
  `INSERT INTO staking.index_state (fingerprint, settings, chain_id, stake_contract, token_contract, token_symbol,
      token_decimals, head_number, head_hash, head_seconds)
    VALUES (:fingerprint, :settings, :chainId, decode(:stakeContract, 'hex'), decode(:tokenContract, 'hex'), :tokenSymbol,
      :tokenDecimals, :number, decode(:hash, 'hex'), :seconds)
    ON CONFLICT DO NOTHING`,
);

/**
 * `fingerprint` is that of the expected index, or null for any. The new generation (index version) invalidates caches,
 * which may hold data of blocks that were lost in a failover.
 */
const TAKE_LEAD = named<{ fingerprint: string | null }>(
  'index_take_lead',
  `UPDATE staking.index_state SET fence = fence + 1, generation = gen_random_uuid(), updated_at = now()
    WHERE fingerprint = coalesce(:fingerprint, fingerprint) RETURNING fence`,
);

/**
 * Ends older transactions of other sessions that have locked the state's row and wait for their program. A
 * program that was stopped in the middle of a COPY would keep its transaction open for ever, because no time
 * limit of the session ends it.
 */
const END_STALLED = named<{ stalledMs: number }>(
  'index_end_stalled',
  `SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a
    WHERE a.datname = current_database() AND a.usename = session_user AND a.pid <> pg_backend_pid()
      AND a.wait_event = 'ClientRead' AND a.xact_start < clock_timestamp() - :stalledMs * interval '1 ms'
      AND EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.granted AND l.relation = 'staking.index_state'::regclass
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND l.mode IN ('RowShareLock', 'RowExclusiveLock'))`,
);

/** Locks the state's row until the end of the transaction. */
export const LOCK_STATE = named(
  'index_lock',
  `SELECT fingerprint, fence, head_number, encode(head_hash, 'hex') AS head_hash FROM staking.index_state FOR NO KEY UPDATE`,
);

export type LockedState = Readonly<
  Record<'fingerprint' | 'fence' | 'head_number' | 'head_hash', string>
>;

/**
 * The last statement of every commit: moves the head, adds to the total, and remembers blocks. Those below the
 * finalised block are forgotten. A finalised block older than the stored one is ignored, because it comes from a node that is behind the others.
 */
const ADVANCE = named<Record<string, unknown>>(
  'index_advance',
  `WITH advanced AS (
      UPDATE staking.index_state SET
        head_number = :head, head_hash = decode(:headHash, 'hex'), head_seconds = :headSeconds, total = total + :totalDelta,
        finalised_number = CASE WHEN :final >= coalesce(finalised_number, :final) THEN :final ELSE finalised_number END,
        finalised_hash = CASE WHEN :final >= coalesce(finalised_number, :final) THEN decode(:finalHash, 'hex') ELSE finalised_hash END,
        finalised_seconds = CASE WHEN :final >= coalesce(finalised_number, :final) THEN :finalSeconds ELSE finalised_seconds END,
        verified_number = greatest(verified_number, :verified),
        synced_at = CASE WHEN :synced THEN now() ELSE synced_at END,
        updated_at = now()
      WHERE fence = :fence AND head_number = :previous AND head_hash = decode(:previousHash, 'hex')
      RETURNING finalised_number, total
    ), totals AS (
      INSERT INTO staking.day_total (day, total)
      SELECT day, total - :totalDelta + delta FROM unnest(:days::int[], :dayDeltas::numeric[]) AS d (day, delta), advanced
      ON CONFLICT (day) DO UPDATE SET total = excluded.total
    ), remembered AS (
      INSERT INTO staking.block (number, hash, seconds)
      SELECT number, decode(hash, 'hex'), seconds
      FROM unnest(:numbers::bigint[], :hashes::text[], :seconds::bigint[]) AS b (number, hash, seconds), advanced
      WHERE number >= coalesce(finalised_number, number)
      ON CONFLICT (number) DO UPDATE SET hash = excluded.hash, seconds = excluded.seconds
    ), forgotten AS (
      DELETE FROM staking.block USING advanced WHERE number < finalised_number
    )
    SELECT count(*)::int AS rows FROM advanced`,
);

const HALT = named<{ fence: bigint; reason: string }>(
  'index_halt',
  `UPDATE staking.index_state SET halted_at = now(), halted_reason = :reason, updated_at = now()
    WHERE fence = :fence RETURNING fence`,
);

const CLEAR_HALT = named<{ fence: bigint }>(
  'index_clear_halt',
  `UPDATE staking.index_state SET halted_at = NULL, halted_reason = NULL, updated_at = now()
    WHERE fence = :fence RETURNING fence`,
);

/** A batch as it is sent. */
interface CommitText extends Pick<IndexBatch, 'fence' | 'previousHead'> {
  readonly rows: RangeText | undefined;
  readonly advance: ReturnType<typeof ADVANCE>;
}

/**
 * The index of staked balances, for the indexer. Every write is one transaction that locks the state's row. It is
 * refused where the caller is not the leader or where the stored head is not the one that the caller knows.
 */
export class IndexStore extends IndexReader {
  /** The index of this database: a new one, or the existing one, whatever its settings. */
  async create({ head, settings, ...initial }: InitialIndexState): Promise<IndexState> {
    const values = {
      ...initial,
      settings: JSON.stringify(settings),
      stakeContract: hexOf(initial.stakeContract),
      tokenContract: hexOf(initial.tokenContract),
      number: head.number,
      hash: hexOf(head.hash),
      seconds: head.timestampSeconds,
    };
    await this.database.query(CREATE_STATE(values));
    const state = await this.state();
    if (state === undefined) throw new IndexMissingError();
    return state;
  }

  /**
   * Makes the caller the leader and returns its fencing token. Writes with an older token are refused from now on.
   * @throws SettingsChangedError where the index was made with other settings; IndexMissingError. In both cases the
   * present leader stays the leader.
   */
  async takeLead({ settings, stalledMs = STALLED_MS }: LeadOptions = {}): Promise<bigint> {
    await this.database.query(END_STALLED({ stalledMs }));
    const fingerprint = settings ? fingerprintOf(settings) : null;
    const [row] = await this.database.transaction(async (client) => {
      // A failover may lose blocks, but not the fencing token: otherwise two leaders could get the same token.
      await client.query('SET LOCAL synchronous_commit = on');
      return run<{ fence: string }>(client, TAKE_LEAD({ fingerprint }));
    });
    if (row !== undefined) return BigInt(row.fence);
    const state = await this.state();
    if (state && settings) requireSameSettings(state, settings);
    throw new IndexMissingError();
  }

  /** @see readWalletStates */
  walletStates(wallets: readonly Address[], fromDay: number): Promise<Map<Address, WalletState>> {
    return readWalletStates(this.database, wallets, fromDay);
  }

  /**
   * Adds one range of blocks.
   * @throws FencedError, StaleHeadError, WrongStateError, PartitionAwaitedError, DatabaseRefusedError (rows that contradict the index),
   * DatabaseUnavailableError. Nothing is written, except that after a DatabaseUnavailableError the batch may be
   * written: the caller has to read the state.
   */
  commit(batch: IndexBatch): Promise<void> {
    const { fence, previousHead, folded } = batch;
    const rows = folded && rangeText(folded);
    return this.write({ fence, previousHead, rows, advance: ADVANCE(advanceValues(batch)) });
  }

  /**
   * Takes back everything above the block `to` and recalculates the days of the wallets concerned.
   * @throws FencedError, StaleHeadError, DatabaseUnavailableError
   */
  rollback(range: RollbackRange): Promise<RollbackResult> {
    return this.takeBack(range, (client) => rollBack(client, range.to));
  }

  /**
   * Sets the sum of all balances to that of the rows, before a rewind that is to mend rows.
   * @throws FencedError, StaleHeadError, DatabaseUnavailableError
   */
  recountTotal(held: Omit<RollbackRange, 'to'>): Promise<void> {
    return this.takeBack(held, recountTotal);
  }

  /**
   * Takes back everything above the block `to`, be it final, because an operator decided so. Ends a halt.
   * @throws FencedError, StaleHeadError, DatabaseUnavailableError
   */
  rewind(range: RollbackRange): Promise<RollbackResult> {
    return this.takeBack(range, (client) => rewind(client, range.to));
  }

  /** Records for all readers of the state that indexing has stopped, and why. @throws FencedError */
  async halt(fence: bigint, reason: string): Promise<void> {
    const rows = await this.database.query(HALT({ fence, reason }));
    if (rows.length === 0) throw new FencedError();
  }

  /** @throws FencedError */
  async clearHalt(fence: bigint): Promise<void> {
    const rows = await this.database.query(CLEAR_HALT({ fence }));
    if (rows.length === 0) throw new FencedError();
  }

  private async write({ fence, previousHead, rows, advance }: CommitText): Promise<void> {
    try {
      await this.database.transaction(async (client) => {
        await lock(client, fence, previousHead);
        if (rows) await writeRange(client, rows);
        await client.query(advance);
      });
    } catch (error) {
      throw isBeyondPartition(error) ? new PartitionAwaitedError(error) : error;
    }
  }

  private takeBack<T>(
    { fence, head }: Omit<RollbackRange, 'to'>,
    work: (client: PoolClient) => Promise<T>,
  ): Promise<T> {
    return this.database.transaction(async (client) => {
      await lock(client, fence, head);
      return work(client);
    }, ROLLBACK_WITHIN_MS);
  }
}

/**
 * Whether a row violated the check that the newest partition has while it gets its bound; see schema/partitions.ts.
 */
function isBeyondPartition(error: unknown): boolean {
  if (!(error instanceof DatabaseRefusedError)) return false;
  return (error.cause as { constraint?: unknown }).constraint === 'below_next';
}

async function lock(client: PoolClient, fence: bigint, head: BlockRef): Promise<void> {
  const [row] = await run<LockedState>(client, LOCK_STATE({}));
  if (row === undefined) throw new IndexMissingError();
  if (BigInt(row.fence) !== fence) throw new FencedError();
  if (BigInt(row.head_number) !== head.number || hashOf(row.head_hash) !== head.hash) {
    throw new StaleHeadError(head);
  }
}

function advanceValues(batch: IndexBatch): Record<string, unknown> {
  const { fence, folded, previousHead, head, finalised, blocks } = batch;
  return {
    fence,
    totalDelta: folded?.totalDelta ?? 0n,
    days: [...(folded?.dayDeltas.keys() ?? [])],
    dayDeltas: [...(folded?.dayDeltas.values() ?? [])],
    previous: previousHead.number,
    previousHash: hexOf(previousHead.hash),
    head: head.number,
    headHash: hexOf(head.hash),
    headSeconds: head.timestampSeconds,
    final: finalised?.number ?? null,
    finalHash: finalised ? hexOf(finalised.hash) : null,
    finalSeconds: finalised?.timestampSeconds ?? null,
    verified: batch.verifiedNumber ?? null,
    synced: batch.synced === true,
    numbers: blocks.map(({ number }) => number),
    hashes: blocks.map(({ hash }) => hexOf(hash)),
    seconds: blocks.map(({ timestampSeconds }) => timestampSeconds),
  };
}
