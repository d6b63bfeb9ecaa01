import { missingChromiumNote } from './chromium.mjs';
import { missingClusterNote } from './cluster-programs.mjs';
import { missingHaproxyNote } from './haproxy.mjs';
import { leaveMemoryFolder } from './memory-folder.mjs';
import { missingMonitoringNote } from './monitoring-programs.mjs';
import { missingPgbackrestNote } from './pgbackrest.mjs';
import { missingToolsNote } from './postgres-tools.mjs';
import { missingRedisNote } from './redis-server.mjs';
import { stopTestServer } from './test-server.mjs';

export default async function teardown({ testPathPatterns }, { globals }) {
  await stopTestServer();
  leaveMemoryFolder();
  const isWhole = !testPathPatterns.isSet();
  const note = [
    missingRedisNote(),
    missingChromiumNote(),
    missingToolsNote(),
    missingMonitoringNote(),
    missingHaproxyNote(),
    missingPgbackrestNote(),
    missingClusterNote(),
    isWhole && globals.otherRuns !== undefined ? `\n${globals.otherRuns}\n` : '',
  ].join('');
  // Jest prints its summary after the teardown. The exit handler runs last, so the note is at the end of the output.
  if (note !== '') process.once('exit', () => process.stderr.write(note));
}
