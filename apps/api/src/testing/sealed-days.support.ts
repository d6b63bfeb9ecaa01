/** Writes sealed days as the indexer does. Named so that it counts as a test file, but holds no tests. */
import { IndexStore, SealWriter } from '#libs/db';
import {
  addressBytes,
  buildDayTree,
  DayListBuilder,
  type DayTree,
  type Keccak256,
  parseDay,
} from '#libs/domain';
import { aBlock, anInitialIndex, aWallet, listsOf } from '#libs/testing/database';
import { type Api } from './api-harness.support.js';

const DAY_SECONDS = 86_400;
/** The last day that is over: a test's clock starts at noon of the day after. */
export const LAST = parseDay('2026-11-20') ?? 0;
export const FIRST = LAST - 5;

/** A tree of every third address from 3 on, each with a low computed from its number. */
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
  /** Removes the lists of days before this one, and of outdated revisions. */
  readonly forgetLists: (before: number) => Promise<void>;
}

/** Makes an index in which the days up to `LAST` are over and final. */
export async function startSealing(api: Api): Promise<Sealer> {
  const database = await api.database.open();
  const store = new IndexStore(database);
  const first = aBlock(0, FIRST * DAY_SECONDS);
  await store.create(anInitialIndex({ head: first }));
  const fence = await store.takeLead();
  const head = aBlock(100, (LAST + 1) * DAY_SECONDS);
  const facts = { finalised: head, verifiedNumber: 100n, synced: true };
  await store.commit({ fence, previousHead: first, head, blocks: [], ...facts });
  const writer = new SealWriter(database);
  const basis = await writer.basis(fence);
  if (basis === undefined) throw new Error('it leads');
  return {
    seal: async (day, tree) => {
      const { list } = tree.leaves;
      const block = aBlock(day - FIRST + 1, day * DAY_SECONDS);
      const { length: wallets, total } = list;
      const content = { day, root: tree.root, wallets, total, block, software: '1.2.3' };
      await writer.seal({ basis, content, lists: listsOf(tree) });
    },
    forgetLists: (before) => writer.forgetLists(fence, before),
  };
}
