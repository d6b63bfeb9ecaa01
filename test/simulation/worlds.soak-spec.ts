/** More worlds of the simulations than simulation.int-spec.ts runs. */
import { expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const SEEDS = 10_000;
const LIMIT_MS = 3 * 3_600_000;

it.each(['core', 'engine'])(
  `the %s deviates with none of the seeds 1 to ${SEEDS}`,
  async (name) => {
    const program = ['--max-semi-space-size=64', 'dist/test/simulation/main.js', name];
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...program,
      ...['--seeds', String(SEEDS)],
    ]).catch((error: unknown) => error as { readonly stdout: string });
    expect(stdout).toContain(`${name}: ${SEEDS} seeds,`);
    expect(stdout).not.toMatch(/^seed \d+:/m);
  },
  LIMIT_MS,
);
