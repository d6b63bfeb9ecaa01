import { expect } from '@jest/globals';
import { type Database, type SealedDay } from '#libs/db';
import { aWallet, stake, withdraw } from '#libs/testing';
import { type IndexerUnderTest } from './harness.js';
import { SealBench, type SealBenchOptions } from './seal-bench.js';
import { expectedDays } from './seal-oracle.js';
import { IndexerSuite, START } from './suite.js';

export const DAY = 86_400;
export const FINAL_DEPTH = 3;
export const FINALITY = `depth:${FINAL_DEPTH}`;
/** The first one after the contracts were deployed. */
export const MIDNIGHT = (Math.floor(START / DAY) + 1) * DAY;

/** A chain whose blocks are final soon, and its sealed days. */
export class SealSuite extends IndexerSuite {
  async anIndexer(): Promise<IndexerUnderTest> {
    const indexer = await this.start({ finality: FINALITY });
    await this.settled(indexer);
    return indexer;
  }

  /** Level, with what is final noted as such. */
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
      ...{ databaseUrl, status, rpcUrl: chain.rpc.url, firstBlock: chain.contracts.startBlock },
      database: await this.database.open({ url: databaseUrl }),
      ...options,
    });
  }

  /** Oldest first. */
  async sealedDays(bench: SealBench): Promise<SealedDay[]> {
    return (await bench.days.page({ limit: 1000 })).reverse();
  }

  /** All days that are final on the chain as it is now are sealed as the oracle says, and no others. */
  async expectSealed(bench: SealBench): Promise<SealedDay[]> {
    const { rpc, contracts, player } = this.chain;
    const settled = Number(await player.head()) - FINAL_DEPTH;
    const range = { first: Number(contracts.startBlock), settled };
    const expected = await expectedDays(rpc, contracts.staking, range);
    const sealed = await this.sealedDays(bench);
    expect(expected.length).toBeGreaterThan(0);
    expect(sealed).toMatchObject(expected);
    expect(sealed).toHaveLength(expected.length);
    return sealed;
  }

  /** One wallet's stake of 100, on the second day 40 of it are withdrawn for an hour; two days that are final. */
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

  /** The second day of that wallet is changed behind the program's back. */
  async tamper(database: Database, low: bigint): Promise<void> {
    await database.query(
      { text: 'UPDATE staking.balance_day SET low = $1 WHERE wallet = $2 AND day = $3' },
      [low, Buffer.from(aWallet(0x1001).slice(2), 'hex'), MIDNIGHT / DAY],
    );
  }
}
