import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, requireChromiumInCi } from './chromium.mjs';
import { requireClusterInCi } from './cluster-programs.mjs';
import { requireHaproxyInCi } from './haproxy.mjs';
import { useMemoryFolder } from './memory-folder.mjs';
import { requireMonitoringInCi } from './monitoring-programs.mjs';
import { requirePgbackrestInCi } from './pgbackrest.mjs';
import { requireToolsInCi } from './postgres-tools.mjs';
import { requireRedisInCi } from './redis-server.mjs';
import { chooseSeeds, seedNote } from './seeds.mjs';
import { startTestServer } from './test-server.mjs';

/** Jest's global setup. Its workers inherit the seeds and the address of PostgreSQL through the environment. */
export default async function setup() {
  requireRedisInCi();
  requireToolsInCi();
  requireMonitoringInCi();
  requireChromiumInCi();
  requireHaproxyInCi();
  requirePgbackrestInCi();
  requireClusterInCi();
  process.env.LOWMARK_TEST_SEEDS = chooseSeeds();
  process.stderr.write(seedNote());
  // Shares compiled modules between the workers and the programs that tests start.
  process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'lowmark-test-modules');
  const browser = chromium();
  if (browser !== undefined) process.env.CHROMIUM = browser;
  useMemoryFolder();
  process.env.LOWMARK_TEST_POSTGRES = await startTestServer();
}
