/** Generates the stakes and withdrawals of a synthetic chain, block by block. */
import { type ReplayShape } from './replay-shape.js';
import { SeededRandom } from './seeded.js';

export interface ReplayMove {
  readonly wallet: number;
  readonly pool: number;
  readonly effect: 'increase' | 'decrease';
  /** Amount in units of AMOUNT_UNIT. */
  readonly units: bigint;
}

export interface MovesOfBlock {
  readonly block: number;
  readonly moves: readonly ReplayMove[];
}

const WITHDRAWALS = 0.15;
const LARGEST_STAKE = 2 ** 39;
/** Share of the stakes that go to pool 0, the pool that is indexed. */
const FOLLOWED_POOL_SHARE = 0.8;

export class MoveGenerator {
  private readonly random: SeededRandom;
  private readonly held = new Map<number, bigint>();

  constructor(private readonly shape: ReplayShape) {
    this.random = new SeededRandom(shape.seed);
  }

  /** Generates the whole history of the shape. */
  *history(): Generator<MovesOfBlock> {
    const { blocks, events, eventBlocks } = this.shape;
    const more = new Uint32Array(eventBlocks);
    for (let left = events - eventBlocks; left > 0; left--) {
      const at = this.random.between(0, eventBlocks - 1);
      more[at] = (more[at] ?? 0) + 1;
    }
    let chosen = 0;
    // Selection sampling (Knuth, The Art of Computer Programming, 3.4.2, algorithm S).
    for (let block = 1; block <= blocks && chosen < eventBlocks; block++) {
      if (this.random.next() * (blocks - block + 1) >= eventBlocks - chosen) continue;
      yield { block, moves: this.moves(1 + (more[chosen] ?? 0)) };
      chosen++;
    }
  }

  /** The moves of one more block after the history; on a sparse chain most blocks have none. */
  next(): readonly ReplayMove[] {
    const { blocks, events, eventBlocks } = this.shape;
    if (this.random.next() * blocks >= eventBlocks) return [];
    return this.moves(Math.round(events / eventBlocks));
  }

  moves(count: number): ReplayMove[] {
    return Array.from({ length: count }, () => this.move());
  }

  private move(): ReplayMove {
    const { wallets, pools } = this.shape;
    const wallet = Math.floor(this.random.next() ** 2 * wallets);
    const isFollowed = pools === 1 || this.random.next() < FOLLOWED_POOL_SHARE;
    const pool = isFollowed ? 0 : this.random.between(1, pools - 1);
    const key = wallet * pools + pool;
    const held = this.held.get(key) ?? 0n;
    if (held > 0n && this.random.next() < WITHDRAWALS) {
      const units = (held * BigInt(this.random.between(1, 1000))) / 1000n;
      if (units > 0n) {
        this.held.set(key, held - units);
        return { wallet, pool, effect: 'decrease', units };
      }
    }
    const units = BigInt(this.random.between(1, LARGEST_STAKE));
    this.held.set(key, held + units);
    return { wallet, pool, effect: 'increase', units };
  }
}
