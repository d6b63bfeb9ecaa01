/** Chooses the view of each stake contract that reports a figure. */
import { type Address, PermanentError } from '#libs/domain';
import { SingleFlight } from '#libs/platform';
import {
  AllEndpointsFailedError,
  MalformedAnswerError,
  StateUnavailableError,
} from '../rpc/rpc.errors.js';
import { isReverted, type RpcResult } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/question.js';
import { type RpcPool } from '../rpc/rpc-pool.js';
import { ethCall, hexOf } from './pinned-calls.js';
import { type StakeView } from '../stake/stake-view.js';

/** How often all endpoints are asked before a view counts as missing, because it decides how events are verified. */
const LOOKS = 3;
/** How long a view is believed to be missing, because a node may be behind the contract. */
const LOOK_AGAIN_MS = 60_000;
/** Wallet for the trial of a balance view. No contract refuses this address, while some refuse the zero address. */
const TRIAL_WALLET = `0x${'1'.padStart(40, '0')}` as Address;

/** A part of a figure: of this contract, by the first of the candidates that it has. */
export interface FigurePart {
  readonly to: Address;
  readonly candidates: readonly StakeView[];
  /** Whether the settings name the view; a missing answer is logged then. */
  readonly isSet: boolean;
}

export interface ChosenView {
  readonly to: Address;
  readonly view: StakeView;
}

/** States: not asked -> found, until it is looked for again; or missing, until the next look. */
export class ViewChoice {
  private found: readonly ChosenView[] | undefined;
  private lookAgainAtMs: number | undefined;
  /** Why views that the settings name do not report their figure; empty while they do. */
  unanswered: readonly string[] = [];
  private readonly looks = new SingleFlight<readonly ChosenView[] | undefined>();

  /** @param parts add up to the figure; empty where no figure is wanted */
  constructor(
    private readonly pool: RpcPool,
    private readonly parts: readonly FigurePart[],
  ) {}

  get isWanted(): boolean {
    return this.parts.length > 0;
  }

  get isMissing(): boolean {
    return !this.isWanted || this.lookAgainAtMs !== undefined;
  }

  /**
   * One view for each part; undefined where a part has none.
   * @throws AllEndpointsFailedError; PermanentError where a view of the settings answers in another form than declared
   */
  async views(): Promise<readonly ChosenView[] | undefined> {
    if (this.found !== undefined || !this.isWanted) return this.found;
    if (this.lookAgainAtMs !== undefined && this.pool.nowMs() < this.lookAgainAtMs) {
      return undefined;
    }
    // Concurrent readers share one look (single-flight).
    return this.looks.run(() => this.look());
  }

  /** Forgets what was found, since a contract may have been upgraded. */
  async lookAgain(): Promise<void> {
    this.found = undefined;
    this.lookAgainAtMs = undefined;
    await this.views();
  }

  private async look(): Promise<readonly ChosenView[] | undefined> {
    for (let look = 1; ; look++) {
      const misfits: string[] = [];
      try {
        this.found = await this.firstAnswering(misfits);
        this.unanswered = [];
        this.lookAgainAtMs = undefined;
        return this.found;
      } catch (error) {
        if (!(error instanceof AllEndpointsFailedError)) throw error;
        const isMissing = error.failures.some(
          (failure) => failure instanceof StateUnavailableError,
        );
        if (!isMissing) throw error;
        if (look < LOOKS) continue;
        const [misfit] = misfits;
        if (misfit !== undefined && misfits.length === error.failures.length) {
          throw new PermanentError('STAKE_VIEW_MISMATCH', misfit);
        }
        this.lookAgainAtMs = this.pool.nowMs() + LOOK_AGAIN_MS;
        return undefined;
      }
    }
  }

  /**
   * The first view of each part that answers at the newest block, from the first endpoint that answers for all parts.
   * @param misfits collects a text for each endpoint whose contracts answer in another form than declared
   */
  private firstAnswering(misfits: string[]): Promise<readonly ChosenView[]> {
    const trials = this.parts.flatMap(({ to, candidates }) =>
      candidates.map((view) => ({ to, view })),
    );
    return this.pool.run(async (session) => {
      const calls = trials.map(({ to, view }) =>
        ethCall({ to, data: view.calldata(TRIAL_WALLET) }, 'latest'),
      );
      const { results } = await session.batch(calls);
      const outcomes = trials.map((trial, index) => outcomeOf(trial, results[index], session));
      let at = 0;
      return this.parts.map(({ to, candidates, isSet }) => {
        const ours = outcomes.slice(at, (at += candidates.length));
        const view = candidates.find((_, index) => ours[index]?.kind === 'answers');
        if (view !== undefined) return { to, view };
        const [only] = ours;
        if (only === undefined || !isSet) {
          throw new StateUnavailableError(`${to} has no such view at its newest block`, session);
        }
        if (!this.unanswered.includes(only.text)) {
          this.pool.warn(session.endpoint, 'STAKE_VIEW_UNANSWERED', only.text);
        }
        this.unanswered = [only.text];
        if (only.kind === 'misfit') misfits.push(only.text);
        throw new StateUnavailableError(only.text, session);
      });
    });
  }
}

/** The text about a view that does not fit: the view, its contract, and what the contract answered. */
export function misfitText({ to, view }: ChosenView, came: string): string {
  return `The view ${view.signature} of ${to} answered with ${came}. Compare its declaration with the contract.`;
}

interface Outcome {
  readonly kind: 'answers' | 'silent' | 'misfit';
  readonly text: string;
}

/** @throws errors that the contract did not cause */
function outcomeOf(trial: ChosenView, result: RpcResult | undefined, session: RpcSession): Outcome {
  const silent = (what: string): Outcome => ({
    kind: 'silent',
    text: `The view ${trial.view.signature} of ${trial.to} ${what}. Check its name and arguments in STAKE_EVENTS; where the contract has none, set it to [].`,
  });
  if (isReverted(result)) return silent('reverts');
  const data = hexOf(result, session);
  if (data === '0x') return silent('answers nothing');
  const value = trial.view.valueIn(data);
  if (typeof value === 'bigint') return { kind: 'answers', text: '' };
  // No contract answers with a part of a word, so the endpoint is wrong.
  if ((data.length - 2) % 64 !== 0)
    throw new MalformedAnswerError(misfitText(trial, value), session);
  return { kind: 'misfit', text: misfitText(trial, value) };
}
