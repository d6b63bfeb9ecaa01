import { printable } from '../output/text.js';
import { type Finding, type FindingState } from './checks.js';

const WORDS: Record<FindingState, string> = {
  ok: 'ok',
  warning: 'WARNING',
  fault: 'FAULT',
  'not-checked': '-',
};
const STATE_WIDTH = 9;

/** One line for each finding, below it what to mend, and a summary. */
export function reportText(findings: readonly Finding[]): string {
  const width = Math.max(0, ...findings.map(({ what }) => what.length)) + 2;
  const lines = findings.map(({ what, state, found, mend }) => {
    const unchecked = state === 'not-checked' ? 'not checked: ' : '';
    const line = `${WORDS[state].padEnd(STATE_WIDTH)}${what.padEnd(width)}${unchecked}${printable(found)}\n`;
    if (mend === undefined) return line;
    return `${line}${' '.repeat(STATE_WIDTH + width)}-> ${printable(mend)}\n`;
  });
  return `${lines.join('')}\n${summary(findings)}\n`;
}

export function countOf(findings: readonly Finding[], wanted: FindingState): number {
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
