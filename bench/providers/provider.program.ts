/**
 * Simulates two providers of one chain in a separate process.
 *
 *   node dist/bench/providers/provider.program.js SHAPE-AS-JSON TRACKS-REPEATS
 */
import {
  ReplayChain,
  type ReplayShape,
  ReplaySource,
  startReplayProvider,
} from '../replay/index.js';

const [shape = '{}', tracksRepeats] = process.argv.slice(2);
const chain = new ReplayChain(JSON.parse(shape) as ReplayShape);
const source = new ReplaySource(chain);
if (chain.shape.history !== 'turns') source.logs.prerender();
for (const name of ['first', 'second']) {
  const provider = await startReplayProvider({ source, tracksRepeats: tracksRepeats === 'yes' });
  console.log(`${name} provider on ${provider.url}`);
}
