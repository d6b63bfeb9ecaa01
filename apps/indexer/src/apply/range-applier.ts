/** From a range as it was read to rows: what does not add up is mended first, or the index goes back to where it was vouched for. */
import { type RangeAnswer } from '#libs/chain';
import {
  type BlockHeader,
  type BlockRef,
  NegativeBalanceError,
  PermanentError,
  RetryableError,
} from '#libs/domain';
import { inSpan, type Logger } from '#libs/platform';
import { type BackfillProgress } from '../follow/backfill-progress.js';
import { type ChainHeads, finalisedOf } from '../follow/next-step.js';
import { type IndexerMetrics } from '../health/indexer.metrics.js';
import { type IndexOptions } from '../index-options.js';
import { type TotalCheck } from '../verify/total-check.js';
import { type SuspectRanges, type VerificationPolicy } from '../verify/verification-policy.js';
import { type VerifiedRange } from '../verify/verified-range.js';
import { type IndexFacts, type IndexWriter } from './index-writer.js';

export class RangeApplier {
  /** That came, whether they count or not. */
  private eventsRead = 0;

  constructor(
    private readonly writer: IndexWriter,
    private readonly totals: TotalCheck,
    private readonly policy: VerificationPolicy,
    private readonly suspects: SuspectRanges,
    private readonly progress: BackfillProgress,
    private readonly metrics: IndexerMetrics,
    private readonly logger: Logger,
    private readonly options: IndexOptions,
  ) {}

  /**
   * Writes a range that agrees with the contract.
   * @returns false where the index itself was rolled back instead
   * @throws TotalMismatchError, NegativeBalanceError, and what IndexWriter.apply throws
   */
  async apply(read: VerifiedRange, heads: ChainHeads, signal: AbortSignal): Promise<boolean> {
    const { writer } = this;
    const final = heads.finalised.number;
    const checked = await this.totals.check(read, writer.state, { final, signal });
    if (checked.kind === 'roll-back') {
      await this.undo(checked.to, 'repair');
      return false;
    }
    const { range } = checked;
    const { answer } = range;
    requireFinalisedOnChain(answer, heads);
    const changes = await this.write(answer, {
      finalised: finalisedOf({ ...writer.indexed, head: answer.head }, heads),
      verifiedNumber: this.policy.isVouchedFor(range) ? answer.to : undefined,
      synced: false,
    });
    if (changes === undefined) return false;
    this.suspects.forgetUpTo(writer.state.verifiedNumber ?? -1n);
    this.eventsRead += answer.events;
    this.metrics.applied(answer, changes);
    this.progress.applied(answer, answer.events, heads.latest.number);
    return true;
  }

  /** @returns how many balances change; undefined where one would fall below zero and the index was rolled back instead */
  private async write(answer: RangeAnswer, facts: IndexFacts): Promise<number | undefined> {
    try {
      return await this.writer.apply(answer, facts);
    } catch (error) {
      if (!(error instanceof NegativeBalanceError)) throw error;
      const to = await this.totals.suspectUnverified(this.writer.state, answer);
      if (!to) throw error;
      await this.undo(to, 'repair');
      return undefined;
    }
  }

  /** @returns false where the sum of the whole index did not agree and the index was rolled back */
  async agreesInAll(): Promise<boolean> {
    const to = await this.totals.checkHead(this.writer.state);
    if (to) await this.undo(to, 'repair');
    return to === undefined;
  }

  /** A pool that does not exist, or a condition that nothing meets, leaves an index that agrees with everything and holds nothing. */
  async warnIfNoneCounts(): Promise<void> {
    if (this.eventsRead === 0 || (await this.writer.hasWallets())) return;
    const { stakeEvents } = this.options;
    this.logger.warn(
      { events: this.eventsRead, stakeEvents },
      'The contract has events and none of them counts: every stake is 0. Check STAKE_EVENTS: the number of its preset (`masterchef-v1:7`), or its conditions (`where`); another one needs a new index',
    );
  }

  async undo(to: BlockRef, why: 'reorganisation' | 'repair'): Promise<void> {
    const { writer, metrics, logger } = this;
    const depth = writer.head.number - to.number;
    const span = {
      name: 'rollback',
      attributes: {
        'lowmark.reason': why,
        'lowmark.to_block': Number(to.number),
        'lowmark.depth': Number(depth),
      },
    };
    const { changes, wallets } = await inSpan(span, () => writer.rollback(to));
    metrics.rolledBack(why, Number(depth));
    logger.warn({ why, toBlock: to.number, depth, changes, wallets }, 'Rolled back');
  }
}

/** The range and the finalised block must be of one chain, or one of the two came from a node on another fork. */
function requireFinalisedOnChain(answer: RangeAnswer, { finalised }: ChainHeads): void {
  const header = answer.headers.find(({ number }) => number === finalised.number);
  if (header && header.hash !== finalised.hash)
    throw new RetryableError(
      'FORKED_ANSWER',
      `Block ${finalised.number} is ${header.hash} in one answer and finalised as ${finalised.hash} in another`,
    );
}

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
