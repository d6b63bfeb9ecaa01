/** Makes a failing run shorter and plainer, as long as it fails with the same kind of deviation. */
import { type Script } from './choices.js';
import { type RunResult, runOnce, type Simulation } from './run.js';

/** How many simpler runs are tried. */
const MOST_RUNS = 1500;
/** Real time after which the best so far is taken. */
const MOST_MS = 30_000;

export async function shrink(simulation: Simulation, failed: RunResult): Promise<RunResult> {
  let best = failed;
  let runs = 0;
  const endMs = performance.now() + MOST_MS;
  const isOver = (): boolean => runs >= MOST_RUNS || performance.now() > endMs;
  const attempt = async (script: Script): Promise<boolean> => {
    if (isOver()) return false;
    runs++;
    const result = await runOnce(simulation, failed.seed, script);
    if (result.failure?.kind !== failed.failure?.kind) return false;
    if (weightOf(result) >= weightOf(best)) return false;
    best = result;
    return true;
  };
  for (let before = Infinity; weightOf(best) < before && runs < MOST_RUNS;) {
    before = weightOf(best);
    for (const name of Object.keys(best.script)) await shrinkStream(name, () => best, attempt);
  }
  return best;
}

async function shrinkStream(
  name: string,
  best: () => RunResult,
  attempt: (script: Script) => Promise<boolean>,
): Promise<void> {
  const values = (): readonly number[] => best().script[name] ?? [];
  const change = (to: readonly number[]): Promise<boolean> =>
    attempt({ ...best().script, [name]: to });
  if (values().every((value) => value === 0)) return;
  if (await change([])) return;
  for (let size = values().length; size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < values().length;) {
      const now = values();
      const part = now.slice(at, at + size);
      const isPlain = part.every((value) => value === 0);
      const isShorter = await change([...now.slice(0, at), ...now.slice(at + size)]);
      if (isShorter) continue;
      if (!isPlain) await change(now.map((value, i) => (i >= at && i < at + size ? 0 : value)));
      at += size;
    }
  }
}

/** Steps weigh most, then choices that are not plain. */
function weightOf({ steps, script }: RunResult): number {
  const notPlain = Object.values(script).flat();
  return steps * 1000 + notPlain.filter((value) => value !== 0).length;
}
