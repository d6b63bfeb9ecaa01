/**
 * The limits of one of n replicas while it is apart, that is without Redis: it admits the n-th part of each limit.
 *
 * In any time T all replicas together admit at most burst + rate x T, and one burst more. A debt is what a caller owes
 * of a limit, in requests; it drains by `rate`. The true debt D of a caller counts every request. The account in Redis
 * is S <= burst, the account of replica i in this class is s(i) <= burst / n. The bound holds because
 * D <= S + sum of s(i) <= 2 x burst at all times, since
 *
 * - an admitted request is put on at least one account, in full;
 * - two accounts never drain at once: the debts of this class stand still while Redis is in use, and after that until
 *   the debt in Redis has drained. A replica that is alone knows when the debt in Redis has drained. One of several
 *   replicas does not: the others may add to Redis for another `LEASE_MS`, and those requests drain within the time of
 *   a whole burst. After that each debt of this class drains by rate / n;
 * - once Redis is back, a debt is moved to Redis as far as S <= burst allows (`settle`), not copied and not forgotten;
 * - after Redis has lost its data, every caller owes the whole burst (`replica-counter.ts`), which is at least the lost
 *   debt;
 * - while some replicas have no Redis, those with Redis use their shares only (the weight in `replica-counter.ts`).
 *
 * While a replica is apart, n only grows. A new replica begins with every debt at its maximum, so that a start allows
 * no burst. What a replica has admitted is forgotten when it dies: at most its share of one burst. A burst below n
 * counts as n.
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

/** Milliseconds after which all replicas with Redis know that this replica has none; see `replica-counter.ts`. */
export const LEASE_MS = 3500;

/** Time after which the other replicas have counted a new replica and leave a share for it, in milliseconds. */
const COUNTED_MS = 1500;

/** Debt of a key for the requests that this replica admitted, as of `atMs`, in milliseconds of the whole limit. */
interface OwnDebt {
  readonly owedMs: number;
  readonly atMs: number;
  readonly policy: RatePolicy;
}

export class LocalShare {
  private readonly debts: LRUCache<string, OwnDebt>;
  /** By key, when the debt that Redis last reported has drained. */
  private readonly noted: LRUCache<string, number>;
  private readonly startedMs: number;
  /** Undefined while Redis counts. */
  private apartSinceMs: number | undefined;
  /** When this replica first used Redis. */
  private joinedMs: number | undefined;
  private replicas = 1;
  /** Since when this replica is certainly the only one. */
  private aloneSinceMs: number | undefined;

  constructor(
    /** Milliseconds of any clock that is never set back. */
    private readonly nowMs: () => number,
    maxCallers = MAX_CALLERS,
  ) {
    this.debts = new LRUCache({ max: maxCallers });
    this.noted = new LRUCache({ max: maxCallers });
    this.startedMs = nowMs();
  }

  /** From now on this replica counts without Redis. */
  leave(): void {
    this.apartSinceMs ??= this.nowMs();
  }

  /** From now on Redis counts, and the debts of this replica stand still. */
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
   * Sets the number of replicas.
   * @param isAlone whether a number of 1 is certain
   */
  divide(replicas: number, isAlone = false): void {
    this.replicas = this.apartSinceMs === undefined ? replicas : Math.max(this.replicas, replicas);
    if (!isAlone || this.replicas > 1) this.aloneSinceMs = undefined;
    else this.aloneSinceMs ??= this.nowMs();
  }

  /**
   * Notes the debt of the key in Redis, so that this replica does not admit it a second time. The bound of a replica
   * that is alone depends on this debt. With several replicas the true debt may be larger; the noted one is used, so
   * that callers hardly notice a short outage.
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

  /** @returns whether the debt of the key was at least one request */
  giveBack(key: string, policy: RatePolicy): boolean {
    const debt = this.debts.get(key);
    const owedMs = debt === undefined ? 0 : this.owedMs(key, debt) - 1000 / policy.rate;
    if (debt === undefined || owedMs < 0) return false;
    this.debts.set(key, { owedMs, atMs: this.nowMs(), policy });
    return true;
  }

  /** The debt of each key, to be moved to Redis. */
  owed(): { readonly key: string; readonly policy: RatePolicy; readonly owedMs: number }[] {
    return [...this.debts].flatMap(([key, debt]) => {
      const owedMs = this.owedMs(key, debt);
      if (owedMs > 0) return [{ key, policy: debt.policy, owedMs }];
      this.debts.delete(key);
      return [];
    });
  }

  /** Redis has taken over `movedMs` of the key's debt. */
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

  /** When the key's debt begins to drain. The debts of a replica that never had Redis drain from its start on. */
  private drainsFromMs(key: string, policy: RatePolicy): number {
    const { apartSinceMs, joinedMs, aloneSinceMs } = this;
    if (apartSinceMs === undefined || joinedMs === undefined) return this.startedMs;
    const ofOthersUntilMs = aloneSinceMs ?? apartSinceMs + LEASE_MS;
    const ownUntilMs = this.noted.get(key) ?? 0;
    return Math.max(apartSinceMs, ownUntilMs, ofOthersUntilMs + capacityMsOf(policy));
  }
}
