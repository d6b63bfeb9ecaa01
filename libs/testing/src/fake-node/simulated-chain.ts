/** A chain with one staking contract: a tree of blocks of which one branch counts. */
import { type Address, ZERO_ADDRESS } from '#libs/domain';

/** An event of the staking contract; a negative amount withdraws. */
export interface StakeEvent {
  readonly wallet: Address;
  readonly amount: bigint;
  /** The receiver, where the event is a transfer. The zero address as sender mints. */
  readonly to?: Address;
  /** Neither the bloom nor the receipts of the block show the event. */
  readonly isHidden?: boolean;
}

/** A round of the price feed. */
export interface Round {
  readonly id: number;
  /** In cents. */
  readonly answer: number;
  readonly seconds: number;
}

export interface Block {
  readonly number: number;
  readonly hash: string;
  readonly parent: Block | undefined;
  readonly seconds: number;
  readonly events: readonly StakeEvent[];
  /** At the end of the block. */
  readonly balances: ReadonlyMap<Address, bigint>;
  /** The newest one. */
  readonly round: Round;
}

const FIRST_CENTS = 100;

export class SimulatedChain {
  head: Block;
  /** The newest block that is never taken back. */
  final: Block;
  private readonly all = new Map<string, Block>();
  private skipped = 0;

  /**
   * @param finalityBlocks how far the final block is behind the newest one
   * @param keepsBurnt whether the zero address keeps what is sent to it, as a part of the total
   */
  constructor(
    genesisSeconds: number,
    readonly finalityBlocks: number,
    private readonly keepsBurnt = false,
  ) {
    const genesis: Block = {
      number: 0,
      hash: hashOf(0, 0),
      parent: undefined,
      seconds: genesisSeconds,
      events: [],
      balances: new Map(),
      round: { id: 1, answer: FIRST_CENTS, seconds: genesisSeconds },
    };
    this.all.set(genesis.hash, genesis);
    this.head = genesis;
    this.final = genesis;
  }

  hasRound(cents: number, seconds: number): boolean {
    return [...this.all.values()].some(
      ({ round }) => round.answer === cents && round.seconds === seconds,
    );
  }

  block(hash: string): Block | undefined {
    return this.all.get(hash);
  }

  /** @param cents of a new round of the price feed; absent: there is none in the block */
  mine(seconds: number, events: readonly StakeEvent[], cents?: number): Block {
    const parent = this.head;
    const balances = new Map(parent.balances);
    const add = (wallet: Address, amount: bigint): unknown =>
      balances.set(wallet, (balances.get(wallet) ?? 0n) + amount);
    for (const { wallet, amount, to } of events) {
      if (to === undefined) add(wallet, amount);
      else {
        if (wallet !== ZERO_ADDRESS) add(wallet, -amount);
        if (to !== ZERO_ADDRESS || this.keepsBurnt) add(to, amount);
      }
    }
    const number = parent.number + 1 + this.skipped;
    this.skipped = 0;
    const hash = hashOf(number, this.all.size);
    const { round: before } = parent;
    const round = cents === undefined ? before : { id: before.id + 1, answer: cents, seconds };
    const block = { number, hash, parent, seconds, events, balances, round };
    this.all.set(hash, block);
    this.head = block;
    const final = newestUpTo(block, number - this.finalityBlocks);
    if (final && final.number > this.final.number) this.final = final;
    return block;
  }

  /** Leaves out heights: the next block is this many higher. */
  skip(heights: number): void {
    this.skipped += heights;
  }

  /** Takes the newest blocks back. @param depth at most down to the final block */
  takeBack(depth: number): void {
    this.head = ancestor(this.head, this.head.number - depth) ?? this.head;
  }
}

function newestUpTo(block: Block, number: number): Block | undefined {
  let found: Block | undefined = block;
  while (found && found.number > number) found = found.parent;
  return found;
}

/** The block at this height of the branch that ends in `block`. */
export function ancestor(block: Block, number: number): Block | undefined {
  const found = newestUpTo(block, number);
  return found?.number === number ? found : undefined;
}

/** The wallets that an event concerns. */
export function walletsOf({ wallet, to }: StakeEvent): readonly Address[] {
  return to === undefined ? [wallet] : [wallet, to];
}

const branches = new WeakMap<Block, readonly Block[]>();

/** The branch that ends in this block, oldest first. */
export function branchOf(block: Block): readonly Block[] {
  let branch = branches.get(block);
  if (branch === undefined) {
    const { parent } = block;
    branch = parent === undefined ? [block] : [...branchOf(parent), block];
    branches.set(block, branch);
  }
  return branch;
}

export function totalAt({ balances }: Block): bigint {
  return [...balances.values()].reduce((sum, one) => sum + one, 0n);
}

/** The ordinal of the block makes the hash unique, and readable in a trace. */
function hashOf(number: number, ordinal: number): string {
  const mixed = Math.imul(ordinal + 1, 0x9e3779b1) >>> 0;
  return `0x${mixed.toString(16).padStart(8, '0')}${'b10c'.repeat(10)}${number.toString(16).padStart(8, '0')}${ordinal.toString(16).padStart(8, '0')}`;
}
