/** The marks of bench/baseline.json: the ratio of each benchmark that was last accepted, and at which commit. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = join('bench', 'baseline.json');
/** A ratio may be a quarter above its mark: what the same program measures on a busy machine. */
const ALLOWED = 1.25;

export interface Mark {
  readonly ratio: number;
  readonly commit: string;
}

export type Baseline = Readonly<Record<string, Mark>>;

export interface MeasuredMark {
  readonly name: string;
  /** The ratio of each round. */
  readonly rounds: readonly number[];
}

export interface Verdict extends MeasuredMark {
  readonly best: number;
  readonly mark: Mark | undefined;
  readonly allowed: number | undefined;
  readonly isRight: boolean;
}

export function judge(measured: readonly MeasuredMark[], baseline: Baseline): Verdict[] {
  return measured.map(({ name, rounds }) => {
    // Infinity where nothing was measured, which is above every mark.
    const best = Math.min(...rounds);
    const mark = baseline[name];
    const allowed = mark && mark.ratio * ALLOWED;
    return { name, rounds, best, mark, allowed, isRight: allowed !== undefined && best <= allowed };
  });
}

/** @param names the marks to replace, separated by commas, or `all` @throws Error where one was not measured */
export function accepted(
  baseline: Baseline,
  verdicts: readonly Verdict[],
  { names, commit }: { readonly names: string; readonly commit: string },
): Baseline {
  const wanted = names === 'all' ? verdicts.map(({ name }) => name) : names.split(',');
  const marks = wanted.map((name) => {
    const best = verdicts.find((verdict) => verdict.name === name)?.best ?? Infinity;
    if (!Number.isFinite(best)) throw new Error(`--accept: ${name} was not measured`);
    return [name, { ratio: Number(best.toFixed(2)), commit }] as const;
  });
  return { ...baseline, ...Object.fromEntries(marks) };
}

export function readBaseline(): Baseline {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Baseline;
}

export function writeBaseline(verdicts: readonly Verdict[], names: string, commit: string): void {
  const next = accepted(readBaseline(), verdicts, { names, commit });
  writeFileSync(FILE, `${JSON.stringify(next, undefined, 2)}\n`);
}
