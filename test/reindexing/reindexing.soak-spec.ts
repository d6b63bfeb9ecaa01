/**
 * Makes the index again beside the one that a running indexer follows and the API serves, and takes the index of a running
 * indexer back to a block. Needs a build.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { testConstants } from '#libs/config';
import { type Database, IndexStore } from '#libs/db';
import { stake, type StakeBlock } from '#libs/devchain';
import { StakingClient } from '#libs/partner-sdk';
import { startChain, type TestChain } from '#libs/testing/chain';
import { eventually } from '#libs/testing/clock';
import { aWallet, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { IndexerProgram } from '../../apps/indexer/test/indexer-program.js';
import { expectedTables, indexedTables } from '../../apps/indexer/test/oracle.js';
import { ApiProgram } from '../restarts/api-program.js';
import { addBusyPartner, SECRETS_KEY } from '../restarts/served-index.js';
import { type Ended, program, type RunningProgram } from '../upgrade/next-version.js';

const BLOCKS = 300;
const DAY = 86_400;
const HOURS_APART = 2 * 3600;
const WALLETS = 7;
/** Five tokens. */
const WRONG_BY = 5n * 10n ** 18n;
const SEALED_WITHIN_MS = 150_000;
/** Midnight. */
const START = 1_760_054_400;

/** Blocks two hours apart, each with a stake. `salt` makes those of another fork differ. */
function blocks(from: number, count: number, salt = 0): StakeBlock[] {
  return Array.from({ length: count }, (_, index) => {
    const place = from + index;
    const amount = BigInt(1 + place + salt);
    const seconds = START + place * HOURS_APART + salt;
    return { seconds, transactions: [stake(aWallet(1 + (place % WALLETS)), amount)] };
  });
}

interface SealedRow {
  readonly day: number;
  readonly revision: number;
  readonly root: string;
}

class ReindexingBench {
  /** Has the indexer's database URL. */
  private readonly folder = mkdtempSync(join(tmpdir(), 'lowmark-urls-'));

  private constructor(
    readonly chain: TestChain,
    readonly test: TestDatabase,
    readonly database: Database,
    private readonly stakeSet: string,
  ) {}

  /** @param count number of blocks */
  static async start(count: number, stakeSet = 'default'): Promise<ReindexingBench> {
    const [chain, test] = await Promise.all([
      startChain({ deployedSeconds: START - DAY }),
      createTestDatabase(),
    ]);
    await chain.player.play(blocks(0, count));
    const bench = new ReindexingBench(chain, test, await test.open(), stakeSet);
    writeFileSync(join(bench.folder, 'indexer_database_url'), test.urlAs('indexer'));
    if (stakeSet !== 'default') {
      const migrated = program('cli', ['migrate'], {
        DATABASE_URL: test.url,
        STAKE_SETS: stakeSet,
      });
      expect(await migrated.ended).toMatchObject({ how: 0 });
    }
    return bench;
  }

  async stop(): Promise<void> {
    await this.chain.stop();
    await this.test.drop();
    rmSync(this.folder, { recursive: true });
  }

  get ofSet(): Database {
    return this.database.inSet(this.stakeSet);
  }

  get settings(): Record<string, string> {
    const { chain, stakeSet } = this;
    return {
      STAKE_SET: stakeSet,
      CHAIN_ID: String(chain.chainId),
      RPC_URLS: chain.rpc.url,
      FINALITY: 'depth:64',
      STAKE_CONTRACT: chain.contracts.staking,
      STAKE_START_BLOCK: String(chain.contracts.startBlock),
      TOKEN_CONTRACT: chain.contracts.token,
      AUDIT_HOUR_UTC: 'off',
      ...testConstants({ pollIntervalMs: 50 }),
    };
  }

  indexer(more: Readonly<Record<string, string>> = {}): Promise<IndexerProgram> {
    const { chain, test } = this;
    const constants = testConstants({ pollIntervalMs: 50, maxRangeBlocks: 100 });
    const settings = { ...this.settings, ...constants, ...more };
    return IndexerProgram.start(chain, test, chain.rpc.url, settings);
  }

  /** Starts `index …` with the owner's URL. */
  running(words: string, more: Readonly<Record<string, string>> = {}): RunningProgram {
    return program('cli', ['index', ...words.split(' ')], {
      ...this.settings,
      DATABASE_URL: this.test.url,
      SERVICE_DATABASE_URLS: this.folder,
      ...more,
    });
  }

  /** Runs `index …`, which must exit with 0. @returns its output */
  async index(words: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
    const { how, output } = await this.running(words, more).ended;
    expect({ how, output }).toEqual({ how: 0, output });
    return output;
  }

  async refused(words: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
    const { how, output }: Ended = await this.running(words, more).ended;
    expect({ how, output }).toEqual({ how: 1, output });
    return output;
  }

  /** Expects that the index is what the chain implies. */
  async expectIndexed(): Promise<void> {
    const { rpc, contracts } = this.chain;
    expect(await indexedTables(this.ofSet)).toEqual(await expectedTables(rpc, contracts.staking));
  }

  /** Waits until nothing is left to seal or to calculate again, and returns the revisions of all days. */
  async sealed(): Promise<SealedRow[]> {
    await eventually(async () => {
      const [row] = await this.ofSet.query<{ done: boolean }>({
        text: `SELECT (SELECT max(block_number) FROM staking.sealed_day) IS NOT DISTINCT FROM
            (SELECT max(block_number) FROM (SELECT max(block) AS block_number FROM staking.balance_change c, staking.index_state s
              WHERE c.seconds / ${DAY} < s.finalised_seconds / ${DAY} AND c.block <= s.finalised_number) AS last)
            AND NOT EXISTS (SELECT FROM staking.seal_recheck) AS done FROM staking.index_state`,
      });
      return row?.done === true;
    }, SEALED_WITHIN_MS);
    return this.ofSet.query<SealedRow>({
      text: `SELECT day, revision, encode(root, 'hex') AS root FROM staking.sealed_day ORDER BY day, revision`,
    });
  }

  /** Changes rows of a wallet by hand, on all days from the block on. */
  async falsify(block: bigint): Promise<void> {
    const wallet = {
      text: '',
      values: [Buffer.from(aWallet(1).slice(2), 'hex'), block.toString()],
    };
    await this.ofSet.transaction(async (client) => {
      await client.query('SET LOCAL session_replication_role = replica');
      await client.query({
        ...wallet,
        text: `UPDATE staking.balance_change SET balance = balance + ${WRONG_BY} WHERE wallet = $1 AND block >= $2`,
      });
      await client.query({
        ...wallet,
        text: `UPDATE staking.balance_day SET low = low + ${WRONG_BY}, closing = closing + ${WRONG_BY} WHERE wallet = $1
          AND day > (SELECT min(seconds) / ${DAY} FROM staking.balance_change WHERE wallet = $1 AND block >= $2)`,
      });
    });
  }

  /** Changes the sums of the days as well, so that days with rows of `falsify` are sealed. */
  async falsifySums(block: bigint): Promise<void> {
    await this.ofSet.query({
      text: `UPDATE staking.day_total SET total = total + ${WRONG_BY} WHERE day >= (SELECT min(day) FROM staking.balance_day WHERE wallet = $1
        AND day > (SELECT min(seconds) / ${DAY} FROM staking.balance_change WHERE wallet = $1 AND block >= $2))`,
      values: [Buffer.from(aWallet(1).slice(2), 'hex'), block.toString()],
    });
  }

  /** Has all sealed days calculated again. */
  async recheck(): Promise<void> {
    await this.ofSet.query({ text: 'INSERT INTO staking.seal_recheck (from_day) VALUES (0)' });
  }
}

let bench: ReindexingBench;
let indexer: IndexerProgram;
let api: ApiProgram | undefined;
afterEach(async () => {
  await api?.kill();
  await indexer.kill();
  await bench.stop();
});

async function aFollowedChain(stakeSet?: string): Promise<void> {
  bench = await ReindexingBench.start(BLOCKS, stakeSet);
  indexer = await bench.indexer();
  await indexer.level(bench.chain);
}

/** An api that serves the index, and what it answers of a wallet. */
async function anApi(): Promise<{ amounts(): Promise<number[]> }> {
  api = await ApiProgram.start({
    databaseUrl: bench.test.urlAs('api'),
    secretsKey: SECRETS_KEY,
  });
  const { apiKey, sharedSecret } = await addBusyPartner(bench.database);
  const client = new StakingClient({ apiKey, sharedSecret, baseUrl: api.url, retries: 0 });
  return {
    amounts: async () =>
      (await client.snapshots(aWallet(1), { lastDays: 3 })).stakingSnapshots.map(
        ({ snapshotAmount }) => snapshotAmount,
      ),
  };
}

/** Expects that the running indexer goes on with the index in use. */
async function expectFollowed(from: number): Promise<void> {
  await bench.chain.player.play(blocks(from, 2));
  await indexer.level(bench.chain);
  await bench.expectIndexed();
}

async function schemas(): Promise<string[]> {
  const rows = await bench.database.query<{ name: string }>({
    text: `SELECT nspname AS name FROM pg_namespace WHERE nspname ~ '^stak' ORDER BY 1`,
  });
  return rows.map(({ name }) => name);
}

/** The newest block of the new index; undefined where there is none. */
async function nextHead(): Promise<bigint | undefined> {
  if (!(await schemas()).includes('staking_next')) return undefined;
  return (await new IndexStore(bench.database.inSet('default', 'next')).state())?.head.number;
}

describe('index again, of a stake set', () => {
  it('replaces wrong rows while the programs go on, goes back, and removes the old index when told', async () => {
    await aFollowedChain('golf');
    const schema = 'stakes_golf';
    const others = (await schemas()).filter((name) => name !== schema);
    await bench.falsify(150n);
    const dry = await bench.index('again --dry-run');
    expect(dry).toMatch(/^STAKE_START_BLOCK +2 +the same$/m);
    expect(dry).toMatch(/^to read +302 blocks/m);
    expect(await schemas()).toEqual([...others, schema].sort());

    const compared = await bench.index('again --compare-only');
    expect(compared).toMatch(/^Compared at block 239: 7 wallets, 1 different/m);
    expect(compared).toContain('Not exchanged');
    expect(await bench.index('again')).toContain('The new index is in use.');
    await bench.expectIndexed();
    await expectFollowed(BLOCKS);
    expect(await schemas()).toEqual([...others, schema, `${schema}_before`].sort());
    expect(await bench.index('again')).toContain('The new index is in use since');

    expect(await bench.refused('again --undo')).toContain('NOT_CONFIRMED');
    await bench.index('again --undo --yes');
    await bench.chain.player.play(blocks(BLOCKS + 2, 2));
    await indexer.level(bench.chain);
    await expect(bench.expectIndexed()).rejects.toThrow();
    expect(await bench.refused('again --drop-old --yes')).toContain('NO_INDEX_BEFORE');

    await bench.index('again');
    await expectFollowed(BLOCKS + 4);
    await bench.index('again --drop-old --yes');
    expect(await schemas()).toEqual([...others, schema].sort());
    await expectFollowed(BLOCKS + 6);
  }, 300_000);
});

describe('index again', () => {
  it('goes on after it was killed: in the first sync, and in the exchange; then the api answers from the new index', async () => {
    await aFollowedChain();
    const served = await anApi();
    const right = await served.amounts();
    await bench.falsify(150n);
    await bench.database.query({
      text: 'UPDATE staking.index_state SET generation = gen_random_uuid()',
    });
    expect(await served.amounts()).not.toEqual(right);
    const slow = bench.running('again', testConstants({ pollIntervalMs: 50, maxRangeBlocks: 1 }));
    await eventually(async () => ((await nextHead()) ?? 0n) > 20n);
    slow.kill();
    await slow.ended;
    // The new indexer does not outlive its command.
    const writers = {
      text: `SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = 4216`,
    };
    await eventually(async () => (await bench.database.query(writers)).length === 0);
    const stoppedAt = await nextHead();
    expect(stoppedAt).toBeLessThan(303n);

    const reader = await bench.database.pool.connect();
    await reader.query('BEGIN; SELECT FROM staking.balance_change LIMIT 1');
    const waiting = bench.running('again');
    const waits = {
      text: `SELECT FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'`,
    };
    await eventually(async () => (await bench.database.query(waits)).length > 0, {
      withinMs: 60_000,
      everyMs: 5,
    });
    waiting.kill();
    await waiting.ended;
    await reader.query('COMMIT');
    reader.release();
    expect(await schemas()).toEqual(['staking', 'staking_next']);
    // The index in use is served and followed meanwhile.
    await bench.chain.player.play(blocks(BLOCKS, 1));
    await indexer.level(bench.chain);

    expect(await bench.index('again')).toMatch(/1 different[^]*The new index is in use\./);
    // At once, also of a wallet that the api has in its cache.
    expect(await served.amounts()).toEqual(right);
    await bench.expectIndexed();
    await expectFollowed(BLOCKS + 1);
  }, 300_000);

  it('says what is wrong with the settings, and makes an index with others, which the indexer then has to have', async () => {
    await aFollowedChain();
    const said = await bench.refused('again', { STAKE_CONTRACT: aWallet(0xdead) });
    expect(said).toMatch(/NO_CONTRACT|there is no contract/);
    await bench.index('again --undo --yes');
    expect(await schemas()).toEqual(['staking']);
    expect(await bench.refused('again', { TOKEN_CONTRACT: '' })).toContain('SETTING_MISSING');
    const changed = { STAKE_START_BLOCK: '1' };
    const dry = await bench.index('again --dry-run', changed);
    expect(dry).toMatch(/^STAKE_START_BLOCK +2 +1$/m);
    await bench.index('again --compare-only', changed);
    expect(await bench.refused('again')).toContain('NEW_INDEX_DIFFERS');
    const ended = await bench.index('again', changed);
    expect(ended).toMatch(/ 0 different[^]*The settings have changed: restart the indexer/);
    await indexer.kill();
    indexer = await bench.indexer(changed);
    await expectFollowed(BLOCKS);
    const state = await new IndexStore(bench.database).state();
    expect(state?.settings).toMatchObject({ startBlock: '1' });
  }, 200_000);
});

async function head(): Promise<bigint | undefined> {
  return (await new IndexStore(bench.database).state())?.head.number;
}

describe('index rewind', () => {
  it('mends rows that were changed by hand; a sealed day gets a revision only if it comes out differently', async () => {
    await aFollowedChain();
    const sealed = await bench.sealed();
    expect(sealed.length).toBeGreaterThan(15);
    await bench.falsify(150n);
    await bench.falsifySums(150n);
    await bench.recheck();
    const wrong = (await bench.sealed()).filter(({ revision }) => revision === 2);
    expect(wrong.length).toBeGreaterThan(0);
    const before = await head();
    const planned = await bench.index('rewind --to 140 --dry-run');
    expect(planned).toMatch(/^index +ends at block 303\nto +block 140 of 2025-\d\d-/);
    expect(planned).toMatch(/^taken back +163 blocks, 163 changes\nwallets +7\nsealed days +/m);
    expect(await bench.refused('rewind --to 140')).toContain('NOT_CONFIRMED');
    expect(await head()).toBe(before);
    const said = await bench.index('rewind --to 140 --yes');
    expect(said).toMatch(/^sealed days +\d+, from 2025-1\d-\d\d to 2025-/m);
    expect(said).toContain(
      'The index ends at block 140; 163 changes taken back. The indexer reads on from there.',
    );
    await bench.chain.player.play(blocks(BLOCKS, 1));
    await indexer.level(bench.chain);
    await bench.expectIndexed();
    expect(await bench.refused('rewind --to 1000 --yes')).toContain('REWIND_REFUSED');
    expect(await bench.refused('rewind --yes')).toContain('nothing has to be taken back');
    const mended = await bench.sealed();
    for (const { day, root: right } of sealed) {
      const roots = mended.filter((one) => one.day === day).map(({ root }) => root);
      const wrongRoot = wrong.find((one) => one.day === day)?.root;
      expect(roots).toEqual(wrongRoot === undefined ? [right] : [right, wrongRoot, right]);
    }
  }, 400_000);

  it('is what a reorganisation far below the final block asks for, and names the block that is safe', async () => {
    await aFollowedChain();
    await bench.sealed();
    const depth = 200;
    const fork = BLOCKS - depth;
    await bench.chain.player.reorganise(depth, blocks(fork, depth + 1, 1));
    await indexer.until('halted', ({ phase }) => phase === 'halted');
    const state = await new IndexStore(bench.database).state();
    expect(state?.halted?.reason).toMatch(/DEEP|no longer has the finalised block/);
    expect(state?.halted?.reason).toContain('index rewind --dry-run');
    const { startBlock } = bench.chain.contracts;
    const lastCommon = startBlock + BigInt(fork);
    const above = await bench.refused(`rewind --to ${lastCommon + 50n} --yes`);
    const safe = BigInt(/are known to share is (\d+)/.exec(above)?.[1] ?? -1);
    // The last block of the newest day that is sealed and that both forks have.
    expect(safe).toBeLessThanOrEqual(lastCommon);
    expect(safe).toBeGreaterThan(lastCommon - 30n);
    expect(await bench.index('rewind --yes')).toContain(`The index ends at block ${safe}`);
    await indexer.level(bench.chain);
    await bench.expectIndexed();
  }, 300_000);
});
