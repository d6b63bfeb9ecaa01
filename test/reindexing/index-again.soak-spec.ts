/** Makes the index again beside the one that a running indexer follows and the API serves. Needs a build. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { testConstants } from '#libs/config';
import { IndexStore } from '#libs/db';
import { eventually } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import { type IndexerProgram } from '../../apps/indexer/test/indexer-program.js';
import { ApiProgram } from '../restarts/api-program.js';
import { addBusyPartner, SECRETS_KEY } from '../restarts/served-index.js';
import { StakingClient } from '#libs/partner-sdk';
import { blocks, ReindexingBench } from './reindexing.support.js';

const BLOCKS = 300;

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
