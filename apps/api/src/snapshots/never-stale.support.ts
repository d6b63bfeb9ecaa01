/**
 * Queries replicas of the API without a pause while the index changes, and compares each answer with what was
 * committed. Named so that it counts as a test file, but holds no tests.
 */
import { expect } from '@jest/globals';
import { IndexStore, type IndexBatch, PriceStore } from '#libs/db';
import { type BlockRef, dayOf } from '#libs/domain';
import { aBlock, aFold, anInitialIndex, aWallet, type TestDatabase } from '#libs/testing/database';
import { type Api, NOON_MS } from '../testing/api-harness.support.js';

export const ALICE = aWallet(1);
const UNIT = 10n ** 18n;
const NOON = Math.floor(NOON_MS / 1000);

/**
 * An index whose state can be told from each answer: the balance of one wallet, staked 48 hours ago, is the number of
 * the newest change to the index, and so is the price.
 */
export class ChangingIndex {
  private head: BlockRef = aBlock(0, NOON - 4 * 86_400);
  private fence = 0n;
  private value = 0;
  private started = 0;

  private constructor(
    private readonly index: IndexStore,
    private readonly prices: PriceStore,
  ) {}

  static async on(test: TestDatabase): Promise<ChangingIndex> {
    const database = await test.open();
    const changing = new ChangingIndex(new IndexStore(database), new PriceStore(database));
    await changing.index.create(anInitialIndex({ head: changing.head }));
    changing.fence = await changing.index.takeLead();
    changing.started += 1;
    await changing.stakeAgain();
    return changing;
  }

  /** The lowest number that an answer to a request sent from now on may have. */
  get committed(): number {
    return this.value;
  }

  /** The highest number that an answer may have. */
  get begun(): number {
    return this.started;
  }

  /** A reorganisation: rolls everything back, and stakes another balance in the new blocks. */
  async reorganise(): Promise<void> {
    this.started += 1;
    const to = aBlock(0, NOON - 4 * 86_400);
    await this.index.rollback({ fence: this.fence, head: this.head, to });
    this.head = to;
    await this.stakeAgain();
  }

  /** Stores a price that was observed at `nowMs`. */
  async price(nowMs: number): Promise<number> {
    const usd = this.value + 1;
    await this.prices.add({ usd: String(usd), observedAt: new Date(nowMs), source: 'fixed' });
    return usd;
  }

  private async stakeAgain(): Promise<void> {
    const value = this.value + 1;
    const staked = aBlock(10, NOON - 2 * 86_400, value);
    const balance = BigInt(value) * UNIT;
    const day = dayOf(staked.timestampSeconds);
    const rows = {
      changes: [
        { wallet: ALICE, blockNumber: 10n, timestampSeconds: staked.timestampSeconds, balance },
      ],
      days: [{ wallet: ALICE, day, low: 0n, closing: balance }],
    };
    await this.commit({ folded: aFold({ ...rows, total: balance }), head: staked });
    await this.commit({ head: aBlock(1000, NOON, value) });
    this.value = value;
  }

  private async commit(batch: Pick<IndexBatch, 'folded' | 'head'>): Promise<void> {
    const { fence, head: previousHead } = this;
    await this.index.commit({ ...batch, fence, previousHead, blocks: [batch.head], synced: true });
    this.head = batch.head;
  }
}

export interface Found {
  /** The balance at the end of yesterday; undefined where the answer was 404, Infinity where it was 503. */
  readonly balance: number | undefined;
  readonly usd: number | undefined;
  readonly days: readonly string[];
}

export async function ask(api: Api, apiKey: string, lastDays = 2): Promise<Found> {
  const url = `${api.url}/api/staking/snapshots?walletAddress=${ALICE}&lastDays=${lastDays}`;
  const response = await fetch(url, { headers: { 'x-api-key': apiKey } });
  const body = (await response.json()) as {
    stakingSnapshots?: { from: string; snapshotAmount: number }[];
    exchangeRateToUSD?: number;
  };
  // During a rollback the API may answer that the window is not covered, or that the wallet has no history.
  expect([200, 404, 503]).toContain(response.status);
  const days = body.stakingSnapshots ?? [];
  return {
    balance: response.status === 503 ? Infinity : days.at(-1)?.snapshotAmount,
    usd: body.exchangeRateToUSD,
    days: days.map(({ from }) => from.slice(0, 10)),
  };
}
