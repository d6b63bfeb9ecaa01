/** Tests services as an operator starts them, with a misspelled setting and a port that is in use. Needs a build. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { EVIDENCE_KEY } from '#libs/testing/evidence';
import { compileCache } from '#libs/testing/programs';
import { VaultBench } from '#libs/testing/vault';

const HOST = '127.0.0.1';

let database: TestDatabase;
let bench: VaultBench;
let other: Server;
beforeAll(async () => {
  [database, bench] = await Promise.all([createTestDatabase(), VaultBench.start()]);
  await bench.finalise();
  other = createServer().listen(0, HOST);
  await once(other, 'listening');
});
afterAll(async () => {
  other.close();
  await bench.stop();
  await database.drop();
});

interface Line {
  readonly level: string;
  readonly code?: string;
  readonly msg: string;
}

async function started(app: string, change: Readonly<Record<string, string>>) {
  const { chain, vault } = bench;
  const { staking, token, startBlock } = chain.contracts;
  const name = app.toUpperCase();
  const child = spawn(process.execPath, [`dist/apps/${app}/src/main.js`], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...compileCache(),
      DATABASE_URL: database.urlAs(app as 'api'),
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
      REQUEST_LGO: '0',
      [`${name}_PORT`]: '0',
      ...change,
    },
  });
  const [out, [code]] = await Promise.all([
    text(child.stdout),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  const lines = out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
  const unknown = lines.filter(({ msg }) => msg.includes('REQUEST_LGO'));
  return { code, unknown, bad: lines.filter(({ level }) => ['error', 'fatal'].includes(level)) };
}

it.each([
  ['api', 'API_PORT'],
  ['api', 'MANAGEMENT_PORT'],
  ['redemption', 'REDEMPTION_PORT'],
  ['redemption', 'MANAGEMENT_PORT'],
  ['indexer', 'INDEXER_PORT'],
])(
  'the %s says in one line that the port of %s is taken, and ends; it names a misspelled setting',
  async (app, variable) => {
    const { port } = other.address() as AddressInfo;
    const { code, bad, unknown } = await started(app, { [variable]: String(port) });
    expect(bad).toMatchObject([
      {
        level: 'fatal',
        code: 'PORT_TAKEN',
        msg: `${variable}: port ${port} at ${HOST} is taken. Set ${variable} to a free port, or end what listens there.`,
      },
    ]);
    expect(unknown).toMatchObject([
      { level: 'warn', msg: 'REQUEST_LGO is not a setting. Did you mean REQUEST_LOG?' },
    ]);
    expect(code).toBe(1);
  },
);
