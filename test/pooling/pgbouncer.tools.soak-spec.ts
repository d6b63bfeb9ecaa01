/** Tests the connection pools, the api and the console behind a real PgBouncer in transaction mode. */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createDatabase,
  type Database,
  type OpenOptions,
  DatabaseUnavailableError,
  IndexStore,
  openPortal,
  PartnerStore,
  prepareLogins,
  RedemptionStore,
  SignInLinkStore,
  SnapshotStore,
} from '#libs/db';
import { freePort } from '#libs/devprocess';
import { newToken } from '#libs/signing';
import {
  aBlock,
  aFold,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  PgBouncer,
  type TestDatabase,
} from '#libs/testing/database';
import { aPartnerId } from '#libs/testing/partner';
import {
  aKey,
  aNewRedemption,
  decided,
  someLimits,
  someWallet,
} from '../../libs/db/src/redemption/testing/builders.js';
import { Visitor } from '../../apps/console/src/testing/visitor.support.js';
import { ApiProgram } from '../restarts/api-program.js';
import { ServiceProgram } from '../restarts/service-program.js';

const POOL_SIZE = 2;
const USERS = ['test_api', 'test_redemption', 'test_console', 'test_portal'];

let test: TestDatabase;
let pooler: PgBouncer;
const opened: { close(): Promise<void> }[] = [];
beforeAll(async () => {
  test = await createTestDatabase();
  pooler = await PgBouncer.start({
    ...{ url: test.url, poolSize: POOL_SIZE },
    users: USERS,
  });
});
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});
afterAll(async () => {
  await pooler.stop();
  await test.drop();
});

async function open(
  program: 'api' | 'redemption',
  options: Partial<OpenOptions> = {},
): Promise<Database> {
  const database = await createDatabase({
    ...{ url: pooler.through(test.urlAs(program)), isPooled: true },
    ...{ applicationName: 'test', schema: 'current', readOnly: program === 'api' },
    ...options,
  });
  opened.push(database);
  return database;
}

function migrated(): Promise<string[]> {
  const programs = ['api', 'redemption', 'console', 'portal'] as const;
  const urls = Object.fromEntries(programs.map((program) => [program, test.urlAs(program)]));
  return prepareLogins(test.url, urls, { isPooled: true });
}

async function aPartner(name: string) {
  const [keyHash, secretCiphertext] = [randomBytes(32), randomBytes(64)];
  const credential = { keyHash, keyPrefix: 'svck_test', secretCiphertext };
  const partners = new PartnerStore(await test.open());
  return (await partners.create({ name, rate: 1, burst: 1, credential })).partnerId;
}

class PooledConsole extends ServiceProgram {
  static async start(): Promise<PooledConsole> {
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

describe('before `migrate` knows of the pooler', () => {
  it('no program starts with sessions that are not as it needs them', async () => {
    await expect(open('api')).rejects.toMatchObject({ code: 'SESSION_DEFAULTS_MISSING' });
    await expect(open('redemption')).rejects.toThrow('statement_timeout is 0, not 60000');
  });

  it('none starts either that takes the pooler for the server, if the pooler leaves out its options', async () => {
    const deaf = await PgBouncer.start({
      ...{ url: test.url, poolSize: POOL_SIZE, users: USERS, ignores: 'options' },
    });
    try {
      const url = deaf.through(test.urlAs('api'));
      await expect(open('api', { url, isPooled: false })).rejects.toThrow(
        'ignore_startup_parameters',
      );
    } finally {
      await deaf.stop();
    }
  });
});

describe('behind the pooler', () => {
  beforeAll(async () => {
    const owner = await test.open();
    for (const setting of ['default_transaction_isolation = serializable', 'datestyle = German']) {
      await owner.query({ text: `ALTER DATABASE ${test.name} SET ${setting}` });
    }
    await migrated();
    // Has the effect of RECONNECT on PgBouncer's console: older server sessions keep their old defaults.
    await pooler.stop();
    pooler = await PgBouncer.start({
      ...{ url: test.url, poolSize: POOL_SIZE },
      users: USERS,
    });
  });

  it('sessions read only, under the reading role and its time limit', async () => {
    const database = await open('api');
    const [row] = await database.query({
      text: `SELECT current_user::text AS role, current_setting('statement_timeout') AS limit, current_setting('timezone') AS zone,
        current_setting('default_transaction_read_only') AS "readOnly"`,
    });
    expect(row).toEqual({ role: 'lowmark_reader', limit: '5s', zone: 'UTC', readOnly: 'on' });
  });

  it('sessions have what the programs rely on, whatever the database has', async () => {
    const database = await open('redemption');
    const [row] = await database.query({
      text: `SELECT current_setting('transaction_isolation') AS isolation, current_setting('datestyle') AS style,
        current_setting('search_path') AS path, current_setting('client_min_messages') AS messages`,
    });
    const expected = { isolation: 'read committed', style: 'ISO, MDY' };
    expect(row).toEqual({ ...expected, path: 'pg_catalog', messages: 'notice' });
  });

  it('partners see what is theirs and no more, over two connections', async () => {
    const ids = await Promise.all(['Acme', 'Beta'].map(aPartner));
    const url = pooler.through(test.urlAs('portal'));
    const portal = await openPortal({ url, isPooled: true, applicationName: 'test', poolSize: 10 });
    opened.push(portal);
    const text = 'SELECT id FROM portal.partner';
    const seen = await Promise.all(
      Array.from({ length: 200 }, async (_, turn) => {
        const partnerId = ids[turn % 2] ?? aPartnerId();
        const own = await portal.asPartner(partnerId, (query) => query<{ id: string }>({ text }));
        return [own[0]?.id === partnerId, own.length, await portal.database.query({ text })];
      }),
    );
    expect(seen).toEqual(seen.map(() => [true, 1, []]));
  });

  it('two hundred pools read snapshots over twenty connections', async () => {
    const connections = 20;
    const wide = await PgBouncer.start({
      ...{ url: test.url, poolSize: connections },
      users: USERS,
    });
    opened.push({ close: () => wide.stop() });
    const writer = await test.open();
    const store = new IndexStore(writer);
    await store.create(anInitialIndex());
    const fence = await store.takeLead();
    const day = { wallet: aWallet(1), day: 3, low: 3n, closing: 4n };
    const [previousHead, head] = [aBlock(0), aBlock(4)];
    await store.commit({
      ...{ fence, previousHead, head, blocks: [], synced: true },
      folded: aFold({ days: [day], total: 4n }),
    });
    const url = wide.through(test.urlAs('api'));
    const pools: Database[] = [];
    // Twenty at a time, since one PgBouncer process verifies all two hundred passwords.
    while (pools.length < 200) {
      const some = Array.from({ length: 20 }, () => open('api', { url, poolSize: 1 }));
      pools.push(...(await Promise.all(some)));
    }
    for (let round = 0; round < 5; round += 1) {
      const reads = await Promise.all(
        pools.map((one) => new SnapshotStore(one).read([{ wallet: aWallet(1), endDay: 10 }])),
      );
      expect(new Set(reads.map((read) => read?.daysTexts[0])).size).toBe(1);
      expect(reads[0]?.daysTexts[0]).toContain('3');
    }
    for (const one of pools.slice(0, 2 * connections)) {
      let pieces = 0;
      const add = () => (pieces += 1);
      const window = { firstDay: 1, endDay: 10 };
      await new SnapshotStore(one).readWindow([aWallet(1), aWallet(2)], window, () => ({ add }));
      expect(pieces).toBe(1);
    }
    const rows = await writer.query<{ count: number }>({
      text: `SELECT count(*)::int AS count FROM pg_stat_activity WHERE usename = 'test_api' AND datname = current_database()`,
    });
    expect(rows[0]?.count).toBeLessThanOrEqual(connections + POOL_SIZE);
  });

  it('redemptions are made, moved on and leased by several processes at once', async () => {
    const stores = await Promise.all(
      Array.from({ length: 8 }, async () => {
        return new RedemptionStore(await open('redemption'));
      }),
    );
    const shared = { partner: aPartnerId(), wallet: someWallet() };
    const ends = await Promise.allSettled(
      stores.map((store) => store.create(aNewRedemption(shared), aKey(), someLimits())),
    );
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);

    const moved = await Promise.all(
      stores.map(async (store) => {
        const redemption = aNewRedemption();
        await store.create(redemption, aKey(), someLimits());
        const write = decided(redemption, { type: 'cancel', by: 'user' });
        await store.apply(write);
        return (await store.get(redemption.id))?.redemption.state === write.decision.next.state;
      }),
    );
    expect(moved).toEqual(stores.map(() => true));
  });

  it('a transaction that fails leaves nothing to the next one on its connection', async () => {
    const database = await open('redemption', { poolSize: 1 });
    const failing = database.transaction(async (client) => {
      await client.query(`SET LOCAL statement_timeout = '1s'`);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    const rows = await database.query({
      text: `SELECT current_setting('statement_timeout') AS limit`,
    });
    expect(rows).toEqual([{ limit: '1min' }]);
  });

  it('a pooler that is gone is a database that does not answer', async () => {
    const other = await PgBouncer.start({
      ...{ url: test.url, poolSize: 1 },
      users: ['test_redemption'],
    });
    const database = await open('redemption', { url: other.through(test.urlAs('redemption')) });
    await other.stop();
    await expect(database.query({ text: 'SELECT 1' })).rejects.toThrow(DatabaseUnavailableError);
  });

  it('the api starts, serves and ends', async () => {
    const api = await ApiProgram.start({
      databaseUrl: pooler.through(test.urlAs('api')),
      databaseDirectUrl: test.urlAs('api'),
      secretsKey: randomBytes(32).toString('base64'),
    });
    expect(await api.terminate()).toBe(0);
  });

  it('the console serves the pages of a partner', async () => {
    const partnerId = await aPartner('Gamma');
    const { token, tokenHash } = newToken();
    const nowMs = Date.now();
    await new SignInLinkStore(await test.open()).create({
      ...{ tokenHash, standing: { kind: 'partner', partnerId }, name: 'member' },
      ...{ createdBy: 'operator:test', nowMs, expiresAtMs: nowMs + 600_000 },
    });
    const program = await PooledConsole.start();
    opened.push({ close: () => program.kill() });
    const member = new Visitor(program.url);
    expect((await member.post('/api/auth/link', { token })).status).toBe(200);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => member.get('/api/partner/standing')),
    );
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ id: partnerId, name: 'Gamma' });
    }
  });
});
