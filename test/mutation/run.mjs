/**
 * Mutation testing: changes the code of each folder in many small ways, runs the unit tests of the folder against each
 * change, and lists the changes that they do not notice. Takes a second for each change.
 *
 *   npm run test:mutation -- libs/domain/src/balance libs/domain/src/seal
 */
import { readFileSync } from 'node:fs';
import { Stryker } from '@stryker-mutator/core';

const folders = process.argv.slice(2);
if (folders.length === 0) throw new Error('Name folders, such as libs/domain/src/balance.');

const NOTICED = ['Killed', 'Timeout'];
const MISSED = ['Survived', 'NoCoverage'];

for (const folder of folders) {
  process.env.MUTATED_FOLDER = folder;
  const report = `.data/mutation/${folder.replaceAll('/', '-')}.json`;
  await new Stryker({
    testRunner: 'jest',
    testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
    jest: { configFile: 'test/mutation/jest.config.mjs', enableFindRelatedTests: false },
    coverageAnalysis: 'perTest',
    // A changed constant would run all tests again.
    ignoreStatic: true,
    mutate: [`${folder}/*.ts`, '!**/*.spec.ts', '!**/*-spec.ts', '!**/*.support.ts'],
    ignorePatterns: ['/dist', '/.data'],
    disableTypeChecks: false,
    concurrency: 2,
    tempDirName: '.data/mutation',
    reporters: ['json'],
    jsonReporter: { fileName: report },
    logLevel: 'error',
  }).runMutationTest();
  print(folder, JSON.parse(readFileSync(report, 'utf8')).files);
}

function print(folder, files) {
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
  console.log(`${folder}: ${noticed.length} of ${all} changes noticed, ${share} %`);
}
