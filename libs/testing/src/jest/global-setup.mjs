import { requireRedisInCi } from './redis-server.mjs';
import { startTestServer } from './test-server.mjs';

/** The workers inherit the address with the environment. */
export default async function setup() {
  requireRedisInCi();
  process.env.LOWMARK_TEST_POSTGRES = await startTestServer();
}
