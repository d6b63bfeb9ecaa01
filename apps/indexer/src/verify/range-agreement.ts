/**
 * A second opinion about a range. With endpoints of two providers it is that of the other one, in every mode: its logs, their times,
 * the block at the end, and the contract's total. With one provider it is the same question again, in the mode `wallets` only.
 */
import {
  type ChainReader,
  type Comparison,
  countProviders,
  type FetchOptions,
  isOutage,
  type LogSource,
  OUTAGE_PATIENCE_MS,
  ownProvider,
  providerOf,
  type RangeAnswer,
  type VerificationMode,
} from '#libs/chain';
import { type Clock, type Logger } from '#libs/platform';
import { DisagreementLog } from './disagreement-log.js';
import { settleBlock } from './settle-block.js';

export interface AgreementParts {
  readonly reader: Pick<
    ChainReader,
    'totalCalls' | 'finality' | 'stakeTotal' | 'headers' | 'hasTotal'
  >;
  readonly source: Pick<LogSource, 'fetch' | 'compare' | 'endpoints'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface AgreementQuestion {
  readonly mode: VerificationMode;
  /** Every block of the range is final. */
  readonly isFinal: boolean;
  readonly options: FetchOptions;
  /** The contract's total is asked for too. */
  readonly wantsTotal: boolean;
  /** The blocks were read from their receipts, because logs left something out: logs are not asked for again and again. */
  readonly isByReceipts: boolean;
}

export interface Agreement {
  readonly answer: RangeAnswer;
  /** What another provider says of it; undefined where there is none, or it does not answer and the mode goes on without. */
  readonly other: Comparison | undefined;
}

/** Answers to one question before blocks that still differ are looked at one by one. */
const ROUNDS = 5;

export class RangeAgreement {
  /** How many more times a range must come out the same. A provider that once contradicted itself is asked once more. */
  private confirmations = 1;
  private isAlone = false;
  private readonly disagreements: DisagreementLog;

  constructor(private readonly parts: AgreementParts) {
    this.disagreements = new DisagreementLog(parts);
  }

  /** Whether the endpoints are of two providers at least. */
  get hasOther(): boolean {
    return countProviders(this.parts.source.endpoints) > 1;
  }

  /**
   * @returns the answer as two say it
   * @throws EventsInDoubtError where no two sources agree; AllEndpointsFailedError where the other provider has another block, dates
   * it otherwise, or does not answer and the mode needs it; RangeTooLargeError
   */
  async reach(first: RangeAnswer, question: AgreementQuestion): Promise<Agreement> {
    const { mode, isFinal, isByReceipts } = question;
    const isAskedAgain = mode === 'wallets' && isFinal && !isByReceipts;
    if (!this.hasOther && !isAskedAgain) return { answer: first, other: undefined };
    const { source } = this.parts;
    let answer = first;
    let told: Comparison | undefined;
    let agreeing = 0;
    for (let left = isByReceipts ? 1 : ROUNDS; left > 0; left--) {
      told = await this.compare(answer, question);
      if (!told) return { answer, other: undefined };
      if (told.differing.length === 0) {
        agreeing++;
        if (this.hasOther || agreeing >= this.confirmations) return this.agreed(answer, told);
        continue;
      }
      if (!this.hasOther) this.confirmations = 2;
      agreeing = 0;
      const differingBlocks = told.differing.length;
      this.disagreements.differ({ answer, other: told.endpoint, differingBlocks });
      // The last one stays: nothing is taken that was not compared.
      if (left > 1) answer = await source.fetch(answer, question.options);
    }
    for (const block of told?.differing ?? []) {
      const { options } = question;
      const isByProvider = this.hasOther;
      answer = await settleBlock(this.parts, { answer, block, isByProvider, options });
    }
    return told ? this.agreed(answer, told) : { answer, other: undefined };
  }

  private agreed(answer: RangeAnswer, told: Comparison): Agreement {
    const isOther = providerOf(told.endpoint) !== providerOf(answer.endpoint);
    return { answer, other: isOther ? told : undefined };
  }

  /** Undefined where the other provider is out and the mode goes on without it. */
  private async compare(
    answer: RangeAnswer,
    { mode, isFinal, options, wantsTotal }: AgreementQuestion,
  ): Promise<Comparison | undefined> {
    const { source, reader, logger } = this.parts;
    const { finality } = reader;
    const total = wantsTotal && this.hasOther ? await reader.totalCalls() : undefined;
    const tag = this.hasOther && !isFinal && finality.kind === 'tag' ? finality.tag : undefined;
    const { endpoints } = source;
    const avoid = this.hasOther
      ? ownProvider(answer.endpoint, endpoints)
      : endpoints.length > 1
        ? [answer.endpoint]
        : [];
    const mayBeOut = this.hasOther && mode !== 'two';
    const patience = mayBeOut ? { patienceMs: OUTAGE_PATIENCE_MS } : {};
    try {
      const told = await source.compare(answer, { ...options, ...patience, avoid, total, tag });
      if (this.isAlone) logger.info({ endpoint: told.endpoint }, 'Another provider answers again');
      this.isAlone = false;
      return told;
    } catch (error) {
      if (!mayBeOut || !isOutage(error)) throw error;
      if (!this.isAlone) {
        logger.warn(
          { endpoint: answer.endpoint, reason: error.message },
          'No other provider answers: for as long, events count by the word of one',
        );
      }
      this.isAlone = true;
      return mode === 'wallets' && isFinal ? source.compare(answer, options) : undefined;
    }
  }
}
