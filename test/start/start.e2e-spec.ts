/**
 * How programs start: on a Node version that is too old, with a port that is in use, with a misspelled setting, and
 * stopped while they wait for their database or their chain; and a console without file descriptors, and one whose
 * database takes connections and refuses the first statements; and by the command of a page. Needs a build.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '#libs/devprocess';
import { eventually } from '#libs/testing/clock';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { EVIDENCE_KEY } from '#libs/testing/evidence';
import { compileCache } from '#libs/testing/programs';
import { VaultBench } from '#libs/testing/vault';
import { TcpLink } from '#libs/testing/wire';
import { shellBlocks } from '../operating/machine/shell-blocks.js';
import { read } from '../partner-docs/markdown.js';
import { ServiceProgram } from '../restarts/service-program.js';
import { program } from '../upgrade/next-version.js';

const HOST = '127.0.0.1';

/** Accepts connections and never answers. */
let silent: Server;
const sockets: Socket[] = [];
let database: TestDatabase;
let bench: VaultBench;
beforeAll(async () => {
  [database, bench] = await Promise.all([createTestDatabase(), VaultBench.start()]);
  await bench.finalise();
  silent = createServer((socket) => {
    socket.on('error', () => undefined);
    sockets.push(socket);
  }).listen(0, HOST);
  await once(silent, 'listening');
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  silent.close();
  await bench.stop();
  await database.drop();
});

const silentPort = (): number => (silent.address() as AddressInfo).port;

/** The settings that a service needs, for all services. */
function settings(): Record<string, string> {
  const { chain, vault } = bench;
  const { staking, token, startBlock } = chain.contracts;
  return {
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    EVIDENCE_KEY,
    CHAIN_ID: String(chain.chainId),
    RPC_URLS: chain.url,
    STAKE_CONTRACT: staking,
    STAKE_START_BLOCK: String(startBlock),
    TOKEN_CONTRACT: token,
    VAULT_CONTRACT: vault,
    VOUCHER_SIGNER_KEY: VaultBench.SIGNER_KEY,
    SIWE_DOMAINS: 'app.example.com',
    ALLOW_PRIVATE_PARTNERS: 'true',
    PRICE_SOURCE: 'none',
    LISTEN_HOST: HOST,
  };
}

describe('on Node 20', () => {
  const programs = globSync('apps/*/src/main.ts').sort();
  /** Makes the process report an old Node version before the first line of the program runs. */
  const old =
    'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})';

  it.each(programs)('%s says in one line what it needs, and ends with 1', (source) => {
    const built = `dist/${source.replace(/\.ts$/, '.js')}`;
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', old, built], {
      encoding: 'utf8',
      env: {},
    });
    expect(stderr).toMatch(/^This is Node 20\.20\.2, and Lowmark needs 22\.19 or newer\. .*\n$/);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    const imports = [...readFileSync(source, 'utf8').matchAll(/^import .* from '(.+)';$/gm)];
    expect(imports.map(([, from]) => from)).toEqual(['#libs/node-version']);
  });

  it('there are all of them', () => {
    expect(programs).toHaveLength(7);
  });
});

interface Line {
  readonly level: string;
  readonly code?: string;
  readonly msg: string;
}

it.each([
  ['api', 'MANAGEMENT_PORT'],
  ['redemption', 'REDEMPTION_PORT'],
  ['indexer', 'INDEXER_PORT'],
] as const)(
  'the %s says in one line that the port of %s is taken, and ends; it names a misspelled setting',
  async (app, variable) => {
    const port = silentPort();
    const { how, output } = await program(app, [], {
      ...settings(),
      DATABASE_URL: database.urlAs(app),
      [`${app.toUpperCase()}_PORT`]: '0',
      [variable]: String(port),
      REQUEST_LGO: '0',
    }).ended;
    const lines = output.split('\n').filter((line) => line.startsWith('{'));
    const records = lines.map((line) => JSON.parse(line) as Line);
    expect(records.filter(({ level }) => ['error', 'fatal'].includes(level))).toMatchObject([
      {
        level: 'fatal',
        code: 'PORT_TAKEN',
        msg: `${variable}: port ${port} at ${HOST} is taken. Set ${variable} to a free port, or end what listens there.`,
      },
    ]);
    expect(records.filter(({ msg }) => msg.includes('REQUEST_LGO'))).toMatchObject([
      { level: 'warn', msg: 'REQUEST_LGO is not a setting. Did you mean REQUEST_LOG?' },
    ]);
    expect(how).toBe(1);
  },
);

class AnyProgram extends ServiceProgram {
  static run(app: string, port: number, env: Readonly<Record<string, string>>): AnyProgram {
    return new AnyProgram(app, port, env);
  }
}

it.each(['api', 'indexer', 'partner', 'redemption'])(
  'the %s ends with success if it is stopped while it starts',
  async (app) => {
    const asked = once(silent, 'connection');
    const starting = AnyProgram.run(app, 0, {
      ...settings(),
      DATABASE_URL: `postgres://user@${HOST}:${silentPort()}/none`,
      RPC_URLS: `http://${HOST}:${silentPort()}`,
      PARTNER_API_KEY: 'k'.repeat(44),
      PARTNER_SHARED_SECRET: 's'.repeat(44),
    });
    try {
      await Promise.race([asked, starting.ended]);
      expect(starting.isRunning).toBe(true);
      expect(await starting.terminate()).toBe(0);
    } finally {
      await starting.kill();
    }
  },
);

describe('a console', () => {
  const ATTEMPTS = 5;
  let started: AnyProgram;
  afterEach(() => started.kill());

  /** Starts a console that serves its pages, for which it needs no database. */
  async function startConsole(databaseUrl: string): Promise<void> {
    const port = await freePort();
    started = AnyProgram.run('console', port, {
      DATABASE_URL: databaseUrl,
      CONSOLE_PORT: String(port),
      CONSOLE_ORIGIN: `http://127.0.0.1:${port}`,
      LISTEN_HOST: HOST,
    });
    await eventually(() => started.printed.includes('Serving'));
  }

  /** Sets the soft limit of a process that runs. */
  function limitDescriptors(pid: number | undefined, soft: string): void {
    execFileSync('prlimit', ['--pid', String(pid), `--nofile=${soft}:`]);
  }

  /** @returns the hard limit of a process */
  function hardLimitOf(pid: number | undefined): string {
    const columns = ['--raw', '--noheadings', '--output', 'HARD', '--nofile'];
    return execFileSync('prlimit', ['--pid', String(pid), ...columns], { encoding: 'utf8' }).trim();
  }

  it('says once that no file descriptors are left, and that there are some again, and ends as ever', async () => {
    await startConsole('postgresql://a:b@127.0.0.1:1/c');
    const hard = hardLimitOf(started.pid);
    limitDescriptors(started.pid, '3');
    await eventually(() => started.printed.includes('No file descriptors are left'));
    limitDescriptors(started.pid, hard);
    await eventually(() => started.printed.includes('There are file descriptors again'));
    expect((await fetch(`${started.url}/health/live`)).status).toBe(200);
    expect(await started.terminate()).toBe(0);
  });

  it('keeps no connection of a failed attempt, logs each, and ends when it is told to', async () => {
    const test = await createTestDatabase();
    const owner = await test.open();
    await owner.query({ text: 'REVOKE EXECUTE ON FUNCTION version() FROM PUBLIC' });
    const url = new URL(test.urlAs('console'));
    const link = new TcpLink({ host: url.hostname, port: Number(url.port) });
    await link.open();
    url.port = String(link.port);
    await link.close();
    try {
      await startConsole(url.href);
      await link.open();
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const { status } = await fetch(`${started.url}/api/auth/wallet/nonce`, {
          method: 'POST',
          headers: { origin: started.url, 'sec-fetch-site': 'same-origin', 'x-csrf-token': 'none' },
        });
        expect(status).toBe(500);
      }
      const refused = (): string[] =>
        started.printed.match(/permission denied for function version.*/g) ?? [];
      await eventually(() => refused().length >= ATTEMPTS);
      expect(refused()).toHaveLength(ATTEMPTS);
      const text = `SELECT FROM pg_stat_activity WHERE usename = 'test_console' AND datname = current_database()`;
      await eventually(async () => (await owner.query({ text })).length === 0);
      expect(await started.terminate()).toBe(0);
    } finally {
      await link.close();
      await test.drop();
    }
  });
});

describe('the command of docs/operating/console.md, with other host names', () => {
  const PAGE = 'docs/operating/console.md';
  const ORIGIN = 'https://play.example.com';
  const START_MS = 60_000;

  let port: number;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    port = await freePort();
    const [block, ...others] = shellBlocks(PAGE).filter(({ code }) =>
      code.includes('start:console'),
    );
    expect(others).toEqual([]);
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    // The command runs without its build step, which would delete files that other tests run.
    const [build, serve] = (scripts['start:console'] ?? '').split(' && ');
    expect(build).toBe('npm run --silent build:stale');
    const typed = (block?.code ?? '')
      .replace('postgresql://lowmark_console_web:…@db/lowmark', `'${database.urlAs('console')}'`)
      .replace('http://redemption:3002', 'http://127.0.0.1:1')
      .replace('npm run start:console', serve ?? '');
    expect(typed).not.toMatch(/npm|…/);
    const shell = spawn('bash', ['-c', typed], {
      // A separate process group, so that the program ends with the shell.
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...compileCache(),
        PATH: process.env['PATH'],
        CONSOLE_PORT: String(port),
        LISTEN_HOST: '127.0.0.1',
        LOG_LEVEL: 'fatal',
      },
    });
    stop = async () => {
      if (shell.exitCode !== null || shell.signalCode !== null || shell.pid === undefined) return;
      process.kill(-shell.pid, 'SIGTERM');
      await once(shell, 'exit');
    };
    const what = 'the pages';
    await eventually(async () => (await ask('/health/accepting')).status === 200, {
      ...{ what, withinMs: START_MS, everyMs: 100 },
    });
  }, START_MS * 2);
  afterAll(() => stop());

  async function ask(path: string, options: RequestInit = {}): Promise<Response> {
    return fetch(`http://127.0.0.1:${port}${path}`, options).catch(
      () => new Response('', { status: 599 }),
    );
  }

  it.each(['/redeem', '/operate', '/partner'])('serves %s', async (path) => {
    const answer = await ask(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await answer.text()).toContain('<div id="root">');
  });

  it('tells the page of the network that was set', async () => {
    const answer = await ask('/player/config');
    expect(await answer.json()).toMatchObject({ network: { name: 'Base' } });
  });

  it('takes what changes something from the origin that was set, and from no other', async () => {
    const nonce = async (origin: string): Promise<Response> =>
      ask('/api/auth/wallet/nonce', {
        method: 'POST',
        headers: { origin, 'sec-fetch-site': 'same-origin', 'x-csrf-token': 'none' },
      });
    expect((await nonce(ORIGIN)).status).toBe(200);
    const foreign = await nonce(`http://127.0.0.1:${port}`);
    expect([foreign.status, await foreign.json()]).toEqual([
      403,
      expect.objectContaining({ code: 'FOREIGN_ORIGIN' }),
    ]);
  });
});
