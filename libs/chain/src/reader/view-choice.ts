/** Which view of each stake contract tells a figure. */
import { type Address } from '#libs/domain';
import { AllEndpointsFailedError, StateUnavailableError } from '../errors/rpc.errors.js';
import { type RpcPool } from '../rpc/rpc-pool.js';
import { type ContractCall, ethCall, wordOf } from './pinned-calls.js';
import { type StakeView } from './stake-view.js';

/** A node may be behind the contract: that there is no view is believed for so long. */
const LOOK_AGAIN_MS = 60_000;

export interface ViewChoiceParts {
  readonly pool: RpcPool;
  readonly contracts: readonly Address[];
  /** To try, in order; none where there is to be none. */
  readonly candidates: readonly StakeView[];
  /** Of the trial; hex without 0x. */
  readonly argument: string;
}

/** States: not asked -> found, for good; or missing, until it is looked for again. */
export class ViewChoice {
  private found: readonly StakeView[] | undefined;
  private lookAgainAtMs: number | undefined;
  private looking: Promise<readonly StakeView[] | undefined> | undefined;

  constructor(private readonly parts: ViewChoiceParts) {}

  get isWanted(): boolean {
    return this.parts.candidates.length > 0;
  }

  /** Whether there is none as far as is known. */
  get isMissing(): boolean {
    return !this.isWanted || this.lookAgainAtMs !== undefined;
  }

  /**
   * In the order of the contracts; undefined where one of them has none.
   * @throws AllEndpointsFailedError
   */
  async views(): Promise<readonly StakeView[] | undefined> {
    if (this.found !== undefined || !this.isWanted) return this.found;
    if (this.lookAgainAtMs !== undefined && this.parts.pool.nowMs() < this.lookAgainAtMs) {
      return undefined;
    }
    // Ranges that are read at once ask once.
    return (this.looking ??= this.look().finally(() => {
      this.looking = undefined;
    }));
  }

  private async look(): Promise<readonly StakeView[] | undefined> {
    try {
      this.found = await this.firstAnswering();
      this.lookAgainAtMs = undefined;
    } catch (error) {
      const isMissing =
        error instanceof AllEndpointsFailedError &&
        error.failures.some((failure) => failure instanceof StateUnavailableError);
      if (!isMissing) throw error;
      this.lookAgainAtMs = this.parts.pool.nowMs() + LOOK_AGAIN_MS;
    }
    return this.found;
  }

  /** The first view of each contract that answers at the newest block of the first endpoint that knows them all. */
  private firstAnswering(): Promise<readonly StakeView[]> {
    const { pool, contracts, candidates, argument } = this.parts;
    const calls = contracts.flatMap((to) =>
      candidates.map((view) => ethCall(viewCall(to, view, argument), 'latest')),
    );
    return pool.run(async (session) => {
      const { results } = await session.batch(calls);
      const words = results.map(wordOf);
      const chosen = contracts.flatMap((_, contract) => {
        const at = contract * candidates.length;
        return candidates.find((_view, index) => words[at + index] !== undefined) ?? [];
      });
      if (chosen.length === contracts.length) return chosen;
      throw new StateUnavailableError('its newest state has no such view', session);
    });
  }
}

export function viewCall(to: Address, view: StakeView, argument: string): ContractCall {
  return { to, data: `${view.selector}${argument}` };
}
