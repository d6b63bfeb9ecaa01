import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Address } from '#libs/domain';
import { eventually } from '#libs/testing/clock';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { TcpLink } from '#libs/testing/wire';
import {
  createDatabase,
  type Database,
  DatabaseRefusedError,
  DatabaseUnavailableError,
  RedemptionStore,
} from '../index.js';
import { countPrograms } from '../roles/server-facts.js';
import { addressOf, arrayText, byteaArray } from './rows.js';
import { LateDatabase } from './late-database.js';
import { RedemptionHints } from '../redemption/redemption-hints.js';
import { aKey, aNewRedemption, someLimits } from '../redemption/testing/builders.js';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

function statement(text: string): { text: string } {
  return { text };
}

describe('Database', () => {
  it('survives the loss of its connections and tells of it', async () => {
    const errors: Error[] = [];
    const database = await test.open({ poolSize: 1, onError: (error) => errors.push(error) });
    const other = await test.open({ poolSize: 1 });
    await other.query(
      statement(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`),
    );
    while (errors.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(errors).toEqual([expect.objectContaining({ code: '57P01' })]);
    expect(await database.query(statement('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
  });

  it('tells how its connections are used', async () => {
    const database = await test.open({ poolSize: 2 });
    const used = [await database.pool.connect(), await database.pool.connect()];
    const waiting = database.query(statement('SELECT 1 AS one'));
    expect(database.connections).toEqual({ idle: 0, busy: 2, waiting: 1 });
    for (const client of used) client.release();
    await waiting;
    expect(database.connections).toEqual({ idle: 2, busy: 0, waiting: 0 });
  });

  it('tells what may pass from what will not', async () => {
    const database = await test.open({ statementTimeoutMs: 500 });
    await expect(database.query(statement('SELECT pg_sleep(9)'))).rejects.toThrow(
      DatabaseUnavailableError,
    );
    const refused = database.query(statement('SELECT * FROM staking.nothing'));
    await expect(refused).rejects.toMatchObject({ sqlState: '42P01', retryable: false });
    await expect(refused).rejects.toThrow(DatabaseRefusedError);
  });

  it('takes a transaction that an administrator limits for one that may pass', async () => {
    const database = await test.open({ poolSize: 1 });
    const late = database.transaction(async (client) => {
      await client.query("SET LOCAL transaction_timeout = '50ms'");
      await client.query('SELECT pg_sleep(9)');
    });
    await expect(late).rejects.toThrow('set transaction_timeout to 0 for this user (25P04)');
    await expect(late).rejects.toThrow(DatabaseUnavailableError);
  });

  it('plans a statement again whose columns have changed, on another connection', async () => {
    const [database, other] = [await test.open({ poolSize: 1 }), await test.open({ poolSize: 1 })];
    const read = { name: 'changing', text: 'SELECT * FROM partners.changing' };
    const inTransaction = () => database.transaction((client) => client.query(read));
    await other.query(statement('CREATE TABLE partners.changing (one int)'));
    try {
      await inTransaction();
      await other.query(statement('ALTER TABLE partners.changing ALTER one TYPE text'));
      await expect(inTransaction()).rejects.toThrow(DatabaseUnavailableError);
      expect((await inTransaction()).rows).toEqual([]);
    } finally {
      await other.query(statement('DROP TABLE partners.changing'));
    }
  });

  describe('each row as it comes', () => {
    const rowsOf = (text: string, name?: string) => ({ text, ...(name && { name }), values: [3] });
    const COUNT = 'SELECT n FROM generate_series(1, $1::int) AS n';

    it('is handed out in order, of a named statement too', async () => {
      const database = await test.open({ poolSize: 1 });
      for (const name of [undefined, 'count', 'count']) {
        const seen: unknown[] = [];
        await database.queryEach(rowsOf(COUNT, name), (row) => seen.push(row));
        expect(seen).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
      }
    });

    it('may be more than its reader takes: what that throws is told, and the connection goes on', async () => {
      const database = await test.open({ poolSize: 1 });
      let rows = 0;
      const reading = database.queryEach(rowsOf(COUNT), () => {
        rows += 1;
        throw new RangeError('too many');
      });
      await expect(reading).rejects.toThrow(RangeError);
      expect(rows).toBe(1);
      expect(await database.query(statement('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
    });

    it.each([
      ['SELECT 1 / (2 - n) FROM generate_series(1, $1::int) AS n', DatabaseRefusedError],
      ['SELECT pg_sleep(n - 1) FROM generate_series(1, $1::int) AS n', DatabaseUnavailableError],
    ])('may be cut off: %s', async (text, expected) => {
      const database = await test.open({ poolSize: 1, statementTimeoutMs: 200 });
      await expect(database.queryEach(rowsOf(text), () => undefined)).rejects.toThrow(expected);
      expect(await database.query(statement('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
    });
  });

  it('never shows the password of its URL', async () => {
    const wrong = new URL(test.url);
    wrong.password = 'hunter2';
    const nowhere = 'postgresql://user:hunter2@127.0.0.1:1/db';
    for (const url of [wrong.href, nowhere]) {
      const error: unknown = await createDatabase({ url, applicationName: 'test' }).catch(
        (reason: unknown) => reason,
      );
      const sqlState = url === nowhere ? undefined : '28P01';
      expect(error).toMatchObject({ code: 'DATABASE_UNAVAILABLE', retryable: true });
      expect((error as { sqlState?: string }).sqlState).toBe(sqlState);
      const { message, stack, cause } = error as Error;
      expect([message, stack, String(cause), JSON.stringify(error)].join()).not.toContain(
        'hunter2',
      );
    }
  });
});

describe('a server that does not speak as expected', () => {
  /** An authentication request of this kind. */
  const asking = (kind: number, ...mechanisms: string[]): Buffer => {
    const rest = Buffer.from(mechanisms.map((name) => `${name}\0`).join('') + '\0');
    const message = Buffer.alloc(9);
    message.write('R');
    message.writeUInt32BE(8 + rest.length, 1);
    message.writeUInt32BE(kind, 5);
    return Buffer.concat([message, rest]);
  };
  it.each<[string, Buffer, string]>([
    ['asks for Kerberos', asking(2), 'by a password'],
    ['asks for GSSAPI', asking(7), 'by a password'],
    ['asks for SSPI', asking(9), 'by a password'],
    ['asks for a token', asking(10, 'OAUTHBEARER'), 'SASL'],
    ['asks for channel binding', asking(10, 'SCRAM-SHA-256-PLUS'), 'SASL'],
    ['is of MySQL', Buffer.from('4a0000000a382e302e333000', 'hex'), 'invalid response: 4a'],
  ])('and %s ends no process', async (_, answer, text) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.write(answer));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const url = `postgres://u:hunter2@127.0.0.1:${(server.address() as AddressInfo).port}/db`;
      const opening = createDatabase({ url, applicationName: 'test' });
      await expect(opening).rejects.toThrow(DatabaseUnavailableError);
      await expect(opening).rejects.toThrow(text);
    } finally {
      server.close();
    }
  });

  it('is told where it wants a password and the URL has none', async () => {
    const url = new URL(test.urlAs('api'));
    url.password = '';
    const opening = createDatabase({ url: url.href, applicationName: 'test' });
    await expect(opening).rejects.toThrow(DatabaseUnavailableError);
    await expect(opening).rejects.toThrow('password must be a string');
  });
});

describe('the reading role', () => {
  let reader: Database;
  beforeAll(async () => {
    // The operator's options are kept, but cannot lift the restriction to read.
    const url = new URL(test.url);
    url.searchParams.set('options', '-c work_mem=8MB -c default_transaction_read_only=off');
    reader = await test.open({ url: url.href, readOnly: true, poolSize: 1 });
  });

  const WRITES = [
    'UPDATE staking.index_state SET fence = 9',
    'CREATE TABLE public.mine (id int)',
    'SELECT * FROM staking.index_state FOR UPDATE',
  ];

  it.each(WRITES)('cannot %s in a transaction that says it may write', async (text) => {
    const writing = reader.transaction(async (client) => {
      await client.query('SET TRANSACTION READ WRITE');
      await client.query(text);
    });
    await expect(writing).rejects.toMatchObject({ sqlState: '42501' });
  });

  it('reads all that an answer needs, under the settings that were asked for', async () => {
    const [row] = await reader.query(
      statement(`SELECT current_user::text AS role, current_setting('work_mem') AS work_mem,
        (SELECT count(*)::int FROM staking.balance_day) AS days,
        (SELECT count(*)::int FROM partners.credential) AS credentials`),
    );
    expect(row).toEqual({ role: 'lowmark_reader', work_mem: '8MB', days: 0, credentials: 0 });
  });
});

/** Arrays as the programs send them, read back by PostgreSQL. */
describe('arrays of parameters', () => {
  let database: Database;
  beforeAll(async () => {
    database = await test.open({ poolSize: 1 });
  });

  const addressesIn = async (wallets: readonly Address[]): Promise<Address[]> => {
    const rows = await database.query<{ wallet: string }>({
      text: `SELECT encode(wallet, 'hex') AS wallet FROM unnest($1::bytea[]) WITH ORDINALITY AS u (wallet, place) ORDER BY place`,
      values: [byteaArray(wallets)],
    });
    return rows.map(({ wallet }) => addressOf(wallet));
  };

  const amountsIn = async (amounts: readonly (bigint | null)[]): Promise<(bigint | null)[]> => {
    const rows = await database.query<{ amount: string | null }>({
      text: `SELECT amount FROM unnest($1::text::numeric[]) WITH ORDINALITY AS u (amount, place) ORDER BY place`,
      values: [arrayText(amounts, (amount) => amount?.toString() ?? null)],
    });
    return rows.map(({ amount }) => (amount === null ? null : BigInt(amount)));
  };

  it.each(['0x', `0x${'ab'.repeat(19)}`, `0x${'ab'.repeat(19)}zz`, `0x${'ab'.repeat(21)}`])(
    'refuses %s as an address',
    (text) => {
      const [wrong, right] = [text as Address, addressOf('cd'.repeat(20))];
      expect(() => byteaArray([wrong, right])).toThrow(RangeError);
      expect(() => byteaArray([right, wrong])).toThrow(RangeError);
    },
  );

  it.each([0, 1, 999, 1000, 1001, 2000, 5003])('reads %d of them', async (count) => {
    const amounts = Array.from({ length: count }, (_, index) =>
      index % 7 === 0 ? null : 2n ** 256n - 1n - BigInt(index),
    );
    expect(await amountsIn(amounts)).toEqual(amounts);
    const wallets = amounts.map((_, index) =>
      addressOf((2n ** 160n - 1n - BigInt(index)).toString(16)),
    );
    expect(await addressesIn(wallets)).toEqual(wallets);
  });
});

describe('countPrograms', () => {
  const open = (applicationName: string, url = test.url): Promise<Database> =>
    test.open({ url, applicationName, readOnly: true });

  it('counts each program once, however many connections it has, and none of another name', async () => {
    const one = await open('lowmark test a');
    await Promise.all([1, 2, 3].map(() => one.query({ text: 'SELECT pg_sleep(0.05)' })));
    await open('lowmark other');
    expect(await countPrograms(one, 'lowmark test ')).toBe(1);
    await open('lowmark test b');
    expect(await countPrograms(one, 'lowmark test ')).toBe(2);
  });

  it('counts them by the names that they have here, whatever the URL calls them', async () => {
    const url = new URL(test.url);
    url.searchParams.set('application_name', 'of the operator');
    url.searchParams.set('options', '-c application_name=of-the-operator');
    const one = await open('lowmark named a', url.href);
    await open('lowmark named b', url.href);
    expect(await countPrograms(one, 'lowmark named ')).toBe(2);
  });
});

describe('a database that comes late, or is lost', () => {
  const ONE = { text: 'SELECT 1 AS one' };

  let test: TestDatabase;
  let url: URL;
  let link: TcpLink;

  beforeAll(async () => {
    test = await createTestDatabase();
    url = new URL(test.url);
    link = new TcpLink({ host: url.hostname, port: Number(url.port) });
    await link.open();
    url.port = String(link.port);
  });
  afterAll(async () => {
    await link.close();
    await test.drop();
  });

  /** A late database that counts the attempts to open it and collects the opened databases. */
  function aLateDatabase() {
    const opened: Database[] = [];
    let attempts = 0;
    const late = new LateDatabase(async () => {
      attempts += 1;
      const database = await createDatabase({
        ...{ url: url.href, applicationName: 'test', poolSize: 2, schema: 'current' },
      });
      opened.push(database);
      return database;
    });
    return { late, opened, attempts: () => attempts };
  }

  async function eachOf(database: Database): Promise<object[]> {
    const rows: object[] = [];
    await database.queryEach(ONE, (row) => rows.push(row));
    return rows;
  }

  describe('LateDatabase', () => {
    it('is of use as soon as the database is there, to all who ask, by one connection attempt', async () => {
      await link.close();
      const { late, opened, attempts } = aLateDatabase();
      try {
        await expect(late.open()).rejects.toThrow(DatabaseUnavailableError);
        await expect(late.query(ONE)).rejects.toThrow(DatabaseUnavailableError);
        await expect(late.inSet('golf').query(ONE)).rejects.toThrow(DatabaseUnavailableError);
        expect(late.connections).toEqual({ idle: 0, busy: 0, waiting: 0 });
        expect(opened).toHaveLength(0);
        const before = attempts();

        await link.open();
        const read = await Promise.all([
          late.query(ONE),
          eachOf(late),
          late.entities((manager) => manager.query(ONE.text)),
          late.transaction(async (client) => (await client.query<object>(ONE.text)).rows),
          late.inSet('golf').query(ONE),
        ]);
        expect(read).toEqual(Array.from({ length: 5 }, () => [{ one: 1 }]));
        expect(attempts() - before).toBe(1);
        expect(late.connections.idle).toBeGreaterThan(0);
      } finally {
        await late.close();
        if (link.port !== 0) await link.open().catch(() => undefined);
      }
    });

    it('goes on where the database goes away and comes back, on the same pool', async () => {
      const { late, attempts } = aLateDatabase();
      try {
        await late.query(ONE);
        await link.close();
        await expect(late.query(ONE)).rejects.toThrow(DatabaseUnavailableError);
        await link.open();
        expect(await late.query(ONE)).toEqual([{ one: 1 }]);
        expect(attempts()).toBe(1);
      } finally {
        await late.close();
      }
    });

    it('opens nothing once it is closed, and closes what was being opened', async () => {
      const { late, opened } = aLateDatabase();
      const opening = late.open();
      await late.close();
      await expect(opening).rejects.toThrow('the program stops');
      await expect(late.query(ONE)).rejects.toThrow('the program stops');
      expect(opened).toHaveLength(1);
      await expect(opened[0]?.query(ONE)).rejects.toThrow();
    });
  });

  describe('RedemptionHints', () => {
    const LISTENER = { onHint: () => undefined, onLost: () => undefined };

    let hints: RedemptionHints;

    beforeEach(() => {
      hints = new RedemptionHints({ url: url.href, applicationName: 'hints' });
    });
    afterEach(async () => {
      await hints.stop();
      link.resume();
    });

    async function connections(): Promise<number> {
      const database = await test.open();
      const text = `SELECT FROM pg_stat_activity WHERE application_name = 'hints'`;
      return (await database.query({ text })).length;
    }

    it('listens by one connection, however often it is started while it connects', async () => {
      link.cut();
      const starts = [hints.start(LISTENER), hints.start(LISTENER)];
      link.resume();
      await Promise.all(starts);
      expect(await connections()).toBe(1);
    });

    it('does not listen after it was stopped', async () => {
      const unavailable = { code: 'DATABASE_UNAVAILABLE' };
      link.cut();
      const started = expect(hints.start(LISTENER)).rejects.toMatchObject(unavailable);
      await hints.stop();
      await started;
      link.resume();
      await expect(hints.start(LISTENER)).rejects.toMatchObject(unavailable);
      expect(await connections()).toBe(0);
    });

    it('tells of a new redemption, and of the loss of its connection', async () => {
      let count = 0;
      const lost: Error[] = [];
      const listener = { onHint: () => (count += 1), onLost: (error: Error) => lost.push(error) };
      await hints.start(listener);
      const database = await test.open();
      await new RedemptionStore(database).create(aNewRedemption(), aKey(), someLimits());
      await eventually(() => count > 0);
      await database.pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hints'`,
      );
      await eventually(() => lost.length > 0);
      await hints.start(listener);
      await hints.stop();
      expect(lost).toHaveLength(1);
    });
  });
});
