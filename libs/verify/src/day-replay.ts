/**
 * Carries balances from block to block and finds the lowest balance of each wallet on a day. The rules: a balance is
 * the one at the end of a block. It counts on a day where it stood for some time of that day. The balance carried in at
 * 00:00:00 counts, unless the first change is dated 00:00:00 itself. Of several blocks with the same second, only the
 * balance after the last one stood for some time.
 */
import {
  type Address,
  addressBytes,
  type DayList,
  DayListBuilder,
  SECONDS_PER_DAY,
} from '#libs/domain';
import { type Effect } from './effect-decoder.js';
import { UncheckedError } from './verify.error.js';

export interface BlockEffects {
  readonly number: bigint;
  readonly effects: readonly Effect[];
}

export interface DatedBlockEffects extends BlockEffects {
  /** Unix time in seconds. */
  readonly seconds: number;
}

interface Change {
  readonly wallet: Address;
  readonly before: bigint;
}

/** A wallet on a day on which its balance changes. */
interface DayState {
  /** Unix time in seconds from which its current balance stands. */
  since: number;
  /** The lowest balance that stood earlier on the day; undefined where none did. */
  low: bigint | undefined;
}

export class DayReplay {
  private readonly balances = new Map<Address, bigint>();

  /** The low-water marks of a day. @param blocks the blocks of the day, in ascending order @throws UncheckedError */
  day(day: number, blocks: readonly DatedBlockEffects[]): DayList {
    const start = day * SECONDS_PER_DAY;
    const touched = new Map<Address, DayState>();
    for (const block of blocks) {
      for (const { wallet, before } of this.apply(block)) {
        const { since, low } = touched.get(wallet) ?? { since: start, low: undefined };
        const stood = block.seconds > since ? before : undefined;
        touched.set(wallet, { since: block.seconds, low: least(low, stood) });
      }
    }
    const lows: [Address, bigint][] = [];
    for (const [wallet, balance] of this.balances) {
      const low = least(touched.get(wallet)?.low, balance) ?? 0n;
      if (low > 0n) lows.push([wallet, low]);
    }
    lows.sort(([a], [b]) => (a < b ? -1 : 1));
    const list = new DayListBuilder(lows.length + 1);
    for (const [wallet, low] of lows) list.add(addressBytes(wallet), low);
    return list.list();
  }

  /**
   * Applies one block; the blocks must come in ascending order.
   * @returns the wallets whose balance the block changes
   * @throws UncheckedError where a balance would fall below 0
   */
  apply({ number, effects }: BlockEffects): Change[] {
    const net = new Map<Address, bigint>();
    for (const { wallet, amount } of effects) net.set(wallet, (net.get(wallet) ?? 0n) + amount);
    const changes: Change[] = [];
    for (const [wallet, amount] of net) {
      if (amount === 0n) continue;
      const before = this.balances.get(wallet) ?? 0n;
      const after = before + amount;
      if (after < 0n) throw belowZero(wallet, number);
      if (after === 0n) this.balances.delete(wallet);
      else this.balances.set(wallet, after);
      changes.push({ wallet, before });
    }
    return changes;
  }
}

function least(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a < b ? a : b;
}

function belowZero(wallet: Address, number: bigint): UncheckedError {
  return new UncheckedError(
    `Block ${number} takes more from wallet ${wallet} than it holds: events before it are missing. Check --contract, --events and --from-block.`,
  );
}
