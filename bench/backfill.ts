/**
 * How fast the indexer takes in a history, beside the floor: the least that writes the same rows (backfill/floor.program.ts).
 * Both run as programs of their own, in turn, on the same local chain and the same PostgreSQL with default durability; time
 * counts from the start of the process until the rows of the newest block are committed. Afterwards their rows are compared.
 *
 *   npm run bench -- backfill [--events 200000,1000000] [--runs 3,1] [--events-per-block 100] [--wallets 20000]
 *     [--profile FOLDER] writes a CPU profile of the indexer
 *     [--statements yes] shows what the indexer's statements cost the database
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { parseStakeEvents } from '#libs/chain';
import { type BenchChain, cachedChain } from './backfill/cached-chain.js';
import { type FloorTask } from './backfill/floor.program.js';
import { BenchServer, printStatements, STATEMENT_STATISTICS } from './support/bench-database.js';
import { count, fixed, median, table } from './support/figures.js';
import { numberOf, numbersOf, readOptions } from './support/options.js';
import { cpuSeconds, Program } from './support/program.js';
import { Progress, say } from './support/progress.js';

const CACHE = join('.data', 'bench');
const POLL_MS = 20;
/** Longer without a new block means that something is wrong. */
const STALL_MS = 60_000;
/** About as large as the indexer's own ranges; larger ones were not faster. */
const FLOOR_RANGE_BLOCKS = 100;

interface Run {
  readonly seconds: number;
  readonly peakMebibytes: number;
  readonly cpuSeconds: number;
}

/** A run with the CPU time that it made the others take. */
interface WholeRun extends Run {
  readonly databaseSeconds: number;
  readonly nodeSeconds: number;
}

interface Place {
  readonly databaseUrl: string;
  readonly client: pg.Client;
  readonly logFile: string;
  readonly nodeOptions: readonly string[];
}

const options = readOptions({
  events: '200000,1000000',
  runs: '3,1',
  'events-per-block': '100',
  wallets: '20000',
  profile: '',
  statements: 'no',
});

async function main(): Promise<void> {
  const server = await BenchServer.start(options.statements === 'yes' ? STATEMENT_STATISTICS : {});
  try {
    const runs = numbersOf(options.runs);
    const rows: string[][] = [];
    for (const [index, events] of numbersOf(options.events).entries())
      rows.push(...(await measure(server, events, runs[index] ?? runs.at(-1) ?? 1)));
    table(
      [
        ...['', 'seconds', 'events/s', 'x floor', 'µs/event', 'CPU s', 'database', 'chain'],
        ...['peak MiB', 'changes', 'days'],
      ],
      rows,
    );
  } finally {
    await server.stop();
  }
}

async function measure(server: BenchServer, events: number, rounds: number): Promise<string[][]> {
  const blocks = Math.ceil(events / numberOf(options['events-per-block']));
  const wallets = numberOf(options.wallets);
  const { chain, contracts, head } = await cachedChain(CACHE, { events, blocks, wallets });
  const floors: WholeRun[] = [];
  const indexers: WholeRun[] = [];
  let size = { changes: 0, days: 0 };
  try {
    for (let round = 0; round < rounds; round += 1) {
      await server.withDatabase(async (databaseUrl, client) => {
        const place = (name: string, nodeOptions: readonly string[] = []): Place => ({
          databaseUrl,
          client,
          logFile: join(CACHE, `${name}.log`),
          nodeOptions,
        });
        const nodeOptions =
          options.profile === '' ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profile}`];
        const whole = async (run: Promise<Run>): Promise<WholeRun> => {
          const before = { database: server.cpuSeconds(), node: cpuSeconds(chain.pid) };
          return {
            ...(await run),
            databaseSeconds: server.cpuSeconds() - before.database,
            nodeSeconds: cpuSeconds(chain.pid) - before.node,
          };
        };
        floors.push(await whole(runFloor({ chain, contracts, head }, place('floor'))));
        if (options.statements === 'yes')
          await client.query(
            'CREATE EXTENSION IF NOT EXISTS pg_stat_statements; SELECT pg_stat_statements_reset()',
          );
        indexers.push(
          await whole(runIndexer({ chain, contracts, head }, place('indexer', nodeOptions))),
        );
        if (options.statements === 'yes') await printStatements(client);
        size = await requireSameRows(client);
      });
      const [floor, indexer] = [floors.at(-1)?.seconds ?? 0, indexers.at(-1)?.seconds ?? 0];
      say(
        `${count(events)} events, run ${round + 1}: floor ${fixed(floor)} s, indexer ${fixed(indexer)} s, x ${fixed(indexer / floor)}`,
      );
    }
  } finally {
    await chain.stop();
  }
  const base = median(floors.map(({ seconds }) => seconds));
  return [
    row(`floor, ${count(events)} events`, floors, { events, base, size }),
    row(`indexer, ${count(events)} events`, indexers, { events, base, size }),
  ];
}

function row(
  name: string,
  runs: readonly WholeRun[],
  { events, base, size }: { events: number; base: number; size: { changes: number; days: number } },
): string[] {
  const seconds = median(runs.map((run) => run.seconds));
  return [
    name,
    fixed(seconds),
    count(events / seconds),
    fixed(seconds / base),
    fixed((seconds / events) * 1e6, 1),
    fixed(median(runs.map((run) => run.cpuSeconds))),
    fixed(median(runs.map((run) => run.databaseSeconds))),
    fixed(median(runs.map((run) => run.nodeSeconds))),
    count(Math.max(...runs.map((run) => run.peakMebibytes))),
    count(size.changes),
    count(size.days),
  ];
}

async function runFloor(
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
  const program = Program.start(join(import.meta.dirname, 'backfill', 'floor.program.js'), {
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

async function runIndexer(
  { chain, contracts, head }: BenchChain,
  { databaseUrl, client, logFile, nodeOptions }: Place,
): Promise<Run> {
  const main = join(import.meta.dirname, '..', 'apps', 'indexer', 'src', 'main.js');
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
      // A chain from a file has the newest block's state only: it alone can be compared with the contract's total.
      FINALITY: 'depth:1',
    },
  });
  const progress = new Progress('indexing', Number(head));
  let last = { head: '', atMs: performance.now() };
  try {
    for (;;) {
      program.requireRunning();
      const { rows } = await client.query<{ head: string; halted: string | null }>(
        'SELECT head_number AS head, halted_reason AS halted FROM staking.index_state',
      );
      const [state] = rows;
      if (state?.halted) throw new Error(`the indexer halted: ${state.halted}`);
      if (state && BigInt(state.head) >= head) break;
      progress.at(Number(state?.head ?? 0));
      const now = performance.now();
      if (state && state.head !== last.head) last = { head: state.head, atMs: now };
      if (now - last.atMs > STALL_MS)
        throw new Error(`the indexer stands at block ${last.head}:\n${program.tail()}`);
      await sleep(POLL_MS);
    }
    const seconds = (performance.now() - program.startedAtMs) / 1000;
    return {
      seconds,
      peakMebibytes: program.peakMebibytes() ?? 0,
      cpuSeconds: program.cpuSeconds(),
    };
  } finally {
    await program.stop();
  }
}

/** The floor is a floor of the same work only where it wrote the same rows. */
async function requireSameRows(client: pg.Client): Promise<{ changes: number; days: number }> {
  const { rows } = await client.query<{
    differences: number;
    changes: number;
    days: number;
  }>(`SELECT
    (SELECT count(*)::int FROM staking.balance_change FULL JOIN bench.balance_change b USING (wallet, block, seconds, balance)
      WHERE b.wallet IS NULL OR balance_change.wallet IS NULL) AS differences,
    (SELECT count(*)::int FROM staking.balance_change) AS changes,
    (SELECT count(*)::int FROM staking.balance_day) AS days`);
  const [found] = rows;
  if (found?.differences !== 0)
    throw new Error(`${String(found?.differences)} rows of the indexer and the floor differ`);
  return found;
}

await main();
