/**
 * Applies blocks of stake events to balances: computes each wallet's balance at the end of every block that changed it,
 * and its lowest balance on every day with a change. Invariant: folding a history in one call or in any batches gives
 * the same rows.
 */
import { type Address, ZERO_ADDRESS } from '../chain/address.js';
import { dayOf, SECONDS_PER_DAY } from '../day/day.js';
import { PermanentError } from '../errors/errors.js';
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
interface WalletFold {
  readonly wallet: Address;
  readonly before: WalletState | undefined;
  balance: bigint;
  /** Balance before the block that is being applied. */
  held: bigint;
  /** Undefined before the wallet's first event. */
  sinceSeconds: number | undefined;
  low: bigint | null;
  day: number;
  /** Whether `day` is the day of `before`. */
  hasRow: boolean;
  /** Whether the folded blocks changed the balance on `day`, so the day needs a row. */
  changed: boolean;
  /** Index in `blocks` of the newest block with an effect on the wallet; -1 before the first. */
  block: number;
}

/**
 * @param states the state of each wallet in `blocks`; a wallet without a state has no history
 * @param blocks ascending by number, with timestamps that never decrease
 * @throws NegativeBalanceError, PermanentError BLOCKS_OUT_OF_ORDER
 */
export function foldBlocks(states: WalletStates, blocks: readonly BlockDeltas[]): FoldedBlocks {
  const ledgers = new Map<Address, WalletFold>();
  const changes: BalanceChange[] = [];
  const days: FoldedDay[] = [];
  const dayDeltas = new Map<number, bigint>();
  let totalDelta = 0n;
  let previous: BlockDeltas | undefined;
  blocks.forEach((block, index) => {
    requireOrder(previous, block);
    previous = block;
    const changesBefore = changes.length;
    for (const ledger of touchedBy(block, index, { ledgers, states })) {
      const amount = ledger.balance - ledger.held;
      if (ledger.balance < 0n) {
        throw new NegativeBalanceError(ledger.wallet, block.blockNumber, ledger.held, amount);
      }
      if (amount === 0n && ledger.sinceSeconds !== undefined) continue;
      totalDelta += amount;
      change(ledger, block.timestampSeconds, days);
      changes.push({
        wallet: ledger.wallet,
        blockNumber: block.blockNumber,
        timestampSeconds: block.timestampSeconds,
        balance: ledger.balance,
      });
    }
    if (changes.length > changesBefore) dayDeltas.set(dayOf(block.timestampSeconds), totalDelta);
  });
  const wallets = new Map<Address, FoldedWallet>();
  for (const ledger of ledgers.values()) {
    const { wallet, before, balance, sinceSeconds, low } = ledger;
    if (!ledger.changed || sinceSeconds === undefined) continue;
    days.push(dayOfLedger(ledger, balance));
    wallets.set(wallet, { wallet, before, after: { balance, sinceSeconds, low } });
  }
  return { changes, days, wallets, totalDelta, dayDeltas };
}

/** Adds the amounts of the block to the balances, and returns each wallet with an effect once. */
function touchedBy(
  block: BlockDeltas,
  index: number,
  known: { ledgers: Map<Address, WalletFold>; states: WalletStates },
): WalletFold[] {
  const touched: WalletFold[] = [];
  for (const { wallet, amount } of block.deltas) {
    if (amount === 0n) continue;
    let ledger = known.ledgers.get(wallet);
    if (ledger === undefined) {
      // The zero address is the other party of mints and burns of a receipt token, and has no balance.
      if (wallet === ZERO_ADDRESS) continue;
      ledger = opened(wallet, known.states.get(wallet));
      known.ledgers.set(wallet, ledger);
    }
    if (ledger.block !== index) {
      ledger.block = index;
      ledger.held = ledger.balance;
      touched.push(ledger);
    }
    ledger.balance += amount;
  }
  return touched;
}

function opened(wallet: Address, state: WalletState | undefined): WalletFold {
  const balance = state?.balance ?? 0n;
  return {
    wallet,
    before: state,
    balance,
    held: balance,
    sinceSeconds: state?.sinceSeconds,
    low: state?.low ?? null,
    day: state === undefined ? -1 : dayOf(state.sinceSeconds),
    hasRow: state !== undefined,
    changed: false,
    block: -1,
  };
}

/** The row of the ledger's day. */
function dayOfLedger({ wallet, day, low, hasRow }: WalletFold, closing: bigint): FoldedDay {
  return { wallet, day, low, closing, hasRow };
}

/** Advances the ledger to `seconds`, where `balance` replaces `held`, and pushes a day that ended to `days`. */
function change(ledger: WalletFold, seconds: number, days: FoldedDay[]): void {
  const { held, sinceSeconds, low } = ledger;
  if (sinceSeconds !== undefined && seconds < sinceSeconds) throw outOfOrder(seconds, sinceSeconds);
  const day = dayOf(seconds);
  if (sinceSeconds === undefined || day !== ledger.day) {
    if (ledger.changed) days.push(dayOfLedger(ledger, held));
    // The balance at 00:00 held until now, unless the change is at 00:00:00 itself.
    ledger.low = seconds > day * SECONDS_PER_DAY ? held : null;
    ledger.day = day;
    ledger.hasRow = false;
  } else if (seconds > sinceSeconds && (low === null || held < low)) {
    ledger.low = held;
  }
  ledger.sinceSeconds = seconds;
  ledger.changed = true;
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
