import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import {
  createTestDatabase,
  StakingPlayer,
  startChain,
  type TestChain,
  type TestDatabase,
} from '#libs/testing';
import { type IndexerUnderTest, type IndexerUnderTestOptions, startIndexer } from './harness.js';
import { expectedTables, type IndexTables, indexedTables } from './oracle.js';

/** When the contracts of every test's chain were deployed; Unix seconds. */
export const START = 1_760_000_000;

/** A chain with the contracts and an empty index, new for each test of the file that makes one. */
export class IndexerSuite {
  chain!: TestChain;
  database!: TestDatabase;
  indexer: IndexerUnderTest | undefined;

  /**
   * @param prepare puts onto the chain what all tests of the file begin with. It is done once: the file has one chain then, which goes
   *   back to that point before each test. Default: each test has a chain of its own.
   */
  constructor(prepare?: (chain: TestChain) => Promise<unknown>) {
    let prepared: PreparedChain | undefined;
    if (prepare !== undefined) {
      beforeAll(async () => {
        prepared = await PreparedChain.start(prepare);
      });
      afterAll(() => prepared?.stop());
    }
    beforeEach(async () => {
      [this.chain, this.database] = await Promise.all([
        prepared?.again() ?? startChain({ deployedSeconds: START }),
        createTestDatabase(),
      ]);
    });
    afterEach(async () => {
      await this.indexer?.stop();
      this.indexer = undefined;
      await Promise.all([prepared === undefined && this.chain.stop(), this.database.drop()]);
    });
  }

  /** The indexer that is stopped when the test ends. */
  async start(options: Partial<IndexerUnderTestOptions> = {}): Promise<IndexerUnderTest> {
    const { chain, database } = this;
    this.indexer = await startIndexer({ chain, database, ...options });
    return this.indexer;
  }

  async tables(): Promise<IndexTables> {
    return indexedTables(await this.database.open());
  }

  /** The tables hold what the chain says, and nothing else. */
  async expectIndexed(): Promise<void> {
    const { rpc, contracts } = this.chain;
    expect(await this.tables()).toEqual(await expectedTables(rpc, contracts.staking));
  }
}

/** A chain that can be had again as it was prepared. */
class PreparedChain {
  private constructor(
    private readonly chain: TestChain,
    private snapshot: string,
  ) {}

  static async start(prepare: (chain: TestChain) => Promise<unknown>): Promise<PreparedChain> {
    const chain = await startChain({ deployedSeconds: START });
    await prepare(chain);
    return new PreparedChain(chain, await chain.rpc.call<string>('evm_snapshot'));
  }

  async again(): Promise<TestChain> {
    const { rpc, contracts } = this.chain;
    // A snapshot can be gone back to once.
    if (!(await rpc.call<boolean>('evm_revert', this.snapshot))) {
      throw new Error('the chain does not go back to what was prepared');
    }
    this.snapshot = await rpc.call<string>('evm_snapshot');
    // One that remembers nothing of the test before.
    return { ...this.chain, player: new StakingPlayer(rpc, contracts) };
  }

  stop(): Promise<void> {
    return this.chain.stop();
  }
}
