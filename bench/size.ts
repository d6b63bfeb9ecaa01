/**
 * The cost of an index of up to a hundred million balance changes: its size, the speed of a first sync compared with a
 * small index, and the latency of snapshots of quiet wallets and of the busiest one. The database generates the rows.
 * The measured writes and reads go through the stores of the indexer and of the API, on a PostgreSQL with default
 * durability.
 *
 *   npm run bench -- size [--changes 1000000,10000000,100000000] [--batches 60] [--reads 5000]
 *     [--layouts product]                        partitions of the tables: also one, hash:16, time:14
 *     [--settings '{"shared_buffers":"2GB"}']    settings of the server; default: none
 *     [--other '{"shared_buffers":"4GB",…}']     settings for a second measurement of each size, after a restart of the
 *                                                server; its writes continue after the rows of the first
 */
import pg from 'pg';
import { createDatabase, type Database, IndexStore, PartitionStore } from '#libs/db';
import { type BlockRef, dayOf } from '#libs/domain';
import { CHANGES_PER_BLOCK, LargeHistory } from './size/large-history.js';
import { type Layout, layOut, layoutOf } from './size/layout.js';
import { makeBusy, reads } from './size/reads.js';
import { seedHistory } from './size/seed.js';
import { BenchServer } from './support/bench-database.js';
import { count, fixed, median, table } from './support/figures.js';
import { numberOf, numbersOf, readOptions } from './support/options.js';
import { say } from './support/progress.js';

const BLOCKS_A_BATCH = 1000;
const CHANGES_A_BATCH = BLOCKS_A_BATCH * CHANGES_PER_BLOCK;
const WARM_UP = 5;
/** Batches between two checks for new partitions; the indexer checks every ten seconds. */
const BATCHES_A_LOOK = 20;

const options = readOptions({
  changes: '1000000,10000000,100000000',
  batches: '60',
  reads: '5000',
  layouts: 'product',
  settings: '{}',
  other: '{"shared_buffers":"4GB","max_wal_size":"16GB","checkpoint_timeout":"30min"}',
});

/** Settings of the server, by PostgreSQL's names. */
type Settings = Readonly<Record<string, string>>;

interface Written {
  readonly changesPerSecond: number;
  /**
   * Share of the time of a range that is spent on reading the range's wallet states, while the range before is written.
   */
  readonly reading: number;
  readonly slowestSeconds: number;
  readonly walBytesPerChange: number;
  /** CPU time of the server's processes: the figure to compare where other programs use the machine. */
  readonly cpuMicrosPerChange: number;
}

async function main(): Promise<void> {
  const usual = JSON.parse(options.settings) as Settings;
  const other = JSON.parse(options.other) as Settings;
  const server = await BenchServer.start(usual);
  const sized: string[][] = [];
  const read: string[][] = [];
  const written: string[][] = [];
  try {
    const layouts = options.layouts.split(',').map(layoutOf);
    const runs = numbersOf(options.changes).flatMap((changes) =>
      layouts.map((layout) => ({ history: new LargeHistory(changes), layout })),
    );
    for (const { history, layout } of runs) {
      const name = `${count(history.changes)}, ${layout.name}`;
      say(`${name}: ${count(history.wallets)} wallets …`);
      await server.withDatabase(async (url, client) => {
        await layOut(client, layout, history);
        await seedHistory(url, history);
        sized.push([name, ...(await vacuumed(client, history))]);
        await makeBusy(client);
        await client.end();
        const writer = new Writer(history, layout);
        for (const [settings, which] of [
          [usual, 'as it comes'],
          [{ ...usual, ...other }, 'other settings'],
        ] as const) {
          await server.restart(settings);
          await withConnections(url, async (connections) => {
            await warm(connections.client);
            read.push([
              `${name}, ${which}`,
              ...(await reads(connections.database, history, numberOf(options.reads))),
            ]);
            const cpuSeconds = (): number => server.cpuSeconds();
            const figures = await writer.write({ ...connections, cpuSeconds });
            written.push([`${name}, ${which}`, ...writtenRow(figures)]);
          });
        }
      });
      await server.restart(usual);
      print({ sized, read, written });
    }
  } finally {
    await server.stop();
  }
}

/** Prints all results so far, since the next size takes much longer. */
function print({ sized, read, written }: Record<'sized' | 'read' | 'written', string[][]>): void {
  table(['changes, layout', 'GiB', 'bytes/change', 'of them changes', 'days', 'vacuum s'], sized);
  console.log();
  table(['changes, layout, settings', 'quiet p50 ms', 'p99 ms', 'busiest p50 ms', 'p99 ms'], read);
  console.log();
  table(
    [
      'changes, layout, settings',
      'changes/s',
      'reading states',
      'slowest batch s',
      'WAL bytes/change',
      'CPU µs/change',
    ],
    written,
  );
  console.log();
}

function writtenRow(written: Written): string[] {
  return [
    count(written.changesPerSecond),
    `${fixed(100 * written.reading, 0)} %`,
    fixed(written.slowestSeconds),
    count(written.walBytesPerChange),
    fixed(written.cpuMicrosPerChange, 0),
  ];
}

interface Connections {
  readonly database: Database;
  readonly client: pg.Client;
}

interface WriterServer extends Connections {
  /** CPU seconds of the server's processes so far. */
  readonly cpuSeconds: () => number;
}

async function withConnections(
  url: string,
  work: (connections: Connections) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const database = await createDatabase({ url, applicationName: 'bench', poolSize: 3 });
  try {
    await work({ database, client });
  } finally {
    await database.close();
    await client.end();
  }
}

/** Reads both keys into memory where they fit, as on a server that has run for a while. */
async function warm(client: pg.Client): Promise<void> {
  await client.query('SET enable_seqscan = off');
  for (const table of ['balance_change', 'balance_day']) {
    await client.query(`SELECT count(*) FROM staking.${table}`);
  }
  await client.query('RESET enable_seqscan');
}

/** Vacuums as after a first sync. @returns the size of the tables and the duration of the vacuum */
async function vacuumed(client: pg.Client, { changes }: LargeHistory): Promise<string[]> {
  const startMs = performance.now();
  await client.query('VACUUM (ANALYZE, FREEZE) staking.balance_change, staking.balance_day');
  const vacuumSeconds = (performance.now() - startMs) / 1000;
  const { rows } = await client.query<Record<'changes' | 'days', string>>(
    `SELECT sum(bytes) FILTER (WHERE name LIKE 'balance_change%') AS changes, sum(bytes) FILTER (WHERE name LIKE 'balance_day%') AS days
      FROM (SELECT relname AS name, pg_total_relation_size(oid) AS bytes FROM pg_class
        WHERE relnamespace = 'staking'::regnamespace AND relkind = 'r') AS t`,
  );
  const [ofChanges, ofDays] = [Number(rows[0]?.changes), Number(rows[0]?.days)];
  return [
    fixed((ofChanges + ofDays) / 2 ** 30),
    ...[ofChanges + ofDays, ofChanges, ofDays].map((bytes) => fixed(bytes / changes, 0)),
    fixed(vacuumSeconds, 1),
  ];
}

/** Continues the history as a first sync does: ranges of a thousand blocks, whose days have no rows yet. */
class Writer {
  private head: BlockRef;
  private number: number;
  /** The write of the previous range. */
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly history: LargeHistory,
    private readonly layout: Layout,
  ) {
    this.head = history.block(history.blocks);
    this.number = history.changes;
  }

  /**
   * Writes and measures, starting with a checkpoint: after it, the first change of each page writes the whole page to
   * the WAL.
   */
  async write({ database, client, cpuSeconds }: WriterServer): Promise<Written> {
    const store = new IndexStore(database);
    const partitions = new PartitionStore(database);
    const fence = await store.takeLead();
    await client.query('CHECKPOINT');
    const reading: number[] = [];
    const all: number[] = [];
    let walBefore = '';
    let cpuBefore = 0;
    for (let batch = -WARM_UP; batch < numberOf(options.batches); batch += 1) {
      if (batch === 0) {
        walBefore = await walPosition(client);
        cpuBefore = cpuSeconds();
      }
      const [readSeconds, seconds] = await this.range(store, fence);
      // The indexer extends the partitions too.
      if (this.layout.kind === 'product' && batch % BATCHES_A_LOOK === 0)
        await partitions.extend(fence);
      if (batch < 0) continue;
      reading.push(readSeconds);
      all.push(seconds);
    }
    await this.writing;
    const cpuMicros = (cpuSeconds() - cpuBefore) * 1e6;
    const { rows } = await client.query<{ bytes: string }>(
      'SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), $1) AS bytes',
      [walBefore],
    );
    return {
      changesPerSecond: CHANGES_A_BATCH / median(all),
      reading: median(reading) / median(all),
      slowestSeconds: Math.max(...all),
      walBytesPerChange: Number(rows[0]?.bytes) / (all.length * CHANGES_A_BATCH),
      cpuMicrosPerChange: cpuMicros / (all.length * CHANGES_A_BATCH),
    };
  }

  /**
   * @returns the seconds for reading the wallets' states, and the seconds until the previous range was written as well
   */
  private async range(store: IndexStore, fence: bigint): Promise<[number, number]> {
    const { history, head: previousHead } = this;
    const head = history.block(Number(previousHead.number) + BLOCKS_A_BATCH);
    const numbers = Array.from({ length: CHANGES_A_BATCH }, (_, place) => this.number + 1 + place);
    const changes = numbers.map((one) => history.change(one));
    const newDays = numbers.map((one) => history.day(one));
    const wallets = changes.map(({ wallet }) => wallet);
    const startMs = performance.now();
    const states = await store.walletStates(wallets, dayOf(head.timestampSeconds));
    const readMs = performance.now() - startMs;
    if (states.size !== Math.min(CHANGES_A_BATCH, history.wallets)) {
      throw new Error('a wallet is missing');
    }
    await this.writing;
    this.writing = store.commit({
      ...{ fence, previousHead, head, blocks: [head], finalised: head },
      folded: { changes, days: newDays, wallets: [], totalDelta: 0n, dayDeltas: new Map() },
    });
    this.head = head;
    this.number += CHANGES_A_BATCH;
    return [readMs / 1000, (performance.now() - startMs) / 1000];
  }
}

async function walPosition(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ lsn: string }>('SELECT pg_current_wal_lsn() AS lsn');
  return rows[0]?.lsn ?? '';
}

await main();
