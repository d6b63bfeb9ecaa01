/**
 * Reads ranges and vouches for them before they are written (docs/decisions/0003), in the mode that STAKE_VERIFICATION comes to.
 *
 * States of a range: read -> agreed (another provider says the same, or the same one again in the mode `wallets`) -> settled (the sum of
 * its events is what the contract's total says, where there is one). A range that stays in doubt is never written.
 */
import {
  AllEndpointsFailedError,
  type ChainReader,
  type FetchOptions,
  type FigureOptions,
  isOutage,
  type LogSource,
  OUTAGE_PATIENCE_MS,
  ownProvider,
  type RangeAnswer,
  type Verification,
} from '#libs/chain';
import { MAX_AHEAD_SECONDS } from '#libs/domain';
import { type Clock, type Logger } from '#libs/platform';
import { type BlockRange } from '#libs/chain';
import { type ReadRange } from '../backfill/read-range.js';
import { type Doubt, type Doubts } from './doubts.js';
import { mendAnswer } from './mend-answer.js';
import { type Agreement, RangeAgreement } from './range-agreement.js';
import { after, deltaOf, together, upTo } from './range-parts.js';

export interface RangeVerifierParts {
  readonly reader: Pick<
    ChainReader,
    'stakeTotal' | 'totalCalls' | 'headers' | 'finality' | 'hasTotal'
  >;
  readonly source: Pick<LogSource, 'fetch' | 'compare' | 'endpoints'>;
  readonly doubts: Doubts;
  readonly clock: Clock;
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
  /** At the chain's tip. */
  readonly tip?: {
    /** The contract's total by the request that brought the range: at its end, or a little later. */
    readonly newestTotal: bigint | undefined;
    /** The index's total before the range. */
    readonly indexedTotal: bigint;
  };
}

interface ToldTotal {
  readonly total: bigint;
  readonly by: string;
}

export class RangeVerifier {
  /** Set before the first range is read. */
  verification: Pick<Verification, 'mode' | 'comparesPastTotals'> = {
    mode: 'headers',
    comparesPastTotals: true,
  };
  /** Every wallet was compared once. */
  hasComparedWallets = false;
  private readonly agreement: RangeAgreement;

  constructor(private readonly parts: RangeVerifierParts) {
    this.agreement = new RangeAgreement(parts);
  }

  /** Whether another provider can be asked what one says. */
  get hasOtherProvider(): boolean {
    return this.agreement.hasOther;
  }

  /** @throws AllEndpointsFailedError, RangeTooLargeError, EventsInDoubtError */
  async read(range: BlockRange, { isFinal, signal }: ReadOptions): Promise<ReadRange> {
    const { source, reader, doubts } = this.parts;
    // Where there is another provider, the total is its word, not that of the one that tells the logs.
    const isTotalWanted = isFinal && this.comparesTotal(true) && !this.hasOtherProvider;
    const total = isTotalWanted ? await reader.totalCalls() : undefined;
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
  async vouch(answer: RangeAnswer, options: VouchOptions): Promise<ReadRange> {
    const { isFinal, signal, doubt, tip } = options;
    const agreed = await this.agreement.reach(answer, {
      mode: this.verification.mode,
      isFinal,
      options: this.fetchOptions(isFinal, signal),
      wantsTotal: this.comparesTotal(isFinal) && (isFinal || tip !== undefined),
      isByReceipts: doubt?.by === 'receipts',
    });
    const told = this.comparesTotal(isFinal) ? await this.totalOf(agreed, options) : undefined;
    const { endpoint, head, bytes } = agreed.answer;
    return {
      answer: agreed.answer,
      delta: deltaOf(agreed.answer),
      contractTotal: told?.total,
      totalBy: told?.by,
      other: agreed.other,
      checkpoints: told ? [{ head, endpoint, total: told.total }] : [],
      isConfirmed: agreed.other !== undefined || this.verification.mode === 'headers',
      apart: doubt !== undefined,
      bytes,
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
    for (const { head, total: end, endpoint } of read.checkpoints) {
      const part = { ...upTo(rest, head), endpoint };
      const isWhole = total + deltaOf(part) === end;
      // A joined range may hold final blocks and newer ones.
      const options = this.fetchOptions(part.to <= final, signal);
      const whole = isWhole
        ? part
        : await mendAnswer(
            { ...this.parts, confirm: this.confirm(part.to <= final, signal) },
            part,
            {
              before: total,
              after: end,
              options,
            },
          );
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
      latestSeconds: this.latestSeconds,
      recount: mode === 'headers' || (mode === 'wallets' && !isFinal),
      patienceMs: Infinity,
      signal,
    };
  }

  /** What a block may be dated at the most. */
  get latestSeconds(): number {
    return Math.floor(this.parts.clock.nowMs() / 1000) + MAX_AHEAD_SECONDS;
  }

  /** @returns what asks for a second opinion about an answer that was read again */
  private confirm(isFinal: boolean, signal: AbortSignal) {
    return async (answer: RangeAnswer, by: 'logs' | 'receipts'): Promise<RangeAnswer> => {
      const options = this.fetchOptions(isFinal, signal);
      const { mode } = this.verification;
      const isByReceipts = by === 'receipts';
      const question = { mode, isFinal, options, wantsTotal: false, isByReceipts };
      return (await this.agreement.reach(answer, question)).answer;
    };
  }

  /** The contract's total at the end of an answer, by another provider than the one that told the logs, where one answers. */
  private async totalOf(
    { answer, other }: Agreement,
    { isFinal, signal, tip }: VouchOptions,
  ): Promise<ToldTotal | undefined> {
    const told = other ? other.total : (tip?.newestTotal ?? answer.total);
    // At the tip it may be of a block that came in between: unless it fits, it is asked for by the block's hash.
    const isOfItsEnd = isFinal || told === (tip?.indexedTotal ?? 0n) + deltaOf(answer);
    if (told !== undefined && isOfItsEnd) {
      return { total: told, by: other?.endpoint ?? answer.endpoint };
    }
    const patient = { signal, patienceMs: Infinity };
    if (!other) return this.askTotal(answer, patient);
    const avoid = ownProvider(answer.endpoint, this.parts.source.endpoints);
    if (this.verification.mode === 'two') return this.askTotal(answer, { ...patient, avoid });
    try {
      return await this.askTotal(answer, { signal, avoid, patienceMs: OUTAGE_PATIENCE_MS });
    } catch (error) {
      if (!isOutage(error)) throw error;
      return this.askTotal(answer, patient);
    }
  }

  private async askTotal(
    { head }: RangeAnswer,
    options: FigureOptions,
  ): Promise<ToldTotal | undefined> {
    let by = '';
    const saidBy = (endpoint: string): void => {
      by = endpoint;
    };
    const total = await this.parts.reader.stakeTotal(head, { ...options, saidBy });
    return total === undefined ? undefined : { total, by };
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
