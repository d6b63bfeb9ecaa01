/** The stake contracts' own figures, for comparison with what their events add up to. */
import { type Address, type BlockRef } from '#libs/domain';
import {
  AllEndpointsFailedError,
  ExecutionRevertedError,
  StateUnavailableError,
} from '../errors/rpc.errors.js';
import { type RpcPool } from '../rpc/rpc-pool.js';
import { type ContractCall, PinnedCalls } from './pinned-calls.js';
import { balanceViews, type StakeView, type StakeViewSettings, totalViews } from './stake-view.js';
import { viewCall, ViewChoice } from './view-choice.js';

/** Whose word a figure is. */
export interface FigureOptions {
  /** Names of endpoints that must not be asked. */
  readonly avoid?: readonly string[];
  /** Told of the endpoint that gave the figure. */
  readonly saidBy?: (endpoint: string) => void;
  /** How long to wait for endpoints that fail for now; see RunOptions. */
  readonly patienceMs?: number;
  readonly signal?: AbortSignal;
}

/** For trying a balance view: an address that no contract refuses, as some refuse zero. */
const SOMEBODY = '1'.padStart(64, '0');

export class StakeViews {
  private readonly pinned = new PinnedCalls();
  private readonly totals: ViewChoice;
  private readonly balances: ViewChoice;

  /** @throws PermanentError where a setting is not a usable signature */
  constructor(
    private readonly pool: RpcPool,
    private readonly contracts: readonly Address[],
    settings: StakeViewSettings,
  ) {
    const parts = { pool, contracts };
    this.totals = new ViewChoice({ ...parts, candidates: totalViews(settings), argument: '' });
    this.balances = new ViewChoice({
      ...parts,
      candidates: balanceViews(settings),
      argument: SOMEBODY,
    });
  }

  /** False while it is known that there is no total to compare with. */
  get hasTotal(): boolean {
    return !this.totals.isMissing;
  }

  get hasBalances(): boolean {
    return !this.balances.isMissing;
  }

  /** False where the settings say `none`. */
  get wantsTotal(): boolean {
    return this.totals.isWanted;
  }

  get wantsBalances(): boolean {
    return this.balances.isWanted;
  }

  /** @returns undefined where no node has the state of that block, the view refuses, or there is none */
  async total(block: BlockRef, options?: FigureOptions): Promise<bigint | undefined> {
    const views = await this.totals.views();
    if (views === undefined) return undefined;
    const values = await this.read(this.calls(views, ''), block, options);
    return values && sum(values);
  }

  /** @returns in the order of the wallets; undefined as for the total */
  async balancesOf(
    wallets: readonly Address[],
    block: BlockRef,
    options?: FigureOptions,
  ): Promise<bigint[] | undefined> {
    const views = await this.balances.views();
    if (views === undefined) return undefined;
    const calls = wallets.flatMap((wallet) => this.calls(views, wallet.slice(2).padStart(64, '0')));
    const values = await this.read(calls, block, options);
    const each = this.contracts.length;
    return values && wallets.map((_, index) => sum(values.slice(index * each, (index + 1) * each)));
  }

  /** One for each contract. */
  private calls(views: readonly StakeView[], argument: string): ContractCall[] {
    return this.contracts.flatMap((to, index) => {
      const view = views[index];
      return view === undefined ? [] : [viewCall(to, view, argument)];
    });
  }

  private async read(
    calls: readonly ContractCall[],
    block: BlockRef,
    { avoid = [], saidBy, patienceMs, signal }: FigureOptions = {},
  ): Promise<bigint[] | undefined> {
    try {
      return await this.pool.run(
        async (session) => {
          const values = await this.pinned.read(session, calls, block);
          saidBy?.(session.endpoint);
          return values;
        },
        { avoid, signal, ...(patienceMs !== undefined && { patienceMs }) },
      );
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

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}
