/** Tests one installation with three contracts on two chains, with a partner for each stake set. Needs a build. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Database } from '#libs/db';
import { deployStaking, stake } from '#libs/devchain';
import { StakingClient } from '#libs/partner-sdk';
import { StakingPlayer, startChain, type TestChain } from '#libs/testing/chain';
import { eventually } from '#libs/testing/clock';
import { aWallet, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { IndexerProgram } from '../../apps/indexer/test/indexer-program.js';
import { ApiProgram } from '../restarts/api-program.js';
import { SECRETS_KEY } from '../restarts/served-index.js';
import { program } from '../upgrade/next-version.js';

const DAY = 86_400;
const TOKEN = 10n ** 18n;
const PLAYER = aWallet(0x77);
const SETS = ['default', 'golf', 'chess'] as const;
type StakeSet = (typeof SETS)[number];
/** Tokens that the player stakes in each set ten days ago and two days ago. */
const STAKES: Record<StakeSet, readonly [bigint, bigint]> = {
  default: [5n, 1n],
  golf: [70n, 10n],
  chess: [900n, 100n],
};

const now = Math.floor(Date.now() / 1000);
let database: TestDatabase;
let open: Database;
let chains: Record<StakeSet, TestChain>;
let api: ApiProgram;
const indexers = new Map<StakeSet, IndexerProgram>();
const clients = new Map<StakeSet, StakingClient>();

beforeAll(async () => {
  const [home, away] = await Promise.all([aChain(), aChain()]);
  const contracts = await deployStaking(home.rpc, now - 11 * DAY);
  const golf = { ...home, contracts, player: new StakingPlayer(home.rpc, contracts) };
  chains = { default: home, golf, chess: away };
  for (const set of SETS) await play(set, 10, STAKES[set][0]);
  for (const set of SETS) await play(set, 2, STAKES[set][1]);
  await Promise.all([home.player.mine(now), away.player.mine(now)]);

  database = await createTestDatabase();
  expect(await cli('migrate', { STAKE_SETS: 'golf,chess' })).toMatch(
    /^Applied 2: .* of golf, .* of chess\n/,
  );
  open = await database.open();
  for (const set of SETS) indexers.set(set, await startIndexer(set));
  await level();
  api = await ApiProgram.start({ databaseUrl: database.urlAs('api'), secretsKey: SECRETS_KEY });
  for (const set of SETS) {
    const args = ['partner', 'create', '--name', `${set} game`, '--json', '--stake-set', set];
    const { apiKey, sharedSecret } = JSON.parse(await cli(args)) as Record<string, string>;
    if (apiKey === undefined || sharedSecret === undefined) throw new Error('no credential');
    clients.set(set, client({ apiKey, sharedSecret }));
  }
});
afterAll(async () => {
  await api.kill();
  await Promise.all([...indexers.values()].map((indexer) => indexer.kill()));
  await Promise.all([chains.default.stop(), chains.chess.stop()]);
  await database.drop();
});

function client(credential: { apiKey: string; sharedSecret: string }): StakingClient {
  return new StakingClient({ ...credential, baseUrl: api.url, retries: 0 });
}

const aChain = (): Promise<TestChain> => startChain({ deployedSeconds: now - 11 * DAY });

/** Stakes at noon of a day in the past. Stakes in different sets differ by a second, since two sets share a chain. */
async function play(set: StakeSet, daysAgo: number, tokens: bigint): Promise<void> {
  const noon = Math.floor(now / DAY) * DAY - daysAgo * DAY + DAY / 2;
  const seconds = noon + SETS.indexOf(set);
  await chains[set].player.block(seconds, stake(PLAYER, tokens * TOKEN));
}

function startIndexer(set: StakeSet): Promise<IndexerProgram> {
  return IndexerProgram.start(chains[set], database, chains[set].rpc.url, { STAKE_SET: set });
}

function indexerOf(set: StakeSet): IndexerProgram {
  const indexer = indexers.get(set);
  if (indexer === undefined) throw new Error(`no indexer of ${set}`);
  return indexer;
}

async function level(): Promise<void> {
  for (const set of SETS) await indexerOf(set).level(chains[set]);
}

/** Runs a command, which must exit with 0. @returns its output */
async function cli(
  args: string | readonly string[],
  settings: Record<string, string> = {},
): Promise<string> {
  const { how, output } = await lowmark(args, settings);
  expect({ how, output }).toEqual({ how: 0, output });
  return output;
}

function lowmark(args: string | readonly string[], settings: Record<string, string>) {
  const given = typeof args === 'string' ? args.split(' ') : args;
  const DATABASE_URL = given[0] === 'migrate' ? database.url : database.urlAs('cli');
  return program('cli', given, { DATABASE_URL, SECRETS_KEY, ...settings }).ended;
}

/** The amounts of the last nine days, oldest first. The stake of ten days ago counts from the first day's beginning. */
function amountsOf(set: StakeSet): number[] {
  const [first, second] = STAKES[set].map(Number) as [number, number];
  return [...Array<number>(8).fill(first), first + second];
}

function clientOf(set: StakeSet): StakingClient {
  const found = clients.get(set);
  if (found === undefined) throw new Error(`no partner of ${set}`);
  return found;
}

async function amounts(by: StakeSet): Promise<number[]> {
  const { stakingSnapshots } = await clientOf(by).snapshots(PLAYER, { lastDays: 9 });
  return stakingSnapshots.map(({ snapshotAmount }) => snapshotAmount);
}

const TABLES = ['index_state', 'block', 'balance_change', 'balance_day', 'price'];
async function contentOf(set: StakeSet): Promise<unknown[]> {
  const all = [];
  for (const table of TABLES) {
    const rows = await open.inSet(set).query({
      text: `SELECT to_jsonb(t) - 'updated_at' - 'synced_at' AS row FROM staking.${table} t`,
    });
    all.push(rows.map(({ row }) => JSON.stringify(row)).sort());
  }
  return all;
}

describe('an installation of several contracts', () => {
  it('tells the sets apart in the figures of the indexers; the default one’s are as ever', async () => {
    expect(await indexerOf('golf').metrics()).toMatch(
      /lowmark_index_head_block\{.*stake_set="golf"/,
    );
    expect(await indexerOf('default').metrics()).not.toContain('stake_set');
  });

  it('is looked at set by set by the commands', async () => {
    const settings = { RPC_URLS: chains.chess.rpc.url, STAKE_SET: 'golf' };
    const audit = await cli('audit --stake-set chess --json --wallets all', settings);
    expect(JSON.parse(audit)).toMatchObject({ agrees: true, wallets: 1 });
    const { output } = await lowmark('doctor --stake-set golf --json', {});
    const { findings } = JSON.parse(output) as { findings: { what: string; found: string }[] };
    const found = (what: string) => findings.find((one) => one.what === what)?.found;
    expect(found('stake set default')).toContain(chains.default.contracts.staking);
    expect(found('stake set chess')).toContain(`on chain ${chains.chess.chainId}`);
    expect(found('stake set golf')).toBeUndefined();
    expect(found('indexer')).toBe('one holds the lead');
  });
});

describe('what happens to one set', () => {
  it('leaves the others as they are: a reorganisation, and being indexed again', async () => {
    const [home, golf] = [await contentOf('default'), await contentOf('golf')];
    const { player } = chains.chess;
    const noon = Math.floor(now / DAY) * DAY - DAY / 2;
    await player.reorganise(1, [
      { seconds: noon, transactions: [stake(PLAYER, 4000n * TOKEN)] },
      { seconds: now + 1, transactions: [] },
    ]);
    await indexerOf('chess').level(chains.chess);
    // Yesterday's low is the balance of its morning. Two days ago the old stake was the low.
    expect((await amounts('chess')).at(-1)).toBe(1000);
    expect(
      await open.inSet('chess').query({ text: 'SELECT rollbacks::int FROM staking.index_state' }),
    ).toEqual([{ rollbacks: 1 }]);

    await indexerOf('chess').stop();
    const tables = ['balance_change', 'balance_day', 'block', 'index_state', 'audit_run'];
    const list = tables.map((table) => `staking.${table}`).join(', ');
    await open.inSet('chess').query({ text: `TRUNCATE ${list}` });
    await expect(amounts('chess')).rejects.toMatchObject({ status: 503 });
    expect(await amounts('golf')).toEqual(amountsOf('golf'));
    indexers.set('chess', await startIndexer('chess'));
    await indexerOf('chess').level(chains.chess);
    expect((await amounts('chess')).at(-1)).toBe(1000);

    expect(await contentOf('default')).toEqual(home);
    expect(await contentOf('golf')).toEqual(golf);
  });

  it('follows a partner that is bound to another set, within seconds', async () => {
    await cli(['partner', 'set', 'golf game', '--stake-set', 'default']);
    await eventually(
      async () => (await amounts('golf').catch(() => [])).join() === amountsOf('default').join(),
    );
  });
});
