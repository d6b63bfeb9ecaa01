/** A chain of a month, the indexer's program that follows it, and the commands. Counts as a test file without being one. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { testConstants } from '#libs/config';
import { type Database } from '#libs/db';
import { stake, type StakeBlock } from '#libs/devchain';
import { startChain, type TestChain } from '#libs/testing/chain';
import { eventually } from '#libs/testing/clock';
import { aWallet, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { IndexerProgram } from '../../apps/indexer/test/indexer-program.js';
import { expectedTables, indexedTables } from '../../apps/indexer/test/oracle.js';
import { type Ended, program, type RunningProgram } from '../upgrade/next-version.js';

export const DAY = 86_400;
const HOURS_APART = 2 * 3600;
const WALLETS = 7;
/** Five tokens. */
const WRONG_BY = 5n * 10n ** 18n;
const SEALED_WITHIN_MS = 150_000;
/** Midnight. */
const START = 1_760_054_400;

/** Blocks two hours apart, each with a stake. `salt` makes those of another fork differ. */
export function blocks(from: number, count: number, salt = 0): StakeBlock[] {
  return Array.from({ length: count }, (_, index) => {
    const place = from + index;
    const amount = BigInt(1 + place + salt);
    const seconds = START + place * HOURS_APART + salt;
    return { seconds, transactions: [stake(aWallet(1 + (place % WALLETS)), amount)] };
  });
}

export interface SealedRow {
  readonly day: number;
  readonly revision: number;
  readonly root: string;
}

export class ReindexingBench {
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
