/**
 * What one of n replicas admits by itself while it is apart, that is without Redis: the n-th part of each limit.
 *
 * All replicas together admit in any time T at most burst + rate x T and one burst more. Let a debt be what is owed of a
 * limit, in requests, becoming less by `rate`. The true debt D of a caller counts every request; Redis' account is S <= burst,
 * the one kept here for replica i is s(i) <= burst / n, and D <= S + sum of s(i) <= 2 x burst always, which is the bound, as
 *
 * - an admitted request is put on one account at least, in full;
 * - no debt is on two accounts, each becoming less by itself: those here stand still while Redis is in use, and then until what
 *   was owed in Redis is over too. A replica that is alone knows when that is. One of several does not, as others may put
 *   something there for `LEASE_MS` more, and that is over a burst later. Then each becomes less by rate / n.
 * - once Redis is back a debt is moved there as far as it fits below S <= burst (`settle`), not copied, and not forgotten;
 * - a Redis that lost its memory takes every caller to owe the whole burst (`attendance.ts`): at least what it forgot;
 * - those who have Redis while others have not use their part only (the weight in `attendance.ts`).
 *
 * While apart, n only grows. A replica that has just started begins with every debt at its greatest: a start brings no burst.
 * What a replica has admitted when it dies is forgotten: at most its share of one burst. Below n, a burst is taken for n.
 */
import { LRUCache } from 'lru-cache';
import {
  capacityMsOf,
  MAX_CALLERS,
  type RatePolicy,
  type RateVerdict,
  takeFrom,
  verdictOf,
} from './rate-limiter.js';

/** After so long all that have Redis know that this replica has not; see `attendance.ts`. */
export const LEASE_MS = 3500;

/** After so long the shares of the others leave one for this replica. */
const COUNTED_MS = 1500;

/** Time of the whole limit that the requests admitted here are worth, as of `atMs`. */
interface OwnDebt {
  readonly owedMs: number;
  readonly atMs: number;
  readonly policy: RatePolicy;
}

export class OwnShare {
  private readonly debts: LRUCache<string, OwnDebt>;
  /** When what Redis said last is over. */
  private readonly noted: LRUCache<string, number>;
  private readonly startedMs: number;
  /** Absent while Redis counts. */
  private apartSinceMs: number | undefined;
  /** When it first had Redis. */
  private joinedMs: number | undefined;
  private replicas = 1;
  /** Since when there is certainly no other replica. */
  private aloneSinceMs: number | undefined;

  constructor(
    /** Any clock that is never set back. */
    private readonly nowMs: () => number,
    maxCallers = MAX_CALLERS,
  ) {
    this.debts = new LRUCache({ max: maxCallers });
    this.noted = new LRUCache({ max: maxCallers });
    this.startedMs = nowMs();
  }

  /** From now on replicas count by themselves. */
  leave(): void {
    this.apartSinceMs ??= this.nowMs();
  }

  /** From now on Redis counts, and what is owed here stands still. */
  join(): void {
    this.joinedMs ??= this.nowMs();
    if (this.apartSinceMs === undefined) return;
    const atMs = this.nowMs();
    for (const [key, debt] of [...this.debts.entries()].toReversed()) {
      this.debts.set(key, { ...debt, owedMs: this.owedMs(key, debt), atMs });
    }
    this.apartSinceMs = undefined;
  }

  /**
   * How many replicas there are.
   * @param isAlone where it is one: whether that is certain
   */
  divide(replicas: number, isAlone = false): void {
    this.replicas = this.apartSinceMs === undefined ? replicas : Math.max(this.replicas, replicas);
    if (!isAlone || this.replicas > 1) this.aloneSinceMs = undefined;
    else this.aloneSinceMs ??= this.nowMs();
  }

  /**
   * What the key owes in Redis: its part is not to be had here. A replica that is alone needs it for the bound; with several it is too
   * little, but so a short outage is hardly felt.
   */
  note(key: string, owedMs: number): void {
    this.noted.set(key, this.nowMs() + owedMs);
  }

  take(key: string, policy: RatePolicy, count = 1): RateVerdict {
    this.leave();
    const weight = this.replicas;
    const atMs = this.nowMs();
    const notedMs = this.notedMs(key);
    const ownMs = this.owedMs(key, this.debts.get(key) ?? this.first(policy));
    const taken = takeFrom(ownMs * weight + notedMs, policy, { weight, count });
    if (taken.allowed) {
      this.debts.set(key, { owedMs: ownMs + (1000 / policy.rate) * count, atMs, policy });
    }
    const standsStill = notedMs === 0 && taken.owedMs > 0;
    const waitMs = standsStill ? Math.max(0, this.drainsFromMs(key, policy) - atMs) : 0;
    return verdictOf(policy, taken, { weight, count, waitMs });
  }

  /** @returns whether there was something to be given back */
  giveBack(key: string, policy: RatePolicy): boolean {
    const debt = this.debts.get(key);
    const owedMs = debt === undefined ? 0 : this.owedMs(key, debt) - 1000 / policy.rate;
    if (debt === undefined || owedMs < 0) return false;
    this.debts.set(key, { owedMs, atMs: this.nowMs(), policy });
    return true;
  }

  /** What is owed by each key, to be moved to Redis. */
  owed(): { readonly key: string; readonly policy: RatePolicy; readonly owedMs: number }[] {
    return [...this.debts].flatMap(([key, debt]) => {
      const owedMs = this.owedMs(key, debt);
      if (owedMs > 0) return [{ key, policy: debt.policy, owedMs }];
      this.debts.delete(key);
      return [];
    });
  }

  /** So much of what is owed is now on Redis' account. */
  settle(key: string, movedMs: number): void {
    const debt = this.debts.peek(key);
    if (debt === undefined) return;
    const owedMs = this.owedMs(key, debt) - movedMs;
    if (owedMs > 0) this.debts.set(key, { ...debt, owedMs, atMs: this.nowMs() });
    else this.debts.delete(key);
    this.note(key, this.notedMs(key) + movedMs);
  }

  private notedMs(key: string): number {
    return Math.max(0, (this.noted.get(key) ?? 0) - this.nowMs());
  }

  private first(policy: RatePolicy): OwnDebt {
    const { joinedMs = Infinity, apartSinceMs = Infinity } = this;
    const isCounted = this.aloneSinceMs !== undefined || apartSinceMs >= joinedMs + COUNTED_MS;
    const owedMs = isCounted ? 0 : capacityMsOf(policy) / this.replicas;
    return { owedMs, atMs: this.startedMs, policy };
  }

  private owedMs(key: string, { owedMs, atMs, policy }: OwnDebt): number {
    if (this.apartSinceMs === undefined) return owedMs;
    const drainedMs = Math.max(0, this.nowMs() - Math.max(atMs, this.drainsFromMs(key, policy)));
    return Math.max(0, owedMs - drainedMs / this.replicas);
  }

  /** A replica that never had Redis has put nothing there that could be owed twice. */
  private drainsFromMs(key: string, policy: RatePolicy): number {
    const { apartSinceMs, joinedMs, aloneSinceMs } = this;
    if (apartSinceMs === undefined || joinedMs === undefined) return this.startedMs;
    const ofOthersUntilMs = aloneSinceMs ?? apartSinceMs + LEASE_MS;
    const ownUntilMs = this.noted.get(key) ?? 0;
    return Math.max(apartSinceMs, ownUntilMs, ofOthersUntilMs + capacityMsOf(policy));
  }
}
