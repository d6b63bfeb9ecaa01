/**
 * Mutation testing: changes code in many small ways, runs its tests against each change, and lists the changes that they
 * do not notice. A change takes a second for unit tests, and some seconds for servers or simulated worlds.
 *
 *   npm run test:mutation -- signing admission                       targets of targets.mjs
 *   npm run test:mutation -- domain 'libs/domain/src/balance/*.ts'   some files of a target
 *   npm run test:mutation -- --since main                            lines that were changed since a commit
 *
 * Changes that nothing can notice are explained in explained.mjs: they are not listed, and the share is of the others.
 * The run fails if a target's share is below 90 %, or if a change in lines that were changed is neither noticed nor
 * explained.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import setup from '../../libs/testing/src/jest/global-setup.mjs';
import { stopTestServer } from '../../libs/testing/src/jest/test-server.mjs';
import { EXPLAINED } from './explained.mjs';
import { TARGETS } from './targets.mjs';

const LEAST_PERCENT = 90;
const NOTICED = ['Killed', 'Timeout'];
const MISSED = ['Survived', 'NoCoverage'];
/** Only a change that hangs may take this much longer: on a busy machine, five seconds pass without any change. */
const TIMEOUT_MS = 60_000;
/** Changes after which a process is replaced: Jest keeps the modules of each one, and collecting them takes its time. */
const REUSE = 40;
/** Worlds for each change. Most faults show in the first ten. */
const WORLDS = 40;

const JEST = { configFile: 'test/mutation/jest.config.mjs' };
const BY_TESTS = {
  testRunner: 'jest',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  coverageAnalysis: 'perTest',
  // A changed constant would run all tests again.
  ignoreStatic: true,
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { since: { type: 'string' } },
});
const names = positionals.filter((word) => word in TARGETS);
const globs = positionals.filter((word) => !(word in TARGETS));
if (names.length === 0 && values.since === undefined)
  throw new Error(`Name a target: ${Object.keys(TARGETS).join(', ')}`);

const work = (names.length > 0 ? names : Object.keys(TARGETS))
  .map((name) => ({ name, mutate: codeOf(TARGETS[name]) }))
  .filter(({ mutate }) => mutate.length > 0);
if (work.length === 0) console.log('No line to change is in a target (test/mutation/targets.mjs).');
for (const { name, mutate } of work) await mutateTarget(name, mutate);

/** @returns the files of a target that are to be changed, or ranges of their lines */
function codeOf({ code }) {
  const files = globSync(code.filter((glob) => !glob.startsWith('!'))).filter(
    (file) =>
      !/[.-]spec\.ts$|\.support\.ts$/.test(file) &&
      !code.some((glob) => glob.startsWith('!') && matchesGlob(file, glob.slice(1))) &&
      (globs.length === 0 || globs.some((glob) => matchesGlob(file, glob))),
  );
  return values.since === undefined
    ? files
    : files.flatMap((file) => changedLines(file, values.since));
}

/** @returns ranges of lines in Stryker's form, such as `a.ts:3-9` */
function changedLines(file, since) {
  const diff = execFileSync('git', ['diff', '-U0', since, '--', file], { encoding: 'utf8' });
  return [...diff.matchAll(/^@@ -\S+ \+(\d+)(?:,(\d+))? @@/gm)]
    .filter(([, , lines]) => lines !== '0')
    .map(([, first, lines = '1']) => `${file}:${first}-${Number(first) + Number(lines) - 1}`);
}

/** The programs read from the environment which change is to be active. */
function byWorlds(simulation) {
  const main = 'node --max-semi-space-size=64 dist/test/simulation/main.js';
  return {
    testRunner: 'command',
    buildCommand: 'nest build',
    commandRunner: { command: `${main} ${simulation} --seeds ${WORLDS} --no-shrink` },
    coverageAnalysis: 'off',
  };
}

async function mutateTarget(name, mutate) {
  const { tests, worlds } = TARGETS[name];
  const report = `.data/mutation/${name}.json`;
  const needsServers = tests?.some((glob) => glob.includes('int-spec')) === true;
  if (tests) process.env.MUTATION_TESTS = JSON.stringify(tests);
  if (needsServers) await setup();
  try {
    await new Stryker({
      ...(tests ? BY_TESTS : byWorlds(worlds)),
      // Jest sees how files depend on each other in the folders of the tests only, and servers are further away.
      jest: { ...JEST, enableFindRelatedTests: !needsServers },
      mutate,
      // Servers give the pages of the build.
      ignorePatterns: needsServers ? ['/.data'] : ['/dist', '/.data'],
      disableTypeChecks: false,
      plugins: ['@stryker-mutator/*', fileURLToPath(new URL('error-texts.mjs', import.meta.url))],
      ignorers: ['error-texts'],
      concurrency: 2,
      maxTestRunnerReuse: REUSE,
      timeoutMS: TIMEOUT_MS,
      tempDirName: '.data/mutation',
      reporters: ['json', 'progress-append-only'],
      jsonReporter: { fileName: report },
      logLevel: 'error',
    }).runMutationTest();
  } finally {
    if (needsServers) await stopTestServer();
  }
  print(name, JSON.parse(readFileSync(report, 'utf8')).files);
}

function print(name, files) {
  const mutants = Object.entries(files).flatMap(([file, { source, mutants: all }]) => {
    const lines = source.split('\n');
    return all.map((mutant) => ({ ...mutant, file, code: lines[mutant.location.start.line - 1] }));
  });
  const noticed = mutants.filter(({ status }) => NOTICED.includes(status));
  const hung = noticed.filter(({ status }) => status === 'Timeout');
  const missed = mutants.filter(({ status }) => MISSED.includes(status));
  const explained = missed.filter((mutant) => EXPLAINED.some((row) => explains(row, mutant)));
  for (const mutant of missed.filter((one) => !explained.includes(one))) {
    const { file, location, mutatorName, replacement, status } = mutant;
    const { line, column } = location.start;
    console.log(`${file}:${line}:${column} ${status} ${mutatorName}: ${replacement ?? ''}`);
  }
  for (const row of EXPLAINED) {
    const isOfRun = values.since === undefined && row.file in files;
    if (!existsSync(row.file) || (isOfRun && !missed.some((mutant) => explains(row, mutant))))
      console.log(`explained.mjs: no change that survives fits ${row.file}: ${row.code}`);
  }
  const all = noticed.length + missed.length;
  if (all === explained.length) return;
  const share = (100 * noticed.length) / (all - explained.length);
  if (share < (values.since === undefined ? LEAST_PERCENT : 100)) process.exitCode = 1;
  console.log(
    `${name}: ${noticed.length} of ${all} changes noticed (${hung.length} by timeout), ${explained.length} explained, ${share.toFixed(1)} %`,
  );
}

function explains({ file, code, to }, mutant) {
  return (
    mutant.file === file &&
    mutant.code.includes(code) &&
    (to === undefined || mutant.replacement === to)
  );
}
