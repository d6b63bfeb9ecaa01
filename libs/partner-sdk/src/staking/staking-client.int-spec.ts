/** Tests how the client reads answers of a real HTTP server. */
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import {
  LowmarkApiError,
  SignatureError,
  StakingClient,
  type StakingClientOptions,
  UnexpectedAnswerError,
} from '../index.js';
import { API_KEY, SECRET, WALLET } from '../testing/caller.support.js';
import {
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
    ['walletAddress', { ...BODY, walletAddress: undefined }],
    ['stakingSnapshots', { ...BODY, stakingSnapshots: theDays(6) }],
    ['stakingSnapshots', { ...BODY, stakingSnapshots: {} }],
    ['stakingSnapshots', { ...BODY, stakingSnapshots: theDays(7, '2026-11-19') }],
    ['stakingSnapshots', { ...BODY, stakingSnapshots: theDays(7).toReversed() }],
    ['stakingSnapshots', { ...BODY, stakingSnapshots: [...theDays(6), theDays(6)[5]] }],
    ['stakingSnapshots', { ...BODY, stakingSnapshots: [theDays(8)[0], ...theDays(6)] }],
    [
      'stakingSnapshots',
      { ...BODY, stakingSnapshots: [...theDays(7).slice(0, 6), { ...theDays(1)[0], to: NOON }] },
    ],
    ['averageStakedAmount', { ...BODY, averageStakedAmount: '300' }],
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
    [
      'by another secret',
      200,
      /^The answer with status 200 is not signed with .*another credential/,
    ],
    ['by another secret', 401, /status 401 .*API key is missing, mistyped/],
    ['by another secret', 404, /status 404/],
  ])('signed %s, with status %s, is not used', async (_, status, message) => {
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
