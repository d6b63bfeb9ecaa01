/**
 * Confirms a range by a second read. With endpoints of two providers the other provider confirms it, in every mode:
 * logs, times, last block, and the contract's total. With one provider the same provider is asked again, in the mode
 * `wallets` only.
 */
import {
  type BlockRange,
  type ChainReader,
  type Comparison,
  type FetchOptions,
  isOutage,
  type LogSource,
  OUTAGE_PATIENCE_MS,
  ownProvider,
  providerOf,
  type RangeAnswer,
} from '#libs/chain';
import { type Clock, type Logger } from '#libs/platform';
import { settleBlock } from './block-settlement.js';
import { type VerificationPolicy } from './verification-policy.js';

interface AgreementQuestion {
  readonly isFinal: boolean;
  readonly signal: AbortSignal;
  readonly wantsTotal: boolean;
  /**
   * The blocks were read from their receipts because logs were missing. A range read from receipts is compared at most
   * once.
   */
  readonly isByReceipts: boolean;
}

export interface Agreement {
  readonly answer: RangeAnswer;
  /**
   * What another provider reports about the range. Undefined where there is no other provider, or where it does not
   * answer and the mode does not require one.
   */
  readonly other: Comparison | undefined;
}

/** Comparisons of a range before the blocks that still differ are settled one by one. */
const ROUNDS = 5;

export class RangeAgreement {
  /** Re-reads of a range that must match, with a single provider. Rises to 2 once this provider contradicted itself. */
  private confirmations = 1;
  private isAlone = false;
  private readonly disagreements: DisagreementLog;

  constructor(
    private readonly reader: ChainReader,
    private readonly source: LogSource,
    private readonly policy: VerificationPolicy,
    clock: Clock,
    private readonly logger: Logger,
  ) {
    this.disagreements = new DisagreementLog(clock, logger);
  }

  /**
   * Reads and compares the range until two reads agree.
   * @returns the answer on which both reads agree
   * @throws EventsInDoubtError where no two sources agree; AllEndpointsFailedError where the other provider has another
   * last block or another time for it, or does not answer and the mode requires it; RangeTooLargeError
   */
  async reach(first: RangeAnswer, question: AgreementQuestion): Promise<Agreement> {
    const { isFinal, isByReceipts, signal } = question;
    const { mode, hasOtherProvider } = this.policy;
    const isAskedAgain = mode === 'wallets' && isFinal && !isByReceipts;
    if (!hasOtherProvider && !isAskedAgain) return { answer: first, other: undefined };
    const options = this.policy.fetchOptions(isFinal, signal);
    let answer = first;
    let told: Comparison | undefined;
    let agreeing = 0;
    for (let left = isByReceipts ? 1 : ROUNDS; left > 0; left--) {
      told = await this.compare(answer, question, options);
      if (!told) return { answer, other: undefined };
      if (told.differing.length === 0) {
        agreeing++;
        if (hasOtherProvider || agreeing >= this.confirmations) return agreed(answer, told);
        continue;
      }
      if (!hasOtherProvider) this.confirmations = 2;
      agreeing = 0;
      const differingBlocks = told.differing.length;
      const { from, to, endpoint } = answer;
      this.disagreements.differ({ from, to, endpoint, other: told.endpoint, differingBlocks });
      // Keeps the last answer, because a new one would not have been compared.
      if (left > 1) answer = await this.source.fetch(answer, options);
    }
    for (const block of told?.differing ?? []) {
      const inDoubt = { answer, block, isByProvider: hasOtherProvider, options };
      answer = await settleBlock(this.reader, this.source, inDoubt);
    }
    return told ? agreed(answer, told) : { answer, other: undefined };
  }

  /**
   * The comparison with a second read. Undefined where the other provider is unreachable and the mode does not require
   * it.
   */
  private async compare(
    answer: RangeAnswer,
    { isFinal, wantsTotal }: AgreementQuestion,
    options: FetchOptions,
  ): Promise<Comparison | undefined> {
    const { source, reader, logger } = this;
    const { mode, hasOtherProvider } = this.policy;
    const { finality } = reader;
    const total = wantsTotal && hasOtherProvider ? await reader.totalCalls() : undefined;
    const tag = hasOtherProvider && !isFinal && finality.kind === 'tag' ? finality.tag : undefined;
    const { endpoints } = source;
    const others = endpoints.length > 1 ? [answer.endpoint] : [];
    const avoid = hasOtherProvider ? ownProvider(answer.endpoint, endpoints) : others;
    const mayBeOut = hasOtherProvider && mode !== 'two';
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

function agreed(answer: RangeAnswer, told: Comparison): Agreement {
  const isOther = providerOf(told.endpoint) !== providerOf(answer.endpoint);
  return { answer, other: isOther ? told : undefined };
}

const A_LINE_EVERY_MS = 60_000;

interface Disagreement extends BlockRange {
  readonly endpoint: string;
  /** The endpoint that reported something else; equal to `endpoint` where that was asked twice. */
  readonly other: string;
  readonly differingBlocks: number;
}

/** Warns about contradicting endpoints, at most once a minute. */
export class DisagreementLog {
  private saidAtMs = -Infinity;
  private sinceLine = 0;

  constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  differ({ from, to, endpoint, other, differingBlocks }: Disagreement): void {
    this.sinceLine++;
    const nowMs = this.clock.nowMs();
    if (nowMs - this.saidAtMs < A_LINE_EVERY_MS) return;
    const endpoints = [...new Set([endpoint, other])];
    this.logger.warn(
      { endpoints, fromBlock: from, toBlock: to, differingBlocks, times: this.sinceLine },
      endpoints.length > 1
        ? `${endpoint} and ${other} tell different events or times of the same blocks: asking again. Where this goes on, one of them loses logs: compare both with a block explorer, and replace that one in RPC_URLS`
        : `${endpoint} tells different events or times of the same blocks when it is asked twice: asking again. Where this goes on, it loses logs: add an endpoint of another provider to RPC_URLS, or replace this one`,
    );
    this.saidAtMs = nowMs;
    this.sinceLine = 0;
  }
}
