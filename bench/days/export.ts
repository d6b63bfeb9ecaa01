/**
 * The list of a sealed day, sent by the API as a separate program, and its effect on ordinary reads and proofs
 * meanwhile.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { type SealedDay } from '#libs/db';
import { dayText } from '#libs/domain';
import { putLoad, type Target } from '../api/load.js';
import { seedPartner } from '../api/seed.js';
import { type Listening, startApi } from '../support/api-program.js';
import { count, fixed, median, percentile, table } from '../support/figures.js';

const LOGS = join('.data', 'bench');
const READS_MS = 4000;

interface Client {
  readonly api: Listening;
  readonly apiKey: string;
  readonly day: SealedDay;
}

/** The same addresses as those of `seed` in bench/days.ts. */
const walletAt = (number: number): string =>
  `0x${createHash('sha256').update(String(number)).digest('hex').slice(0, 40)}`;

/** @param url of an index with this day sealed and its list stored */
export async function measureExport(url: string, day: SealedDay): Promise<void> {
  await mkdir(LOGS, { recursive: true });
  const secretsKey = randomBytes(32).toString('base64');
  const { apiKey } = await seedPartner(url, secretsKey);
  const logFile = join(LOGS, 'days-api.log');
  const api = await startApi({ databaseUrl: url, secretsKey, logFile });
  try {
    const client = { api, apiKey, day };
    await putLoad(readsOf(client), { connections: 1, ms: 1000 });
    await measureLists(client);
    await measureBeside(client);
  } finally {
    await api.program.stop();
  }
}

async function measureLists(client: Client): Promise<void> {
  const { program } = client.api;
  const rows = [['before', '', '', '', fixed(program.peakMebibytes() ?? 0, 0)]];
  for (const [form, coding] of [
    ['ndjson', 'identity'],
    ['csv', 'identity'],
    ['ndjson', 'gzip'],
  ] as const) {
    const cpuBefore = program.cpuSeconds();
    const startMs = performance.now();
    const bytes = await download(client, form, coding);
    const seconds = (performance.now() - startMs) / 1000;
    rows.push([
      `${form}, ${coding}`,
      fixed(seconds),
      fixed(program.cpuSeconds() - cpuBefore),
      fixed(bytes / 1e6, 1),
      fixed(program.peakMebibytes() ?? 0, 0),
    ]);
  }
  console.log();
  table([`list of ${count(client.day.wallets)}`, 's', 'CPU s', 'MB', 'peak MiB of the api'], rows);
}

/** Measures reads of one wallet at a time on one connection. */
async function measureBeside(client: Client): Promise<void> {
  const rows: string[][] = [];
  const measure = async (name: string, beside: (over: AbortSignal) => Promise<unknown>) => {
    const over = new AbortController();
    const besides = beside(over.signal);
    const { latenciesMs } = await putLoad(readsOf(client), { connections: 1, ms: READS_MS });
    over.abort();
    await besides;
    rows.push([name, fixed(median(latenciesMs)), fixed(percentile(latenciesMs, 0.99))]);
  };
  await measure('alone', () => Promise.resolve());
  await measure('beside a list', async (over) => {
    while (!over.aborted) await download(client, 'ndjson', 'identity');
  });
  await measure('beside a packed list', async (over) => {
    while (!over.aborted) await download(client, 'ndjson', 'gzip');
  });
  await measure('beside proofs', () => putLoad(proofsOf(client), { connections: 1, ms: READS_MS }));
  await measure('alone again', () => Promise.resolve());
  console.log();
  table(['ordinary reads', 'p50 ms', 'p99 ms'], rows);
}

const targetOf = ({ api, apiKey }: Client, path: Target['path']): Target => ({
  ...{ port: api.port, path },
  headers: { 'x-api-key': apiKey },
});

/** Reads of a past window: nothing of these is cached, so each is read from the database. */
const readsOf = (client: Client): Target =>
  targetOf(client, (number) => {
    const wallet = walletAt(number % client.day.wallets);
    return `/api/staking/snapshots?walletAddress=${wallet}&lastDays=1&endDay=${dayText(client.day.day - 1)}`;
  });

const proofsOf = (client: Client): Target =>
  targetOf(client, (number) => {
    const wallet = walletAt(number % client.day.wallets);
    return `/api/staking/days/${dayText(client.day.day)}/proof?walletAddress=${wallet}`;
  });

/** @returns the size of the body in bytes, as transferred */
function download({ api, apiKey, day }: Client, form: string, coding: string): Promise<number> {
  const path = `/api/staking/days/${dayText(day.day)}/wallets.${form}`;
  const headers = { 'x-api-key': apiKey, 'accept-encoding': coding };
  const agent = new Agent();
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port: api.port, path, headers, agent }, (response) => {
      let bytes = 0;
      response.on('data', (part: Buffer) => (bytes += part.length));
      response.on('error', reject).on('end', () => {
        if (response.statusCode === 200) resolve(bytes);
        else reject(new Error(`the API answered ${String(response.statusCode)}`));
      });
    })
      .on('error', reject)
      .end();
  });
}
