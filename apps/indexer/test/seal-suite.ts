import { expect } from '@jest/globals';
import { type Database, type SealedDay } from '#libs/db';
import { stake, withdraw } from '#libs/testing/chain';
import { eventually } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import { type IndexerUnderTest } from './harness.js';
import { SealBench, type SealBenchOptions } from './seal-bench.js';
import { expectedDays } from './seal-oracle.js';
import { IndexerSuite, START } from './suite.js';

export const DAY = 86_400;
export const FINAL_DEPTH = 3;
export const FINALITY = `depth:${FINAL_DEPTH}`;
/** First midnight after the contracts were deployed; Unix time in seconds. */
export const MIDNIGHT = (Math.floor(START / DAY) + 1) * DAY;

/** A chain whose blocks soon become final, and its sealed days. */
export class SealSuite extends IndexerSuite {
  async anIndexer(): Promise<IndexerUnderTest> {
    const indexer = await this.start({ finality: FINALITY });
    await this.settled(indexer);
    return indexer;
  }

  /** Waits until the index is level, with all final blocks stored as final and verified. */
  async settled(indexer: IndexerUnderTest): Promise<void> {
    await indexer.level();
    const final = (await this.chain.player.head()) - BigInt(FINAL_DEPTH);
    await indexer.until(
      `final up to block ${final}`,
      ({ finalised, verifiedNumber = -1n }) =>
        finalised?.number === final && verifiedNumber >= final,
    );
  }

  async aBench(
    { status }: IndexerUnderTest,
    options: Partial<SealBenchOptions> = {},
  ): Promise<SealBench> {
    const { chain } = this;
    const databaseUrl = this.database.urlAs('indexer');
    return new SealBench({
      ...{ databaseUrl, status, rpcUrls: [chain.rpc.url], firstBlock: chain.contracts.startBlock },
      database: await this.database.open({ url: databaseUrl }),
      ...options,
    });
  }

  /** Oldest first. */
  async sealedDays(bench: SealBench): Promise<SealedDay[]> {
    return (await bench.days.page({ limit: 1000 })).reverse();
  }

  /** Expects exactly the days that are final on the present chain, sealed as the oracle computes them. */
  async expectSealed(bench: SealBench): Promise<SealedDay[]> {
    const { rpc, contracts, player } = this.chain;
    const settled = Number(await player.head()) - FINAL_DEPTH;
    const range = { first: Number(contracts.startBlock), settled };
    const expected = await expectedDays(rpc, contracts.staking, range);
    let sealed = await this.sealedDays(bench);
    // On a busy machine the indexer can lose its lead for a moment, and what is missing is sealed afterwards.
    for (let stops = 0; sealed.length < expected.length && bench.stops > stops;) {
      stops = bench.stops;
      await eventually(() => bench.isLeading);
      await bench.service.tick();
      sealed = await this.sealedDays(bench);
    }
    expect(expected.length).toBeGreaterThan(0);
    if (sealed.length !== expected.length) {
      throw new Error(
        `${sealed.length} days are sealed of ${expected.length}: ${JSON.stringify(bench.log)}`,
      );
    }
    expect(sealed).toMatchObject(expected);
    return sealed;
  }

  /** Two final days: a wallet stakes 100, of which 40 are withdrawn for an hour on the second day. */
  async twoDays(): Promise<void> {
    const { player } = this.chain;
    const wallet = aWallet(0x1001);
    await player.block(START + 60, stake(wallet, 100n));
    await player.block(MIDNIGHT + 3600, withdraw(wallet, 40n));
    await player.block(MIDNIGHT + 7200, stake(wallet, 40n), stake(aWallet(0x1002), 7n));
    await this.finalBlocksFrom(MIDNIGHT + DAY);
  }

  async finalBlocksFrom(seconds: number): Promise<void> {
    const { player } = this.chain;
    for (let block = 0; block <= FINAL_DEPTH; block += 1) {
      await player.block(seconds + block * 12);
    }
  }

  /** Changes the stored low of that wallet on the second day without the indexer's knowledge. */
  async tamper(database: Database, low: bigint): Promise<void> {
    await database.query(
      { text: 'UPDATE staking.balance_day SET low = $1 WHERE wallet = $2 AND day = $3' },
      [low, Buffer.from(aWallet(0x1001).slice(2), 'hex'), MIDNIGHT / DAY],
    );
  }
}
