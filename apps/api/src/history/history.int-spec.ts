/** `GET /api/staking/history`: pages are compared with the events that they come from. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request, { type Response } from 'supertest';
import { type Address } from '#libs/domain';
import { type MintedCredential } from '#libs/signing';
import { aWallet } from '#libs/testing/database';
import {
  addPartner,
  ANON_SECRET,
  type Api,
  NOON_MS,
  type Seed,
  seedIndex,
  startApi,
} from '../testing/api-harness.support.js';
import { expectError, expectSigned } from '../testing/wire.support.js';

const PATH = '/api/staking/history';
const [ALICE, BOB, NOBODY] = [aWallet(0xabcdef), aWallet(2), aWallet(0x404)];
const CHANGES = 250;

interface Interval {
  readonly fromBlock: number;
  readonly from: string;
  readonly toBlock?: number;
  readonly to?: string;
  readonly stakedAmount: number;
}
interface Page {
  readonly walletAddress: string;
  readonly intervals: Interval[];
  readonly next?: number;
}

/** ALICE's stake changes by +3 and -2 in turn, every two hours; BOB's only event lies between them. */
const EVENTS: Seed['events'] = Array.from({ length: CHANGES + 1 }, (_, place) => {
  const iso = new Date(Date.parse('2026-10-01T00:00:00Z') + place * 7_200_000).toISOString();
  if (place === 100) return [iso, BOB, 5] as const;
  const before = place > 100 ? place - 1 : place;
  return [iso, ALICE, before % 2 === 0 ? 3 : -2] as const;
}).map(([iso, wallet, tokens]) => [iso, wallet, tokens]);

function expected(wallet: Address): Interval[] {
  let balance = 0;
  const opened = EVENTS.flatMap(([iso, of, change], place) => {
    if (of !== wallet) return [];
    balance += change;
    const from = new Date(iso).toISOString();
    return [{ fromBlock: place + 1, from, stakedAmount: balance }];
  });
  return opened.map((one, place) => {
    const next = opened[place + 1];
    return { ...one, ...(next && { toBlock: next.fromBlock, to: next.from }) };
  });
}

let api: Api;
let partner: MintedCredential;

beforeAll(async () => {
  api = await startApi({ REQUEST_LOG: '0' });
  partner = await addPartner(api, 'history', { rate: 1_000_000, burst: 1_000_000 });
  await seedIndex(api, { events: EVENTS, headAt: '2026-11-21T12:00:00Z' });
});
afterAll(() => api.stop());

function ask(query: string, key = partner.apiKey): request.Test {
  return request(api.url).get(`${PATH}?${query}`).set('X-API-KEY', key);
}

async function page(query: string): Promise<Page> {
  const response = await ask(query).expect(200);
  expectSignedAs(response);
  return response.body as Page;
}

function expectSignedAs(response: Response, secret = partner.sharedSecret): void {
  expectSigned(response, { method: 'GET', path: PATH, secret });
}

describe('GET /api/staking/history', () => {
  it('is all intervals, oldest first, the last one open', async () => {
    const upper = `0x${ALICE.slice(2).toUpperCase()}`;
    const response = await ask(`walletAddress=${upper}&limit=1000`).expect(200);
    expectSignedAs(response);
    expect(response.body).toEqual({
      walletAddress: ALICE,
      requestedAt: '2026-11-21T12:00:02.123Z',
      tokenSymbol: 'SVC',
      tokenContract: aWallet(0xa2),
      stakeContract: aWallet(0xa1),
      intervals: expected(ALICE),
    });
    expect(response.headers['x-index-block']).toBe('1000');
    expect((await page(`walletAddress=${BOB}`)).intervals).toEqual(expected(BOB));
  });

  it.each([1, 125, 251])('comes by pages of %s, each once', async (limit) => {
    const found: Interval[] = [];
    let pages = 0;
    for (let after: number | undefined; ;) {
      const cursor = after === undefined ? '' : `&after=${after}`;
      const { intervals, next } = await page(`walletAddress=${ALICE}&limit=${limit}${cursor}`);
      expect(intervals.length).toBeLessThanOrEqual(limit);
      found.push(...intervals);
      pages += 1;
      if (next === undefined) break;
      expect(next).toBe(intervals.at(-1)?.fromBlock);
      after = next;
    }
    expect(found).toEqual(expected(ALICE));
    expect(pages).toBe(Math.ceil(CHANGES / limit));
  });

  it('has a hundred without a limit, and none after the last', async () => {
    expect((await page(`walletAddress=${ALICE}`)).intervals).toHaveLength(100);
    const end = await page(`walletAddress=${ALICE}&after=999999999999999`);
    expect(end.intervals).toEqual([]);
    expect(end).not.toHaveProperty('next');
  });

  it('is one message to the database', async () => {
    await page(`walletAddress=${ALICE}`);
    const before = api.link.packets;
    await page(`walletAddress=${ALICE}&limit=1000`);
    expect(api.link.packets - before).toBe(1);
  });

  it('is a 404 for a wallet that never staked, and for a contract that is not indexed', async () => {
    const none = await ask(`walletAddress=${NOBODY}`);
    expect(none.text).toBe(
      `{"code":"NOT_FOUND","message":"No staking data for wallet ${NOBODY}","requestedAt":"2026-11-21T12:00:02.123Z","success":false}`,
    );
    expectSignedAs(none);
    const other = await ask(`walletAddress=${ALICE}&contract=eip155:5:0x${'9'.repeat(40)}`);
    expectError(other, 404, 'CONTRACT_NOT_FOUND');
  });

  it('names the contract that was asked for', async () => {
    const database = await api.database.open();
    const [state] = await database.query<{ chain_id: string }>({
      text: 'SELECT chain_id::text FROM staking.index_state',
    });
    const contract = `eip155:${state?.chain_id ?? ''}:${aWallet(0xa1)}`;
    const found = await page(`walletAddress=${BOB}&contract=${contract}`);
    expect(found).toMatchObject({ contract, chainId: Number(state?.chain_id) });
  });

  it.each([
    '',
    'walletAddress=',
    `walletAddress=${ALICE}0`,
    `walletAddress=${ALICE}&walletAddress=${ALICE}`,
    ...['0', '1001', '1.5', '', '5&limit=5'].map(
      (limit) => `walletAddress=${ALICE}&limit=${limit}`,
    ),
    ...['', '-1', 'x', '1.0', '0x1', '9'.repeat(16), '1%00', '1&after=1', "1'--"].map(
      (after) => `walletAddress=${ALICE}&after=${after}`,
    ),
    `walletAddress=${ALICE}&contract=${ALICE}`,
  ])('refuses %p', async (query) => {
    const response = await ask(query);
    expectError(response, 400, 'BAD_REQUEST');
    expectSignedAs(response);
  });

  it('asks for the key before anything else', async () => {
    const response = await ask('limit=x', 'svck_none');
    expectError(response, 401, 'UNAUTHORIZED');
    expectSignedAs(response, ANON_SECRET);
  });

  it('is a 503 while the index is behind', async () => {
    api.clock.set(Date.parse('2026-11-21T12:10:00Z'));
    const response = await ask(`walletAddress=${ALICE}`);
    expectError(response, 503, 'SERVICE_UNAVAILABLE');
    expectSignedAs(response);
    api.clock.set(NOON_MS);
  });
});
