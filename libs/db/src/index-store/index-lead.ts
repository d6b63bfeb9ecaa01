/**
 * Who writes the index: each leader gets a fencing token, larger than those before it, and every write locks the state's
 * row and compares the token.
 */
import { type PoolClient } from 'pg';
import { type BlockRef } from '#libs/domain';
import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';
import { hashOf } from '../connection/rows.js';
import {
  FencedError,
  fingerprintOf,
  IndexMissingError,
  type IndexSettings,
  StaleHeadError,
} from './index-state.js';

/**
 * Milliseconds: shorter than the silence after which another process may take the lead, longer than a live program
 * leaves a transaction idle.
 */
const STALLED_MS = 5000;
export interface LeadOptions {
  /** The settings that the index must have been made with. Default: any. */
  readonly settings?: IndexSettings;
  /**
   * Milliseconds. An earlier leader's transaction that is older than this and waits for its program
   * is ended. Default: 5 s.
   */
  readonly stalledMs?: number;
}

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

/** @returns the fencing token; undefined if there is no index, or one with other settings */
export async function takeLead(
  database: Database,
  { settings, stalledMs = STALLED_MS }: LeadOptions,
): Promise<bigint | undefined> {
  await database.query(END_STALLED({ stalledMs }));
  const fingerprint = settings ? fingerprintOf(settings) : null;
  const [row] = await database.transaction(async (client) => {
    // A failover may lose blocks, but not the fencing token: otherwise two leaders could get the same token.
    await client.query('SET LOCAL synchronous_commit = on');
    return run<{ fence: string }>(client, TAKE_LEAD({ fingerprint }));
  });
  return row && BigInt(row.fence);
}

/** @throws FencedError */
export async function halt(database: Database, fence: bigint, reason: string): Promise<void> {
  const rows = await database.query(HALT({ fence, reason }));
  if (rows.length === 0) throw new FencedError();
}

/** @throws FencedError */
export async function clearHalt(database: Database, fence: bigint): Promise<void> {
  const rows = await database.query(CLEAR_HALT({ fence }));
  if (rows.length === 0) throw new FencedError();
}

/** Locks the state for a write. @throws FencedError, StaleHeadError, IndexMissingError */
export async function lockState(client: PoolClient, fence: bigint, head: BlockRef): Promise<void> {
  const [row] = await run<LockedState>(client, LOCK_STATE({}));
  if (row === undefined) throw new IndexMissingError();
  if (BigInt(row.fence) !== fence) throw new FencedError();
  if (BigInt(row.head_number) !== head.number || hashOf(row.head_hash) !== head.hash) {
    throw new StaleHeadError(head);
  }
}
