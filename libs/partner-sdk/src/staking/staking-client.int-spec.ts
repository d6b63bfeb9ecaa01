/** Tests which answers of a real HTTP server the client believes, when it asks again, and what it keeps. */
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import {
  ConnectionError,
  LowmarkApiError,
  SignatureError,
  StakingClient,
  type StakingClientOptions,
  TimeoutError,
  UnexpectedAnswerError,
} from '../index.js';
import { API_KEY, SECRET, WALLET } from '../testing/caller.support.js';
import {
  type Answerer,
  BODY,
  failure,
  NONE,
  noStake,
  refusal,
  type Signed,
  signed,
  aFakeApi,
  theDays,
} from './fake-api.support.js';
import { PlayerCache } from './player-cache.js';

const NOON = '2026-11-20T12:00:00.000Z';

const api = aFakeApi();

describe('an answer that is signed', () => {
  it('is what was asked for', async () => {
    api.answers = [signed(BODY)];
    const found = await api.client().snapshots(WALLET.toUpperCase().replace('X', 'x'));
    expect(found).toEqual(BODY);
    expect(Object.isFrozen(found.stakingSnapshots[0])).toBe(true);
    const [request] = api.requests;
    expect(request?.url).toBe(`/api/staking/snapshots?walletAddress=${WALLET}&lastDays=7`);
    expect(request?.headers).toMatchObject({
      'x-api-key': API_KEY,
      'accept-encoding': 'identity',
    });
  });

  it('may be as old as the partner says', async () => {
    api.answers = [signed(BODY)];
    const at = (seconds: number, freshSeconds: number) => {
      const clock = { nowMs: () => Date.parse(BODY.requestedAt) + 1000 * seconds };
      return api.client({ clock, freshSeconds }).snapshots(WALLET);
    };
    await expect(at(10, 5)).rejects.toThrow('more than 5 s from the clock here');
    expect(await at(3600, 7200)).toEqual(BODY);
  });

  it('may leave out the prices and bring more fields', async () => {
    const unpriced = { valueInUSD: undefined, exchangeRateToUSD: undefined };
    api.answers = [signed({ ...BODY, ...unpriced, more: 1, stakingSnapshots: theDays(30) })];
    expect(await api.client().snapshots(WALLET, { lastDays: 30 })).toMatchObject({ more: 1 });
  });

  it('is signed over the path of the base URL too, and query or slashes are no matter', async () => {
    api.answers = [signed(BODY)];
    await api.client({ baseUrl: `${api.origin}/staging//` }).snapshots(WALLET);
    expect(api.requests[0]?.url).toMatch(/^\/staging\/api\/staking\/snapshots\?/);
  });

  it.each([
    ['walletAddress', { ...BODY, walletAddress: `0x${'1'.repeat(40)}` }],
    ['stakingSnapshots', { ...BODY, stakingSnapshots: theDays(6) }],
    ['stakingSnapshots', { ...BODY, stakingSnapshots: theDays(7, '2026-11-19') }],
    ['stakingSnapshots', { ...BODY, stakingSnapshots: theDays(7).toReversed() }],
    ['stakingSnapshots', { ...BODY, stakingSnapshots: [...theDays(6), theDays(6)[5]] }],
    ['stakingSnapshots', { ...BODY, stakingSnapshots: [theDays(8)[0], ...theDays(6)] }],
    [
      'stakingSnapshots',
      { ...BODY, stakingSnapshots: [...theDays(7).slice(0, 6), { ...theDays(1)[0], to: NOON }] },
    ],
    ['averageStakedAmount', { ...BODY, averageStakedAmount: -1 }],
    ['valueInUSD', { ...BODY, valueInUSD: null }],
    ['averageStakedAmount', { ...BODY, averageStakedAmount: 301 }],
    [
      'snapshotAmount',
      { ...BODY, stakingSnapshots: theDays(7).map((day) => ({ ...day, snapshotAmount: '1' })) },
    ],
    ['stakingSnapshots', { ...BODY, stakingSnapshots: theDays(7).map(() => 1) }],
    ['requestedAt', { ...BODY, requestedAt: 5 }],
    ['requestedAt', { ...BODY, requestedAt: 'now' }],
    ['requestedAt', { ...BODY, requestedAt: '2026-11-21T11:55:02.122Z' }],
    ['requestedAt', { ...BODY, requestedAt: '2026-11-21T12:05:02.124Z' }],
    ['requestedAt', []],
    ['not JSON', '{'],
    ['not JSON', `{"walletAddress":"${WALLET}","walletAddress":"${WALLET}"}`],
  ])('but is not one to this question is refused: %s', async (fault, body) => {
    api.answers = [signed(body)];
    const error = await failure(api.client().snapshots(WALLET));
    expect(error).toBeInstanceOf(UnexpectedAnswerError);
    expect((error as Error).message).toContain(fault);
    expect(api.requests).toHaveLength(1);
  });
});

describe('an answer that is not', () => {
  it.each([
    [200, /^The answer with status 200 is not signed with .*another credential/],
    [401, /status 401 .*API key is missing, mistyped/],
    [404, /status 404/],
  ])('signed by another secret, with status %s, is not used', async (status, message) => {
    api.answers = [signed(BODY, { status, secret: 'another' })];
    const error = await failure(api.client().snapshotsOrNone(WALLET));
    expect(error).toBeInstanceOf(SignatureError);
    expect(error).toMatchObject({ code: 'SIGNATURE_INVALID', status });
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).not.toContain(SECRET);
    expect(api.requests).toHaveLength(1);
  });

  it.each([
    ['no signature', {}, JSON.stringify(BODY)],
    ['a login page of a gateway', {}, '<html>'],
    ['a 404 of another server', { status: 404 }, '{"success":false}'],
    ['a redirect', { status: 302, headers: { location: '/elsewhere' } }, ''],
  ])('%s is not used', async (_, { status = 200, headers = {} }: Signed, text) => {
    api.answers = [(__, response) => response.writeHead(status, headers).end(text)];
    const error = await failure(api.client().snapshotsOrNone(WALLET));
    expect(error).toBeInstanceOf(SignatureError);
    expect((error as Error).message).toContain('Is baseUrl right');
    expect(api.requests).toHaveLength(1);
  });

  it('what was signed, changed by one byte or printed again, is not used', async () => {
    for (const sent of [
      JSON.stringify(BODY).replace('300', '301'),
      JSON.stringify(BODY, undefined, 1),
      `${JSON.stringify(BODY)} `,
    ]) {
      api.answers = [signed(BODY, { sent })];
      expect(await failure(api.client().snapshots(WALLET))).toBeInstanceOf(SignatureError);
    }
  });

  it('one that a proxy compressed is still the same bytes', async () => {
    const sent = gzipSync(JSON.stringify(BODY));
    api.answers = [signed(BODY, { sent, headers: { 'content-encoding': 'gzip' } })];
    expect(await api.client().snapshots(WALLET)).toEqual(BODY);
  });
});

describe('an answer of one contract of several', () => {
  const CONTRACT = `eip155:8453:0x${'AB'.repeat(20)}`;
  const LOWER = CONTRACT.toLowerCase();
  const OF_CONTRACT = { ...BODY, contract: LOWER, chainId: 8453 };

  it('is that of the contract that was asked for, kept apart from those of others', async () => {
    const client = api.client({ cacheSeconds: 60 });
    api.answers = [signed(OF_CONTRACT), signed(BODY)];
    expect(await client.snapshots(WALLET, { contract: CONTRACT })).toEqual(OF_CONTRACT);
    expect(await client.snapshots(WALLET, { contract: LOWER })).toEqual(OF_CONTRACT);
    expect(await client.snapshots(WALLET)).toEqual(BODY);
    expect(api.requests.map(({ url }) => url)).toEqual([
      `/api/staking/snapshots?walletAddress=${WALLET}&lastDays=7&contract=${LOWER}`,
      `/api/staking/snapshots?walletAddress=${WALLET}&lastDays=7`,
    ]);
  });

  it.each([
    ['none', CONTRACT, BODY],
    ['another chain', CONTRACT, { ...OF_CONTRACT, contract: LOWER.replace('8453', '1') }],
    ['another chain by its number', CONTRACT, { ...OF_CONTRACT, chainId: 1 }],
    ['a contract where none was asked for', undefined, OF_CONTRACT],
  ])('is refused where it is of %s', async (_what, contract, body) => {
    api.answers = [signed(body)];
    const asked = contract === undefined ? {} : { contract };
    expect(await failure(api.client().snapshots(WALLET, asked))).toMatchObject({
      name: 'UnexpectedAnswerError',
      message: expect.stringContaining('contract is not the one that was asked for'),
    });
  });

  it('is the lowest tier only where the refusal is about wallet and contract', async () => {
    const none = (of: string) => noStake(`No staking data for wallet ${WALLET}${of}`);
    for (const [contract, answer, isNone] of [
      [CONTRACT, none(` in ${LOWER}`), true],
      [CONTRACT, none(''), false],
      [CONTRACT, none(` in ${LOWER.replace('8453', '1')}`), false],
      [undefined, none(` in ${LOWER}`), false],
      [CONTRACT, refusal(404, 'CONTRACT_NOT_FOUND', `${WALLET} ${LOWER}`), false],
    ] as const) {
      api.answers = [answer];
      const asked = contract === undefined ? {} : { contract };
      const error = await failure(api.client().snapshotsOrNone(WALLET, asked));
      expect([answer, error === undefined]).toEqual([answer, isNone]);
    }
  });
});

describe('refusals', () => {
  it('a wallet that never staked is an error, or none where that is asked for', async () => {
    api.answers = [NONE];
    expect(await api.client().snapshotsOrNone(WALLET)).toBeUndefined();
    const error = await failure(api.client().snapshots(WALLET));
    expect(error).toBeInstanceOf(LowmarkApiError);
    expect(error).toMatchObject({ status: 404, code: 'NOT_FOUND', retryAfterSeconds: undefined });
  });

  it('a 404 that is not about this wallet is never the lowest tier', async () => {
    for (const message of ['No such route', `No staking data for wallet 0x${'1'.repeat(40)}`]) {
      api.answers = [refusal(404, 'NOT_FOUND', message)];
      const error = await failure(api.client().snapshotsOrNone(WALLET));
      expect(error).toMatchObject({ name: 'LowmarkApiError', status: 404, message });
    }
  });

  it('a 404 of another time, or of none, is never the lowest tier', async () => {
    const message = `No staking data for wallet ${WALLET}`;
    const clock = { nowMs: () => Date.parse(BODY.requestedAt) + 301_000 };
    api.answers = [NONE];
    const late = await failure(api.client({ clock }).snapshotsOrNone(WALLET));
    expect(late).toBeInstanceOf(UnexpectedAnswerError);
    api.answers = [refusal(404, 'NOT_FOUND', message)];
    const timeless = await failure(api.client().snapshotsOrNone(WALLET));
    expect(timeless).toBeInstanceOf(UnexpectedAnswerError);
  });

  it.each([200, 400, 409, 500])(
    'a 404 whose status became %s is no other answer',
    async (status) => {
      const message = `No staking data for wallet ${WALLET}`;
      const { requestedAt } = BODY;
      api.answers = [
        signed({ success: false, code: 'NOT_FOUND', message, requestedAt }, { status }),
      ];
      const name = expect.stringMatching(/Error$/);
      expect(await failure(api.client().snapshotsOrNone(WALLET))).toMatchObject({ name });
    },
  );

  it.each([404, 409, 500])(
    'snapshots whose status became %s are no other answer',
    async (status) => {
      api.answers = [signed(BODY, { status })];
      const error = await failure(api.client().snapshotsOrNone(WALLET));
      expect(error).toMatchObject({ code: 'UNKNOWN' });
    },
  );

  it.each([400, 401, 403, 500])('%s is told as it is and not tried again', async (status) => {
    api.answers = [refusal(status, 'CODE', 'Because.')];
    expect(await failure(api.client().snapshots(WALLET))).toMatchObject({
      name: 'LowmarkApiError',
      status,
      code: 'CODE',
      message: 'Because.',
    });
    expect(api.requests).toHaveLength(1);
  });

  it.each([
    ['0x12', {}, TypeError],
    ['', {}, TypeError],
    [undefined as unknown as string, {}, TypeError],
    [WALLET, { lastDays: 0 }, RangeError],
    [WALLET, { lastDays: 31 }, RangeError],
    [WALLET, { lastDays: 1.5 }, RangeError],
    [WALLET, { lastDays: '7' as never }, RangeError],
    [WALLET, { contract: WALLET }, TypeError],
    [WALLET, { contract: 'eip155:1:0x12' }, TypeError],
  ])('%p with %p is refused before anything is sent', async (wallet, query, type) => {
    expect(await failure(api.client().snapshots(wallet, query))).toBeInstanceOf(type);
    expect(api.requests).toHaveLength(0);
  });
});

describe('what may pass by itself', () => {
  const busy = (seconds: string): Answerer =>
    refusal(429, 'RATE_LIMIT_EXCEEDED', 'Slower.', { headers: { 'retry-after': seconds } });
  const cut: Answerer = ({ socket }, response) => {
    response.writeHead(200, { 'content-length': '1000' }).write('{');
    setTimeout(() => socket.destroy(), 20);
  };

  it.each<[string, Answerer]>([
    ['429', busy('0')],
    ['503 signed', refusal(503, 'SERVICE_UNAVAILABLE', 'Not yet.')],
    ['503 of a gateway', (_, response) => response.writeHead(503).end()],
    ['a body that is cut off', cut],
    ['a connection that breaks', ({ socket }) => socket.destroy()],
  ])('%s is tried again', async (_, passing) => {
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

  it('is not a server that is not there', async () => {
    const nowhere = api.client({ baseUrl: 'http://127.0.0.1:1', retries: 0 });
    const error = await failure(nowhere.snapshots(WALLET));
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

  it('holds ten thousand players, and forgets those who came first', async () => {
    const cache = new PlayerCache<number>(3600, { nowMs: () => 0 });
    const get = (key: number, value = key): Promise<number> =>
      cache.get(String(key), () => Promise.resolve(value));
    for (let key = 0; key <= 10_000; key += 1) await get(key);
    expect(await get(10_000, -1)).toBe(10_000);
    expect(await get(2, -1)).toBe(2);
    expect(await get(0, -1)).toBe(-1);
  });
});

it('a client that is logged shows no key and no secret', () => {
  const text = inspect(api.client({ cacheSeconds: 1 }), { depth: 9, showHidden: true });
  expect(text).not.toMatch(new RegExp(`${API_KEY}|${SECRET}`));
});

describe('options', () => {
  it.each([
    ['baseUrl', { baseUrl: 'staking.example' }],
    ['baseUrl', { baseUrl: 'ftp://staking.example' }],
    ['baseUrl', { baseUrl: 'https://staking.example?x=1' }],
    ['baseUrl', { baseUrl: 'https://user:word@staking.example' }],
    ['apiKey', { apiKey: '' }],
    ['sharedSecret', { sharedSecret: `${SECRET}\n` }],
    ['timeoutMs', { timeoutMs: 0 }],
    ['timeoutMs', { timeoutMs: 2 ** 31 }],
    ['retries', { retries: -1 }],
    ['cacheSeconds', { cacheSeconds: NaN }],
    ['freshSeconds', { freshSeconds: 0 }],
    ['freshSeconds', { freshSeconds: NaN }],
  ])('%s is refused at once, and no secret shown', (name, wrong: Partial<StakingClientOptions>) => {
    expect(() => api.client(wrong)).toThrow(name);
    expect(() => api.client(wrong)).not.toThrow(SECRET);
  });

  it.each([{ keys: [{ kid: 'a', x: 'b' }] }, [{ kid: 'a', x: 'b' }], { a: 'short' }])(
    'public keys such as %j are refused at once',
    (publicKeys) => {
      const options = { ...{ baseUrl: 'https://staking.example', apiKey: API_KEY }, publicKeys };
      expect(() => new StakingClient(options as unknown as StakingClientOptions)).toThrow(
        'publicKeys must be',
      );
    },
  );
});
