import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FakeClock } from '#libs/testing/clock';
import {
  admit,
  type BreakerOptions,
  type CallHealth,
  type CircuitState,
  CLOSED_CIRCUIT,
  type GateOptions,
  type Passage,
  PartnerGate,
  type Permit,
  settle,
} from './partner-gate.js';

const clock = new FakeClock(0);
const aGate = (options: Partial<GateOptions> = {}): PartnerGate =>
  new PartnerGate({
    clock,
    random: () => 0,
    maxAtOnce: 2,
    maxWaiting: 2,
    longestWaitMs: 2000,
    threshold: 2,
    firstOpenMs: 1000,
    longestOpenMs: 4000,
    ...options,
  });

function leave(passage: Passage, health: 'healthy' | 'failing' = 'healthy'): void {
  if (!passage.open) throw new Error(passage.cause);
  passage.leave(health);
}

describe('a gate', () => {
  it('lets so many through at once, the others in their order, and refuses what is too many', async () => {
    const gate = aGate();
    const first = await Promise.all([gate.pass(), gate.pass()]);
    const order: string[] = [];
    const waiting = ['a', 'b'].map(async (name) => {
      const passage = await gate.pass();
      order.push(name);
      return passage;
    });
    expect(await gate.pass()).toEqual({ open: false, cause: 'too-many-calls' });
    expect(order).toEqual([]);
    leave(first[0]);
    leave(await (waiting[0] as Promise<Passage>));
    leave(await (waiting[1] as Promise<Passage>));
    expect(order).toEqual(['a', 'b']);
    leave(first[1]);
    expect(await Promise.all([gate.pass(), gate.pass()])).toMatchObject([
      { open: true },
      { open: true },
    ]);
  });

  it('gives a place back once only', async () => {
    const gate = aGate({ maxAtOnce: 1, longestWaitMs: 10 });
    const passage = await gate.pass();
    leave(passage);
    leave(passage);
    expect(await gate.pass()).toMatchObject({ open: true });
    expect(await gate.pass()).toEqual({ open: false, cause: 'too-many-calls' });
  });

  it('lets nobody wait for ever, and takes who gave up out of the line', async () => {
    const gate = aGate({ maxAtOnce: 1, longestWaitMs: 20 });
    const first = await gate.pass();
    expect(await gate.pass()).toEqual({ open: false, cause: 'too-many-calls' });
    const abort = new AbortController();
    const waiting = gate.pass(abort.signal);
    abort.abort();
    expect(await waiting).toEqual({ open: false, cause: 'aborted' });
    expect(await gate.pass(abort.signal)).toEqual({ open: false, cause: 'aborted' });
    leave(first);
    expect(await gate.pass()).toMatchObject({ open: true });
  });

  it('refuses while the circuit is open, and keeps no place for what it refused', async () => {
    const gate = aGate({ maxAtOnce: 1 });
    leave(await gate.pass(), 'failing');
    leave(await gate.pass(), 'failing');
    expect(gate.state).toBe('open');
    for (let call = 0; call < 3; call++) {
      expect(await gate.pass()).toEqual({ open: false, cause: 'circuit-open', waitMs: 1000 });
    }
    clock.advance(1000);
    leave(await gate.pass());
    expect(gate.state).toBe('closed');
    clock.set(0);
  });
});

const OPTIONS: BreakerOptions = { threshold: 3, firstOpenMs: 1000, longestOpenMs: 4000 };

/** The circuit with its state and time, so that a test reads as a sequence. */
class Bench {
  state: CircuitState = CLOSED_CIRCUIT;
  nowMs = 0;

  enter(): Permit | number {
    const admission = admit(this.state, this.nowMs, OPTIONS);
    if (!admission.admitted) return admission.waitMs;
    this.state = admission.state;
    return admission.permit;
  }

  leave(permit: Permit | number, health: CallHealth, chance = 0): void {
    if (typeof permit === 'number') throw new Error('not admitted');
    this.state = settle(this.state, { permit, health }, { nowMs: this.nowMs, chance }, OPTIONS);
  }

  call(health: CallHealth, chance = 0): void {
    this.leave(this.enter(), health, chance);
  }

  fail(times = OPTIONS.threshold): void {
    for (let call = 0; call < times; call++) this.call('failing');
  }
}

describe('a circuit', () => {
  it('opens after failures in a row, and only in a row', () => {
    const bench = new Bench();
    bench.fail(2);
    bench.call('healthy');
    bench.fail(2);
    bench.call('neutral');
    expect(bench.state).toMatchObject({ kind: 'closed', failures: 2 });
    bench.call('failing');
    expect(bench.state).toMatchObject({ kind: 'open', untilMs: 1000 });
    expect(bench.enter()).toBe(1000);
  });

  it('lets one probe through when its time is up, and closes by its success', () => {
    const bench = new Bench();
    bench.fail();
    bench.nowMs = 999;
    expect(bench.enter()).toBe(1);
    bench.nowMs = 1000;
    const probe = bench.enter();
    expect(bench.state.kind).toBe('half-open');
    expect(bench.enter()).toBe(OPTIONS.firstOpenMs);
    bench.leave(probe, 'healthy');
    expect(bench.state).toMatchObject({ kind: 'closed', failures: 0 });
  });

  it('stays open twice as long with each probe that fails, up to a limit', () => {
    const bench = new Bench();
    bench.fail();
    const waits: unknown[] = [];
    for (let probe = 0; probe < 4; probe++) {
      waits.push(bench.enter());
      bench.nowMs += Number(waits.at(-1));
      bench.call('failing');
    }
    expect(waits).toEqual([1000, 2000, 4000, 4000]);
  });

  it('begins again with the shortest time after it closed', () => {
    const bench = new Bench();
    bench.fail();
    bench.nowMs += 1000;
    bench.call('failing');
    bench.nowMs += 2000;
    bench.call('healthy');
    bench.fail();
    expect(bench.enter()).toBe(1000);
  });

  it('lets the next call be the probe where one said nothing', () => {
    const bench = new Bench();
    bench.fail();
    bench.nowMs = 1000;
    bench.call('neutral');
    bench.call('healthy');
    expect(bench.state.kind).toBe('closed');
  });

  it('takes calls in flight together for one outage, and none from before for news', () => {
    const bench = new Bench();
    const inFlight = Array.from({ length: 6 }, () => bench.enter());
    for (const permit of inFlight.slice(0, 5)) bench.leave(permit, 'failing');
    expect(bench.state).toMatchObject({ kind: 'open', openings: 1 });
    bench.nowMs = 1000;
    const probe = bench.enter();
    bench.leave(inFlight[5] as Permit, 'healthy');
    expect(bench.state.kind).toBe('half-open');
    bench.leave(probe, 'failing');
    expect(bench.state).toMatchObject({ kind: 'open', openings: 2 });
  });

  it('is open up to half as long by chance', () => {
    const bench = new Bench();
    bench.fail(2);
    bench.call('failing', 1);
    expect(bench.enter()).toBe(500);
  });

  it('does not wait for a clock that was set back', () => {
    const bench = new Bench();
    bench.nowMs = 3_600_000;
    bench.fail();
    bench.nowMs = 0;
    expect(bench.enter()).toEqual({ generation: 2 });
  });

  it('never lets two probes through, never waits longer than its limit, always lets one through in the end', () => {
    const step = fc.oneof(
      fc.constant('enter' as const),
      fc.record({
        leave: fc.nat(9),
        health: fc.constantFrom<CallHealth>('healthy', 'failing', 'neutral'),
        chance: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
      fc.record({ pass: fc.nat(3000) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const bench = new Bench();
        const inFlight: Permit[] = [];
        for (const one of steps) {
          if (one === 'enter') {
            const before = bench.state.kind;
            const entered = bench.enter();
            if (typeof entered !== 'number') inFlight.push(entered);
            expect(before === 'half-open' && typeof entered !== 'number').toBe(false);
            if (typeof entered === 'number') expect(entered).toBeLessThanOrEqual(4000);
          } else if ('pass' in one) bench.nowMs += one.pass;
          else {
            const [permit] = inFlight.splice(one.leave % Math.max(1, inFlight.length), 1);
            if (permit) bench.leave(permit, one.health, one.chance);
          }
        }
        for (const permit of inFlight) bench.leave(permit, 'neutral');
        bench.nowMs += OPTIONS.longestOpenMs;
        expect(typeof bench.enter()).toBe('object');
      }),
    );
  });
});
