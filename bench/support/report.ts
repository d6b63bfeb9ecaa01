/**
 * What a benchmark leaves besides its printed tables: the ratios for `npm run bench -- gate`, and its tables in
 * docs/performance.md.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { systemClock } from '#libs/platform';
import { table } from './figures.js';
import { say } from './progress.js';

/**
 * Options of each benchmark that reports:
 *   --marks FILE        writes the ratios of the rounds to FILE, as JSON
 *   --write-docs yes    writes the tables into docs/performance.md
 */
export const REPORT_OPTIONS = { marks: '', 'write-docs': 'no' };

/** The tables of docs/performance.md that benchmarks write, each between `<!-- bench:NAME -->` and its end marker. */
export const DOC_TABLES = [
  'backfill',
  'providers',
  'size',
  'days',
  'api',
  'batch',
  'redemptions',
  'console',
  'pooling',
] as const;
export type DocTable = (typeof DOC_TABLES)[number];

export const DOCS_FILE = join('docs', 'performance.md');

/** Read at the start, because the working tree may be another when the run ends. */
const COMMIT = commitText();

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The ratios that the rounds of a run measured, by the name of the mark. */
export type MeasuredMarks = Readonly<Record<string, readonly number[]>>;

/** Prints the tables, and writes what the options ask for. @param marks only for benchmarks of the gate */
export async function report(
  options: Readonly<Record<keyof typeof REPORT_OPTIONS, string>>,
  name: DocTable,
  { tables, marks = {} }: { readonly tables: readonly Table[]; readonly marks?: MeasuredMarks },
): Promise<void> {
  for (const { head, rows } of tables) {
    table(head, rows);
    console.log('');
  }
  if (options.marks !== '') writeFileSync(options.marks, JSON.stringify(marks));
  if (options['write-docs'] !== 'yes') return;
  const text = withTables(readFileSync(DOCS_FILE, 'utf8'), name, [
    ...tables.map(markdownOf),
    `At ${COMMIT}, ${new Date(systemClock.nowMs()).toISOString().slice(0, 10)}: \`${commandText()}\`.`,
  ]);
  const config = await resolveConfig(DOCS_FILE);
  writeFileSync(DOCS_FILE, await format(text, { ...config, filepath: DOCS_FILE }));
  say(`${DOCS_FILE}: wrote ${name}`);
}

/** Replaces what stands between the markers of a name. @throws Error where the text lacks the markers */
export function withTables(text: string, name: DocTable, parts: readonly string[]): string {
  const [begin, end] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${DOCS_FILE} has no ${begin} with its ${end}`);
  const before = text.slice(0, from + begin.length);
  return `${before}\n\n${parts.join('\n\n')}\n\n${text.slice(to)}`;
}

function markdownOf({ head, rows }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, column) => (column === 0 ? '---' : '--:'));
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}

/** The commit of the working tree; with a note where the tree differs from it. */
export function commitText(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();
  // What the benchmarks write themselves is no difference.
  const changed = git(
    'status',
    '--porcelain',
    '--',
    '.',
    `:!${DOCS_FILE}`,
    ':!bench/baseline.json',
  );
  return `${git('rev-parse', '--short', 'HEAD')}${changed === '' ? '' : ' with changes'}`;
}

function commandText(): string {
  const [, file = '', ...args] = process.argv;
  const name = file.split('/').at(-1)?.replace('.js', '') ?? '';
  const own = args.filter((arg, at) => !isReportOption(arg) && !isReportOption(args[at - 1] ?? ''));
  return ['npm run bench --', name, ...own].join(' ');
}

function isReportOption(arg: string): boolean {
  return Object.keys(REPORT_OPTIONS).some((option) => arg === `--${option}`);
}
