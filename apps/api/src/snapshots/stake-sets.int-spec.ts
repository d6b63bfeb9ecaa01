import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { migrate } from '#libs/db';
import { type Address } from '#libs/domain';
import { type MintedCredential } from '#libs/signing';
import { aWallet, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import {
  addPartner,
  type Api,
  type Seed,
  seedIndex,
  startApi,
} from '../testing/api-harness.support.js';
import { expectError, expectSigned } from '../testing/wire.support.js';

const PATH = '/api/staking/snapshots';
const PLAYER = aWallet(1);
const GOLF = aWallet(0xb1);
const CHAIN = 31_337;
const HEAD_AT = '2026-11-21T12:00:00Z';

let database: TestDatabase;
let api: Api;
let partner: MintedCredential;
let golfer: MintedCredential;

beforeAll(async () => {
  database = await createTestDatabase();
  await migrate(database.url, { stakeSets: ['golf', 'empty', 'both', 'chess'] });
  api = await startApi({}, database);
  const open = { rate: 1000, burst: 10_000 };
  partner = await addPartner(api, 'of the default set');
  golfer = await addPartner(api, 'golfers', { ...open, stakeSet: 'golf' });
  const at = '2026-11-10T10:00:00Z';
  await seedIndex(api, { events: [[at, PLAYER, 3]], headAt: HEAD_AT });
  await seedGolf(GOLF, 40);
});
afterAll(async () => {
  await api.stop();
  await database.drop();
});

function seedGolf(stakeContract: Address, tokens: number): Promise<void> {
  return seedSet({ stakeSet: 'golf', stakeContract }, tokens);
}

function seedSet(of: Partial<Seed>, tokens: number): Promise<void> {
  const events: Seed['events'] = [['2026-11-10T10:00:00Z', PLAYER, tokens]];
  return seedIndex(api, { events, headAt: HEAD_AT, symbol: 'GLF', ...of });
}

const golf = async () => (await database.open()).inSet('golf');

async function ask(query: string, { apiKey, sharedSecret: secret } = partner) {
  const answer = await request(api.url)
    .get(`${PATH}?walletAddress=${PLAYER}&lastDays=1${query}`)
    .set('X-API-KEY', apiKey);
  const { text: body, status } = answer;
  expectSigned(answer, { method: 'GET', path: PATH, secret });
  return { status, body };
}

interface Body {
  readonly tokenSymbol: string;
  readonly averageStakedAmount: number;
}

async function read(query: string, by = partner): Promise<Body> {
  const { status, body } = await ask(query, by);
  expect([status, body]).toEqual([200, body]);
  return JSON.parse(body) as Body;
}

const account = (contract: string): string => `&contract=eip155:${CHAIN}:${contract}`;

describe('GET /api/staking/snapshots of several stake sets', () => {
  it('is of the partner’s set, or of the contract that is asked for, the same wallet in turn', async () => {
    for (const [query, by, tokens, symbol] of [
      ['', partner, 3, 'SVC'],
      ['', golfer, 40, 'GLF'],
      [account(GOLF), partner, 40, 'GLF'],
      [account(aWallet(0xa1)), golfer, 3, 'SVC'],
      ['', partner, 3, 'SVC'],
      ['', golfer, 40, 'GLF'],
    ] as const) {
      const { averageStakedAmount, tokenSymbol } = await read(query, by);
      expect([averageStakedAmount, tokenSymbol]).toEqual([tokens, symbol]);
    }
  });

  it('says of which contract it is where one was asked for, and else nothing new', async () => {
    const plain = await read('', golfer);
    const named = await read(account(GOLF.toUpperCase().replace('0X', '0x')), golfer);
    const facts = { contract: `eip155:${CHAIN}:${GOLF}`, chainId: CHAIN };
    expect(named).toEqual({ ...plain, ...facts, requestedAt: expect.any(String) });
    expect(plain).not.toHaveProperty('contract');
  });

  it('names the contract where the wallet never staked', async () => {
    const answer = await request(api.url)
      .get(`${PATH}?walletAddress=${aWallet(9)}${account(GOLF)}`)
      .set('X-API-KEY', partner.apiKey)
      .expect(404);
    const message = `No staking data for wallet ${aWallet(9)} in eip155:${CHAIN}:${GOLF}`;
    expect(answer.body).toMatchObject({ success: false, code: 'NOT_FOUND', message });
  });

  it.each([
    '&contract=',
    `&contract=${GOLF}`,
    `&contract=eip155:1`,
    `${account(GOLF)}${account(GOLF)}`,
  ])('refuses %s', async (query) => {
    expectError(await ask(query), 400, 'BAD_REQUEST');
  });

  it.each([aWallet(0xc1), PLAYER])('knows no contract %s', async (contract) => {
    expectError(await ask(account(contract)), 404, 'CONTRACT_NOT_FOUND');
  });

  it('is ready while one set can be served, and says how far each is', async () => {
    const ready = () => request(api.url).get('/health/ready');
    const checks = async () => ((await ready()).body as { checks: object }).checks;
    expect(await checks()).toMatchObject({
      index: { ready: true, details: { default: 'ready', golf: 'ready' } },
    });
    const { text } = await request(api.url).get('/metrics');
    expect(text).toContain('lowmark_stake_set_lag_seconds{stake_set="golf",app="api"} 2');
    const state = await golf();
    await state.query({
      text: `UPDATE staking.index_state SET halted_at = now(), halted_reason = 'for a test'`,
    });
    api.clock.advance(1000);
    expect(await checks()).toMatchObject({
      index: { ready: true, details: { default: 'ready', golf: 'has stopped' } },
    });
    expectError(await ask('', golfer), 503, 'SERVICE_UNAVAILABLE');
    await state.query({
      text: 'UPDATE staking.index_state SET halted_at = NULL, halted_reason = NULL',
    });
    await read('', golfer);
  });

  it('never answers of another contract than was asked for, when a set is indexed again', async () => {
    await read(account(GOLF));
    const state = await golf();
    const tables =
      'staking.balance_change, staking.balance_day, staking.block, staking.index_state';
    await state.query({ text: `TRUNCATE ${tables}` });
    expectError(await ask(account(GOLF)), 503, 'SERVICE_UNAVAILABLE');
    const other = aWallet(0xb2);
    await seedGolf(other, 500);
    expectError(await ask(account(GOLF)), 503, 'SERVICE_UNAVAILABLE');
    expect((await read('', golfer)).averageStakedAmount).toBe(500);
    api.clock.advance(6000);
    expectError(await ask(account(GOLF)), 404, 'CONTRACT_NOT_FOUND');
    expect((await read(account(other))).averageStakedAmount).toBe(500);
  });

  it('is of the set that counts the contract alone, where another set adds others to it', async () => {
    const [chess, other] = [aWallet(0xb8), aWallet(0xb9)];
    await seedSet({ stakeSet: 'both', stakeContract: chess, moreContracts: [other] }, 700);
    await seedSet({ stakeSet: 'chess', stakeContract: chess }, 60);
    api.clock.advance(6000);
    expect((await read(account(chess))).averageStakedAmount).toBe(60);
    expect((await read(account(other))).averageStakedAmount).toBe(700);
  });
});
