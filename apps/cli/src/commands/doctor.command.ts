import { Command } from 'commander';
import { type CommandContext } from '../command-context.js';
import { CommandFailed } from '../command-failed.js';
import { checksFor } from '../doctor/checks/all.js';
import { readDoctorSettings } from '../doctor/doctor.settings.js';
import { countOf, reportText } from '../doctor/report-text.js';
import { runChecks } from '../doctor/run-checks.js';
import { Subject } from '../doctor/subject.js';
import { jsonLine } from '../output/json-line.js';

/** Every question to a node or a database has a shorter one of its own. */
const TIMEOUT_MS = 45_000;

/** `doctor`: looks at everything that the services need and says what to mend; fails where there is a fault. */
export function doctorCommand({ source, terminal, clock }: CommandContext): Command {
  return new Command('doctor')
    .description('check settings, database, Redis, chain, contracts and vault; changes nothing')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', '\nIt looks at what is set; what is missing is said and not checked.')
    .action(async ({ json }: { readonly json?: true }) => {
      const read = readDoctorSettings(source());
      const subject = new Subject(read.settings, clock);
      try {
        const findings = await runChecks(checksFor(read), subject, {
          faulty: read.faults,
          timeoutMs: TIMEOUT_MS,
          onWaiting: (names) => {
            terminal.err(`Still looking at: ${names.join(', ')}…\n`);
          },
        });
        terminal.out(json === true ? jsonLine({ findings }) : reportText(findings));
        if (countOf(findings, 'fault') > 0) throw new CommandFailed();
      } finally {
        await subject.close();
      }
    });
}
