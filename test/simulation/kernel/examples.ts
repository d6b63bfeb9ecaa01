/** Small worlds that show what the kernel does; each prints what it sees into its trace. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { sleep } from '#libs/platform';
import { DeviationError, type Simulation, type World } from './run.js';

const START_MS = Date.UTC(2026, 0, 1);
const MOST_STEPS = 1000;

function example(name: string, run: (world: World) => Promise<void>): Simulation {
  return { name, options: { startMs: START_MS }, run };
}

/** Two processes that add to a number by reading and writing it, which loses an addition if they cross. */
const crossing = example('crossing', async ({ choices, scheduler }) => {
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
    mostSteps: MOST_STEPS,
    afterStep: () => {
      if (stored < added) throw new DeviationError('lost addition', `${stored} of ${added}`);
    },
  });
});

/** Sleeps a day, by a clock that then leaps a second. */
const sleeping = example('sleeping', async ({ scheduler }) => {
  let done = false;
  const wait = async (): Promise<void> => {
    await sleep(86_400_000);
    scheduler.leap(1000);
    scheduler.note(`${new Date().toISOString()} after ${performance.now()} ms`);
    scheduler.note(`random: ${randomUUID()} ${Math.random()}`);
    AbortSignal.timeout(5).addEventListener('abort', () => (done = true));
  };
  scheduler.start('sleeper', () => void wait());
  await scheduler.run({ until: () => done, mostSteps: MOST_STEPS });
});

/** Is killed while a call that outlives it is under way. */
const killed = example('killed', async ({ scheduler }) => {
  const main = async (): Promise<void> => {
    setTimeout(() => {
      scheduler.note('its timer fired');
    }, 10);
    const run = (): void => {
      scheduler.note('its call was made');
    };
    await scheduler.call({
      name: 'commit',
      outlivesProcess: true,
      ends: [{ name: 'done', weight: 1, run }],
    });
    scheduler.note('it was answered');
  };
  const process = scheduler.start('main', () => void main());
  scheduler.kill(process);
  scheduler.note(await scheduler.run({ until: () => false, mostSteps: MOST_STEPS }));
});

/** Gives up a call that is never answered. */
const unanswered = example('unanswered', async ({ scheduler }) => {
  const controller = new AbortController();
  const reasons: unknown[] = [];
  scheduler.start('main', () => {
    setTimeout(() => {
      controller.abort('late');
    }, 10);
    scheduler
      .call({ name: 'ask', signal: controller.signal, ends: [{ name: 'silence', weight: 1 }] })
      .catch((reason: unknown) => reasons.push(reason));
  });
  await scheduler.run({ until: () => reasons.length > 0, mostSteps: MOST_STEPS });
  scheduler.note(`given up: ${reasons.join()}`);
});

/** Handles no rejection. */
const careless = example('careless', async ({ scheduler }) => {
  scheduler.start('main', () => void Promise.reject(new Error('forgotten')));
  await scheduler.run({ until: () => false, mostSteps: MOST_STEPS });
});

export const EXAMPLES: readonly Simulation[] = [crossing, sleeping, killed, unanswered, careless];
