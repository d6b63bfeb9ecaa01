import { Inject, Injectable } from '@nestjs/common';
import { RedisTexts } from '#libs/cache';
import {
  Database,
  type IndexState,
  IndexStore,
  type SnapshotState,
  SnapshotStore,
  stakeContractsOf,
  StakeSetStore,
} from '#libs/db';
import { type AccountId, type Address, DEFAULT_STAKE_SET } from '#libs/domain';
import { CLOCK, type Clock, FreshValue } from '#libs/platform';
import { SHARED_TEXTS } from '../connections.module.js';
import { SLOW_READ_MS, SnapshotReader } from './snapshot-reader.js';

/** How long a contract may be served, or not be found, after that has changed. */
const DIRECTORY_TTL_MS = 5000;

/** A stake set that has an index. */
interface IndexedSet {
  readonly name: string;
  readonly chainId: number;
  /** The first is the one that is reported. */
  readonly contracts: readonly [Address, ...Address[]];
}

/** The stake sets of the database: which contract is whose, and a reader for each. */
@Injectable()
export class StakeSets {
  private readonly readers: Map<string, SnapshotReader>;
  private readonly indexed: FreshValue<IndexedSet[]>;

  constructor(
    defaultReader: SnapshotReader,
    private readonly database: Database,
    @Inject(CLOCK) clock: Clock,
    @Inject(SHARED_TEXTS) private readonly shared: RedisTexts | undefined,
    @Inject(SLOW_READ_MS) private readonly slowReadMs?: number,
  ) {
    this.readers = new Map([[DEFAULT_STAKE_SET, defaultReader]]);
    this.indexed = new FreshValue(() => this.readIndexed(), { clock, ttlMs: DIRECTORY_TTL_MS });
  }

  /** How often what was kept helped, in all readers. */
  get counts(): SnapshotReader['counts'] {
    const sum = { process: { hit: 0, miss: 0 }, redis: { hit: 0, miss: 0 } };
    for (const { counts } of this.readers.values()) {
      for (const layer of ['process', 'redis'] as const) {
        sum[layer].hit += counts[layer].hit;
        sum[layer].miss += counts[layer].miss;
      }
    }
    return sum;
  }

  /** @param set that there is */
  readerOf(set: string): SnapshotReader {
    let reader = this.readers.get(set);
    if (reader === undefined) {
      const store = new SnapshotStore(this.database.inSet(set));
      reader = new SnapshotReader(store, this.shared, this.slowReadMs);
      this.readers.set(set, reader);
    }
    return reader;
  }

  /**
   * The set that indexes the contract. Of several the caller's own, else the first.
   * @throws DatabaseUnavailableError, DatabaseRefusedError
   */
  async find({ chainId, address }: AccountId, ownSet: string): Promise<IndexedSet | undefined> {
    const found = (await this.indexed.get()).filter(
      (set) => set.chainId === chainId && set.contracts.includes(address),
    );
    return found.find(({ name }) => name === ownSet) ?? found[0];
  }

  /** Of those that have an index, the default one first. @throws DatabaseUnavailableError, DatabaseRefusedError */
  async states(): Promise<ReadonlyMap<string, IndexState>> {
    const states = new Map<string, IndexState>();
    for (const name of await new StakeSetStore(this.database).names()) {
      const state = await new IndexStore(this.database.inSet(name)).state();
      if (state !== undefined) states.set(name, state);
    }
    return states;
  }

  private async readIndexed(): Promise<IndexedSet[]> {
    return [...(await this.states())].map(([name, state]) => ({
      name,
      chainId: state.chainId,
      contracts: stakeContractsOf(state),
    }));
  }
}

/** Whether what was read belongs to the contracts that were found: a set can be indexed anew for others. */
export function isOfSet(state: SnapshotState, { chainId, contracts }: IndexedSet): boolean {
  return state.chainId === chainId && state.stakeContract === contracts[0];
}
