/**
 * Repairs ranges whose events do not add up to the contract's total. Asking again is often enough. Otherwise the range
 * is halved by the contract's total at the middle block until one wrong block is left, which is read from its receipts.
 */
import {
  AllEndpointsFailedError,
  type ChainReader,
  type FetchOptions,
  type LogSource,
  type RangeAnswer,
  RangeTooLargeError,
} from '#libs/chain';
import { PermanentError } from '#libs/domain';
import { type Logger } from '#libs/platform';
import { type RangeAgreement } from './range-agreement.js';
import { type VerificationPolicy } from './verification-policy.js';
import { deltaOf, joinAnswers, partAfter, partUpTo, type VerifiedRange } from './verified-range.js';

/** The events contradict the contract's total in every way of reading them. */
export class TotalMismatchError extends PermanentError {
  constructor(mismatch: { block: bigint; indexed: bigint; contract: bigint; endpoint: string }) {
    super(
      'TOTAL_MISMATCH',
      `At block ${mismatch.block} the indexed balances add up to ${mismatch.indexed} but the contract's total is ${mismatch.contract} ` +
        `(last read from ${mismatch.endpoint}). Add another endpoint to RPC_URLS, check STAKE_EVENTS and STAKE_START_BLOCK, or, where the function ` +
        `means something else in this contract, set totalView in STAKE_EVENTS to the right one or to []. If none of this helps: \`index again\` ` +
        '(docs/operating/reindexing.md).',
    );
  }
}

export interface MendOptions {
  /** Number of the newest final block. */
  readonly final: bigint;
  readonly signal: AbortSignal;
}

interface Totals {
  /** The contract's total at the end of the block before the answer. */
  readonly before: bigint;
  /** The contract's total at the end of the answer's last block. */
  readonly end: bigint;
  readonly isFinal: boolean;
  readonly signal: AbortSignal;
}

export class RangeMender {
  constructor(
    private readonly reader: ChainReader,
    private readonly source: LogSource,
    private readonly policy: VerificationPolicy,
    private readonly agreement: RangeAgreement,
    private readonly logger: Logger,
  ) {}

  /**
   * Returns the range with events that add up to the contract's total.
   * @param before the contract's total at the end of the block before the range
   * @throws TotalMismatchError where a block does not add up in any way of reading it
   */
  async mend(
    range: VerifiedRange,
    before: bigint,
    { final, signal }: MendOptions,
  ): Promise<VerifiedRange> {
    let mended: RangeAnswer | undefined;
    let rest = range.answer;
    let total = before;
    // Only the parts that do not add up are read again.
    for (const { head, total: end, endpoint } of range.checkpoints) {
      const part = { ...partUpTo(rest, head), endpoint };
      // A joined range may hold both final and newer blocks.
      const isFinal = part.to <= final;
      const whole = await this.mendPart(part, { before: total, end, isFinal, signal });
      mended = mended ? joinAnswers(mended, whole) : whole;
      rest = partAfter(rest, head);
      total = end;
    }
    const answer = mended ?? range.answer;
    return { ...range, answer, delta: deltaOf(answer) };
  }

  private async mendPart(answer: RangeAnswer, totals: Totals): Promise<RangeAnswer> {
    const { before, end } = totals;
    const fits = (one: RangeAnswer): boolean => before + deltaOf(one) === end;
    if (fits(answer)) return answer;
    const { from, to, endpoint } = answer;
    this.logger.warn(
      { fromBlock: from, toBlock: to, endpoint, before, contractTotal: end },
      'An endpoint left out or altered events: reading these blocks again',
    );
    const again = await this.readAgain(answer, 'logs', totals);
    if (again && fits(again)) return again;
    const half = from < to ? await this.mendHalves(again ?? answer, totals) : undefined;
    if (half) return half;
    const receipts = await this.readAgain(answer, 'receipts', totals);
    if (receipts && fits(receipts)) return receipts;
    const indexed = before + deltaOf(again ?? answer);
    throw new TotalMismatchError({ block: to, indexed, contract: end, endpoint });
  }

  /** Repairs both halves of an answer. Undefined where no node has the contract's state at the middle block. */
  private async mendHalves(answer: RangeAnswer, totals: Totals): Promise<RangeAnswer | undefined> {
    const [header] = await this.reader.headers([(answer.from + answer.to) / 2n]);
    const patient = { patienceMs: Infinity, signal: totals.signal };
    const middle = header && (await this.reader.stakeTotal(header, patient));
    if (!header || middle === undefined) return undefined;
    const left = await this.mendPart(partUpTo(answer, header), { ...totals, end: middle });
    const right = await this.mendPart(partAfter(answer, header), { ...totals, before: middle });
    return joinAnswers(left, right);
  }

  /**
   * Reads a range again, from another endpoint if one answers, else from the same one, and has it confirmed like a
   * first read. Undefined where neither answers, or the range is too large for one read.
   */
  private async readAgain(
    { from, to, endpoint }: RangeAnswer,
    by: 'logs' | 'receipts',
    { isFinal, signal }: Totals,
  ): Promise<RangeAnswer | undefined> {
    const options: FetchOptions = this.policy.fetchOptions(isFinal, signal);
    const question = { isFinal, signal, wantsTotal: false, isByReceipts: by === 'receipts' };
    for (const avoid of [[endpoint], []]) {
      try {
        const again = await this.source.fetch({ from, to }, { ...options, by, avoid });
        return (await this.agreement.reach(again, question)).answer;
      } catch (error) {
        if (error instanceof RangeTooLargeError) return undefined;
        if (!(error instanceof AllEndpointsFailedError)) throw error;
      }
    }
    return undefined;
  }
}
