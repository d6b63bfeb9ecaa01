/**
 * Computes the low-water marks of a day and their tree, and seals the day. Where the day follows the last sealed one,
 * balances are carried forward and only wallets with a change are read; otherwise all wallets are read. Carried
 * balances are dropped when the index version (`generation`) has changed.
 */
import {
  type DayLows,
  FencedError,
  type IndexSnapshotRef,
  type SealOutcome,
  type SealWriter,
} from '#libs/db';
import {
  type BlockRef,
  buildDayTree,
  compareBytes,
  DayListBuilder,
  type Keccak256,
} from '#libs/domain';

export interface DayToSeal {
  readonly day: number;
  readonly fence: bigint;
  /** Number of the closing block of the day before. */
  readonly above: bigint;
  readonly closing: BlockRef;
  /** Whether the tree's leaves and nodes are stored, from which proofs are made. */
  readonly keepsLists: boolean;
}

export class DaySealer {
  private readonly lows = new DayListBuilder();
  /** Balances at the end of the day, by wallet. `before` holds those at the end of the day before. */
  private closingBalances = new DayListBuilder();
  private previousClosingBalances = new DayListBuilder();
  private carried: { readonly day: number; readonly basis: IndexSnapshotRef } | undefined;

  constructor(
    private readonly dayLows: DayLows,
    private readonly writer: SealWriter,
    private readonly keccak: Keccak256,
    private readonly software: string,
  ) {}

  /** @throws FencedError, SealOutdatedError, DatabaseUnavailableError, DatabaseRefusedError */
  async seal(work: DayToSeal): Promise<SealOutcome> {
    const basis = await this.writer.basis(work.fence);
    if (basis === undefined) throw new FencedError();
    await this.work(work, basis);
    const list = this.lows.list();
    const tree = buildDayTree(list, this.keccak);
    const outcome = await this.writer.seal({
      basis,
      content: {
        day: work.day,
        root: tree.root,
        wallets: list.length,
        total: list.total,
        block: work.closing,
        software: this.software,
      },
      tree: work.keepsLists ? tree : undefined,
    });
    this.carried = { day: work.day, basis };
    return outcome;
  }

  private async work(work: DayToSeal, basis: IndexSnapshotRef): Promise<void> {
    const { carried } = this;
    this.carried = undefined;
    this.lows.clear();
    const follows = carried?.day === work.day - 1 && carried.basis.generation === basis.generation;
    if (follows) await this.carryForward(work);
    else await this.readAll(work.day);
  }

  private async readAll(day: number): Promise<void> {
    const { lows, closingBalances } = this;
    closingBalances.clear();
    for await (const { wallet, low, closing } of this.dayLows.all(day)) {
      lows.add(wallet, low);
      closingBalances.add(wallet, closing);
    }
  }

  private async carryForward({ day, above, closing }: DayToSeal): Promise<void> {
    [this.closingBalances, this.previousClosingBalances] = [
      this.previousClosingBalances,
      this.closingBalances,
    ];
    const { lows, closingBalances } = this;
    closingBalances.clear();
    const before = this.previousClosingBalances.list();
    let place = 0;
    const keepUpTo = (end: number): void => {
      lows.addRange(before, place, end);
      closingBalances.addRange(before, place, end);
      place = end;
    };
    await this.dayLows.changed({ day, above, upTo: closing.number }, (changed) => {
      const { wallet } = changed;
      let end = place;
      while (end < before.length && compareBytes(before.wallet(end), wallet) < 0) end += 1;
      keepUpTo(end);
      if (end < before.length && compareBytes(before.wallet(end), wallet) === 0) place += 1;
      lows.add(wallet, changed.low);
      closingBalances.add(wallet, changed.closing);
    });
    keepUpTo(before.length);
  }
}
