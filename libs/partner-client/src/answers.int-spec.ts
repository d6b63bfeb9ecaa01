/**
 * Every end of a deduction whose request was sent, over real sockets: how the client judges it, and what the domain
 * makes of it. The partner gets each call exactly once.
 */
import { type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type CallOutcome } from '#libs/domain';
import { callOutcome } from './call-outcome.js';
import {
  aClient,
  BALANCE,
  CONFIRM,
  DEDUCT,
  deduct,
  endpointOf,
  SHORT,
  WALLET,
} from './testing/partner-bench.support.js';
import {
  answer,
  type Behaviour,
  headersOf,
  replies,
  RoguePartner,
  signatureFor,
  SUCCESS,
  UNSIGNED,
} from './testing/rogue-partner.support.js';

let partner: RoguePartner;

beforeEach(async () => {
  partner = await RoguePartner.start();
});

afterEach(async () => {
  await partner.close();
});

/** Long enough for a second attempt, if there were one. */
const aMoment = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 30));

/** Makes one deduction and compares its result, and its outcome where one is given. */
async function expectEnd(
  behave: Behaviour,
  expected: object,
  outcome?: CallOutcome<'deduct'>,
  client = aClient(),
): Promise<void> {
  partner.behave = behave;
  const result = await deduct(partner, client);
  expect(result).toMatchObject(expected);
  if (outcome !== undefined) {
    expect(callOutcome({ step: 'deduct', address: WALLET }, result)).toEqual(outcome);
  }
  await aMoment();
  expect([partner.requests.length, partner.connections]).toEqual([1, 1]);
}

const LATE = new Date(Date.now() + 90_000_000).toUTCString();
const EARLY = 'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n';
const READ = { json: { value: { success: true, partnerTransactionId: 'ptx-1' } } };

const SUCCEEDED = { kind: 'succeeded', answer: { partnerTransactionId: 'ptx-1' } } as const;

describe('an answer', () => {
  it.each<[string, Behaviour, object, CallOutcome<'deduct'>?]>([
    [
      'after 102 and 103',
      (socket, request) => socket.end(Buffer.concat([Buffer.from(EARLY), answer(request)])),
      { verdict: 'verified', status: 200, alert: false },
      SUCCEEDED,
    ],
    [
      'in chunks',
      (socket, request) => {
        const chunked = { 'content-length': undefined, 'transfer-encoding': 'chunked' };
        const headers = headersOf(request, SUCCESS, chunked);
        const texts = [SUCCESS.slice(0, 5), SUCCESS.slice(5), ''];
        const chunks = texts.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`);
        socket.end(answer(request, { headers, body: chunks.join('') }));
      },
      { verdict: 'verified' },
    ],
    [
      'that ends with the connection',
      replies({ headers: { 'content-length': undefined } }),
      { verdict: 'verified' },
    ],
    [
      'cut short where only the connection tells its end',
      (socket, request) => {
        const headers = headersOf(request, SUCCESS, { 'content-length': undefined });
        socket.end(answer(request, { headers, body: SUCCESS.slice(0, -4) }));
      },
      { verdict: 'bad-signature', alert: true, reply: { signature: 'wrong' } },
    ],
    [
      'without a signature',
      replies({ headers: UNSIGNED }),
      { verdict: 'unsigned', alert: true, reply: READ },
      { kind: 'unknown', reason: 'signature-missing', candidateTransactionId: 'ptx-1' },
    ],
    [
      'with a signature twice',
      (socket, request) => {
        const second = ['X-API-Signature', signatureFor(request, SUCCESS)] as const;
        socket.end(answer(request, { headers: [...headersOf(request, SUCCESS), second] }));
      },
      { verdict: 'bad-signature', alert: true },
    ],
    [
      'that redirects',
      replies({ status: 307, body: '', headers: { ...UNSIGNED, location: '/elsewhere' } }),
      { status: 307, verdict: 'not-json', alert: true },
      { kind: 'unknown', reason: 'redirect' },
    ],
    [
      'of 429',
      replies({ status: 429, headers: { 'retry-after': '7' } }),
      { status: 429, retryAfterSeconds: 7 },
    ],
    [
      'of 503 with a date far off',
      replies({
        ...{ status: 503, body: 'down' },
        headers: { ...UNSIGNED, 'retry-after': LATE, 'content-type': undefined },
      }),
      { status: 503, verdict: 'not-json', reply: { signature: 'missing' }, alert: false },
      { kind: 'unknown', reason: 'server-error', retryAfterSeconds: 86_400 },
    ],
    [
      'of exactly 64 KiB',
      replies({ body: `"${'x'.repeat(65_534)}"` }),
      { verdict: 'verified', record: expect.objectContaining({ answerBytes: 65_536 }) },
    ],
    [
      'with bytes behind its end',
      (socket, request) => socket.end(Buffer.concat([answer(request), answer(request)])),
      { verdict: 'verified' },
      SUCCEEDED,
    ],
  ])('%s', async (...[, behave, expected, outcome]) => {
    await expectEnd(behave, { kind: 'answer', phase: 'done', ...expected }, outcome);
  });

  it('to a confirmation needs no signature, and raises no alert', async () => {
    partner.behave = replies({ body: '{"success":true}', headers: UNSIGNED });
    const client = aClient({ gate: { threshold: 2 } });
    for (let call = 0; call < 3; call++) {
      const result = await client.call(endpointOf(partner), CONFIRM);
      const reply = { json: { value: { success: true } } };
      expect(result).toMatchObject({ verdict: 'unsigned', alert: false, reply });
    }
  });
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

/** The outcome's reason, where it has another name than the cause. */
const REASONS: Readonly<Record<string, string>> = { 'not-http': 'no-envelope' };

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
      '100 that was not asked for',
      (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'),
      { cause: 'not-http' },
    ],
    [
      'an upgrade that was not asked for',
      (socket) =>
        socket.write('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
      { cause: 'not-http' },
    ],
  ])('%s', async (_case, behave, expected) => {
    const { cause } = expected;
    const isLate = cause === 'timeout' || cause === 'too-slow';
    const client = aClient(isLate ? { timeouts: SHORT } : {});
    const outcome = { kind: 'unknown', reason: REASONS[cause] ?? cause } as CallOutcome<'deduct'>;
    await expectEnd(behave, { kind: 'no-answer', ...expected }, outcome, client);
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

  it('is known, or nothing was sent, if the connection closes at once', async () => {
    partner.onConnect = (socket) => socket.resetAndDestroy();
    // The kernel decides whether the reset comes before or after the first byte; only a reset before it is a proof.
    const result = await deduct(partner);
    expect([
      ['nothing-sent', 'unreachable', 'connect'],
      ['no-answer', 'reset', 'sending'],
    ]).toContainEqual([result.kind, result.record.cause, result.phase]);
    await aMoment();
    expect([partner.requests.length, partner.connections]).toEqual([0, 1]);
  });

  it('follows from a caller who ends a call under way', async () => {
    const abort = new AbortController();
    partner.behave = () => {
      abort.abort();
    };
    const call = { step: 'deduct', address: WALLET } as const;
    const result = await aClient().call(endpointOf(partner), DEDUCT, { signal: abort.signal });
    expect(result).toMatchObject({ kind: 'no-answer', cause: 'aborted', phase: 'sending' });
    expect(callOutcome(call, result)).toEqual({ kind: 'unknown', reason: 'crash' });
    const again = await aClient().call(endpointOf(partner), DEDUCT, { signal: abort.signal });
    expect(again).toMatchObject({ kind: 'nothing-sent', cause: 'aborted' });
    expect(callOutcome(call, again)).toEqual({ kind: 'nothing-sent', reason: 'held-back' });
    expect(partner.requests).toHaveLength(1);
  });
});
