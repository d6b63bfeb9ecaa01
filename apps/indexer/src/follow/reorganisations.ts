import { type ChainReader } from '#libs/chain';
import { type BlockHeader, type BlockRef, PermanentError, RetryableError } from '#libs/domain';
import { type IndexWriter } from '../apply/index-writer.js';
import { type RangeApplier } from '../apply/range-applier.js';
import { type ChainHeads } from './next-step.js';

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

/** Takes back what the chain has left. */
export class Reorganisations {
  constructor(
    private readonly reader: ChainReader,
    private readonly writer: IndexWriter,
    private readonly applier: RangeApplier,
  ) {}

  /**
   * Final blocks are read without being linked to the ones before them. Where the head was not final when it was indexed, the chain
   * may have left it since.
   */
  async isHeadOnChain(heads: ChainHeads): Promise<boolean> {
    const { head, state } = this.writer;
    if (head.number >= heads.finalised.number || state.finalised?.number === head.number)
      return true;
    const [header] = await this.reader.headers([head.number]);
    return header?.hash === head.hash;
  }

  /** @throws DeepReorganisationError; RetryableError where the chain still has the head */
  async undo(): Promise<void> {
    const { reader, writer } = this;
    await writer.settled();
    const fork = await findFork(writer.rememberedBlocks(), (numbers) => reader.headers(numbers));
    if (fork.number === writer.head.number)
      throw new RetryableError(
        'FORKED_ANSWER',
        `A node answered for another fork than the one with block ${fork.number} (${fork.hash})`,
      );
    await this.applier.undo(fork, 'reorganisation');
  }
}
