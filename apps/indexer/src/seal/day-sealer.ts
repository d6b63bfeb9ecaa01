/**
 * Computes the low-water marks of a day and their tree, and seals the day if the balances at its end add up to the
 * stored total. Where the day follows the last sealed one, balances are carried forward and only wallets with a change
 * are read; otherwise all wallets are read. Carried balances are dropped when the index version (`generation`) has
 * changed, and after a failure.
 *
 * Wallets and nodes pass through temporary files, so that memory hardly grows with their number.
 */
import {
  type DayLows,
  FencedError,
  type IndexSnapshotRef,
  SealOutdatedError,
  type SealOutcome,
  type SealWriter,
} from '#libs/db';
import { type BlockRef, compareBytes, dayText, type Keccak256, PermanentError } from '#libs/domain';
import { DayFile } from './day-file.js';
import { DayTreeFile } from './day-tree-file.js';
import { type ScratchFolder } from './scratch-file.js';

export interface DayToSeal {
  readonly day: number;
  readonly fence: bigint;
  /** Number of the closing block of the day before. */
  readonly above: bigint;
  readonly closing: BlockRef;
  /** Whether the tree's leaves and nodes are stored, from which proofs are made. */
  readonly keepsLists: boolean;
}

interface CarriedDay {
  readonly day: number;
  readonly basis: IndexSnapshotRef;
  readonly file: DayFile;
}

/** The balances at the end of a day do not add up to the stored total, so that the index is wrong. */
export class SealSumError extends PermanentError {
  /** @param difference the sum less the stored total, in the token's smallest unit */
  constructor(
    day: number,
    readonly difference: bigint,
  ) {
    super(
      'SEAL_SUM_DIFFERS',
      `The balances of all wallets at the end of ${dayText(day)} differ from the stored total by ${difference} in all; the day was not sealed`,
    );
  }
}

export class DaySealer {
  private carried: CarriedDay | undefined;

  /** @param folder for temporary files */
  constructor(
    private readonly means: {
      readonly dayLows: DayLows;
      readonly writer: SealWriter;
      readonly keccak: Keccak256;
      readonly software: string;
      readonly folder: ScratchFolder;
    },
  ) {}

  /** @throws FencedError, SealSumError, SealOutdatedError, DatabaseUnavailableError, DatabaseRefusedError */
  async seal(work: DayToSeal): Promise<SealOutcome> {
    const basis = await this.means.writer.basis(work.fence);
    if (basis === undefined) throw new FencedError();
    const file = await this.dayFile(work, basis);
    try {
      const outcome = await this.write(work, basis, file);
      this.carried = { day: work.day, basis, file };
      return outcome;
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /**
   * The wallets of the day, whose closings add up to the stored total. If carried balances do not, they are dropped and
   * all wallets are read.
   */
  private async dayFile(work: DayToSeal, basis: IndexSnapshotRef): Promise<DayFile> {
    const { carried } = this;
    this.carried = undefined;
    const { day } = work;
    const carries = carried?.day === day - 1 && carried.basis.generation === basis.generation;
    const sources = [
      ...(carries ? [(file: DayFile) => this.carryForward(work, carried.file, file)] : []),
      (file: DayFile) => this.readAll(day, file),
    ];
    try {
      let difference = 0n;
      for (const read of sources) {
        const file = new DayFile(this.means.folder);
        try {
          await read(file);
          difference = await this.sumDifference(work, basis, file.closingTotal);
          if (difference === 0n) return file;
        } catch (error) {
          file.close();
          throw error;
        }
        file.close();
      }
      throw new SealSumError(day, difference);
    } finally {
      carried?.file.close();
    }
  }

  private async readAll(day: number, file: DayFile): Promise<void> {
    for await (const wallet of this.means.dayLows.all(day)) file.add(wallet);
  }

  private async carryForward(
    { day, above, closing }: DayToSeal,
    before: DayFile,
    file: DayFile,
  ): Promise<void> {
    const carried = before.closings();
    let next = carried.next();
    await this.means.dayLows.changed({ day, above, upTo: closing.number }, (changed) => {
      while (next.done !== true) {
        const order = compareBytes(next.value.wallet, changed.wallet);
        if (order > 0) break;
        if (order < 0) file.carry(next.value);
        next = carried.next();
      }
      file.add(changed);
    });
    for (; next.done !== true; next = carried.next()) file.carry(next.value);
  }

  /** The sum less the stored total. */
  private async sumDifference(
    { day, fence }: DayToSeal,
    { generation }: IndexSnapshotRef,
    sum: bigint,
  ): Promise<bigint> {
    const { dayLows, writer } = this.means;
    const total = await dayLows.total(day);
    // Sum and total may be of different versions of the index, if it changed meanwhile.
    if (sum !== total && (await writer.basis(fence))?.generation !== generation)
      throw new SealOutdatedError(day);
    return sum - total;
  }

  private async write(
    { day, closing, keepsLists }: DayToSeal,
    basis: IndexSnapshotRef,
    file: DayFile,
  ): Promise<SealOutcome> {
    const { writer, keccak, software, folder } = this.means;
    const { wallets, total } = file;
    const tree = DayTreeFile.build(file, keccak, folder);
    try {
      return await writer.seal({
        basis,
        content: { day, root: tree.root, wallets, total, block: closing, software },
        lists: keepsLists ? tree : undefined,
      });
    } finally {
      tree.close();
    }
  }
}
