/**
 * The speed at which the indexer reads a history, compared with the floor: the minimal program that writes the same
 * rows (backfill/floor.program.ts). Both run in turn as separate programs on the same local chain and the same
 * PostgreSQL with default durability. The time counts from the start of the process until the rows of the newest block
 * are committed. Afterwards the rows of both are compared.
 *
 *   npm run bench -- backfill [--events 100000,200000,1000000] [--runs 3,3,3] [--events-per-block 100]
 *     [--wallets 20000]
 *     [--profile FOLDER]   writes a CPU profile of the indexer
 *     [--statements yes]   shows the cost of the indexer's statements in the database
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type BenchChain, cachedChain } from './backfill/cached-chain.js';
import {
  type Place,
  requireSameRows,
  type Run,
  runFloor,
  runIndexer,
  type WrittenRows,
} from './backfill/runs.js';
import { BenchServer, printStatements, STATEMENT_STATISTICS } from './support/bench-database.js';
import { count, fixed, median, table } from './support/figures.js';
import { numberOf, numbersOf, readOptions } from './support/options.js';
import { cpuSeconds } from './support/program.js';
import { say } from './support/progress.js';

const CACHE = join('.data', 'bench');

const options = readOptions({
  events: '100000,200000,1000000',
  runs: '3',
  'events-per-block': '100',
  wallets: '20000',
  profile: '',
  statements: 'no',
});

/** A run, with the CPU time that the database and the chain used meanwhile. */
interface WholeRun extends Run {
  readonly databaseSeconds: number;
  readonly chainSeconds: number;
}

interface Round {
  readonly floor: WholeRun;
  readonly indexer: WholeRun;
  readonly rows: WrittenRows;
}

interface Size {
  readonly events: number;
  readonly rounds: readonly Round[];
}

async function main(): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const server = await BenchServer.start(options.statements === 'yes' ? STATEMENT_STATISTICS : {});
  try {
    const runs = numbersOf(options.runs);
    const sizes: Size[] = [];
    for (const [index, events] of numbersOf(options.events).entries())
      sizes.push(await measure(server, events, runs[index] ?? runs.at(-1) ?? 1));
    print(sizes);
  } finally {
    await server.stop();
  }
}

async function measure(server: BenchServer, events: number, runs: number): Promise<Size> {
  const blocks = Math.ceil(events / numberOf(options['events-per-block']));
  const wallets = numberOf(options.wallets);
  const chain = await cachedChain(CACHE, { events, blocks, wallets });
  const rounds: Round[] = [];
  try {
    while (rounds.length < runs) {
      // The order alternates, so that the after-effects of one program do not always slow down the other.
      const round = await measureRound(server, chain, rounds.length % 2 === 0);
      rounds.push(round);
      const [floor, indexer] = [round.floor.seconds, round.indexer.seconds];
      say(
        `${count(events)} events, run ${rounds.length}: floor ${fixed(floor)} s, indexer ${fixed(indexer)} s, x ${fixed(indexer / floor)}`,
      );
    }
  } finally {
    await chain.chain.stop();
  }
  return { events, rounds };
}

function measureRound(server: BenchServer, chain: BenchChain, floorFirst: boolean): Promise<Round> {
  return server.withDatabase(async (databaseUrl, client) => {
    const place = (name: string, nodeOptions: readonly string[] = []): Place => ({
      databaseUrl,
      client,
      logFile: join(CACHE, `${name}.log`),
      nodeOptions,
    });
    const whole = async (run: () => Promise<Run>): Promise<WholeRun> => {
      const before = { database: server.cpuSeconds(), chain: cpuSeconds(chain.chain.pid) };
      return {
        ...(await run()),
        databaseSeconds: server.cpuSeconds() - before.database,
        chainSeconds: cpuSeconds(chain.chain.pid) - before.chain,
      };
    };
    const profile =
      options.profile === '' ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profile}`];
    const floorRun = (): Promise<WholeRun> => whole(() => runFloor(chain, place('floor')));
    const first = floorFirst ? await floorRun() : undefined;
    if (options.statements === 'yes')
      await client.query('CREATE EXTENSION pg_stat_statements; SELECT pg_stat_statements_reset()');
    const indexer = await whole(() => runIndexer(chain, place('indexer', profile)));
    if (options.statements === 'yes') await printStatements(client);
    const floor = first ?? (await floorRun());
    return { floor, indexer, rows: await requireSameRows(client) };
  });
}

function print(sizes: readonly Size[]): void {
  const head = ['', 'seconds', 'events/s', 'x floor', 'µs/event', 'CPU s', 'database', 'chain'];
  table(
    [...head, 'peak MiB', 'changes', 'days'],
    sizes.flatMap(({ events, rounds }) => [
      row(`floor, ${count(events)} events`, events, rounds, ({ floor }) => floor),
      row(`indexer, ${count(events)} events`, events, rounds, ({ indexer }) => indexer),
    ]),
  );
  const [least, most] = [sizes[0], sizes.at(-1)];
  if (!least || !most || least === most) return;
  const seconds = ({ rounds }: Size): number =>
    median(rounds.map(({ indexer }) => indexer.seconds));
  console.log(
    `\n${fixed(most.events / least.events, 1)} x the events take the indexer ${fixed(seconds(most) / seconds(least), 1)} x the time.`,
  );
}

/**
 * A row of medians. The ratio is the median of the rounds' ratios, since a disturbance during a round affects both
 * programs.
 */
function row(
  name: string,
  events: number,
  rounds: readonly Round[],
  of: (round: Round) => WholeRun,
): string[] {
  const middle = (value: (run: WholeRun) => number): number =>
    median(rounds.map((round) => value(of(round))));
  const seconds = middle((run) => run.seconds);
  const ratio = median(rounds.map((round) => of(round).seconds / round.floor.seconds));
  return [
    name,
    fixed(seconds),
    count(events / seconds),
    fixed(ratio),
    fixed((seconds / events) * 1e6, 1),
    fixed(middle((run) => run.cpuSeconds)),
    fixed(middle((run) => run.databaseSeconds)),
    fixed(middle((run) => run.chainSeconds)),
    count(Math.max(...rounds.map((round) => of(round).peakMebibytes))),
    count(rounds[0]?.rows.changes ?? 0),
    count(rounds[0]?.rows.days ?? 0),
  ];
}

await main();
