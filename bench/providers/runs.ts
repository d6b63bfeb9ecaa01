/** A run of the floor and a run of the indexer against the same providers, each as a separate program. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { priceOf, type ReplayChain } from '../replay/index.js';
import { Program } from '../support/program.js';
import { Progress, say } from '../support/progress.js';
import { type FloorTask } from './floor.program.js';

export interface RunPlace {
  readonly chain: ReplayChain;
  readonly urls: readonly string[];
  readonly databaseUrl: string;
  readonly client: pg.Client;
  readonly folder: string;
  /** Options of Node for the indexer, such as --cpu-prof. */
  readonly nodeOptions?: readonly string[];
}

export interface TimedRun {
  /** Time of `performance.now()`. */
  readonly startedAtMs: number;
  /** Time from the start of the process until the rows are committed. */
  readonly seconds: number;
}

export interface IndexerRun extends TimedRun {
  /**
   * `synced`: all rows are stored and verified. `stopped`: the indexer halted or ended. `unfinished`: the time limit
   * passed.
   */
  readonly outcome: 'synced' | 'stopped' | 'unfinished';
  readonly head: number;
  readonly reason: string;
  readonly peakMebibytes: number;
  readonly cpuSeconds: number;
}

const POLL_MS = 50;
const SAY_EVERY_MS = 3000;
/** A halt that lasts this long counts as final, since the indexer revokes a halt that it finds to be wrong. */
const HALT_MS = 10_000;
const TOTAL_STAKED = '0x817b1cd2';
/** Topic 1 of an event of pool 0. */
const POOL_ZERO = `0x${'0'.repeat(64)}`;
const RANGE_BLOCKS = 2000;
/** A range of this size on a busy chain is about 5 MB. */
const DENSE_RANGE_BLOCKS = 100;

export interface FloorLimits {
  readonly rangeCap?: number | undefined;
  readonly unitsPerSecond?: number | undefined;
}

export async function runFloor(place: RunPlace, limits: FloorLimits): Promise<TimedRun> {
  const program = Program.start(join(import.meta.dirname, 'floor.program.js'), {
    args: [JSON.stringify(floorTask(place, limits))],
    logFile: join(place.folder, 'floor.log'),
  });
  const timer = setInterval(() => {
    say(`  floor: ${Math.round(secondsSince(program))} s`);
  }, SAY_EVERY_MS);
  const code = await program.ended.finally(() => {
    clearInterval(timer);
  });
  if (code !== 0) throw new Error(`the floor failed:\n${program.tail()}`);
  return { startedAtMs: program.startedAtMs, seconds: secondsSince(program) };
}

function floorTask({ chain, urls, databaseUrl }: RunPlace, limits: FloorLimits): FloorTask {
  const { shape, contracts, head } = chain;
  const { increase, decrease } = contracts.topics;
  const isSimple = shape.contract === 'simple';
  const fitting = shape.events > shape.blocks ? DENSE_RANGE_BLOCKS : RANGE_BLOCKS;
  const { rangeCap = Infinity, unitsPerSecond } = limits;
  return {
    urls,
    databaseUrl,
    contract: contracts.staking,
    topics: [[increase, decrease], ...(isSimple ? [] : [POOL_ZERO])],
    increase,
    walletAt: isSimple ? 1 : 2,
    ...(isSimple && { total: TOTAL_STAKED }),
    head,
    rangeBlocks: Math.min(fitting, rangeCap),
    ...(unitsPerSecond !== undefined && {
      budget: {
        unitsPerSecond,
        logsPrice: priceOf('eth_getLogs'),
        headerPrice: priceOf('eth_getBlockByNumber'),
        viewPrice: priceOf('eth_call'),
      },
    }),
  };
}

/** The balance view for the pool by which the events are filtered. */
const USER_INFO = JSON.stringify({
  function: 'function userInfo(uint256 pid, address user) returns (uint256 amount, uint256 debt)',
  arguments: { pid: 0 },
  output: 'amount',
});

/** Starts the indexer on the providers, with `settings` added to the required ones. */
export function startIndexer(
  { chain, urls, databaseUrl, folder, nodeOptions = [] }: Omit<RunPlace, 'client'>,
  settings: Readonly<Record<string, string>>,
): Program {
  const { staking, token, stakeEvents } = chain.contracts;
  const isFile = stakeEvents.startsWith('[');
  const file = join(folder, 'stake-events.json');
  if (isFile) writeFileSync(file, `{"events":${stakeEvents},"balanceView":${USER_INFO}}`);
  return Program.start('dist/apps/indexer/src/main.js', {
    logFile: join(folder, 'indexer.log'),
    // As docker-compose.yml starts it, with the heap limit that Node derives from the container's memory limit of 1 GiB.
    nodeOptions: ['--max-semi-space-size=32', '--max-old-space-size=512', ...nodeOptions],
    environment: {
      DATABASE_URL: databaseUrl,
      RPC_URLS: urls.join(),
      CHAIN_ID: String(chain.chainId),
      STAKE_CONTRACT: staking,
      STAKE_START_BLOCK: '1',
      STAKE_EVENTS: isFile ? file : stakeEvents,
      TOKEN_CONTRACT: token,
      INDEXER_PORT: '0',
      LISTEN_HOST: '127.0.0.1',
      // As in the image.
      MALLOC_ARENA_MAX: '2',
      MALLOC_MMAP_THRESHOLD_: '4194304',
      ...settings,
    },
  });
}

interface State {
  readonly head: number;
  readonly halted: string | null;
  readonly synced: boolean;
}

/** @param limitSeconds after this time the indexer is stopped and reported as unfinished */
export async function runIndexer(
  place: RunPlace,
  settings: Readonly<Record<string, string>>,
  limitSeconds: number,
): Promise<IndexerRun> {
  const program = startIndexer(place, settings);
  let run: IndexerRun;
  try {
    run = await untilSynced(program, place, limitSeconds);
  } finally {
    await program.stop();
  }
  // The head is read after the stop, since the indexer finishes its current write when it is stopped.
  return { ...run, head: (await readState(place.client)).head };
}

async function untilSynced(
  program: Program,
  { client, chain }: RunPlace,
  limitSeconds: number,
): Promise<IndexerRun> {
  const progress = new Progress('indexer', chain.head);
  let peakMebibytes = 0;
  let cpuSeconds = 0;
  let state: State = { head: 0, halted: null, synced: false };
  let haltedAtMs: number | undefined;
  for (;;) {
    const seconds = secondsSince(program);
    const run = { startedAtMs: program.startedAtMs, seconds, peakMebibytes, cpuSeconds };
    if (program.hasEnded)
      return { ...run, head: state.head, outcome: 'stopped', reason: lastLine(program.tail()) };
    peakMebibytes = program.peakMebibytes() ?? peakMebibytes;
    cpuSeconds = program.cpuSeconds();
    state = await readState(client);
    const { head } = state;
    if (state.synced && head >= chain.head) return { ...run, head, outcome: 'synced', reason: '' };
    if (state.halted === null) haltedAtMs = undefined;
    else haltedAtMs ??= performance.now();
    if (haltedAtMs !== undefined && performance.now() - haltedAtMs > HALT_MS)
      return { ...run, head, outcome: 'stopped', reason: state.halted ?? '' };
    if (seconds > limitSeconds) return { ...run, head, outcome: 'unfinished', reason: '' };
    progress.at(head);
    await sleep(POLL_MS);
  }
}

export async function readState(client: pg.Client): Promise<State> {
  const { rows } = await client.query<{ head: string; halted: string | null; synced: boolean }>(
    'SELECT head_number AS head, halted_reason AS halted, synced_at IS NOT NULL AS synced FROM staking.index_state',
  );
  const [row] = rows;
  return row ? { ...row, head: Number(row.head) } : { head: 0, halted: null, synced: false };
}

function secondsSince(program: Program): number {
  return (performance.now() - program.startedAtMs) / 1000;
}

function lastLine(text: string): string {
  return text.split('\n').at(-1)?.slice(0, 200) ?? '';
}
