/**
 * The rate at which one endpoint may be asked. Pure: the caller passes the time, and nothing in this file waits.
 *
 * The throttle learns two limits: how many requests may be in flight (the window), and how many compute units a second
 * are answered (the rate, which is absent until the endpoint refuses). Both follow the share of refused requests over
 * the last seconds, never a single refusal: an endpoint that refuses one request in twenty at random keeps its speed. A
 * rate is set from what was answered in these seconds. It rises again while little is refused, the faster the longer
 * the endpoint refuses nothing. A budget of the operator applies as well.
 */
import { type Load, type Outcome, RecentOutcomes } from './outcome.js';

export interface Budget {
  readonly perSecond: number;
  /** `calls` counts each call of a batch. */
  readonly unit: 'calls' | 'computeUnits';
}

export interface Ticket {
  readonly load: Load;
  readonly startedMs: number;
  /** Whether this request filled the window. */
  readonly full: boolean;
}

const FIRST_WINDOW = 4;
const LARGEST_WINDOW = 24;
/** Number and share of refused requests from which on a limit is concluded; fewer are noise. */
const TOO_MANY = { atLeast: 8, share: 0.25 };
/** Fewer refused requests are enough where nearly all are refused. */
const NEARLY_ALL = { atLeast: 4, share: 0.6 };
const TOO_SLOW = { atLeast: 5, share: 0.2 };
/** As TOO_MANY, while the rate is probed upwards; the share is in addition to the noise. */
const TOO_MANY_PROBING = { atLeast: 3, share: 0.07 };
/**
 * Weight of one request in the noise, which is the share of requests refused right after the rate was lowered, when the
 * endpoint's limit cannot be the cause.
 */
const NOISE_WEIGHT = 0.03;
const MOST_NOISE = 0.15;
/** The noise is measured from one second after a change until this time, during which the rate does not rise. */
const NOISE_UNTIL_MS = 2_000;
/**
 * Longest time without a rise. A limit that is found again at about the same rate (SAME_LIMIT) without noise
 * (HARD_NOISE) is probed half as often each time.
 */
const LONGEST_HOLD_MS = 8_000;
const SAME_LIMIT = 0.2;
const HARD_NOISE = 0.01;
/** Above this share of refused requests, in addition to the noise, the rate does not rise. */
const HOLD = 0.04;
const BELOW_GOODPUT = 0.95;
const LOWEST_RATE = 50;
const RISE_PER_SECOND = 0.03;
const FASTEST_RISE = 1;
/** The speed of the rise doubles after each such time without trouble. */
const DOUBLES_EVERY_MS = 2_500;
/** A rate that delayed no request for this time is dropped. */
const IDLE_RATE_MS = 10_000;
/** Time for which a new limit is not judged. A rate that was measured over less time is a guess. */
const SHORTEST_SPAN_MS = 1_000;
/** After this time without requests, earlier outcomes are forgotten. */
const IDLE_MS = 1_000;
const RATE_BURST_SECONDS = 0.1;
const BUDGET_BURST_SECONDS = 0.2;

export class Throttle {
  private window = FIRST_WINDOW;
  private everTooMany = false;
  private inFlight = 0;
  private rate: TokenBucket | undefined;
  /** Whether the last rate was measured over less than a second, so it may be far too low. */
  private rateIsGuess = false;
  private readonly budget: TokenBucket | undefined;
  private readonly recent: RecentOutcomes;
  private pausedUntilMs = 0;
  private noise = 0;
  /** How long the rate does not rise after it was lowered, in milliseconds. */
  private holdMs = NOISE_UNTIL_MS;
  private lastLimit = 0;
  private lastRiseMs = 0;
  private lastBindingMs = 0;
  private busyUntilMs = 0;
  private heaviestRefused = 0;
  private meanUnits = 0;

  constructor(
    private readonly limit: Budget | undefined,
    nowMs: number,
  ) {
    this.recent = new RecentOutcomes(nowMs);
    this.budget = limit && new TokenBucket(limit.perSecond, BUDGET_BURST_SECONDS, nowMs);
  }

  /**
   * Milliseconds until the endpoint may be asked at all, after it refused half of its requests or more and named a
   * time.
   */
  pausedMs(nowMs: number): number {
    return Math.max(0, this.pausedUntilMs - nowMs);
  }

  /** Milliseconds until a request with this load may start; Infinity where another request has to end first. */
  waitMs(load: Load, nowMs: number, mostInFlight = LARGEST_WINDOW): number {
    if (this.inFlight >= Math.min(this.slots, mostInFlight)) return Infinity;
    if (nowMs - this.lastBindingMs > IDLE_RATE_MS) this.rate = undefined;
    const rateMs = this.rate?.waitMs(load.computeUnits, nowMs) ?? 0;
    if (rateMs > 0) this.lastBindingMs = nowMs;
    const budgetMs = this.limit ? (this.budget?.waitMs(load[this.limit.unit], nowMs) ?? 0) : 0;
    const waitMs = Math.max(rateMs, budgetMs);
    if (waitMs > 0) this.busyUntilMs = nowMs + waitMs;
    return waitMs;
  }

  start(load: Load, nowMs: number): Ticket {
    if (this.inFlight === 0 && nowMs - this.busyUntilMs > IDLE_MS) this.recent.clear(nowMs);
    this.busyUntilMs = nowMs;
    this.rate?.take(load.computeUnits, nowMs);
    if (this.limit) this.budget?.take(load[this.limit.unit], nowMs);
    this.meanUnits += (load.computeUnits - this.meanUnits) * (this.meanUnits === 0 ? 1 : 0.1);
    this.inFlight++;
    return { load, startedMs: nowMs, full: this.inFlight >= this.slots };
  }

  /** @param outcome undefined where the request says nothing about the endpoint, for example because we aborted it */
  end(ticket: Ticket, outcome: Outcome | undefined, nowMs: number): void {
    this.inFlight--;
    this.busyUntilMs = nowMs;
    if (!outcome || ticket.startedMs < this.recent.sinceMarkMs) return;
    this.recent.add(outcome, nowMs);
    if (outcome.refused > 0) {
      this.heaviestRefused = Math.max(this.heaviestRefused, ticket.load.computeUnits);
    }
    this.pause(outcome, nowMs);
    this.learnNoise(outcome.refused, nowMs);
    this.react(outcome, nowMs);
    if (outcome.refused > 0 || outcome.overloaded) return;
    this.rise(nowMs);
    if (ticket.full) this.widen();
  }

  /** How many requests at once are useful, by the window and by the rate. */
  parallelism(latencyMs: number): number {
    const units = this.limit?.unit === 'calls' ? Infinity : (this.budget?.perSecond ?? Infinity);
    const perSecond = Math.min(units, this.rate?.perSecond ?? Infinity) / (this.meanUnits || 1);
    if (perSecond === Infinity) return this.slots;
    return Math.min(this.slots, Math.ceil((perSecond * latencyMs) / 1000) + 1);
  }

  get hasFreeSlot(): boolean {
    return this.inFlight < this.slots;
  }

  /** The largest load of one request. A heavier request would take the share of many, or could never be answered. */
  get heaviest(): Load {
    const { unit, perSecond = Infinity } = this.limit ?? {};
    const rate = this.rate?.perSecond ?? Infinity;
    return {
      calls: (unit === 'calls' ? perSecond : Infinity) / 4,
      computeUnits: (unit === 'computeUnits' ? Math.min(rate, perSecond) : rate) / 4,
    };
  }

  private get slots(): number {
    return Math.floor(this.window);
  }

  /** An endpoint that refuses nothing below its limit shows the limit by a single refusal. */
  private get tooManyProbing(): typeof TOO_MANY_PROBING {
    return this.noise < HARD_NOISE ? { atLeast: 1, share: 0 } : TOO_MANY_PROBING;
  }

  /** Pauses all requests where half of them or more were refused; otherwise only the refused request waits. */
  private pause({ retryAfterMs = 0 }: Outcome, nowMs: number): void {
    const { requests, refused } = this.recent.allSums(nowMs);
    const all = refused / requests >= 0.5 && (requests >= 4 || this.inFlight === 0);
    if (all) this.pausedUntilMs = Math.max(this.pausedUntilMs, nowMs + retryAfterMs);
  }

  private react(outcome: Outcome, nowMs: number): void {
    const { requests, refused, refusals, overloads } = this.recent.sums(nowMs);
    const isSettled = nowMs - this.recent.sinceMarkMs >= SHORTEST_SPAN_MS;
    const isProbing = this.rate !== undefined && !this.rateIsGuess;
    const { atLeast, share } = isProbing ? this.tooManyProbing : TOO_MANY;
    const mostRefused = share + (isProbing ? this.noise : 0);
    const refusedShare = refused / requests;
    const isLimited =
      (refusals >= atLeast && refusedShare >= mostRefused) ||
      (refusals >= NEARLY_ALL.atLeast && refusedShare >= NEARLY_ALL.share);
    if (outcome.refused > 0 && isLimited) {
      if (isSettled || !this.rate) this.lowerRate(nowMs);
    } else if (
      outcome.overloaded &&
      overloads >= TOO_SLOW.atLeast &&
      overloads / requests >= TOO_SLOW.share
    ) {
      this.window = Math.max(1, this.window * 0.7);
      this.everTooMany = true;
      this.recent.mark(nowMs);
    }
  }

  private lowerRate(nowMs: number): void {
    const { perSecond: goodput, spanMs } = this.recent.goodput(nowMs);
    // Where nothing was answered, the requests themselves may be too heavy.
    const perSecond = goodput > 0 ? goodput * BELOW_GOODPUT : this.heaviestRefused / 2;
    const isSame = Math.abs(perSecond - this.lastLimit) < SAME_LIMIT * this.lastLimit;
    const isHard = isSame && this.noise < HARD_NOISE;
    this.holdMs = isHard ? Math.min(LONGEST_HOLD_MS, this.holdMs * 2) : NOISE_UNTIL_MS;
    this.lastLimit = perSecond;
    this.rateIsGuess = spanMs < SHORTEST_SPAN_MS;
    this.rate = new TokenBucket(Math.max(LOWEST_RATE, perSecond), RATE_BURST_SECONDS, nowMs);
    this.everTooMany = true;
    this.heaviestRefused = 0;
    this.lastRiseMs = nowMs;
    this.lastBindingMs = nowMs;
    this.recent.mark(nowMs);
  }

  private learnNoise(refused: number, nowMs: number): void {
    const sinceMs = nowMs - this.recent.sinceMarkMs;
    if (!this.rate || this.rateIsGuess) return;
    if (sinceMs < SHORTEST_SPAN_MS || sinceMs > NOISE_UNTIL_MS) return;
    this.noise = Math.min(MOST_NOISE, this.noise + (refused - this.noise) * NOISE_WEIGHT);
  }

  private rise(nowMs: number): void {
    if (!this.rate) return;
    const seconds = Math.min(1000, nowMs - this.lastRiseMs) / 1000;
    this.lastRiseMs = nowMs;
    const { refused, requests } = this.recent.sums(nowMs);
    const share = refused / requests;
    if (this.rateIsGuess ? share >= TOO_MANY.share : share - this.noise > HOLD) return;
    const wellMs = nowMs - this.recent.sinceMarkMs - this.holdMs;
    if (wellMs < 0 && !this.rateIsGuess) return;
    const probing = RISE_PER_SECOND * 2 ** Math.floor(wellMs / DOUBLES_EVERY_MS);
    const perSecond = this.rateIsGuess ? FASTEST_RISE : Math.min(FASTEST_RISE, probing);
    this.rate.changeRate(this.rate.perSecond * (1 + perSecond) ** seconds, nowMs);
  }

  private widen(): void {
    const step = this.everTooMany ? 1 / this.window : 1;
    this.window = Math.min(LARGEST_WINDOW, this.window + step);
  }
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

  changeRate(perSecond: number, nowMs: number): void {
    this.refill(nowMs);
    this.perSecond = perSecond;
  }

  private refill(nowMs: number): void {
    const full = this.perSecond * this.burstSeconds;
    const seconds = Math.max(0, nowMs - this.atMs) / 1000;
    this.tokens = Math.min(full, this.tokens + seconds * this.perSecond);
    this.atMs = Math.max(this.atMs, nowMs);
  }
}
