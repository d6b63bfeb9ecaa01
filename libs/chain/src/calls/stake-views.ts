/** The stake contracts' own figures, for comparison with the sums of their events. */
import { type Address, type BlockRef, ZERO_ADDRESS } from '#libs/domain';
import { ExecutionRevertedError, isNothingThere, MalformedAnswerError } from '../rpc/rpc.errors.js';
import { type StakeDescription } from '../stake/parse-stake-events.js';
import { isReverted, type RpcCall, type RpcResult } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/question.js';
import { type RpcPool, type RunOptions } from '../rpc/rpc-pool.js';
import { bytes, type Hex } from '../rpc/hex.js';
import { Multicall, MULTICALL3 } from './multicall.js';
import { ethCall, hexOf, PinnedCalls, type Question } from './pinned-calls.js';
import { type FigureKind, StakeView } from '../stake/stake-view.js';
import { type ChosenView, type FigurePart, misfitText, ViewChoice } from './view-choice.js';

interface StakeViewSettings {
  /** An empty list means no view; undefined means the views that contracts usually have. */
  readonly totalView?: readonly StakeView[] | undefined;
  readonly balanceView?: readonly StakeView[] | undefined;
  /** Whether events move stake between wallets, so that any wallet can send some to the zero address. */
  readonly hasTransfers?: boolean | undefined;
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
  /** Whether what the zero address holds is taken off the total, because it has no balance in the index. */
  private takesZeroOff: boolean;
  /** The contracts leave the zero address out of their total themselves. */
  private excludesZero = false;

  constructor(
    protected readonly pool: RpcPool,
    {
      contracts = [],
      totalView,
      balanceView,
      hasTransfers = false,
      multicall = MULTICALL3,
    }: StakeViewOptions,
  ) {
    const { pinned } = this;
    this.takesZeroOff = hasTransfers;
    this.multicall = new Multicall(pinned, multicall, pool);
    this.totals = new ViewChoice(pool, figureParts(totalView, contracts, 'total'));
    this.balances = new ViewChoice(pool, figureParts(balanceView, contracts, 'balance'));
  }

  /** False while the contracts are known to have no total; checked again every minute. */
  get hasTotal(): boolean {
    return !this.totals.isMissing;
  }

  /** Looks for the total again if it reverts, since a contract may have been upgraded. @returns whether there is one */
  async lookForTotal(): Promise<boolean> {
    const views = (await this.totals.views()) ?? [];
    const calls = views.map((view) => ethCall(callOfZero(view), 'latest'));
    const reverts = await this.pool.run(async (session) =>
      (await session.batch(calls)).results.some(isReverted),
    );
    if (reverts) await this.totals.lookAgain();
    return this.hasTotal;
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
   * The sum of all stakes at the end of exactly this block, as the contracts report it. Without what the zero address
   * holds, where events can move stake there.
   * @returns undefined where no node has the state of the block, the view reverts, or there is none
   * @throws PermanentError where the contract's answer does not have the form that the setting declares
   */
  async stakeTotal(block: BlockRef, options?: FigureOptions): Promise<bigint | undefined> {
    const views = await this.totals.views();
    const told =
      views && (await this.totalAndHeld(views, await this.zeroViews(), { ...options, block }));
    return told && told.total - told.held;
  }

  /**
   * Looks whether the zero address holds a part of the total, after the total was found to differ: some contracts let
   * anyone stake for any address.
   * @returns whether totals are read in another way from now on
   */
  async findsZeroHolding(block: BlockRef): Promise<boolean> {
    if (this.takesZeroOff || this.excludesZero) return false;
    const [held = 0n] = (await this.stakeBalances([ZERO_ADDRESS], block)) ?? [];
    this.takesZeroOff = held > 0n;
    return this.takesZeroOff;
  }

  /**
   * The contracts' total as they tell it, and what the zero address holds: at the end of exactly this block.
   * @returns undefined where totals are not read without the zero address, and as `stakeTotal`
   */
  async totalWithZero(
    block: BlockRef,
  ): Promise<{ readonly total: bigint; readonly held: bigint } | undefined> {
    const [views, zeroViews] = [await this.totals.views(), await this.zeroViews()];
    if (!views || zeroViews.length === 0) return undefined;
    return this.totalAndHeld(views, zeroViews, { block });
  }

  /** From now on the total counts as the contracts tell it. */
  leaveZeroInTotal(): void {
    this.takesZeroOff = false;
    this.excludesZero = true;
  }

  private async zeroViews(): Promise<readonly ChosenView[]> {
    return (this.takesZeroOff ? await this.balances.views() : undefined) ?? [];
  }

  private totalAndHeld(
    views: readonly ChosenView[],
    zeroViews: readonly ChosenView[],
    options: FigureOptions & { readonly block: BlockRef },
  ): Promise<{ readonly total: bigint; readonly held: bigint } | undefined> {
    const { block } = options;
    const calls = [...views, ...zeroViews].map(callOfZero);
    return this.ask(options, async (session) => {
      const ask: Question = (when) => calls.map((call) => ethCall(call, when));
      const results = await this.pinned.ask(session, ask, block);
      // A contract that refuses the zero address has no balance of it.
      const isRefused = (index: number): boolean =>
        index >= views.length && isReverted(results[index]);
      const answers = results.map((result, index) =>
        isRefused(index) ? '0x' : hexOf(result, session),
      );
      const silent = calls.filter((_, index) => answers[index] === '0x' && !isRefused(index));
      await this.pinned.requireAbsent(session, new Set(silent.map(({ to }) => to)), block);
      const figures = figuresIn(calls, answers, session);
      return { total: sum(figures.slice(0, views.length)), held: sum(figures.slice(views.length)) };
    });
  }

  /** The calls for the total, to be sent in one request with others; undefined where there is no total. */
  async totalCalls(): Promise<TotalCalls | undefined> {
    const views = await this.totals.views();
    if (!views) return undefined;
    const calls = [...views, ...(await this.zeroViews())].map(callOfZero);
    return {
      at: (block) => calls.map((call) => ethCall(call, block)),
      sumOf: (results) => {
        const values = results.map((result, index) => {
          const isHeld = index >= views.length;
          if (isHeld && isReverted(result)) return 0n;
          const answer = result.ok ? bytes(result.value) : undefined;
          const value = answer === undefined ? undefined : calls[index]?.view.valueIn(answer);
          return typeof value === 'bigint' && isHeld ? -value : value;
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
    const { block } = options;
    const calls = wallets.flatMap((wallet) =>
      views.map(({ to, view }) => ({ to, view, data: view.calldata(wallet) })),
    );
    const each = views.length;
    return this.ask(options, async (session) => {
      const answers = await this.multicall.data(session, calls, block);
      const figures = figuresIn(calls, answers, session);
      return wallets.map((_, index) => sum(figures.slice(index * each, (index + 1) * each)));
    });
  }

  /** @returns undefined where no node has the state, or a view reverts */
  private async ask<T>(
    { saidBy, ...asked }: FigureOptions & { readonly block: BlockRef },
    read: (session: RpcSession) => Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await this.pool.run(async (session) => {
        const figures = await read(session);
        saidBy?.(session.endpoint);
        return figures;
      }, asked);
    } catch (error) {
      if (error instanceof ExecutionRevertedError || isNothingThere(error)) return undefined;
      throw error;
    }
  }
}

interface FigureCall extends ChosenView {
  readonly data: Hex;
}

/** The call of a balance of the zero address, or of a total, which does not depend on the wallet. */
function callOfZero({ to, view }: ChosenView): FigureCall {
  return { to, view, data: view.calldata(ZERO_ADDRESS) };
}

/** @throws MalformedAnswerError */
function figuresIn(
  calls: readonly FigureCall[],
  answers: readonly Hex[],
  session: RpcSession,
): bigint[] {
  return calls.map((call, index) => {
    const answer = answers[index] ?? '0x';
    // The contract did not exist yet, or has no such balance.
    if (answer === '0x') return 0n;
    const value = call.view.valueIn(answer);
    if (typeof value === 'bigint') return value;
    throw new MalformedAnswerError(misfitText(call, value), session);
  });
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
  events = [],
  isPartial,
  totalView,
  balanceView,
}: Omit<StakeDescription, 'events'> & Partial<StakeDescription>): StakeViewSettings {
  const fallback = isPartial ? [] : undefined;
  return {
    totalView: totalView ?? fallback,
    balanceView: balanceView ?? fallback,
    hasTransfers: events.some(({ receiver }) => receiver !== undefined),
  };
}

/** The calls for the contracts' total, as a part of a larger request. */
export interface TotalCalls {
  /** @param block the block's number as a quantity, or a tag */
  at(block: string): RpcCall[];
  /** @returns undefined where one of the answers is invalid */
  sumOf(results: readonly RpcResult[]): bigint | undefined;
}
