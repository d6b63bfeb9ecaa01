/**
 * Replicas of the API are queried without a pause while the index changes, and each answer is compared with what was
 * committed. The simulation of the core does the same with one process.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { IndexStore, type IndexBatch, PriceStore } from '#libs/db';
import { type BlockRef, dayOf } from '#libs/domain';
import { aBlock, aFold, anInitialIndex, aWallet, type TestDatabase } from '#libs/testing/database';
import { startRedis, type TestRedis } from '#libs/testing/redis';
import { addPartner, type Api, NOON_MS, startApi } from '../testing/api-harness.support.js';

const ALICE = aWallet(1);
const UNIT = 10n ** 18n;
const NOON = Math.floor(NOON_MS / 1000);

/**
 * An index whose state can be told from each answer: the balance of one wallet, staked 48 hours ago, is the number of
 * the newest change to the index, and so is the price.
 */
class ChangingIndex {
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

interface Found {
  /** The balance at the end of yesterday; undefined where the answer was 404, Infinity where it was 503. */
  readonly balance: number | undefined;
  readonly usd: number | undefined;
  readonly days: readonly string[];
}

async function ask(api: Api, apiKey: string, lastDays = 2): Promise<Found> {
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

let redis: TestRedis;
let replicas: Api[];
let apiKey: string;
let index: ChangingIndex;

async function start(settings: (replica: number) => Record<string, string>): Promise<void> {
  const first = await startApi(settings(0));
  replicas = [first, await startApi(settings(1), first.database)];
  ({ apiKey } = await addPartner(first, 'hammer', { rate: 1_000_000, burst: 1_000_000 }));
  index = await ChangingIndex.on(first.database);
}
beforeEach(async () => {
  redis = await startRedis();
});
afterEach(async () => {
  for (const replica of replicas.toReversed()) await replica.stop();
  await redis.stop();
});

/** Asks all replicas without a pause until `changes` is done. */
async function whileAsking(
  changes: Promise<void>,
  check: (replica: Api) => Promise<void>,
): Promise<number> {
  let done = false;
  let asked = 0;
  const asking = [...replicas, ...replicas, ...replicas].map(async (replica) => {
    while (!done) {
      await check(replica);
      asked += 1;
    }
  });
  // A failed check or a failed change ends the test at once.
  const all = Promise.all(asking);
  await Promise.race([changes, all]).finally(() => (done = true));
  await all;
  return asked;
}

const SETTINGS: [string, () => (replica: number) => Record<string, string>][] = [
  ['with Redis', () => () => ({ REDIS_URL: redis.url })],
  [
    'with Redis for one of them',
    () => (replica) => (replica === 0 ? { REDIS_URL: redis.url } : {}),
  ],
];

it.each(SETTINGS)(
  '%s, no answer is older than its question while the index is reorganised again and again',
  async (_, settings) => {
    await start(settings());
    const changes = async (): Promise<void> => {
      for (let i = 0; i < 40; i += 1) await index.reorganise();
    };
    const asked = await whileAsking(changes(), async (replica) => {
      const before = index.committed;
      const { balance } = await ask(replica, apiKey);
      // Between rollback and re-indexing the wallet has never staked.
      const wasChanging = index.begun > before;
      if (balance === undefined || balance === Infinity) expect(wasChanging).toBe(true);
      else {
        expect(balance).toBeGreaterThanOrEqual(before);
        expect(balance).toBeLessThanOrEqual(index.begun);
      }
    });
    expect(asked).toBeGreaterThan(40);
    for (const replica of replicas)
      expect((await ask(replica, apiKey)).balance).toBe(index.committed);
  },
);

describe('of replicas of which one uses Redis, no answer is older than its question', () => {
  beforeEach(() => start((replica) => (replica === 0 ? { REDIS_URL: redis.url } : {})));

  it('when a price comes late, and when it is too old', async () => {
    for (const replica of replicas) expect((await ask(replica, apiKey)).usd).toBeUndefined();
    const usd = await index.price(NOON_MS);
    for (const replica of replicas) expect((await ask(replica, apiKey)).usd).toBe(usd);
    for (const replica of replicas) {
      replica.clock.advance(7_200_001);
      expect((await ask(replica, apiKey)).usd).toBeUndefined();
    }
  });

  it('when a new day begins, for each replica by its own clock', async () => {
    const [ahead, behind] = replicas as [Api, Api];
    expect((await ask(ahead, apiKey)).days).toEqual(['2026-11-19', '2026-11-20']);
    // The index does not reach the new day's window, so the answer is 503 and not yesterday's snapshots.
    ahead.clock.set(Date.parse('2026-11-22T00:00:00.000Z'));
    expect((await ask(ahead, apiKey)).balance).toBe(Infinity);
    expect((await ask(behind, apiKey)).days).toEqual(['2026-11-19', '2026-11-20']);
    ahead.clock.set(NOON_MS);
    expect((await ask(ahead, apiKey, 1)).days).toEqual(['2026-11-20']);
    expect((await ask(ahead, apiKey, 3)).days).toEqual(['2026-11-18', '2026-11-19', '2026-11-20']);
  });
});
