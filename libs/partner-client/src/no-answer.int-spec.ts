/** Every way in which no whole answer comes, over real sockets. No call is made twice. */
import { type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  aClient,
  BALANCE,
  DEDUCT,
  deduct,
  endpointOf,
  SHORT,
} from './testing/partner-bench.support.js';
import {
  answer,
  type Behaviour,
  headersOf,
  RoguePartner,
  SUCCESS,
} from './testing/rogue-partner.support.js';

let partner: RoguePartner;

beforeEach(async () => {
  partner = await RoguePartner.start();
});

afterEach(async () => {
  await partner.close();
});

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const HALF_CHUNK = '20\r\n{"partnerTransactionId":"ptx-9';

/** Writes the text again and again, until the connection is closed. */
function drip(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), 40);
  socket.on('close', () => {
    clearInterval(timer);
  });
}

describe('no whole answer', () => {
  it.each<[string, Behaviour, { cause: string; phase?: string; alert?: boolean }]>([
    ['none at all', () => undefined, { cause: 'timeout', phase: 'sending', alert: false }],
    [
      'a reset before it',
      (socket) => socket.resetAndDestroy(),
      { cause: 'reset', phase: 'sending' },
    ],
    ['a close before it', (socket) => socket.end(), { cause: 'reset', phase: 'sending' }],
    [
      'half a head',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-'),
      { cause: 'reset', phase: 'sending' },
    ],
    [
      'a close after the head',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n'),
      { cause: 'half-answer', phase: 'head' },
    ],
    [
      'half a body',
      (socket, request) => socket.end(answer(request).subarray(0, -4)),
      { cause: 'half-answer', phase: 'body' },
    ],
    [
      'half a body in chunks',
      (socket) => socket.end(CHUNKED + HALF_CHUNK),
      { cause: 'half-answer', phase: 'body' },
    ],
    [
      'half a body in chunks on a connection to be closed',
      (socket) => socket.end(CHUNKED.replace('OK', 'OK\r\nConnection: close') + HALF_CHUNK),
      { cause: 'half-answer', phase: 'body' },
    ],
    [
      'a broken chunk',
      (socket) => socket.write(`${CHUNKED}2\r\n{}\r\nzz\r\n`),
      { cause: 'not-http', phase: 'body' },
    ],
    [
      'a reset within the body',
      (socket, request) => {
        socket.write(answer(request).subarray(0, -4), () =>
          setTimeout(() => socket.resetAndDestroy(), 50),
        );
      },
      { cause: 'reset', phase: 'body' },
    ],
    [
      'a trickle',
      (socket, request) => {
        socket.write(answer(request).subarray(0, -20));
        drip(socket, '"');
      },
      { cause: 'too-slow', phase: 'body', alert: true },
    ],
    [
      'a head without end',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        drip(socket, 'X-A: b\r\n');
      },
      { cause: 'timeout', phase: 'sending' },
    ],
    [
      'announcements without end',
      (socket) => {
        drip(socket, 'HTTP/1.1 102 Processing\r\n\r\n');
      },
      { cause: 'timeout', phase: 'sending' },
    ],
    [
      'a body announced too large',
      (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 65537\r\n\r\n'),
      { cause: 'too-large', phase: 'head', alert: true },
    ],
    [
      'a body that grows too large',
      (socket) => socket.write(CHUNKED + `1000\r\n${'x'.repeat(4096)}\r\n`.repeat(40)),
      { cause: 'too-large', phase: 'body', alert: true },
    ],
    [
      'huge headers',
      (socket) => socket.write(`HTTP/1.1 200 OK\r\nX-Huge: ${'h'.repeat(20_000)}\r\n\r\n`),
      { cause: 'too-large', phase: 'sending', alert: true },
    ],
    ['something else than HTTP', (socket) => socket.end('SSH-2.0-x\r\n'), { cause: 'not-http' }],
    [
      'two lengths',
      (socket, request) => {
        const headers = [...headersOf(request, SUCCESS), ['content-length', '3'] as const];
        socket.end(answer(request, { headers }));
      },
      { cause: 'not-http' },
    ],
    [
      '100 that nobody asked for',
      (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'),
      { cause: 'not-http' },
    ],
    [
      'an upgrade that nobody asked for',
      (socket) =>
        socket.write('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
      { cause: 'not-http' },
    ],
  ])('%s', async (_case, behave, expected) => {
    partner.behave = behave;
    const isLate = expected.cause === 'timeout' || expected.cause === 'too-slow';
    const result = await deduct(partner, aClient(isLate ? { timeouts: SHORT } : {}));
    expect(result).toMatchObject({ kind: 'no-answer', ...expected });
    // Long enough for a second attempt, if there were one.
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(partner.requests).toHaveLength(1);
    expect(partner.connections).toBe(1);
  });

  it('keeps the beginning of what came, as a candidate may stand in it', async () => {
    partner.behave = (socket, request) => socket.end(answer(request).subarray(0, -2));
    const { record } = await deduct(partner);
    expect(record).toMatchObject({
      excerpt: SUCCESS.slice(0, -2),
      status: 200,
      phase: 'body',
      answerBytes: SUCCESS.length - 2,
    });
  });

  it('is the end of a read sooner than of the others', async () => {
    partner.behave = () => undefined;
    const client = aClient({ timeouts: { connectMs: 300, readMs: 100, writeMs: 50_000 } });
    const abort = new AbortController();
    const write = client.call(endpointOf(partner), DEDUCT, { signal: abort.signal });
    const read = await client.call(endpointOf(partner), BALANCE);
    expect(read).toMatchObject({ kind: 'no-answer', cause: 'timeout' });
    abort.abort();
    expect(await write).toMatchObject({ kind: 'no-answer', cause: 'aborted' });
  });

  it('is known, or not even a request sent, where the connection closes at once', async () => {
    partner.onConnect = (socket) => socket.resetAndDestroy();
    // The kernel decides whether the reset comes before or after the first byte; only a reset before it is a proof.
    const result = await deduct(partner);
    expect([
      ['nothing-sent', 'unreachable', 'connect'],
      ['no-answer', 'reset', 'sending'],
    ]).toContainEqual([result.kind, result.record.cause, result.phase]);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(partner.requests).toHaveLength(0);
    expect(partner.connections).toBe(1);
  });

  it('follows from a caller who ends a call under way', async () => {
    const abort = new AbortController();
    partner.behave = () => {
      abort.abort();
    };
    const result = await aClient().call(endpointOf(partner), DEDUCT, { signal: abort.signal });
    expect(result).toMatchObject({ kind: 'no-answer', cause: 'aborted', phase: 'sending' });
    const again = await aClient().call(endpointOf(partner), DEDUCT, { signal: abort.signal });
    expect(again).toMatchObject({ kind: 'nothing-sent', cause: 'aborted' });
    expect(partner.requests).toHaveLength(1);
  });
});
