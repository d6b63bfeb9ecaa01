import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing';
import { RedemptionHints } from './redemption-hints.js';

const LISTENER = { onHint: () => undefined, onLost: () => undefined };
const TERMINATE = 'X'.charCodeAt(0);

/** A message of PostgreSQL's protocol. */
function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, content]);
}

/** What a standby answers to a new connection: no password wanted, it is a standby, it waits for statements. */
const OF_A_STANDBY = Buffer.concat([
  message('R', Buffer.alloc(4)),
  message('S', Buffer.from('in_hot_standby\0on\0')),
  message('S', Buffer.from('default_transaction_read_only\0off\0')),
  message('Z', Buffer.from('I')),
]);

let test: TestDatabase;
let standby: Server;
let onLeft: () => unknown;
let hints: RedemptionHints;

beforeEach(async () => {
  test = await createTestDatabase();
  standby = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      if (data[0] !== TERMINATE) {
        socket.write(OF_A_STANDBY);
        return;
      }
      onLeft();
      socket.destroy();
    });
  });
  await new Promise<void>((resolve) => standby.listen(0, '127.0.0.1', resolve));
  const url = new URL(test.url);
  const { port } = standby.address() as AddressInfo;
  const hosts = `127.0.0.1:${port},${url.host}`;
  url.searchParams.set('target_session_attrs', 'read-write');
  url.searchParams.set('sslmode', 'disable');
  hints = new RedemptionHints({ url: url.href.replace(url.host, hosts), applicationName: 'hints' });
});
afterEach(async () => {
  await hints.stop();
  standby.close();
  await test.drop();
});

async function connections(): Promise<number> {
  const database = await test.open();
  const text = `SELECT FROM pg_stat_activity WHERE application_name = 'hints'`;
  return (await database.query({ text })).length;
}

it('listens by one connection, however often it is started while it goes from host to host', async () => {
  const others: Promise<void>[] = [];
  onLeft = () => others.push(hints.start(LISTENER));
  await hints.start(LISTENER);
  await Promise.all(others);
  expect(others).toHaveLength(1);
  expect(await connections()).toBe(1);
});

it('does not go on to the next host after it was stopped', async () => {
  const left: Promise<void>[] = [];
  onLeft = () => left.push(hints.stop());
  await expect(hints.start(LISTENER)).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
  await Promise.all(left);
  expect(left).toHaveLength(1);
  expect(await connections()).toBe(0);
});
