/**
 * What the index must hold, and the api must answer, by brute force from the simulated chain alone: every balance that
 * was held, each day by itself, nothing carried from one block to the next.
 */
import { type Address } from '#libs/domain';
import { DAY, lowOn, type Step, stepsOf, tablesOf } from '../../../apps/indexer/test/oracle.js';
import { ofLows } from '../../../apps/indexer/test/seal-oracle.js';
import { type Block, branchOf } from '../../../libs/testing/src/fake-node/simulated-chain.js';

/** As texts. */
export interface IndexRows {
  /** wallet, block, seconds, balance */
  readonly changes: ReadonlySet<string>;
  /** wallet, day, low, closing */
  readonly days: ReadonlySet<string>;
  /** day, sum of all balances at its end, or at the newest block */
  readonly totals: ReadonlySet<string>;
}

/** The balances of a wallet at the end of each block that changed it. */
export function stepsIn(branch: readonly Block[], wallet: Address): Step[] {
  const nets = branch.flatMap(({ number: block, seconds, events }) => {
    const own = events.filter((event) => event.wallet === wallet && event.amount !== 0n);
    const net = own.reduce((sum, { amount }) => sum + amount, 0n);
    return own.length === 0 ? [] : [{ block, seconds, net }];
  });
  return stepsOf(nets);
}

export function walletsOf(branch: readonly Block[]): Address[] {
  const all = branch.flatMap(({ events }) => events.map(({ wallet }) => wallet));
  return [...new Set(all)].sort();
}

const rows = new WeakMap<Block, IndexRows>();

/** Worked out once for each block, since most steps leave the head where it is. */
export function rowsAt(block: Block): IndexRows {
  let found = rows.get(block);
  if (found === undefined) {
    found = workedOutAt(block);
    rows.set(block, found);
  }
  return found;
}

function workedOutAt(block: Block): IndexRows {
  const branch = branchOf(block);
  const steps = walletsOf(branch).map((wallet) => [wallet, stepsIn(branch, wallet)] as const);
  const { changes, days, totals } = tablesOf(new Map(steps));
  return { changes: new Set(changes), days: new Set(days), totals: new Set(totals) };
}

/** The sealed day: root, wallets, total, closing block. @param final a block of the day after, or a later one */
export function sealedRow(day: number, final: Block): string {
  const branch = branchOf(final);
  const closing = branch.findLast(({ seconds }) => seconds < (day + 1) * DAY);
  if (closing === undefined || closing === final) return 'not over yet';
  const lows = walletsOf(branch).map(
    (wallet) => [wallet, lowOn(day, stepsIn(branch, wallet))] as const,
  );
  const { root, wallets, total } = rootOf(lows);
  return [root, wallets, total, closing.number, closing.hash].join(' ');
}

const roots = new Map<string, ReturnType<typeof ofLows>>();

/** Keeps what was worked out, since the tree takes a millisecond. */
function rootOf(lows: readonly (readonly [Address, bigint])[]): ReturnType<typeof ofLows> {
  const key = lows.join();
  let found = roots.get(key);
  if (found === undefined) {
    if (roots.size > 10_000) roots.clear();
    found = ofLows(lows);
    roots.set(key, found);
  }
  return found;
}

export function dayOf(seconds: number): number {
  return Math.floor(seconds / DAY);
}
