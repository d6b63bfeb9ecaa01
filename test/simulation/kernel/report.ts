import { firstFailure, type RunResult, type Simulation } from './run.js';
import { shrink } from './shrink.js';

/** @throws Error with the report of the first seed that fails */
export async function requireNoFailure(
  simulation: Simulation,
  seeds: Iterable<number>,
): Promise<void> {
  const failed = await firstFailure(simulation, seeds);
  if (failed === undefined) return;
  throw new Error(failureReport(simulation, failed, await shrink(simulation, failed)));
}

/** What a person reads of a failing seed: the deviation, how to repeat it, and the shortened trace. */
export function failureReport({ name }: Simulation, failed: RunResult, shrunk: RunResult): string {
  return [
    `${name}: seed ${failed.seed} fails: ${failed.failure?.message ?? ''}`,
    `Repeat it: npm run simulate -- ${name} --seed ${failed.seed}`,
    `${failed.steps} steps, shortened to ${shrunk.steps}:`,
    ...shrunk.trace.lines,
    shrunk.failure?.message ?? '',
  ].join('\n');
}
