/**
 * How fast one endpoint may be asked. Pure: the caller passes the time, and nothing in this file waits.
 *
 * One rule finds the limit of an endpoint from the outcomes of its last seconds, never from a single one, because
 * healthy providers refuse one request in twenty at random. If a ninth was refused, or most of the work from the start,
 * the rate becomes a little less than what was answered; otherwise it rises, the faster the longer it was not lowered.
 * If a fifth failed as on an overloaded node, fewer requests may be in flight. A budget of the operator applies as well.
 */
import {
  isTransient,
  RateLimitedError,
  RpcError,
  TransportError,
  UnreachableError,
} from './rpc.errors.js';
import { computeUnitsOf, type RpcCall, type RpcResult } from './rpc-call.js';

export interface Budget {
  readonly perSecond: number;
  /** `calls` counts each call of a batch. */
  readonly unit: 'calls' | 'computeUnits';
}

export interface Load {
  readonly calls: number;
  readonly computeUnits: number;
}

export interface Ticket {
  readonly load: Load;
  readonly startedMs: number;
  /** Whether no further request could start beside this one. */
  readonly isFull: boolean;
}

/** What a request says about the limits of its endpoint. */
export interface Outcome {
  /** Compute units of the calls that were answered. */
  readonly answeredUnits: number;
  /** The share of the calls that were refused by a rate limit, 0 to 1. */
  readonly refused: number;
  /** A 503, a timeout, a reset. */
  readonly overloaded: boolean;
  /** The wait that the rate limit asked for. */
  readonly retryAfterMs?: number | undefined;
}

/** The most requests in flight at one endpoint, at first and ever. Few at first, since all are lost if it fails. */
const FIRST_IN_FLIGHT = 3;
const MOST_IN_FLIGHT = 24;
/** Outcomes count for this time. A change of a limit is judged after a first part of it, or as below. */
const RECENT_MS = 8_000;
const FIRST_JUDGED_MS = 1_000;
/** Number and share of refused requests that mean a rate limit, and of failed ones that mean an overload. */
const REFUSED = { number: 4, share: 0.11 };
const OVERLOADED = { number: 5, share: 0.2 };
/** So many refused requests mean a rate limit at once, if most of the compute units were refused with them. */
const REFUSED_AT_ONCE = 3;
/** The new rate as a share of what was answered. If nothing was answered, the rate is halved. */
const BELOW_ANSWERED = 0.95;
/** An overload halves the requests in flight. */
const NARROWER = 0.5;
/** A lowered rate is kept for this time. It then rises by 2 % a second, twice as fast every 2 s, up to 100 %. */
const KEPT_MS = 6_000;
const RISE = 0.02;
const FASTER_EVERY_MS = 2_000;
/** Bounds of the rate, in compute units a second. No endpoint reaches the highest, which is therefore no limit. */
const LOWEST_RATE = 50;
const HIGHEST_RATE = 1e6;
/** Seconds of the rate, and of a budget, that may be used at once. */
const RATE_BURST = 0.1;
const BUDGET_BURST = 0.2;
/** The part of a second's limit that one request may use: a heavier one could never be answered. */
const HEAVIEST = 1 / 4;

export class Rate {
  private readonly rate: TokenBucket;
  private readonly budgetLeft: TokenBucket | undefined;
  private readonly recent = new RecentOutcomes();
  /** The most requests in flight; a fraction after an overload. */
  private window = FIRST_IN_FLIGHT;
  private inFlight = 0;
  /** When a limit was changed last; requests that started before belong to the limits of before. */
  private changedMs: number;
  /** Up to when the rate has risen; in the future while a lowered rate is kept. */
  private raisedMs: number;
  private pausedUntilMs = 0;
  /** Mean compute units of a request. */
  private meanUnits = 0;

  constructor(
    private readonly budget: Budget | undefined,
    nowMs: number,
  ) {
    this.changedMs = nowMs;
    this.raisedMs = nowMs;
    this.rate = new TokenBucket(HIGHEST_RATE, RATE_BURST, nowMs);
    this.budgetLeft = budget && new TokenBucket(budget.perSecond, BUDGET_BURST, nowMs);
  }

  /** Milliseconds until the endpoint may be asked at all, after it refused half of its requests and named a time. */
  pausedMs(nowMs: number): number {
    return Math.max(0, this.pausedUntilMs - nowMs);
  }

  /** Milliseconds until a request with this load may start; Infinity if another request has to end first. */
  waitMs(load: Load, nowMs: number): number {
    if (!this.hasFreeSlot) return Infinity;
    const budgetMs = this.budget
      ? (this.budgetLeft?.waitMs(load[this.budget.unit], nowMs) ?? 0)
      : 0;
    return Math.max(this.rate.waitMs(load.computeUnits, nowMs), budgetMs);
  }

  start(load: Load, nowMs: number): Ticket {
    this.rate.take(load.computeUnits, nowMs);
    if (this.budget) this.budgetLeft?.take(load[this.budget.unit], nowMs);
    this.meanUnits += (load.computeUnits - this.meanUnits) * (this.meanUnits === 0 ? 1 : 0.1);
    this.inFlight++;
    return { load, startedMs: nowMs, isFull: !this.hasFreeSlot };
  }

  /** @param outcome undefined if the request says nothing about the endpoint, for example because we aborted it */
  end({ load, startedMs, isFull }: Ticket, outcome: Outcome | undefined, nowMs: number): void {
    this.inFlight--;
    if (!outcome || startedMs < this.changedMs) return;
    this.recent.add(outcome, load, nowMs);
    this.pause(outcome, nowMs);
    if (outcome.refused === 0 && !outcome.overloaded) {
      if (isFull) this.window = Math.min(MOST_IN_FLIGHT, this.window + 1);
      this.raise(nowMs);
    } else {
      this.judge(nowMs);
    }
  }

  /** How many requests at once are useful, by the window, the rate and the budget. */
  parallelism(latencyMs: number): number {
    const { unit, perSecond: budget = Infinity } = this.budget ?? {};
    const most = unit === 'computeUnits' ? budget : Infinity;
    const perSecond = Math.min(most, this.rate.perSecond) / (this.meanUnits || 1);
    return Math.min(this.slots, Math.ceil((perSecond * latencyMs) / 1000) + 1);
  }

  get hasFreeSlot(): boolean {
    return this.inFlight < this.slots;
  }

  /** The largest load of one request. */
  get heaviest(): Load {
    const { unit, perSecond = Infinity } = this.budget ?? {};
    const [calls, units] = unit === 'calls' ? [perSecond, Infinity] : [Infinity, perSecond];
    return {
      calls: calls * HEAVIEST,
      computeUnits: Math.min(this.rate.perSecond, units) * HEAVIEST,
    };
  }

  private get slots(): number {
    return Math.floor(this.window);
  }

  /** Pauses all requests if half of them or more were refused; otherwise only the refused request waits. */
  private pause({ refused, retryAfterMs = 0 }: Outcome, nowMs: number): void {
    if (refused === 0) return;
    const sums = this.recent.since(0, nowMs);
    const areEnough = sums.requests >= REFUSED.number || this.inFlight === 0;
    if (areEnough && sums.refused >= sums.requests / 2) {
      this.pausedUntilMs = Math.max(this.pausedUntilMs, nowMs + retryAfterMs);
    }
  }

  private judge(nowMs: number): void {
    const sums = this.recent.since(this.changedMs, nowMs);
    const { requests, refused, overloaded } = sums;
    const isMany = (count: number, many: typeof REFUSED): boolean =>
      count >= many.number && count >= many.share * requests;
    const isEarly = nowMs - this.changedMs < FIRST_JUDGED_MS;
    const meetsLimit = isEarly
      ? refused >= REFUSED_AT_ONCE && sums.answeredUnits < sums.units / 2
      : isMany(refused, REFUSED);
    if (meetsLimit) {
      const { answered, units } = this.recent.perSecond(nowMs);
      const half = Math.min(units, this.rate.perSecond) / 2;
      const perSecond = answered > 0 ? answered * BELOW_ANSWERED : half;
      this.rate.change(Math.max(LOWEST_RATE, perSecond), nowMs);
    } else if (!isEarly && isMany(overloaded, OVERLOADED)) {
      this.window = Math.max(1, this.window * NARROWER);
    } else return;
    this.changedMs = nowMs;
    this.raisedMs = nowMs + KEPT_MS;
  }

  private raise(nowMs: number): void {
    const seconds = Math.min(1000, nowMs - this.raisedMs) / 1000;
    if (seconds <= 0) return;
    this.raisedMs = nowMs;
    const faster = 2 ** ((nowMs - this.changedMs - KEPT_MS) / FASTER_EVERY_MS);
    const perSecond = this.rate.perSecond * (1 + Math.min(1, RISE * faster)) ** seconds;
    this.rate.change(Math.min(HIGHEST_RATE, perSecond), nowMs);
  }
}

export function loadOf(calls: readonly RpcCall[]): Load {
  const computeUnits = calls.reduce((sum, { method }) => sum + computeUnitsOf(method), 0);
  return { calls: calls.length, computeUnits };
}

export function outcomeOfAnswer(calls: readonly RpcCall[], results: readonly RpcResult[]): Outcome {
  const errors = results.map((result) => (result.ok ? undefined : result.error));
  const refusals = errors.filter((error) => error instanceof RateLimitedError);
  return {
    answeredUnits: loadOf(calls.filter((_, index) => !isTransient(errors[index]))).computeUnits,
    refused: refusals.length / calls.length,
    overloaded: errors.some((error) => error instanceof TransportError),
    retryAfterMs: Math.max(0, ...refusals.map((error) => error.retryAfterMs ?? 0)),
  };
}

/** @returns undefined if the failure says nothing about limits */
export function outcomeOfFailure(error: unknown): Outcome | undefined {
  if (!(error instanceof RpcError) || error instanceof UnreachableError) return undefined;
  const refusal = error instanceof RateLimitedError ? error : undefined;
  return {
    answeredUnits: 0,
    refused: refusal ? 1 : 0,
    overloaded: error instanceof TransportError,
    retryAfterMs: refusal?.retryAfterMs,
  };
}

interface Sums {
  requests: number;
  /** Sum of the refused shares of all requests. */
  refused: number;
  overloaded: number;
  answeredUnits: number;
  units: number;
}

const QUARTER_MS = 250;

/** The outcomes of the last seconds, added up by quarters of a second. */
class RecentOutcomes {
  private quarters: (Sums & { readonly fromMs: number })[] = [];

  add(outcome: Outcome, load: Load, nowMs: number): void {
    const last = this.quarters.at(-1);
    const isNew = !last || nowMs >= last.fromMs + QUARTER_MS;
    const quarter = isNew ? { fromMs: nowMs, ...nothing() } : last;
    if (isNew) {
      const recent = this.quarters.filter(({ fromMs }) => fromMs > nowMs - RECENT_MS);
      this.quarters = [...recent, quarter];
    }
    quarter.requests++;
    quarter.refused += outcome.refused;
    quarter.overloaded += outcome.overloaded ? 1 : 0;
    quarter.answeredUnits += outcome.answeredUnits;
    quarter.units += load.computeUnits;
  }

  since(sinceMs: number, nowMs: number): Sums {
    const sums = nothing();
    for (const quarter of this.quarters) {
      if (quarter.fromMs < Math.max(sinceMs, nowMs - RECENT_MS)) continue;
      for (const key of Object.keys(sums) as (keyof Sums)[]) sums[key] += quarter[key];
    }
    return sums;
  }

  /** Compute units a second, averaged over a second at least. */
  perSecond(nowMs: number): { readonly answered: number; readonly units: number } {
    const recent = this.since(nowMs - RECENT_MS / 4, nowMs);
    const first = this.quarters.find(({ fromMs }) => fromMs >= nowMs - RECENT_MS / 4);
    const seconds = Math.max(1000, nowMs - (first?.fromMs ?? nowMs)) / 1000;
    return { answered: recent.answeredUnits / seconds, units: recent.units / seconds };
  }
}

function nothing(): Sums {
  return { requests: 0, refused: 0, overloaded: 0, answeredUnits: 0, units: 0 };
}

/** A token bucket: tokens flow in at a steady rate, up to a short burst. The caller passes the time. */
class TokenBucket {
  private tokens: number;
  private atMs: number;

  constructor(
    public perSecond: number,
    private readonly burstSeconds: number,
    nowMs: number,
  ) {
    this.tokens = perSecond * burstSeconds;
    this.atMs = nowMs;
  }

  /**
   * Milliseconds until `amount` tokens may be taken. More than a full bucket may be taken once the bucket is full; the
   * debt is paid back afterwards.
   */
  waitMs(amount: number, nowMs: number): number {
    this.refill(nowMs);
    const missing = Math.min(amount, this.perSecond * this.burstSeconds) - this.tokens;
    return missing <= 0 ? 0 : Math.ceil((missing / this.perSecond) * 1000);
  }

  take(amount: number, nowMs: number): void {
    this.refill(nowMs);
    this.tokens -= amount;
  }

  change(perSecond: number, nowMs: number): void {
    this.refill(nowMs);
    this.perSecond = perSecond;
    this.tokens = Math.min(this.tokens, perSecond * this.burstSeconds);
  }

  private refill(nowMs: number): void {
    const full = this.perSecond * this.burstSeconds;
    const seconds = Math.max(0, nowMs - this.atMs) / 1000;
    this.tokens = Math.min(full, this.tokens + seconds * this.perSecond);
    this.atMs = Math.max(this.atMs, nowMs);
  }
}
