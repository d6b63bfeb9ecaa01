/**
 * The witness that compares the sum of all balances with the contract's total.
 *
 * Events may be written before they are verified: if the contract's total could not be read yet, or if wallets are
 * compared only at the end. If a later range shows that some of these events are wrong, the index is rolled back to the
 * newest verified block.
 */
import {
  askStatement,
  believed,
  type ChainReader,
  type FigureOptions,
  OUTAGE_PATIENCE_MS,
  ownProvider,
  Quorum,
  type ReadRange,
  type Statement,
  unlessOutage,
} from '#libs/chain';
import { type IndexState } from '#libs/db';
import { type BlockRef, RetryableError } from '#libs/domain';
import { type Logger } from '#libs/platform';
import { type IndexOptions, verifiedUpTo } from '../settings/index-options.js';
import { RollBackError } from '../write/index-writer.js';
import { type RangeRepair, TotalMismatchError } from './range-repair.js';
import { type SuspectRanges } from './suspect-ranges.js';
import { type Witness, type Witnesses, type WitnessQuestion } from './witnesses.js';

/** Last block of the doubtful events, and the endpoint that reported them. */
interface DoubtfulEvents {
  readonly to: bigint;
  readonly endpoint: string;
}

interface AgainstIndex {
  /** Number of the newest final block. */
  readonly final: bigint;
  readonly signal: AbortSignal;
}

/** Re-reads of the same blocks before the difference is accepted as real. */
const TRIES = 3;

export class ContractTotal implements Witness {
  constructor(
    private readonly reader: ChainReader,
    private readonly witnesses: Witnesses,
    private readonly rangeRepair: RangeRepair,
    private readonly suspects: SuspectRanges,
    private readonly logger: Logger,
    private readonly options: IndexOptions,
  ) {}

  /** Adds the contract's total at the end of the range, by another provider than that of the logs, if one answers. */
  async confirm(range: ReadRange, question: WitnessQuestion): Promise<ReadRange> {
    const { isFinal, indexedTotal = 0n } = question;
    if (!this.witnesses.comparesTotal(isFinal)) return { ...range, totals: [] };
    const known = range.totals.at(-1)?.total;
    // At the chain's head, the total may belong to a block that came in between. If it does not fit, the total is read
    // again by the hash of the last block.
    if (known !== undefined && (isFinal || known === indexedTotal + range.change)) return range;
    const found = await this.read(range, question);
    const totals = found
      ? [{ block: range.head, total: found.value, endpoint: found.endpoint }]
      : [];
    return { ...range, totals };
  }

  private async read(
    { head, endpoint, confirmedBy }: ReadRange,
    { signal }: WitnessQuestion,
  ): Promise<Statement<bigint> | undefined> {
    const ask = (options: FigureOptions) =>
      askStatement((said) => this.reader.stakeTotal(head, { ...options, ...said, signal }));
    const patient = { patienceMs: Infinity };
    if (!confirmedBy) return ask(patient);
    const avoid = ownProvider(endpoint, this.reader.endpoints);
    const byOther = this.witnesses.mustBeTwo
      ? await ask({ ...patient, avoid })
      : await unlessOutage(ask({ avoid, patienceMs: OUTAGE_PATIENCE_MS }));
    // The other provider confirms the events, but may be out or lack the state of the block.
    return byOther ?? ask(patient);
  }

  /**
   * Compares a range that is about to be written with the contract's total, and repairs it if only the range is wrong.
   * @param state the index before the range
   * @throws RollBackError if the index is wrong; TotalMismatchError; RetryableError if blocks above the finalised one
   * cannot be compared now, as no endpoint has their total
   */
  async check(range: ReadRange, state: IndexState, against: AgainstIndex): Promise<ReadRange> {
    const told = range.totals.at(-1);
    const indexed = state.total + range.change;
    if (told === undefined) this.requireTotal(range, against);
    if (told === undefined || told.total === indexed) return range;
    await this.requireRightTotal(range.head);
    await this.requireZeroInTotal(range, state);
    if (await this.isContradicted(told, indexed, against.signal)) {
      return { ...range, totals: [...range.totals.slice(0, -1), { ...told, total: indexed }] };
    }
    await this.requireRightIndex(state, range, { contract: told.total, signal: against.signal });
    return this.rangeRepair.repair(range, state.total, against);
  }

  /**
   * Compares the index with the contract's total at the head, once at the end of the first sync. Only this comparison
   * shows a wallet that is missing altogether.
   * @throws RollBackError; TotalMismatchError if the blocks were already read again often enough
   */
  async checkHead(state: IndexState, signal: AbortSignal): Promise<void> {
    const { reader } = this;
    const { head } = state;
    const told = await askStatement((said) => reader.stakeTotal(head, said));
    if (told === undefined || told.value === state.total) return;
    await this.requireRightTotal(head);
    const { value: total, endpoint } = told;
    if (await this.isContradicted({ block: head, total, endpoint }, state.total, signal)) return;
    const shown = { to: head.number, endpoint: reader.endpoints.join(', ') };
    await this.requireRightIndex(state, shown, { contract: total, signal });
  }

  /**
   * Marks all blocks after the newest verified one as suspect, to be read again.
   * @returns the newest verified block, to which the index must be rolled back; undefined if the head itself is
   * verified, the blocks were already read again often enough, or nothing vouches: the whole index is unverified then
   * @throws the reason of the signal: what an abandoned turn finds does not count as a re-read of the next lead
   */
  async suspectUnverified(
    state: IndexState,
    { to: toBlock, endpoint }: DoubtfulEvents,
    signal: AbortSignal,
  ): Promise<BlockRef | undefined> {
    const { suspects } = this;
    if (this.witnesses.areNone) return undefined;
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

  /** @throws RetryableError if totals must be read again, without what the zero address holds */
  private async requireRightTotal(block: BlockRef): Promise<void> {
    if (!(await this.reader.findsZeroHolding(block))) return;
    throw new RetryableError(
      'ZERO_ADDRESS_HOLDS',
      `At block ${block.number} the zero address holds a part of the contract's total, and has no balance in the index: reading the totals without it`,
    );
  }

  /**
   * Some contracts leave the zero address out of their total themselves. That counts only if it is proven: by a
   * verified head at which the zero address holds something, or by events that explain all that it holds.
   * @throws RetryableError if totals must be read again, as the contract tells them
   */
  private async requireZeroInTotal(range: ReadRange, state: IndexState): Promise<void> {
    const { reader } = this;
    const end = await reader.totalWithZero(range.head);
    if (!end || end.held === 0n || end.total !== state.total + range.change) return;
    const before = await reader.totalWithZero(state.head);
    if (!before) return;
    const isProven =
      before.held > 0n
        ? state.verifiedNumber === state.head.number && before.total === state.total
        : range.burnt === end.held;
    if (!isProven) return;
    reader.leaveZeroInTotal();
    throw new RetryableError(
      'ZERO_ADDRESS_EXCLUDED',
      `By block ${range.to} the contract leaves the zero address out of its total: reading the totals as it tells them`,
    );
  }

  private requireTotal({ to }: ReadRange, { final }: AgainstIndex): void {
    if (to <= final || !this.reader.hasTotal || !this.witnesses.comparesTotal(false)) return;
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
    { block, total, endpoint }: { block: BlockRef; total: bigint; endpoint: string },
    indexed: bigint,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { reader, logger } = this;
    const said = await new Quorum(reader.endpoints).ask(
      (options) =>
        askStatement((named) => reader.stakeTotal(block, { ...options, ...named, signal })),
      (one, other) => one === other,
      { first: { endpoint, value: total } },
    );
    const told = said.map(({ value }) => value);
    if (believed(indexed, told) !== indexed) return false;
    logger.warn(
      { block: block.number, endpoint, contractTotal: total, indexed },
      'An endpoint tells another total than the events and another provider: it is not believed',
    );
    return true;
  }

  /**
   * Determines whether the newest range or the index before it causes the difference to the contract's total.
   * @throws RollBackError if the index is wrong; TotalMismatchError if, besides, the blocks were already read again often
   * enough
   */
  private async requireRightIndex(
    state: IndexState,
    shown: DoubtfulEvents,
    { contract, signal }: { readonly contract: bigint; readonly signal: AbortSignal },
  ): Promise<void> {
    const { head, total: indexed, verifiedNumber } = state;
    if (verifiedNumber === head.number) return;
    if ((await this.reader.stakeTotal(head)) === indexed) return;
    const to = await this.suspectUnverified(state, shown, signal);
    if (to) throw new RollBackError(to, 'repair');
    const { endpoint } = shown;
    throw new TotalMismatchError({ block: head.number, indexed, contract, endpoint });
  }
}
