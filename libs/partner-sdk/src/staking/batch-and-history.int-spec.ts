/** Tests batches, windows of the past and pages of the history against a real HTTP server. */
import { type IncomingMessage } from 'node:http';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { LowmarkApiError, SignatureError, UnexpectedAnswerError } from '../index.js';
import { WALLET } from '../testing/caller.support.js';
import { aFakeApi, BODY, failure, noStake, refusal, signed, theDays } from './fake-api.support.js';

const OTHER = `0x${'ab'.repeat(20)}`;
const CONTRACT = `eip155:1:0x${'22'.repeat(20)}`;
const none = (wallet: string, of = '') => ({
  success: false,
  code: 'NOT_FOUND',
  message: `No staking data for wallet ${wallet}${of}`,
});

const FOUND = { index: 0, status: 200, walletAddress: WALLET, body: BODY };
const NONE = { index: 1, status: 404, walletAddress: OTHER, body: none(OTHER) };
const WINDOW = { requestedAt: BODY.requestedAt, lastDays: 7, endDay: '2026-11-20' };
const answerOf = (...results: object[]) => ({ ...WINDOW, results });

const api = aFakeApi();
/** The bodies of the received requests. */
const sent: string[] = [];

beforeEach(() => {
  sent.length = 0;
});

/** Answers when the whole request has arrived. */
function afterBody(answer: ReturnType<typeof signed>): ReturnType<typeof signed> {
  return (request: IncomingMessage, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => {
      sent.push(text);
      answer(request, response);
    });
  };
}

const batch = (wallets: string[] = [WALLET, OTHER], query = {}) =>
  api.client({ retries: 1 }).snapshotsBatch(wallets, query);

describe('a batch', () => {
  it('says which of its wallets is none', async () => {
    const error = await failure(batch([WALLET, 'nonsense']));
    expect(error).toEqual(new TypeError('wallets[1] must be 0x and 40 hex digits'));
    expect(api.requests).toHaveLength(0);
  });

  it('is one POST, and gives the snapshots of each wallet, or that it never staked', async () => {
    api.answers = [afterBody(signed(answerOf(FOUND, NONE)))];
    const upper = WALLET.toUpperCase().replace('X', 'x');
    const found = await batch([upper, OTHER, WALLET, OTHER]);
    expect([...found]).toEqual([
      [WALLET, BODY],
      [OTHER, undefined],
    ]);
    expect(api.requests.map(({ method, url }) => [method, url])).toEqual([
      ['POST', '/api/staking/snapshots/batch'],
    ]);
    expect(JSON.parse(sent[0] ?? '')).toEqual({ walletAddresses: [WALLET, OTHER], lastDays: 7 });
  });

  it('asks for days and contract, and holds each result against them', async () => {
    const set = { contract: CONTRACT, chainId: 1 };
    const days = { ...BODY, ...set, stakingSnapshots: theDays(3, '2026-11-16') };
    const absent = { ...NONE, body: none(OTHER, ` in ${CONTRACT}`) };
    const of = { ...answerOf({ ...FOUND, body: days }, absent), ...set };
    api.answers = [afterBody(signed({ ...of, lastDays: 3, endDay: '2026-11-16' }))];
    const query = { lastDays: 3, endDay: '2026-11-16', contract: CONTRACT };
    const found = await batch(undefined, query);
    expect(found.get(WALLET)?.contract).toBe(CONTRACT);
    expect(JSON.parse(sent[0] ?? '')).toMatchObject(query);
    for (const wrong of [{ endDay: '2026-11-17' }, { contract: undefined }, { lastDays: 4 }]) {
      const error = await failure(batch(undefined, { ...query, ...wrong }));
      expect(error).toBeInstanceOf(UnexpectedAnswerError);
    }
  });

  it.each([
    ['too few results', answerOf(FOUND)],
    ['another order', answerOf(NONE, FOUND)],
    ['another wallet', answerOf(FOUND, { ...NONE, walletAddress: WALLET })],
    [
      'the body of another wallet',
      answerOf({ ...FOUND, body: { ...BODY, walletAddress: OTHER } }, NONE),
    ],
    ['a 404 of another wallet', answerOf(FOUND, { ...NONE, body: none(WALLET) })],
    [
      'a 404 of another contract',
      answerOf(FOUND, { ...NONE, body: none(OTHER, ` in ${CONTRACT}`) }),
    ],
    ['another place', answerOf(FOUND, { ...NONE, index: 2 })],
    ['another last day', { ...answerOf(FOUND, NONE), endDay: '2026-11-19' }],
    ['a contract', { ...answerOf(FOUND, NONE), contract: CONTRACT, chainId: 1 }],
    ['another time', { ...answerOf(FOUND, NONE), requestedAt: '2026-11-21T11:55:02.122Z' }],
    [
      'a body of another window',
      answerOf({ ...FOUND, body: { ...BODY, stakingSnapshots: theDays(7, '2026-11-19') } }, NONE),
    ],
    ['a status that is none', answerOf(FOUND, { ...NONE, status: 500 })],
    ['a result that is none', answerOf(FOUND, [])],
    ['no results', {}],
  ])('that is signed but not an answer to this one is refused: %s', async (_, body) => {
    api.answers = [afterBody(signed(body))];
    expect(await failure(batch())).toBeInstanceOf(UnexpectedAnswerError);
  });

  it('is not believed without its signature, nor with that of a GET', async () => {
    api.answers = [afterBody(signed(answerOf(FOUND, NONE), { secret: 'svcs_another' }))];
    expect(await failure(batch())).toBeInstanceOf(SignatureError);
    api.answers = [
      (request, response) => {
        signed(answerOf(FOUND, NONE))(Object.assign(request, { method: 'GET' }), response);
      },
    ];
    expect(await failure(batch())).toBeInstanceOf(SignatureError);
  });

  it('that is refused says why, and is tried again where that helps', async () => {
    const message = 'Your limit of requests at once allows 100 wallets in a batch.';
    api.answers = [afterBody(refusal(400, 'BATCH_TOO_LARGE', message))];
    const error = await failure(batch());
    expect(error).toBeInstanceOf(LowmarkApiError);
    expect(error).toMatchObject({ status: 400, code: 'BATCH_TOO_LARGE', message });
    api.answers = [
      afterBody(refusal(503, 'SERVICE_UNAVAILABLE', 'later')),
      afterBody(signed(answerOf(FOUND, NONE))),
    ];
    expect((await batch()).size).toBe(2);
    expect(sent.at(-1)).toBe(sent.at(-2));
  });

  it('of a thousand wallets with 30 days each is read', async () => {
    const wallets = Array.from(
      { length: 1000 },
      (_, place) => `0x${String(place).padStart(40, '0')}`,
    );
    const results = wallets.map((walletAddress, index) => ({
      ...{ index, status: 200, walletAddress },
      body: { ...BODY, walletAddress, stakingSnapshots: theDays(30) },
    }));
    api.answers = [afterBody(signed({ ...answerOf(...results), lastDays: 30 }))];
    const found = await batch(wallets, { lastDays: 30 });
    expect([...found.keys()]).toEqual(wallets);
  });

  it('without end is cut', async () => {
    api.answers = [afterBody((_, response) => response.writeHead(200).end('x'.repeat(9_000_000)))];
    const error = await failure(api.client({ retries: 0 }).snapshotsBatch([WALLET]));
    expect((error as Error).cause).toMatchObject({ message: 'The body is too large.' });
  });

  it.each([
    ['no wallets', [], {}],
    ['1,001 wallets', Array<string>(1001).fill(WALLET), {}],
    ['what is no wallet', [WALLET, 'x'], {}],
    ['no days', [WALLET], { lastDays: 0 }],
    ['a day that is none', [WALLET], { endDay: '2026-1-1' }],
    ['a contract that is none', [WALLET], { contract: WALLET }],
  ])('is not sent with %s', async (_, wallets, query) => {
    const error = await failure(batch(wallets, query));
    expect(error instanceof TypeError || error instanceof RangeError).toBe(true);
    expect(api.requests).toEqual([]);
  });
});

describe('a window of the past', () => {
  it('is asked for by its last day, and the answer held against it', async () => {
    api.answers = [signed(BODY)];
    const client = api.client({ cacheSeconds: 60 });
    expect(await client.snapshots(WALLET, { endDay: '2026-11-20' })).toEqual(BODY);
    expect(api.requests[0]?.url).toBe(
      `/api/staking/snapshots?walletAddress=${WALLET}&lastDays=7&endDay=2026-11-20`,
    );
    // Another day has another cache key.
    const error = await failure(client.snapshots(WALLET, { endDay: '2026-11-19' }));
    expect(error).toBeInstanceOf(UnexpectedAnswerError);
    expect(api.requests).toHaveLength(2);
  });
});

describe('a page of the history', () => {
  const [FIRST, SECOND] = [
    { fromBlock: 5, from: BODY.requestedAt, toBlock: 9, to: BODY.requestedAt, stakedAmount: 10 },
    { fromBlock: 9, from: BODY.requestedAt, stakedAmount: 0 },
  ];
  const PAGE = {
    walletAddress: WALLET,
    requestedAt: BODY.requestedAt,
    tokenSymbol: 'SVC',
    tokenContract: BODY.tokenContract,
    stakeContract: BODY.stakeContract,
    intervals: [FIRST, SECOND],
  };

  it('is what was asked for, and says where the next one begins', async () => {
    const upper = WALLET.toUpperCase().replace('X', 'x');
    api.answers = [
      signed({ ...PAGE, intervals: [FIRST], next: 5 }),
      signed({ ...PAGE, after: 5, intervals: [SECOND] }),
    ];
    const client = api.client();
    const first = await client.history(upper, { limit: 1 });
    expect(first).toMatchObject({ intervals: [FIRST], next: 5 });
    expect(Object.isFrozen(first?.intervals[0])).toBe(true);
    const second = await client.history(WALLET, { limit: 1, after: 5 });
    expect(second?.intervals).toEqual([SECOND]);
    expect(second).not.toHaveProperty('next');
    expect(api.requests.map(({ url }) => url)).toEqual([
      `/api/staking/history?walletAddress=${WALLET}&limit=1`,
      `/api/staking/history?walletAddress=${WALLET}&limit=1&after=5`,
    ]);
  });

  it('is none for a wallet that never staked, and a refusal is thrown', async () => {
    api.answers = [noStake(`No staking data for wallet ${WALLET}`)];
    expect(await api.client().history(WALLET)).toBeUndefined();
    api.answers = [refusal(404, 'NOT_FOUND', 'There is no such route')];
    expect(await failure(api.client().history(WALLET))).toBeInstanceOf(LowmarkApiError);
    api.answers = [signed(PAGE, { secret: 'svcs_another' })];
    expect(await failure(api.client().history(WALLET))).toBeInstanceOf(SignatureError);
  });

  it.each([
    ['another wallet', { ...PAGE, walletAddress: `0x${'1'.repeat(40)}` }],
    ['a contract', { ...PAGE, contract: 'eip155:1:0x1' }],
    ['more than asked for', { ...PAGE, intervals: [FIRST, SECOND, { ...SECOND, fromBlock: 10 }] }],
    ['another order', { ...PAGE, intervals: [SECOND, FIRST] }],
    ['the page before', { ...PAGE, intervals: [{ ...FIRST, fromBlock: 4 }] }],
    ['a next that is not the last', { ...PAGE, next: 5 }],
    ['a next of nothing', { ...PAGE, intervals: [], next: 4 }],
    ['a next of a page that is not full', { ...PAGE, intervals: [FIRST], next: 5 }],
    ['another page', { ...PAGE, after: 3 }],
    ['the first page', { ...PAGE, after: undefined }],
    ['another time', { ...PAGE, requestedAt: '2026-11-21T11:55:02.122Z' }],
    ['another chain', { ...PAGE, chainId: 'x', contract: 'eip155:1:0x1' }],
    ['a part left out', { ...PAGE, intervals: [{ ...FIRST, toBlock: 8 }, SECOND] }],
    ['no current balance', { ...PAGE, intervals: [FIRST] }],
    ['no time', { ...PAGE, intervals: [{ ...FIRST, from: '' }] }],
    ['no amount', { ...PAGE, intervals: [{ ...FIRST, stakedAmount: '1' }] }],
    ['no intervals', { ...PAGE, intervals: {} }],
    ['no object', []],
  ])('that is not one to this question is refused: %s', async (_, body) => {
    const client = api.client();
    api.answers = [signed({ ...PAGE, after: 4 })];
    expect(await client.history(WALLET, { limit: 2, after: 4 })).toMatchObject({ after: 4 });
    api.answers = [signed(Array.isArray(body) ? body : { after: 4, ...body })];
    const error = await failure(client.history(WALLET, { limit: 2, after: 4 }));
    expect(error).toBeInstanceOf(UnexpectedAnswerError);
  });

  it.each([{ limit: 0 }, { limit: 1001 }, { after: -1 }, { after: 1.5 }, { contract: 'x' }])(
    'is not asked for with %p',
    async (query) => {
      const error = await failure(api.client().history(WALLET, query));
      expect(error instanceof TypeError || error instanceof RangeError).toBe(true);
      expect(api.requests).toEqual([]);
    },
  );
});
