/**
 * The operators' overview with many redemptions in the database: each of its routes, one after the other as a page asks for them, beside
 * `SELECT 1` on a connection of its own and `/health/live` of the same server. The services that it asks are not there.
 *
 *   npm run bench -- console [--redemptions 1000000] [--rounds 300]
 */
import { mkdir } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { ConsoleSessionStore, createDatabase } from '#libs/db';
import { newToken } from '#libs/signing';
import { portIn } from './support/api-program.js';
import { BenchServer } from './support/bench-database.js';
import { count, fixed, percentile, table } from './support/figures.js';
import { numberOf, readOptions } from './support/options.js';
import { Program } from './support/program.js';
import { say } from './support/progress.js';

const LOGS = join('.data', 'bench');
const CONSOLE = join(import.meta.dirname, '..', 'apps', 'console', 'src', 'main.js');
const DAY_MS = 86_400_000;
const CARDS = ['redemptions', 'index', 'prices', 'alerts', 'services'];

const options = readOptions({ redemptions: '1000000', rounds: '300' });

async function main(): Promise<void> {
  await mkdir(LOGS, { recursive: true });
  const server = await BenchServer.start();
  try {
    await server.withDatabase(async (url, client) => {
      say(`  writing ${count(numberOf(options.redemptions))} redemptions`);
      await seed(client);
      await measure(url, client);
    });
  } finally {
    await server.stop();
  }
}

/** A year of them: most are claimed, one in ten has failed, one in 500 is open, one in 10,000 waits for a person. */
async function seed(client: pg.Client): Promise<void> {
  // As they are after their transitions, which take hours for a million.
  await client.query('SET session_replication_role = replica');
  await client.query(SEED, [numberOf(options.redemptions)]);
  await client.query('RESET session_replication_role');
  await client.query('VACUUM (ANALYZE) redemption.redemption');
  await client.query('CHECKPOINT');
}

const SEED = `
  INSERT INTO redemption.redemption (id, partner, wallet, points, usd_amount, token_amount, token_decimals, price_usd,
    quote_expires_at, initial_at, state, version, reason, resume, exposure, unproven_attempts, candidate_transaction_ids,
    redemption_id_refuted, deduct_attempts, payout_attempts, revert_attempts, next_action_at, state_since_at, pending_at,
    partner_transaction_id, deducted_at, authorised_at, claimed_at, failed_at, plan_recipient, plan_amount,
    plan_deadline_seconds, plan_vault, plan_chain_id, plan_from_block, paid_evidence)
  SELECT r.id, r.partner, r.wallet, 5000, 50, 340e18, 18, 0.15, r.at + interval '1 minute', r.at, r.state, 5,
    CASE WHEN r.state = 'attention' THEN 'deduction-unresolved' END, CASE WHEN r.state = 'attention' THEN 'reverting' END,
    CASE WHEN r.state = 'claimed' THEN 'possible' ELSE 'none' END, 0, '{}', false, 1, 0, 0,
    CASE WHEN r.state = 'created' THEN r.at END, r.at, CASE WHEN r.state <> 'created' THEN r.at END,
    CASE WHEN r.isClaimed THEN 'tx-' || r.n END, CASE WHEN r.isClaimed THEN r.at END, CASE WHEN r.isClaimed THEN r.at END,
    CASE WHEN r.isClaimed THEN r.at END, CASE WHEN r.state = 'failed' THEN r.at END, CASE WHEN r.isClaimed THEN r.wallet END,
    CASE WHEN r.isClaimed THEN 340e18 END, CASE WHEN r.isClaimed THEN 1 END,
    CASE WHEN r.isClaimed THEN decode(repeat('7a', 20), 'hex') END, CASE WHEN r.isClaimed THEN 1 END,
    CASE WHEN r.isClaimed THEN 1 END, CASE WHEN r.isClaimed THEN '{"outcome": "paid"}'::jsonb END
  FROM (SELECT n, at, state, state = 'claimed' AS isClaimed,
      (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8'
        || lpad(to_hex(n), 15, '0'))::uuid AS id,
      ('00000000-0000-4000-8000-' || lpad(to_hex(n % 20), 12, '0'))::uuid AS partner,
      decode(lpad(to_hex(n), 40, '0'), 'hex') AS wallet
    FROM (SELECT n, now() - n * (interval '365 days' / $1::int) AS at,
        CASE WHEN n % 10000 = 5 THEN 'attention' WHEN n % 500 = 1 THEN 'created' WHEN n % 10 = 3 THEN 'failed'
          ELSE 'claimed' END AS state
      FROM generate_series(1, $1::int) AS n) AS made) AS r`;

async function measure(databaseUrl: string, client: pg.Client): Promise<void> {
  const token = await signIn(databaseUrl);
  const program = Program.start(CONSOLE, {
    logFile: join(LOGS, 'console.log'),
    environment: {
      DATABASE_URL: databaseUrl,
      CONSOLE_PORT: '0',
      CONSOLE_HOST: '127.0.0.1',
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
    const asked: (readonly [string, () => Promise<unknown>])[] = [
      ['SELECT 1', () => client.query('SELECT 1')],
      ['/health/live', ask('/health/live')],
      ...cards,
      ['all cards at once', whole],
    ];
    const rows: string[][] = [];
    for (const [name, work] of asked) rows.push([name, ...(await timesOf(work))]);
    console.log(
      `load of the machine: ${loadavg()
        .map((load) => fixed(load, 1))
        .join(' ')}`,
    );
    table(['overview', 'median ms', 'p95 ms', 'p99 ms'], rows);
  } finally {
    await program.stop();
  }
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
