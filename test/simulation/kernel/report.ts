import { type RunResult, type Simulation } from './run.js';

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
