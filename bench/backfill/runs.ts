/** A run of the floor and a run of the indexer, each as a separate program on an empty database. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { parseStakeEvents } from '#libs/chain';
import { Program } from '../support/program.js';
import { Progress } from '../support/progress.js';
import { type BenchChain } from './cached-chain.js';
import { type FloorTask } from './floor.program.js';

export interface Run {
  /** Time from the start of the process until the rows of the newest block are committed. */
  readonly seconds: number;
  readonly peakMebibytes: number;
  readonly cpuSeconds: number;
}

export interface Place {
  readonly databaseUrl: string;
  readonly client: pg.Client;
  readonly logFile: string;
  readonly nodeOptions: readonly string[];
}

const POLL_MS = 20;
/** After this time without a new block the run fails. */
const STALL_MS = 60_000;
/** About the size of the indexer's own ranges; larger ranges were not faster. */
const FLOOR_RANGE_BLOCKS = 100;

export async function runFloor(
  { chain, contracts, head }: BenchChain,
  { databaseUrl, logFile }: Place,
): Promise<Run> {
  const [increase, decrease] = parseStakeEvents('staked-withdrawn');
  const task: FloorTask = {
    rpcUrl: chain.url,
    databaseUrl,
    contract: contracts.staking,
    topics: { increase: increase?.topic0 ?? '', decrease: decrease?.topic0 ?? '' },
    head: Number(head),
    rangeBlocks: FLOOR_RANGE_BLOCKS,
  };
  const program = Program.start(join(import.meta.dirname, 'floor.program.js'), {
    args: [JSON.stringify(task)],
    logFile,
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

export async function runIndexer(
  { chain, contracts, head }: BenchChain,
  { databaseUrl, client, logFile, nodeOptions }: Place,
): Promise<Run> {
  const main = join(import.meta.dirname, '..', '..', 'apps', 'indexer', 'src', 'main.js');
  const program = Program.start(main, {
    logFile,
    nodeOptions,
    environment: {
      DATABASE_URL: databaseUrl,
      RPC_URLS: chain.url,
      CHAIN_ID: String(chain.chainId),
      STAKE_CONTRACT: contracts.staking,
      STAKE_START_BLOCK: String(contracts.startBlock),
      TOKEN_CONTRACT: contracts.token,
      INDEXER_PORT: '0',
      INDEXER_HOST: '127.0.0.1',
      // A chain loaded from a file has the state of its newest block only, so the index can be compared with the
      // contract's total only there.
      FINALITY: 'depth:1',
    },
  });
  try {
    await untilIndexed(program, client, head);
    const seconds = (performance.now() - program.startedAtMs) / 1000;
    const peakMebibytes = program.peakMebibytes() ?? 0;
    return { seconds, peakMebibytes, cpuSeconds: program.cpuSeconds() };
  } finally {
    await program.stop();
  }
}

async function untilIndexed(program: Program, client: pg.Client, head: bigint): Promise<void> {
  const progress = new Progress('indexing', Number(head));
  let last = { head: '', atMs: performance.now() };
  for (;;) {
    program.requireRunning();
    const { rows } = await client.query<{ head: string; halted: string | null }>(
      'SELECT head_number AS head, halted_reason AS halted FROM staking.index_state',
    );
    const [state] = rows;
    if (state?.halted) throw new Error(`the indexer halted: ${state.halted}`);
    if (state && BigInt(state.head) >= head) return;
    progress.at(Number(state?.head ?? 0));
    const now = performance.now();
    if (state && state.head !== last.head) last = { head: state.head, atMs: now };
    if (now - last.atMs > STALL_MS)
      throw new Error(`the indexer stands at block ${last.head}:\n${program.tail()}`);
    await sleep(POLL_MS);
  }
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
