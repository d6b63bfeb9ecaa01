import { requireRedisInCi } from './redis-server.mjs';
import { chooseSeeds, seedNote } from './seeds.mjs';
import { startTestServer } from './test-server.mjs';

/** The workers inherit seeds and address with the environment. */
export default async function setup() {
  requireRedisInCi();
  process.env.LOWMARK_TEST_SEEDS = chooseSeeds();
  process.stderr.write(seedNote());
  process.env.LOWMARK_TEST_POSTGRES = await startTestServer();
}
