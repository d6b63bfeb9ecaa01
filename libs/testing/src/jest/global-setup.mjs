import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useMemoryFolder } from './memory-folder.mjs';
import { programPath, requireProgramsInCi } from './programs.mjs';
import { chooseSeeds, seedNote } from './seeds.mjs';
import { startTestServer } from './test-server.mjs';

/** Jest's global setup. Its workers inherit the seeds and the address of PostgreSQL through the environment. */
export default async function setup() {
  requireProgramsInCi();
  process.env.LOWMARK_TEST_SEEDS = chooseSeeds();
  process.stderr.write(seedNote());
  // Shares compiled modules between the workers and the programs that tests start.
  process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'lowmark-test-modules');
  const browser = programPath('chromium');
  if (browser !== undefined) process.env.CHROMIUM = browser;
  useMemoryFolder();
  process.env.LOWMARK_TEST_POSTGRES = await startTestServer();
}
