/** What every answer about snapshots is held to, of one wallet or of many. */
import { type SnapshotState } from '#libs/db';
import {
  type AccountId,
  accountIdText,
  type Address,
  coverage,
  type CoverageGap,
  dayOf,
  type DayWindow,
  SECONDS_PER_DAY,
  windowBefore,
  windowOf,
} from '#libs/domain';
import { HttpProblem } from '#libs/service';
import { type ApiSettings } from '../api.env.js';

const GAPS: Readonly<Record<CoverageGap, readonly [retryAfterSeconds: number, message: string]>> = {
  'not-synced': [30, 'The index of staked balances is not complete yet: try again later.'],
  lagging: [5, 'The index of staked balances is behind the chain: try again shortly.'],
  halted: [60, 'The index of staked balances has stopped and is being looked after.'],
};

export function unavailable(gap: CoverageGap): HttpProblem {
  const [retryAfterSeconds, message] = GAPS[gap];
  return new HttpProblem(503, message, { retryAfterSeconds });
}

export interface AskedDays {
  readonly lastDays: number;
  /** The last day of the window, in days since 1970-01-01 UTC. Absent: the day before the request. */
  readonly endDay?: number | undefined;
}

/** @throws HttpProblem 400 (the last day is to come), 409 (it is not over) */
export function askedWindow({ lastDays, endDay: lastDay }: AskedDays, nowMs: number): DayWindow {
  if (lastDay === undefined) return windowOf(nowMs, lastDays);
  const today = dayOf(nowMs / 1000);
  if (lastDay > today) throw new HttpProblem(400, 'endDay must not be in the future.');
  const window = windowBefore(lastDay + 1, lastDays);
  if (lastDay === today) {
    const end = new Date((today + 1) * SECONDS_PER_DAY * 1000).toISOString();
    throw new HttpProblem(409, `The day of endDay is not over: ask from ${end} on.`, {
      code: 'DAY_NOT_OVER',
      retryAfterSeconds: Math.ceil(window.endSeconds - nowMs / 1000),
    });
  }
  return window;
}

/** @throws HttpProblem 503 */
export function requireCovered(
  { head, syncedAt, haltedReason }: SnapshotState,
  window: Pick<DayWindow, 'endSeconds'>,
  nowMs: number,
  { indexMaxLagSeconds }: ApiSettings,
): void {
  const progress = { headSeconds: head.timestampSeconds, syncedAt, haltedReason };
  const covered = coverage(progress, window, nowMs, indexMaxLagSeconds);
  if (covered !== 'covered') throw unavailable(covered.reason);
}

/** US dollars for one token; undefined where no price is fresh. */
export function freshPriceOf(
  { price }: SnapshotState,
  nowMs: number,
  { priceMaxAgeSeconds }: ApiSettings,
): string | undefined {
  if (price === undefined) return undefined;
  const ageMs = nowMs - price.observedAt.getTime();
  return ageMs <= priceMaxAgeSeconds * 1000 ? price.usd : undefined;
}

/** Of a wallet that never staked. */
export function noStake(wallet: Address, contract: AccountId | undefined): HttpProblem {
  const of = contract === undefined ? '' : ` in ${accountIdText(contract)}`;
  return new HttpProblem(404, `No staking data for wallet ${wallet}${of}`);
}

/** The headers of an answer from the index: names and values in turn. */
export function indexHeaders({ head, finalisedSeconds }: SnapshotState, window: DayWindow) {
  const isFinal = (finalisedSeconds ?? -Infinity) >= window.endSeconds;
  return ['x-index-block', head.number.toString(), 'x-index-final', String(isFinal)];
}
