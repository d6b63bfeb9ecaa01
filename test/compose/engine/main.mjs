/**
 * node test/compose/engine/main.mjs up      an engine and the images of docker-compose.yml; prints how `docker` finds it
 * node test/compose/engine/main.mjs down    ends the engine that `up` started
 *
 * As root on Debian. `up --metrics` makes the images of the profile `metrics` too.
 */
import { findEngine, stopEngine } from './engine.mjs';
import { provideImages } from './stand-in-images.mjs';

const [command, ...options] = process.argv.slice(2);
const say = (line) => process.stderr.write(`${line}\n`);

if (command === 'up') {
  const { variables, started } = await findEngine({ install: true });
  const profiles = options.includes('--metrics') ? ['local', 'metrics'] : ['local'];
  for (const image of provideImages({ variables, profiles, say })) {
    say(`!! ${image} can be had from a registry only`);
  }
  say(started ? 'An engine was started; end it with: node test/compose/engine/main.mjs down' : '');
  for (const [name, value] of Object.entries(variables)) console.log(`export ${name}=${value}`);
} else if (command === 'down') {
  await stopEngine();
} else {
  say('node test/compose/engine/main.mjs up [--metrics] | down');
  process.exitCode = 2;
}
