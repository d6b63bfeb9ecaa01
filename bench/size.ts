/**
 * What an index of up to a hundred million balance changes costs: its size, how fast a first sync writes to it beside a small one, and
 * how long snapshots of quiet wallets and of the busiest take. The rows are made by the database; what is measured goes through the
 * stores of the indexer and of the API, on a PostgreSQL with default durability.
 *
 *   npm run bench -- size [--changes 1000000,10000000,100000000] [--batches 60] [--reads 5000]
 *                         [--layouts product]                       also one, hash:16, time:14: the tables in so many partitions
 *                         [--settings '{"shared_buffers":"2GB"}']   of the server; default: as it comes
 *                         [--other   '{"shared_buffers":"4GB",…}']   with which it is started again for a second measurement of each
 *                                                                   size, which goes on behind the rows of the first
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
/** The indexer looks every ten seconds. */
const BATCHES_A_LOOK = 20;

const options = readOptions({
  changes: '1000000,10000000,100000000',
  batches: '60',
  reads: '5000',
  layouts: 'product',
  settings: '{}',
  other: '{"shared_buffers":"4GB","max_wal_size":"16GB","checkpoint_timeout":"30min"}',
});

/** Of the server, by the names of PostgreSQL. */
type Settings = Readonly<Record<string, string>>;

interface Written {
  readonly changesPerSecond: number;
  /** A range's wallet states, which are read while the range before is written, beside the time that a range takes. */
  readonly reading: number;
  readonly slowestSeconds: number;
  readonly walBytesPerChange: number;
  /** Of the server's processes; read it where other programs take a share of the machine. */
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

/** All that is known so far: the next size takes much longer. */
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
  /** That its processes have taken so far. */
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

/** Both keys come to memory where they fit, as on a server that has been up for a while. */
async function warm(client: pg.Client): Promise<void> {
  await client.query('SET enable_seqscan = off');
  for (const table of ['balance_change', 'balance_day']) {
    await client.query(`SELECT count(*) FROM staking.${table}`);
  }
  await client.query('RESET enable_seqscan');
}

/** Vacuums as after a first sync, and says how large the tables are then. */
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

/** Goes on with the history as a first sync does: ranges of a thousand blocks, none of whose days has a row yet. */
class Writer {
  private head: BlockRef;
  private number: number;
  /** The range before. */
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly history: LargeHistory,
    private readonly layout: Layout,
  ) {
    this.head = history.block(history.blocks);
    this.number = history.changes;
  }

  /** From a checkpoint on, after which each page that is changed for the first time goes into the WAL as a whole. */
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
      // As the indexer does.
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

  /** @returns the seconds that reading the wallets' states took, and those until the range before was written too */
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
      ...{ fence, previousHead, head, changes, days: [], newDays },
      ...{ total: 0n, blocks: [head], finalised: head },
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
