import { type BlockDeltas } from '#libs/domain';
import { type BlockLogs } from './range-logs.js';

/**
 * Blocks whose effects are not the same, or not in the same order, in two answers about the same blocks of one chain.
 * @returns ascending
 */
export function differingBlocks(
  answer: readonly BlockDeltas[],
  other: readonly BlockLogs[],
): bigint[] {
  const effects = new Map<bigint, BlockDeltas['deltas']>();
  for (const { blockNumber, deltas } of answer) effects.set(blockNumber, deltas);
  const differing: bigint[] = [];
  for (const { number, deltas } of other) {
    const mine = effects.get(BigInt(number)) ?? [];
    effects.delete(BigInt(number));
    if (!isSame(mine, deltas)) differing.push(BigInt(number));
  }
  // What the other answer lacks altogether.
  for (const [number, deltas] of effects) if (deltas.length > 0) differing.push(number);
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
