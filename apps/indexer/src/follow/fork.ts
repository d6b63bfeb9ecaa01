import { type BlockHeader, type BlockRef } from '#libs/domain';
import { PermanentError } from '#libs/domain';

/** The chain gave up a block that was final: whatever was said about it cannot be taken back, so nothing is overwritten. */
export class DeepReorganisationError extends PermanentError {
  constructor(block: BlockRef, found: BlockHeader | undefined) {
    super(
      'DEEP_REORGANISATION',
      `The chain no longer has the finalised block ${block.number} (${block.hash}): at that height it now has ` +
        `${found?.hash ?? 'nothing'}. The index was left as it was. Check that RPC_URLS point to the right chain; if the chain really ` +
        `reorganised deeper than FINALITY, set a deeper FINALITY and index again into an empty database.`,
    );
  }
}

/** Headers asked for in one request while looking for the fork. */
const STRIDE = 64;

/**
 * The newest remembered block that the chain still has: everything above it is to be undone.
 *
 * @param remembered indexed blocks, ascending; the first is the finalised one, below which nothing may change
 * @throws DeepReorganisationError where the chain does not have even that one
 */
export async function findFork(
  remembered: readonly BlockRef[],
  headersAt: (numbers: readonly bigint[]) => Promise<readonly (BlockHeader | undefined)[]>,
): Promise<BlockRef> {
  for (let end = remembered.length; end > 0; end -= STRIDE) {
    const slice = remembered.slice(Math.max(0, end - STRIDE), end);
    const found = await headersAt(slice.map((block) => block.number));
    for (let index = slice.length - 1; index >= 0; index--) {
      const block = slice[index];
      if (block && found[index]?.hash === block.hash) return block;
    }
    const oldest = remembered[0];
    if (oldest && end <= STRIDE) throw new DeepReorganisationError(oldest, found[0]);
  }
  throw new Error('No remembered blocks to look for a fork in');
}
