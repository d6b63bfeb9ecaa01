/**
 * The expected sealed days, computed from the chain in the simplest way: the time of every block is read, every day of
 * every wallet is computed by itself, and the tree comes from @openzeppelin/merkle-tree.
 */
import { StandardMerkleTree } from '@openzeppelin/merkle-tree';
import { type DevRpc } from '#libs/devchain';
import { DAY, expectedTables, lowOn, type Step } from './oracle.js';

const LOWEST = `0x${'0'.repeat(40)}`;
const HIGHEST = `0x${'f'.repeat(40)}`;

export interface ExpectedDay {
  readonly day: number;
  readonly root: string;
  readonly wallets: number;
  readonly total: bigint;
  readonly blockNumber: bigint;
  readonly blockHash: string;
}

interface Block {
  readonly number: number;
  readonly seconds: number;
  readonly hash: string;
}

/** The days from that of the first block to the last one that ends at or before block `settled`. */
export async function expectedDays(
  rpc: DevRpc,
  staking: string,
  range: { readonly first: number; readonly settled: number },
): Promise<ExpectedDay[]> {
  const blocks = await blocksOf(rpc, range.settled);
  const steps = stepsOf((await expectedTables(rpc, staking)).changes);
  const firstDay = dayAt(blocks, range.first);
  const days = Array.from(
    { length: dayAt(blocks, range.settled) - firstDay },
    (_, at) => firstDay + at,
  );
  return days.map((day) => {
    const closing = blocks.findLast(({ seconds }) => seconds < (day + 1) * DAY);
    if (closing === undefined) throw new Error(`day ${day} has no block before its end`);
    const lows = [...steps].map(([wallet, of]) => [wallet, lowOn(day, of)] as const);
    return {
      ...ofLows(lows),
      day,
      blockNumber: BigInt(closing.number),
      blockHash: closing.hash,
    };
  });
}

export function ofLows(
  lows: readonly (readonly [wallet: string, low: bigint])[],
): Pick<ExpectedDay, 'root' | 'wallets' | 'total'> {
  const held = lows.filter(([, low]) => low > 0n);
  const all = new Map([[LOWEST, 0n], [HIGHEST, 0n], ...held]);
  const sorted = [...all].sort(([a], [b]) => (a < b ? -1 : 1));
  const leaves = sorted.map(([wallet, low], place) => {
    return [wallet, low.toString(), sorted[place + 1]?.[0] ?? HIGHEST];
  });
  const { root } = StandardMerkleTree.of(leaves, ['address', 'uint256', 'address']);
  const total = held.reduce((sum, [, low]) => sum + low, 0n);
  return { root, wallets: held.length, total };
}

function dayAt(blocks: readonly Block[], number: number): number {
  return Math.floor((blocks[number]?.seconds ?? NaN) / DAY);
}

async function blocksOf(rpc: DevRpc, to: number): Promise<Block[]> {
  const headers = (await rpc.batch(
    Array.from({ length: to + 1 }, (_, number) => ({
      method: 'eth_getBlockByNumber',
      params: [`0x${number.toString(16)}`, false],
    })),
  )) as { timestamp: string; hash: string }[];
  return headers.map(({ timestamp, hash }, number) => {
    return { number, seconds: Number(timestamp), hash };
  });
}

/** @param changes rows of `wallet block seconds balance`, sorted by wallet and block */
function stepsOf(changes: readonly string[]): Map<string, Step[]> {
  const steps = new Map<string, Step[]>();
  for (const change of changes) {
    const [wallet = '', block, seconds, balance = ''] = change.split(' ');
    const of = steps.get(`0x${wallet}`) ?? [];
    steps.set(`0x${wallet}`, of);
    of.push({ block: Number(block), seconds: Number(seconds), balance: BigInt(balance) });
  }
  return steps;
}
