/**
 * The cost of a batch of wallets, compared with single requests for as many wallets. The API runs as a separate
 * program, and the same client sends both in turn. The wallets take turns, and there are more of them than one process
 * caches. So a batch reads all of its wallets from the database, and a single request reads its one. Batches are sent
 * one after the other, and over several connections at once. In addition, single requests for one wallet are measured
 * while batches are answered.
 *
 *   npm run bench -- batch [--wallets 50000] [--changes 1000000] [--size 1000] [--batches 40] [--seconds 3]
 *     [--connections 16] [--write-docs yes]
 */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { type Address } from '#libs/domain';
import { pathOf, signedContent, verifySignature } from '#libs/signing';
import { putLoad, type Target } from './api/load.js';
import { seedIndex, seedPartner } from './api/seed.js';
import { startApi } from './support/api-program.js';
import { BenchServer } from './support/bench-database.js';
import { count, fixed, median, percentile } from './support/figures.js';
import { numberOf, readOptions } from './support/options.js';
import { walletAt } from './support/random.js';
import { report, REPORT_OPTIONS, type Table } from './support/report.js';

const LOGS = join('.data', 'bench');
const PATH = '/api/staking/snapshots/batch';
const LAST_DAYS = [7, 30];
const DAYS = 35;
/** The size of the API's connection pool to the database. */
const BATCH_CONNECTIONS = 4;

const options = readOptions({
  wallets: '50000',
  changes: '1000000',
  size: '1000',
  batches: '40',
  seconds: '3',
  connections: '16',
  ...REPORT_OPTIONS,
});

interface Client {
  readonly port: number;
  readonly apiKey: string;
  readonly sharedSecret: string;
}

const wallets = numberOf(options.wallets);
/** The wallets take turns, so that the wallet read last is asked for again only after all others. */
let turn = 0;
const nextWallet = (): Address => walletAt(1 + (turn++ % (wallets - 1)));

async function main(): Promise<void> {
  await mkdir(LOGS, { recursive: true });
  const server = await BenchServer.start();
  try {
    await server.withDatabase(async (url) => {
      const changes = numberOf(options.changes);
      await seedIndex(url, { wallets, changes, days: DAYS, nowMs: Date.now() });
      await compare(url);
    });
  } finally {
    await server.stop();
  }
}

async function compare(databaseUrl: string): Promise<void> {
  const secretsKey = randomBytes(32).toString('base64');
  const partner = await seedPartner(databaseUrl, secretsKey);
  const logFile = join(LOGS, 'batch-api.log');
  const { program, port } = await startApi({ databaseUrl, secretsKey, logFile });
  const agent = new Agent({ keepAlive: true });
  try {
    const client = { port, ...partner };
    const tables: Table[] = [];
    for (const lastDays of LAST_DAYS) tables.push(...(await compareDays(client, agent, lastDays)));
    await report(options, 'batch', { tables });
    console.log(`peak memory of the api ${count(program.peakMebibytes() ?? 0)} MiB`);
  } finally {
    agent.destroy();
    await program.stop();
  }
}

async function compareDays(client: Client, agent: Agent, lastDays: number): Promise<Table[]> {
  const size = numberOf(options.size);
  const connections = numberOf(options.connections);
  const ms = numberOf(options.seconds) * 1000;
  const headers = { 'x-api-key': client.apiKey };
  const pathFor = (wallet: Address): string =>
    `/api/staking/snapshots?walletAddress=${wallet}&lastDays=${lastDays}`;
  const single = (pick: () => Address): Target => ({
    ...{ port: client.port, headers },
    path: () => pathFor(pick()),
  });
  await putLoad(single(nextWallet), { connections, ms: 1000 });
  const alone = await putLoad(single(nextWallet), { connections, ms });
  for (let warm = 0; warm < 5; warm += 1) await sendBatch(client, agent, lastDays);
  const batchMs = await timeBatches(client, agent, lastDays);
  const [severalMs, severalSeconds] = await timeAtOnce(client, agent, lastDays);
  const beside = single(() => walletAt(1));
  const quiet = await putLoad(beside, { connections: 1, ms });
  const over = new AbortController();
  const batches = (async () => {
    // The answers are not checked, since the check would also delay the client of the single requests.
    while (!over.signal.aborted) await post(client, agent, nextBatch(lastDays));
  })();
  const disturbed = await putLoad(beside, { connections: 1, ms });
  over.abort();
  await batches;
  const perSecond = (size * 1000) / median(batchMs);
  const singles = alone.requests / alone.seconds;
  return [
    {
      head: [`${lastDays} days`, 'p50 ms', 'p99 ms', 'wallets/s', 'x single'],
      rows: [
        row(`single, ${connections} connections`, alone.latenciesMs, singles, singles),
        row(`batch of ${count(size)}, one connection`, batchMs, perSecond, singles),
        row(
          `batch of ${count(size)}, ${BATCH_CONNECTIONS} connections`,
          severalMs,
          (size * severalMs.length) / severalSeconds,
          singles,
        ),
      ],
    },
    {
      head: ['one wallet, one connection', 'p50 ms', 'p99 ms'],
      rows: [
        ['alone', ...latencies(quiet.latenciesMs)],
        ['while batches are answered', ...latencies(disturbed.latenciesMs)],
      ],
    },
  ];
}

function row(name: string, ms: readonly number[], perSecond: number, singles: number): string[] {
  return [name, ...latencies(ms), count(perSecond), fixed(perSecond / singles, 1)];
}

const latencies = (ms: readonly number[]): string[] => [
  fixed(median(ms)),
  fixed(percentile(ms, 0.99)),
];

async function timeBatches(client: Client, agent: Agent, lastDays: number): Promise<number[]> {
  const batchMs: number[] = [];
  for (let batch = 0; batch < numberOf(options.batches); batch += 1) {
    batchMs.push(await sendBatch(client, agent, lastDays));
  }
  return batchMs;
}

/**
 * Sends all batches over several connections, without checking the answers. @returns the milliseconds of each batch,
 * and the seconds until all were answered
 */
async function timeAtOnce(
  client: Client,
  agent: Agent,
  lastDays: number,
): Promise<[milliseconds: number[], seconds: number]> {
  const batchMs: number[] = [];
  let left = numberOf(options.batches);
  const startMs = performance.now();
  const connection = async (): Promise<void> => {
    while (left-- > 0) {
      const sentMs = performance.now();
      await post(client, agent, nextBatch(lastDays));
      batchMs.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: BATCH_CONNECTIONS }, connection));
  return [batchMs, (performance.now() - startMs) / 1000];
}

/**
 * Sends one batch and verifies its answer. @returns the milliseconds until the last byte arrived; the verification
 * comes after this time, and single requests are not verified
 */
async function sendBatch(client: Client, agent: Agent, lastDays: number): Promise<number> {
  const sent = nextBatch(lastDays);
  const startMs = performance.now();
  const { status, signature, bytes } = await post(client, agent, sent);
  const tookMs = performance.now() - startMs;
  const body = bytes.toString();
  const content = signedContent({ method: 'POST', path: pathOf(PATH), body });
  if (status !== 200 || !verifySignature(client.sharedSecret, content, signature)) {
    throw new Error(`the API answered ${status}: ${body.slice(0, 200)}`);
  }
  const { results } = JSON.parse(body) as { results: { status: number }[] };
  if (results.some((one) => one.status !== 200)) throw new Error('a wallet has no snapshots');
  return tookMs;
}

function nextBatch(lastDays: number): string {
  const walletAddresses = Array.from({ length: numberOf(options.size) }, nextWallet);
  return JSON.stringify({ walletAddresses, lastDays });
}

interface Answer {
  readonly status: number;
  readonly signature: string | undefined;
  readonly bytes: Buffer;
}

function post({ port, apiKey }: Client, agent: Agent, sent: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    const asked = request(
      { ...{ host: '127.0.0.1', port, path: PATH, method: 'POST' }, headers, agent },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject).on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            signature: response.headers['x-api-signature'] as string | undefined,
            bytes: Buffer.concat(parts),
          });
        });
      },
    );
    asked.on('error', reject).end(sent);
  });
}

await main();
