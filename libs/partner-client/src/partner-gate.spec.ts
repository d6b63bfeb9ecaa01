import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '#libs/testing';
import { type GateOptions, type Passage, PartnerGate } from './partner-gate.js';

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
