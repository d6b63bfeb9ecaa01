/**
 * Runs all parts of `npm run check`, two at a time, the longest first, since each uses one core. The output of a part
 * is printed when the part has ended.
 */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

const AT_ONCE = 2;
const waiting = ['lint', 'types', 'boundaries', 'format', 'dependencies', 'docs'].map(
  (name) => `check:${name}`,
);

await Promise.all(Array.from({ length: AT_ONCE }, runThem));

async function runThem() {
  for (let script = waiting.shift(); script !== undefined; script = waiting.shift()) {
    await runScript(script);
  }
}

async function runScript(script) {
  const startedMs = performance.now();
  const command = `npm run --silent ${script} 2>&1`;
  const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const said = (await text(child.stdout)).trimEnd();
  const isGood = (await ended) === 0;
  if (!isGood) process.exitCode = 1;
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  console.log(`${script}: ${isGood ? 'passed' : 'FAILED'}, ${seconds} s\n${said}\n`);
}
