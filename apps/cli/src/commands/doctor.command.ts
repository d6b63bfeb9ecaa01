import { CommandFailed } from '../cli.errors.js';
import { command } from '../command.js';
import { type Check, type Finding, type FindingState, makeChecks } from '../doctor/checks.js';
import { databaseChecks } from '../doctor/database.checks.js';
import { type ReadDoctorSettings, readDoctorSettings } from '../doctor/doctor.settings.js';
import { endpointChecks } from '../doctor/endpoint.checks.js';
import { indexCheck } from '../doctor/index.check.js';
import { partnerChecks, secretsCheck } from '../doctor/partner.checks.js';
import { priceChecks } from '../doctor/price.checks.js';
import { redisCheck } from '../doctor/redis.check.js';
import { settingsChecks } from '../doctor/settings.checks.js';
import { standbyCheck } from '../doctor/standby.checks.js';
import { trialChecks } from '../doctor/trial.checks.js';
import { stakeSetsCheck } from '../doctor/stake-sets.check.js';
import { stakingChecks } from '../doctor/staking.checks.js';
import { Subject } from '../doctor/subject.js';
import { vaultCheck } from '../doctor/vault.check.js';
import { JSON_LINE, ON_STAKE_SET } from '../options.js';
import { printable } from '../output/text.js';

/** Every question to a node or a database has a shorter one of its own. */
const TIMEOUT_MS = 45_000;

/** Looks at all that the services need and says what to mend; fails where there is a fault. */
export const doctorCommand = command({
  name: 'doctor',
  description: 'check settings, database, Redis, chain, contracts and vault; changes nothing',
  options: [ON_STAKE_SET, JSON_LINE],
  note: '\nIt looks at what is set; what is missing is said and not checked.',
  async action(call) {
    const read = readDoctorSettings(call.source);
    const subject = new Subject(read.settings, call.clock);
    try {
      const findings = await makeChecks(checksFor(read), subject, {
        faulty: read.faults,
        timeoutMs: TIMEOUT_MS,
        onWaiting: (titles) => {
          call.terminal.err(`Still looking at: ${titles.join(', ')}…\n`);
        },
      });
      call.print({ findings }, reportText(findings));
      if (countOf(findings, 'fault') > 0) throw new CommandFailed();
    } finally {
      await subject.close();
    }
  },
});

/** All checks, in the order of the report. */
function checksFor(read: ReadDoctorSettings): readonly Check[] {
  return [
    ...settingsChecks(read),
    ...databaseChecks,
    ...(read.settings.databaseReadUrls === undefined ? [] : [standbyCheck]),
    secretsCheck,
    indexCheck,
    stakeSetsCheck,
    ...priceChecks,
    ...partnerChecks,
    ...trialChecks,
    redisCheck,
    ...endpointChecks(read.settings),
    ...stakingChecks,
    vaultCheck,
  ];
}

const WORDS: Record<FindingState, string> = {
  ok: 'ok',
  warning: 'WARNING',
  fault: 'FAULT',
  'not-checked': '-',
};
const STATE_WIDTH = 9;

/** One line for each finding, below it what to mend, and a summary. */
function reportText(findings: readonly Finding[]): string {
  const width = Math.max(0, ...findings.map(({ what }) => what.length)) + 2;
  const lines = findings.map(({ what, state, found, mend }) => {
    const unchecked = state === 'not-checked' ? 'not checked: ' : '';
    const line = `${WORDS[state].padEnd(STATE_WIDTH)}${what.padEnd(width)}${unchecked}${printable(found)}\n`;
    if (mend === undefined) return line;
    return `${line}${' '.repeat(STATE_WIDTH + width)}-> ${printable(mend)}\n`;
  });
  return `${lines.join('')}\n${summary(findings)}\n`;
}

function countOf(findings: readonly Finding[], wanted: FindingState): number {
  return findings.filter(({ state }) => state === wanted).length;
}

function summary(findings: readonly Finding[]): string {
  const parts = [
    counted(countOf(findings, 'fault'), 'fault'),
    counted(countOf(findings, 'warning'), 'warning'),
    `${countOf(findings, 'ok')} in order`,
    `${countOf(findings, 'not-checked')} not checked`,
  ];
  return `${parts.join(', ')}.`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
