/**
 * How fast one endpoint may be asked. Pure: time is handed in and nothing waits here.
 *
 * Two limits are learned: how many requests may be in flight (the window), and how many compute units a second are answered (the
 * rate, without one until the endpoint refuses). Both follow the share of refused requests over the last seconds, never a single
 * refusal: an endpoint that refuses one request in twenty at random keeps its speed. A rate is set from what was answered in that
 * time, and rises again while little is refused, the faster the longer nothing was. A budget of the operator is kept besides.
 */
import { type Load, type Outcome, RecentOutcomes } from './outcome.js';

export interface Budget {
  readonly perSecond: number;
  /** A batch counts as its calls. */
  readonly unit: 'calls' | 'computeUnits';
}

export interface Ticket {
  readonly load: Load;
  readonly startedMs: number;
  /** The window was in full use. */
  readonly full: boolean;
}

const FIRST_WINDOW = 4;
const LARGEST_WINDOW = 24;
/** From how many bad requests, and which share of all, a limit is concluded; below is noise. */
const TOO_MANY = { atLeast: 8, share: 0.25 };
/** So many of nearly all are enough. */
const NEARLY_ALL = { atLeast: 4, share: 0.6 };
const TOO_SLOW = { atLeast: 5, share: 0.2 };
/** The same while the rate is probed upwards, beyond the noise. */
const TOO_MANY_PROBING = { atLeast: 3, share: 0.07 };
/** How fast the noise is learned: the share that is refused right after the rate was lowered, when no limit can be met. */
const NOISE_WEIGHT = 0.03;
const MOST_NOISE = 0.15;
/** From the second second after a change until then the noise is measured, and the rate does not rise. */
const NOISE_UNTIL_MS = 2_000;
/** A limit that was found where it was before is probed less often, each time half as often, down to this. */
const LONGEST_HOLD_MS = 8_000;
const SAME_LIMIT = 0.2;
const HARD_NOISE = 0.01;
/** With more than this, beyond the noise, the rate does not rise. */
const HOLD = 0.04;
const BELOW_GOODPUT = 0.95;
const LOWEST_RATE = 50;
const RISE_PER_SECOND = 0.03;
const FASTEST_RISE = 1;
/** The rise doubles each time that it went well for so long. */
const DOUBLES_EVERY_MS = 2_500;
/** A rate that kept no request waiting for so long is forgotten. */
const IDLE_RATE_MS = 10_000;
/** A limit that was just set is given so long to show what it does; what is measured in less is no rate yet. */
const SHORTEST_SPAN_MS = 1_000;
/** Without a request for so long, what was seen before says nothing. */
const IDLE_MS = 1_000;
const RATE_BURST_SECONDS = 0.1;
const BUDGET_BURST_SECONDS = 0.2;

export class Throttle {
  private window = FIRST_WINDOW;
  private everTooMany = false;
  private inFlight = 0;
  private rate: TokenBucket | undefined;
  /** The last rate came from less than a second: it may be far too low. */
  private rateIsGuess = false;
  private readonly budget: TokenBucket | undefined;
  private readonly recent: RecentOutcomes;
  private pausedUntilMs = 0;
  private noise = 0;
  /** How long the rate does not rise after it was lowered. */
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

  /** Until the endpoint may be asked at all: it refused nearly everything and named a time. */
  pausedMs(nowMs: number): number {
    return Math.max(0, this.pausedUntilMs - nowMs);
  }

  /** Until a request of this weight may start; Infinity where first another one has to end. */
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

  /** @param outcome undefined where the request says nothing of the endpoint, as one that we gave up ourselves */
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

  /** How many requests at once are of use, by the window and by the rate. */
  parallelism(latencyMs: number): number {
    const units = this.limit?.unit === 'calls' ? Infinity : (this.budget?.perSecond ?? Infinity);
    const perSecond = Math.min(units, this.rate?.perSecond ?? Infinity) / (this.meanUnits || 1);
    if (perSecond === Infinity) return this.slots;
    return Math.min(this.slots, Math.ceil((perSecond * latencyMs) / 1000) + 1);
  }

  get hasFreeSlot(): boolean {
    return this.inFlight < this.slots;
  }

  /** A heavier request would take the share of many, or could never be answered. */
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

  /** An endpoint that refused nothing below its limit says at once where that is. */
  private get tooManyProbing(): typeof TOO_MANY_PROBING {
    return this.noise < HARD_NOISE ? { atLeast: 1, share: 0 } : TOO_MANY_PROBING;
  }

  /** For everyone, where nearly everything was refused; else only the refused request itself waits. */
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
    // Where nothing at all was answered, the requests themselves may be too heavy.
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

/** Tokens that flow in at a steady rate, up to a short burst. Time is handed in; nothing here waits. */
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

  /** Until so many may be taken. More than a full bucket may be taken as soon as it is full; the debt is paid back afterwards. */
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
