/** Connections of a program through a proxy that leads to the primary, when the primary is lost. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/clock';
import { PostgresPair, type TestServer } from '#libs/testing/database';
import { TcpLink } from '#libs/testing/wire';
import { createDatabase, type Database, DatabaseUnavailableError } from '../index.js';
import { LeaderLock } from '../index-store/leader-lock.js';
import { RedemptionHints } from '../redemption/redemption-hints.js';

const APPLICATION = { applicationName: 'test' };

let pair: PostgresPair;
/** The server to which the proxy leads. */
let leader: TestServer;
let proxy: TcpLink;
const opened: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  pair = await PostgresPair.start();
  leader = pair.primary;
  proxy = new TcpLink({
    host: '127.0.0.1',
    get port() {
      return Number(new URL(leader.url).port);
    },
  });
  await proxy.open();
  const database = await open(pair.primary.url);
  await database.query({ text: 'CREATE TABLE public.mark (n int)' });
  const standby = await open(pair.standby.url);
  const isThere = { text: `SELECT to_regclass('public.mark') IS NOT NULL AS there` };
  await eventually(
    async () => (await standby.query<{ there: boolean }>(isThere))[0]?.there === true,
  );
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  await proxy.close();
  await pair.stop();
});

/** The URL of the proxy. */
function proxied(): string {
  return pair.primary.url.replace(pair.primary.host, `127.0.0.1:${proxy.port}`);
}

async function open(url: string, options: object = {}): Promise<Database> {
  const database = await createDatabase({ url, ...APPLICATION, schema: 'any', ...options });
  opened.push(database);
  return database;
}

function insert(database: Database, n: number): Promise<unknown> {
  return database.query({ text: 'INSERT INTO public.mark VALUES ($1)' }, [n]);
}

async function portOf(database: Database): Promise<string> {
  const [row] = await database.query<{ port: number }>({
    text: 'SELECT inet_server_port() AS port',
  });
  return `127.0.0.1:${row?.port ?? 0}`;
}

async function promote(): Promise<void> {
  const database = await open(pair.standby.url);
  await database.query({ text: 'SELECT pg_promote()' });
}

/** Promotes the standby, and does what HAProxy does then: it leads there, and ends the sessions of the former primary. */
async function failOver(): Promise<void> {
  await promote();
  leader = pair.standby;
  proxy.renew();
}

/** Retries an error that may pass, like a program does. */
async function insertAtLast(database: Database, n: number): Promise<void> {
  await eventually(async () => {
    try {
      await insert(database, n);
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(DatabaseUnavailableError);
      return false;
    }
  });
}

describe('a primary that is lost', () => {
  it('goes on at the standby once that is promoted, when the primary was killed', async () => {
    const database = await open(proxied());
    await insert(database, 1);
    await pair.primary.kill();
    await expect(insert(database, 2)).rejects.toThrow(DatabaseUnavailableError);
    await failOver();
    await insertAtLast(database, 3);
    expect(await portOf(database)).toBe(pair.standby.host);
  });

  it('goes on at the standby once that is promoted, when the primary hangs', async () => {
    const database = await open(proxied(), { statementTimeoutMs: 0 });
    await insert(database, 1);
    await pair.primary.hang();
    // This wait has no end of its own. It ends because the proxy ends the connection.
    const unknown = expect(insert(database, 2)).rejects.toThrow(DatabaseUnavailableError);
    await failOver();
    await unknown;
    await insertAtLast(database, 3);
    expect(await portOf(database)).toBe(pair.standby.host);
  });

  it('takes the lead and listens at the new primary', async () => {
    const lock = new LeaderLock({ url: proxied(), ...APPLICATION });
    opened.push({ close: () => lock.release() });
    expect(await lock.tryAcquire()).toBe(true);
    const { lost } = lock;
    await pair.primary.kill();
    expect(await lost).toBeInstanceOf(Error);
    await failOver();
    expect(await lock.tryAcquire()).toBe(true);

    const hints = new RedemptionHints({ url: proxied(), ...APPLICATION });
    opened.push({ close: () => hints.stop() });
    const database = await open(proxied());
    const heard = new Promise<void>((resolve) => {
      void hints.start({ onHint: resolve, onLost: () => undefined }).then(async () => {
        await database.query({ text: 'NOTIFY lowmark_redemption' });
      });
    });
    await heard;
  });
});

describe('a server that takes no writes any more', () => {
  it('is left, and the statement may be tried again', async () => {
    const database = await open(pair.standby.url);
    await expect(insert(database, 1)).rejects.toThrow(DatabaseUnavailableError);
    await eventually(() => database.connections.idle + database.connections.busy === 0);
    await promote();
    await insertAtLast(database, 2);
  });

  it('is no fault of the server where the session itself only reads', async () => {
    const admin = await open(pair.primary.url);
    await admin.query({ text: 'CREATE ROLE lowmark_reader' });
    const database = await open(pair.primary.url, { readOnly: true });
    await expect(insert(database, 1)).rejects.toMatchObject({
      sqlState: expect.stringMatching(/^(25006|42501)$/),
    });
  });
});
