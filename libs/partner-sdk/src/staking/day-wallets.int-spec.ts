/** Tests the list of a sealed day against a real HTTP server that breaks connections, sends wrong lists, or is slow. */
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
import { type Answerer, BODY, failure, refusal, aFakeApi } from './fake-api.support.js';

const DAY = '2026-11-20';
const ENDS = [`0x${'0'.repeat(40)}`, `0x${'f'.repeat(40)}`] as const;

const walletOf = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`;
const anyWallets = (count: number): DayWallet[] =>
  Array.from({ length: count }, (_, place) => ({
    walletAddress: walletOf(7 * place + 5),
    low: BigInt(place) ** 9n + 1n,
  }));

/** The root as `@openzeppelin/merkle-tree` computes it. */
function rootOf(wallets: readonly DayWallet[]): string {
  const lows = new Map(wallets.map(({ walletAddress, low }) => [walletAddress, low]));
  for (const end of ENDS) if (!lows.has(end)) lows.set(end, 0n);
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
  stakeContract: ENDS[1],
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

const api = aFakeApi();

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
    const wallets = [...anyWallets(3), { walletAddress: ENDS[1], low: 2n ** 250n }];
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
