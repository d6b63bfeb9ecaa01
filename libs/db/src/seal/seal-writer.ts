/**
 * Seals days under the leader's fencing token: each day in one transaction, with the lists that proofs are made from.
 */
import { type PoolClient } from 'pg';
import { WALLET_BYTES } from '#libs/domain';
import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';
import { hexOf } from '../connection/rows.js';
import {
  type SealedContent,
  type SealedDay,
  SEALED_COLUMNS,
  sealedDayOf,
  type SealedDayRow,
  SealOutdatedError,
} from './sealed-day.js';
import { BY_DAY } from './sealed-day-store.js';
import { LEAVES_IN_CHUNK, NODES_IN_CHUNK } from './sealed-list-store.js';

/** The state of the index when the work on a day began. */
export interface IndexSnapshotRef {
  readonly fence: bigint;
  /** Index version. With another value, something indexed may have been taken back. */
  readonly generation: string;
}

export interface SealRequest {
  readonly basis: IndexSnapshotRef;
  readonly content: SealedContent;
  /** Given where proofs of the day are to be answered. They are kept until `forgetLists`. */
  readonly lists?: SealedLists | undefined;
}

/** The leaves and nodes of a day's tree, of which proofs are made. */
export interface SealedLists {
  /** The leaves in the order of the wallets, `size` at a time. Each part is valid until the next one. */
  leaves(size: number): Iterable<SealedLeaves>;
  /** The nodes, 32 bytes each and the root first, `size` at a time. */
  nodes(size: number): Iterable<Buffer>;
}

export interface SealedLeaves {
  /** Entries of 20 bytes of wallet and 32 bytes of low. */
  readonly leaves: Buffer;
  /** The index of each leaf among the nodes. */
  readonly indices: Uint32Array;
}

/**
 * - `sealed`: the day is sealed for the first time;
 * - `revised`: the day came out differently and has a new revision;
 * - `same`: nothing was written.
 */
export interface SealOutcome {
  readonly kind: 'sealed' | 'revised' | 'same';
  readonly sealed: SealedDay;
}

const BASIS = named<{ fence: bigint }>(
  'seal_basis',
  'SELECT generation FROM staking.index_state WHERE fence = :fence',
);

const INSERT = named<Record<string, unknown>>(
  'seal_insert',
  `INSERT INTO staking.sealed_day AS s (day, revision, root, wallets, total, block_number, block_hash, software, previous_root)
    VALUES (:day, :revision, decode(:root, 'hex'), :wallets, :total, :block, decode(:hash, 'hex'), :software, decode(:previous, 'hex'))
    RETURNING ${SEALED_COLUMNS}`,
);

const INSERT_LEAVES = named<Record<string, unknown>>(
  'seal_leaves',
  `INSERT INTO staking.sealed_leaves (day, revision, chunk, first_wallet, leaves, indices)
    VALUES (:day, :revision, :chunk, :first, :leaves, :indices)`,
);

const INSERT_NODES = named<Record<string, unknown>>(
  'seal_nodes',
  `INSERT INTO staking.sealed_nodes (day, revision, chunk, nodes) VALUES (:day, :revision, :chunk, :nodes)`,
);

/** Locks the state's row, so that there is no rollback and no new leader between this check and the commit. */
const STILL_HOLDS = named<{ fence: bigint; generation: string; block: bigint }>(
  'seal_still_holds',
  `SELECT FROM staking.index_state WHERE fence = :fence AND generation = :generation::uuid AND halted_at IS NULL
    AND finalised_number > :block AND verified_number > :block AND head_number > :block FOR SHARE`,
);

/** Worked out again, the day is certain. */
const SETTLE = named<{ day: number }>(
  'seal_settle',
  'DELETE FROM staking.doubtful_day WHERE day = :day',
);

const FORGET_LISTS = ['sealed_leaves', 'sealed_nodes'].map((table) =>
  named<{ before: number; fence: bigint }>(
    `seal_forget_${table}`,
    `DELETE FROM staking.${table} t WHERE EXISTS (SELECT FROM staking.index_state WHERE fence = :fence)
      AND (t.day < :before OR t.revision < (SELECT max(revision) FROM staking.sealed_day s WHERE s.day = t.day))`,
  ),
);

/** An earlier day that a rollback has noted since then stays. */
const RECHECKED = named<{ from: number; next: number }>(
  'seal_rechecked',
  'UPDATE staking.seal_recheck SET from_day = :next WHERE from_day = :from',
);

const RECHECK_ENDED = named<{ from: number }>(
  'seal_recheck_ended',
  'DELETE FROM staking.seal_recheck WHERE from_day = :from',
);

const RECHECK = named<{ day: number }>(
  'seal_recheck',
  `INSERT INTO staking.seal_recheck AS noted (from_day) VALUES (:day)
    ON CONFLICT (only_row) DO UPDATE SET from_day = least(noted.from_day, excluded.from_day)`,
);

export class SealWriter {
  constructor(private readonly database: Database) {}

  /** The basis for the work on a day; undefined where another process is the leader. */
  async basis(fence: bigint): Promise<IndexSnapshotRef | undefined> {
    const [row] = await this.database.query<{ generation: string }>(BASIS({ fence }));
    return row && { fence, generation: row.generation };
  }

  /**
   * Seals a day, or writes a new revision of a sealed day that came out differently.
   * @throws SealOutdatedError where the index has changed since `basis`, or is not final and verified beyond the day's
   * last block; DatabaseUnavailableError, DatabaseRefusedError. Nothing is written in these cases.
   */
  async seal({ basis, content, lists }: SealRequest): Promise<SealOutcome> {
    const { day, block } = content;
    return this.database.transaction(async (client) => {
      const [row] = await run<SealedDayRow>(client, BY_DAY({ day }));
      const before = row && sealedDayOf(row);
      const isSame = before?.root === content.root && before.blockHash === block.hash;
      const sealed = isSame ? before : await insert(client, content, before);
      if (!isSame && lists !== undefined) await insertLists(client, sealed, lists);
      await client.query(SETTLE({ day }));
      // The lock comes last, so that the index can be written until then.
      const holds = await run(client, STILL_HOLDS({ ...basis, block: block.number }));
      if (holds.length === 0) throw new SealOutdatedError(day);
      const kind = isSame ? 'same' : before === undefined ? 'sealed' : 'revised';
      return { kind, sealed };
    });
  }

  /** Deletes the lists of days before `before`, and those of older revisions. */
  async forgetLists(fence: bigint, before: number): Promise<void> {
    for (const forget of FORGET_LISTS) await this.database.query(forget({ fence, before }));
  }

  /** Records that sealed days have to be calculated again, from this one on. */
  async recheck(day: number): Promise<void> {
    await this.database.query(RECHECK({ day }));
  }

  /**
   * Records which of the sealed days from `from` on have been calculated again: those before `next`.
   * @param next absent: all days
   */
  async rechecked(from: number, next?: number): Promise<void> {
    await this.database.query(
      next === undefined ? RECHECK_ENDED({ from }) : RECHECKED({ from, next }),
    );
  }
}

async function insert(
  client: PoolClient,
  content: SealedContent,
  before: SealedDay | undefined,
): Promise<SealedDay> {
  const { block, root, ...columns } = content;
  const values = {
    ...columns,
    revision: (before?.revision ?? 0) + 1,
    root: hexOf(root),
    block: block.number,
    hash: hexOf(block.hash),
    previous: before ? hexOf(before.root) : null,
  };
  const [row] = await run<SealedDayRow>(client, INSERT(values));
  if (row === undefined) throw new Error('an insert returns its row');
  return sealedDayOf(row);
}

async function insertLists(
  client: PoolClient,
  { day, revision }: SealedDay,
  lists: SealedLists,
): Promise<void> {
  let chunk = 0;
  for (const { leaves, indices } of lists.leaves(LEAVES_IN_CHUNK)) {
    const first = leaves.subarray(0, WALLET_BYTES);
    const values = { day, revision, chunk, first, leaves, indices: bigEndian(indices) };
    await run(client, INSERT_LEAVES(values));
    chunk += 1;
  }
  chunk = 0;
  for (const nodes of lists.nodes(NODES_IN_CHUNK)) {
    await run(client, INSERT_NODES({ day, revision, chunk, nodes }));
    chunk += 1;
  }
}

function bigEndian(numbers: Uint32Array): Buffer {
  const bytes = Buffer.alloc(numbers.length * 4);
  for (const [place, number] of numbers.entries()) bytes.writeUInt32BE(number, place * 4);
  return bytes;
}
