/** From a range as it was read to rows: what does not add up is mended first, or the index goes back to where it was vouched for. */
import {
  type ChainReader,
  countProviders,
  isOutage,
  OUTAGE_PATIENCE_MS,
  ownProvider,
  type RangeAnswer,
} from '#libs/chain';
import { type BlockRef, NegativeBalanceError, RetryableError } from '#libs/domain';
import { type Logger, inSpan } from '#libs/platform';
import { type BackfillProgress } from '../backfill/backfill-progress.js';
import { type ReadRange } from '../backfill/read-range.js';
import { rollbackSpan } from '../follow/index-spans.js';
import { type IndexStatus } from '../follow/index-status.js';
import { type ChainHeads, finalisedOf } from '../follow/next-step.js';
import { type IndexerMetrics } from '../health/indexer.metrics.js';
import { type Doubts } from '../verify/doubts.js';
import { type RangeVerifier } from '../verify/range-verifier.js';
import { doubtSinceVerified, rollBackToVerified } from '../verify/unverified-base.js';
import { type IndexFacts, type IndexWriter } from './index-writer.js';

export interface RangeApplierParts {
  readonly reader: ChainReader;
  readonly verifier: RangeVerifier;
  readonly writer: IndexWriter;
  readonly doubts: Doubts;
  readonly status: IndexStatus;
  readonly progress: BackfillProgress;
  readonly metrics: IndexerMetrics;
  readonly logger: Logger;
  /** The first block that is indexed. */
  readonly firstBlock: bigint;
  /** STAKE_EVENTS as it was set: a preset, or the path of a file. */
  readonly stakeEvents: string;
}

export class RangeApplier {
  /** That came, whether they count or not. */
  private eventsRead = 0;

  constructor(private readonly parts: RangeApplierParts) {}

  /**
   * Writes a range that agrees with the contract.
   * @returns false where the index itself was rolled back instead
   * @throws TotalMismatchError, NegativeBalanceError, and what IndexWriter.apply throws
   */
  async apply(read: ReadRange, heads: ChainHeads, signal: AbortSignal): Promise<boolean> {
    const { reader, verifier, writer, doubts, metrics, progress, status } = this.parts;
    const agreed = await this.agreed(read, heads, signal);
    if (!agreed) return false;
    const { answer, contractTotal } = agreed;
    const isTip = answer.to > heads.finalised.number;
    if (isTip && contractTotal === undefined && reader.hasTotal && verifier.comparesTotal(false))
      throw new RetryableError(
        'UNVERIFIED_HEAD',
        `No endpoint has the contract's state at block ${answer.to}, so its events cannot be verified`,
      );
    requireFinalisedOnChain(answer, heads);
    const changes = await this.write(answer, {
      finalised: finalisedOf({ ...writer.indexed, head: answer.head }, heads),
      verifiedNumber: verifier.isVouchedFor(agreed) ? answer.to : undefined,
      synced: false,
    });
    if (changes === undefined) return false;
    doubts.settle(writer.state.verifiedNumber ?? -1n);
    status.trouble = undefined;
    this.eventsRead += answer.events;
    metrics.applied(answer, changes);
    progress.applied(answer, heads.latest.number);
    return true;
  }

  /** @returns how many balances change; undefined where one would fall below zero and the index was rolled back instead */
  private async write(answer: RangeAnswer, facts: IndexFacts): Promise<number | undefined> {
    const { writer } = this.parts;
    try {
      return await writer.apply(answer, facts);
    } catch (error) {
      if (!(error instanceof NegativeBalanceError)) throw error;
      const to = await doubtSinceVerified(this.parts, writer.state, answer);
      if (!to) throw error;
      await this.undo(to, 'repair');
      return undefined;
    }
  }

  /** The range with events that add up to the contract's total; undefined where the index did not, and was rolled back. */
  private async agreed(
    read: ReadRange,
    heads: ChainHeads,
    signal: AbortSignal,
  ): Promise<ReadRange | undefined> {
    const { writer, verifier } = this.parts;
    const { answer, contractTotal } = read;
    const { state } = writer;
    const indexed = state.total + read.delta;
    if (contractTotal === undefined || contractTotal === indexed) return read;
    if (await this.isContradicted(answer.head, read, indexed, signal)) {
      return { ...read, contractTotal: indexed };
    }
    const to = await rollBackToVerified(this.parts, state, { ...answer, contractTotal });
    if (to) {
      await this.undo(to, 'repair');
      return undefined;
    }
    return verifier.mend(read, state.total, { final: heads.finalised.number, signal });
  }

  /**
   * Whether another provider's total is the index's: then the events and one provider stand against the other, and a total that one
   * provider alone tells changes nothing.
   */
  private async isContradicted(
    head: BlockRef,
    { totalBy, contractTotal }: Pick<ReadRange, 'totalBy' | 'contractTotal'>,
    indexed: bigint,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const { reader, logger } = this.parts;
    const { endpoints } = reader;
    if (totalBy === undefined || countProviders(endpoints) < 2) return false;
    const avoid = ownProvider(totalBy, endpoints);
    const options = { avoid, patienceMs: OUTAGE_PATIENCE_MS, ...(signal && { signal }) };
    try {
      const second = await reader.stakeTotal(head, options);
      if (second !== indexed) return false;
    } catch (error) {
      if (isOutage(error)) return false;
      throw error;
    }
    logger.warn(
      { block: head.number, endpoint: totalBy, contractTotal, indexed },
      'An endpoint tells another total than the events and another provider: it is not believed',
    );
    return true;
  }

  /**
   * The contract's total at the head, once at the end of a first sync: a wallet that is missing altogether shows in nothing else.
   * @returns false where the index did not agree and was rolled back
   * @throws TotalMismatchError where all was read again often enough
   */
  async agreesInAll(): Promise<boolean> {
    const { reader, writer } = this.parts;
    const { state, head } = writer;
    let totalBy: string | undefined;
    const saidBy = (endpoint: string): void => {
      totalBy = endpoint;
    };
    const contractTotal = await reader.stakeTotal(head, { saidBy });
    if (contractTotal === undefined || contractTotal === state.total) return true;
    if (await this.isContradicted(head, { totalBy, contractTotal }, state.total)) return true;
    const shown = { to: head.number, endpoint: reader.endpoints.join(', ') };
    const to = await rollBackToVerified(this.parts, state, { ...shown, contractTotal });
    if (to) await this.undo(to, 'repair');
    return to === undefined;
  }

  /** A pool that does not exist, or a condition that nothing meets, leaves an index that agrees with everything and holds nothing. */
  async warnIfNoneCounts(): Promise<void> {
    const { writer, logger, stakeEvents } = this.parts;
    if (this.eventsRead === 0 || (await writer.hasWallets())) return;
    logger.warn(
      { events: this.eventsRead, stakeEvents },
      'The contract has events and none of them counts: every stake is 0. Check STAKE_EVENTS: the number of its preset (`masterchef-v1:7`), or its conditions (`where`); another one needs a new index',
    );
  }

  /** Takes back everything above a block. */
  async undo(to: BlockRef, why: 'reorganisation' | 'repair'): Promise<void> {
    const { writer, metrics, logger } = this.parts;
    const depth = writer.head.number - to.number;
    const { changes, wallets } = await inSpan(rollbackSpan(to, { why, depth }), () =>
      writer.rollback(to),
    );
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
