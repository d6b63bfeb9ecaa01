/** How long a connection is kept, by a clock of the test. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { RoguePartner } from '../testing/rogue-partner.support.js';
import { Connection, idleMs } from './exchange.js';
import { KeptConnections } from './kept-connections.js';

let partner: RoguePartner;
let nowMs: number;
let kept: KeptConnections;

beforeEach(async () => {
  partner = await RoguePartner.start();
  nowMs = 1_000_000;
  kept = new KeptConnections({ policy: { allowPrivate: true }, connectMs: 1000 }, () => nowMs);
});

afterEach(async () => {
  await partner.close();
});

async function aConnection(socket = connect(partner.port, '127.0.0.1')): Promise<Connection> {
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const connection = new Connection(socket, `http://127.0.0.1:${partner.port}`, '127.0.0.1');
  return kept.opened('a', connection);
}

describe('a kept connection', () => {
  it('is taken once, the newest first', async () => {
    const [older, newer] = [await aConnection(), await aConnection()];
    kept.keep('a', older, 1000);
    kept.keep('a', newer, 1000);
    expect(await kept.take('b')).toBeUndefined();
    expect([await kept.take('a'), await kept.take('a'), await kept.take('a')]).toEqual([
      newer,
      older,
      undefined,
    ]);
    older.destroy();
    newer.destroy();
  });

  it.each([
    ['as long as it may be idle', 999, 1000, true],
    ['no longer', 1000, 1000, false],
    ['not past its minute', 60_000, 90_000, false],
  ])('is good %s', async (_case, idleForMs, allowedMs, isGood) => {
    const connection = await aConnection();
    kept.keep('a', connection, allowedMs);
    nowMs += idleForMs;
    expect((await kept.take('a')) === connection).toBe(isGood);
    expect(connection.isOpen).toBe(isGood);
    connection.destroy();
  });

  it('is made again after a minute, however often it is used', async () => {
    const connection = await aConnection();
    for (let used = 0; used < 6; used++) {
      kept.keep('a', connection, 30_000);
      nowMs += 9999;
      expect(await kept.take('a')).toBe(connection);
    }
    nowMs += 6;
    kept.keep('a', connection, 30_000);
    expect([connection.isOpen, await kept.take('a')]).toEqual([false, undefined]);
  });

  it('gathers nothing on its socket with each use', async () => {
    const socket = connect(partner.port, '127.0.0.1');
    const connection = await aConnection(socket);
    const before = socket.listenerCount('close');
    for (let used = 0; used < 20; used++) {
      kept.keep('a', connection, 1000);
      expect(await kept.take('a')).toBe(connection);
    }
    expect(socket.listenerCount('close')).toBe(before);
    connection.destroy();
  });

  it('is forgotten when it is closed', async () => {
    const connection = await aConnection();
    kept.keep('a', connection, 1000);
    connection.destroy();
    expect(await kept.take('a')).toBeUndefined();
  });
});

describe('how long it may be idle', () => {
  it.each([
    [undefined, 1000],
    ['timeout=5', 4000],
    ['max=100, timeout=20', 19_000],
    ['timeout=3600', 30_000],
    ['timeout=1', 0],
    ['timeout=0', -1000],
    ['nonsense', 1000],
  ])('%s: %i ms', (header, expected) => {
    expect(idleMs(header)).toBe(expected);
  });
});
