import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import { StakingPlayer, startChain, type TestChain } from '#libs/testing/chain';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { type IndexerUnderTest, type IndexerUnderTestOptions, startIndexer } from './harness.js';
import { expectedTables, type IndexTables, indexedTables } from './oracle.js';

/** Time at which the contracts of every test's chain were deployed; Unix time in seconds. */
export const START = 1_760_000_000;

/**
 * A chain with the contracts, and an empty index. The tests of a file share a chain and a database: before each test the
 * chain is reset and the database is emptied.
 */
export class IndexerSuite {
  chain!: TestChain;
  database!: TestDatabase;
  indexer: IndexerUnderTest | undefined;

  /** @param prepare writes the blocks with which all tests of the file begin */
  constructor(prepare: (chain: TestChain) => Promise<unknown> = () => Promise.resolve()) {
    let prepared: PreparedChain;
    beforeAll(async () => {
      [prepared, this.database] = await Promise.all([
        PreparedChain.start(prepare),
        createTestDatabase(),
      ]);
    });
    beforeEach(async () => {
      [this.chain] = await Promise.all([prepared.again(), this.database.empty()]);
    });
    afterEach(async () => {
      await this.indexer?.stop();
      this.indexer = undefined;
      await this.database.close();
    });
    afterAll(() => Promise.all([prepared.stop(), this.database.drop()]));
  }

  /** Starts an indexer that is stopped when the test ends. */
  async start(options: Partial<IndexerUnderTestOptions> = {}): Promise<IndexerUnderTest> {
    const { chain, database } = this;
    this.indexer = await startIndexer({ chain, database, ...options });
    return this.indexer;
  }

  async tables(): Promise<IndexTables> {
    return indexedTables(await this.database.open());
  }

  /** Expects that the tables hold exactly what the chain implies. */
  async expectIndexed(): Promise<void> {
    const { rpc, contracts } = this.chain;
    expect(await this.tables()).toEqual(await expectedTables(rpc, contracts.staking));
  }
}

/** A chain that can be reset to its prepared state. */
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
    // A snapshot can be reverted to only once.
    if (!(await rpc.call<boolean>('evm_revert', this.snapshot))) {
      throw new Error('the chain does not go back to what was prepared');
    }
    this.snapshot = await rpc.call<string>('evm_snapshot');
    // A new player, without memory of the test before.
    return { ...this.chain, player: new StakingPlayer(rpc, contracts) };
  }

  stop(): Promise<void> {
    return this.chain.stop();
  }
}
