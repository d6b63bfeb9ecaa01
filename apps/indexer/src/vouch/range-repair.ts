/**
 * Repairs ranges whose events do not add up to the contract's total. Asking again is often enough. Otherwise the range
 * is halved by the contract's total at the middle block until one wrong block is left, which is read from its receipts.
 */
import {
  AllEndpointsFailedError,
  type ChainReader,
  type LogSource,
  type ReadRange,
  RangeTooLargeError,
} from '#libs/chain';
import { PermanentError } from '#libs/domain';
import { type Logger } from '#libs/platform';
import { joinParts, partAfter, partUpTo } from './ranges.js';
import { type SecondRead } from './second-read.js';
import { type Witnesses } from './witnesses.js';

/** The events contradict the contract's total in every way of reading them. */
export class TotalMismatchError extends PermanentError {
  constructor(mismatch: { block: bigint; indexed: bigint; contract: bigint; endpoint: string }) {
    super(
      'TOTAL_MISMATCH',
      `At block ${mismatch.block} the indexed balances add up to ${mismatch.indexed} but the contract's total is ${mismatch.contract} ` +
        `(last read from ${mismatch.endpoint}). Add another endpoint to RPC_URLS, check STAKE_EVENTS and STAKE_START_BLOCK, or, where the function ` +
        `means something else in this contract, set totalView in STAKE_EVENTS to the right one or to []. If none of this helps: \`index again\` ` +
        '(docs/operating/troubleshooting.md#indexing-again).',
    );
  }
}

interface Totals {
  /** The contract's total at the end of the block before the range. */
  readonly before: bigint;
  /** The contract's total at the end of the range's last block. */
  readonly end: bigint;
  readonly isFinal: boolean;
  readonly signal: AbortSignal;
}

export class RangeRepair {
  constructor(
    private readonly reader: ChainReader,
    private readonly source: LogSource,
    private readonly witnesses: Witnesses,
    private readonly secondRead: SecondRead,
    private readonly logger: Logger,
  ) {}

  /**
   * Returns the range with events that add up to the contract's total.
   * @param before the contract's total at the end of the block before the range
   * @param final number of the newest final block
   * @throws TotalMismatchError if a block does not add up in any way of reading it
   */
  async repair(
    range: ReadRange,
    before: bigint,
    { final, signal }: { readonly final: bigint; readonly signal: AbortSignal },
  ): Promise<ReadRange> {
    let repaired: ReadRange | undefined;
    let rest = range;
    let total = before;
    // Only the parts that do not add up are read again.
    for (const { block, total: end, endpoint } of range.totals) {
      const part = { ...partUpTo(rest, block), endpoint };
      // A joined range may hold both final and newer blocks.
      const isFinal = part.to <= final;
      const whole = await this.repairPart(part, { before: total, end, isFinal, signal });
      repaired = repaired ? joinParts(repaired, whole) : whole;
      rest = partAfter(rest, block);
      total = end;
    }
    const { totals, confirmedBy } = range;
    return { ...(repaired ?? range), totals, confirmedBy };
  }

  private async repairPart(part: ReadRange, totals: Totals): Promise<ReadRange> {
    const { before, end } = totals;
    const fits = ({ change }: ReadRange): boolean => before + change === end;
    if (fits(part)) return part;
    const { from, to, endpoint } = part;
    this.logger.warn(
      { fromBlock: from, toBlock: to, endpoint, before, contractTotal: end },
      'An endpoint left out or altered events: reading these blocks again',
    );
    const again = await this.readAgain(part, 'logs', totals);
    if (again && fits(again)) return again;
    const halves = from < to ? await this.repairHalves(again ?? part, totals) : undefined;
    if (halves) return halves;
    const receipts = await this.readAgain(part, 'receipts', totals);
    if (receipts && fits(receipts)) return receipts;
    const indexed = before + (again ?? part).change;
    throw new TotalMismatchError({ block: to, indexed, contract: end, endpoint });
  }

  /** Repairs both halves of a part. Undefined if no node has the contract's state at the middle block. */
  private async repairHalves(part: ReadRange, totals: Totals): Promise<ReadRange | undefined> {
    const [header] = await this.reader.headers([(part.from + part.to) / 2n]);
    const patient = { patienceMs: Infinity, signal: totals.signal };
    const middle = header && (await this.reader.stakeTotal(header, patient));
    if (!header || middle === undefined) return undefined;
    const left = await this.repairPart(partUpTo(part, header), { ...totals, end: middle });
    const right = await this.repairPart(partAfter(part, header), { ...totals, before: middle });
    return joinParts(left, right);
  }

  /**
   * Reads a range again, from another endpoint if one answers, else from the same one, and has it confirmed like a
   * first read. Undefined if neither answers, or the range is too large for one read.
   */
  private async readAgain(
    { from, to, endpoint }: ReadRange,
    by: 'logs' | 'receipts',
    { isFinal, signal }: Totals,
  ): Promise<ReadRange | undefined> {
    const options = this.witnesses.fetchOptions(isFinal, signal);
    const question = { isFinal, signal, wantsTotal: false, isByReceipts: by === 'receipts' };
    for (const avoid of [[endpoint], []]) {
      try {
        const again = await this.source.fetch({ from, to }, { ...options, by, avoid });
        return await this.secondRead.confirm(again, question);
      } catch (error) {
        if (error instanceof RangeTooLargeError) return undefined;
        if (!(error instanceof AllEndpointsFailedError)) throw error;
      }
    }
    return undefined;
  }
}
