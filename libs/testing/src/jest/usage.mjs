/** With TEST_USAGE=FILE each test file adds a line there, as JSON: how long it took, and the seconds of CPU of it and of the programs it started. */
import { appendFileSync, readFileSync } from 'node:fs';

const FILE = process.env.TEST_USAGE;
const TICKS_PER_SECOND = 100;

/** @returns what was used until now; undefined where it is not wanted */
export function usageNow() {
  if (FILE === undefined) return undefined;
  const { user, system } = process.cpuUsage();
  return { wall: performance.now() / 1000, own: (user + system) / 1e6, programs: ofEnded() };
}

/** Adds the line of a test file. */
export function reportUsage(path, before) {
  if (before === undefined) return;
  const now = usageNow();
  const used = (name) => Number((now[name] - before[name]).toFixed(2));
  const line = { path, wall: used('wall'), own: used('own'), programs: used('programs') };
  appendFileSync(FILE, `${JSON.stringify(line)}\n`);
}

/** Of the programs that this process started and that have ended, and of theirs. */
function ofEnded() {
  const [, fields] = readFileSync('/proc/self/stat', 'utf8').split(') ');
  const values = fields.split(' ');
  return (Number(values[13]) + Number(values[14])) / TICKS_PER_SECOND;
}
