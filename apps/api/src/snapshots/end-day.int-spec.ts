/** Windows of the past (`endDay`), compared with balances that are computed event by event. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request, { type Response } from 'supertest';
import { type Address } from '#libs/domain';
import { type MintedCredential } from '#libs/signing';
import { aWallet } from '#libs/testing/database';
import { testSeeds } from '#libs/testing/seeds';
import {
  addPartner,
  type Api,
  NOON_MS,
  type Seed,
  seedIndex,
  startApi,
} from '../testing/api-harness.support.js';
import { expectError, expectSigned } from '../testing/wire.support.js';

const PATH = '/api/staking/snapshots';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const FIRST_MS = Date.parse('2026-08-01T00:00:00Z');
const LAST_MS = Date.parse('2026-11-21T11:00:00Z');
const WALLETS = Array.from({ length: 8 }, (_, place) => aWallet(100 + place));

type Event = Seed['events'][number];

/**
 * Pseudo-random stakes and withdrawals at odd times and at midnight, for some wallets rarely and for others every few
 * hours.
 */
function historyOf(seed: number): Event[] {
  let state = seed;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * limit);
  };
  const balances = new Map<Address, number>();
  const events: Event[] = [];
  for (let atMs = FIRST_MS; atMs < LAST_MS;) {
    const wallet = WALLETS[Math.min(below(9), below(9)) % WALLETS.length] ?? aWallet(100);
    const balance = balances.get(wallet) ?? 0;
    const change = balance === 0 || below(2) === 0 ? 1 + below(50) : -(1 + below(balance));
    balances.set(wallet, balance + change);
    events.push([new Date(atMs).toISOString(), wallet, change]);
    const nextMs = atMs + (1 + below(9)) * HOUR_MS + below(HOUR_MS / 1000) * 1000;
    const midnightMs = Math.ceil((atMs + 1) / DAY_MS) * DAY_MS;
    atMs = below(4) === 0 ? midnightMs : nextMs;
  }
  return events;
}

/** The lowest balance of each day, computed by going through all events once per day. */
function lowsOf(events: readonly Event[], wallet: Address, endDay: string, lastDays: number) {
  const endMs = Date.parse(endDay) + DAY_MS;
  return Array.from({ length: lastDays }, (_, place) => {
    const [fromMs, toMs] = [0, 1].map((day) => endMs - (lastDays - place - day) * DAY_MS) as [
      number,
      number,
    ];
    let balance = 0;
    let low: number | undefined;
    for (const [iso, of, change] of events) {
      if (of !== wallet || Date.parse(iso) >= toMs) continue;
      if (Date.parse(iso) > fromMs) low = Math.min(low ?? balance, balance);
      balance += change;
    }
    return Math.min(low ?? balance, balance);
  });
}

let api: Api;
let partner: MintedCredential;
let events: Event[];

const get = (query: string): request.Test =>
  request(api.url).get(`${PATH}?${query}`).set('X-API-KEY', partner.apiKey);

const post = (body: object): request.Test =>
  request(api.url).post(`${PATH}/batch`).set('X-API-KEY', partner.apiKey).send(body);

interface Body {
  readonly stakingSnapshots: { readonly from: string; readonly snapshotAmount: number }[];
}

const amounts = (body: Body): number[] => body.stakingSnapshots.map((day) => day.snapshotAmount);

describe.each(testSeeds())('windows of the past, $which', ({ seed }) => {
  beforeAll(async () => {
    api = await startApi({ REQUEST_LOG: '0' });
    partner = await addPartner(api, 'past', { rate: 1_000_000, burst: 1_000_000 });
    events = historyOf(seed);
    const headAt = '2026-11-21T12:00:00Z';
    await seedIndex(api, { events, headAt, finalisedAt: '2026-11-15T00:00:00Z' });
  });
  afterAll(() => api.stop());

  describe('endDay', () => {
    it.each([
      ['2026-11-20', 7],
      ['2026-11-19', 30],
      ['2026-10-31', 1],
      ['2026-09-30', 30],
      ['2026-08-10', 30],
      ['2026-08-01', 1],
      ['2026-07-31', 7],
    ])(
      '%s and %s days: each day’s lowest balance, alone and in a batch',
      async (endDay, lastDays) => {
        const staked = WALLETS.filter((wallet) => events.some(([, of]) => of === wallet));
        const batch = await post({ walletAddresses: staked, endDay, lastDays }).expect(200);
        const { results } = batch.body as { results: { body: Body }[] };
        for (const [place, wallet] of staked.entries()) {
          const lows = lowsOf(events, wallet, endDay, lastDays);
          const response = await get(
            `walletAddress=${wallet}&endDay=${endDay}&lastDays=${lastDays}`,
          ).expect(200);
          expect(amounts(response.body as Body)).toEqual(lows);
          expect((response.body as Body).stakingSnapshots.at(-1)?.from).toBe(
            `${endDay}T00:00:00.000Z`,
          );
          expect(results[place]?.body).toEqual(response.body);
        }
      },
    );

    it('of yesterday is the answer without it, to the byte', async () => {
      const [wallet] = events.map(([, of]) => of);
      const plain = await get(`walletAddress=${wallet ?? ''}`).expect(200);
      const named = await get(`walletAddress=${wallet ?? ''}&endDay=2026-11-20`).expect(200);
      expect(named.text).toBe(plain.text);
    });

    it('does not mix windows that are asked for at once', async () => {
      const wallet = events[0]?.[1] ?? aWallet(0);
      const days = ['2026-11-20', '2026-10-20', '2026-09-20'];
      const queries = Array.from({ length: 30 }, (_, place) => days[place % 3] ?? '');
      const answers = await Promise.all(
        queries.map((endDay) => get(`walletAddress=${wallet}&endDay=${endDay}`).expect(200)),
      );
      const plain = await get(`walletAddress=${wallet}`).expect(200);
      expect(amounts(plain.body as Body)).toEqual(lowsOf(events, wallet, '2026-11-20', 7));
      for (const [place, { body }] of answers.entries()) {
        expect(amounts(body as Body)).toEqual(lowsOf(events, wallet, queries[place] ?? '', 7));
      }
    });

    it('says by X-Index-Final whether its window is final', async () => {
      const wallet = events[0]?.[1] ?? '';
      const final = async (endDay: string): Promise<string | undefined> => {
        const { headers } = await get(`walletAddress=${wallet}&endDay=${endDay}`).expect(200);
        return (headers as Record<string, string>)['x-index-final'];
      };
      expect([await final('2026-11-14'), await final('2026-11-15')]).toEqual(['true', 'false']);
    });
  });

  describe('a day that cannot be asked for', () => {
    const expectRefused = (response: Response, status: number, code: string): void => {
      expectError(response, status, code);
      expectSigned(response, { method: 'GET', path: PATH, secret: partner.sharedSecret });
    };

    it.each([
      ...['2026-11-22', '9999-12-31', '', '2026-11-31', '2026-02-29', '2026-13-01', '2026-00-10'],
      ...['2026-1-1', '20261120', '2026-11-20T00:00:00Z', '1969-12-31', '%2B02026-11-20'],
      ...['-2026-11-20', '2026-11-20%00', '2026-11-20%0A', '%D9%A2026-11-20'],
      '2026-11-20&endDay=2026-11-20',
    ])('is refused: %s', async (endDay) => {
      expectRefused(
        await get(`walletAddress=${aWallet(100)}&endDay=${endDay}`),
        400,
        'BAD_REQUEST',
      );
    });

    it('of today is a 409 that says when it is over', async () => {
      const response = await get(`walletAddress=${aWallet(100)}&endDay=2026-11-21`);
      expectRefused(response, 409, 'DAY_NOT_OVER');
      expect(response.headers['retry-after']).toBe('43198');
      expect((response.body as { message: string }).message).toContain('2026-11-22T00:00:00.000Z');
    });

    it('that is over but not indexed is a 503, as without endDay', async () => {
      api.clock.set(Date.parse('2026-11-22T00:10:00Z'));
      const query = `walletAddress=${aWallet(100)}`;
      expectRefused(await get(`${query}&endDay=2026-11-21`), 503, 'SERVICE_UNAVAILABLE');
      expectRefused(await get(query), 503, 'SERVICE_UNAVAILABLE');
      await get(`${query}&endDay=2026-11-20`).expect(200);
      api.clock.set(NOON_MS);
    });
  });
});
