/**
 * Applies blocks of stake events to balances: what every wallet holds at the end of each block that changed it, and the
 * lowest it held on each day touched. Invariant: folding a history at once or in any batches gives the same rows.
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

/** A balance at the end of a block would be below zero: events are missing, or the event settings are wrong. */
export class NegativeBalanceError extends PermanentError {
  constructor(
    readonly wallet: Address,
    readonly blockNumber: bigint,
    /** Before the block. */
    readonly balance: bigint,
    /** The block's net effect. */
    readonly amount: bigint,
  ) {
    super(
      'NEGATIVE_BALANCE',
      `Block ${blockNumber.toString()} takes ${(-amount).toString()} from wallet ${wallet}, which holds ${balance.toString()} only. ` +
        'Events before this block are missing: compare STAKE_CONTRACT, STAKE_START_BLOCK and STAKE_EVENTS with the contract.',
    );
  }
}

export interface FoldedBlocks {
  /** In block order. */
  readonly changes: BalanceChange[];
  /** One for each touched wallet and day, as the day stands after the last block. */
  readonly days: BalanceDay[];
  /** Of the wallets in `changes`. */
  readonly states: Map<Address, WalletState>;
  /** What the blocks add to the sum of all balances. */
  readonly totalDelta: bigint;
}

/** A wallet while it is being folded. Mutable: millions of these steps happen in a backfill. */
interface Ledger {
  readonly wallet: Address;
  balance: bigint;
  /** At the end of the block before the one being applied. */
  before: bigint;
  /** Undefined before the wallet's first event ever. */
  sinceSeconds: number | undefined;
  low: bigint | null;
  day: number;
  /** Whether `day` has a row to write. */
  changed: boolean;
  /** Index of the last block that touched it. */
  block: number;
}

/**
 * @param states what is known of every wallet in `blocks`; a wallet that is absent has no history
 * @param blocks ascending by number, times never backwards
 * @throws NegativeBalanceError, PermanentError BLOCKS_OUT_OF_ORDER
 */
export function foldBlocks(
  states: ReadonlyMap<Address, WalletState>,
  blocks: readonly BlockDeltas[],
): FoldedBlocks {
  const ledgers = new Map<Address, Ledger>();
  const changes: BalanceChange[] = [];
  const days: BalanceDay[] = [];
  let totalDelta = 0n;
  let previous: BlockDeltas | undefined;
  blocks.forEach((block, index) => {
    requireOrder(previous, block);
    previous = block;
    for (const ledger of touchedBy(block, index, { ledgers, states })) {
      const amount = ledger.balance - ledger.before;
      if (ledger.balance < 0n) {
        throw new NegativeBalanceError(ledger.wallet, block.blockNumber, ledger.before, amount);
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
  });
  const after = new Map<Address, WalletState>();
  for (const { wallet, changed, balance, sinceSeconds, low, day } of ledgers.values()) {
    if (!changed || sinceSeconds === undefined) continue;
    days.push({ wallet, day, low, closing: balance });
    after.set(wallet, { balance, sinceSeconds, low });
  }
  return { changes, days, states: after, totalDelta };
}

/** Adds the block's amounts to the balances; returns each wallet it touched once. */
function touchedBy(
  block: BlockDeltas,
  index: number,
  known: { ledgers: Map<Address, Ledger>; states: ReadonlyMap<Address, WalletState> },
): Ledger[] {
  const touched: Ledger[] = [];
  for (const { wallet, amount } of block.deltas) {
    if (amount === 0n) continue;
    let ledger = known.ledgers.get(wallet);
    if (ledger === undefined) {
      // Mints and burns of a receipt token name it as the other side.
      if (wallet === ZERO_ADDRESS) continue;
      ledger = opened(wallet, known.states.get(wallet));
      known.ledgers.set(wallet, ledger);
    }
    if (ledger.block !== index) {
      ledger.block = index;
      ledger.before = ledger.balance;
      touched.push(ledger);
    }
    ledger.balance += amount;
  }
  return touched;
}

function opened(wallet: Address, state: WalletState | undefined): Ledger {
  const balance = state?.balance ?? 0n;
  return {
    wallet,
    balance,
    before: balance,
    sinceSeconds: state?.sinceSeconds,
    low: state?.low ?? null,
    day: state === undefined ? -1 : dayOf(state.sinceSeconds),
    changed: false,
    block: -1,
  };
}

/** Moves the ledger's day on to `seconds`, where `balance` takes over from `before`; a day that ended goes to `days`. */
function change(ledger: Ledger, seconds: number, days: BalanceDay[]): void {
  const { wallet, before, sinceSeconds, low } = ledger;
  if (sinceSeconds !== undefined && seconds < sinceSeconds) throw outOfOrder(seconds, sinceSeconds);
  const day = dayOf(seconds);
  if (sinceSeconds === undefined || day !== ledger.day) {
    if (ledger.changed) days.push({ wallet, day: ledger.day, low, closing: before });
    // What was carried in at 00:00 held until now, unless now is 00:00:00 itself.
    ledger.low = seconds > day * SECONDS_PER_DAY ? before : null;
    ledger.day = day;
  } else if (seconds > sinceSeconds && (low === null || before < low)) {
    ledger.low = before;
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
