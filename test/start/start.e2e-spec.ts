/**
 * How programs start: on a Node version that is too old, with a port that is in use, with a misspelled setting, and
 * stopped while they wait for their database or their chain. Needs a build.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { EVIDENCE_KEY } from '#libs/testing/evidence';
import { VaultBench } from '#libs/testing/vault';
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
  ['api', 'API_PORT'],
  ['api', 'MANAGEMENT_PORT'],
  ['redemption', 'REDEMPTION_PORT'],
  ['redemption', 'MANAGEMENT_PORT'],
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

class StartingProgram extends ServiceProgram {
  constructor(app: string, env: Readonly<Record<string, string>>) {
    super(app, 0, env);
  }
}

it.each(['api', 'indexer', 'partner', 'redemption'])(
  'the %s ends with success if it is stopped while it starts',
  async (app) => {
    const asked = once(silent, 'connection');
    const starting = new StartingProgram(app, {
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
