/** Tests sealed days, their proofs and their lists against a real HTTP server, which may break off, be slow, or lie. */
import { type ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { StandardMerkleTree } from '@openzeppelin/merkle-tree';
import {
  type DayWallet,
  LowmarkApiError,
  sign,
  SignatureError,
  type StakingClientOptions,
  UnexpectedAnswerError,
} from '../index.js';
import { SECRET } from '../testing/caller.support.js';
import { provenLow } from './day-proof.js';
import { type ProofQuery } from './day-reader.js';
import { type SealedDay } from './days.js';
import { aFakeApi, type Answerer, BODY, failure, refusal, signed } from './fake-api.support.js';

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
    ['another time', { requestedAt: '2026-11-21T11:55:02.122Z' }],
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

const walletOf = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`;
const anyWallets = (count: number): DayWallet[] =>
  Array.from({ length: count }, (_, place) => ({
    walletAddress: walletOf(7 * place + 5),
    low: BigInt(place) ** 9n + 1n,
  }));

/** The root as `@openzeppelin/merkle-tree` computes it. */
function rootOf(wallets: readonly DayWallet[]): string {
  const lows = new Map(wallets.map(({ walletAddress, low }) => [walletAddress, low]));
  for (const end of [FIRST, LAST]) if (!lows.has(end)) lows.set(end, 0n);
  const sorted = [...lows].sort(([a], [b]) => (a < b ? -1 : 1));
  const leaves = sorted.map(([wallet, low], place) => [
    wallet,
    String(low),
    sorted[place + 1]?.[0] ?? wallet,
  ]);
  return StandardMerkleTree.of(leaves, ['address', 'uint256', 'address']).root;
}

const sealedOf = (wallets: readonly DayWallet[]) => ({
  requestedAt: BODY.requestedAt,
  chainId: 1,
  day: {
    ...{ day: DAY, revision: 1, root: rootOf(wallets), wallets: wallets.length },
    total: String(wallets.reduce((sum, { low }) => sum + low, 0n)),
    ...{ blockNumber: 1, blockHash: `0x${'1'.repeat(64)}`, software: '1', sealedAt: DAY },
  },
  stakeContract: LAST,
  tokenDecimals: 18,
});

const textOf = (wallets: readonly DayWallet[]): string =>
  wallets
    .map(({ walletAddress, low }) => `{"walletAddress":"${walletAddress}","low":"${low}"   }\n`)
    .join('');

interface Listed {
  readonly sealed?: object;
  readonly text?: string;
  readonly etag?: string;
  readonly secret?: string;
  /** Number of bytes of an answer after which the connection breaks. */
  readonly breaksAfter?: number;
  /** Number of bytes of an answer after which nothing more is sent. */
  readonly stallsAfter?: number;
}

function list(wallets: readonly DayWallet[], options: Listed = {}): Answerer {
  const { sealed = sealedOf(wallets), text = textOf(wallets), etag = '"one"' } = options;
  return ({ url = '', headers }, response) => {
    const statement = JSON.stringify(sealed);
    const asked = headers['if-range'] === etag ? headers.range : undefined;
    const from = Number(/^bytes=(\d+)-$/.exec(asked ?? '')?.[1] ?? 0);
    const rest = text.slice(from);
    const of = { method: 'GET', url, body: statement };
    response.writeHead(asked === undefined ? 200 : 206, {
      'x-api-signature': sign(options.secret ?? SECRET, of),
      ...{ 'x-sealed-day': statement, etag, 'content-length': rest.length },
      ...(asked !== undefined && {
        'content-range': `bytes ${from}-${text.length - 1}/${text.length}`,
      }),
    });
    if (options.stallsAfter !== undefined) response.write(rest.slice(0, options.stallsAfter));
    else send(response, rest, options.breaksAfter);
  };
}

function send(response: ServerResponse, text: string, breaksAfter = Infinity): void {
  if (text.length <= breaksAfter) response.end(text);
  // Later, because an answer that ends early takes along what its reader has not read yet.
  else response.write(text.slice(0, breaksAfter), () => setTimeout(() => response.destroy(), 200));
}

async function readAll(options: Partial<StakingClientOptions> = {}) {
  const reading = api.client(options).dayWallets(DAY);
  const wallets: DayWallet[] = [];
  for (;;) {
    const next = await reading.next();
    if (next.done === true) return { wallets, sealed: next.value };
    wallets.push(next.value);
  }
}

describe('dayWallets', () => {
  it.each([0, 1, 2, 3, 100])(
    'gives %s wallets, and leads to the root of the library',
    async (n) => {
      const wallets = anyWallets(n);
      api.answers = [list(wallets)];
      const { day, chainId, stakeContract, tokenDecimals } = sealedOf(wallets);
      const sealed = { ...day, chainId, stakeContract, tokenDecimals };
      expect(await readAll()).toEqual({ wallets, sealed });
      expect(api.requests.map(({ url }) => url)).toEqual([
        `/api/staking/days/${DAY}/wallets.ndjson`,
      ]);
    },
  );

  it('takes the highest address and the highest amount', async () => {
    const wallets = [...anyWallets(3), { walletAddress: LAST, low: 2n ** 250n }];
    api.answers = [list(wallets)];
    expect((await readAll()).wallets).toEqual(wallets);
  });

  it('goes on where the connection broke, as long as it comes on', async () => {
    const wallets = anyWallets(100);
    const broken = list(wallets, { breaksAfter: 3001 });
    api.answers = [broken, broken, refusal(503, 'SERVICE_UNAVAILABLE', 'Later.'), list(wallets)];
    expect((await readAll()).wallets).toEqual(wallets);
    expect(api.requests.map(({ headers }) => headers.range)).toEqual([
      undefined,
      'bytes=3001-',
      'bytes=6002-',
      'bytes=6002-',
    ]);
  });

  it('gives up where nothing comes', async () => {
    api.answers = [list(anyWallets(10), { breaksAfter: 0 })];
    expect(await failure(readAll({ retries: 1 }))).toMatchObject({ code: 'CONNECTION_FAILED' });
    api.answers = [list(anyWallets(10), { stallsAfter: 1 })];
    expect(await failure(readAll({ retries: 0, timeoutMs: 50 }))).toMatchObject({
      code: 'TIMEOUT',
    });
  });

  it('does not put two lists together', async () => {
    const wallets = anyWallets(100);
    api.answers = [list(wallets, { breaksAfter: 3000 }), list(wallets, { etag: '"two"' })];
    expect(await failure(readAll())).toBeInstanceOf(UnexpectedAnswerError);
  });

  it('stops where its caller does', async () => {
    const closed = new Promise((resolve) => {
      api.answers = [
        (request, response) => {
          response.once('close', resolve);
          list(anyWallets(100), { stallsAfter: 1000 })(request, response);
        },
      ];
    });
    for await (const one of api.client().dayWallets(DAY)) {
      expect(one.low).toBe(1n);
      break;
    }
    await closed;
  });

  const wallets = anyWallets(5);
  const [first, second] = wallets as [DayWallet, DayWallet];
  const text = textOf(wallets);
  it.each<[string, Listed]>([
    ['one is missing', { text: textOf(wallets.slice(1)) }],
    ['the last is missing', { text: textOf(wallets.slice(0, -1)) }],
    ['one is there twice', { text: textOf([first, ...wallets]) }],
    ['two have changed places', { text: textOf([second, first, ...wallets.slice(2)]) }],
    [
      'two lows have changed places',
      {
        text: textOf([
          { ...first, low: second.low },
          { ...second, low: first.low },
          ...wallets.slice(2),
        ]),
      },
    ],
    ['one is another wallet', { text: text.replace(first.walletAddress, walletOf(1)) }],
    ['one has nothing', { text: text.replace('"low":"1"', '"low":"0"') }],
    ['a low is no number', { text: text.replace('"low":"1"', '"low":"0x1"') }],
    ['a line is no JSON', { text: `${text}nonsense\n` }],
    ['a line has no end', { text: text.trimEnd() }],
    ['a line is without end', { text: 'x'.repeat(100_000) }],
    [
      'it is of another day',
      {
        sealed: { ...sealedOf(wallets), day: { ...sealedOf(wallets).day, day: '2026-11-19' } },
      },
    ],
    ['it is of another time', { sealed: { ...sealedOf(wallets), requestedAt: DAY } }],
    ['it is of another contract', { sealed: { ...sealedOf(wallets), contract: 'eip155:1:0x1' } }],
    ['it says no root', { sealed: { ...sealedOf(wallets), day: { day: DAY } } }],
  ])('refuses a list of which %s', async (_, options) => {
    api.answers = [list(wallets, options)];
    expect(await failure(readAll())).toBeInstanceOf(UnexpectedAnswerError);
  });

  it('refuses what is not signed by the service, and says what it refuses', async () => {
    api.answers = [list(wallets, { secret: 'another' })];
    expect(await failure(readAll())).toBeInstanceOf(SignatureError);
    api.answers = [refusal(409, 'DAY_NOT_OVER', 'Later.', { headers: { 'retry-after': '60' } })];
    const refused = await failure(readAll());
    expect(refused).toBeInstanceOf(LowmarkApiError);
    expect(refused).toMatchObject({ code: 'DAY_NOT_OVER', retryAfterSeconds: 60 });
    api.answers = [refusal(410, 'LIST_NOT_KEPT', 'Gone.', { secret: 'another' })];
    expect(await failure(readAll())).toBeInstanceOf(SignatureError);
  });

  it('takes a day and a contract only', () => {
    expect(() => api.client().dayWallets('yesterday')).toThrow(TypeError);
    expect(() => api.client().dayWallets(DAY, { contract: '0x' })).toThrow(TypeError);
  });
});
