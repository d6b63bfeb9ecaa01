/** Tests retries, time limits and the cache against a real HTTP server. */
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { ConnectionError, SignatureError, TimeoutError } from '../index.js';
import { WALLET } from '../testing/caller.support.js';
import {
  type Answerer,
  BODY,
  failure,
  refusal,
  signed,
  aFakeApi,
  theDays,
} from './fake-api.support.js';

const api = aFakeApi();

describe('what may pass by itself', () => {
  const busy = (seconds: string): Answerer =>
    refusal(429, 'RATE_LIMIT_EXCEEDED', 'Slower.', { headers: { 'retry-after': seconds } });
  const cut: Answerer = ({ socket }, response) => {
    response.writeHead(200, { 'content-length': '1000' }).write('{');
    setTimeout(() => socket.destroy(), 20);
  };

  it.each([
    ['429', busy('0')],
    ['503 signed', refusal(503, 'SERVICE_UNAVAILABLE', 'Not yet.')],
    [
      '503 of a gateway',
      (_: IncomingMessage, response: ServerResponse) => response.writeHead(503).end(),
    ],
    ['a body that is cut off', cut],
    ['a connection that breaks', ({ socket }: IncomingMessage) => socket.destroy()],
  ] as [string, Answerer][])('%s is tried again', async (_, passing) => {
    api.answers = [passing, passing, signed(BODY)];
    expect(await api.client().snapshots(WALLET)).toEqual(BODY);
    expect(api.requests).toHaveLength(3);
  });

  it('does not come back before Retry-After says so', async () => {
    api.answers = [busy('1'), signed(BODY)];
    const error = await failure(api.client({ timeoutMs: 999 }).snapshots(WALLET));
    expect(error).toMatchObject({ status: 429, retryAfterSeconds: 1 });
    api.answers = [busy('1'), signed(BODY)];
    expect(await api.client({ timeoutMs: 30_000 }).snapshots(WALLET)).toEqual(BODY);
  });

  it('gives the refusal at once where Retry-After is beyond the time', async () => {
    const headers = { 'retry-after': '3600' };
    api.answers = [refusal(503, 'SERVICE_UNAVAILABLE', 'Not yet.', { headers })];
    expect(await failure(api.client().snapshots(WALLET))).toMatchObject({
      name: 'LowmarkApiError',
      status: 503,
      retryAfterSeconds: 3600,
    });
    expect(api.requests).toHaveLength(1);
  });

  it('gives up after its attempts', async () => {
    api.answers = [busy('0')];
    const error = await failure(api.client({ retries: 1 }).snapshots(WALLET));
    expect(error).toMatchObject({ status: 429, retryAfterSeconds: 0 });
    expect(api.requests).toHaveLength(2);
    api.requests = [];
    api.answers = [cut];
    expect(await failure(api.client({ retries: 0 }).snapshots(WALLET))).toBeInstanceOf(
      ConnectionError,
    );
    expect(api.requests).toHaveLength(1);
  });

  it('the time is over for all attempts together, also for a body that trickles', async () => {
    let trickle: NodeJS.Timeout | undefined;
    api.answers = [
      (_, response) => {
        response.writeHead(200);
        trickle = setInterval(() => response.write(' '), 20);
      },
    ];
    const error = await failure(api.client({ timeoutMs: 300 }).snapshots(WALLET));
    clearInterval(trickle);
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ message: 'No complete answer within 300 ms.' });
    expect(api.requests).toHaveLength(1);
  });

  it('a body without end is cut', async () => {
    api.answers = [(_, response) => response.writeHead(200).end('x'.repeat(2_000_000))];
    const error = await failure(api.client({ retries: 0 }).snapshots(WALLET));
    expect(error).toBeInstanceOf(ConnectionError);
    expect((error as Error).cause).toMatchObject({ message: 'The body is too large.' });
  });

  it('nobody there', async () => {
    const error = await failure(
      api.client({ baseUrl: 'http://127.0.0.1:1', retries: 0 }).snapshots(WALLET),
    );
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'CONNECTION_FAILED' });
  });
});

describe('the cache of a player session', () => {
  it('asks once for a wallet and its days, also when many ask at once, until the session is over', async () => {
    const startMs = Date.parse(BODY.requestedAt);
    let nowMs = startMs;
    const now = () => ({ requestedAt: new Date(nowMs).toISOString() });
    const cached = api.client({ cacheSeconds: 3600, clock: { nowMs: () => nowMs } });
    api.answers = [signed(BODY)];
    const ask = (): Promise<unknown> => cached.snapshotsOrNone(WALLET.replace('e7', 'E7'));
    await Promise.all([ask(), ask(), cached.snapshots(WALLET)]);
    nowMs = startMs + 3_599_999;
    await ask();
    expect(api.requests).toHaveLength(1);
    api.answers = [signed({ ...BODY, ...now(), stakingSnapshots: theDays(3) })];
    await cached.snapshots(WALLET, { lastDays: 3 });
    expect(api.requests).toHaveLength(2);
    nowMs = startMs + 3_600_000;
    const message = `No staking data for wallet ${WALLET}`;
    api.answers = [signed({ code: 'NOT_FOUND', message, ...now() }, { status: 404 })];
    expect(await ask()).toBeUndefined();
    expect(await ask()).toBeUndefined();
    expect(await failure(cached.snapshots(WALLET))).toMatchObject({ status: 404 });
    expect(api.requests).toHaveLength(3);
  });

  it('keeps nothing that failed', async () => {
    const cached = api.client({ cacheSeconds: 3600 });
    api.answers = [
      refusal(500, 'INTERNAL_SERVER_ERROR', 'x'),
      signed(BODY, { secret: 'x' }),
      signed(BODY),
    ];
    expect(await failure(cached.snapshots(WALLET))).toMatchObject({ status: 500 });
    expect(await failure(cached.snapshots(WALLET))).toBeInstanceOf(SignatureError);
    expect(await cached.snapshots(WALLET)).toEqual(BODY);
    expect(api.requests).toHaveLength(3);
  });

  it('is off where it is not asked for', async () => {
    api.answers = [signed(BODY)];
    const plain = api.client();
    await plain.snapshots(WALLET);
    await plain.snapshots(WALLET);
    expect(api.requests).toHaveLength(2);
  });
});
