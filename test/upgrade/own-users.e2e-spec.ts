/**
 * Tests the change from one database credential for all programs to one for each, as an operator does it in production.
 * Needs a build.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Database, PROGRAMS, readSchema } from '#libs/db';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { program } from './next-version.js';

const NEW = ['Schema1770000000000', 'Staking1770000000001'];

let test: TestDatabase;
let owner: Database;
const folder = mkdtempSync(join(tmpdir(), 'lowmark-urls-'));
const suffix = randomBytes(4).toString('hex');
const users = PROGRAMS.map((one) => `${one}_${suffix}`);

beforeAll(async () => {
  test = await createTestDatabase('empty');
  owner = await test.open();
  expect((await readSchema(owner)).missing).toEqual(NEW);
});
afterAll(async () => {
  for (const user of users) {
    await owner.query({ text: `DROP OWNED BY ${user}` });
    await owner.query({ text: `DROP ROLE ${user}` });
  }
  rmSync(folder, { recursive: true });
  await test.drop();
});

function urlOf(one: (typeof PROGRAMS)[number]): string {
  const url = new URL(test.url);
  [url.username, url.password] = [`${one}_${suffix}`, `secret-${one}`];
  return url.href;
}

const ADDRESS = `0x${'11'.repeat(20)}`;
const COMMON = {
  NODE_ENV: 'production',
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  EVIDENCE_KEY: Buffer.alloc(32, 8).toString('base64'),
  CHAIN_ID: '1',
  RPC_URLS: 'http://127.0.0.1:1',
  STAKE_CONTRACT: ADDRESS,
  STAKE_START_BLOCK: '1',
  TOKEN_CONTRACT: ADDRESS,
  VAULT_CONTRACT: ADDRESS,
  VOUCHER_SIGNER_KEY: '01'.repeat(32),
  SIWE_DOMAINS: 'app.example.com',
};

describe('an installation with one credential for everything', () => {
  it('is migrated', async () => {
    const ended = await program('cli', ['migrate'], { DATABASE_URL: test.url }).ended;
    expect(ended).toEqual({ how: 0, output: `Applied ${NEW.length}: ${NEW.join(', ')}\n` });
  });

  it.each(['api', 'indexer', 'redemption'])(
    'is told what to do where %s would run as the owner in production',
    async (app) => {
      const { how, output } = await program(app, [], { ...COMMON, DATABASE_URL: test.url }).ended;
      expect(how).toBe(1);
      expect(output).toContain('DATABASE_RIGHTS_EXCESSIVE');
      expect(output).toMatch(
        /is a superuser.*Give the \w+ a user of its own.*install\.md#database-users/,
      );
      expect(output).not.toContain(new URL(test.url).password || 'nothing to find');
    },
  );

  it('gets its users from the next migration, which prints and logs no password', async () => {
    for (const one of PROGRAMS) writeFileSync(join(folder, `${one}_database_url`), urlOf(one));
    const environment = { DATABASE_URL: test.url, SERVICE_DATABASE_URLS: folder };
    for (const again of ['once', 'twice']) {
      const { how, output } = await program('cli', ['migrate'], environment).ended;
      expect({ again, how, output }).toEqual({
        again,
        how: 0,
        output: `The schema is up to date.\nUsers with the rights of their programs: ${users.join(', ')}\n`,
      });
    }
  });

  it('then has commands that work, and a doctor that is content with their user', async () => {
    const environment = { DATABASE_URL: urlOf('cli'), SECRETS_KEY: COMMON.SECRETS_KEY };
    const created = await program('cli', ['partner', 'create', '--name', 'Acme'], environment)
      .ended;
    expect(created.how).toBe(0);
    const { output } = await program('cli', ['doctor'], environment).ended;
    expect(output).toMatch(/^ok +database rights +those of the cli/m);
    const asOwner = await program('cli', ['doctor'], { ...environment, DATABASE_URL: test.url })
      .ended;
    expect(asOwner.output).toMatch(/^fault +database rights +\w+ is a superuser/im);
  });
});
