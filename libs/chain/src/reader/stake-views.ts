/** The stake contracts' own figures, for comparison with the sums of their events. */
import { type Address, type BlockRef, ZERO_ADDRESS } from '#libs/domain';
import {
  AllEndpointsFailedError,
  ExecutionRevertedError,
  MalformedAnswerError,
  StateUnavailableError,
} from '../errors/rpc.errors.js';
import { type StakeDescription } from '../events/parse-stake-events.js';
import { type RpcCall, type RpcResult } from '../rpc/rpc-call.js';
import { type RpcPool, type RpcSession, type RunOptions } from '../rpc/rpc-pool.js';
import { bytes, type Hex } from '../shape/hex.js';
import { Multicall, MULTICALL3 } from './multicall.js';
import { ethCall, PinnedCalls } from './pinned-calls.js';
import { type FigureKind, StakeView } from './stake-view.js';
import { type ChosenView, type FigurePart, misfitText, ViewChoice } from './view-choice.js';

interface StakeViewSettings {
  /** An empty list means no view; undefined means the views that contracts usually have. */
  readonly totalView?: readonly StakeView[] | undefined;
  readonly balanceView?: readonly StakeView[] | undefined;
}

export interface StakeViewOptions extends StakeViewSettings {
  readonly contracts?: readonly Address[];
  /** The address of Multicall3 on this chain; by default that of most chains. */
  readonly multicall?: Address | undefined;
}

export interface FigureOptions extends RunOptions {
  readonly saidBy?: (endpoint: string) => void;
}

/** The views that are tried on each contract where the settings name none. */
const USUAL: Readonly<Record<FigureKind, readonly StakeView[]>> = {
  total: usualViews('total', 'totalStaked()', 'totalSupply()'),
  balance: usualViews('balance', 'balanceOf(address)'),
};

export class StakeViews {
  private readonly pinned = new PinnedCalls();
  private readonly multicall: Multicall;
  private readonly totals: ViewChoice;
  private readonly balances: ViewChoice;

  constructor(
    protected readonly pool: RpcPool,
    { contracts = [], totalView, balanceView, multicall = MULTICALL3 }: StakeViewOptions,
  ) {
    const { pinned } = this;
    this.multicall = new Multicall(pinned, multicall, pool);
    this.totals = new ViewChoice(pool, figureParts(totalView, contracts, 'total'));
    this.balances = new ViewChoice(pool, figureParts(balanceView, contracts, 'balance'));
  }

  /** False while the contracts are known to have no total; checked again every minute. */
  get hasTotal(): boolean {
    return !this.totals.isMissing;
  }

  /** False while the contracts are known not to report a wallet's balance. */
  get hasBalances(): boolean {
    return !this.balances.isMissing;
  }

  /** Why views that the settings name do not answer; empty while they do, and before they were called. */
  get unansweredViews(): readonly string[] {
    return [...this.totals.unanswered, ...this.balances.unanswered];
  }

  /** False where STAKE_EVENTS names no view. */
  get wantsTotal(): boolean {
    return this.totals.isWanted;
  }

  get wantsBalances(): boolean {
    return this.balances.isWanted;
  }

  /**
   * The sum of all stakes at the end of exactly this block, as the contracts report it.
   * @returns undefined where no node has the state of the block, the view reverts, or there is none
   * @throws PermanentError where the contract's answer does not have the form that the setting declares
   */
  async stakeTotal(block: BlockRef, options?: FigureOptions): Promise<bigint | undefined> {
    const views = await this.totals.views();
    // A total does not depend on the wallet.
    const [total] =
      (views && (await this.sums(views, [ZERO_ADDRESS], { ...options, block }))) ?? [];
    return total;
  }

  /** The calls for the total, to be sent in one request with others; undefined where there is no total. */
  async totalCalls(): Promise<TotalCalls | undefined> {
    const views = await this.totals.views();
    if (!views) return undefined;
    return {
      at: (block) =>
        views.map(({ to, view }) => ethCall({ to, data: view.calldata(ZERO_ADDRESS) }, block)),
      sumOf: (results) => {
        const values = results.map((result, index) => {
          const answer = result.ok ? bytes(result.value) : undefined;
          return answer === undefined ? undefined : views[index]?.view.valueIn(answer);
        });
        return values.every((value) => typeof value === 'bigint') ? sum(values) : undefined;
      },
    };
  }

  /** The wallets' stakes at the end of exactly this block, in their order; undefined and errors as for `stakeTotal`. */
  async stakeBalances(
    wallets: readonly Address[],
    block: BlockRef,
    options?: FigureOptions,
  ): Promise<bigint[] | undefined> {
    const views = await this.balances.views();
    return views && this.sums(views, wallets, { ...options, block });
  }

  private async sums(
    views: readonly ChosenView[],
    wallets: readonly Address[],
    options: FigureOptions & { readonly block: BlockRef },
  ): Promise<bigint[] | undefined> {
    const { block, saidBy, ...asked } = options;
    const calls = wallets.flatMap((wallet) =>
      views.map(({ to, view }) => ({ to, view, data: view.calldata(wallet) })),
    );
    const each = views.length;
    try {
      return await this.pool.run(async (session) => {
        const figures = await this.read(session, calls, block);
        saidBy?.(session.endpoint);
        return wallets.map((_, index) => sum(figures.slice(index * each, (index + 1) * each)));
      }, asked);
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

  /** @param calls one for each part of a figure, wallet after wallet */
  private async read(
    session: RpcSession,
    calls: readonly (ChosenView & { readonly data: Hex })[],
    block: BlockRef,
  ): Promise<bigint[]> {
    const answers = await this.multicall.data(session, calls, block);
    return calls.map((call, index) => {
      const answer = answers[index] ?? '0x';
      // The contract did not exist yet.
      if (answer === '0x') return 0n;
      const value = call.view.valueIn(answer);
      if (typeof value === 'bigint') return value;
      throw new MalformedAnswerError(misfitText(call, value), session);
    });
  }
}

/**
 * A good number of wallets for one call of `stakeBalances`. A contract with one view needs four multicalls or twenty
 * batches, about a second, which is also the cost of a failure on the way. 100,000 wallets are fifty such calls.
 */
export const WALLETS_AT_ONCE = 2_000;

/**
 * Views that the settings name add up, each on every contract or on its own one. Where the settings name none, the
 * usual views are tried in turn.
 */
function figureParts(
  views: readonly StakeView[] | undefined,
  contracts: readonly Address[],
  kind: FigureKind,
): FigurePart[] {
  if (views === undefined)
    return contracts.map((to) => ({ to, candidates: USUAL[kind], isSet: false }));
  return views.flatMap((view) =>
    (view.contract === undefined ? contracts : [view.contract]).map((to) => ({
      to,
      candidates: [view],
      isSet: true,
    })),
  );
}

function usualViews(kind: FigureKind, ...signatures: readonly string[]): readonly StakeView[] {
  return signatures.map(
    (text) => new StakeView({ function: `function ${text} view returns (uint256)` }, text, kind),
  );
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}

/**
 * The views in force: those of STAKE_EVENTS, else those that contracts usually have. Filtered events have no usual
 * views, because the usual figures cover the whole contract and cannot be compared with a part of it.
 */
export function resolveStakeViews({
  isPartial,
  totalView,
  balanceView,
}: Omit<StakeDescription, 'events'>): StakeViewSettings {
  const fallback = isPartial ? [] : undefined;
  return { totalView: totalView ?? fallback, balanceView: balanceView ?? fallback };
}

/** The calls for the contracts' total, as a part of a larger request. */
export interface TotalCalls {
  /** @param block the block's number as a quantity, or a tag */
  at(block: string): RpcCall[];
  /** @returns undefined where one of the answers is invalid */
  sumOf(results: readonly RpcResult[]): bigint | undefined;
}
