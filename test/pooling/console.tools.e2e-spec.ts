/** Tests the console as a program behind a real PgBouncer in transaction mode. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { PartnerStore, prepareLogins, SignInLinkStore } from '#libs/db';
import { freePort } from '#libs/devprocess';
import { newToken } from '#libs/signing';
import { createTestDatabase, PgBouncer, type TestDatabase } from '#libs/testing/database';
import { Visitor } from '../../apps/console/src/testing/visitor.support.js';
import { ServiceProgram } from '../restarts/service-program.js';

const NAME = 'Acme';

class PooledConsole extends ServiceProgram {
  static async start(test: TestDatabase, pooler: PgBouncer): Promise<PooledConsole> {
    const port = await freePort();
    return new PooledConsole('console', port, {
      DATABASE_URL: pooler.through(test.urlAs('console')),
      DATABASE_DIRECT_URL: test.urlAs('console'),
      PORTAL_DATABASE_URL: pooler.through(test.urlAs('portal')),
      CONSOLE_PORT: String(port),
      LISTEN_HOST: '127.0.0.1',
      CONSOLE_ORIGIN: `http://127.0.0.1:${port}`,
      LOG_LEVEL: 'error',
    }).untilReady();
  }
}

let test: TestDatabase;
let pooler: PgBouncer;
let program: PooledConsole;
beforeAll(async () => {
  test = await createTestDatabase();
  const urls = { console: test.urlAs('console'), portal: test.urlAs('portal') };
  await prepareLogins(test.url, urls, { isPooled: true });
  pooler = await PgBouncer.start({
    ...{ url: test.url, poolSize: 2 },
    users: ['test_console', 'test_portal'],
  });
  program = await PooledConsole.start(test, pooler);
});
afterAll(async () => {
  await program.kill();
  await pooler.stop();
  await test.drop();
});

it('serves the pages of a partner', async () => {
  const database = await test.open();
  const [keyHash, secretCiphertext] = [randomBytes(32), randomBytes(64)];
  const credential = { keyHash, keyPrefix: 'svck_test', secretCiphertext };
  const terms = { name: NAME, rate: 1, burst: 1, credential };
  const { partnerId } = await new PartnerStore(database).create(terms);
  const { token, tokenHash } = newToken();
  const nowMs = Date.now();
  await new SignInLinkStore(database).create({
    ...{ tokenHash, standing: { kind: 'partner', partnerId }, name: 'member' },
    ...{ createdBy: 'operator:test', nowMs, expiresAtMs: nowMs + 600_000 },
  });
  const member = new Visitor(program.url);
  expect((await member.post('/api/auth/link', { token })).status).toBe(200);
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => member.get('/api/partner/standing')),
  );
  for (const answer of answers) {
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ id: partnerId, name: NAME });
  }
});
