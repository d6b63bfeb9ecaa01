/**
 * Compares the sum of all balances in the index with the contract's total.
 *
 * Events may be written before they are verified: where the contract's total could not be read yet, or where wallets
 * are compared only at the end. When a later range shows that some of these events are wrong, the index is rolled back
 * to the newest verified block.
 */
import { askFigure, askOtherProvider, type ChainReader, type RangeAnswer } from '#libs/chain';
import { type IndexState } from '#libs/db';
import { type BlockRef, RetryableError } from '#libs/domain';
import { type Logger } from '#libs/platform';
import { type IndexOptions, verifiedUpTo } from '../index-options.js';
import { type MendOptions, type RangeMender, TotalMismatchError } from './range-mender.js';
import { type SuspectRanges, type VerificationPolicy } from './verification-policy.js';
import { type VerifiedRange } from './verified-range.js';

/** Last block of the doubtful events, and the endpoint that reported them. */
interface DoubtfulEvents {
  readonly to: bigint;
  readonly endpoint: string;
}

/** A range whose events add up, or the block to which the index must be rolled back instead. */
type CheckedRange =
  | { readonly kind: 'agreed'; readonly range: VerifiedRange }
  | { readonly kind: 'roll-back'; readonly to: BlockRef };

/** Re-reads of the same blocks before the difference is accepted as real. */
const TRIES = 3;

export class TotalCheck {
  constructor(
    private readonly reader: ChainReader,
    private readonly policy: VerificationPolicy,
    private readonly mender: RangeMender,
    private readonly suspects: SuspectRanges,
    private readonly logger: Logger,
    private readonly options: IndexOptions,
  ) {}

  /**
   * Compares a range with the contract's total, and repairs it where only the range is wrong.
   * @param state the index before the range
   * @throws TotalMismatchError; RetryableError where blocks above the finalised one cannot be compared now, as no
   * endpoint has their total
   */
  async check(
    range: VerifiedRange,
    state: IndexState,
    options: MendOptions,
  ): Promise<CheckedRange> {
    const { answer, contractTotal, totalBy } = range;
    const indexed = state.total + range.delta;
    if (contractTotal === undefined) {
      this.requireTotal(answer, options);
      return { kind: 'agreed', range };
    }
    if (contractTotal === indexed) return { kind: 'agreed', range };
    await this.requireRightTotal(answer.head);
    await this.requireZeroInTotal(range, state);
    const told = { figure: contractTotal, endpoint: totalBy ?? '' };
    if (await this.isContradicted(answer.head, told, indexed, options.signal)) {
      return { kind: 'agreed', range: { ...range, contractTotal: indexed } };
    }
    const to = await this.rollbackTarget(state, answer, contractTotal, options.signal);
    if (to) return { kind: 'roll-back', to };
    return { kind: 'agreed', range: await this.mender.mend(range, state.total, options) };
  }

  /**
   * Compares the index with the contract's total at the head, once at the end of the first sync. Only this comparison
   * shows a wallet that is missing altogether.
   * @returns the block to which the index must be rolled back; undefined where the index agrees
   * @throws TotalMismatchError where the blocks were already read again often enough
   */
  async checkHead(state: IndexState, signal: AbortSignal): Promise<BlockRef | undefined> {
    const { reader } = this;
    const { head } = state;
    const told = await askFigure((said) => reader.stakeTotal(head, said));
    if (told === undefined || told.figure === state.total) return undefined;
    await this.requireRightTotal(head);
    if (await this.isContradicted(head, told, state.total, signal)) return undefined;
    const shown = { to: head.number, endpoint: reader.endpoints.join(', ') };
    return this.rollbackTarget(state, shown, told.figure, signal);
  }

  /**
   * Marks all blocks after the newest verified one as suspect, to be read again.
   * @returns the newest verified block, to which the index must be rolled back; undefined where the head itself is
   * verified, the blocks were already read again often enough, or the mode is `none`: the whole index is unverified then
   * @throws the reason of the signal: what an abandoned turn finds does not count as a re-read of the next lead
   */
  async suspectUnverified(
    state: IndexState,
    { to: toBlock, endpoint }: DoubtfulEvents,
    signal: AbortSignal,
  ): Promise<BlockRef | undefined> {
    const { suspects } = this;
    if (this.policy.mode === 'none') return undefined;
    const verified = verifiedUpTo(state, this.options);
    const from = verified + 1n;
    if (verified === state.head.number || suspects.countAt(from) >= TRIES) return undefined;
    const [to] = await this.reader.headers([verified]);
    if (!to) return undefined;
    signal.throwIfAborted();
    suspects.add({ from, to: toBlock, avoid: [endpoint], by: 'logs' });
    this.logger.warn(
      { fromBlock: from, toBlock, avoid: endpoint },
      'Events up to here are missing or wrong, and none of these blocks is vouched for yet: reading them again',
    );
    return to;
  }

  /** @throws RetryableError where totals must be read again, without what the zero address holds */
  private async requireRightTotal(block: BlockRef): Promise<void> {
    if (!(await this.reader.findsZeroHolding(block))) return;
    throw new RetryableError(
      'ZERO_ADDRESS_HOLDS',
      `At block ${block.number} the zero address holds a part of the contract's total, and has no balance in the index: reading the totals without it`,
    );
  }

  /**
   * Some contracts leave the zero address out of their total themselves. That counts only where it is proven: by a
   * verified head at which the zero address holds something, or by events that explain all that it holds.
   * @throws RetryableError where totals must be read again, as the contract tells them
   */
  private async requireZeroInTotal(range: VerifiedRange, state: IndexState): Promise<void> {
    const { reader } = this;
    const { answer, delta } = range;
    const end = await reader.totalWithZero(answer.head);
    if (!end || end.held === 0n || end.total !== state.total + delta) return;
    const before = await reader.totalWithZero(state.head);
    if (!before) return;
    const isProven =
      before.held > 0n
        ? state.verifiedNumber === state.head.number && before.total === state.total
        : answer.burnt === end.held;
    if (!isProven) return;
    reader.leaveZeroInTotal();
    throw new RetryableError(
      'ZERO_ADDRESS_EXCLUDED',
      `By block ${answer.to} the contract leaves the zero address out of its total: reading the totals as it tells them`,
    );
  }

  private requireTotal({ to }: RangeAnswer, { final }: MendOptions): void {
    if (to <= final || !this.reader.hasTotal || !this.policy.comparesTotal(false)) return;
    throw new RetryableError(
      'UNVERIFIED_HEAD',
      `No endpoint (${this.reader.endpoints.join(', ')}) has the contract's state at block ${to}, so its events cannot be verified`,
    );
  }

  /**
   * Whether another provider confirms the index's total. In this case the events and that provider contradict a single
   * provider, whose total alone changes nothing.
   */
  private async isContradicted(
    head: BlockRef,
    { figure: contractTotal, endpoint }: { readonly figure: bigint; readonly endpoint: string },
    indexed: bigint,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const { reader, logger } = this;
    const second = await askOtherProvider(endpoint, reader.endpoints, (options) =>
      reader.stakeTotal(head, { ...options, signal }),
    );
    if (second !== indexed) return false;
    logger.warn(
      { block: head.number, endpoint, contractTotal, indexed },
      'An endpoint tells another total than the events and another provider: it is not believed',
    );
    return true;
  }

  /**
   * Determines whether the newest range or the index before it causes the difference to the contract's total.
   * @returns the block to which the index must be rolled back; undefined where the range is at fault
   * @throws TotalMismatchError where the index is at fault and the blocks were already read again often enough
   */
  private async rollbackTarget(
    state: IndexState,
    shown: DoubtfulEvents,
    contractTotal: bigint,
    signal: AbortSignal,
  ): Promise<BlockRef | undefined> {
    const { head, total, verifiedNumber } = state;
    if (verifiedNumber === head.number) return undefined;
    if ((await this.reader.stakeTotal(head)) === total) return undefined;
    const to = await this.suspectUnverified(state, shown, signal);
    if (to) return to;
    const { endpoint } = shown;
    const block = head.number;
    throw new TotalMismatchError({ block, indexed: total, contract: contractTotal, endpoint });
  }
}
