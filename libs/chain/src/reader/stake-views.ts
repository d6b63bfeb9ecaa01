/** The stake contracts' own figures, for comparison with what their events add up to. */
import { type Address, type BlockRef } from '#libs/domain';
import {
  AllEndpointsFailedError,
  ExecutionRevertedError,
  StateUnavailableError,
} from '../errors/rpc.errors.js';
import { type RpcPool } from '../rpc/rpc-pool.js';
import { type ContractCall, ethCall, PinnedCalls, wordOf } from './pinned-calls.js';
import { balanceViews, type StakeView, type StakeViewSettings, totalViews } from './stake-view.js';

/** Undefined until asked; null where a contract has none of them. */
type Chosen = readonly StakeView[] | null | undefined;

/** For trying a balance view: an address that no contract refuses, as some refuse zero. */
const SOMEBODY = '1'.padStart(64, '0');

export class StakeViews {
  private readonly pinned = new PinnedCalls();
  private readonly totals: readonly StakeView[];
  private readonly balances: readonly StakeView[];
  private chosenTotals: Chosen;
  private chosenBalances: Chosen;

  /** @throws PermanentError where a setting is not a usable signature */
  constructor(
    private readonly pool: RpcPool,
    private readonly contracts: readonly Address[],
    settings: StakeViewSettings,
  ) {
    this.totals = totalViews(settings);
    this.balances = balanceViews(settings);
    if (this.totals.length === 0) this.chosenTotals = null;
    if (this.balances.length === 0) this.chosenBalances = null;
  }

  /** False once it is known that there is no total to compare with. */
  get hasTotal(): boolean {
    return this.chosenTotals !== null;
  }

  get hasBalances(): boolean {
    return this.chosenBalances !== null;
  }

  /** @returns undefined where no node has the state of that block, the view refuses, or there is none */
  async total(block: BlockRef): Promise<bigint | undefined> {
    if (this.chosenTotals === undefined) this.chosenTotals = await this.choose(this.totals, '');
    const views = this.chosenTotals;
    if (views === null) return undefined;
    const calls = this.contracts.map((to, index) => callOf(to, views[index], ''));
    const values = await this.read(calls, block);
    return values?.reduce((sum, value) => sum + value, 0n);
  }

  /** @returns in the order of the wallets; undefined as for the total */
  async balancesOf(wallets: readonly Address[], block: BlockRef): Promise<bigint[] | undefined> {
    if (this.chosenBalances === undefined) {
      this.chosenBalances = await this.choose(this.balances, SOMEBODY);
    }
    const views = this.chosenBalances;
    if (views === null) return undefined;
    const calls = wallets.flatMap((wallet) =>
      this.contracts.map((to, index) =>
        callOf(to, views[index], wallet.slice(2).padStart(64, '0')),
      ),
    );
    const values = await this.read(calls, block);
    const each = this.contracts.length;
    return values && wallets.map((_, index) => sum(values.slice(index * each, (index + 1) * each)));
  }

  /** The first view of each contract that answers at the newest block; null where one of them has none. */
  private async choose(
    candidates: readonly StakeView[],
    argument: string,
  ): Promise<readonly StakeView[] | null> {
    const calls = this.contracts.flatMap((to) =>
      candidates.map((view) => ethCall(callOf(to, view, argument), 'latest')),
    );
    const words = await this.pool.run(async (session) => {
      const { results } = await session.batch(calls);
      return results.map(wordOf);
    });
    const chosen = this.contracts.map((_, contract) =>
      candidates.find((_view, index) => words[contract * candidates.length + index] !== undefined),
    );
    return chosen.every((view) => view !== undefined) ? chosen : null;
  }

  private async read(
    calls: readonly ContractCall[],
    block: BlockRef,
  ): Promise<bigint[] | undefined> {
    try {
      return await this.pool.run((session) => this.pinned.read(session, calls, block));
    } catch (error) {
      if (error instanceof ExecutionRevertedError) return undefined;
      const stateless =
        error instanceof AllEndpointsFailedError &&
        error.failures.length > 0 &&
        error.failures.every((failure) => failure instanceof StateUnavailableError);
      if (stateless) return undefined;
      throw error;
    }
  }
}

function callOf(to: Address, view: StakeView | undefined, argument: string): ContractCall {
  return { to, data: `${view?.selector ?? '0x'}${argument}` };
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}
