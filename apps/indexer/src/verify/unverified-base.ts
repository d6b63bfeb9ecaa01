/**
 * Events may be written before they are vouched for: where the contract's total could not be read yet, or wallets are compared at the
 * end. When a later range shows that some of them are wrong, the index goes back to where it was last vouched for.
 */
import { type ChainReader, type RangeAnswer } from '#libs/chain';
import { type IndexState } from '#libs/db';
import { type BlockRef } from '#libs/domain';
import { type Logger } from '#libs/platform';
import { type Doubts } from './doubts.js';
import { TotalMismatchError } from './total-mismatch.js';

export interface UnverifiedBaseParts {
  readonly reader: Pick<ChainReader, 'stakeTotal' | 'headers'>;
  readonly doubts: Doubts;
  readonly logger: Logger;
  /** The first block that is indexed. */
  readonly firstBlock: bigint;
}

/** A range that does not fit the index. */
type Shown = Pick<RangeAnswer, 'to' | 'endpoint'>;

/** So often the same blocks are read again before the difference is believed. */
const TRIES = 3;

/**
 * Puts all since the last block that was vouched for in doubt, to be read again.
 * @param shown up to which block it is, and by whose word
 * @returns that block, to go back to; undefined where the head itself is vouched for, or the blocks were read again often enough
 */
export async function doubtSinceVerified(
  { reader, doubts, logger, firstBlock }: UnverifiedBaseParts,
  { head, verifiedNumber }: IndexState,
  { to: toBlock, endpoint }: Shown,
): Promise<BlockRef | undefined> {
  const verified = verifiedNumber ?? firstBlock - 1n;
  const from = verified + 1n;
  if (verified === head.number || doubts.countAt(from) >= TRIES) return undefined;
  const [to] = await reader.headers([verified]);
  if (!to) return undefined;
  doubts.add({ from, to: toBlock, avoid: [endpoint], by: 'logs' });
  logger.warn(
    { fromBlock: from, toBlock, avoid: endpoint },
    'Events up to here are missing or wrong, and none of these blocks is vouched for yet: reading them again',
  );
  return to;
}

/**
 * Whose fault it is that a range does not add up to the contract's total: the range's own, or that of the index before it.
 * @returns the block to go back to; undefined where the index agrees and the range is at fault
 * @throws TotalMismatchError where the index is at fault and all was read again often enough
 */
export async function rollBackToVerified(
  parts: UnverifiedBaseParts,
  state: IndexState,
  shown: Shown & { readonly contractTotal: bigint },
): Promise<BlockRef | undefined> {
  if (state.verifiedNumber === state.head.number) return undefined;
  if ((await parts.reader.stakeTotal(state.head)) === state.total) return undefined;
  const to = await doubtSinceVerified(parts, state, shown);
  if (to) return to;
  throw new TotalMismatchError({
    block: state.head.number,
    indexed: state.total,
    contract: shown.contractTotal,
    endpoint: shown.endpoint,
  });
}
