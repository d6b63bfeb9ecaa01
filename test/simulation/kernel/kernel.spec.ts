import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { sleep } from '#libs/platform';
import { DeviationError, runOnce, shrink, type Simulation, type World } from './index.js';

const START_MS = Date.UTC(2026, 0, 1);

function simulation(run: (world: World) => Promise<void>): Simulation {
  return { name: 'test', options: { startMs: START_MS }, run };
}

/** Two processes that add to a number by reading and writing it, which loses an addition if they cross. */
const CROSSING = simulation(async ({ choices, scheduler }) => {
  let stored = 0;
  const wanted = choices.between('size', 1, 8);
  let added = 0;
  const call = <T>(name: string, run: () => T) =>
    scheduler.call({
      name,
      ends: [
        { name: 'done', weight: 9, run },
        {
          name: 'fails',
          weight: 1,
          run: (): T => {
            throw new Error('lost');
          },
        },
      ],
    });
  const add = async (): Promise<void> => {
    for (let left = wanted; left > 0;) {
      try {
        const before = await call('read', () => stored);
        await sleep(choices.between('pause', 0, 50));
        await call('write', () => (stored = before + 1));
        added++;
        left--;
      } catch {
        await pause(1000);
      }
    }
  };
  for (const name of ['one', 'two']) scheduler.start(name, () => void add());
  await scheduler.run({
    until: () => added === 2 * wanted,
    mostSteps: 1000,
    afterStep: () => {
      if (stored < added) throw new DeviationError('lost addition', `${stored} of ${added}`);
    },
  });
});

async function firstFailure() {
  for (let seed = 1; ; seed++) {
    const result = await runOnce(CROSSING, seed);
    if (result.failure) return result;
  }
}

describe('the kernel of the simulations', () => {
  it('makes the same trace from the same seed, and another from another', async () => {
    const [one, again, other] = [
      await runOnce(CROSSING, 7),
      await runOnce(CROSSING, 7),
      await runOnce(CROSSING, 8),
    ];
    expect(again.trace.lines).toEqual(one.trace.lines);
    expect(again.trace.hash()).toBe(one.trace.hash());
    expect(other.trace.hash()).not.toBe(one.trace.hash());
  });

  it('repeats a run from its script', async () => {
    const failed = await firstFailure();
    const again = await runOnce(CROSSING, failed.seed, failed.script);
    expect(again.trace.lines).toEqual(failed.trace.lines);
  });

  it('shortens a failing run to what makes it fail', async () => {
    const failed = await firstFailure();
    const shrunk = await shrink(CROSSING, failed);
    expect(shrunk.failure?.kind).toBe('lost addition');
    // One addition of each, crossed: two reads, two pauses, two writes.
    expect(shrunk.script['size']).toEqual([0]);
    expect(shrunk.steps).toBe(6);
  });

  it('replaces clock, timers and random numbers for the time of a run', async () => {
    const seen: unknown[] = [];
    const waits = simulation(async ({ scheduler }) => {
      let done = false;
      const wait = async (): Promise<void> => {
        await sleep(86_400_000);
        scheduler.leap(1000);
        seen.push(new Date().toISOString(), performance.now(), randomUUID(), Math.random());
        const late = AbortSignal.timeout(5);
        late.addEventListener('abort', () => (done = true));
      };
      scheduler.start('sleeper', () => void wait());
      await scheduler.run({ until: () => done, mostSteps: 10 });
    });
    const before = Date.now();
    await runOnce(waits, 1);
    await runOnce(waits, 1);
    expect(seen.slice(0, 2)).toEqual(['2026-01-02T00:00:01.000Z', 86_400_000]);
    expect(seen.slice(4)).toEqual(seen.slice(0, 4));
    expect(Date.now() - before).toBeLessThan(60_000);
  });

  it('never lets a killed process run again, but makes its calls that outlive it', async () => {
    const seen: string[] = [];
    const killed = simulation(async ({ scheduler }) => {
      const main = async (): Promise<void> => {
        setTimeout(() => seen.push('timer'), 10);
        await scheduler.call({
          name: 'commit',
          outlivesProcess: true,
          ends: [{ name: 'done', weight: 1, run: () => seen.push('committed') }],
        });
        seen.push('answered');
      };
      const process = scheduler.start('main', () => void main());
      scheduler.kill(process);
      expect(await scheduler.run({ until: () => false, mostSteps: 10 })).toBe('idle');
    });
    expect((await runOnce(killed, 1)).failure).toBeUndefined();
    expect(seen).toEqual(['committed']);
  });

  it('rejects a call that is never answered when its signal aborts', async () => {
    const seen: unknown[] = [];
    const silent = simulation(async ({ scheduler }) => {
      const controller = new AbortController();
      const call = { name: 'ask', signal: controller.signal };
      scheduler.start('main', () => {
        setTimeout(() => {
          controller.abort('late');
        }, 10);
        scheduler
          .call({ ...call, ends: [{ name: 'silence', weight: 1 }] })
          .catch((reason: unknown) => seen.push(reason));
      });
      await scheduler.run({ until: () => seen.length > 0, mostSteps: 10 });
    });
    expect((await runOnce(silent, 1)).failure).toBeUndefined();
    expect(seen).toEqual(['late']);
  });

  it('counts a rejection that no one handles as a failure', async () => {
    const careless = simulation(async ({ scheduler }) => {
      scheduler.start('main', () => void Promise.reject(new Error('forgotten')));
      await scheduler.run({ until: () => false, mostSteps: 10 });
    });
    expect((await runOnce(careless, 1)).failure?.kind).toBe('unhandled rejection');
  });
});
