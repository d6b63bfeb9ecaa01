import { afterEach, beforeEach, expect } from '@jest/globals';
import { createTestDatabase, startChain, type TestChain, type TestDatabase } from '#libs/testing';
import { type IndexerUnderTest, type IndexerUnderTestOptions, startIndexer } from './harness.js';
import { expectedTables, type IndexTables, indexedTables } from './oracle.js';

/** When the contracts of every test's chain were deployed; Unix seconds. */
export const START = 1_760_000_000;

/** A chain with the contracts and an empty index, new for each test of the file that makes one. */
export class IndexerSuite {
  chain!: TestChain;
  database!: TestDatabase;
  indexer: IndexerUnderTest | undefined;

  constructor() {
    beforeEach(async () => {
      [this.chain, this.database] = await Promise.all([
        startChain({ deployedSeconds: START }),
        createTestDatabase(),
      ]);
    });
    afterEach(async () => {
      await this.indexer?.stop();
      this.indexer = undefined;
      await Promise.all([this.chain.stop(), this.database.drop()]);
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
