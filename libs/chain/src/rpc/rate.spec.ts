/** The rate against simulated endpoints, millisecond by millisecond, without a real clock. */
import { describe, expect, it } from '@jest/globals';
import { randomFrom } from '#libs/testing/seeds';
import { type Budget, type Load, Rate, type Ticket } from './rate.js';

type Verdict = 'ok' | 'refused' | 'overloaded';

/** The answer of an endpoint to a request of `units` compute units at this time. */
type Endpoint = (units: number, nowMs: number) => Verdict;

interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

const LOAD: Load = { calls: 2, computeUnits: 91 };
const LATENCY_MS = 20;

/** An endless demand against one endpoint. */
class Simulation {
  readonly rate: Rate;
  private readonly log: { atMs: number; verdict: Verdict; units: number; calls: number }[] = [];
  private readonly flying: { ticket: Ticket; verdict: Verdict; endsMs: number }[] = [];
  private nowMs = 0;

  constructor(
    private readonly endpoint: Endpoint,
    private readonly load: Load = LOAD,
    budget?: Budget,
  ) {
    this.rate = new Rate(budget, 0);
  }

  runUntil(endMs: number, retryAfterMs?: number): this {
    for (; this.nowMs < endMs; this.nowMs++) {
      while (this.flying[0] && this.flying[0].endsMs <= this.nowMs) this.land(retryAfterMs);
      if (this.rate.pausedMs(this.nowMs) > 0) continue;
      while (this.rate.waitMs(this.loadNow, this.nowMs) === 0) {
        const load = this.loadNow;
        const ticket = this.rate.start(load, this.nowMs);
        const verdict = this.endpoint(load.computeUnits, this.nowMs);
        this.flying.push({ ticket, verdict, endsMs: this.nowMs + LATENCY_MS });
      }
    }
    return this;
  }

  /** Compute units a second that were answered. */
  goodput({ fromMs, toMs }: Stretch): number {
    const answered = this.within({ fromMs, toMs }).filter(({ verdict }) => verdict === 'ok');
    return answered.reduce((sum, { units }) => sum + units, 0) / ((toMs - fromMs) / 1000);
  }

  refusedShare(stretch: Stretch): number {
    return this.refused(stretch) / this.within(stretch).length;
  }

  refused(stretch: Stretch): number {
    return this.within(stretch).filter(({ verdict }) => verdict === 'refused').length;
  }

  callsPerSecond({ fromMs, toMs }: Stretch): number {
    const calls = this.within({ fromMs, toMs }).reduce((sum, one) => sum + one.calls, 0);
    return calls / ((toMs - fromMs) / 1000);
  }

  private get loadNow(): Load {
    const { computeUnits } = this.rate.heaviest;
    return this.load.computeUnits <= computeUnits
      ? this.load
      : { calls: 1, computeUnits: Math.max(16, computeUnits) };
  }

  private land(retryAfterMs: number | undefined): void {
    const { ticket, verdict } = this.flying.shift() as (typeof this.flying)[number];
    const { computeUnits, calls } = ticket.load;
    const ok = verdict === 'ok';
    this.rate.end(
      ticket,
      {
        answeredUnits: ok ? computeUnits : 0,
        refused: verdict === 'refused' ? 1 : 0,
        overloaded: verdict === 'overloaded',
        retryAfterMs: verdict === 'refused' ? retryAfterMs : undefined,
      },
      this.nowMs,
    );
    this.log.push({ atMs: ticket.startedMs, verdict, units: computeUnits, calls });
  }

  private within({ fromMs, toMs }: Stretch): typeof this.log {
    return this.log.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
  }
}

const perfect: Endpoint = () => 'ok';

function noisy(seed: number): Endpoint {
  const random = randomFrom(seed);
  return () => {
    const drawn = random();
    if (drawn < 0.05) return 'refused';
    return drawn < 0.1 ? 'overloaded' : 'ok';
  };
}

/** Answers `unitsPerSecond` units in each second of the clock. */
function fixedWindow(unitsPerSecond: number): Endpoint {
  let [second, used] = [0, 0];
  return (units, nowMs) => {
    if (Math.floor(nowMs / 1000) !== second) [second, used] = [Math.floor(nowMs / 1000), 0];
    if (used + units > unitsPerSecond) return 'refused';
    used += units;
    return 'ok';
  };
}

/** A token bucket of one second: `unitsPerSecond` units flow in each second. */
function bucket(unitsPerSecond: number): Endpoint {
  let [atMs, tokens] = [0, unitsPerSecond];
  return (units, nowMs) => {
    tokens = Math.min(unitsPerSecond, tokens + ((nowMs - atMs) / 1000) * unitsPerSecond);
    atMs = nowMs;
    if (tokens < units) return 'refused';
    tokens -= units;
    return 'ok';
  };
}

const LATER = { fromMs: 10_000, toMs: 70_000 };
/** The most that the window lets through. */
const FULL = new Simulation(perfect).runUntil(15_000).goodput({ fromMs: 10_000, toMs: 15_000 });

describe('the rate of an endpoint', () => {
  it('lets a good endpoint have all of its window within a second', () => {
    const one = new Simulation(perfect).runUntil(1_000);
    expect(one.rate.parallelism(LATENCY_MS)).toBe(24);
  });

  it.each([1, 2])('keeps its speed under random faults (seed %i)', (seed) => {
    const one = new Simulation(noisy(seed)).runUntil(LATER.toMs);
    // The endpoint answers nine of ten requests at best.
    expect(one.goodput(LATER) / FULL).toBeGreaterThan(0.8);
    expect(one.rate.parallelism(LATENCY_MS)).toBeGreaterThan(12);
  });

  it.each([1, 2])('comes back from a wrong conclusion under random faults (seed %i)', (seed) => {
    const noise = noisy(seed);
    const limited = bucket(500);
    const one = new Simulation((units, nowMs) => {
      const drawn = noise(units, nowMs);
      return nowMs < 10_000 && drawn === 'ok' ? limited(units, nowMs) : drawn;
    }).runUntil(60_000);
    expect(one.goodput({ fromMs: 40_000, toMs: 60_000 }) / FULL).toBeGreaterThan(0.75);
  });

  describe.each<[string, (units: number) => Endpoint]>([
    ['in each second', fixedWindow],
    ['by a bucket', bucket],
  ])('with a hard budget %s', (_name, endpoint) => {
    it.each([
      [500, undefined],
      [5_000, undefined],
      [500, 1000],
      [5_000, 1000],
    ])('of %i units finds the rate (Retry-After %p)', (units, retryAfterMs) => {
      const one = new Simulation(endpoint(units)).runUntil(LATER.toMs, retryAfterMs);
      // The most that the endpoint can answer in whole requests.
      const most = endpoint === fixedWindow ? units - (units % 91) : units;
      expect(one.goodput(LATER) / most).toBeGreaterThan(0.85);
      expect(one.refusedShare(LATER)).toBeLessThan(0.1);
    });
  });

  it('loses few requests before it finds a limit', () => {
    const one = new Simulation(bucket(500), { calls: 8, computeUnits: 128 }).runUntil(1_000);
    expect(one.refused({ fromMs: 0, toMs: 1_000 })).toBeLessThan(8);
  });

  it('makes requests lighter that are too heavy for the budget', () => {
    const heavy = { calls: 1000, computeUnits: 16_000 };
    const one = new Simulation(bucket(5_000), heavy).runUntil(LATER.toMs);
    expect(one.goodput(LATER)).toBeGreaterThan(0.7 * 5_000);
  });

  it('pauses where everything is refused and a time was named', () => {
    const one = new Rate(undefined, 0);
    const ticket = one.start(LOAD, 0);
    const outcome = { answeredUnits: 0, refused: 1, overloaded: false };
    one.end(ticket, { ...outcome, retryAfterMs: 7000 }, 10);
    expect(one.pausedMs(10)).toBe(7000);
    expect(one.pausedMs(7010)).toBe(0);
  });

  it('narrows its window under overload, and widens it again', () => {
    const one = new Simulation((_units, nowMs) => (nowMs < 5_000 ? 'overloaded' : 'ok'));
    one.runUntil(5_000);
    expect(one.rate.parallelism(LATENCY_MS)).toBe(1);
    one.runUntil(20_000);
    expect(one.rate.parallelism(LATENCY_MS)).toBe(24);
  });

  it.each<[Budget, Load]>([
    [{ perSecond: 25, unit: 'calls' }, LOAD],
    [{ perSecond: 500, unit: 'computeUnits' }, LOAD],
    [
      { perSecond: 500, unit: 'computeUnits' },
      { calls: 1, computeUnits: 16 },
    ],
  ])('keeps a budget of %j strictly', (budget, load) => {
    const one = new Simulation(perfect, load, budget).runUntil(20_000);
    const used = (from: number): number => {
      const stretch = { fromMs: from, toMs: from + 1000 };
      return budget.unit === 'calls' ? one.callsPerSecond(stretch) : one.goodput(stretch);
    };
    for (let from = 0; from < 19_000; from += 100) {
      // A burst of a fifth of a second, and the request in flight.
      expect(used(from)).toBeLessThanOrEqual(budget.perSecond * 1.2 + load[budget.unit]);
    }
    expect(used(10_000)).toBeGreaterThan(budget.perSecond * 0.85);
  });
});
