/**
 * Runs simulated worlds, each decided by its seed.
 *
 *   npm run simulate -- core --seed 17        prints the trace of one seed
 *   npm run simulate -- core --seeds 20000    runs many, from --seed on; stops at the first that fails
 *
 * The trace of a failing seed is shortened first, unless --no-shrink is given.
 */
import { parseArgs } from 'node:util';
import {
  firstFailure,
  runOnce,
  type RunResult,
  seedsFrom,
  shrink,
  type Simulation,
} from './kernel/index.js';

const SIMULATIONS: Record<string, () => Promise<Simulation>> = {
  core: async () => (await import('./core/core.simulation.js')).coreSimulation,
  engine: async () => (await import('./engine/engine.simulation.js')).engineSimulation,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string' },
    'no-shrink': { type: 'boolean', default: false },
  },
});
const load = SIMULATIONS[positionals[0] ?? ''];
if (load === undefined) {
  console.error(`Name a simulation: ${Object.keys(SIMULATIONS).join(', ')}`);
  process.exit(2);
}
const simulation = await load();
const first = Number(values.seed);
if (values.seeds === undefined) await runOne();
else await runMany(Number(values.seeds));

async function runOne(): Promise<void> {
  const result = await runOnce(simulation, first);
  if (result.failure) await report(result);
  else console.log([...result.trace.lines, `trace ${result.trace.hash()}`].join('\n'));
}

async function runMany(count: number): Promise<void> {
  const [startedMs, before] = [performance.now(), process.cpuUsage()];
  let [runs, steps] = [0, 0];
  const failed = await firstFailure(simulation, seedsFrom(first, count), (result) => {
    steps += result.steps;
    if (++runs % 1000 === 0) console.log(`${runs} seeds, ${steps} steps`);
  });
  if (failed) await report(failed);
  const seconds = (performance.now() - startedMs) / 1000;
  const { user, system } = process.cpuUsage(before);
  const cpuSeconds = ((user + system) / 1e6).toFixed(1);
  console.log(
    `${simulation.name}: ${runs} seeds, ${steps} steps in ${seconds.toFixed(1)} s, ${cpuSeconds} s of CPU`,
  );
}

async function report(failed: RunResult): Promise<void> {
  console.log(`seed ${failed.seed}: ${failed.failure?.kind ?? ''}`);
  process.exitCode = 1;
  if (values['no-shrink']) return;
  console.log(reportOf(failed, await shrink(simulation, failed)));
}

/** The report of a failing seed: the deviation, how to repeat it, and the shortened trace. */
function reportOf(failed: RunResult, shrunk: RunResult): string {
  return [
    `${simulation.name}: seed ${failed.seed} fails: ${failed.failure?.message ?? ''}`,
    `Repeat it: npm run simulate -- ${simulation.name} --seed ${failed.seed}`,
    `${failed.steps} steps, shortened to ${shrunk.steps}:`,
    ...shrunk.trace.lines,
    shrunk.failure?.message ?? '',
  ].join('\n');
}
