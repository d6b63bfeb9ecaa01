/**
 * Fails where a program takes noticeably more CPU than it did when its mark was last accepted. The short form of each
 * benchmark with a floor runs beside its floor; what is compared is a ratio within one run, so the machine hardly
 * matters. The best of three rounds counts, because other work on the machine only makes a round worse.
 *
 *   npm run bench -- gate [--only backfill,days]
 *     [--accept NAME,… | all]   writes what was measured as the new marks into bench/baseline.json. A mark may fall at
 *                               any time. It rises only in a commit of its own, which says why. Look at the rounds
 *                               before: the best of a noisy run is a mark that no later run meets.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { judge, type MeasuredMark, readBaseline, writeBaseline } from './gate/baseline.js';
import { GATED } from './gate/gated.js';
import { fixed, table } from './support/figures.js';
import { readOptions } from './support/options.js';
import { say } from './support/progress.js';
import { commitText, type MeasuredMarks } from './support/report.js';

const options = readOptions({ only: '', accept: '' });

async function main(): Promise<void> {
  const only = options.only === '' ? undefined : options.only.split(',');
  const unknown = only?.find((name) => !GATED.some(({ bench }) => bench === name));
  if (unknown !== undefined)
    throw new Error(`${unknown} is none of ${GATED.map(({ bench }) => bench).join(', ')}`);
  const startMs = performance.now();
  // Read now, because the working tree may be another when the run ends.
  const commit = commitText();
  const measured: MeasuredMark[] = [];
  for (const { bench, args, marks } of GATED) {
    if (only && !only.includes(bench)) continue;
    say(`${bench} …`);
    const ratios = await ratiosOf(bench, args);
    for (const name of marks) measured.push({ name, rounds: ratios[name] ?? [] });
  }
  const verdicts = judge(measured, readBaseline());
  table(
    ['mark', 'best of rounds', 'rounds', 'accepted', 'allowed', ''],
    verdicts.map(({ name, rounds, best, mark, allowed, isRight }) => [
      name,
      fixed(best),
      rounds.map((ratio) => fixed(ratio)).join(' '),
      mark === undefined ? '-' : `${fixed(mark.ratio)} at ${mark.commit}`,
      allowed === undefined ? '-' : fixed(allowed),
      isRight ? 'right' : mark === undefined ? 'NO MARK' : 'ABOVE',
    ]),
  );
  say(`${Math.round((performance.now() - startMs) / 1000)} s`);
  if (options.accept !== '') {
    writeBaseline(verdicts, options.accept, commit);
    return;
  }
  if (verdicts.every(({ isRight }) => isRight)) return;
  say('Above the mark: profile what became slower. See the header of bench/gate.ts.');
  process.exitCode = 1;
}

/** Runs a benchmark. Its tables go to the output of the gate. */
async function ratiosOf(bench: string, args: readonly string[]): Promise<MeasuredMarks> {
  const folder = mkdtempSync(join(tmpdir(), 'lowmark-gate-'));
  const file = join(folder, 'marks.json');
  try {
    const program = join(import.meta.dirname, `${bench}.js`);
    const child = spawn(process.execPath, [program, ...args, '--marks', file], {
      stdio: 'inherit',
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`the benchmark ${bench} failed`);
    return JSON.parse(readFileSync(file, 'utf8')) as MeasuredMarks;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

await main();
