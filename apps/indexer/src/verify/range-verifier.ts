/**
 * Reads ranges and vouches for them before they are written (docs/decisions/0003), in the mode that STAKE_VERIFICATION comes to.
 *
 * States of a range: read -> agreed (in the modes `two` and `wallets` asked for a second time with the same result) -> settled (the sum
 * of its events is what the contract's total says, where there is one). A range that stays in doubt is never written.
 */
import {
  AllEndpointsFailedError,
  type ChainReader,
  type FetchOptions,
  type LogSource,
  otherProvidersThan,
  type RangeAnswer,
  type Verification,
} from '#libs/chain';
import { type Logger } from '#libs/platform';
import { type BlockRange } from '../backfill/range-stream.js';
import { type ReadRange } from '../backfill/read-range.js';
import { type Doubt, type Doubts } from './doubts.js';
import { mendAnswer } from './mend-answer.js';
import { after, deltaOf, together, upTo } from './range-parts.js';

import { settleBlock } from './settle-block.js';

export interface RangeVerifierParts {
  readonly reader: Pick<ChainReader, 'stakeTotal' | 'totalCalls' | 'headers'>;
  readonly source: Pick<LogSource, 'fetch' | 'compare' | 'endpoints'>;
  readonly doubts: Doubts;
  readonly logger: Logger;
}

export interface ReadOptions {
  /** Every block of the range is final: nothing in it can be reorganised. */
  readonly isFinal: boolean;
  readonly signal: AbortSignal;
}

export interface MendOptions {
  /** The newest final block. */
  readonly final: bigint;
  readonly signal: AbortSignal;
}

export interface VouchOptions extends ReadOptions {
  /** Why the range was read in another way than others. */
  readonly doubt?: Doubt | undefined;
  /** The contract's total at the end of the range, or a little later, where it is known already. */
  readonly newestTotal?: bigint | undefined;
}

/** Answers to one question before blocks that still differ are looked at one by one. */
const ROUNDS = 5;

export class RangeVerifier {
  /** Set before the first range is read. */
  verification: Pick<Verification, 'mode' | 'comparesPastTotals'> = {
    mode: 'headers',
    comparesPastTotals: true,
  };
  /** Every wallet was compared once. */
  hasComparedWallets = false;
  /** How many more times a range must come out the same. A provider that once contradicted itself is asked once more. */
  private confirmations = 1;

  constructor(private readonly parts: RangeVerifierParts) {}

  /** @throws AllEndpointsFailedError, RangeTooLargeError, EventsInDoubtError */
  async read(range: BlockRange, { isFinal, signal }: ReadOptions): Promise<ReadRange> {
    const { source, reader, doubts } = this.parts;
    const total = isFinal && this.comparesTotal(true) ? await reader.totalCalls() : undefined;
    const options = { ...this.fetchOptions(isFinal, signal), total };
    const doubt = doubts.at(range.from);
    const answer = doubt
      ? await this.readAgain(range, doubt, options)
      : await source.fetch(range, options);
    return this.vouch(answer, { isFinal, signal, doubt });
  }

  /**
   * @param answer as it was read
   * @throws as `read` does
   */
  async vouch(
    answer: RangeAnswer,
    { isFinal, signal, doubt, newestTotal }: VouchOptions,
  ): Promise<ReadRange> {
    const isAskedTwice =
      this.verification.mode === 'two' || (this.verification.mode === 'wallets' && isFinal);
    const agreed =
      isAskedTwice && doubt?.by !== 'receipts'
        ? await this.agreed(answer, this.fetchOptions(isFinal, signal))
        : answer;
    const contractTotal = this.comparesTotal(isFinal)
      ? (newestTotal ??
        (isFinal ? agreed.total : undefined) ??
        (await this.parts.reader.stakeTotal(agreed.head, { signal, patienceMs: Infinity })))
      : undefined;
    return {
      answer: agreed,
      delta: deltaOf(agreed),
      contractTotal,
      checkpoints: contractTotal === undefined ? [] : [{ head: agreed.head, total: contractTotal }],
      isConfirmed: this.verification.mode === 'two' || this.verification.mode === 'headers',
      apart: doubt !== undefined,
      bytes: agreed.bytes,
    };
  }

  /**
   * A range whose events do not add up to the contract's total, read again in other ways until they do.
   * @param before the contract's total at the end of the block before the range
   * @throws TotalMismatchError where every way gave the same
   */
  async mend(read: ReadRange, before: bigint, { final, signal }: MendOptions): Promise<ReadRange> {
    let mended: RangeAnswer | undefined;
    let rest = read.answer;
    let total = before;
    // Only the parts that do not add up are read again.
    for (const { head, total: end } of read.checkpoints) {
      const part = upTo(rest, head);
      const isWhole = total + deltaOf(part) === end;
      // A joined range may hold final blocks and newer ones.
      const options = this.fetchOptions(part.to <= final, signal);
      const whole = isWhole
        ? part
        : await mendAnswer(this.parts, part, { before: total, after: end, options });
      mended = mended ? together(mended, whole) : whole;
      rest = after(rest, head);
      total = end;
    }
    const answer = mended ?? read.answer;
    return { ...read, answer, delta: deltaOf(answer) };
  }

  /**
   * Whether ranges are held against the contract's total. Where it is known of recent blocks only and wallets are compared, not before
   * they were: they show where an event is missing, the total only that one is.
   */
  comparesTotal(isFinal: boolean): boolean {
    const { mode, comparesPastTotals } = this.verification;
    return comparesPastTotals || (!isFinal && (mode !== 'wallets' || this.hasComparedWallets));
  }

  /** Whether a range that was read is vouched for; in the mode `wallets` that is for their comparison to say. */
  isVouchedFor({ contractTotal, isConfirmed }: ReadRange): boolean {
    return this.verification.mode !== 'wallets' && (contractTotal !== undefined || isConfirmed);
  }

  /** How blocks are asked for in the mode in force. */
  fetchOptions(isFinal: boolean, signal: AbortSignal): FetchOptions {
    const { mode } = this.verification;
    return {
      headers: isFinal && mode !== 'headers' ? 'events' : 'all',
      recount: mode === 'headers' || (mode === 'wallets' && !isFinal),
      patienceMs: Infinity,
      signal,
    };
  }

  /** The answer once it is the same by another provider (`two`), or asked again (`wallets`). */
  private async agreed(first: RangeAnswer, options: FetchOptions): Promise<RangeAnswer> {
    const { source, logger } = this.parts;
    let answer = first;
    let differing: readonly bigint[] = [];
    let agreeing = 0;
    for (let round = 0; round < ROUNDS; round++) {
      differing = await source.compare(answer, { ...options, avoid: this.notAgain(answer) });
      if (differing.length === 0) {
        agreeing++;
        if (agreeing >= this.confirmations) return answer;
        continue;
      }
      if (this.verification.mode === 'wallets') this.confirmations = 2;
      agreeing = 0;
      logger.warn(
        { fromBlock: answer.from, toBlock: answer.to, blocks: differing.length, round },
        'Two answers to the same question differ: asking again',
      );
      answer = await source.fetch(answer, options);
    }
    for (const block of differing) {
      answer = await settleBlock(this.parts, {
        answer,
        block,
        mode: this.verification.mode,
        options,
      });
    }
    return answer;
  }

  /** Endpoints whose word would not count as a second one. */
  private notAgain({ endpoint }: RangeAnswer): readonly string[] {
    const { endpoints } = this.parts.source;
    if (this.verification.mode === 'two') {
      const others = otherProvidersThan(endpoint, endpoints);
      return endpoints.filter((name) => !others.includes(name));
    }
    return endpoints.length > 1 ? [endpoint] : [];
  }

  /** From another endpoint where one answers; else from the same one, in the other way. */
  private async readAgain(
    range: BlockRange,
    { avoid, by }: Doubt,
    options: FetchOptions,
  ): Promise<RangeAnswer> {
    const { source } = this.parts;
    try {
      return await source.fetch(range, { ...options, avoid, by });
    } catch (error) {
      if (!(error instanceof AllEndpointsFailedError) || avoid.length === 0) throw error;
      return source.fetch(range, { ...options, by });
    }
  }
}
