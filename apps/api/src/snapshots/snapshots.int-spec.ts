/** `GET /api/staking/snapshots`, of one stake set and of several. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { migrate, PartnerStore } from '#libs/db';
import { type Address, canonicalJson } from '#libs/domain';
import { SignatureError } from '#libs/partner-sdk';
import { type MintedCredential } from '#libs/signing';
import { eventually } from '#libs/testing/clock';
import { aWallet, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import {
  addPartner,
  addPrice,
  ANON_SECRET,
  type Api,
  NOON_MS,
  type Seed,
  seedIndex,
  startApi,
} from '../testing/api-harness.support.js';
import { ProxyBetween } from '../testing/proxy-between.support.js';
import { answerTo, expectError, expectSigned, type RawAnswer } from '../testing/wire.support.js';

const PATH = '/api/staking/snapshots';
const [ALICE, GONE, TODAY, NOBODY] = [aWallet(0xabcdef), aWallet(2), aWallet(3), aWallet(4)];
const GOLF = aWallet(0xb1);
const wallet = `walletAddress=${ALICE}`;
const upper = (address: string): string => `0x${address.slice(2).toUpperCase()}`;
const account = (contract: string): string => `&contract=eip155:31337:${contract}`;

interface Body {
  readonly walletAddress: string;
  readonly tokenSymbol: string;
  readonly averageStakedAmount: number;
  readonly exchangeRateToUSD?: number;
  readonly valueInUSD?: number;
  readonly stakingSnapshots: { from: string; to: string; snapshotAmount: number }[];
}

let database: TestDatabase;
let api: Api;
let partner: MintedCredential;
let golfer: MintedCredential;

beforeAll(async () => {
  database = await createTestDatabase();
  await migrate(database.url, { stakeSets: ['golf', 'empty', 'both', 'chess'] });
  api = await startApi({ REQUEST_LOG: '0' }, database);
  partner = await addPartner(api, 'snapshots');
  golfer = await addPartner(api, 'golfers', { rate: 1000, burst: 10_000, stakeSet: 'golf' });
  await seedIndex(api, {
    events: [
      ['2026-02-01T08:00:00Z', GONE, 5],
      ['2026-02-03T00:00:00Z', GONE, -5],
      ['2026-11-14T10:00:00Z', ALICE, 100],
      ['2026-11-15T09:00:00Z', ALICE, 200],
      ['2026-11-16T23:59:59Z', ALICE, 10],
      ['2026-11-17T01:00:00Z', ALICE, -160],
      ['2026-11-18T20:00:00Z', ALICE, 500],
      ['2026-11-20T00:00:00Z', ALICE, 7],
      ['2026-11-20T10:00:00Z', ALICE, -7],
      ['2026-11-21T00:00:00Z', TODAY, 9],
      ['2026-11-21T00:00:00Z', ALICE, -650],
    ],
    finalisedAt: '2026-11-21T00:00:00Z',
  });
  await seedSet({ stakeSet: 'golf', stakeContract: GOLF }, 40);
});
afterAll(async () => {
  await api.stop();
  await database.drop();
});

/** An index in which `ALICE` has so many tokens. */
const seedSet = (of: Seed, tokens: number): Promise<void> =>
  seedIndex(api, { events: [['2026-11-10T10:00:00Z', ALICE, tokens]], symbol: 'GLF', ...of });

const ask = (query: string, by = partner): Promise<RawAnswer> => api.as(by).ask(`${PATH}${query}`);
const read = (query: string, by = partner): Promise<Body> => api.as(by).read(`${PATH}${query}`);
const amounts = ({ stakingSnapshots }: Body): number[] =>
  stakingSnapshots.map(({ snapshotAmount }) => snapshotAmount);

describe('GET /api/staking/snapshots', () => {
  it('gives the published example, exact to the last bit, in canonical form', async () => {
    const { status, headers, body } = await ask(`?${wallet}&lastDays=7`);
    const expected = canonicalJson({
      walletAddress: ALICE,
      requestedAt: '2026-11-21T12:00:02.123Z',
      tokenSymbol: 'SVC',
      tokenContract: aWallet(0xa2),
      stakeContract: aWallet(0xa1),
      averageStakedAmount: 285.7142857142857,
      stakingSnapshots: [0, 100, 300, 150, 150, 650, 650].map((snapshotAmount, i) => ({
        from: `2026-11-${14 + i}T00:00:00.000Z`,
        to: `2026-11-${14 + i}T23:59:59.999Z`,
        snapshotAmount,
      })),
    });
    expect([status, body]).toEqual([200, expected]);
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      ...{ 'x-index-block': '1000', 'x-index-final': 'true' },
    });
    // Seven days up to yesterday are what is meant where nothing else is said.
    for (const query of [`?${wallet}`, `?${wallet}&endDay=2026-11-20`]) {
      expect((await ask(query)).body).toBe(expected);
    }
  });

  it('takes a wallet in any case and percent-encoded digits, and ignores unknown parameters', async () => {
    const { walletAddress } = await read(`?walletAddress=${upper(ALICE)}&lastdays=99&x[]=1&`);
    expect(walletAddress).toBe(ALICE);
    const encoded = await read(`?walletAddress=%30x${ALICE.slice(2)}&lastDays=%37`);
    expect(encoded.stakingSnapshots).toHaveLength(7);
  });

  it('gives zeros for a wallet that left long ago, and for one that came today', async () => {
    for (const wallet of [GONE, TODAY]) {
      const body = await read(`?walletAddress=${wallet}&lastDays=30`);
      expect([body.averageStakedAmount, amounts(body)]).toEqual([0, Array(30).fill(0)]);
    }
  });

  it.each([
    ['', ''],
    [account(GOLF), ` in eip155:31337:${GOLF}`],
  ])('answers 404 and names the wallet that never staked: %s', async (query, where) => {
    const answer = await ask(`?walletAddress=${upper(NOBODY)}${query}`);
    expect([answer.status, answer.body]).toEqual([
      404,
      `{"code":"NOT_FOUND","message":"No staking data for wallet ${NOBODY}${where}","requestedAt":"2026-11-21T12:00:02.123Z","success":false}`,
    ]);
  });

  it('answers HEAD with the same headers, signed with an empty body', async () => {
    const answer = await api.as(partner).ask(`${PATH}?${wallet}`, { method: 'HEAD' });
    const { body } = await ask(`?${wallet}`);
    expect(answer).toMatchObject({
      ...{ status: 200, body: '' },
      headers: { 'content-length': String(body.length), 'x-index-block': '1000' },
    });
  });

  it('accepts a GET with a body', async () => {
    const head = `GET ${PATH}?${wallet} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-API-KEY: ${partner.apiKey}\r\n`;
    const body = 'Content-Type: text/xml\r\nContent-Length: 4\r\n\r\n<x/>';
    const answer = await answerTo(api.port, [head + body]);
    expect(answer.status).toBe(200);
    expectSigned(answer, { method: 'GET', path: PATH, secret: partner.sharedSecret });
  });

  it('costs exactly one message to the database where the caller is known', async () => {
    await ask(`?${wallet}&lastDays=30`);
    const before = api.link.packets;
    await ask(`?${wallet}&lastDays=30`);
    expect(api.link.packets - before).toBe(1);
  });

  it('notes the use of a credential, for the partner that called', async () => {
    await addPartner(api, 'silent');
    await ask(`?${wallet}`, await addPartner(api, 'caller'));
    const store = new PartnerStore(await database.open());
    const lastUsed = async (name: string): Promise<Date | null | undefined> => {
      const found = (await store.list()).find(({ partnerName }) => partnerName === name);
      return found?.credentials[0]?.lastUsedAt;
    };
    await eventually(async () => (await lastUsed('caller')) instanceof Date);
    expect(await lastUsed('silent')).toBeNull();
  });
});

describe('a window of the past', () => {
  it.each([
    ['2026-11-19', 3, [150, 150, 650]],
    ['2026-11-16', 1, [300]],
    ['2026-11-15', 4, [0, 0, 0, 100]],
    ['1970-01-30', 2, [0, 0]],
  ])('ends with the day %s', async (endDay, lastDays, expected) => {
    const body = await read(`?${wallet}&endDay=${endDay}&lastDays=${lastDays}`);
    expect(amounts(body)).toEqual(expected);
    expect(body.stakingSnapshots.at(-1)?.from).toBe(`${endDay}T00:00:00.000Z`);
  });

  it('is not mixed with others that are asked for at once', async () => {
    const days = ['2026-11-20', '2026-11-18', '2026-11-16'];
    const asked = Array.from({ length: 30 }, (_, place) => place % 3);
    const answers = await Promise.all(
      asked.map((place) => read(`?${wallet}&lastDays=1&endDay=${days[place] ?? ''}`)),
    );
    expect(answers.map(amounts)).toEqual(asked.map((place) => [[650, 150, 300][place]]));
  });

  it('that ends today is a 409 that says when it is over', async () => {
    const answer = await ask(`?${wallet}&endDay=2026-11-21`);
    expectError(answer, 409, 'DAY_NOT_OVER');
    expect(answer.headers['retry-after']).toBe('43198');
    expect(answer.body).toContain('2026-11-22T00:00:00.000Z');
  });

  it('that is over by the clock of the service but not indexed is a 503, as without endDay', async () => {
    api.clock.set(Date.parse('2026-11-21T23:59:59.999Z'));
    const before = await read(`?${wallet}&lastDays=1`);
    expect(before.stakingSnapshots[0]?.from).toBe('2026-11-20T00:00:00.000Z');
    api.clock.set(Date.parse('2026-11-22T00:00:00.000Z'));
    for (const query of ['&endDay=2026-11-21', '&lastDays=1']) {
      expectError(await ask(`?${wallet}${query}`), 503, 'SERVICE_UNAVAILABLE');
    }
    await read(`?${wallet}&endDay=2026-11-20`);
    api.clock.set(NOON_MS);
  });
});

describe('validation', () => {
  it.each<[string, RegExp, string[]]>([
    [
      'the wallet',
      /^walletAddress .*0x and 40 hex digits\.$/,
      [
        ...['', '?walletAddress=', '?walletAddress=%zz', `?${wallet.slice(0, -1)}`],
        ...[`?walletAddress=${ALICE.slice(2)}`, `?walletAddress=0X${ALICE.slice(2)}`],
        ...[`?walletAddress=0x${'g'.repeat(40)}`, `?walletAddress=0x${'a'.repeat(10_000)}`],
        ...[`?${wallet}%0A`, `?walletAddress=0x${'%EF%BC%91'.repeat(40)}`, `?${wallet}&${wallet}`],
      ],
    ],
    [
      'the number of days',
      /^lastDays must .*a whole number from 1 to 30 in plain digits\.$/,
      [
        ...['', '0', '31', '-1', '7.0', '07', '%2B7', '1e1', '0x7', '7%20', 'NaN', 'null', '7,8'],
        ...['%D9%A7', '99999999999999999999', '7%00', '7&lastDays=7', '&lastDays'],
      ].map((text) => `?${wallet}&lastDays=${text}`),
    ],
    [
      'the last day',
      /^endDay /,
      [
        ...['2026-11-22', '', '2026-02-29', '2026-1-1', '2026-11-20T00:00:00Z', '1969-12-31'],
        ...['%2B02026-11-20', '2026-11-20%00', '%D9%A2026-11-20', '2026-11-20&endDay=2026-11-20'],
      ].map((text) => `?${wallet}&endDay=${text}`),
    ],
    [
      'the contract',
      /^contract must .*eip155:/,
      ['', GOLF, 'eip155:1', `eip155:1:${GOLF}&contract=eip155:1:${GOLF}`].map(
        (text) => `?${wallet}&contract=${text}`,
      ),
    ],
  ])('refuses every wrong form of %s, and says what is allowed', async (_, message, queries) => {
    for (const query of queries) {
      const answer = await ask(query);
      expectError(answer, 400, 'BAD_REQUEST');
      expect([query, JSON.parse(answer.body)]).toEqual([
        query,
        expect.objectContaining({ message: expect.stringMatching(message) }),
      ]);
    }
  });

  it.each([
    ['', 'walletAddress must be given: 0x and 40 hex digits.'],
    ['?walletAddress=0x12', 'walletAddress must be 0x and 40 hex digits.'],
    [`?${wallet}&${wallet}`, 'walletAddress must be given at most once: 0x and 40 hex digits.'],
    [`?${wallet}&lastDays=31`, 'lastDays must be a whole number from 1 to 30 in plain digits.'],
    [
      `?${wallet}&endDay=2026-02-30`,
      'endDay must be a day of the calendar from 1970 on, such as 2026-11-20.',
    ],
    [
      `?${wallet}&contract=1`,
      'contract must be eip155:, the number of the chain, a colon, and 0x with 40 hex digits.',
    ],
  ])('says of %j: %s', async (query, message) => {
    expect(JSON.parse((await ask(query)).body)).toMatchObject({ message });
  });
});

describe('authentication comes before validation', () => {
  it.each([
    ['no key', ''],
    ['a key of nobody', `svck_${'x'.repeat(43)}`],
    ['a text that is no key', "' OR 1=1 --"],
    ['a secret in place of the key', `svcs_${'x'.repeat(43)}`],
    ['the secret of answers to callers without a key', ANON_SECRET],
    ['a very long key', 'k'.repeat(8000)],
  ])('answers 401 to %s, signed with the secret of the environment', async (_, apiKey) => {
    const answer = await ask('?lastDays=99', { apiKey, sharedSecret: ANON_SECRET });
    expect([answer.status, answer.body]).toEqual([
      401,
      '{"code":"UNAUTHORIZED","message":"The X-API-KEY header is missing or is not a valid key.","success":false}',
    ]);
  });

  it('answers 401 to a valid key that comes twice', async () => {
    const key = `X-API-KEY: ${partner.apiKey}\r\n`;
    const raw = `GET ${PATH} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${key}${key}\r\n`;
    expect((await answerTo(api.port, [raw])).status).toBe(401);
  });
});

it('a price is left out where there is none, where it is too old or held, and used where it is fresh', async () => {
  const priced = async (): Promise<unknown[]> => {
    const { exchangeRateToUSD, valueInUSD } = await read(`?${wallet}`);
    return [exchangeRateToUSD, valueInUSD];
  };
  const none = [undefined, undefined];
  expect(await priced()).toEqual(none);
  await addPrice(api, '0.5', '2026-11-21T10:00:02.122Z');
  expect(await priced()).toEqual(none);
  await addPrice(api, '0.0001', '2026-11-21T10:00:02.123Z');
  const fresh = [0.0001, 0.02857142857142857];
  expect(await priced()).toEqual(fresh);
  const owner = await database.open();
  await owner.query({
    text: `INSERT INTO staking.price_hold (reason, max_change, usd, observed_at, source) VALUES ('jump', 0.2, 9, now(), 'fixed')`,
  });
  expect(await priced()).toEqual(none);
  await owner.query({ text: 'DELETE FROM staking.price_hold' });
  expect(await priced()).toEqual(fresh);
});

it('the partner SDK takes an answer with message signatures once', async () => {
  const proxy = await ProxyBetween.start(api);
  try {
    const client = proxy.client(partner, { clock: api.clock, messageSignatures: true });
    expect(await client.snapshots(ALICE)).toMatchObject({ walletAddress: ALICE });
    const [before] = proxy.given;
    proxy.answer = (given) => before ?? given;
    await expect(client.snapshots(ALICE)).rejects.toBeInstanceOf(SignatureError);
  } finally {
    proxy.stop();
  }
});

describe('of several stake sets', () => {
  const golf = async () => (await database.open()).inSet('golf');
  const of = async (query: string, by = partner): Promise<[number, string]> => {
    const { averageStakedAmount, tokenSymbol } = await read(`?${wallet}&lastDays=1${query}`, by);
    return [averageStakedAmount, tokenSymbol];
  };
  const askFor = (contract: Address): Promise<RawAnswer> => ask(`?${wallet}${account(contract)}`);

  it('an answer is of the partner’s set, or of the contract that is asked for, the same wallet in turn', async () => {
    for (const [query, by, tokens, symbol] of [
      ['', partner, 650, 'SVC'],
      ['', golfer, 40, 'GLF'],
      [account(GOLF), partner, 40, 'GLF'],
      [account(aWallet(0xa1)), golfer, 650, 'SVC'],
      ['', partner, 650, 'SVC'],
    ] as const) {
      expect(await of(query, by)).toEqual([tokens, symbol]);
    }
  });

  it('an answer says of which contract it is where one was asked for, and else nothing new', async () => {
    const plain = await read(`?${wallet}`, golfer);
    const named = await read(`?${wallet}${account(upper(GOLF))}`, golfer);
    expect(named).toEqual({ ...plain, contract: `eip155:31337:${GOLF}`, chainId: 31_337 });
  });

  it.each([aWallet(0xc1), ALICE])('there is no contract %s', async (contract) => {
    expectError(await askFor(contract), 404, 'CONTRACT_NOT_FOUND');
  });

  it('the api is ready while one set can be served, and says how far each is', async () => {
    const checks = async (): Promise<unknown> =>
      (JSON.parse((await api.as().ask('/health/ready')).body) as { checks: object }).checks;
    expect(await checks()).toMatchObject({
      index: { ready: true, details: { default: 'ready', golf: 'ready' } },
    });
    expect((await api.as().ask('/metrics')).body).toContain(
      'lowmark_stake_set_lag_seconds{stake_set="golf",app="api"} 2',
    );
    const state = await golf();
    await state.query({
      text: `UPDATE staking.index_state SET halted_at = now(), halted_reason = 'for a test'`,
    });
    api.clock.advance(1000);
    expect(await checks()).toMatchObject({
      index: { ready: true, details: { default: 'ready', golf: 'has stopped' } },
    });
    expectError(await ask(`?${wallet}`, golfer), 503, 'SERVICE_UNAVAILABLE');
    await state.query({
      text: 'UPDATE staking.index_state SET halted_at = NULL, halted_reason = NULL',
    });
    expect(await of('', golfer)).toEqual([40, 'GLF']);
  });

  it('no answer is of another contract than was asked for, when a set is indexed again', async () => {
    await of(account(GOLF));
    const state = await golf();
    const tables =
      'staking.balance_change, staking.balance_day, staking.block, staking.index_state';
    await state.query({ text: `TRUNCATE ${tables}` });
    expectError(await askFor(GOLF), 503, 'SERVICE_UNAVAILABLE');
    const other = aWallet(0xb2);
    await seedSet({ stakeSet: 'golf', stakeContract: other }, 500);
    expectError(await askFor(GOLF), 503, 'SERVICE_UNAVAILABLE');
    expect(await of('', golfer)).toEqual([500, 'GLF']);
    api.clock.advance(6000);
    expectError(await askFor(GOLF), 404, 'CONTRACT_NOT_FOUND');
    expect(await of(account(other))).toEqual([500, 'GLF']);
  });

  it('a contract is of the set that counts it alone, where another set adds others to it', async () => {
    const [chess, other] = [aWallet(0xb8), aWallet(0xb9)];
    await seedSet({ stakeSet: 'both', stakeContract: chess, moreContracts: [other] }, 700);
    await seedSet({ stakeSet: 'chess', stakeContract: chess }, 60);
    api.clock.advance(6000);
    expect(await of(account(chess))).toEqual([60, 'GLF']);
    expect(await of(account(other))).toEqual([700, 'GLF']);
  });
});
