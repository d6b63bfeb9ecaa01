import { rmSync } from 'node:fs';
import { missingToolsNote } from './postgres-tools.mjs';
import { missingRedisNote } from './redis-server.mjs';
import { stopTestServer } from './test-server.mjs';

export default async function teardown() {
  await stopTestServer();
  const { LOWMARK_TEST_FOLDER: folder } = process.env;
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  const note = missingRedisNote() + missingToolsNote();
  // Jest prints its summary before; at the exit of the process nothing comes after.
  if (note !== '') process.once('exit', () => process.stderr.write(note));
}
