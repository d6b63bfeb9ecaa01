/** Sealed days, as the indexer would have sealed them. Counts as a test file without being one. */
import { IndexStore, SealWriter } from '#libs/db';
import {
  addressBytes,
  buildDayTree,
  DayListBuilder,
  type DayTree,
  type Keccak256,
  parseDay,
} from '#libs/domain';
import { aBlock, anInitialIndex, aWallet } from '#libs/testing';
import { type Api } from './api-harness.support-spec.js';

const DAY_SECONDS = 86_400;
/** The clock of a test stands at noon of the day after the last one that is over. */
export const LAST = parseDay('2026-11-20') ?? 0;
export const FIRST = LAST - 4;

/** Every third address from 3 on, with its number as low. */
export function treeOf(
  wallets: number,
  keccak: Keccak256,
  low = (number: number) => number,
): DayTree {
  const builder = new DayListBuilder();
  for (let place = 1; place <= wallets; place += 1) {
    builder.add(addressBytes(aWallet(3 * place)), BigInt(low(3 * place)));
  }
  return buildDayTree(builder.list(), keccak);
}

export interface Sealer {
  /** Seals a day, or its next revision. */
  readonly seal: (day: number, tree: DayTree) => Promise<void>;
  /** Removes lists of days before this one, and of revisions that do not count any more. */
  readonly forgetLists: (before: number) => Promise<void>;
}

/** An index whose days up to `LAST` are over and final. */
export async function startSealing(api: Api): Promise<Sealer> {
  const database = await api.database.open();
  const store = new IndexStore(database);
  const first = aBlock(0, FIRST * DAY_SECONDS);
  await store.create(anInitialIndex({ head: first }));
  const fence = await store.takeLead();
  const head = aBlock(100, (LAST + 1) * DAY_SECONDS);
  const facts = { finalised: head, verifiedNumber: 100n, synced: true };
  const nothing = { changes: [], days: [], blocks: [], total: 0n };
  await store.commit({ fence, previousHead: first, head, ...nothing, ...facts });
  const writer = new SealWriter(database);
  const basis = await writer.basis(fence);
  if (basis === undefined) throw new Error('it leads');
  return {
    seal: async (day, tree) => {
      const { list } = tree.leaves;
      const block = aBlock(day - FIRST + 1, day * DAY_SECONDS);
      const { length: wallets, total } = list;
      const content = { day, root: tree.root, wallets, total, block, software: '1.2.3' };
      await writer.seal({ basis, content, tree });
    },
    forgetLists: (before) => writer.forgetLists(fence, before),
  };
}

/** Five days, the fourth of them twice; the list of the first is not kept, and the last one that is over is not sealed. */
export async function sealDays(api: Api, keccak: Keccak256): Promise<ReadonlyMap<number, DayTree>> {
  const trees = new Map<number, DayTree>();
  const sealer = await startSealing(api);
  for (const [day, wallets] of [
    [FIRST, 0],
    [FIRST + 1, 3],
    [FIRST + 2, 3000],
    [FIRST + 3, 4],
    [FIRST + 3, 5],
  ] as const) {
    const tree = treeOf(wallets, keccak);
    trees.set(day, tree);
    await sealer.seal(day, tree);
  }
  await sealer.forgetLists(FIRST + 1);
  return trees;
}
