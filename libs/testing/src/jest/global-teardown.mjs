import { leaveMemoryFolder } from './memory-folder.mjs';
import { missingProgramsNote } from './programs.mjs';
import { stopTestServer } from './test-server.mjs';

const OTHER_RUNS =
  'Run by themselves: npm run test:e2e (whole programs, web pages in Chromium, the commands of the documents), test:soak (simulations and kills for minutes, alerts, reindexing, backups), test:cluster (failovers of PostgreSQL), test:compose (containers).';

export default async function teardown({ testPathPatterns }, { displayName }) {
  await stopTestServer();
  leaveMemoryFolder();
  const isNpmTest = ['unit', 'integration'].includes(displayName?.name);
  const others = isNpmTest && !testPathPatterns.isSet() ? `\n${OTHER_RUNS}\n` : '';
  const note = missingProgramsNote() + others;
  // Jest prints its summary after the teardown. The exit handler runs last, so the note is at the end of the output.
  if (note !== '') process.once('exit', () => process.stderr.write(note));
}
