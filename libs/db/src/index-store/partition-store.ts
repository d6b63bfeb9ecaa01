/** Adds partitions to the large tables of the index; see docs/decisions/0016-partitions-by-time.md. */
import { type Database, run } from '../connection/database.js';
import { isRefusal } from '../connection/database.error.js';
import { named } from '../connection/named.js';
import { FencedError } from './index-state.js';

export const PARTITIONED_TABLES = ['balance_change', 'balance_day'] as const;

type PartitionedTable = (typeof PARTITIONED_TABLES)[number];

/** The results of the SQL function `next_partition`. */
type PartitionStep = 'none' | 'bounded' | 'validated' | 'added' | 'fenced' | 'refused';

/**
 * - `small`: no further partition is needed;
 * - `added`: one partition was added;
 * - `busy`: a long transaction uses the table, so the caller tries again later;
 * - `refused`: the table has rows that no program can have written.
 */
export type PartitionOutcome = 'small' | 'added' | 'busy' | 'refused';

const NEXT = named<{ table: PartitionedTable; fence: bigint }>(
  'index_next_partition',
  'SELECT staking.next_partition(:table, :fence) AS step',
);

/** One step may read all rows of the newest partition. */
const STEP_TIMEOUT_MS = 15 * 60_000;

export class PartitionStore {
  constructor(private readonly database: Database) {}

  /**
   * Adds a partition to each table whose newest one is large, and completes a partition that another program left
   * unfinished. Other programs go on to read and write the tables meanwhile.
   * @throws FencedError, DatabaseUnavailableError, DatabaseRefusedError
   */
  async extend(fence: bigint): Promise<Record<PartitionedTable, PartitionOutcome>> {
    const [changes, days] = PARTITIONED_TABLES;
    return { [changes]: await this.next(changes, fence), [days]: await this.next(days, fence) };
  }

  private async next(table: PartitionedTable, fence: bigint): Promise<PartitionOutcome> {
    for (;;) {
      const step = await this.step(table, fence);
      if (step === 'fenced') throw new FencedError();
      if (step === 'none') return 'small';
      if (step === 'added' || step === 'busy' || step === 'refused') return step;
    }
  }

  private async step(table: PartitionedTable, fence: bigint): Promise<PartitionStep | 'busy'> {
    try {
      return await this.database.transaction(async (client) => {
        const [row] = await run<{ step: PartitionStep }>(client, NEXT({ table, fence }));
        return row?.step ?? 'none';
      }, STEP_TIMEOUT_MS);
    } catch (error) {
      if (isRefusal(error, 'lock_not_available')) return 'busy';
      throw error;
    }
  }
}
