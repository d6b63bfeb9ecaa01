/** Tests pages of a wallet's history against a real HTTP server. */
import { describe, expect, it } from '@jest/globals';
import { LowmarkApiError, SignatureError, UnexpectedAnswerError } from '../index.js';
import { WALLET } from '../testing/caller.support.js';
import { BODY, failure, NONE, refusal, signed, aFakeApi } from './fake-api.support.js';

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

const api = aFakeApi();

describe('a page of the history', () => {
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
    api.answers = [NONE];
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
