import { type BlockDeltas } from '#libs/domain';
import { type BlockLogs } from './range-logs.js';

/**
 * Blocks whose effects or times are not the same, or not in the same order, in two answers about the same blocks of one chain.
 * @returns ascending
 */
export function differingBlocks(
  answer: readonly BlockDeltas[],
  other: readonly BlockLogs[],
): bigint[] {
  const effects = new Map<bigint, BlockDeltas>();
  for (const block of answer) effects.set(block.blockNumber, block);
  const differing: bigint[] = [];
  for (const { number, deltas, timestampSeconds } of other) {
    const mine = effects.get(BigInt(number));
    effects.delete(BigInt(number));
    const isOtherTime = mine !== undefined && mine.timestampSeconds !== timestampSeconds;
    if (isOtherTime || !isSame(mine?.deltas ?? [], deltas)) differing.push(BigInt(number));
  }
  // What the other answer lacks altogether.
  for (const [number, { deltas }] of effects) if (deltas.length > 0) differing.push(number);
  return differing.sort((a, b) => (a < b ? -1 : 1));
}

function isSame(one: BlockDeltas['deltas'], other: BlockDeltas['deltas']): boolean {
  return (
    one.length === other.length &&
    one.every(({ wallet, amount }, index) => {
      const delta = other[index];
      return delta?.wallet === wallet && delta.amount === amount;
    })
  );
}
