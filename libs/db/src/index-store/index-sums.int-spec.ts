import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  aBlock,
  aFold,
  anIndexOf,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing/database';
import { type Database, readIndexSums } from '../index.js';

const DAY = 86_400;
const WALLETS = 7;

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
});
beforeEach(() => test.empty());
afterAll(() => test.drop());

/** Every wallet stakes its number on the first day, and once more on the second. */
async function anIndex() {
  const blocks = [1, 2].map((number) => ({
    blockNumber: BigInt(number),
    timestampSeconds: (99 + number) * DAY + 60,
    deltas: Array.from({ length: WALLETS }, (_, at) => {
      return { wallet: aWallet(at + 1), amount: BigInt(at + 1) };
    }),
  }));
  const index = await anIndexOf(database, blocks, { previousHead: aBlock(0, 100 * DAY) });
  return { ...index, total: index.folded.totalDelta };
}

describe('readIndexSums', () => {
  it.each([1, 3, 7, 100])('adds up all wallets, in pages of %s', async (pageSize) => {
    const { head, total } = await anIndex();
    expect(await readIndexSums(database, undefined, pageSize)).toEqual({
      ...{ stored: total, closings: total, balances: total, wallets: WALLETS },
      head,
    });
  });

  it('is undefined where there is no index', async () => {
    expect(await readIndexSums(database)).toBeUndefined();
  });

  it('reads one state of an index that is written meanwhile', async () => {
    const { store, fence, head, total } = await anIndex();
    const timestampSeconds = 102 * DAY + 90;
    const next = aBlock(3, timestampSeconds);
    let pages = 0;
    let committed: Promise<unknown> | undefined;
    const sums = await readIndexSums(
      database,
      () => {
        pages += 1;
        if (pages !== 2) return;
        const change = { wallet: aWallet(7), balance: 50n, blockNumber: 3n, timestampSeconds };
        const day = { wallet: aWallet(7), day: 102, low: 14n, closing: 50n };
        const folded = aFold({ changes: [change], days: [day], total: 36n });
        committed = store.commit({ fence, previousHead: head, head: next, blocks: [], folded });
      },
      1,
    );
    await committed;
    expect(sums).toMatchObject({ stored: total, closings: total, balances: total, head });
    const after = total + 36n;
    expect(await readIndexSums(database)).toMatchObject({
      ...{ stored: after, closings: after, balances: after },
      head: next,
    });
  });

  it('ends when it is to stop', async () => {
    await anIndex();
    await expect(
      readIndexSums(database, () => {
        throw new Error('enough');
      }),
    ).rejects.toThrow('enough');
  });
});
