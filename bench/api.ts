/**
 * The cost of an answer of the API, compared with a bare server that signs a constant body of the same size. All
 * servers run as separate programs, and the same client loads them in turn.
 * - `cached`: the same wallet again and again.
 * - `all wallets`: more wallets than one process caches, so that each is read from the database, or from Redis where
 *   there is one.
 * - `REQUEST_LOG=0`: shows the cost of the log of requests.
 * The cost of reading the busiest wallet is compared with a quiet one, through the API and in the database alone.
 *
 *   npm run bench -- api [--wallets 20000] [--changes 1000000] [--runs 5] [--seconds 3] [--connections 1,16]
 *                        [--redis no]      leaves out the scenarios with Redis
 *                        [--profile yes]   writes a CPU profile of each API to .data/bench
 *                        [--marks FILE] [--write-docs yes]
 */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { createDatabase, SnapshotStore } from '#libs/db';
import { startRedis, type TestRedis } from '#libs/testing/redis';
import { type Address, dayOf } from '#libs/domain';
import { pathOf, signedContent, verifySignature } from '#libs/signing';
import { putLoad, type Target } from './api/load.js';
import { BUSIEST, seedIndex, seedPartner } from './api/seed.js';
import { type Listening, portIn, startApi } from './support/api-program.js';
import { BenchServer, STATEMENT_STATISTICS } from './support/bench-database.js';
import { count, fixed, median, percentile, table } from './support/figures.js';
import { numberOf, numbersOf, readOptions } from './support/options.js';
import { Program } from './support/program.js';
import { say } from './support/progress.js';
import { type MeasuredMarks, report, REPORT_OPTIONS, type Table } from './support/report.js';
import { walletAt } from './support/random.js';

const LOGS = join('.data', 'bench');
const LAST_DAYS = 30;
const WINDOW_MARGIN_DAYS = 5;
const SQL_READS = 2000;
const FILL_MS = 8000;
const QUIET = walletAt(1);
const CACHED = 'cached in process';
const ALL_WALLETS = 'all wallets, in process';
/** The marks of the gate, by scenario. */
const MARKS = [
  ['api-cached', CACHED],
  ['api-all-wallets', ALL_WALLETS],
] as const;

const options = readOptions({
  wallets: '20000',
  changes: '1000000',
  runs: '5',
  seconds: '3',
  connections: '1,16',
  redis: 'yes',
  profile: 'no',
  ...REPORT_OPTIONS,
});

interface Scenario {
  readonly name: string;
  readonly program: Program;
  readonly target: Target;
}

interface Figures {
  readonly perSecond: number[];
  readonly p50Ms: number[];
  readonly p99Ms: number[];
  readonly cpuMicroseconds: number[];
}

async function main(): Promise<void> {
  await mkdir(LOGS, { recursive: true });
  const server = await BenchServer.start(STATEMENT_STATISTICS);
  try {
    await server.withDatabase(async (url, client) => {
      const wallets = numberOf(options.wallets);
      const nowMs = Date.now();
      const days = LAST_DAYS + WINDOW_MARGIN_DAYS;
      await seedIndex(url, { wallets, changes: numberOf(options.changes), days, nowMs });
      await client.query('CREATE EXTENSION pg_stat_statements');
      await compareReads(url, nowMs);
      await comparePrograms(url, client, wallets);
    });
  } finally {
    await server.stop();
  }
}

/** Measures the SQL statement of a read in the database alone, in turn for both wallets on one connection. */
async function compareReads(url: string, nowMs: number): Promise<void> {
  const database = await createDatabase({
    url,
    applicationName: 'bench',
    poolSize: 1,
    readOnly: true,
  });
  try {
    const store = new SnapshotStore(database);
    const endDay = dayOf(nowMs / 1000);
    const timed = async (wallet: Address): Promise<number> => {
      const startMs = performance.now();
      await store.read([{ wallet, endDay }]);
      return performance.now() - startMs;
    };
    const [quiet, busiest]: [number[], number[]] = [[], []];
    for (let read = 0; read < SQL_READS; read += 1) {
      quiet.push(await timed(QUIET));
      busiest.push(await timed(BUSIEST));
    }
    const row = (name: string, values: number[]): string[] => [
      name,
      fixed(median(values), 3),
      fixed(percentile(values, 0.99), 3),
      fixed(median(values) / median(quiet)),
    ];
    table(
      ['the read alone', 'p50 ms', 'p99 ms', 'x quiet'],
      [row('a quiet wallet', quiet), row('the busiest wallet', busiest)],
    );
    console.log('');
  } finally {
    await database.close();
  }
}

async function comparePrograms(url: string, client: pg.Client, wallets: number): Promise<void> {
  const secretsKey = randomBytes(32).toString('base64');
  const partner = await seedPartner(url, secretsKey);
  const programs: Program[] = [];
  let redis: TestRedis | undefined;
  try {
    redis = options.redis === 'yes' ? await startRedis().catch(noRedis) : undefined;
    const nodeOptions = options.profile === 'yes' ? ['--cpu-prof', `--cpu-prof-dir=${LOGS}`] : [];
    const shared = { databaseUrl: url, secretsKey, nodeOptions };
    const api = await startApi({ ...shared, logFile: join(LOGS, 'api.log') });
    programs.push(api.program);
    const silent = await startApi({
      ...{ ...shared, keepsRequests: false, logFile: join(LOGS, 'api-silent.log') },
    });
    programs.push(silent.program);
    const sharing =
      redis &&
      (await startApi({ ...shared, redisUrl: redis.url, logFile: join(LOGS, 'api-redis.log') }));
    if (sharing !== undefined) programs.push(sharing.program);
    const headers = { 'x-api-key': partner.apiKey };
    const to = (pick: (request: number) => Address, port = api.port): Target => ({
      port,
      headers,
      path: (request) => pathFor(pick(request)),
    });
    const body = await verifiedBody(api.port, partner);
    const bare = await startBare(body, partner.sharedSecret);
    programs.push(bare.program);
    const walk = (request: number): Address => walletAt(1 + (request % (wallets - 1)));
    const scenarios: Scenario[] = [
      {
        name: 'bare server',
        ...bare,
        target: { port: bare.port, headers, path: () => pathFor(QUIET) },
      },
      { name: CACHED, ...api, target: to(() => QUIET) },
      { name: 'the same, REQUEST_LOG=0', ...silent, target: to(() => QUIET, silent.port) },
      { name: ALL_WALLETS, ...api, target: to(walk) },
    ];
    if (sharing !== undefined) {
      const { port } = sharing;
      // Fills Redis with all wallets.
      await putLoad(to(walk, port), { connections: 16, ms: FILL_MS });
      scenarios.push(
        { name: 'cached, with Redis', ...sharing, target: to(() => QUIET, port) },
        { name: 'all wallets, in Redis', ...sharing, target: to(walk, port) },
      );
    }
    const compared: Compared[] = [];
    for (const connections of numbersOf(options.connections))
      compared.push(await compare(scenarios, connections));
    await countStatements(client, to(walk));
    await report(options, 'api', {
      tables: compared.map((one) => one.table),
      marks: compared.at(-1)?.marks ?? {},
    });
    console.log(
      `body ${count(body.length)} bytes; peak memory of the api ${count(api.program.peakMebibytes() ?? 0)} MiB`,
    );
  } finally {
    for (const program of programs) await program.stop();
    await redis?.stop();
  }
}

interface Compared {
  readonly table: Table;
  readonly marks: MeasuredMarks;
}

async function compare(scenarios: readonly Scenario[], connections: number): Promise<Compared> {
  const ms = numberOf(options.seconds) * 1000;
  const figures = new Map<string, Figures>(
    scenarios.map(({ name }) => [
      name,
      { perSecond: [], p50Ms: [], p99Ms: [], cpuMicroseconds: [] },
    ]),
  );
  for (const { target } of scenarios) await putLoad(target, { connections, ms: 1000 });
  for (let round = 0; round < numberOf(options.runs); round += 1) {
    say(`  ${connections} connections, round ${round + 1}`);
    for (const { name, program, target } of scenarios) {
      const cpuBefore = program.cpuSeconds();
      const { requests, seconds, latenciesMs } = await putLoad(target, { connections, ms });
      const found = figures.get(name);
      found?.perSecond.push(requests / seconds);
      found?.p50Ms.push(median(latenciesMs));
      found?.p99Ms.push(percentile(latenciesMs, 0.99));
      found?.cpuMicroseconds.push(((program.cpuSeconds() - cpuBefore) / requests) * 1e6);
    }
  }
  const base = figures.get(scenarios[0]?.name ?? '');
  const baseCpu = median(base?.cpuMicroseconds ?? []);
  const basePerSecond = median(base?.perSecond ?? []);
  const head = ['requests/s', 'of bare', 'p50 ms', 'p99 ms', 'CPU µs', 'x bare'];
  const shown: Table = {
    head: [`${connections} connections`, ...head],
    rows: [...figures].map(([name, found]) => [
      name,
      count(median(found.perSecond)),
      fixed(median(found.perSecond) / basePerSecond),
      fixed(median(found.p50Ms)),
      fixed(median(found.p99Ms)),
      count(median(found.cpuMicroseconds)),
      fixed(median(found.cpuMicroseconds) / baseCpu),
    ]),
  };
  const ratios = (name: string): number[] =>
    (figures.get(name)?.cpuMicroseconds ?? []).map(
      (cpu, round) => cpu / (base?.cpuMicroseconds[round] ?? Number.NaN),
    );
  return {
    table: shown,
    marks: Object.fromEntries(MARKS.map(([mark, name]) => [mark, ratios(name)])),
  };
}

/** Counts the statements that the database executes per uncached read. */
async function countStatements(client: pg.Client, target: Target): Promise<void> {
  await client.query('SELECT pg_stat_statements_reset()');
  const { requests } = await putLoad(target, { connections: 4, ms: 2000 });
  const { rows } = await client.query<{ query: string; calls: string }>(`
    SELECT left(regexp_replace(query, '\\s+', ' ', 'g'), 60) AS query, calls::text
    FROM pg_stat_statements JOIN pg_roles r ON r.oid = userid
    WHERE query NOT LIKE '%pg_stat_statements%' ORDER BY pg_stat_statements.calls DESC`);
  table(
    [`statements for ${count(requests)} reads`, 'calls', 'per read'],
    rows.map(({ query, calls }) => [query, calls, fixed(Number(calls) / requests, 4)]),
  );
}

function pathFor(wallet: Address): string {
  return `/api/staking/snapshots?walletAddress=${wallet}&lastDays=${LAST_DAYS}`;
}

/** The API's answer for the busiest wallet, with its signature verified as a partner does. */
async function verifiedBody(
  port: number,
  { apiKey, sharedSecret }: { apiKey: string; sharedSecret: string },
): Promise<string> {
  const url = `http://127.0.0.1:${port}${pathFor(BUSIEST)}`;
  const answer = await fetch(url, { headers: { 'x-api-key': apiKey } });
  const body = await answer.text();
  const content = signedContent({ method: 'GET', path: pathOf(url), body });
  const signature = answer.headers.get('x-api-signature') ?? undefined;
  if (answer.status !== 200 || !verifySignature(sharedSecret, content, signature))
    throw new Error(`the API answered ${answer.status}: ${body}`);
  return body;
}

function noRedis(error: Error): undefined {
  console.log(`Without the scenarios with Redis: ${error.message}`);
  return undefined;
}

async function startBare(body: string, secret: string): Promise<Listening> {
  const program = Program.start(join(import.meta.dirname, 'api', 'bare.program.js'), {
    args: [JSON.stringify({ body, secret })],
    logFile: join(LOGS, 'bare.log'),
  });
  return { program, port: await portIn(program, /"port":(\d+)/) };
}

await main();
