/**
 * The effect of reading from standbys: the API with none, one, two and three of them. All servers and the client run on
 * this machine. The APIs are asked in turn for more wallets than a process caches, so that each wallet is read from a
 * database. Per read, the CPU time of the API, of the primary and of all standbys together is shown. In addition, the
 * CPU time of the standbys without requests shows the cost of replay and of asking for their replication lag.
 *
 *   npm run bench -- replicas [--wallets 20000] [--changes 100000] [--standbys 3] [--runs 3] [--seconds 3]
 *     [--connections 16] [--write-docs yes]
 */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReplicatedPostgres, type ReplicatedServer } from '#libs/testing';
import { putLoad, type Target } from './api/load.js';
import { seedIndex, seedPartner } from './api/seed.js';
import { type Listening, startApi } from './support/api-program.js';
import { count, fixed, median } from './support/figures.js';
import { numberOf, readOptions } from './support/options.js';
import { familyCpuSeconds } from './support/program.js';
import { say } from './support/progress.js';
import { report, REPORT_OPTIONS, type Table } from './support/report.js';
import { walletAt } from './support/random.js';

const LOGS = join('.data', 'bench');
const DAYS = 35;
/** Wait until the APIs have found their standbys, and length of the measurement without requests. */
const REST_MS = 3000;

const options = readOptions({
  wallets: '20000',
  changes: '100000',
  standbys: '3',
  runs: '3',
  seconds: '3',
  connections: '16',
  ...REPORT_OPTIONS,
});

/** CPU seconds since the start of the processes. */
interface Cpu {
  readonly api: number;
  readonly primary: number;
  readonly standbys: number;
}

interface Measured extends Cpu {
  readonly requests: number;
  readonly seconds: number;
}

async function main(): Promise<void> {
  await mkdir(LOGS, { recursive: true });
  const postgres = await ReplicatedPostgres.start(numberOf(options.standbys));
  try {
    const { url } = postgres.primary;
    const [wallets, changes] = [numberOf(options.wallets), numberOf(options.changes)];
    await seedIndex(url, { wallets, changes, days: DAYS, nowMs: Date.now() });
    await postgres.level();
    await compare(postgres);
  } finally {
    await postgres.stop();
  }
}

async function compare({ primary, standbys }: ReplicatedPostgres): Promise<void> {
  const secretsKey = randomBytes(32).toString('base64');
  const { apiKey } = await seedPartner(primary.url, secretsKey);
  const apis: Listening[] = [];
  const rows = new Map<number, Measured[]>();
  try {
    for (let used = 0; used <= standbys.length; used += 1) {
      const readUrls = standbys.slice(0, used).map((standby) => standby.urlAs('api'));
      const logFile = join(LOGS, `replicas-${used}.log`);
      apis.push(
        await startApi({ databaseUrl: primary.urlAs('api'), readUrls, secretsKey, logFile }),
      );
      rows.set(used, []);
    }
    await sleep(REST_MS);
    const ms = numberOf(options.seconds) * 1000;
    const connections = numberOf(options.connections);
    for (let round = 0; round <= numberOf(options.runs); round += 1) {
      say(`  round ${round}`);
      for (const [used, api] of apis.entries()) {
        const cpu = (): Cpu => cpuOf(api, primary, standbys);
        const before = cpu();
        const { requests, seconds } = await putLoad(targetOf(api.port, apiKey), {
          connections,
          ms,
        });
        const found = { ...difference(cpu(), before), requests, seconds };
        // The first round only warms up.
        if (round > 0) rows.get(used)?.push(found);
      }
    }
    const reads = readsTable(rows);
    const before = apis.map((api) => cpuOf(api, primary, standbys));
    await sleep(REST_MS);
    const after = apis.map((api) => cpuOf(api, primary, standbys));
    const [first, last] = [before[0], after[0]];
    if (first === undefined || last === undefined) throw new Error('an API was started');
    const rest = difference(last, first);
    const perSecond = (seconds: number): string => fixed((seconds / REST_MS) * 1e6, 1);
    const atRest: Table = {
      head: ['at rest', 'CPU ms a second: primary', 'standbys together'],
      rows: [[`${apis.length} APIs`, perSecond(rest.primary), perSecond(rest.standbys)]],
    };
    await report(options, 'replicas', { tables: [reads, atRest] });
  } finally {
    for (const { program } of apis) await program.stop();
  }
}

function readsTable(rows: ReadonlyMap<number, readonly Measured[]>): Table {
  const perRead = (found: readonly Measured[], of: keyof Cpu): string =>
    count(median(found.map((one) => (one[of] / one.requests) * 1e6)));
  return {
    head: ['standbys', 'reads/s', 'CPU µs a read: api', 'primary', 'standbys together'],
    rows: [...rows].map(([used, found]) => [
      String(used),
      count(median(found.map(({ requests, seconds }) => requests / seconds))),
      perRead(found, 'api'),
      perRead(found, 'primary'),
      perRead(found, 'standbys'),
    ]),
  };
}

function cpuOf(
  api: Listening,
  primary: ReplicatedServer,
  standbys: readonly ReplicatedServer[],
): Cpu {
  return {
    api: api.program.cpuSeconds(),
    primary: familyCpuSeconds(primary.pid),
    standbys: standbys.reduce((sum, { pid }) => sum + familyCpuSeconds(pid), 0),
  };
}

function difference(after: Cpu, before: Cpu): Cpu {
  return {
    api: after.api - before.api,
    primary: after.primary - before.primary,
    standbys: after.standbys - before.standbys,
  };
}

function targetOf(port: number, apiKey: string): Target {
  const wallets = numberOf(options.wallets) - 1;
  const path = (request: number): string =>
    `/api/staking/snapshots?walletAddress=${walletAt(1 + (request % wallets))}&lastDays=30`;
  return { port, headers: { 'x-api-key': apiKey }, path };
}

await main();
