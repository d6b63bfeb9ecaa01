/** Tests sealed days and their proofs against a real HTTP server. */
import { describe, expect, it } from '@jest/globals';
import { StandardMerkleTree } from '@openzeppelin/merkle-tree';
import { BODY, failure, signed, aFakeApi } from './fake-api.support.js';
import { provenLow } from './day-proof.js';
import { type ProofQuery } from './day-reader.js';
import { type SealedDay } from './days.js';
import { UnexpectedAnswerError } from './errors.js';

const FIRST = `0x${'0'.repeat(40)}`;
const LAST = `0x${'f'.repeat(40)}`;
const ALICE = `0x${'a'.repeat(40)}`;
const BOB = `0x${'b'.repeat(40)}`;
const LEAVES = [
  [FIRST, '0', ALICE],
  [ALICE, '7', BOB],
  [BOB, String(2n ** 255n), LAST],
  [LAST, '0', LAST],
] as const;
const TREE = StandardMerkleTree.of(
  LEAVES.map((leaf) => [...leaf]),
  ['address', 'uint256', 'address'],
);

const { requestedAt } = BODY;
const OF = { stakeContract: `0x${'2'.repeat(40)}`, chainId: 1, tokenDecimals: 18 };
const SET = { requestedAt, ...OF };
const sealed = (day: string, more: object = {}): object => ({
  ...{ day, revision: 1, root: TREE.root, wallets: 2, total: '7', blockNumber: 9 },
  ...{ blockHash: TREE.root, software: '1.2.3', sealedAt: '2026-11-21T00:01:00.000Z' },
  ...more,
});
const DAY = '2026-11-20';

interface Leaf {
  readonly wallet: string;
  readonly low: string;
  readonly next: string;
}
interface Proof {
  readonly leaf: Leaf;
  readonly proof: readonly string[];
}

function proofAt(place: number): Proof {
  const [wallet, low, next] = LEAVES[place] ?? LEAVES[0];
  return { leaf: { wallet, low, next }, proof: TREE.getProof(place) };
}

const proofAnswer = (more: object = {}): object => ({
  ...{ ...SET, day: sealed(DAY), walletAddress: ALICE, low: '7', ...proofAt(1) },
  ...more,
});

const api = aFakeApi();

async function listed(query: { from?: string; to?: string } = {}): Promise<string[]> {
  const days: SealedDay[] = [];
  for await (const day of api.client().days(query)) days.push(day);
  return days.map(({ day }) => day);
}

const page = (days: string[], more: { before?: string; next?: string } = {}): object => ({
  ...SET,
  ...more,
  days: days.map((day) => sealed(day)),
});

/** The days of a full page, the newest first. */
const fullPage = (last: string): string[] =>
  Array.from({ length: 366 }, (_, place) =>
    new Date(Date.parse(last) - place * 86_400_000).toISOString().slice(0, 10),
  );

describe('days', () => {
  it('go from page to page, from the last one asked for to the first', async () => {
    const [first, second] = [fullPage('2026-11-20'), fullPage('2025-11-19')];
    api.answers = [
      signed(page(first, { before: '2026-11-21', next: '2025-11-20' })),
      signed(page(second, { before: '2025-11-20', next: '2024-11-19' })),
    ];
    expect(await listed({ from: '2025-11-18', to: '2026-11-20' })).toEqual([
      ...[...first, '2025-11-19', '2025-11-18'],
    ]);
    expect(api.requests.map(({ url }) => url)).toEqual([
      '/api/staking/days?limit=366&before=2026-11-21',
      '/api/staking/days?limit=366&before=2025-11-20',
    ]);
  });

  it('are all of them where nothing is asked for', async () => {
    api.answers = [signed(page(['2026-11-20']))];
    expect(await listed()).toEqual(['2026-11-20']);
    expect(api.requests[0]?.url).toBe('/api/staking/days?limit=366');
  });

  const ASKED = { before: '2026-11-21' };
  it.each<[string, object]>([
    ['days after the one asked for', page(['2026-11-21'], ASKED)],
    ['days out of order', page(['2026-11-19', '2026-11-20'], ASKED)],
    ['a next that is not the last one', page(['2026-11-20'], { ...ASKED, next: '2026-11-21' })],
    ['a next of a page that is not full', page([DAY], { ...ASKED, next: DAY })],
    ['a next without a day', page([], { ...ASKED, next: '2026-11-20' })],
    ['more days than asked for', page([...fullPage('2026-11-20'), '2025-11-19'], ASKED)],
    ['a day that is none', page(['2026-11-31'], ASKED)],
    ['another page', page(['2026-11-18'], { before: '2026-11-19' })],
    ['the newest page', page(['2026-11-20'])],
    ['another time', { ...page([DAY], ASKED), requestedAt: '2026-11-21T11:55:02.122Z' }],
    ['no time', { ...page([DAY], ASKED), requestedAt: undefined }],
    ['no contract', { ...ASKED, requestedAt, days: [] }],
    ['a root that is none', { ...SET, ...ASKED, days: [sealed(DAY, { root: '0x1' })] }],
    ['a sum that is none', { ...SET, ...ASKED, days: [sealed(DAY, { total: '1e3' })] }],
    ['no list', { ...SET, ...ASKED, days: {} }],
    ['nothing', []],
  ])('are refused with %s', async (_, body) => {
    api.answers = [signed(page([DAY], ASKED))];
    expect(await listed({ to: '2026-11-20' })).toEqual([DAY]);
    api.answers = [signed(body)];
    expect(await failure(listed({ to: '2026-11-20' }))).toBeInstanceOf(UnexpectedAnswerError);
  });

  it.each(['2026-11-31', '20', 'yesterday', '2026-11-20T00:00:00Z'])(
    'are not asked for with %s',
    async (to) => {
      expect(await failure(listed({ to }))).toBeInstanceOf(TypeError);
      expect(await failure(listed({ from: to }))).toBeInstanceOf(TypeError);
      expect(await failure(api.client().day(to))).toBeInstanceOf(TypeError);
      expect(await failure(api.client().proof(to, ALICE))).toBeInstanceOf(TypeError);
      expect(api.requests).toEqual([]);
    },
  );
});

describe('day', () => {
  it('is that one, with the contract that it is of', async () => {
    const asked = `eip155:1:0x${'C'.repeat(40)}`;
    const contract = asked.toLowerCase();
    api.answers = [signed({ ...SET, contract, day: sealed(DAY, { later: 'field' }) })];
    const day = await api.client().day(DAY, { contract: asked });
    expect(day).toEqual({ ...sealed(DAY, { later: 'field' }), ...OF, contract });
    expect(api.requests[0]?.url).toBe(`/api/staking/days/${DAY}?contract=${contract}`);
  });

  it('is refused where it is another one, or of another contract', async () => {
    api.answers = [signed({ ...SET, day: sealed('2026-11-19') })];
    expect(await failure(api.client().day(DAY))).toMatchObject({ code: 'UNEXPECTED_ANSWER' });
    api.answers = [signed({ ...SET, day: sealed(DAY) })];
    const contract = `eip155:137:0x${'c'.repeat(40)}`;
    expect(await failure(api.client().day(DAY, { contract }))).toMatchObject({
      message: expect.stringContaining('contract is not the one that was asked for'),
    });
  });
});

describe('proof', () => {
  const ask = (query?: ProofQuery) =>
    api.client().proof(DAY, ALICE.toUpperCase().replace('X', 'x'), query);

  it('is verified, of a wallet that is there', async () => {
    api.answers = [signed(proofAnswer())];
    expect(await ask({ root: TREE.root })).toMatchObject({ walletAddress: ALICE, low: '7' });
  });

  it('is verified, of one that is not', async () => {
    const wallet = `0x${'c'.repeat(40)}`;
    api.answers = [signed(proofAnswer({ walletAddress: wallet, low: '0', ...proofAt(2) }))];
    expect(await api.client().proof(DAY, wallet)).toMatchObject({ low: '0' });
  });

  it.each<[string, object]>([
    ['another wallet', { walletAddress: BOB }],
    ['another low than proven', { low: '8' }],
    ['a low without proof', { low: '8', leaf: { ...proofAt(1).leaf, low: '8' } }],
    ['the proof of another wallet', proofAt(2)],
    ['a proof cut short', { proof: proofAt(1).proof.slice(1) }],
    ['no proof', { proof: undefined }],
    ['a proof of numbers', { proof: [1, 2] }],
    ['no leaf', { leaf: [] }],
    ['another root', { day: sealed(DAY, { root: `0x${'1'.repeat(64)}` }) }],
    ['another day', { day: sealed('2026-11-19') }],
  ])('is refused with %s', async (_, more) => {
    api.answers = [signed(proofAnswer(more))];
    expect(await failure(ask())).toBeInstanceOf(UnexpectedAnswerError);
  });

  it('is refused where its root is not the one that is known', async () => {
    api.answers = [signed(proofAnswer())];
    expect(await failure(ask({ root: `0x${'1'.repeat(64)}` }))).toMatchObject({
      message: expect.stringContaining(`the root of ${DAY} is ${TREE.root}`),
    });
  });
});

describe('provenLow', () => {
  const good = { root: TREE.root, ...proofAt(1) };

  it('is what @openzeppelin/merkle-tree has a proof of', async () => {
    for (const [place, [wallet, low]] of LEAVES.entries()) {
      expect(await provenLow(wallet, { root: TREE.root, ...proofAt(place) })).toBe(BigInt(low));
    }
  });

  it.each<[string, object]>([
    ['an amount that is no uint256', { leaf: { ...good.leaf, low: String(2n ** 256n) } }],
    ['an amount of many digits', { leaf: { ...good.leaf, low: '1'.repeat(100_000) } }],
    ['an amount below zero', { leaf: { ...good.leaf, low: '-1' } }],
    ['a wallet in capitals', { leaf: { ...good.leaf, wallet: ALICE.toUpperCase() } }],
    ['a root in capitals', { root: TREE.root.toUpperCase() }],
    ['a long proof', { proof: Array.from({ length: 65 }, () => TREE.root) }],
    ['a node that is none', { proof: ['0x12'] }],
  ])('is nothing with %s', async (_, more) => {
    expect(await provenLow(ALICE, { ...good, ...more })).toBeUndefined();
  });

  it('is nothing for what is no wallet', async () => {
    expect(await provenLow('alice', good)).toBeUndefined();
  });
});
