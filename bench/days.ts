/**
 * Sealing the days of an index of a million wallets, compared with the floor, the hashing alone, in the same run. A
 * process of its own seals, so that its memory is measured. Two days are measured: one on which every wallet has a
 * stake, and the next one, for which a part of the wallets has changed. Then a sealed day is read: proofs, and
 * the whole list. All this uses the thread and the stores of the indexer and of the API, on a PostgreSQL with default
 * durability. At the end the API sends the list, and ordinary reads are measured meanwhile.
 *
 *   npm run bench -- days [--wallets 1000000] [--changed 50000] [--proofs 5000] [--runs 1]
 *     [--only sealing]   measures the sealing alone
 *     [--marks FILE] [--write-docs yes]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import pg from 'pg';
import { keccak256 } from 'viem';
import {
  createDatabase,
  type Database,
  IndexStore,
  readIndexSums,
  SealedListStore,
  type SealedDay,
} from '#libs/db';
import { type BlockHash, type BlockRef, type Keccak256 } from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import { type DayToSeal } from '../apps/indexer/src/seal/day-sealer.js';
import { measureExport } from './days/export.js';
import { type SealedInBench } from './days/sealing.program.js';
import { BenchServer } from './support/bench-database.js';
import { count, fixed, median, percentile, table } from './support/figures.js';
import { numberOf, readOptions } from './support/options.js';
import { say } from './support/progress.js';
import { report, REPORT_OPTIONS, type Table } from './support/report.js';
import { Random, walletAt } from './support/random.js';
import { SYNTHETIC_INDEX } from './support/synthetic-index.js';

const DAY = 86_400;
const FIRST_DAY = 20_000;
/** viem is too slow for all hashes of a day, so the time per hash is compared. */
const HASHES_OF_VIEM = 100_000;

const options = readOptions({
  wallets: '1000000',
  changed: '50000',
  proofs: '5000',
  runs: '1',
  only: '',
  ...REPORT_OPTIONS,
});
const wallets = numberOf(options.wallets);
const changed = numberOf(options.changed);

/** One block per day, at noon. */
function blockOf(number: number): BlockRef {
  const hash = `0x${number.toString(16).padStart(64, '0')}` as BlockHash;
  const timestampSeconds = (FIRST_DAY + number - 1) * DAY + DAY / 2;
  return { number: BigInt(number), hash, timestampSeconds };
}

/**
 * Seeds three days. All wallets stake on the first day, so that its lows are 0 and those of the second day are not; on
 * the third day a part of the wallets withdraws.
 */
async function seed(url: string): Promise<bigint> {
  const database = await createDatabase({ url, applicationName: 'bench', poolSize: 1 });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const store = new IndexStore(database);
    await store.create({ ...SYNTHETIC_INDEX, head: blockOf(0) });
    const fence = await store.takeLead();
    await client.query(`SET session_replication_role = replica; SET maintenance_work_mem = '1GB'`);
    const wallet = `substring(sha256(k::text::bytea) FROM 1 FOR 20)`;
    const stake = `(k % 1000 + 1) * 1234567890123456789::numeric`;
    for (const statement of [
      `INSERT INTO staking.balance_change (wallet, block, seconds, balance)
        SELECT ${wallet}, 1, ${blockOf(1).timestampSeconds}, ${stake} FROM generate_series(0, ${wallets - 1}) AS k ORDER BY 1`,
      `INSERT INTO staking.balance_day (wallet, day, low, closing)
        SELECT wallet, ${FIRST_DAY}, 0, balance FROM staking.balance_change`,
      `INSERT INTO staking.balance_change (wallet, block, seconds, balance)
        SELECT wallet, 3, ${blockOf(3).timestampSeconds}, balance - 1 FROM staking.balance_change ORDER BY sha256(wallet) LIMIT ${changed}`,
      `INSERT INTO staking.balance_day (wallet, day, low, closing)
        SELECT wallet, ${FIRST_DAY + 2}, balance + 1, balance FROM staking.balance_change WHERE block = 3`,
      `INSERT INTO staking.day_total (day, total) SELECT ${FIRST_DAY}, sum(balance) FROM staking.balance_change WHERE block = 1`,
      `INSERT INTO staking.day_total (day, total) SELECT ${FIRST_DAY + 2}, total - ${changed} FROM staking.day_total`,
      `UPDATE staking.index_state SET total = (SELECT min(total) FROM staking.day_total), head_number = 4, head_seconds = ${blockOf(4).timestampSeconds}, synced_at = now(), finalised_number = 4, finalised_hash = decode(repeat('04', 32), 'hex'),
        finalised_seconds = ${blockOf(4).timestampSeconds}, verified_number = 4`,
      'VACUUM ANALYZE staking.balance_change, staking.balance_day',
    ]) {
      await client.query(statement);
    }
    return fence;
  } finally {
    await client.end();
    await database.close();
  }
}

/** CPU seconds of this process so far, its threads included. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** CPU seconds for all hashes of a day: two per leaf, and one per node above the leaves. */
function floorSeconds(keccak: Keccak256): number {
  const leaf = new Uint8Array(96).fill(7);
  const node = new Uint8Array(64).fill(9);
  const before = cpuSeconds();
  for (let at = 0; at < wallets; at += 1) {
    new DataView(leaf.buffer).setUint32(12, at);
    keccak(keccak(leaf));
    new DataView(node.buffer).setUint32(0, at);
    keccak(node);
  }
  return cpuSeconds() - before;
}

function microsecondsOfViem(): number {
  const node = new Uint8Array(64).fill(9);
  const startMs = performance.now();
  for (let at = 0; at < HASHES_OF_VIEM; at += 1) {
    new DataView(node.buffer).setUint32(0, at);
    keccak256(node, 'bytes');
  }
  return ((performance.now() - startMs) * 1000) / HASHES_OF_VIEM;
}

interface Sealed {
  readonly day: SealedDay;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMb: number;
}

async function sealDays(url: string, fence: bigint): Promise<Sealed[]> {
  const child = fork(join(import.meta.dirname, 'days', 'sealing.program.js'), [url], {
    serialization: 'advanced',
  });
  const seal = async (place: number): Promise<SealedInBench> => {
    const work: DayToSeal = {
      ...{ day: FIRST_DAY + place - 1, fence, closing: blockOf(place) },
      ...{ above: BigInt(place - 1), keepsLists: true },
    };
    child.send(work);
    const [answer] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [
      SealedInBench | number | null,
    ];
    if (answer === null || typeof answer === 'number') throw new Error('the sealing ended');
    return answer;
  };
  const sealed: Sealed[] = [];
  try {
    // The lows of this first day are 0, so its list is empty. The thread carries the closing balances forward to the
    // next day.
    await seal(1);
    for (const place of [2, 3]) {
      const { outcome, ...cost } = await seal(place);
      sealed.push({ day: outcome.sealed, ...cost });
    }
  } finally {
    if (child.connected) child.disconnect();
  }
  return sealed;
}

async function proveSome(lists: SealedListStore, day: SealedDay): Promise<number[]> {
  const random = new Random(1);
  const times: number[] = [];
  for (let proof = 0; proof < numberOf(options.proofs); proof += 1) {
    // On average every second proof is for a wallet without a stake.
    const wallet = walletAt(random.between(0, 2 * wallets));
    const startMs = performance.now();
    await lists.prove(day, wallet);
    times.push(performance.now() - startMs);
  }
  return times;
}

async function readList(lists: SealedListStore, day: SealedDay): Promise<number> {
  const startMs = performance.now();
  let read = 0;
  for await (const page of lists.pages(day)) read += page.length;
  if (read !== day.wallets) throw new Error(`the list has ${read} wallets`);
  return (performance.now() - startMs) / 1000;
}

async function sizesOf(database: Database): Promise<string[][]> {
  const text = `SELECT relname AS name, pg_total_relation_size(c.oid) AS bytes FROM pg_class c
    WHERE relname IN ('sealed_leaves', 'sealed_nodes') AND relkind = 'r' ORDER BY 1`;
  const rows = await database.query<{ name: string; bytes: string }>({ text });
  return rows.map(({ name, bytes }) => [name, fixed(Number(bytes) / (2 * wallets), 1)]);
}

interface Round {
  /** CPU seconds of the hashing alone. */
  readonly floor: number;
  readonly all: Sealed;
  readonly changed: Sealed;
}

async function sealRound(url: string): Promise<Round> {
  say(`an index of ${count(wallets)} wallets …`);
  const fence = await seed(url);
  const floor = floorSeconds(await createKeccak256());
  const [all, changed] = await sealDays(url, fence);
  if (all === undefined || changed === undefined) throw new Error('two days are sealed');
  return { floor, all, changed };
}

function tableOf(rounds: readonly Round[]): Table {
  const row = (name: string, of: (round: Round) => Sealed): string[] => {
    const middle = (value: (sealed: Sealed, floor: number) => number): number =>
      median(rounds.map((round) => value(of(round), round.floor)));
    return [
      name,
      fixed(middle(({ seconds }) => seconds)),
      fixed(middle(({ cpuSeconds: seconds }) => seconds)),
      fixed(middle(({ cpuSeconds: seconds }, floor) => seconds / floor)),
      fixed(
        middle(({ peakMb }) => peakMb),
        0,
      ),
    ];
  };
  return {
    head: [`a day of ${count(wallets)} wallets`, 's', 'CPU s', 'x hashing', 'peak MB'],
    rows: [
      ['hashing alone', '', fixed(median(rounds.map(({ floor }) => floor))), '1.00', ''],
      row('all wallets are read', ({ all }) => all),
      row(`${count(changed)} have changed`, (round) => round.changed),
    ],
  };
}

async function measureReads(url: string, day: SealedDay, floor: number): Promise<void> {
  const database = await createDatabase({ url, applicationName: 'bench', poolSize: 1 });
  try {
    const lists = new SealedListStore(database);
    const times = await proveSome(lists, day);
    const exportSeconds = await readList(lists, day);
    console.log();
    table(
      ['of a sealed day', ''],
      [
        ['proof p50 ms', fixed(median(times))],
        ['proof p99 ms', fixed(percentile(times, 0.99))],
        ['the whole list, s', fixed(exportSeconds)],
        ['µs a hash', fixed((floor * 1e6) / (3 * wallets))],
        ['µs a hash by viem', fixed(microsecondsOfViem())],
      ],
    );
    console.log();
    table(['stored', 'bytes a wallet and day'], await sizesOf(database));
    const startMs = performance.now();
    const sums = await readIndexSums(database);
    if (sums?.closings !== sums?.stored) throw new Error('the index does not add up');
    console.log();
    table(
      ['sums of the index, as an audit reads them', ''],
      [['s', fixed((performance.now() - startMs) / 1000)]],
    );
  } finally {
    await database.close();
  }
}

const server = await BenchServer.start();
try {
  const rounds: Round[] = [];
  while (rounds.length < numberOf(options.runs))
    await server.withDatabase(async (url) => {
      const isLast = rounds.length === numberOf(options.runs) - 1;
      const round = await sealRound(url);
      rounds.push(round);
      if (options.only === 'sealing' || !isLast) return;
      await measureReads(url, round.changed.day, round.floor);
      await measureExport(url, round.changed.day);
    });
  const ratios = (of: (round: Round) => Sealed): number[] =>
    rounds.map((round) => of(round).cpuSeconds / round.floor);
  await report(options, 'days', {
    tables: [tableOf(rounds)],
    marks: {
      'seal-all': ratios(({ all }) => all),
      'seal-changed': ratios((round) => round.changed),
    },
  });
} finally {
  await server.stop();
}
