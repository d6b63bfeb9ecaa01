/**
 * Runs the real programs with a searchable value for every secret, and with a partner that repeats everything it
 * receives. Then searches all output of the programs for the secrets.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createSiweMessage } from 'viem/siwe';
import { testConstants } from '#libs/config';
import { VoucherSigner } from '#libs/chain';
import { PriceStore } from '#libs/db';
import { freePort } from '#libs/devprocess';
import { aWallet, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { FakePartner } from '#libs/testing/partner';
import { compileCache } from '#libs/testing/programs';
import { VaultBench } from '#libs/testing/vault';
import { Echo, type Mode } from './echo.js';

const SIGNER_KEY = VaultBench.SIGNER_KEY;
const EVIDENCE_KEY = randomBytes(32).toString('base64');
const SECRETS_KEY = randomBytes(32).toString('base64');
const CALLBACK_KEY = `callback-key-${randomBytes(12).toString('hex')}`;
const CALLBACK_SECRET = `callback-secret-${randomBytes(12).toString('hex')}`;
const RPC_SECRET = `rpc-secret-${randomBytes(12).toString('hex')}`;
const DATABASE_PASSWORD = `database-password-${randomBytes(8).toString('hex')}`;
const LIMIT_MS = 60_000;

const program = (app: string) => resolve(`dist/apps/${app}/src/main.js`);
const run = promisify(execFile);

let database: TestDatabase;
let bench: VaultBench;
let partner: FakePartner;
const echo = new Echo(CALLBACK_SECRET);
let folder: string;
let environment: NodeJS.ProcessEnv;
let service: ChildProcess;
let url: string;
/** Everything that a program printed, answered or stored, by where it was found. */
const found = new Map<string, string>();
const commandLines = new Set<string>();
const tokens: string[] = [];

function keep(where: string, text: string): void {
  found.set(where, (found.get(where) ?? '') + text);
}

async function cli(...args: string[]): Promise<string> {
  const running = run(process.execPath, [program('cli'), ...args], { env: environment });
  await keepCommandLine(running.child.pid);
  const { stdout, stderr } = await running;
  keep('cli', stdout + stderr);
  return stdout;
}

async function keepCommandLine(pid: number | undefined): Promise<void> {
  commandLines.add(await readFile(`/proc/${pid ?? 0}/cmdline`, 'utf8').catch(() => ''));
}

async function call(method: string, path: string, options: { token?: string; body?: object } = {}) {
  const { token, body } = options;
  const answer = await fetch(url + path, {
    method,
    headers: {
      'content-type': 'application/json',
      'idempotency-key': randomBytes(8).toString('hex'),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (path !== '/api/auth/verify') keep('answers', text);
  return { status: answer.status, json: (text === '' ? {} : JSON.parse(text)) as Fields };
}

type Fields = Readonly<Record<string, unknown>>;

async function signIn(): Promise<string> {
  const account = privateKeyToAccount(generatePrivateKey());
  const { json } = await call('POST', '/api/auth/nonce', { body: {} });
  const message = createSiweMessage({
    address: account.address,
    chainId: bench.chain.chainId,
    domain: 'app.example.com',
    nonce: json['nonce'] as string,
    uri: 'https://app.example.com',
    version: '1',
  });
  const signature = await account.signMessage({ message });
  const body = { message, signature };
  const verified = await call('POST', '/api/auth/verify', { body });
  const token = verified.json['token'] as string;
  tokens.push(token);
  return token;
}

/** Makes a redemption with the partner in this mode, and waits until a call to the partner is settled. */
async function redeem(mode: Mode): Promise<void> {
  echo.mode = mode;
  const token = await signIn();
  const before = partner.calls.length;
  await call('GET', '/api/partners/the-game/points', { token });
  const body = { partner: 'the-game', points: 100 };
  echo.readsHonestly = true;
  const { status, json } = await call('POST', '/api/redemptions', { token, body });
  echo.readsHonestly = false;
  expect(status).toBe(201);
  await until(async () => {
    const redemption = (await call('GET', `/api/redemptions/${String(json['id'])}`, { token }))
      .json;
    return partner.calls.length >= before + 3 && redemption['status'] !== 'initial';
  });
  await call('POST', `/api/redemptions/${String(json['id'])}/cancel`, { token });
  await cli('redemption', 'show', String(json['id']));
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let waitedMs = 0; !(await holds()); waitedMs += 100) {
    if (waitedMs > LIMIT_MS) throw new Error(`nothing happened:\n${found.get('log') ?? ''}`);
    await sleep(100);
  }
}

async function isReady(): Promise<boolean> {
  const answer = await fetch(`${url}/health/ready`).catch(() => undefined);
  if (answer !== undefined) keep('health', await answer.text());
  return answer?.status === 200;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lowmark-secrets-'));
  database = await createTestDatabase();
  const canceller = new VoucherSigner({ chainId: 1, vault: aWallet(1) }, SIGNER_KEY).address;
  bench = await VaultBench.start({ canceller });
  await bench.mineAt(Math.floor(Date.now() / 1000) - 60);
  await bench.finalise();
  partner = await FakePartner.start(CALLBACK_SECRET);
  partner.behave = (call) => echo.answer(call);
  const opened = await database.open();
  await new PriceStore(opened).add({ usd: '0.15', observedAt: new Date(), source: 'fixed' });
  const databaseUrl = new URL(database.url);
  // The test server trusts this machine and needs no password. A password in the URL must not be printed either.
  databaseUrl.password = databaseUrl.password || DATABASE_PASSWORD;
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const secretFile = join(folder, 'secret');
  await writeFile(secretFile, CALLBACK_SECRET, { mode: 0o600 });
  environment = {
    ...compileCache(),
    PATH: process.env['PATH'],
    DATABASE_URL: databaseUrl.href,
    SECRETS_KEY,
    EVIDENCE_KEY,
    CHAIN_ID: String(bench.chain.chainId),
    RPC_URLS: `${bench.chain.url}/?key=${RPC_SECRET}`,
    TOKEN_CONTRACT: bench.chain.contracts.token,
    VAULT_CONTRACT: bench.vault,
    VOUCHER_SIGNER_KEY: SIGNER_KEY,
    SIWE_DOMAINS: 'app.example.com',
    ALLOW_PRIVATE_PARTNERS: 'true',
    REDEMPTION_PORT: String(port),
    LISTEN_HOST: '127.0.0.1',
    ...testConstants({ payoutPollMs: 200 }),
    LOG_LEVEL: 'trace',
  };
  await cli('partner', 'create', '--name', 'the-game', '--json');
  // `partner create` prints its secret once on purpose, so that output is dropped.
  found.delete('cli');
  await cli(
    ...['partner', 'set', 'the-game', '--callback-url', partner.url, '--allow-private'],
    ...['--callback-key', CALLBACK_KEY, '--callback-secret-file', secretFile],
    ...[
      '--usd-per-point',
      '0.01',
      '--daily-token-budget',
      '1000',
      '--capability',
      'revert-by-redemption-id',
    ],
  );
  // The callback key was an argument of the command, so the command lines until now are dropped. The callback secret
  // came from a file.
  commandLines.clear();
  service = spawn(process.execPath, [program('redemption')], { env: environment });
  for (const stream of [service.stdout, service.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      keep('log', chunk.toString());
    });
  }
  await until(isReady);
  await keepCommandLine(service.pid);
  for (const mode of ['honest', 'unsigned', 'refusing', 'broken'] as const) await redeem(mode);
  await cli('partner', 'list');
  await cli('partner', 'ping', 'the-game', '--address', aWallet(5)).catch(() => '');
  await cli('redemption', 'list');
  for (const path of ['/metrics', '/health/ready', '/docs', '/nothing', '/api/redemptions']) {
    keep(path, await (await fetch(url + path)).text());
  }
  const tables = await opened.query<{ name: string }>({
    text: `SELECT schemaname || '.' || tablename AS name FROM pg_tables WHERE schemaname IN ('redemption', 'staking')`,
  });
  for (const { name } of tables) {
    const rows = await opened.query<{ row: string }>({
      text: `SELECT t::text AS row FROM ${name} t`,
    });
    keep(name, rows.map(({ row }) => row).join('\n'));
  }
  service.kill('SIGTERM');
  await once(service, 'exit');
});

afterAll(async () => {
  service.kill('SIGKILL');
  await partner.stop();
  await bench.stop();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

describe('what is secret', () => {
  const secrets = (): [name: string, secret: string][] => [
    ['the callback key', CALLBACK_KEY],
    ['the callback secret', CALLBACK_SECRET],
    ['the key of the secrets', SECRETS_KEY],
    ['the key of the evidence', EVIDENCE_KEY],
    ['the signer key', SIGNER_KEY],
    ['the credential of the endpoint', RPC_SECRET],
    ['the password of the database', new URL(environment['DATABASE_URL'] ?? '').password],
    ...tokens.map((token): [string, string] => ['the token of a user', token]),
  ];

  it('is in no log, call log, row, answer, metric, or command line', () => {
    expect(tokens).toHaveLength(4);
    const leaks = secrets().flatMap(([name, secret]) =>
      [...found, ['the process list', [...commandLines].join('\n')] as const]
        .filter(([, text]) => text.includes(secret))
        .map(([where]) => `${name} is in ${where}`),
    );
    expect(leaks).toEqual([]);
  });

  it('was there to be told: everything that is searched has something in it', () => {
    const filled = [...found].filter(([, text]) => text.length > 0).map(([where]) => where);
    expect(filled).toEqual(
      expect.arrayContaining([
        'log',
        'cli',
        'answers',
        'health',
        '/metrics',
        'redemption.partner_call',
        'redemption.transition',
      ]),
    );
    expect(commandLines.size).toBeGreaterThan(1);
    // The partner's text is stored, with the secrets redacted.
    expect(found.get('redemption.partner_call')).toContain('yourHeaders');
    expect(found.get('redemption.partner_call')).toContain('[redacted]');
    expect(found.get('log')).toContain('"level":"info"');
  });
});
