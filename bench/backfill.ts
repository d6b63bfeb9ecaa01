/**
 * The CPU for an event of a first sync, compared with the floor: the minimal program that writes the same rows
 * (backfill/floor.program.ts). Both run in turn as separate programs, on the same PostgreSQL with default durability and
 * on the same generator (support/generator.ts), a process that serves a dense history. Afterwards the rows of both are
 * compared. The CPU for an event is the slope between the smallest and the largest history; the rest is the CPU to
 * start. The time counts from the start of the process until the rows are committed and verified.
 *
 *   npm run bench -- backfill [--events 200000,1000000] [--runs 3] [--wallets 20000] [--events-per-block 100]
 *     [--profile FOLDER]   writes a CPU profile of the indexer
 *     [--node-options=OPTIONS]   for the indexer's Node, such as --trace-gc
 *     [--statements yes]   shows the cost of the indexer's statements in the database
 *     [--marks FILE] [--write-docs yes]
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { requireSameRows, type Run, runFloor, type WrittenRows } from './backfill/runs.js';
import { runIndexer, type RunPlace } from './providers/runs.js';
import { BenchServer, printStatements, STATEMENT_STATISTICS } from './support/bench-database.js';
import { count, fixed, median } from './support/figures.js';
import { type Generator, startGenerator } from './support/generator.js';
import { numberOf, numbersOf, readOptions } from './support/options.js';
import { say } from './support/progress.js';
import { report, REPORT_OPTIONS, type Table } from './support/report.js';

const FOLDER = join('.data', 'bench', 'backfill');
const HISTORY_DAYS = 28;
const LIMIT_SECONDS = 3600;

const options = readOptions({
  events: '200000,1000000',
  runs: '3',
  'events-per-block': '100',
  wallets: '20000',
  profile: '',
  'node-options': '',
  statements: 'no',
  ...REPORT_OPTIONS,
});

/** A run, with the CPU time that the database and the generator used meanwhile. */
interface WholeRun extends Run {
  readonly databaseSeconds: number;
  readonly generatorSeconds: number;
}

interface Pair {
  readonly events: number;
  readonly floor: WholeRun;
  readonly indexer: WholeRun;
  readonly rows: WrittenRows;
}

/** The smallest history first. */
type Round = readonly Pair[];
type Which = 'floor' | 'indexer';

async function main(): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const server = await BenchServer.start(options.statements === 'yes' ? STATEMENT_STATISTICS : {});
  const generators: Generator[] = [];
  try {
    for (const events of numbersOf(options.events).toSorted((a, b) => a - b))
      generators.push(await generatorOf(events));
    const rounds: Round[] = [];
    while (rounds.length < numberOf(options.runs)) {
      const round: Pair[] = [];
      // The order alternates, so that the after-effects of one program do not always slow down the other.
      for (const generator of generators)
        round.push(await measure(server, generator, rounds.length % 2 === 0));
      rounds.push(round);
    }
    const tables = [slopeTable(rounds), runTable(rounds)];
    await report(options, 'backfill', { tables, marks: { backfill: rounds.map(slopeRatio) } });
  } finally {
    for (const generator of generators) await generator.stop();
    await server.stop();
  }
}

function generatorOf(events: number): Promise<Generator> {
  const eventsPerBlock = numberOf(options['events-per-block']);
  const size = { events, eventsPerBlock, wallets: numberOf(options.wallets), days: HISTORY_DAYS };
  return startGenerator(size, join(FOLDER, `generator-${events}.log`));
}

function measure(server: BenchServer, generator: Generator, floorFirst: boolean): Promise<Pair> {
  const { chain, urls } = generator;
  return server.withDatabase(async (databaseUrl, client) => {
    const place = { chain, urls, databaseUrl, client, folder: FOLDER };
    const whole = async (run: () => Promise<Run>): Promise<WholeRun> => {
      const before = {
        database: server.cpuSeconds(),
        generator: generator.program.cpuSeconds(),
      };
      return {
        ...(await run()),
        databaseSeconds: server.cpuSeconds() - before.database,
        generatorSeconds: generator.program.cpuSeconds() - before.generator,
      };
    };
    const floorRun = (): Promise<WholeRun> => whole(() => runFloor(place));
    const first = floorFirst ? await floorRun() : undefined;
    if (options.statements === 'yes')
      await client.query('CREATE EXTENSION pg_stat_statements; SELECT pg_stat_statements_reset()');
    const indexer = await whole(() => indexerRun(place));
    if (options.statements === 'yes') await printStatements(client);
    const floor = first ?? (await floorRun());
    const { events } = chain.shape;
    say(
      `${count(events)} events: floor ${fixed(floor.cpuSeconds)} s of CPU, indexer ${fixed(indexer.cpuSeconds)} s`,
    );
    return { events, floor, indexer, rows: await requireSameRows(client) };
  });
}

async function indexerRun(place: RunPlace): Promise<Run> {
  const profile = options.profile === '' ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profile}`];
  const nodeOptions = [...options['node-options'].split(' ').filter(Boolean), ...profile];
  const run = await runIndexer({ ...place, nodeOptions }, {}, LIMIT_SECONDS);
  if (run.outcome === 'synced') return run;
  throw new Error(`the indexer ${run.outcome} at block ${run.head}: ${run.reason}`);
}

/** CPU for an event, in µs: the slope between the smallest and the largest history. */
function slopeOf(round: Round, which: Which): number {
  const [least, most] = [round[0], round.at(-1)];
  if (!least || !most || least === most) return Number.NaN;
  const seconds = most[which].cpuSeconds - least[which].cpuSeconds;
  return (seconds / (most.events - least.events)) * 1e6;
}

function slopeRatio(round: Round): number {
  return slopeOf(round, 'indexer') / slopeOf(round, 'floor');
}

/** CPU seconds that do not depend on the number of events. */
function startOf(round: Round, which: Which): number {
  const [least] = round;
  return least
    ? least[which].cpuSeconds - (slopeOf(round, which) * least.events) / 1e6
    : Number.NaN;
}

function slopeTable(rounds: readonly Round[]): Table {
  const row = (which: Which): string[] => [
    which,
    fixed(median(rounds.map((round) => slopeOf(round, which))), 1),
    fixed(median(rounds.map((round) => slopeOf(round, which) / slopeOf(round, 'floor')))),
    fixed(median(rounds.map((round) => startOf(round, which)))),
  ];
  return {
    head: ['', 'CPU for an event, µs', 'x floor', 'CPU to start, s'],
    rows: [row('floor'), row('indexer')],
  };
}

function runTable(rounds: readonly Round[]): Table {
  const head = ['events', 'seconds', 'x floor', 'CPU s', 'x floor', 'database', 'generator'];
  const sizes = rounds[0]?.map((_, at) => rounds.flatMap((round) => round[at] ?? [])) ?? [];
  return {
    head: [...head, 'peak MiB', 'changes', 'days'],
    rows: sizes.flatMap((pairs) => [runRow(pairs, 'floor'), runRow(pairs, 'indexer')]),
  };
}

/** A row of medians. Ratios are medians of the pairs' ratios, since a disturbance often affects both runs of a pair. */
function runRow(pairs: readonly Pair[], which: Which): string[] {
  const middle = (value: (run: WholeRun, floor: WholeRun) => number): number =>
    median(pairs.map((pair) => value(pair[which], pair.floor)));
  const [first] = pairs;
  return [
    `${count(first?.events ?? 0)}, ${which}`,
    fixed(middle(({ seconds }) => seconds)),
    fixed(middle(({ seconds }, floor) => seconds / floor.seconds)),
    fixed(middle(({ cpuSeconds }) => cpuSeconds)),
    fixed(middle(({ cpuSeconds }, floor) => cpuSeconds / floor.cpuSeconds)),
    fixed(middle(({ databaseSeconds }) => databaseSeconds)),
    fixed(middle(({ generatorSeconds }) => generatorSeconds)),
    count(Math.max(...pairs.map((pair) => pair[which].peakMebibytes))),
    count(first?.rows.changes ?? 0),
    count(first?.rows.days ?? 0),
  ];
}

await main();
