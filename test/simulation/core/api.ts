/**
 * One api process: requests for snapshots, answered by its own reader as its route does. Each answer must be that of
 * the oracle for an index that was stored while the request was under way.
 */
import { type Price, type SnapshotStore } from '#libs/db';
import { type Address, dayOf, SECONDS_PER_DAY, windowBefore, windowOf } from '#libs/domain';
import { HttpProblem } from '#libs/service';
import { type ApiSettings } from '../../../apps/api/src/api.env.js';
import {
  bodyAt,
  freshPriceOf,
  isoTime,
  noStake,
  renderedOf,
  requireCovered,
  requireNoFinding,
  unavailable,
} from '../../../apps/api/src/snapshots/snapshot-answer.js';
import { SnapshotReader } from '../../../apps/api/src/snapshots/snapshot-reader.js';
import {
  type Choices,
  DeviationError,
  type Scheduler,
  type SimulatedProcess,
} from '../kernel/index.js';
import { type Block, branchOf } from '../../../libs/testing/src/fake-node/simulated-chain.js';
import { lowOn } from '../../../apps/indexer/test/oracle.js';
import { stepsIn } from './oracle.js';

const CACHED_WALLETS = 3;
const MAX_LAG_SECONDS = 120;
const MAX_PRICE_AGE_SECONDS = 2 * SECONDS_PER_DAY;
const SETTINGS = {
  indexMaxLagSeconds: MAX_LAG_SECONDS,
  priceMaxAgeSeconds: MAX_PRICE_AGE_SECONDS,
} as ApiSettings;

interface Asked {
  readonly wallet: Address;
  readonly lastDays: number;
  /** Exclusive; absent: up to the day of the request. */
  readonly endDay: number | undefined;
  readonly atMs: number;
}

interface Answered {
  /** 503: no answer. */
  readonly status: number;
  readonly block?: bigint;
  readonly body?: string;
}

/** What was stored at a time. */
export interface StoredMoment {
  readonly head: Block;
  /** Undefined while a price is held, too. */
  readonly price: Price | undefined;
}

export class SimulatedApi {
  /** Answers other than 503. */
  answered = 0;
  refused = 0;
  failure: DeviationError | undefined;
  private readonly reader: SnapshotReader;
  private readonly process: SimulatedProcess;

  constructor(
    store: SnapshotStore,
    /** Oldest first. */
    private readonly stored: readonly StoredMoment[],
    private readonly scheduler: Scheduler,
    private readonly choices: Choices,
  ) {
    this.reader = new SnapshotReader(store, undefined, { cachedWallets: CACHED_WALLETS });
    this.process = scheduler.start('api', () => undefined);
  }

  requestAny(wallets: readonly Address[]): void {
    const { choices, scheduler } = this;
    const today = dayOf(scheduler.nowMs() / 1000);
    this.request({
      wallet: choices.pick('asked wallet', wallets),
      lastDays: choices.between('asked days', 1, 4),
      endDay: choices.chance('past window', 250)
        ? today - choices.between('days ago', 0, 4)
        : undefined,
    });
  }

  request(question: Omit<Asked, 'atMs'>): void {
    const { scheduler } = this;
    const asked = { ...question, atMs: scheduler.nowMs() };
    const since = Math.max(0, this.stored.length - 1);
    scheduler.within(this.process, () => {
      this.answer(asked).then(
        (answer) => {
          this.check(asked, answer, since);
        },
        (error: unknown) => {
          this.failure ??= new DeviationError('the api failed', String(error));
        },
      );
    });
  }

  /** As SnapshotsRoute.read. */
  private async answer({ wallet, lastDays, endDay, atMs }: Asked): Promise<Answered> {
    const window = endDay === undefined ? windowOf(atMs, lastDays) : windowBefore(endDay, lastDays);
    const question = { wallet, endDay: window.endDay };
    try {
      const { reader } = this;
      const found = await (endDay === undefined
        ? reader.read(question)
        : reader.readUncached(question));
      if (found === undefined) throw unavailable('not-synced');
      const { state, part } = found;
      requireCovered(state, window, atMs, SETTINGS);
      requireNoFinding(state, [wallet]);
      const usd = freshPriceOf(state, atMs, SETTINGS);
      const rendered = renderedOf(part, { wallet, window, state, usd, contract: undefined });
      const requestedAt = isoTime(atMs);
      if (rendered === undefined) throw noStake(wallet, { contract: undefined, requestedAt });
      const { number: block } = state.head;
      return { status: 200, block, body: bodyAt(rendered.body, requestedAt) };
    } catch (error) {
      if (error instanceof HttpProblem) return { status: error.status };
      const { retryable } = error as { retryable?: boolean };
      if (retryable === true) return { status: 503 };
      throw error;
    }
  }

  /** @param since the place of the head that was stored when the request came */
  private check(asked: Asked, answer: Answered, since: number): void {
    const { wallet, lastDays, endDay = dayOf(asked.atMs / 1000), atMs } = asked;
    const { status, body } = answer;
    this.scheduler.note(
      `  api: ${wallet.slice(0, 4)}, ${lastDays} days before day ${endDay}: ${status} ${shortBody(body)}`,
    );
    if (status === 503) {
      this.refused++;
      return;
    }
    this.answered++;
    const covers = ({ head: { seconds } }: StoredMoment): boolean =>
      seconds >= endDay * SECONDS_PER_DAY || atMs / 1000 - seconds <= MAX_LAG_SECONDS;
    const allowed = this.stored
      .slice(since)
      .filter(covers)
      .map((moment) => expected(moment, asked, endDay));
    const given = givenBy(answer);
    if (allowed.includes(given)) return;
    this.failure ??= new DeviationError(
      'wrong answer',
      `${wallet} before day ${endDay}: ${given}, but allowed: ${[...new Set(allowed)].join(' or ') || 'none but 503'}`,
    );
  }
}

function expected(
  { head, price }: StoredMoment,
  { wallet, lastDays, atMs }: Asked,
  endDay: number,
): string {
  const steps = stepsIn(branchOf(head), wallet);
  if (steps.length === 0) return JSON.stringify([404]);
  const days = Array.from({ length: lastDays }, (_, place) => endDay - lastDays + place);
  const amounts = days.map((day) => Number(lowOn(day, steps)));
  const isFresh = price && atMs - price.observedAt.getTime() <= MAX_PRICE_AGE_SECONDS * 1000;
  return JSON.stringify([200, head.number, isFresh ? Number(price.usd) : 'no price', ...amounts]);
}

function givenBy({ status, block, body }: Answered): string {
  if (body === undefined) return JSON.stringify([status]);
  const { exchangeRateToUSD: rate = 'no price' } = JSON.parse(body) as Body;
  return JSON.stringify([status, Number(block), rate, ...amountsIn(body)]);
}

interface Body {
  readonly exchangeRateToUSD?: number;
  readonly stakingSnapshots: readonly { readonly snapshotAmount: number }[];
}

function amountsIn(body: string): number[] {
  return (JSON.parse(body) as Body).stakingSnapshots.map(({ snapshotAmount }) => snapshotAmount);
}

function shortBody(body: string | undefined): string {
  return body === undefined ? '' : amountsIn(body).join(' ');
}
