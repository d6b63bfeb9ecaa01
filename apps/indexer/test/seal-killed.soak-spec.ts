/** Killed at any step of sealing, the program leaves a day sealed completely or not at all. Needs a build. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Database, SealedDayStore, SealedListStore } from '#libs/db';
import { eventually } from '#libs/testing/clock';
import { compileCache } from '#libs/testing/programs';
import { HistoryMaker, randomOf } from './history.js';
import { expectedDays } from './seal-oracle.js';
import { IndexerSuite, START } from './suite.js';

const FINAL_DEPTH = 3;
const LIMIT_MS = 180_000;
const GENEROUS_MS = 60_000;

/** Steps of a day's transaction, each with the table whose lock stops the transaction at this step. */
const STEPS = [
  ['after its leaves, before its tree', 'staking.sealed_nodes'],
  ['after all of it, before the commit', 'staking.index_state'],
] as const;

describe('a process that seals days', () => {
  let program: ChildProcess | undefined;
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lowmark-killed-'));
  });
  afterEach(async () => {
    await kill();
    await rm(folder, { recursive: true });
  });
  const suite = new IndexerSuite();

  async function anIndex(seed: number): Promise<void> {
    const { chain } = suite;
    await chain.player.play(new HistoryMaker(randomOf(seed), START).blocks(60));
    const indexer = await suite.start({ finality: `depth:${FINAL_DEPTH}` });
    await indexer.level();
    const final = (await chain.player.head()) - BigInt(FINAL_DEPTH);
    await indexer.until('final', ({ finalised }) => finalised?.number === final);
    await indexer.stop();
  }

  function start(): ChildProcess {
    const { database, chain } = suite;
    const args = [database.urlAs('indexer'), chain.rpc.url, String(chain.contracts.startBlock)];
    program = spawn(process.execPath, ['dist/apps/indexer/test/seal.program.js', ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...compileCache(), TMPDIR: folder },
    });
    return program;
  }

  async function kill(): Promise<void> {
    if (program === undefined || program.exitCode !== null || program.signalCode !== null) return;
    const ended = once(program, 'exit');
    program.kill('SIGKILL');
    await ended;
    expect(readdirSync(folder)).toEqual([]);
  }

  /** The temporary files that the program has open; none of them has a name. */
  function openFiles(): string[] {
    const descriptors = `/proc/${program?.pid ?? ''}/fd`;
    return readdirSync(descriptors)
      .map((descriptor) => readlinkSync(`${descriptors}/${descriptor}`))
      .filter((file) => file.startsWith(folder));
  }

  /** Expects that each sealed day has its whole tree, and that no other part of a tree is stored. */
  async function expectWhole(database: Database): Promise<number> {
    const days = await new SealedDayStore(database).page({ limit: 1000 });
    const lists = new SealedListStore(database);
    for (const day of days) {
      let wallets = 0;
      for await (const page of lists.pages(day)) wallets += page.length;
      expect(wallets).toBe(day.wallets);
    }
    const [row] = await database.query<{ strays: number }>({
      text: `SELECT ((SELECT count(*) FROM staking.sealed_leaves) + (SELECT count(*) FROM staking.sealed_nodes)
        - 2 * (SELECT count(*) FROM staking.sealed_day))::int AS strays`,
    });
    // So few wallets make one chunk of leaves and one of nodes per day.
    expect(row?.strays).toBe(0);
    return days.length;
  }

  async function expectAllSealed(database: Database): Promise<void> {
    const [code] = (await once(start(), 'exit')) as [number | null];
    expect(code).toBe(0);
    await expectWhole(database);
    const { rpc, contracts, player } = suite.chain;
    const settled = Number(await player.head()) - FINAL_DEPTH;
    const range = { first: Number(contracts.startBlock), settled };
    const expected = await expectedDays(rpc, contracts.staking, range);
    const sealed = await new SealedDayStore(database).page({ limit: 1000 });
    expect(sealed.reverse()).toMatchObject(expected);
    expect(sealed).toHaveLength(expected.length);
    expect(sealed.every(({ revision }) => revision === 1)).toBe(true);
  }

  it.each(STEPS)(
    'is killed %s, and nothing of the day is there',
    async (_step, table) => {
      await anIndex(11);
      const database = await suite.database.open({ poolSize: 4 });
      // The first day's transaction waits here. By then the program has taken the lead.
      const release = await lock(database, 'staking.sealed_day');
      start();
      await eventually(() => waitsFor(database, 'staking.sealed_day'), GENEROUS_MS);
      const releaseAll = await lock(database, table);
      await release();
      await eventually(() => waitsFor(database, table), GENEROUS_MS);
      expect(openFiles().length).toBeGreaterThan(0);
      await kill();
      await releaseAll();
      await expectWhole(database);
      await expectAllSealed(database);
    },
    LIMIT_MS,
  );
});

/** Blocks writes to a table and locks of its rows, until the result is called. */
async function lock(database: Database, table: string): Promise<() => Promise<void>> {
  const client = await database.pool.connect();
  await client.query('BEGIN');
  await client.query(`LOCK TABLE ${table} IN EXCLUSIVE MODE`);
  return async () => {
    await client.query('ROLLBACK');
    client.release();
  };
}

async function waitsFor(database: Database, table: string): Promise<boolean> {
  const text = `SELECT FROM pg_locks WHERE NOT granted AND relation = '${table}'::regclass`;
  return (await database.query({ text })).length > 0;
}
