import { type BlockHeader, type BlockRef, PermanentError } from '#libs/domain';

/**
 * The chain replaced a block that was final. Snapshots already served from that block cannot be taken back, so nothing
 * is overwritten.
 */
export class DeepReorganisationError extends PermanentError {
  constructor(block: BlockRef, found: BlockHeader | undefined) {
    super(
      'DEEP_REORGANISATION',
      `The chain no longer has the finalised block ${block.number} (${block.hash}): at that height it now has ` +
        `${found?.hash ?? 'nothing'}. The index was left as it was. Check that RPC_URLS point to the right chain. If the chain really ` +
        'reorganised deeper than FINALITY, set a deeper FINALITY and take the index back: `index rewind --dry-run` names the block ' +
        '(docs/operating/troubleshooting.md#indexing-again).',
    );
  }
}

/** Headers per request in the search for the fork. */
const STRIDE = 64;

/**
 * Finds the newest remembered block that the chain still has. Everything above this block is to be rolled back.
 *
 * @param remembered indexed blocks, ascending; the first one is the finalised block, below which nothing may change
 * @throws DeepReorganisationError if the chain does not have the finalised block any more
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
