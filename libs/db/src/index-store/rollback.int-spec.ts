import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type BlockDeltas, type BlockRef, dayOf, foldBlocks } from '#libs/domain';
import {
  aBlock,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing/database';
import { type Database, type IndexState, IndexStore } from '../index.js';

const DAY = 86_400;
const START = 1_700_006_400; // 00:00:00 UTC

let test: TestDatabase;
let database: Database;
let store: IndexStore;
let fence: bigint;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open({ poolSize: 1 });
  store = new IndexStore(database);
});
beforeEach(async () => {
  await test.empty();
  await store.create(anInitialIndex({ head: aBlock(0, START - 1) }));
  fence = await store.takeLead();
});
afterAll(() => test.drop());

interface Block extends BlockRef {
  readonly deltas: BlockDeltas['deltas'];
}
type Move = readonly [wallet: number, amount: bigint, seconds: number];

/** The blocks from 1 on, in each of which one wallet's stake changes. */
function blocksOf(...moves: readonly Move[]): Block[] {
  return moves.map(([wallet, amount, seconds], index) => ({
    ...aBlock(index + 1, START + seconds),
    deltas: [{ wallet: aWallet(wallet), amount }],
  }));
}

function refOf({ number, hash, timestampSeconds }: BlockRef): BlockRef {
  return { number, hash, timestampSeconds };
}

async function stateOf(): Promise<IndexState> {
  const state = await store.state();
  if (state === undefined) throw new Error('no index');
  return state;
}

/** Commits blocks on top of the stored state, so many at a time. */
async function apply(blocks: readonly Block[], size: number): Promise<void> {
  for (let done = 0; done < blocks.length; done += size) {
    const part = blocks.slice(done, done + size);
    const { head: previousHead } = await stateOf();
    const deltas = part.map((block) => ({ ...block, blockNumber: block.number }));
    const wallets = new Set(deltas.flatMap((block) => block.deltas.map(({ wallet }) => wallet)));
    const fromDay = dayOf(part[0]?.timestampSeconds ?? 0);
    const folded = foldBlocks(await store.walletStates([...wallets], fromDay), deltas);
    const head = refOf(part.at(-1) ?? previousHead);
    await store.commit({ fence, previousHead, head, folded, blocks: part.map(refOf) });
  }
}

describe('rollback', () => {
  it('does not see a balance that was replaced in the same second', async () => {
    const nextDay: Move[] = [
      [1, 1n, DAY],
      [2, 1n, DAY + 12],
      [1, -51n, DAY + 12],
      [1, 7n, DAY + 12],
      [1, 4n, DAY + 24],
    ];
    const blocks = blocksOf([1, 50n, 11], ...nextDay);
    await apply(blocks, 10);
    const { head } = await stateOf();
    await store.rollback({ fence, head, to: refOf(blocks[4] ?? head) });
    const text = 'SELECT low, closing FROM staking.balance_day ORDER BY wallet, day DESC LIMIT 1';
    expect(await database.query({ text })).toEqual([{ low: '51', closing: '7' }]);
  });

  it('counts what it takes back, counts itself, and lowers what was verified', async () => {
    const blocks = blocksOf([1, 5n, 11], [2, 7n, 23], [1, 9n, 35]);
    await apply(blocks, 1);
    const { head } = await stateOf();
    await store.commit({ fence, previousHead: head, head, blocks: [], verifiedNumber: 3n });
    const to = refOf(blocks[0] ?? head);
    expect(await store.rollback({ fence, head, to })).toEqual({
      changes: 2,
      wallets: 2,
      total: 5n,
    });
    expect(await stateOf()).toMatchObject({ rollbacks: 1n, verifiedNumber: 1n, head: to });
    expect(await store.rollback({ fence, head: to, to })).toMatchObject({ changes: 0, total: 5n });
  });
});

describe('a rewind', () => {
  const BLOCKS = blocksOf([1, 5n, 11], [2, 7n, 23], [1, 9n, 35], [2, 2n, 47]);
  const [first, second, third] = BLOCKS.map(refOf) as [BlockRef, BlockRef, BlockRef];
  beforeEach(() => apply(BLOCKS, 1));

  it('below the final block makes the head the final one, and ends a halt', async () => {
    const { head, total } = await stateOf();
    await store.commit({ fence, previousHead: head, head, blocks: [], finalised: third });
    await store.halt(fence, 'for a test');
    await store.rewind({ fence, head, to: first });
    const state = await stateOf();
    expect(state).toMatchObject({ head: first, finalised: first, halted: undefined, total: 5n });
    expect(await store.blocks(0n)).toEqual([first]);
    await apply(BLOCKS.slice(1), 1);
    expect(await stateOf()).toMatchObject({ head, total });
  });

  it('above the final block leaves that one, and what was never verified stays so', async () => {
    const { head } = await stateOf();
    await store.commit({ fence, previousHead: head, head, blocks: [], finalised: first });
    await store.rewind({ fence, head, to: second });
    expect(await stateOf()).toMatchObject({ finalised: first, verifiedNumber: undefined });
  });
});
