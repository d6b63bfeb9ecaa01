/**
 * An index of the size that people have, by the indexer itself: a process that reads a history from the generator
 * (support/generator.ts) and seals its days, on a PostgreSQL with default durability. At the end each balance of each
 * block and day is compared with the generator's own. Without further options: 1 and 10 million events of 20,000 and
 * 400,000 wallets.
 *
 *   npm run bench -- size [--events 1000000,10000000] [--wallets 20000,400000]
 *     [--days 30]           the least length of each history
 *     [--kills 0]           how often the indexer is killed and started again while it reads the history; where it is
 *                           killed at all, once more while it seals
 *     [--seal yes]          no: the days are not sealed
 *     [--settings '{"shared_buffers":"2GB"}']    settings of PostgreSQL; default: none
 *     [--indexer '{"LOWMARK_TEST_CONSTANTS":"{\\"sealKeptDays\\":3}"}']    further settings of the indexer; default: none
 *     [--seed 1]            of the moments of the kills
 *     [--write-docs yes]
 *
 * The largest one: --events 100000000 --wallets 5000000 --kills 5, with some 60 GB of disk; the lists of the sealed days
 * are a third of them.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { GeneratedIndex, type Phase } from './size/generated-index.js';
import { countRows, type RowCounts, wrongRows } from './size/verify-rows.js';
import { BenchServer } from './support/bench-database.js';
import { count, fixed } from './support/figures.js';
import { startGenerator } from './support/generator.js';
import { numberOf, numbersOf, readOptions } from './support/options.js';
import { say } from './support/progress.js';
import { Random } from './support/random.js';
import { report, REPORT_OPTIONS, type Table } from './support/report.js';

const FOLDER = join('.data', 'bench', 'size');
const EVENTS_PER_BLOCK = 100;

const options = readOptions({
  events: '1000000,10000000',
  wallets: '20000,400000',
  days: '30',
  kills: '0',
  seal: 'yes',
  settings: '{}',
  indexer: '{}',
  seed: '1',
  ...REPORT_OPTIONS,
});

const indexerSettings = JSON.parse(options.indexer) as Record<string, string>;

interface Size {
  readonly events: number;
  readonly wallets: number;
}

interface Result extends Size {
  readonly rows: RowCounts;
  readonly indexed: Phase;
  readonly sealed: Phase | undefined;
  readonly databaseSeconds: number;
  readonly databaseBytes: number;
  /** Empty where the index is right. */
  readonly wrong: readonly string[];
}

async function main(): Promise<void> {
  const wallets = numbersOf(options.wallets);
  const sizes = numbersOf(options.events).map((events, at) => ({
    events,
    wallets: wallets[at] ?? wallets.at(-1) ?? 1,
  }));
  await mkdir(FOLDER, { recursive: true });
  const settings = JSON.parse(options.settings) as Record<string, string>;
  const server = await BenchServer.start(settings);
  const results: Result[] = [];
  try {
    for (const size of sizes) {
      results.push(await measure(server, size));
    }
  } finally {
    await server.stop();
  }
  await report(options, 'size', { tables: [tableOf(results)] });
  if (results.some(({ wrong }) => wrong.length > 0)) process.exitCode = 1;
}

async function measure(server: BenchServer, size: Size): Promise<Result> {
  say(`${count(size.events)} events of ${count(size.wallets)} wallets …`);
  const history = { ...size, eventsPerBlock: EVENTS_PER_BLOCK, days: numberOf(options.days) };
  const generator = await startGenerator(history, join(FOLDER, 'generator.log'));
  const { chain, urls } = generator;
  try {
    return await server.withDatabase(async (databaseUrl, client) => {
      const place = { chain, urls, databaseUrl, client, folder: FOLDER };
      const kills = numberOf(options.kills);
      const databaseBefore = server.cpuSeconds();
      const index = new GeneratedIndex(place, new Random(numberOf(options.seed)), indexerSettings);
      let indexed: Phase;
      let sealed: Phase | undefined;
      let databaseSeconds: number;
      try {
        indexed = await index.index(kills);
        databaseSeconds = server.cpuSeconds() - databaseBefore;
        sealed = options.seal === 'yes' ? await index.seal(Math.min(1, kills)) : undefined;
      } finally {
        await index.stop();
      }
      const databaseBytes = await bytesOf(client);
      say('  comparing each row with the generator …');
      const rows = countRows(chain);
      const wrong = await wrongRows(client, chain, rows);
      say(wrong.length === 0 ? '  every balance is right' : wrong.join('\n'));
      return { ...size, rows, indexed, sealed, databaseSeconds, databaseBytes, wrong };
    });
  } finally {
    await generator.stop();
  }
}

async function bytesOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>(
    'SELECT pg_database_size(current_database()) AS bytes',
  );
  return Number(rows[0]?.bytes);
}

function tableOf(results: readonly Result[]): Table {
  const row = (what: string, of: (result: Result) => string): string[] => [
    what,
    ...results.map(of),
  ];
  const each = (of: (result: Result) => number) => (result: Result) =>
    fixed((of(result) / result.events) * 1e6, 1);
  const sealing = (of: (sealed: Phase) => string) => (result: Result) =>
    result.sealed === undefined ? '-' : of(result.sealed);
  return {
    head: [
      '',
      ...results.map(({ events, wallets }) => `${count(events)} of ${count(wallets)} wallets`),
    ],
    rows: [
      row('balance changes', ({ rows }) => count(rows.changes)),
      row('days of wallets', ({ rows }) => count(rows.days)),
      row('reading the history, s', ({ indexed }) => count(indexed.seconds)),
      row(
        'CPU of the indexer for an event, µs',
        each(({ indexed }) => indexed.cpuSeconds),
      ),
      row(
        'CPU of PostgreSQL for an event, µs',
        each(({ databaseSeconds }) => databaseSeconds),
      ),
      row('peak memory, MiB', ({ indexed }) => count(indexed.peakMebibytes)),
      row(
        'sealing the days, s',
        sealing(({ seconds }) => count(seconds)),
      ),
      row(
        'CPU of the indexer meanwhile, s',
        sealing(({ cpuSeconds }) => count(cpuSeconds)),
      ),
      row(
        'peak memory, MiB',
        sealing(({ peakMebibytes }) => count(peakMebibytes)),
      ),
      row('database, GiB', ({ databaseBytes }) => fixed(databaseBytes / 2 ** 30)),
      row('kills', () => options.kills),
      row('rows that are wrong', ({ wrong }) => count(wrong.length)),
    ],
  };
}

await main();
