/**
 * The witness that reads the same blocks again: another provider in every mode, otherwise the same provider where
 * balances decide. Logs, times, last block and the contract's total must be the same.
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
  type ReadRange,
} from '#libs/chain';
import { type Clock, type Logger } from '#libs/platform';
import { settleBlock } from './block-settlement.js';
import { type Witness, type Witnesses, type WitnessQuestion } from './witnesses.js';

/** Comparisons of a range before the blocks that still differ are settled one by one. */
const ROUNDS = 5;

export class SecondRead implements Witness {
  /** Re-reads of a range that must match, with a single provider. Rises to 2 once this provider contradicted itself. */
  private confirmations = 1;
  private isAlone = false;
  private readonly disagreements: DisagreementLog;

  constructor(
    private readonly reader: ChainReader,
    private readonly source: LogSource,
    private readonly witnesses: Witnesses,
    clock: Clock,
    private readonly logger: Logger,
  ) {
    this.disagreements = new DisagreementLog(clock, logger);
  }

  /**
   * Reads and compares the range until two reads agree.
   * @throws EventsInDoubtError if no two sources agree; AllEndpointsFailedError if the other provider has another last
   * block or another time for it, or does not answer and there must be two; RangeTooLargeError
   */
  async confirm(first: ReadRange, question: WitnessQuestion): Promise<ReadRange> {
    const { isFinal, isByReceipts, signal } = question;
    const { areBalances, hasOtherProvider } = this.witnesses;
    const isAskedAgain = areBalances && isFinal && !isByReceipts;
    if (!hasOtherProvider && !isAskedAgain) return first;
    const options = this.witnesses.fetchOptions(isFinal, signal);
    let range = first;
    let other: Comparison | undefined;
    let agreeing = 0;
    for (let left = isByReceipts ? 1 : ROUNDS; left > 0; left--) {
      other = await this.compare(range, question, options);
      if (!other) return range;
      if (other.differing.length === 0) {
        agreeing++;
        if (hasOtherProvider || agreeing >= this.confirmations) return confirmed(range, other);
        continue;
      }
      if (!hasOtherProvider) this.confirmations = 2;
      agreeing = 0;
      const differingBlocks = other.differing.length;
      const { from, to, endpoint } = range;
      this.disagreements.differ({ from, to, endpoint, other: other.endpoint, differingBlocks });
      // Keeps the last answer, because a new one would not have been compared.
      if (left > 1) range = await this.source.fetch(range, options);
    }
    for (const block of other?.differing ?? []) {
      const inDoubt = { answer: range, block, isByProvider: hasOtherProvider, options };
      range = await settleBlock(this.reader, this.source, inDoubt);
    }
    return other ? confirmed(range, other) : range;
  }

  /** Undefined if the other provider is out, and one is enough. */
  private async compare(
    range: ReadRange,
    { isFinal, wantsTotal }: WitnessQuestion,
    options: FetchOptions,
  ): Promise<Comparison | undefined> {
    const { source, reader, logger } = this;
    const { areBalances, hasOtherProvider, mustBeTwo } = this.witnesses;
    const { finality } = reader;
    const total = wantsTotal && hasOtherProvider ? await reader.totalCalls() : undefined;
    const tag = hasOtherProvider && !isFinal && finality.kind === 'tag' ? finality.tag : undefined;
    const { endpoints } = source;
    const others = endpoints.length > 1 ? [range.endpoint] : [];
    const avoid = hasOtherProvider ? ownProvider(range.endpoint, endpoints) : others;
    const mayBeOut = hasOtherProvider && !mustBeTwo;
    const patience = mayBeOut ? { patienceMs: OUTAGE_PATIENCE_MS } : {};
    try {
      const other = await source.compare(range, { ...options, ...patience, avoid, total, tag });
      if (this.isAlone) logger.info({ endpoint: other.endpoint }, 'Another provider answers again');
      this.isAlone = false;
      return other;
    } catch (error) {
      if (!mayBeOut || !isOutage(error)) throw error;
      if (!this.isAlone) {
        logger.warn(
          { endpoint: range.endpoint, reason: error.message },
          'No other provider answers: until one does, events count on one provider’s word',
        );
      }
      this.isAlone = true;
      return areBalances && isFinal ? source.compare(range, options) : undefined;
    }
  }
}

/** The total is that of the other provider, never that of the endpoint that gave the logs. */
function confirmed(range: ReadRange, { endpoint, finalised, total }: Comparison): ReadRange {
  if (providerOf(endpoint) === providerOf(range.endpoint)) return range;
  const totals = total === undefined ? [] : [{ block: range.head, total, endpoint }];
  return { ...range, totals, confirmedBy: { endpoint, finalised } };
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
