import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request, { type Response } from 'supertest';
import { PartnerStore } from '#libs/db';
import { canonicalJson } from '#libs/domain';
import { type MintedCredential } from '#libs/signing';
import { eventually } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import {
  addPartner,
  addPrice,
  ANON_SECRET,
  type Api,
  NOON_MS,
  seedIndex,
  startApi,
} from '../testing/api-harness.support.js';
import { answerTo, expectError, expectSigned } from '../testing/wire.support.js';

const PATH = '/api/staking/snapshots';
const ALICE = aWallet(0xabcdef);
const GONE = aWallet(2);
const TODAY = aWallet(3);
const NOBODY = aWallet(4);

interface Body {
  averageStakedAmount: number;
  stakingSnapshots: { from: string; to: string; snapshotAmount: number }[];
}

let api: Api;
let partner: MintedCredential;

beforeAll(async () => {
  api = await startApi({ REQUEST_LOG: '0' });
  partner = await addPartner(api, 'snapshots');
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
    headAt: '2026-11-21T12:00:00Z',
    finalisedAt: '2026-11-21T00:00:00Z',
  });
});
afterAll(() => api.stop());

function ask(query: string, key: string | undefined = partner.apiKey): request.Test {
  const test = request(api.url).get(`${PATH}${query}`);
  return key === '' ? test : test.set('X-API-KEY', key);
}

function expectSignedAs(response: Response, secret: string): void {
  expectSigned(response, { method: 'GET', path: PATH, secret });
}

describe('GET /api/staking/snapshots', () => {
  it('gives the published example, exact to the last bit, in canonical form', async () => {
    const response = await ask(`?walletAddress=${ALICE}&lastDays=7`).expect(200);
    expect(response.text).toBe(
      canonicalJson({
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
      }),
    );
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(response.headers['x-index-block']).toBe('1000');
    expect(response.headers['x-index-final']).toBe('true');
    expectSignedAs(response, partner.sharedSecret);
  });

  it('takes seven days where none are named, a wallet in any case, and ignores unknown parameters', async () => {
    const upper = `0x${ALICE.slice(2).toUpperCase()}`;
    const response = await ask(`?walletAddress=${upper}&lastdays=99&x[]=1&`).expect(200);
    expect(response.body.walletAddress).toBe(ALICE);
    expect(response.body.stakingSnapshots).toHaveLength(7);
    expectSignedAs(response, partner.sharedSecret);
  });

  it.each([1, 30])('gives exactly %s days', async (lastDays) => {
    const response = await ask(`?walletAddress=${ALICE}&lastDays=${lastDays}`).expect(200);
    expect(response.body.stakingSnapshots).toHaveLength(lastDays);
    const { stakingSnapshots } = response.body as Body;
    expect(stakingSnapshots.at(-1)?.to).toBe('2026-11-20T23:59:59.999Z');
  });

  it('gives zeros for a wallet that left long ago, and for one that came today', async () => {
    for (const wallet of [GONE, TODAY]) {
      const response = await ask(`?walletAddress=${wallet}&lastDays=30`).expect(200);
      const body = response.body as Body;
      expect(body.averageStakedAmount).toBe(0);
      expect(body.stakingSnapshots.map((day) => day.snapshotAmount)).toEqual(Array(30).fill(0));
    }
  });

  it('answers 404 and names the wallet where it never staked', async () => {
    const response = await ask(`?walletAddress=0x${NOBODY.slice(2).toUpperCase()}`).expect(404);
    expect(response.text).toBe(
      `{"code":"NOT_FOUND","message":"No staking data for wallet ${NOBODY}","requestedAt":"2026-11-21T12:00:02.123Z","success":false}`,
    );
    expectSignedAs(response, partner.sharedSecret);
  });

  it('answers HEAD with the same headers, signed with an empty body', async () => {
    const head = `HEAD ${PATH}?walletAddress=${ALICE} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n`;
    const raw = `${head}X-API-KEY: ${partner.apiKey}\r\n\r\n`;
    const answer = await answerTo(api.port, [raw], ['HEAD']);
    const full = await ask(`?walletAddress=${ALICE}`);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(full.text)));
    expect(answer.headers['x-index-block']).toBe('1000');
    expectSigned(answer, { method: 'HEAD', path: PATH, secret: partner.sharedSecret });
  });

  it('accepts a GET with a content type, with and without a body', async () => {
    await ask(`?walletAddress=${ALICE}`).set('Content-Type', 'application/json').expect(200);
    await ask(`?walletAddress=${ALICE}`).set('Content-Type', 'text/xml').send('<x/>').expect(200);
  });
});

describe('a window of the past', () => {
  const of = (query: string) => ask(`?walletAddress=${ALICE}${query}`);
  const amounts = ({ body }: Response): number[] =>
    (body as Body).stakingSnapshots.map((day) => day.snapshotAmount);

  it.each([
    ['2026-11-19', 3, [150, 150, 650]],
    ['2026-11-16', 1, [300]],
    ['2026-11-15', 4, [0, 0, 0, 100]],
    ['1970-01-30', 2, [0, 0]],
  ])('ends with the day %s', async (endDay, lastDays, expected) => {
    const response = await of(`&endDay=${endDay}&lastDays=${lastDays}`).expect(200);
    expect(amounts(response)).toEqual(expected);
    expect((response.body as Body).stakingSnapshots.at(-1)?.from).toBe(`${endDay}T00:00:00.000Z`);
  });

  it('that ends with yesterday is the answer without it, to the byte', async () => {
    const plain = await of('').expect(200);
    expect((await of('&endDay=2026-11-20').expect(200)).text).toBe(plain.text);
  });

  it('is not mixed with others that are asked for at once', async () => {
    const days = ['2026-11-20', '2026-11-18', '2026-11-16'];
    const asked = Array.from({ length: 30 }, (_, place) => days[place % 3] ?? '');
    const answers = await Promise.all(asked.map((day) => of(`&endDay=${day}&lastDays=1`)));
    expect(answers.map(amounts)).toEqual(
      asked.map((day) => [{ '2026-11-20': 650, '2026-11-18': 150 }[day] ?? 300]),
    );
  });

  it.each([
    ...['2026-11-22', '', '2026-02-29', '2026-1-1', '2026-11-20T00:00:00Z', '1969-12-31'],
    ...['%2B02026-11-20', '2026-11-20%00', '%D9%A2026-11-20', '2026-11-20&endDay=2026-11-20'],
  ])('is refused: %s', async (endDay) => {
    const response = await of(`&endDay=${endDay}`);
    expectError(response, 400, 'BAD_REQUEST');
    expectSignedAs(response, partner.sharedSecret);
  });

  it('that ends today is a 409 that says when it is over', async () => {
    const response = await of('&endDay=2026-11-21');
    expectError(response, 409, 'DAY_NOT_OVER');
    expectSignedAs(response, partner.sharedSecret);
    expect(response.headers['retry-after']).toBe('43198');
    expect((response.body as { message: string }).message).toContain('2026-11-22T00:00:00.000Z');
  });

  it('that is over but not indexed is a 503, as without endDay', async () => {
    api.clock.set(Date.parse('2026-11-22T00:10:00Z'));
    for (const query of ['&endDay=2026-11-21', '']) {
      expectError(await of(query), 503, 'SERVICE_UNAVAILABLE');
    }
    await of('&endDay=2026-11-20').expect(200);
    api.clock.set(NOON_MS);
  });
});

describe('validation', () => {
  const wallet = `walletAddress=${ALICE}`;
  const rejected: [string, string][] = [
    ['no wallet', ''],
    ['an empty wallet', '?walletAddress='],
    ['a short wallet', `?${wallet.slice(0, -1)}`],
    ['a wallet without 0x', `?walletAddress=${ALICE.slice(2)}`],
    ['a wallet with 0X', `?walletAddress=0X${ALICE.slice(2)}`],
    ['a wallet with a digit that is not hex', `?walletAddress=0x${'g'.repeat(40)}`],
    ['a wallet with a line end', `?${wallet}%0A`],
    ['a wallet of full-width digits', `?walletAddress=0x${'%EF%BC%91'.repeat(40)}`],
    ['two wallets', `?${wallet}&${wallet}`],
    ['a very long wallet', `?walletAddress=0x${'a'.repeat(10_000)}`],
    ['a badly encoded wallet', '?walletAddress=%zz'],
    ...[
      ...['', '0', '31', '-1', '7.0', '07', '%2B7', '1e1', '0x7', '7%20', 'NaN', 'null'],
      ...['7,8', '%D9%A7', '99999999999999999999', '7%00'],
    ].map((days): [string, string] => [`lastDays=${days}`, `?${wallet}&lastDays=${days}`]),
    ['lastDays twice', `?${wallet}&lastDays=7&lastDays=7`],
    ['lastDays without a value', `?${wallet}&lastDays`],
  ];

  it.each(rejected)('refuses %s and says what is allowed', async (_, query) => {
    const response = await ask(query).expect(400);
    expect(response.body).toMatchObject({ success: false, code: 'BAD_REQUEST' });
    expect(response.body.message).toMatch(/0x and 40 hex digits|whole number from 1 to 30/);
    expectSignedAs(response, partner.sharedSecret);
  });

  it.each([
    ['', 'walletAddress must be given: 0x and 40 hex digits.'],
    ['?walletAddress=0x12', 'walletAddress must be 0x and 40 hex digits.'],
    [`?${wallet}&${wallet}`, 'walletAddress must be given at most once: 0x and 40 hex digits.'],
    [`?${wallet}&lastDays=31`, 'lastDays must be a whole number from 1 to 30 in plain digits.'],
    [
      `?${wallet}&lastDays=7&lastDays=7`,
      'lastDays must be given at most once: a whole number from 1 to 30 in plain digits.',
    ],
    [
      `?${wallet}&endDay=2026-02-30`,
      'endDay must be a day of the calendar from 1970 on, such as 2026-11-20.',
    ],
    [
      `?${wallet}&contract=1`,
      'contract must be eip155:, the number of the chain, a colon, and 0x with 40 hex digits.',
    ],
  ])('says of %j: %s', async (query, message) => {
    const { body } = await ask(query).expect(400);
    expect(body.message).toBe(message);
  });

  it('takes digits that are percent-encoded', async () => {
    await ask(`?walletAddress=%30x${ALICE.slice(2)}&lastDays=%37`).expect(200);
  });
});

describe('authentication comes before validation', () => {
  const wrong: [string, string][] = [
    ['no key', ''],
    ['a key of nobody', `svck_${'x'.repeat(43)}`],
    ['a text that is no key', "' OR 1=1 --"],
    ['a secret in place of the key', `svcs_${'x'.repeat(43)}`],
    ['the secret of answers to callers without a key', ANON_SECRET],
    ['a very long key', 'k'.repeat(8000)],
  ];

  it.each(wrong)('answers 401 to %s, signed with the secret of the environment', async (_, key) => {
    const response = await ask('?lastDays=99', key).expect(401);
    expect(response.text).toBe(
      '{"code":"UNAUTHORIZED","message":"The X-API-KEY header is missing or is not a valid key.","success":false}',
    );
    expectSignedAs(response, ANON_SECRET);
  });

  it('answers 401 to a valid key that comes twice', async () => {
    const key = `X-API-KEY: ${partner.apiKey}\r\n`;
    const raw = `GET ${PATH} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${key}${key}\r\n`;
    expect((await answerTo(api.port, [raw])).status).toBe(401);
  });
});

describe('prices', () => {
  it('are left out where there is none, where they are too old, and used where they are fresh', async () => {
    const query = `?walletAddress=${ALICE}`;
    expect((await ask(query)).body).not.toHaveProperty('valueInUSD');
    await addPrice(api, '0.5', '2026-11-21T10:00:02.122Z');
    const stale = await ask(query).expect(200);
    expect(stale.body).not.toHaveProperty('valueInUSD');
    expect(stale.body).not.toHaveProperty('exchangeRateToUSD');
    await addPrice(api, '0.0001', '2026-11-21T10:00:02.123Z');
    const fresh = await ask(query).expect(200);
    expect(fresh.body).toMatchObject({
      exchangeRateToUSD: 0.0001,
      valueInUSD: 0.02857142857142857,
    });
    expectSignedAs(fresh, partner.sharedSecret);
  });

  it('are left out while one is held', async () => {
    const query = `?walletAddress=${ALICE}`;
    await addPrice(api, '0.0001', '2026-11-21T12:00:00Z');
    expect((await ask(query)).body).toHaveProperty('valueInUSD');
    const database = await api.database.open();
    await database.query({
      text: `INSERT INTO staking.price_hold (reason, max_change, usd, observed_at, source) VALUES ('jump', 0.2, 9, now(), 'fixed')`,
    });
    const held = await ask(query).expect(200);
    expect(held.body).not.toHaveProperty('valueInUSD');
    expect(held.body).not.toHaveProperty('exchangeRateToUSD');
    await database.query({ text: 'DELETE FROM staking.price_hold' });
    expect((await ask(query)).body).toHaveProperty('valueInUSD');
  });
});

describe('one round trip', () => {
  it('an answer whose caller is known costs exactly one message to the database', async () => {
    const query = `?walletAddress=${ALICE}&lastDays=30`;
    await ask(query).expect(200);
    await ask(query).expect(200);
    const before = api.link.packets;
    await ask(query).expect(200);
    expect(api.link.packets - before).toBe(1);
  });
});

it('notes the use of a credential, for the partner that called', async () => {
  const { apiKey } = await addPartner(api, 'caller');
  await addPartner(api, 'silent');
  await ask(`?walletAddress=${ALICE}`, apiKey).expect(200);
  const store = new PartnerStore(await api.database.open());
  const lastUsed = async (name: string): Promise<Date | null | undefined> => {
    const found = (await store.list()).find(({ partnerName }) => partnerName === name);
    return found?.credentials[0]?.lastUsedAt;
  };
  await eventually(async () => (await lastUsed('caller')) instanceof Date);
  expect(await lastUsed('silent')).toBeNull();
});

it('counts the day of the request by the clock of the service', async () => {
  api.clock.set(Date.parse('2026-11-21T23:59:59.999Z'));
  const before = await ask(`?walletAddress=${ALICE}&lastDays=1`).expect(200);
  expect(before.body.stakingSnapshots[0].from).toBe('2026-11-20T00:00:00.000Z');
  // From this time on the requested day ends after the head of the index.
  api.clock.set(Date.parse('2026-11-22T00:00:00.000Z'));
  await ask(`?walletAddress=${ALICE}&lastDays=1`).expect(503);
  api.clock.set(NOON_MS);
});
