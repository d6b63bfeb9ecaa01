/**
 * The time of one statement, repeated on one connection: prepared under a name and without a name at the server itself,
 * without a name through PgBouncer in transaction mode, and with a name through HAProxy. Needs Debian's pgbouncer and
 * haproxy.
 *
 *   npm run bench -- pooling [--seconds 5] [--rounds 3] [--write-docs yes]
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort, ManagedProcess } from '#libs/devprocess';
import { PgBouncer } from '#libs/testing/database';
import { BenchServer } from './support/bench-database.js';
import { fixed, median } from './support/figures.js';
import { numberOf, readOptions } from './support/options.js';
import { report, REPORT_OPTIONS } from './support/report.js';

const options = readOptions({ seconds: '5', rounds: '3', ...REPORT_OPTIONS });
const TEXT = 'SELECT n FROM bench_row WHERE n = $1';

interface Way {
  readonly name: string;
  readonly url: string;
  readonly isNamed: boolean;
}

async function main(): Promise<void> {
  const server = await BenchServer.start();
  try {
    await server.withDatabase(async (url, client) => {
      await client.query('CREATE TABLE bench_row AS SELECT n FROM generate_series(1, 1000) AS n');
      await client.query('CREATE UNIQUE INDEX ON bench_row (n)');
      await client.query('ANALYZE bench_row');
      const pooler = await PgBouncer.start({ url, poolSize: 1 });
      const proxy = await startHaproxy(url, server.folder);
      try {
        await measure([
          { name: 'named, direct', url, isNamed: true },
          { name: 'unnamed, direct', url, isNamed: false },
          { name: 'unnamed, PgBouncer', url: pooler.through(url), isNamed: false },
          { name: 'named, HAProxy', url: proxy.url, isNamed: true },
        ]);
      } finally {
        await proxy.program.stop();
        await pooler.stop();
      }
    });
  } finally {
    await server.stop();
  }
}

/** The ways take turns, so that other load on the machine affects all alike. */
async function measure(ways: readonly Way[]): Promise<void> {
  const found = new Map<Way, number[]>(ways.map((way) => [way, []]));
  for (let round = 0; round < numberOf(options.rounds); round += 1) {
    for (const way of ways) found.get(way)?.push(await microseconds(way));
  }
  const medians = ways.map((way) => median(found.get(way) ?? []));
  const [first = Number.NaN] = medians;
  const rows = ways.map(({ name }, place) => {
    const one = medians[place] ?? Number.NaN;
    return [name, fixed(one, 0), fixed(one - first, 0)];
  });
  const head = ['one statement', 'µs', 'more than the first'];
  await report(options, 'pooling', { tables: [{ head, rows }] });
}

async function microseconds({ url, isNamed }: Way): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const statement = { text: TEXT, ...(isNamed && { name: 'bench_row' }) };
  const times: number[] = [];
  const endMs = performance.now() + numberOf(options.seconds) * 1000;
  for (let n = 1; performance.now() < endMs; n = (n % 1000) + 1) {
    const startedAt = performance.now();
    await client.query({ ...statement, values: [n] });
    times.push((performance.now() - startedAt) * 1000);
  }
  await client.end();
  return median(times);
}

async function startHaproxy(
  url: string,
  folder: string,
): Promise<{ readonly url: string; readonly program: ManagedProcess }> {
  const [port, target] = [await freePort(), new URL(url)];
  const file = join(folder, 'haproxy.cfg');
  await writeFile(
    file,
    `defaults
  mode tcp
  timeout connect 5s
  timeout client 1h
  timeout server 1h
listen postgres
  bind 127.0.0.1:${port}
  server one ${target.host}
`,
  );
  const program = await ManagedProcess.start({
    command: '/usr/sbin/haproxy',
    args: ['-db', '-f', file],
    logFile: join(folder, 'haproxy.log'),
  });
  target.host = `127.0.0.1:${port}`;
  // HAProxy listens a moment after its start.
  await sleep(1000);
  return { url: target.href, program };
}

await main();
