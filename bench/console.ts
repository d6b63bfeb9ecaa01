/**
 * The operators' pages with many redemptions in the database: the overview, the search and the attention queue, each
 * requested one after the other as a page does. They are compared with `SELECT 1` on a separate connection and with
 * `/health/live` of the same server. The services that the overview asks do not run.
 * libs/db/src/redemption/redemption-pages.int-spec.ts tests which index serves each query.
 *
 *   npm run bench -- console [--redemptions 1000000] [--rounds 300] [--write-docs yes]
 */
import { mkdir } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { ConsoleSessionStore, createDatabase } from '#libs/db';
import { newToken } from '#libs/signing';
import { seedRedemptions } from '#libs/testing/database';
import { portIn } from './support/api-program.js';
import { BenchServer } from './support/bench-database.js';
import { count, fixed, percentile } from './support/figures.js';
import { numberOf, readOptions } from './support/options.js';
import { Program } from './support/program.js';
import { say } from './support/progress.js';
import { report, REPORT_OPTIONS } from './support/report.js';

const LOGS = join('.data', 'bench');
const CONSOLE = join(import.meta.dirname, '..', 'apps', 'console', 'src', 'main.js');
const DAY_MS = 86_400_000;
const FAR_PAGE = 100;
const CARDS = ['redemptions', 'index', 'prices', 'alerts', 'services'];

const options = readOptions({ redemptions: '1000000', rounds: '300', ...REPORT_OPTIONS });

async function main(): Promise<void> {
  await mkdir(LOGS, { recursive: true });
  const server = await BenchServer.start();
  try {
    await server.withDatabase(async (url, client) => {
      say(`  writing ${count(numberOf(options.redemptions))} redemptions`);
      await seedRedemptions(client, numberOf(options.redemptions));
      await client.query(PARTNERS);
      await client.query('CHECKPOINT');
      await measure(url, client);
    });
  } finally {
    await server.stop();
  }
}

/** Inserts the partners of the seeded redemptions. */
const PARTNERS = `INSERT INTO partners.partner (id, name, rate, burst)
  SELECT DISTINCT partner, 'Partner ' || right(partner::text, 2), 20, 100 FROM redemption.redemption`;

async function measure(databaseUrl: string, client: pg.Client): Promise<void> {
  const token = await signIn(databaseUrl);
  const program = Program.start(CONSOLE, {
    logFile: join(LOGS, 'console.log'),
    environment: {
      DATABASE_URL: databaseUrl,
      CONSOLE_PORT: '0',
      LISTEN_HOST: '127.0.0.1',
      REDEMPTION_URL: 'http://127.0.0.1:1',
      API_URL: 'http://127.0.0.1:1',
      LOG_LEVEL: 'info',
    },
  });
  try {
    const origin = `http://127.0.0.1:${await portIn(program, /127\.0\.0\.1:(\d{2,5})"/)}`;
    const ask = (path: string) => async (): Promise<void> => {
      const cookie = `lowmark-console=${token}`;
      const answer = await fetch(`${origin}${path}`, { headers: { cookie } });
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}`);
    };
    const cards = CARDS.map((name) => [name, ask(`/api/operate/overview/${name}`)] as const);
    const whole = async (): Promise<void> => {
      await Promise.all(cards.map(([, card]) => card()));
    };
    const searches = (await searchesOf(client)).map(([name, query]) => {
      return [name, ask(`/api/operate/redemptions${query}`)] as const;
    });
    const queue = await queuePages(origin, token);
    const asked: (readonly [string, () => Promise<unknown>])[] = [
      ['SELECT 1', () => client.query('SELECT 1')],
      ['/health/live', ask('/health/live')],
      ...cards,
      ['all cards at once', whole],
      ...searches,
      ...queue.map(([name, path]) => [name, ask(path)] as const),
    ];
    const rows: string[][] = [];
    for (const [name, work] of asked) {
      say(`  ${name}`);
      rows.push([name, ...(await timesOf(work))]);
    }
    console.log(
      `load of the machine: ${loadavg()
        .map((load) => fixed(load, 1))
        .join(' ')}`,
    );
    const head = ['asked', 'median ms', 'p95 ms', 'p99 ms'];
    await report(options, 'console', { tables: [{ head, rows }] });
  } finally {
    await program.stop();
  }
}

/**
 * Queries as operators use them: by an id, wallet or partner that a player or a partner has named, or by a filter
 * alone.
 */
async function searchesOf(client: pg.Client): Promise<(readonly [string, string])[]> {
  const { rows } = await client.query<{ id: string; partner: string; wallet: string }>(
    `SELECT id, partner, '0x' || encode(wallet, 'hex') AS wallet FROM redemption.redemption
      WHERE state = 'claimed' ORDER BY id OFFSET $1 LIMIT 1`,
    [Math.floor(numberOf(options.redemptions) / 2)],
  );
  const { id = '', partner = '', wallet = '' } = rows[0] ?? {};
  return [
    ['search: the newest', ''],
    ['search: an id', `?id=${id}`],
    ['search: the beginning of an id', `?id=${id.slice(0, 10)}`],
    ['search: a wallet', `?wallet=${wallet}`],
    ['search: a wallet without any', `?wallet=0x${'f'.repeat(40)}`],
    ['search: a partner', `?partner=${partner}`],
    ['search: failed of a partner', `?partner=${partner}&state=failed`],
    ['search: a state that none has', '?state=reverted'],
    ['search: behind half of them', `?after=${id}`],
  ];
}

/**
 * The first page of the queue and a page far behind it, which is reached by following the cursors of the pages before.
 */
async function queuePages(origin: string, token: string): Promise<(readonly [string, string])[]> {
  const cookie = `lowmark-console=${token}`;
  const path = '/api/operate/redemptions/queue';
  let query = '';
  for (let page = 1; page < FAR_PAGE; page += 1) {
    const answer = await fetch(`${origin}${path}${query}`, { headers: { cookie } });
    const { next } = (await answer.json()) as { next: string | null };
    if (next === null) throw new Error(`The queue has ${page} pages: seed more redemptions`);
    query = `?after=${encodeURIComponent(next)}`;
  }
  return [
    ['queue: the first page', path],
    [`queue: page ${FAR_PAGE}`, `${path}${query}`],
  ];
}

async function signIn(databaseUrl: string): Promise<string> {
  const database = await createDatabase({
    url: databaseUrl,
    applicationName: 'bench',
    poolSize: 1,
  });
  try {
    const { token, tokenHash } = newToken();
    const nowMs = Date.now();
    await new ConsoleSessionStore(database).open({
      tokenHash,
      standing: { kind: 'operator', role: 'viewer' },
      ...{ subject: 'link:bench', name: 'bench', nowMs, expiresAtMs: nowMs + DAY_MS },
    });
    return token;
  } finally {
    await database.close();
  }
}

const WARM_UP = 20;

async function timesOf(work: () => Promise<unknown>): Promise<string[]> {
  const times: number[] = [];
  for (let round = -WARM_UP; round < numberOf(options.rounds); round++) {
    const begun = performance.now();
    await work();
    if (round >= 0) times.push(performance.now() - begun);
  }
  return [0.5, 0.95, 0.99].map((part) => fixed(percentile(times, part), 1));
}

await main();
