/**
 * Makes any number of runs of the simulation, 300 at a time on a database and a chain of their own.
 *
 *   npm run simulate [-- --runs 5000] [--seed N] [--workers 2] [--calls-per-kill 160]
 */
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { type LoginUrls, migrate, prepareLogins, type Program, PROGRAMS } from '#libs/db';
import { EmbeddedPostgres } from '#libs/devpostgres';
import { simulate } from './simulate.js';
import { toldVerdict } from './told-verdict.js';

const RUNS_AT_ONCE = 300;
const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_connections: '100' };

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '300' },
    seed: { type: 'string' },
    workers: { type: 'string', default: '2' },
    'calls-per-kill': { type: 'string', default: '160' },
  },
});
const runs = Number(values.runs);
const firstSeed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
const folder = await mkdtemp(join(tmpdir(), 'lowmark-simulation-'));
const server = await EmbeddedPostgres.start({
  directory: join(folder, 'data'),
  logFile: join(folder, 'postgres.log'),
  initdbFlags: ['--no-sync'],
  settings: SETTINGS,
});
try {
  for (let done = 0, seed = firstSeed; done < runs; done += RUNS_AT_ONCE, seed++) {
    const databaseUrl = await freshDatabase(`simulation_${seed}`);
    const startedAt = performance.now();
    const verdict = await simulate({
      seed,
      runs: Math.min(RUNS_AT_ONCE, runs - done),
      databaseUrl,
      urlAs: (program) => loginUrl(databaseUrl, program),
      workers: Number(values.workers),
      callsPerKill: Number(values['calls-per-kill']),
    });
    console.log(toldVerdict(verdict));
    console.log(`${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`);
    if (verdict.faults.length > 0) {
      process.exitCode = 1;
      break;
    }
  }
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function freshDatabase(name: string): Promise<string> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  await migrate(url.href);
  const logins = PROGRAMS.map((program) => [program, loginUrl(url.href, program)]);
  await prepareLogins(url.href, Object.fromEntries(logins) as LoginUrls);
  return url.href;
}

/** The users belong to the whole database server, as in the tests. */
function loginUrl(databaseUrl: string, program: Program): string {
  const url = new URL(databaseUrl);
  [url.username, url.password] = [`test_${program}`, `test_${program}`];
  return url.href;
}
