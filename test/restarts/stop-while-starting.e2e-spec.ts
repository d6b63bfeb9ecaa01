/**
 * Tests that a service ends cleanly when it is stopped while it still waits for its database or its chain. Needs a
 * build.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { aWallet } from '#libs/testing/database';
import { VaultBench } from '#libs/testing/vault';
import { ServiceProgram } from './service-program.js';

/** Accepts connections and never answers. */
let silent: Server;
let sockets: Socket[];
let program: StartingProgram | undefined;
beforeEach(async () => {
  sockets = [];
  silent = createServer((socket) => {
    socket.on('error', () => undefined);
    sockets.push(socket);
  }).listen(0, '127.0.0.1');
  await once(silent, 'listening');
});
afterEach(async () => {
  await program?.kill();
  for (const socket of sockets) socket.destroy();
  silent.close();
});

class StartingProgram extends ServiceProgram {
  constructor(app: string, env: Readonly<Record<string, string>>) {
    super(app, 0, env);
  }
}

const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
const CHAIN = {
  CHAIN_ID: '31337',
  TOKEN_CONTRACT: aWallet(0xa2),
  STAKE_CONTRACT: aWallet(0xa1),
  STAKE_START_BLOCK: '1',
};

describe('a service that is stopped while it starts', () => {
  it.each<[string, Readonly<Record<string, string>>]>([
    ['api', { SECRETS_KEY }],
    ['indexer', CHAIN],
    ['partner', { PARTNER_API_KEY: 'k'.repeat(44), PARTNER_SHARED_SECRET: 's'.repeat(44) }],
    [
      'redemption',
      {
        ...CHAIN,
        SECRETS_KEY,
        EVIDENCE_KEY: Buffer.alloc(32, 8).toString('base64'),
        VAULT_CONTRACT: aWallet(0xa3),
        VOUCHER_SIGNER_KEY: VaultBench.SIGNER_KEY,
        SIWE_DOMAINS: 'app.example.com',
      },
    ],
  ])('ends with success: %s', async (app, settings) => {
    const { port } = silent.address() as AddressInfo;
    const asked = once(silent, 'connection');
    program = new StartingProgram(app, {
      DATABASE_URL: `postgres://user@127.0.0.1:${port}/none`,
      RPC_URLS: `http://127.0.0.1:${port}`,
      ...settings,
    });
    await Promise.race([asked, program.ended]);
    expect(program.isRunning).toBe(true);
    expect(await program.terminate()).toBe(0);
  });
});
