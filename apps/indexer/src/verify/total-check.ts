/**
 * The sum of all balances in the index held against the contract's total.
 *
 * Events may be written before they are vouched for: where the contract's total could not be read yet, or wallets are compared at the
 * end. When a later range shows that some of them are wrong, the index goes back to where it was last vouched for.
 */
import { askFigure, askOtherProvider, type ChainReader, type RangeAnswer } from '#libs/chain';
import { type IndexState } from '#libs/db';
import { type BlockRef, RetryableError } from '#libs/domain';
import { type Logger } from '#libs/platform';
import { type IndexOptions } from '../index-options.js';
import { type MendOptions, type RangeMender, TotalMismatchError } from './range-mender.js';
import { type SuspectRanges, type VerificationPolicy } from './verification-policy.js';
import { type VerifiedRange } from './verified-range.js';

/** Up to which block events are in doubt, and by whose word. */
interface Shown {
  readonly to: bigint;
  readonly endpoint: string;
}

/** A range that adds up, or the block that the index is to go back to instead. */
type CheckedRange =
  | { readonly kind: 'agreed'; readonly range: VerifiedRange }
  | { readonly kind: 'roll-back'; readonly to: BlockRef };

/** So often the same blocks are read again before the difference is believed. */
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
   * The range with events that add up to the contract's total.
   * @param state of the index before the range
   * @throws TotalMismatchError; RetryableError where blocks above finality have no total to be compared with now
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
    const told = { figure: contractTotal, endpoint: totalBy ?? '' };
    if (await this.isContradicted(answer.head, told, indexed, options.signal)) {
      return { kind: 'agreed', range: { ...range, contractTotal: indexed } };
    }
    const to = await this.startOfDoubt(state, answer, contractTotal);
    if (to) return { kind: 'roll-back', to };
    return { kind: 'agreed', range: await this.mender.mend(range, state.total, options) };
  }

  /**
   * The contract's total at the head, once at the end of a first sync: a wallet that is missing altogether shows in nothing else.
   * @returns the block to go back to; undefined where the index agrees
   * @throws TotalMismatchError where all was read again often enough
   */
  async checkHead(state: IndexState): Promise<BlockRef | undefined> {
    const { reader } = this;
    const { head } = state;
    const told = await askFigure((said) => reader.stakeTotal(head, said));
    if (told === undefined || told.figure === state.total) return undefined;
    if (await this.isContradicted(head, told, state.total)) return undefined;
    const shown = { to: head.number, endpoint: reader.endpoints.join(', ') };
    return this.startOfDoubt(state, shown, told.figure);
  }

  /**
   * Puts all since the last block that was vouched for in doubt, to be read again.
   * @returns that block, to go back to; undefined where the head itself is vouched for, or the blocks were read again often enough
   */
  async suspectUnverified(
    { head, verifiedNumber }: IndexState,
    { to: toBlock, endpoint }: Shown,
  ): Promise<BlockRef | undefined> {
    const { suspects } = this;
    const verified = verifiedNumber ?? this.options.firstBlock - 1n;
    const from = verified + 1n;
    if (verified === head.number || suspects.countAt(from) >= TRIES) return undefined;
    const [to] = await this.reader.headers([verified]);
    if (!to) return undefined;
    suspects.add({ from, to: toBlock, avoid: [endpoint], by: 'logs' });
    this.logger.warn(
      { fromBlock: from, toBlock, avoid: endpoint },
      'Events up to here are missing or wrong, and none of these blocks is vouched for yet: reading them again',
    );
    return to;
  }

  private requireTotal({ to }: RangeAnswer, { final }: MendOptions): void {
    if (to <= final || !this.reader.hasTotal || !this.policy.comparesTotal(false)) return;
    throw new RetryableError(
      'UNVERIFIED_HEAD',
      `No endpoint has the contract's state at block ${to}, so its events cannot be verified`,
    );
  }

  /**
   * Whether another provider's total is the index's: then the events and one provider stand against the other, and a total that one
   * provider alone tells changes nothing.
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
   * Whose fault it is that the events do not add up to the contract's total: the newest range's own, or that of the index before it.
   * @returns the block to go back to; undefined where the index agrees and the range is at fault
   * @throws TotalMismatchError where the index is at fault and all was read again often enough
   */
  private async startOfDoubt(
    state: IndexState,
    shown: Shown,
    contractTotal: bigint,
  ): Promise<BlockRef | undefined> {
    const { head, total, verifiedNumber } = state;
    if (verifiedNumber === head.number) return undefined;
    if ((await this.reader.stakeTotal(head)) === total) return undefined;
    const to = await this.suspectUnverified(state, shown);
    if (to) return to;
    const { endpoint } = shown;
    const block = head.number;
    throw new TotalMismatchError({ block, indexed: total, contract: contractTotal, endpoint });
  }
}
