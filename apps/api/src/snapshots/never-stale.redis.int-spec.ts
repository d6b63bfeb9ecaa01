/**
 * Replicas of the API that share a Redis are queried without a pause while the index changes, and each answer is
 * compared with what was committed. The simulation of the core does the same with one process, without Redis.
 */
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type IndexBatch, IndexStore } from '#libs/db';
import { type BlockRef, dayOf } from '#libs/domain';
import { aBlock, aFold, anInitialIndex, aWallet } from '#libs/testing/database';
import { startRedis, type TestRedis } from '#libs/testing/redis';
import { addPartner, type Api, NOON_MS, startApi } from '../testing/api-harness.support.js';

const ALICE = aWallet(1);
const UNIT = 10n ** 18n;
const NOON = Math.floor(NOON_MS / 1000);
const FIRST = aBlock(0, NOON - 4 * 86_400);

/**
 * An index whose state can be told from each answer: the balance of one wallet, staked 48 hours ago, is the number of
 * the newest change to the index.
 */
class ChangingIndex {
  private head: BlockRef = FIRST;
  private fence = 0n;
  /** The lowest number that an answer to a request sent from now on may have. */
  committed = 0;
  /** The highest number that an answer may have. */
  begun = 0;

  constructor(private readonly index: IndexStore) {}

  async start(): Promise<void> {
    await this.index.create(anInitialIndex({ head: this.head }));
    this.fence = await this.index.takeLead();
    this.begun = 1;
    await this.stake();
  }

  /** A reorganisation: rolls everything back, and stakes another balance in the new blocks. */
  async reorganise(): Promise<void> {
    const { fence, head } = this;
    this.begun += 1;
    await this.index.rollback({ fence, head, to: FIRST });
    this.head = FIRST;
    await this.stake();
  }

  private async stake(): Promise<void> {
    const value = this.committed + 1;
    const block = aBlock(10, NOON - 2 * 86_400, value);
    const { number: blockNumber, timestampSeconds } = block;
    const balance = BigInt(value) * UNIT;
    const changes = [{ wallet: ALICE, blockNumber, timestampSeconds, balance }];
    const days = [{ wallet: ALICE, day: dayOf(timestampSeconds), low: 0n, closing: balance }];
    await this.commit({ folded: aFold({ changes, days, total: balance }), head: block });
    await this.commit({ head: aBlock(1000, NOON, value) });
    this.committed = value;
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
  readonly days: readonly string[];
}

let redis: TestRedis;
let replicas: [Api, Api];
let apiKey: string;
let index: ChangingIndex;

beforeEach(async () => {
  redis = await startRedis();
  const first = await startApi({ REDIS_URL: redis.url });
  replicas = [first, await startApi({ REDIS_URL: redis.url }, first.database)];
  ({ apiKey } = await addPartner(first, 'hammer', { rate: 1_000_000, burst: 1_000_000 }));
  index = new ChangingIndex(new IndexStore(await first.database.open()));
  await index.start();
});
afterEach(async () => {
  for (const replica of replicas.toReversed()) await replica.stop();
  await redis.stop();
});

async function ask(api: Api, lastDays = 2): Promise<Found> {
  const url = `${api.url}/api/staking/snapshots?walletAddress=${ALICE}&lastDays=${lastDays}`;
  const response = await fetch(url, { headers: { 'x-api-key': apiKey } });
  const body = (await response.json()) as {
    stakingSnapshots?: { from: string; snapshotAmount: number }[];
  };
  // During a rollback the API may answer that the window is not covered, or that the wallet has no history.
  expect([200, 404, 503]).toContain(response.status);
  const days = body.stakingSnapshots ?? [];
  return {
    balance: response.status === 503 ? Infinity : days.at(-1)?.snapshotAmount,
    days: days.map(({ from }) => from.slice(0, 10)),
  };
}

it('no answer is older than its question while the index is reorganised again and again', async () => {
  let isDone = false;
  let asked = 0;
  const asking = [...replicas, ...replicas, ...replicas].map(async (replica) => {
    for (; !isDone; asked += 1) {
      const before = index.committed;
      const { balance } = await ask(replica);
      // Between rollback and re-indexing the wallet has never staked.
      if (balance === undefined || balance === Infinity)
        expect(index.begun).toBeGreaterThan(before);
      else {
        expect(balance).toBeGreaterThanOrEqual(before);
        expect(balance).toBeLessThanOrEqual(index.begun);
      }
    }
  });
  const changes = async (): Promise<void> => {
    for (let i = 0; i < 40; i += 1) await index.reorganise();
  };
  // A failed check or a failed change ends the test at once.
  const all = Promise.all(asking);
  await Promise.race([changes(), all]).finally(() => (isDone = true));
  await all;
  expect(asked).toBeGreaterThan(40);
  for (const replica of replicas) expect((await ask(replica)).balance).toBe(index.committed);
});

it('no answer is of the day before when a new day begins, for each replica by its own clock', async () => {
  const [ahead, behind] = replicas;
  const DAYS = ['2026-11-18', '2026-11-19', '2026-11-20'];
  expect((await ask(ahead)).days).toEqual(DAYS.slice(1));
  // The index does not reach the new day's window, so the answer is 503 and not yesterday's snapshots.
  ahead.clock.set(Date.parse('2026-11-22T00:00:00.000Z'));
  expect((await ask(ahead)).balance).toBe(Infinity);
  expect((await ask(behind)).days).toEqual(DAYS.slice(1));
  ahead.clock.set(NOON_MS);
  expect((await ask(ahead, 1)).days).toEqual(DAYS.slice(2));
  expect((await ask(ahead, 3)).days).toEqual(DAYS);
});
