import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  aBlock,
  aFold,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing';
import { IndexStore, type WalletBalance, walletPages } from '../index.js';

let test: TestDatabase;
let store: IndexStore;
beforeAll(async () => {
  test = await createTestDatabase();
  store = new IndexStore(await test.open());
  let { head } = await store.create(anInitialIndex());
  const fence = await store.takeLead();
  // Wallet w changes in every block whose number it divides. Its balance is the block's number.
  for (let number = 1; number <= 6; number++) {
    const block = aBlock(number);
    const { timestampSeconds } = block;
    const wallets = [1, 2, 3, 4, 5, 6].filter((wallet) => number % wallet === 0).map(aWallet);
    const balance = BigInt(number);
    await store.commit({
      fence,
      previousHead: head,
      head: block,
      folded: aFold({
        changes: wallets.map((wallet) => ({
          ...{ wallet, balance, blockNumber: balance, timestampSeconds },
        })),
      }),
      blocks: [],
    });
    head = block;
  }
});
afterAll(() => test.drop());

async function pages(block: bigint, limit: number): Promise<WalletBalance[][]> {
  const read: WalletBalance[][] = [];
  for await (const page of walletPages(store, { block, limit })) read.push([...page]);
  return read;
}

it('has every wallet once, with its balance at the end of the block', async () => {
  const at = (block: number) =>
    [1, 2, 3, 4, 5, 6].map((wallet) => ({
      wallet: aWallet(wallet),
      balance: BigInt(Math.floor(block / wallet) * wallet),
    }));
  for (const block of [0, 1, 4, 5, 6]) {
    for (const limit of [1, 2, 4, 100]) {
      const read = await pages(BigInt(block), limit);
      expect(read.flat()).toEqual(at(block));
      expect(Math.max(...read.map((page) => page.length))).toBeLessThanOrEqual(limit);
    }
  }
});
