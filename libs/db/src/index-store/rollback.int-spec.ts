import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type BlockDeltas, type BlockRef, dayOf, foldBlocks } from '#libs/domain';
import {
  aBlock,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing';
import { type Database, type IndexState, IndexStore } from '../index.js';

const DAY = 86_400;
const START = 1_700_006_400; // 00:00:00 UTC

let live: Index;

beforeAll(async () => {
  live = await anIndex();
});
afterAll(() => live.test.drop());

async function anIndex(): Promise<Index> {
  const test = await createTestDatabase();
  const database = await test.open({ poolSize: 1 });
  return { test, database, store: new IndexStore(database), fence: 0n };
}

interface Index {
  readonly test: TestDatabase;
  readonly database: Database;
  readonly store: IndexStore;
  fence: bigint;
}

interface Block extends BlockRef {
  readonly deltas: BlockDeltas['deltas'];
}

type Move = readonly [wallet: number, kind: 'stake' | 'leave' | 'part' | 'churn', amount: number];
interface Plan {
  readonly gap: number | 'midnight';
  readonly moves: readonly Move[];
}

/** Blocks above `base`, with amounts that never bring a balance below zero. */
function chain(base: readonly Block[], plans: readonly Plan[], branch: number): Block[] {
  const balances = new Map<number, bigint>();
  for (const { deltas } of base) {
    for (const { wallet, amount } of deltas) {
      const ordinal = Number(BigInt(wallet)) - 1;
      balances.set(ordinal, (balances.get(ordinal) ?? 0n) + amount);
    }
  }
  let { number, timestampSeconds } = base.at(-1) ?? aBlock(0, START - 1);
  return plans.map(({ gap, moves }) => {
    number += 1n;
    timestampSeconds =
      gap === 'midnight' ? (Math.floor(timestampSeconds / DAY) + 1) * DAY : timestampSeconds + gap;
    const deltas = moves.flatMap(([wallet, kind, amount]) => {
      const balance = balances.get(wallet) ?? 0n;
      const amounts = {
        stake: [BigInt(amount)],
        leave: [-balance],
        part: [-(balance / 3n)],
        churn: [BigInt(amount), -BigInt(amount)],
      }[kind];
      for (const delta of amounts) balances.set(wallet, (balances.get(wallet) ?? 0n) + delta);
      return amounts.map((delta) => ({ wallet: aWallet(wallet + 1), amount: delta }));
    });
    return { ...aBlock(Number(number), timestampSeconds, branch), deltas };
  });
}

function refOf({ number, hash, timestampSeconds }: BlockRef): BlockRef {
  return { number, hash, timestampSeconds };
}

async function reset(index: Index): Promise<void> {
  await index.database.pool.query(
    'TRUNCATE staking.index_state, staking.block, staking.balance_change, staking.balance_day, staking.day_total',
  );
  await index.store.create(anInitialIndex({ head: aBlock(0, START - 1) }));
  index.fence = await index.store.takeLead();
}

async function stateOf({ store }: Index): Promise<IndexState> {
  const state = await store.state();
  if (state === undefined) throw new Error('no index');
  return state;
}

/** Commits blocks in batches of the given sizes, on top of the stored state. */
async function apply(
  index: Index,
  blocks: readonly Block[],
  sizes: readonly number[],
): Promise<void> {
  const { store, fence } = index;
  let rest = blocks;
  for (let turn = 0; rest.length > 0; turn += 1) {
    const part = rest.slice(0, sizes[turn % sizes.length]);
    rest = rest.slice(part.length);
    const state = await stateOf(index);
    const deltas = part.map((block) => ({ ...block, blockNumber: block.number }));
    const wallets = deltas.flatMap((block) => block.deltas.map(({ wallet }) => wallet));
    const fromDay = dayOf(part[0]?.timestampSeconds ?? 0);
    const folded = foldBlocks(await store.walletStates([...new Set(wallets)], fromDay), deltas);
    await store.commit({
      fence,
      previousHead: state.head,
      head: refOf(part.at(-1) ?? state.head),
      folded,
      blocks: part.map(refOf),
    });
  }
}

describe('rollback', () => {
  it('does not see a balance that was replaced in the same second', async () => {
    await reset(live);
    const left: Plan = { gap: 0, moves: [[0, 'leave', 1]] };
    const back: Plan = { gap: 0, moves: [[0, 'stake', 7]] };
    const next: Plan = { gap: 'midnight', moves: [[0, 'stake', 1]] };
    const blocks = chain([], [aStake(0, 50), next, aStake(1, 1), left, back, aStake(0, 4)], 0);
    await apply(live, blocks, [10]);
    const { head } = await stateOf(live);
    await live.store.rollback({ fence: live.fence, head, to: refOf(blocks[4] ?? head) });
    const { rows } = await live.database.pool.query(
      'SELECT low, closing FROM staking.balance_day ORDER BY wallet, day DESC LIMIT 1',
    );
    expect(rows).toEqual([{ low: '51', closing: '7' }]);
  });

  it('counts what it takes back, counts itself, and lowers what was verified', async () => {
    await reset(live);
    const { fence, store } = live;
    const blocks = chain([], [aStake(0, 5), aStake(1, 7), aStake(0, 9)], 0);
    await apply(live, blocks, [1]);
    const { head } = await stateOf(live);
    await store.commit({ fence, previousHead: head, head, blocks: [], verifiedNumber: 3n });
    const to = refOf(blocks[0] ?? head);
    expect(await store.rollback({ fence, head, to })).toEqual({
      changes: 2,
      wallets: 2,
      total: 5n,
    });
    expect(await stateOf(live)).toMatchObject({ rollbacks: 1n, verifiedNumber: 1n, head: to });
    expect(await store.rollback({ fence, head: to, to })).toMatchObject({ changes: 0, total: 5n });
  });
});

describe('a rewind', () => {
  async function aChain(): Promise<Block[]> {
    await reset(live);
    const blocks = chain([], [aStake(0, 5), aStake(1, 7), aStake(0, 9), aStake(1, 2)], 0);
    await apply(live, blocks, [1]);
    return blocks;
  }

  it('below the final block makes the head the final one, and ends a halt', async () => {
    const blocks = await aChain();
    const { fence, store } = live;
    const [to, , final] = blocks.map(refOf);
    if (to === undefined || final === undefined) throw new Error('there are blocks');
    const { head, total } = await stateOf(live);
    await store.commit({ fence, previousHead: head, head, blocks: [], finalised: final });
    await store.halt(fence, 'for a test');
    await store.rewind({ fence, head, to });
    const state = await stateOf(live);
    expect(state).toMatchObject({ head: to, finalised: to, halted: undefined, total: 5n });
    expect(await store.blocks(0n)).toEqual([to]);
    await apply(live, blocks.slice(1), [1]);
    expect(await stateOf(live)).toMatchObject({ head, total });
  });

  it('above the final block leaves that one, and what was never verified stays so', async () => {
    const blocks = await aChain();
    const { fence, store } = live;
    const [final, to] = blocks.map(refOf);
    if (to === undefined || final === undefined) throw new Error('there are blocks');
    const { head } = await stateOf(live);
    await store.commit({ fence, previousHead: head, head, blocks: [], finalised: final });
    await store.rewind({ fence, head, to });
    expect(await stateOf(live)).toMatchObject({ finalised: final, verifiedNumber: undefined });
  });
});

function aStake(wallet: number, amount: number): Plan {
  return { gap: 12, moves: [[wallet, 'stake', amount]] };
}
