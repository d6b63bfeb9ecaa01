/**
 *   node test/compose/engine/main.mjs up     starts an engine, makes the images of the compose files, and prints the
 *                                             environment variables with which `docker` finds the engine
 *   node test/compose/engine/main.mjs down   stops the engine that `up` started
 *   node test/compose/engine/main.mjs test   starts an engine, runs the tests *.containers.soak-spec.ts and stops the engine:
 *                                             `npm run test:compose`
 *
 * Starting an engine needs root and Debian. `up --metrics` also makes the images of the profile `metrics`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { EngineMissing, findEngine, stopEngine } from './engine.mjs';
import { provideImages } from './stand-in-images.mjs';

/** A busy machine takes minutes for what an idle one does in seconds. */
const TEST_LIMIT_MS = '1800000';
const JEST = fileURLToPath(new URL('../../../node_modules/jest/bin/jest.js', import.meta.url));
const say = (line) => process.stderr.write(`${line}\n`);

const [command, ...options] = process.argv.slice(2);
if (command === 'up') await up(options.includes('--metrics') ? ['metrics'] : []);
else if (command === 'down') await stopEngine();
else if (command === 'test') process.exitCode = await test();
else {
  say('node test/compose/engine/main.mjs up [--metrics] | down | test');
  process.exitCode = 2;
}

async function up(profiles) {
  const { variables, started } = await findEngine({ install: true });
  for (const image of provideImages({ variables, profiles, say })) {
    say(`!! ${image} can be had from a registry only`);
  }
  if (started) say('An engine was started; end it with: node test/compose/engine/main.mjs down');
  for (const [name, value] of Object.entries(variables)) console.log(`export ${name}=${value}`);
}

/**
 * Runs the tests. Only CI installs the packages of an engine; elsewhere `up` does. A machine without an engine is not a
 * failure.
 */
async function test() {
  let engine;
  try {
    engine = await findEngine({ install: process.env.CI === 'true' });
    provideImages({ variables: engine.variables, say });
  } catch (error) {
    if (engine?.started) await stopEngine();
    if (engine === undefined && !(error instanceof EngineMissing)) throw error;
    say(
      '\n!! NOT TESTED: docker compose and ./lowmark on a real engine (all files *.containers.*).',
    );
    for (const line of error.message.split('\n')) say(`!! ${line}`);
    say('!! Debian, as root: node test/compose/engine/main.mjs up. Elsewhere: start Docker.\n');
    return 0;
  }
  try {
    const jest = spawn(
      process.execPath,
      [
        '--experimental-vm-modules',
        JEST,
        '--selectProjects',
        'containers',
        '--runInBand',
        '--testTimeout',
        TEST_LIMIT_MS,
        ...options,
      ],
      { stdio: 'inherit', env: { ...process.env, ...engine.variables } },
    );
    const [code] = await once(jest, 'exit');
    return code ?? 1;
  } finally {
    if (engine.started) await stopEngine();
  }
}
