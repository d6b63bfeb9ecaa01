/** A run of the floor as a separate program on an empty database, and the comparison with the indexer's rows. */
import { join } from 'node:path';
import type pg from 'pg';
import { type RunPlace } from '../providers/runs.js';
import { Program } from '../support/program.js';
import { type FloorTask } from './floor.program.js';

export interface Run {
  /** Time from the start of the process until the rows of the newest block are committed. */
  readonly seconds: number;
  readonly peakMebibytes: number;
  readonly cpuSeconds: number;
}

const POLL_MS = 20;
/** About the size of the indexer's own ranges; larger ranges were not faster. */
const FLOOR_RANGE_BLOCKS = 100;

export async function runFloor({ chain, urls, databaseUrl, folder }: RunPlace): Promise<Run> {
  const task: FloorTask = {
    rpcUrl: urls[0] ?? '',
    databaseUrl,
    contract: chain.contracts.staking,
    topics: chain.contracts.topics,
    head: chain.head,
    rangeBlocks: FLOOR_RANGE_BLOCKS,
  };
  const program = Program.start(join(import.meta.dirname, 'floor.program.js'), {
    args: [JSON.stringify(task)],
    logFile: join(folder, 'floor.log'),
  });
  let seen = { peakMebibytes: 0, cpuSeconds: 0 };
  const timer = setInterval(() => {
    seen = {
      peakMebibytes: program.peakMebibytes() ?? seen.peakMebibytes,
      cpuSeconds: program.cpuSeconds(),
    };
  }, POLL_MS);
  const code = await program.ended.finally(() => {
    clearInterval(timer);
  });
  const seconds = (performance.now() - program.startedAtMs) / 1000;
  if (code !== 0) throw new Error(`the floor failed:\n${program.tail()}`);
  return { seconds, ...seen };
}

export interface WrittenRows {
  readonly changes: number;
  readonly days: number;
}

/** Compares the rows of both programs: the floor counts only where it wrote the same rows as the indexer. */
export async function requireSameRows(client: pg.Client): Promise<WrittenRows> {
  const { rows } = await client.query<WrittenRows & { differences: number }>(`SELECT
    (SELECT count(*)::int FROM staking.balance_change a FULL JOIN bench.balance_change b USING (wallet, block, seconds, balance)
      WHERE a.wallet IS NULL OR b.wallet IS NULL) AS differences,
    (SELECT count(*)::int FROM staking.balance_change) AS changes,
    (SELECT count(*)::int FROM staking.balance_day) AS days`);
  const [found] = rows;
  if (found?.differences !== 0)
    throw new Error(`${String(found?.differences)} rows of the indexer and the floor differ`);
  return found;
}
