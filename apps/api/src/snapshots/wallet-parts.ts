import { LRUCache } from 'lru-cache';
import { type RedisTexts } from '#libs/cache';
import { isDaysText, type SnapshotRead, type SnapshotState, type SnapshotStore } from '#libs/db';
import { type Address, SECONDS_PER_DAY } from '#libs/domain';
import { SingleFlight } from '#libs/platform';
import { type CacheCounts } from './cache-counts.js';
import { type KeptPart } from './kept-part.js';

/** Wallets kept at once in this process; some 5 KB each at most. */
const MAX_WALLETS = 10_000;
const TTL_SECONDS = 86_400;

/**
 * The wallets' parts of answers: in this process, behind it in Redis where there is one, and in the database. What is kept
 * carries the version of the index that it was read from, and is used only under the same: nothing is ever invalidated.
 */
export class WalletParts {
  private readonly kept = new LRUCache<Address, KeptPart>({ max: MAX_WALLETS });
  private readonly loads = new SingleFlight<Loaded | undefined, string>();

  constructor(
    private readonly store: SnapshotStore,
    private readonly counts: CacheCounts,
    private readonly shared?: RedisTexts,
  ) {}

  /** Kept in this process for the day, of whatever version. */
  peek(wallet: Address, endDay: number): KeptPart | undefined {
    const kept = this.kept.get(wallet);
    return kept?.endDay === endDay ? kept : undefined;
  }

  /** Looks in Redis, under the version of the index that was seen last. */
  async fetch(wallet: Address, endDay: number): Promise<KeptPart | undefined> {
    const state = this.store.seen;
    if (this.shared === undefined || state === undefined) return undefined;
    const version = versionOf(state, endDay);
    const text = await this.shared.get(keyOf(wallet, endDay, version));
    // Others can write there: what is no such text counts as not there.
    if (text === undefined || !isDaysText(text)) {
      this.counts.note('redis', 'miss');
      return undefined;
    }
    this.counts.note('redis', 'hit');
    const part = { endDay, version, daysText: text };
    this.kept.set(wallet, part);
    return part;
  }

  /**
   * Reads all of it from the database unless another read of the same is under way.
   * @returns undefined where there is no index yet, `busy` where it is being read already
   */
  lead(wallet: Address, endDay: number): Promise<Loaded | undefined> | 'busy' {
    return this.loads.underWay(loadKey(wallet, endDay)) ? 'busy' : this.load(wallet, endDay);
  }

  /**
   * The part that belongs to a state of the index. One read per wallet and day at a time, however many ask; where the index
   * was changed between the state and that read, another one, with the state that belongs to it.
   * @throws DatabaseUnavailableError, DatabaseRefusedError
   */
  async of(wallet: Address, endDay: number, state: SnapshotState): Promise<Loaded | undefined> {
    const kept = this.peek(wallet, endDay);
    if (kept !== undefined && fits(kept, state)) {
      this.counts.note('process', 'hit');
      return { state, part: kept };
    }
    const found = await this.load(wallet, endDay);
    if (found !== undefined && fits(found.part, state)) return { state, part: found.part };
    return this.read(wallet, endDay);
  }

  private load(wallet: Address, endDay: number): Promise<Loaded | undefined> {
    return this.loads.run(() => this.read(wallet, endDay), loadKey(wallet, endDay));
  }

  private async read(wallet: Address, endDay: number): Promise<Loaded | undefined> {
    this.counts.note('process', 'miss');
    const read = await this.store.read(wallet, endDay);
    if (read === undefined) return undefined;
    const part = partOf(read, endDay);
    this.kept.set(wallet, part);
    if (part.daysText !== undefined) {
      this.shared?.set(keyOf(wallet, endDay, part.version), part.daysText, TTL_SECONDS);
    }
    return { state: read.state, part };
  }
}

/** A part, and a state of the index to which it belongs. */
export interface Loaded {
  readonly state: SnapshotState;
  readonly part: KeptPart;
}

/**
 * The version of what lies before a day. Once the head is past the day's beginning nothing before it changes any more, unless
 * something is taken back, and then the generation is another. Until then every block may change it.
 */
export function versionOf(state: SnapshotState, endDay: number): string {
  return state.head.timestampSeconds >= endDay * SECONDS_PER_DAY
    ? state.generation
    : headVersionOf(state);
}

/** A wallet that never staked may do so in the next block. */
function headVersionOf({ generation, head }: SnapshotState): string {
  return `${generation}:${head.hash}`;
}

function partOf({ state, daysText }: SnapshotRead, endDay: number): KeptPart {
  const version = daysText === undefined ? headVersionOf(state) : versionOf(state, endDay);
  return { endDay, version, daysText };
}

function fits({ endDay, version, daysText }: KeptPart, state: SnapshotState): boolean {
  return version === (daysText === undefined ? headVersionOf(state) : versionOf(state, endDay));
}

function loadKey(wallet: Address, endDay: number): string {
  return `${wallet}${endDay}`;
}

function keyOf(wallet: Address, endDay: number, version: string): string {
  return `part:${wallet}:${endDay}:${version}`;
}
