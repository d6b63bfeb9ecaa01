/**
 * The simulations as programs, which is how `npm run simulate` runs them: they replace the clock, the timers and the
 * random numbers of their process.
 */
import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';

/** worlds.soak-spec.ts runs more of them. */
const SEEDS = 200;
const LIMIT_MS = 900_000;

interface Ended {
  readonly code: number;
  readonly output: string;
}

function simulate(...args: readonly string[]): Promise<Ended> {
  const node = ['--max-semi-space-size=64', 'dist/test/simulation/main.js', ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, node, { maxBuffer: 2 ** 28 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), output: `${stdout}${stderr}` });
    });
  });
}

const seeds = (first: number, count: number): string[] => [
  ...['--seed', String(first)],
  ...['--seeds', String(count)],
];

describe.each(['core', 'engine'])('the %s in simulated worlds', (name) => {
  it('makes the same trace from the same seed, byte for byte', async () => {
    const [one, again] = await Promise.all(
      ['3', '3'].map((seed) => simulate(name, '--seed', seed)),
    );
    expect(again).toEqual(one);
    expect(one?.code).toBe(0);
  });

  it(
    `deviates with none of the seeds 1 to ${SEEDS}`,
    async () => {
      const { code, output } = await simulate(name, ...seeds(1, SEEDS));
      expect(output).toContain(`${name}: ${SEEDS} seeds,`);
      expect(code).toBe(0);
    },
    LIMIT_MS,
  );
});

it.each([
  { seed: 5322, what: 'a held deduction arrives after the partner found nothing to revert' },
  { seed: 32775, what: 'unsigned answers leave a revert unknown for its seven days' },
])('the engine does not deviate with seed $seed: $what', async ({ seed }) => {
  const { code, output } = await simulate('engine', ...seeds(seed, 1));
  expect(output).toContain('engine: 1 seeds,');
  expect(code).toBe(0);
});
