import { type PoolClient } from 'pg';
import { type BalanceChange, type BalanceDay, type BlockRef } from '#libs/domain';
import { run } from '../connection/database.js';
import { DatabaseRefusedError } from '../connection/database.error.js';
import { named } from '../connection/named.js';
import { byteaArray, hashOf, hexOf } from '../rows.js';
import { byWallet, copyChanges, copyDays } from './copy-rows.js';
import { IndexReader } from './index-reader.js';
import {
  FencedError,
  fingerprintOf,
  HeadMovedError,
  IndexMissingError,
  type IndexSettings,
  type IndexState,
  type InitialIndexState,
  PartitionAwaitedError,
  requireSameSettings,
} from './index-state.js';
import { rollBack, type Undone } from './rollback.js';

/** Shorter than the silence after which another may take the lead, longer than a live program leaves a transaction alone. */
const STALLED_MS = 5000;

/** What one range of blocks adds to the index. */
export interface IndexBatch {
  /** From `takeLead`. */
  readonly fence: bigint;
  readonly previousHead: BlockRef;
  readonly head: BlockRef;
  /** All above `previousHead` and up to `head`, any order. */
  readonly changes: readonly BalanceChange[];
  /** One for each wallet and day that was touched, in its final state. */
  readonly days: readonly BalanceDay[];
  /** Those of them, left out above, that certainly have no row yet: they are written in a cheaper way. */
  readonly newDays?: readonly BalanceDay[];
  /** The sum of all balances after the batch. */
  readonly total: bigint;
  /** To remember, for finding a fork; those below the finalised block are left out. */
  readonly blocks: readonly BlockRef[];
  readonly finalised?: BlockRef;
  readonly verifiedNumber?: bigint;
  /** The index is level with the chain. */
  readonly synced?: boolean;
}

interface LeadOptions {
  /** What the index must have been made with; default: anything. */
  readonly settings?: IndexSettings;
  /** A transaction of an earlier leader that is older and waits for its program is ended, not waited for. */
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
 * `fingerprint`: of the only index that is meant, or null. What is cached may be of blocks that were lost in a failover, so that the
 * generation is another one.
 */
const TAKE_LEAD = named<{ fingerprint: string | null }>(
  'index_take_lead',
  `UPDATE staking.index_state SET fence = fence + 1, generation = gen_random_uuid(), updated_at = now()
    WHERE fingerprint = coalesce(:fingerprint, fingerprint) RETURNING fence`,
);

/**
 * Ends the transactions that hold the state's row, are older and wait for their program: one that was stopped in the
 * middle of a COPY would wait for ever, no time limit of the session ends that.
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

/** Locks the row until the end of the transaction and tells whose it is. */
export const LOCK_STATE = named(
  'index_lock',
  `SELECT fence, head_number, encode(head_hash, 'hex') AS head_hash FROM staking.index_state FOR NO KEY UPDATE`,
);

const UPSERT_DAYS = named<Record<'wallets' | 'days' | 'lows' | 'closings', string>>(
  'index_days',
  `INSERT INTO staking.balance_day (wallet, day, low, closing)
    SELECT * FROM unnest(:wallets::bytea[], :days::int[], :lows::numeric[], :closings::numeric[])
    ON CONFLICT (wallet, day) DO UPDATE SET low = excluded.low, closing = excluded.closing`,
);

/**
 * The end of every commit, one statement: remembers blocks, forgets those below the finalised one and moves the head. A finalised
 * block that is older than the known one is ignored: a node behind the others reported it.
 */
const ADVANCE = named<Record<string, unknown>>(
  'index_advance',
  `WITH advanced AS (
      UPDATE staking.index_state SET
        head_number = :head, head_hash = decode(:headHash, 'hex'), head_seconds = :headSeconds, total = :total,
        finalised_number = CASE WHEN :final >= coalesce(finalised_number, :final) THEN :final ELSE finalised_number END,
        finalised_hash = CASE WHEN :final >= coalesce(finalised_number, :final) THEN decode(:finalHash, 'hex') ELSE finalised_hash END,
        finalised_seconds = CASE WHEN :final >= coalesce(finalised_number, :final) THEN :finalSeconds ELSE finalised_seconds END,
        verified_number = greatest(verified_number, :verified),
        synced_at = CASE WHEN :synced THEN now() ELSE synced_at END,
        updated_at = now()
      WHERE fence = :fence AND head_number = :previous AND head_hash = decode(:previousHash, 'hex')
      RETURNING finalised_number
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

/**
 * The index of staked balances as the indexer writes it. Every write is one transaction that holds the state's row, and is
 * refused where the caller no longer leads or the head is not the one it knows.
 */
export class IndexStore extends IndexReader {
  /** The index of this database: a new one, or the one that exists already, whatever its settings. */
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
   * The fence of the new leader; writes with an older one are refused from now on.
   * @throws SettingsChangedError where the index is of other settings, IndexMissingError; none is fenced out then
   */
  async takeLead({ settings, stalledMs = STALLED_MS }: LeadOptions = {}): Promise<bigint> {
    await this.database.query(END_STALLED({ stalledMs }));
    const fingerprint = settings ? fingerprintOf(settings) : null;
    const [row] = await this.database.transaction(async (client) => {
      // Two leaders with one fence could be, if it were missing after a failover; blocks can be.
      await client.query('SET LOCAL synchronous_commit = on');
      return run<{ fence: string }>(client, TAKE_LEAD({ fingerprint }));
    });
    if (row !== undefined) return BigInt(row.fence);
    const state = await this.state();
    if (state && settings) requireSameSettings(state, settings);
    throw new IndexMissingError();
  }

  /**
   * Adds one range of blocks.
   * @throws FencedError, HeadMovedError, PartitionAwaitedError, DatabaseRefusedError (rows that contradict the index),
   * DatabaseUnavailableError;
   * nothing is written then, except that after a DatabaseUnavailableError it may have been: read the state
   */
  async commit(batch: IndexBatch): Promise<void> {
    const { fence, previousHead, changes, days, newDays = [] } = batch;
    const work = async (client: PoolClient): Promise<void> => {
      await lock(client, fence, previousHead);
      if (changes.length > 0) await copyChanges(client, byWallet(changes));
      if (newDays.length > 0) await copyDays(client, byWallet(newDays));
      if (days.length > 0) await client.query(UPSERT_DAYS(dayArrays(byWallet(days))));
      await client.query(ADVANCE(advanceValues(batch)));
    };
    try {
      await this.database.transaction(work);
    } catch (error) {
      throw isBeyondPartition(error) ? new PartitionAwaitedError(error) : error;
    }
  }

  /**
   * Takes back everything above the block `to`; the days of the wallets concerned are worked out again.
   * @throws FencedError, HeadMovedError, DatabaseUnavailableError
   */
  async rollback(range: { fence: bigint; head: BlockRef; to: BlockRef }): Promise<Undone> {
    return this.database.transaction(async (client) => {
      await client.query(`SET LOCAL statement_timeout = '15min'`);
      await lock(client, range.fence, range.head);
      return rollBack(client, range.to);
    });
  }

  /** Notes that indexing has stopped, and why, for all who read the state. @throws FencedError */
  async halt(fence: bigint, reason: string): Promise<void> {
    const rows = await this.database.query(HALT({ fence, reason }));
    if (rows.length === 0) throw new FencedError();
  }

  /** @throws FencedError */
  async clearHalt(fence: bigint): Promise<void> {
    const rows = await this.database.query(CLEAR_HALT({ fence }));
    if (rows.length === 0) throw new FencedError();
  }
}

/** The check that a partition has while it gets its bound; see migrations/partitions.ts. */
function isBeyondPartition(error: unknown): boolean {
  if (!(error instanceof DatabaseRefusedError)) return false;
  return (error.cause as { constraint?: unknown }).constraint === 'below_next';
}

async function lock(client: PoolClient, fence: bigint, head: BlockRef): Promise<void> {
  const { rows } = await client.query<Record<'fence' | 'head_number' | 'head_hash', string>>(
    LOCK_STATE({}),
  );
  const [row] = rows;
  if (row === undefined) throw new IndexMissingError();
  if (BigInt(row.fence) !== fence) throw new FencedError();
  if (BigInt(row.head_number) !== head.number || hashOf(row.head_hash) !== head.hash) {
    throw new HeadMovedError(head);
  }
}

function advanceValues(batch: IndexBatch): Record<string, unknown> {
  const { fence, total, previousHead, head, finalised, blocks } = batch;
  return {
    fence,
    total,
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

function dayArrays(days: readonly BalanceDay[]) {
  return {
    wallets: byteaArray(days.map(({ wallet }) => wallet)),
    days: `{${days.map(({ day }) => day).join(',')}}`,
    lows: `{${days.map(({ low }) => low ?? 'NULL').join(',')}}`,
    closings: `{${days.map(({ closing }) => closing).join(',')}}`,
  };
}
