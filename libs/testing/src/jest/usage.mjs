/**
 * With TEST_USAGE=FILE, each test file appends one line of JSON to FILE: its duration, its CPU seconds, and the CPU
 * seconds of the programs that it started.
 */
import { appendFileSync, readFileSync } from 'node:fs';

const FILE = process.env.TEST_USAGE;
const TICKS_PER_SECOND = 100;

/** @returns the usage until now, in seconds; undefined where TEST_USAGE is not set */
export function usageNow() {
  if (FILE === undefined) return undefined;
  const { user, system } = process.cpuUsage();
  return { wall: performance.now() / 1000, own: (user + system) / 1e6, programs: ofEnded() };
}

/** Appends the line of a test file. */
export function reportUsage(path, before) {
  if (before === undefined) return;
  const now = usageNow();
  const used = (name) => Number((now[name] - before[name]).toFixed(2));
  const line = { path, wall: used('wall'), own: used('own'), programs: used('programs') };
  appendFileSync(FILE, `${JSON.stringify(line)}\n`);
}

/** CPU seconds of the ended child processes of this process, and of their ended children. */
function ofEnded() {
  const [, fields] = readFileSync('/proc/self/stat', 'utf8').split(') ');
  const values = fields.split(' ');
  return (Number(values[13]) + Number(values[14])) / TICKS_PER_SECOND;
}
