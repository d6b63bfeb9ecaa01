/**
 * Calls over kept connections, over real sockets: where the connections lead, when they are not used again, and what a
 * lost connection proves.
 */
import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type PartnerId } from '#libs/domain';
import { systemClock } from '#libs/platform';
import { type CallResult } from './call-result.js';
import { type PartnerClient } from './partner-client.js';
import { anAuthority } from './testing/certificates.support.js';
import {
  aClient,
  anEndpoint,
  BALANCE,
  CONFIRM,
  DEDUCT,
  deduct,
  endpointOf,
  REVERT,
  SHORT,
} from './testing/partner-bench.support.js';
import {
  answer,
  headersOf,
  RoguePartner,
  type SeenRequest,
  SUCCESS,
} from './testing/rogue-partner.support.js';
import { Connection, idleMs } from './wire/exchange.js';
import { KeptConnections } from './wire/kept-connections.js';

const NAME = 'partner.example';
const VERIFIED = { kind: 'answer', verdict: 'verified' };

let partner: RoguePartner;
let client: PartnerClient;

beforeEach(async () => {
  partner = await RoguePartner.start();
  partner.behave = keepOpen;
  client = aClient();
});

afterEach(async () => {
  await partner.close();
});

function keepOpen(socket: Socket, request: SeenRequest): void {
  socket.write(answer(request));
}

const call = (): Promise<CallResult> => deduct(partner, client);
/** Waits until what one side has written has arrived at the other. */
const arrived = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 30));

describe('calls one after the other', () => {
  it('share a connection; each has an id of its own and its own answer', async () => {
    const endpoint = endpointOf(partner);
    for (const step of [BALANCE, DEDUCT, REVERT, CONFIRM]) {
      expect(await client.call(endpoint, step)).toMatchObject(VERIFIED);
    }
    expect(partner.connections).toBe(1);
    expect(partner.requests).toHaveLength(4);
    expect(new Set(partner.requests.map((seen) => seen.header('x-api-request'))).size).toBe(4);
  });

  it('say which connection it was', async () => {
    const [first, second] = [await call(), await call()];
    expect(first.record.kept).toBeUndefined();
    expect(first.record.timings.connect).toBeDefined();
    expect(second.record).toMatchObject({ kept: true, remoteAddress: '127.0.0.1' });
    expect(second.record.timings).not.toHaveProperty('connect');
  });

  it('share it over TLS too', async () => {
    const authority = anAuthority();
    const secure = await RoguePartner.start(authority.issue({ addresses: ['127.0.0.1'] }));
    secure.behave = keepOpen;
    const trusting = aClient({ ca: authority.certificate });
    const endpoint = anEndpoint({ baseUrl: `https://127.0.0.1:${secure.port}` });
    try {
      for (let calls = 0; calls < 3; calls++) {
        expect(await trusting.call(endpoint, DEDUCT)).toMatchObject(VERIFIED);
      }
      expect(secure.connections).toBe(1);
    } finally {
      await secure.close();
    }
  });
});

describe('calls at once', () => {
  it('have a connection each, and never share one', async () => {
    const waiting: (() => void)[] = [];
    partner.behave = (socket, request) => {
      waiting.push(() => socket.write(answer(request)));
      if (waiting.length === 3) for (const reply of waiting.splice(0)) reply();
    };
    for (let round = 0; round < 2; round++) {
      const results = await Promise.all([call(), call(), call()]);
      expect(results).toMatchObject([VERIFIED, VERIFIED, VERIFIED]);
    }
    expect(partner.connections).toBe(3);
  });
});

describe('a connection is not used again', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['closed', (socket) => socket.end()],
    ['reset', (socket) => socket.resetAndDestroy()],
  ])('that was %s while idle', async (_case, close) => {
    partner.behave = (socket, request) => {
      socket.write(answer(request), () => {
        close(socket);
      });
    };
    expect(await call()).toMatchObject(VERIFIED);
    await arrived();
    expect(await call()).toMatchObject(VERIFIED);
    expect([partner.connections, partner.requests.length]).toEqual([2, 2]);
  });

  it.each<[string, Record<string, string>]>([
    ['that the partner will close', { connection: 'close' }],
    ['that the partner keeps for a second at most', { 'keep-alive': 'timeout=1' }],
  ])('%s', async (_case, change) => {
    partner.behave = (socket, request) => {
      socket.write(answer(request, { headers: headersOf(request, SUCCESS, change) }));
    };
    expect([await call(), await call()]).toMatchObject([VERIFIED, VERIFIED]);
    expect(partner.connections).toBe(2);
  });

  it.each<[string, (socket: Socket, request: SeenRequest) => void]>([
    [
      'whose answer was not the partner’s',
      (socket, request) => {
        const headers = headersOf(request, SUCCESS, { 'x-api-signature': 'ab'.repeat(32) });
        socket.write(answer(request, { headers }));
      },
    ],
    [
      'whose answer was a failure',
      (socket, request) => socket.write(answer(request, { status: 502 })),
    ],
    [
      'that brought more than the answer',
      (socket, request) => {
        socket.write(Buffer.concat([answer(request), answer(request)]));
      },
    ],
  ])('%s', async (_case, behave) => {
    partner.behave = behave;
    await call();
    await arrived();
    partner.behave = keepOpen;
    expect(await call()).toMatchObject({ ...VERIFIED, record: { requestId: expect.any(String) } });
    expect(partner.connections).toBe(2);
  });

  it('by another partner of the same address', async () => {
    const other = anEndpoint({
      partnerId: '5f0c1f0e-0000-4000-8000-000000000002' as PartnerId,
      baseUrl: endpointOf(partner).baseUrl,
    });
    expect([await call(), await client.call(other, DEDUCT)]).toMatchObject([VERIFIED, VERIFIED]);
    expect(partner.connections).toBe(2);
  });
});

describe('a kept connection that is lost under a request', () => {
  it.each<[string, string, (socket: Socket, request: SeenRequest) => void]>([
    ['reset', 'reset', (socket) => socket.resetAndDestroy()],
    ['closed', 'reset', (socket) => socket.end()],
    [
      'closed within the answer',
      'half-answer',
      (socket, request) => socket.end(answer(request).subarray(0, -4)),
    ],
  ])('(%s) leaves it unknown, and nothing is sent again', async (_case, cause, close) => {
    expect(await call()).toMatchObject(VERIFIED);
    partner.behave = close;
    expect(await call()).toMatchObject({ kind: 'no-answer', cause });
    await arrived();
    expect([partner.connections, partner.requests.length]).toEqual([1, 2]);
  });

  it('before a byte of the request was given to it: the call is sent once, on another connection', async () => {
    const sockets: Socket[] = [];
    let isTaken = false;
    // The clock is read for the last time right before the request is given to the connection.
    const clock = {
      nowMs: () => {
        if (isTaken) sockets[0]?.destroy();
        return systemClock.nowMs();
      },
    };
    const watched = aClient({
      clock,
      connectTcp: (options) => {
        const socket = new Socket();
        sockets.push(socket);
        return socket.connect(options);
      },
    });
    const endpoint = endpointOf(partner);
    expect(await watched.call(endpoint, DEDUCT)).toMatchObject(VERIFIED);
    // Runs right before the turn in which the kept connection is taken.
    setImmediate(() => {
      isTaken = true;
    });
    const second = await watched.call(endpoint, DEDUCT);
    expect(second).toMatchObject(VERIFIED);
    expect(second.record.kept).toBeUndefined();
    expect([partner.connections, partner.requests.length]).toEqual([2, 2]);
  });

  it('is left at the deadline, and not used by the next call', async () => {
    client = aClient({ timeouts: SHORT });
    expect(await call()).toMatchObject(VERIFIED);
    partner.behave = () => undefined;
    expect(await call()).toMatchObject({ kind: 'no-answer', cause: 'timeout' });
    partner.behave = keepOpen;
    expect(await call()).toMatchObject(VERIFIED);
    expect([partner.connections, partner.requests.length]).toEqual([2, 3]);
  });
});

describe('the address of a kept connection', () => {
  it('is the one that was checked, whatever the name has come to mean', async () => {
    const asked: string[] = [];
    const answers = ['127.0.0.1', '169.254.169.254'];
    const rebound = aClient({
      resolve: (name) => {
        asked.push(name);
        return Promise.resolve([{ address: answers.shift() ?? '', family: 4 }]);
      },
    });
    const endpoint = anEndpoint({ baseUrl: `http://${NAME}:${partner.port}` });
    const results = [await rebound.call(endpoint, DEDUCT), await rebound.call(endpoint, DEDUCT)];
    expect(results).toMatchObject([VERIFIED, VERIFIED]);
    expect(results[1]?.record.remoteAddress).toBe('127.0.0.1');
    expect(asked).toEqual([NAME]);
    // A new connection resolves the name again.
    partner.behave = (socket) => socket.resetAndDestroy();
    await rebound.call(endpoint, DEDUCT);
    expect(await rebound.call(endpoint, DEDUCT)).toMatchObject({
      kind: 'nothing-sent',
      cause: 'blocked-address',
      phase: 'dns',
    });
    expect([partner.connections, partner.requests.length]).toEqual([1, 3]);
  });
});

describe('how long a connection is kept, by a clock of the test', () => {
  let nowMs: number;
  let kept: KeptConnections;

  beforeEach(() => {
    nowMs = 1_000_000;
    kept = new KeptConnections({ policy: { allowPrivate: true }, connectMs: 1000 }, () => nowMs);
  });

  async function aConnection(socket = connect(partner.port, '127.0.0.1')): Promise<Connection> {
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    const connection = new Connection(socket, `http://127.0.0.1:${partner.port}`, '127.0.0.1');
    return kept.opened('a', connection);
  }

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
