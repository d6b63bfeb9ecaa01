import { type Finding, type FindingState, examine } from '#libs/doctor';
import { counted, printable } from '#libs/operations';
import { command, CommandFailed } from '../command.js';
import { JSON_LINE, ON_STAKE_SET } from '../options.js';

/** Examines everything that the services need and names remedies; fails where there is a fault. */
export const doctorCommand = command({
  name: 'doctor',
  description: 'check settings, database, Redis, chain, contracts and vault; changes nothing',
  options: [ON_STAKE_SET, JSON_LINE],
  note: '\nIt looks at what is set; what is missing is said and not checked.',
  async action(call) {
    const findings = await examine(call.source, call.clock, {
      onWaiting: (titles) => {
        call.terminal.err(`Still looking at: ${titles.join(', ')}…\n`);
      },
    });
    call.print({ findings }, reportText(findings));
    if (countOf(findings, 'fault') > 0) throw new CommandFailed();
  },
});

const WORDS: Record<FindingState, string> = {
  ok: 'ok',
  warning: 'WARNING',
  fault: 'FAULT',
  'not-checked': '-',
};
const STATE_WIDTH = 9;

/** One line for each finding with its remedy below, and a summary. */
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
