/**
 * Mutation testing: changes code in many small ways, runs its tests against each change, and lists the changes that they
 * do not notice. A change takes a second for unit tests, and some seconds for servers or simulated worlds.
 *
 *   npm run test:mutation -- signing admission                       targets of targets.mjs
 *   npm run test:mutation -- domain 'libs/domain/src/balance/*.ts'   some files of a target
 *   npm run test:mutation -- --since main                            lines that were changed since a commit
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import setup from '../../libs/testing/src/jest/global-setup.mjs';
import { stopTestServer } from '../../libs/testing/src/jest/test-server.mjs';
import { TARGETS } from './targets.mjs';

const NOTICED = ['Killed', 'Timeout'];
const MISSED = ['Survived', 'NoCoverage'];
/** Worlds for each change. Most faults show in the first ten. */
const WORLDS = 40;

const BY_TESTS = {
  testRunner: 'jest',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  jest: { configFile: 'test/mutation/jest.config.mjs', enableFindRelatedTests: false },
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

for (const name of names.length > 0 ? names : Object.keys(TARGETS)) {
  const mutate = codeOf(TARGETS[name]);
  if (mutate.length > 0) await mutateTarget(name, mutate);
}

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
      mutate,
      ignorePatterns: ['/dist', '/.data'],
      disableTypeChecks: false,
      concurrency: 2,
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
  const mutants = Object.entries(files).flatMap(([file, { mutants: all }]) =>
    all.map((mutant) => ({ ...mutant, file })),
  );
  const of = (statuses) => mutants.filter(({ status }) => statuses.includes(status));
  const [noticed, missed] = [of(NOTICED), of(MISSED)];
  for (const { file, location, mutatorName, replacement, status } of missed) {
    const { line, column } = location.start;
    console.log(`${file}:${line}:${column} ${status} ${mutatorName}: ${replacement ?? ''}`);
  }
  const all = noticed.length + missed.length;
  const share = ((100 * noticed.length) / all).toFixed(1);
  console.log(`${name}: ${noticed.length} of ${all} changes noticed, ${share} %`);
}
