/**
 * Turns a verified range into rows. Events that contradict the contract's total are repaired first, or the index is
 * rolled back to the newest verified block.
 */
import { type RangeAnswer } from '#libs/chain';
import {
  type BlockHeader,
  type BlockRef,
  NegativeBalanceError,
  PermanentError,
  RetryableError,
} from '#libs/domain';
import { ROLLBACK_WITHIN_MS } from '#libs/db';
import { inSpan, type Logger } from '#libs/platform';
import { type BackfillProgress } from '../follow/backfill-progress.js';
import { type IndexStatus } from '../follow/index-status.js';
import { type ChainHeads, finalisedOf } from '../follow/next-step.js';
import { type IndexerMetrics } from '../health/indexer.metrics.js';
import { type IndexOptions, verifiedUpTo } from '../index-options.js';
import { type TotalCheck } from '../verify/total-check.js';
import { type SuspectRanges, type VerificationPolicy } from '../verify/verification-policy.js';
import { type VerifiedRange } from '../verify/verified-range.js';
import { type IndexFacts, type IndexWriter, type WritingLead } from './index-writer.js';

const ROLLBACK = { what: 'rolling back', withinMs: ROLLBACK_WITHIN_MS };

export class RangeApplier {
  /** Number of events read, including those that change no balance. */
  private eventsRead = 0;

  constructor(
    private readonly totals: TotalCheck,
    private readonly policy: VerificationPolicy,
    private readonly suspects: SuspectRanges,
    private readonly progress: BackfillProgress,
    private readonly status: IndexStatus,
    private readonly metrics: IndexerMetrics,
    private readonly logger: Logger,
    private readonly options: IndexOptions,
  ) {}

  /**
   * Writes a range, after its events agree with the contract's total.
   * @returns false where the index was rolled back instead
   * @throws TotalMismatchError, NegativeBalanceError, and the errors of IndexWriter.apply
   */
  async apply(lead: WritingLead, read: VerifiedRange, heads: ChainHeads): Promise<boolean> {
    const { writer, signal } = lead;
    const final = heads.finalised.number;
    const checked = await this.totals.check(read, writer.state, { final, signal });
    if (checked.kind === 'roll-back') {
      await this.undo(lead, checked.to, 'repair');
      return false;
    }
    const { range } = checked;
    const { answer } = range;
    requireFinalisedOnChain(answer, heads);
    const verified = verifiedUpTo(writer.state, this.options);
    const changes = await this.write(lead, answer, {
      finalised: finalisedOf({ ...writer.indexed, head: answer.head }, heads),
      verifiedNumber: this.policy.isVouchedFor(range, verified) ? answer.to : undefined,
      synced: false,
    });
    if (changes === undefined) return false;
    signal.throwIfAborted();
    this.suspects.forgetUpTo(writer.state.verifiedNumber ?? -1n);
    this.eventsRead += answer.events;
    this.metrics.applied(answer, changes);
    this.progress.applied(answer, answer.events, heads.latest.number);
    return true;
  }

  /**
   * @returns the number of balance changes; undefined where a balance would have become negative and the index was
   * rolled back
   */
  private async write(
    lead: WritingLead,
    answer: RangeAnswer,
    facts: IndexFacts,
  ): Promise<number | undefined> {
    const { writer, signal } = lead;
    try {
      return await writer.apply(answer, facts);
    } catch (error) {
      if (!(error instanceof NegativeBalanceError)) throw error;
      const to = await this.totals.suspectUnverified(writer.state, answer, signal);
      if (!to) throw error;
      await this.undo(lead, to, 'repair');
      return undefined;
    }
  }

  /**
   * Compares the sum of all balances with the contract's total.
   * @returns false where they differ and the index was rolled back
   */
  async checkIndexTotal(lead: WritingLead): Promise<boolean> {
    const to = await this.totals.checkHead(lead.writer.state, lead.signal);
    if (to) await this.undo(lead, to, 'repair');
    return to === undefined;
  }

  /**
   * Warns where events were read but no balance ever changed. With a wrong pool number, or a condition that no event
   * meets, the index agrees with every comparison but stays empty.
   */
  async warnIfNoEventCounts(writer: IndexWriter): Promise<void> {
    if (this.eventsRead === 0 || (await writer.hasWallets())) return;
    const { stakeEvents } = this.options;
    this.logger.warn(
      { events: this.eventsRead, stakeEvents },
      'The contract has events and none of them counts: every stake is 0. Check STAKE_EVENTS: the number of its preset (`masterchef-v1:7`), or its conditions (`where`); another one needs a new index',
    );
  }

  /** Rolls the index back to a block, which may take minutes. */
  async undo(
    { writer }: WritingLead,
    to: BlockRef,
    why: 'reorganisation' | 'repair',
  ): Promise<void> {
    const { metrics, logger, status } = this;
    const depth = writer.head.number - to.number;
    const span = {
      name: 'rollback',
      attributes: {
        'lowmark.reason': why,
        'lowmark.to_block': Number(to.number),
        'lowmark.depth': Number(depth),
      },
    };
    logger.info({ why, toBlock: to.number, depth }, 'Rolling back');
    const { changes, wallets } = await status.during(ROLLBACK, () =>
      inSpan(span, () => writer.rollback(to)),
    );
    metrics.rolledBack(why, Number(depth));
    logger.warn({ why, toBlock: to.number, depth, changes, wallets }, 'Rolled back');
  }
}

/** The range and the finalised block must be on one fork; otherwise they came from nodes on different forks. */
function requireFinalisedOnChain(answer: RangeAnswer, { finalised }: ChainHeads): void {
  const header = answer.headers.find(({ number }) => number === finalised.number);
  if (header && header.hash !== finalised.hash)
    throw new RetryableError(
      'FORKED_ANSWER',
      `Block ${finalised.number} is ${header.hash} in one answer and finalised as ${finalised.hash} in another`,
    );
}

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
        '(docs/operating/reindexing.md).',
    );
  }
}

/** Headers per request in the search for the fork. */
const STRIDE = 64;

/**
 * Finds the newest remembered block that the chain still has. Everything above this block is to be rolled back.
 *
 * @param remembered indexed blocks, ascending; the first one is the finalised block, below which nothing may change
 * @throws DeepReorganisationError where the chain does not have the finalised block any more
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
