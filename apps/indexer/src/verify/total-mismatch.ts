/**
 * What the contract itself says, held against what its events add up to.
 *
 * The contract's total at a block is a fact the node computes from state; the index's total is the sum of the events it was
 * given. Where they differ, events are missing or wrong, and the first block after which they differ is where to look.
 */
import { PermanentError, type BlockDeltas, ZERO_ADDRESS } from '#libs/domain';

/** The events and the contract disagree and every way of reading the events was tried. */
export class TotalMismatchError extends PermanentError {
  constructor(mismatch: { block: bigint; indexed: bigint; contract: bigint; endpoint: string }) {
    super(
      'TOTAL_MISMATCH',
      `At block ${mismatch.block} the indexed balances add up to ${mismatch.indexed} but the contract's total is ${mismatch.contract} ` +
        `(last read from ${mismatch.endpoint}). Add another endpoint to RPC_URLS, check STAKE_EVENTS and STAKE_START_BLOCK, or, where the function ` +
        `means something else in this contract, set STAKE_TOTAL_VIEW to the right one or to none.`,
    );
  }
}

/** The sum of all balances at the end of `block`, when it was `before` ahead of the range. */
export function totalAt(before: bigint, blocks: readonly BlockDeltas[], block: bigint): bigint {
  let total = before;
  for (const { blockNumber, deltas } of blocks) {
    if (blockNumber > block) break;
    for (const { wallet, amount } of deltas) if (wallet !== ZERO_ADDRESS) total += amount;
  }
  return total;
}

/**
 * The first block in (good, bad] at whose end `agrees` is false, by bisection.
 *
 * @param agrees whether both sides agree at a block; undefined where the node has no state for it any more
 * @returns undefined where the state is not there to decide
 */
export async function firstDisagreement(
  good: bigint,
  bad: bigint,
  agrees: (block: bigint) => Promise<boolean | undefined>,
): Promise<bigint | undefined> {
  let low = good;
  let high = bad;
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    const same = await agrees(middle);
    if (same === undefined) return undefined;
    if (same) low = middle;
    else high = middle;
  }
  return high;
}
