/** Sealed days of known content, for the end-to-end tests of this folder. */
import { IndexStore, SealWriter } from '#libs/db';
import { addressBytes, buildDayTree, DayListBuilder, type DayTree, parseDay } from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import { aBlock, anInitialIndex, aWallet } from '#libs/testing';
import { type Api } from '../testing/api-harness.support-spec.js';

const DAY_SECONDS = 86_400;
/** The clock of the api stands at noon of the day after the last one that is over. */
export const LAST = parseDay('2026-11-20') ?? 0;
export const FIRST = LAST - 4;

/** Five days, the fourth of them twice; the last one that is over is not sealed. */
export async function sealDays(api: Api): Promise<ReadonlyMap<number, DayTree>> {
  const trees = new Map<number, DayTree>();
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
  for (const [day, wallets] of [
    [FIRST, 0],
    [FIRST + 1, 3],
    [FIRST + 2, 3000],
    [FIRST + 3, 4],
    [FIRST + 3, 5],
  ] as const) {
    const tree = await treeOf(wallets);
    trees.set(day, tree);
    const { list } = tree.leaves;
    const block = aBlock(day - FIRST + 1, day * DAY_SECONDS);
    const content = { day, root: tree.root, wallets, total: list.total, block, software: '1.2.3' };
    await writer.seal({ basis, content, tree });
  }
  await writer.forgetLists(fence, FIRST + 1);
  return trees;
}

/** Every third address from 3 on, with its number as low. */
export async function treeOf(wallets: number): Promise<DayTree> {
  const builder = new DayListBuilder();
  for (let place = 1; place <= wallets; place += 1) {
    builder.add(addressBytes(aWallet(3 * place)), BigInt(3 * place));
  }
  return buildDayTree(builder.list(), await createKeccak256());
}
