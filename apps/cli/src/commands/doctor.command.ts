import { command } from '../command.js';
import { CommandFailed } from '../cli.errors.js';
import { JSON_LINE } from '../options.js';
import { readDoctorSettings } from '../doctor/doctor.settings.js';
import { checksFor } from '../doctor/checks/all.js';
import { countOf, reportText } from '../doctor/report-text.js';
import { runChecks } from '../doctor/run-checks.js';
import { Subject } from '../doctor/subject.js';

/** Every question to a node or a database has a shorter one of its own. */
const TIMEOUT_MS = 45_000;

/** Looks at everything that the services need and says what to mend; fails where there is a fault. */
export const doctorCommand = command({
  name: 'doctor',
  description: 'check settings, database, Redis, chain, contracts and vault; changes nothing',
  options: [JSON_LINE],
  note: '\nIt looks at what is set; what is missing is said and not checked.',
  async action(call) {
    const read = readDoctorSettings(call.source);
    const subject = new Subject(read.settings, call.clock);
    try {
      const findings = await runChecks(checksFor(read), subject, {
        faulty: read.faults,
        timeoutMs: TIMEOUT_MS,
        onWaiting: (names) => {
          call.terminal.err(`Still looking at: ${names.join(', ')}…\n`);
        },
      });
      call.print({ findings }, reportText(findings));
      if (countOf(findings, 'fault') > 0) throw new CommandFailed();
    } finally {
      await subject.close();
    }
  },
});
