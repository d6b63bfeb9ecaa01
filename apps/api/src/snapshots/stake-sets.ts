import { Inject, Injectable } from '@nestjs/common';
import { RedisTexts } from '#libs/cache';
import {
  Database,
  IndexStore,
  type SnapshotState,
  SnapshotStore,
  stakeContractsOf,
  StakeSetStore,
} from '#libs/db';
import { type AccountId, accountIdText, type Address, DEFAULT_STAKE_SET } from '#libs/domain';
import { CLOCK, type Clock, FreshValue } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import { SHARED_TEXTS } from '../connections.module.js';
import { SnapshotReader } from './snapshot-reader.js';

export const SLOW_READ_MS = Symbol('SlowReadMs');

/**
 * Time for which the directory is cached: a change of the indexed contracts takes effect within this time.
 * Milliseconds.
 */
const DIRECTORY_TTL_MS = 5000;

interface IndexedSet {
  readonly name: string;
  readonly chainId: number;
  /** Answers name the first contract. */
  readonly contracts: readonly [Address, ...Address[]];
}

interface Directory {
  /** The default set first. */
  readonly names: readonly string[];
  readonly indexed: readonly IndexedSet[];
}

type ContractOf = Pick<SnapshotState, 'chainId' | 'stakeContract'>;

export interface ChosenSet {
  readonly name: string;
  /** Whether a state belongs to the requested contract, because a stake set can be indexed again for other contracts. */
  readonly holds: (state: ContractOf) => boolean;
}

export interface ChosenReader extends ChosenSet {
  readonly reader: SnapshotReader;
}

/** The stake sets of the database: the contracts that each one indexes, and a reader for each. */
@Injectable()
export class StakeSets {
  private readonly readers = new Map<string, SnapshotReader>();
  private readonly directories: FreshValue<Directory>;

  constructor(
    private readonly database: Database,
    @Inject(CLOCK) clock: Clock,
    @Inject(SHARED_TEXTS) private readonly shared: RedisTexts | undefined,
    @Inject(SLOW_READ_MS) private readonly slowReadMs?: number,
  ) {
    const options = { clock, ttlMs: DIRECTORY_TTL_MS };
    this.directories = new FreshValue(() => this.readDirectory(), options);
  }

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

  /** @param set name of an existing stake set */
  readerOf(set: string): SnapshotReader {
    let reader = this.readers.get(set);
    if (reader === undefined) {
      const store = new SnapshotStore(this.database.inSet(set));
      reader = new SnapshotReader(store, this.shared, { slowReadMs: this.slowReadMs });
      this.readers.set(set, reader);
    }
    return reader;
  }

  /**
   * Chooses the reader for a request: that of the stake set that indexes the contract, or of the caller's own set where
   * the request names no contract.
   * @throws HttpProblem 404 (the contract is not indexed), DatabaseUnavailableError, DatabaseRefusedError
   */
  async readerFor(contract: AccountId | undefined, ownSet: string): Promise<ChosenReader> {
    const set = await this.setFor(contract, ownSet);
    return { ...set, reader: this.readerOf(set.name) };
  }

  /** The stake set that `readerFor` reads. @throws the errors of `readerFor` */
  async setFor(contract: AccountId | undefined, ownSet: string): Promise<ChosenSet> {
    if (contract === undefined) return { name: ownSet, holds: () => true };
    const set = await this.require(contract, ownSet);
    return { name: set.name, holds: (state) => isOfSet(state, set) };
  }

  /**
   * The stake set that indexes the contract. Of several sets, the caller's own is preferred, then one of this contract
   * alone, because others add the stakes of further contracts; then the first.
   */
  private async require({ chainId, address }: AccountId, ownSet: string): Promise<IndexedSet> {
    const { indexed } = await this.directories.get();
    const found = indexed.filter(
      (set) => set.chainId === chainId && set.contracts.includes(address),
    );
    const set =
      found.find(({ name }) => name === ownSet) ??
      found.find(({ contracts }) => contracts.length === 1) ??
      found[0];
    if (set !== undefined) return set;
    const account = accountIdText({ chainId, address });
    throw new HttpProblem(404, `Stakes in ${account} are not indexed here.`, {
      code: 'CONTRACT_NOT_FOUND',
    });
  }

  /**
   * The states of all stake sets that have an index, the default set first.
   * @throws DatabaseUnavailableError, DatabaseRefusedError
   */
  async states(): Promise<ReadonlyMap<string, SnapshotState>> {
    const states = new Map<string, SnapshotState>();
    for (const name of await this.names()) {
      const state = await this.readerOf(name).readState();
      if (state !== undefined) states.set(name, state);
    }
    return states;
  }

  private async names(): Promise<readonly string[]> {
    try {
      return (await this.directories.get()).names;
    } catch {
      // The directory was never read. Reading the default set reports the failure.
      return [DEFAULT_STAKE_SET];
    }
  }

  private async readDirectory(): Promise<Directory> {
    const names = await new StakeSetStore(this.database).names();
    const indexed: IndexedSet[] = [];
    for (const name of names) {
      const state = await new IndexStore(this.database.inSet(name)).state();
      if (state === undefined) continue;
      indexed.push({ name, chainId: state.chainId, contracts: stakeContractsOf(state) });
    }
    return { names, indexed };
  }
}

function isOfSet(state: ContractOf, { chainId, contracts }: IndexedSet): boolean {
  return state.chainId === chainId && state.stakeContract === contracts[0];
}
