/**
 * What the index must hold, and the api must answer, by brute force from the simulated chain alone: every balance that
 * was held, each day by itself, nothing carried from one block to the next.
 */
import { type Address } from '#libs/domain';
import { ofLows } from '../../../apps/indexer/test/seal-oracle.js';
import { type Block, branchOf } from '../../../libs/testing/src/fake-node/simulated-chain.js';

const DAY = 86_400;

/** As texts. */
export interface IndexRows {
  /** wallet, block, seconds, balance */
  readonly changes: ReadonlySet<string>;
  /** wallet, day, low, closing */
  readonly days: ReadonlySet<string>;
  /** day, sum of all balances at its end, or at the newest block */
  readonly totals: ReadonlySet<string>;
}

interface Step {
  readonly block: number;
  readonly seconds: number;
  readonly balance: bigint;
}

/** The balances of a wallet at the end of each block that changed it. */
export function stepsOf(branch: readonly Block[], wallet: Address): Step[] {
  const steps: Step[] = [];
  for (const { number, seconds, events } of branch) {
    const own = events.filter((event) => event.wallet === wallet && event.amount !== 0n);
    if (own.length === 0) continue;
    const net = own.reduce((sum, { amount }) => sum + amount, 0n);
    if (net === 0n && steps.length > 0) continue;
    steps.push({ block: number, seconds, balance: (steps.at(-1)?.balance ?? 0n) + net });
  }
  return steps;
}

/** The balances that the wallet held for any time of the day, in order. */
function heldOn(day: number, steps: readonly Step[]): bigint[] {
  const [from, to] = [day * DAY, (day + 1) * DAY];
  const points = [{ seconds: -Infinity, balance: 0n }, ...steps];
  return points
    .filter(({ seconds }, place) => {
      const start = Math.max(seconds, from);
      return start < Math.min(points[place + 1]?.seconds ?? Infinity, to);
    })
    .map(({ balance }) => balance);
}

export function leastOf(balances: readonly bigint[]): bigint | undefined {
  return balances.reduce<bigint | undefined>(
    (least, one) => (least === undefined || one < least ? one : least),
    undefined,
  );
}

/** The low-water mark of a wallet on a day. */
export function lowOn(day: number, steps: readonly Step[]): bigint {
  return leastOf(heldOn(day, steps)) ?? 0n;
}

/** The balance of a wallet at the end of a day. */
export function closingOn(day: number, steps: readonly Step[]): bigint {
  return steps.findLast(({ seconds }) => seconds < (day + 1) * DAY)?.balance ?? 0n;
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
  const wallets = walletsOf(branch).map((wallet) => ({ wallet, steps: stepsOf(branch, wallet) }));
  const days = new Set(wallets.flatMap(({ steps }) => steps.map(({ seconds }) => dayOf(seconds))));
  const changes = wallets.flatMap(({ wallet, steps }) =>
    steps.map(({ block: number, seconds, balance }) =>
      [wallet, number, seconds, balance].join(' '),
    ),
  );
  const held = wallets.flatMap(({ wallet, steps }) =>
    [...new Set(steps.map(({ seconds }) => dayOf(seconds)))].map((day) => {
      const balances = heldOn(day, steps);
      const low = leastOf(balances.slice(0, -1)) ?? '-';
      return [wallet, day, low, balances.at(-1) ?? 0n].join(' ');
    }),
  );
  const totals = [...days].map((day) => {
    const closings = wallets.map(({ steps }) => closingOn(day, steps));
    return `${day} ${closings.reduce((sum, one) => sum + one, 0n)}`;
  });
  return { changes: new Set(changes), days: new Set(held), totals: new Set(totals) };
}

/** The sealed day: root, wallets, total, closing block. @param final a block of the day after, or a later one */
export function sealedRow(day: number, final: Block): string {
  const branch = branchOf(final);
  const closing = branch.findLast(({ seconds }) => seconds < (day + 1) * DAY);
  if (closing === undefined || closing === final) return 'not over yet';
  const lows = walletsOf(branch).map(
    (wallet) => [wallet, lowOn(day, stepsOf(branch, wallet))] as const,
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
