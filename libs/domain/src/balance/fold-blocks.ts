/**
 * Applies blocks of stake events to balances: computes each wallet's balance at the end of every block that changed it,
 * and its lowest balance on every day with a change. Invariant: folding a history in one call or in any batches gives
 * the same rows.
 */
import { type Address, ZERO_ADDRESS } from '../values/address.js';
import { dayOf, SECONDS_PER_DAY } from '../values/day.js';
import { PermanentError } from '../values/errors.js';
import {
  type BalanceChange,
  type BalanceDay,
  type BlockDeltas,
  type WalletState,
} from './balance.js';

/**
 * The balance of a wallet at the end of a block would be below zero. Events are missing, or the event settings are
 * wrong.
 */
export class NegativeBalanceError extends PermanentError {
  constructor(
    readonly wallet: Address,
    readonly blockNumber: bigint,
    /** Balance before the block. */
    readonly balance: bigint,
    /** Net effect of the block. */
    readonly amount: bigint,
  ) {
    super(
      'NEGATIVE_BALANCE',
      `Block ${blockNumber.toString()} takes ${(-amount).toString()} from wallet ${wallet}, which holds ${balance.toString()} only. ` +
        'Events before this block are missing: compare STAKE_CONTRACT, STAKE_START_BLOCK and STAKE_EVENTS with the contract. ' +
        'If they are right: `index again` (docs/operating/troubleshooting.md#indexing-again).',
    );
  }
}

/** The states of wallets by address; undefined for a wallet without history. */
export type WalletStates = ReadonlyMap<Address, WalletState | undefined>;

/** A wallet whose balance changed. */
export interface FoldedWallet {
  readonly wallet: Address;
  /** The state from which the changes were computed; undefined for a wallet without history. */
  readonly before: WalletState | undefined;
  readonly after: WalletState;
}

export interface FoldedDay extends BalanceDay {
  /** Whether the wallet's state before the blocks is of this day, so that the day has a row. */
  readonly hasRow: boolean;
}

export interface FoldedBlocks {
  /** In block order. */
  readonly changes: BalanceChange[];
  /** One row for each wallet and day with a change, as the day stands after the last block. */
  readonly days: FoldedDay[];
  /** Each wallet in `changes`. */
  readonly wallets: ReadonlyMap<Address, FoldedWallet>;
  /** Net change of the sum of all balances. */
  readonly totalDelta: bigint;
  /** The same from the first block to the end of each day with a change, or to the last block. */
  readonly dayDeltas: Map<number, bigint>;
}

/** State of one wallet during the fold. Mutable, because a backfill takes millions of these steps. */
interface WalletFold extends FoldedWallet {
  /** Its time means nothing before the wallet's first event. */
  readonly after: { -readonly [Field in keyof WalletState]: WalletState[Field] };
  /** Balance before the block that is being applied. */
  held: bigint;
  day: number;
  /** Whether `day` is the day of `before`. */
  hasRow: boolean;
  /** Whether the folded blocks changed the balance on `day`, so the day needs a row. */
  changed: boolean;
  /** Index in `blocks` of the newest block with an effect on the wallet; -1 before the first. */
  touchedAt: number;
}

/**
 * @param states the state of each wallet in `blocks`; a wallet without a state has no history
 * @param blocks ascending by number, with timestamps that never decrease
 * @throws NegativeBalanceError, PermanentError BLOCKS_OUT_OF_ORDER
 */
export function foldBlocks(states: WalletStates, blocks: readonly BlockDeltas[]): FoldedBlocks {
  const folds = new Map<Address, WalletFold>();
  const changes: BalanceChange[] = [];
  const days: FoldedDay[] = [];
  const dayDeltas = new Map<number, bigint>();
  let totalDelta = 0n;
  let previous: BlockDeltas | undefined;
  blocks.forEach((block, index) => {
    requireOrder(previous, block);
    previous = block;
    const changesBefore = changes.length;
    for (const fold of touchedBy(block, index, { folds, states })) {
      const { wallet, held } = fold;
      const { balance } = fold.after;
      const amount = balance - held;
      if (balance < 0n) throw new NegativeBalanceError(wallet, block.blockNumber, held, amount);
      if (amount === 0n && hasHistory(fold)) continue;
      totalDelta += amount;
      change(fold, block.timestampSeconds, days);
      const { blockNumber, timestampSeconds } = block;
      changes.push({ wallet, blockNumber, timestampSeconds, balance });
    }
    if (changes.length > changesBefore) dayDeltas.set(dayOf(block.timestampSeconds), totalDelta);
  });
  for (const [wallet, fold] of folds) {
    if (fold.changed) days.push(dayOfFold(fold, fold.after.balance));
    else folds.delete(wallet);
  }
  return { changes, days, wallets: folds, totalDelta, dayDeltas };
}

/** Adds the amounts of the block to the balances, and returns each wallet with an effect once. */
function touchedBy(
  block: BlockDeltas,
  index: number,
  known: { folds: Map<Address, WalletFold>; states: WalletStates },
): WalletFold[] {
  const touched: WalletFold[] = [];
  for (const { wallet, amount } of block.deltas) {
    if (amount === 0n) continue;
    let fold = known.folds.get(wallet);
    if (fold === undefined) {
      // The zero address is the other party of mints and burns of a receipt token, and has no balance.
      if (wallet === ZERO_ADDRESS) continue;
      fold = opened(wallet, known.states.get(wallet));
      known.folds.set(wallet, fold);
    }
    if (fold.touchedAt !== index) {
      fold.touchedAt = index;
      fold.held = fold.after.balance;
      touched.push(fold);
    }
    fold.after.balance += amount;
  }
  return touched;
}

function opened(wallet: Address, before: WalletState | undefined): WalletFold {
  const after = before ? { ...before } : { balance: 0n, sinceSeconds: 0, low: null };
  return {
    wallet,
    before,
    after,
    held: after.balance,
    day: dayOf(after.sinceSeconds),
    hasRow: before !== undefined,
    changed: false,
    touchedAt: -1,
  };
}

function hasHistory({ before, changed }: WalletFold): boolean {
  return before !== undefined || changed;
}

/** The row of the day that the fold has reached. */
function dayOfFold({ wallet, day, after, hasRow }: WalletFold, closing: bigint): FoldedDay {
  return { wallet, day, low: after.low, closing, hasRow };
}

/** Advances the fold to `seconds`, where its balance replaces `held`, and pushes a day that ended to `days`. */
function change(fold: WalletFold, seconds: number, days: FoldedDay[]): void {
  const { held, after } = fold;
  const { sinceSeconds, low } = after;
  const isFirst = !hasHistory(fold);
  if (!isFirst && seconds < sinceSeconds) throw outOfOrder(seconds, sinceSeconds);
  const day = dayOf(seconds);
  if (isFirst || day !== fold.day) {
    if (fold.changed) days.push(dayOfFold(fold, held));
    // The balance at 00:00 held until now, unless the change is at 00:00:00 itself.
    after.low = seconds > day * SECONDS_PER_DAY ? held : null;
    fold.day = day;
    fold.hasRow = false;
  } else if (seconds > sinceSeconds && (low === null || held < low)) {
    after.low = held;
  }
  after.sinceSeconds = seconds;
  fold.changed = true;
}

function requireOrder(previous: BlockDeltas | undefined, block: BlockDeltas): void {
  if (previous === undefined) return;
  if (block.blockNumber <= previous.blockNumber) {
    throw outOfOrder(block.blockNumber, previous.blockNumber);
  }
  if (block.timestampSeconds < previous.timestampSeconds) {
    throw outOfOrder(block.timestampSeconds, previous.timestampSeconds);
  }
}

function outOfOrder(later: bigint | number, earlier: bigint | number): PermanentError {
  return new PermanentError(
    'BLOCKS_OUT_OF_ORDER',
    `Blocks must come in ascending order with times that never run backwards: ${later.toString()} came after ${earlier.toString()}.`,
  );
}
