/** Runs a simulation once: with a seed, or with a script of choices. */
import { Choices, type Script } from './choices.js';
import { place } from './place.js';
import { enterRealm, settled } from './realm.js';
import { Scheduler, type SchedulerOptions } from './scheduler.js';
import { Trace } from './trace.js';

export interface World {
  readonly choices: Choices;
  readonly scheduler: Scheduler;
}

export interface Simulation {
  readonly name: string;
  readonly options: SchedulerOptions;
  /** Builds a world and lets it run. @throws DeviationError where something is not as it must be */
  run(world: World): Promise<void>;
}

/** The world is not as it must be. Two deviations of one kind count as the same fault when a run is shortened. */
export class DeviationError extends Error {
  constructor(
    readonly kind: string,
    detail: string,
  ) {
    super(`${kind}: ${detail}`);
    this.name = 'DeviationError';
  }
}

export interface RunResult {
  readonly seed: number;
  /** Undefined where everything was as it must be. */
  readonly failure: { readonly kind: string; readonly message: string } | undefined;
  readonly trace: Trace;
  readonly script: Script;
  readonly steps: number;
}

export async function runOnce(
  simulation: Simulation,
  seed: number,
  script?: Script,
): Promise<RunResult> {
  const choices = new Choices(seed, script);
  const trace = new Trace();
  let unhandled: { readonly reason: unknown } | undefined;
  const onUnhandled = (reason: unknown): void => {
    unhandled ??= { reason };
  };
  const allSettled = async (): Promise<void> => {
    await settled();
    if (unhandled) throw new DeviationError('unhandled rejection', textOf(unhandled.reason));
  };
  const scheduler = new Scheduler(choices, trace, simulation.options, allSettled);
  process.on('unhandledRejection', onUnhandled);
  const leave = enterRealm();
  let failure: RunResult['failure'];
  try {
    const inWorld = { scheduler, process: undefined };
    await place.run(inWorld, () => simulation.run({ choices, scheduler }));
  } catch (error) {
    const kind = error instanceof DeviationError ? error.kind : textOf(error).split('\n', 1)[0];
    failure = { kind: kind ?? '', message: textOf(error) };
    scheduler.note(`FAILED ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    leave();
    await settled();
    process.off('unhandledRejection', onUnhandled);
  }
  return { seed, failure, trace, script: choices.drawn(), steps: scheduler.steps };
}

/**
 * Runs seeds one after the other.
 * @param onResult gets each result
 * @returns the first failure; undefined where there is none
 */
export async function firstFailure(
  simulation: Simulation,
  seeds: Iterable<number>,
  onResult: (result: RunResult) => void = () => undefined,
): Promise<RunResult | undefined> {
  const leave = enterRealm();
  const { stackTraceLimit } = Error;
  // A run makes hundreds of errors, whose stacks cost more than they do.
  Error.stackTraceLimit = 0;
  let failed: number | undefined;
  try {
    for (const seed of seeds) {
      const result = await runOnce(simulation, seed);
      onResult(result);
      if (result.failure === undefined) continue;
      failed = seed;
      break;
    }
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    leave();
  }
  return failed === undefined ? undefined : runOnce(simulation, failed);
}

/** The whole numbers from `first` on. */
export function* seedsFrom(first: number, count: number): Generator<number> {
  for (let seed = first; seed < first + count; seed++) yield seed;
}

function textOf(error: unknown): string {
  if (error instanceof DeviationError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
