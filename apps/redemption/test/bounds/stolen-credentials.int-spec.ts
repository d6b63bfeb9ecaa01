/**
 * What a thief gains from a whole service with a database credential, by forged sessions, rates and budgets, or with
 * SECRETS_KEY and a backup. The budgets are the limit, and they do not depend on Redis.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { CallbackStore, type Program, SessionStore } from '#libs/db';
import { type Address, parseDecimal } from '#libs/domain';
import { EvidenceKeys, hashApiKey, KeyRing, newToken } from '#libs/signing';
import { CALLBACK_KEY, CALLBACK_SECRET } from '#libs/testing/partner';
import {
  addPartner,
  addPrice,
  aPlayer,
  DOMAIN,
  errorOf,
  inState,
  openSession,
  SECRETS_KEY,
  type Service,
  startService,
  type User,
  QUICK_PAYOUTS,
} from '../../src/testing/redemption-harness.support.js';
import {
  claim,
  settledAsClaimed,
  takeAll,
  type Taken,
  tokens,
  voucherFor,
  pass,
} from './bounds.support.js';
import { toFunctionSelector } from 'viem';
import { testConstants } from '#libs/config';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { VaultBench } from '#libs/testing/vault';
import { SIGNER } from '../../src/testing/stage.support.js';

const BUDGET = 1000;
const CAP = 2500;
/** Worth 50 dollars: 333 tokens and a third. */
const POINTS = 5000;
const OF_PARTNER = 1500;
const DAY_SECONDS = 86_400;

let service: Service;
/** Tokens of the vault when the test began. */
let held: bigint;

beforeAll(async () => {
  service = await startService({ WALLET_DAILY_TOKEN_BUDGET: String(BUDGET) }, undefined, {
    windowCap: tokens(CAP),
  });
  await addPartner(service, 'Arena');
});
afterAll(() => service.stop());

// A new day, with new budgets and a new window of the vault.
beforeEach(async () => {
  const { bench, clock } = service;
  const today = Math.floor(Math.max(bench.seconds, clock.nowMs() / 1000) / DAY_SECONDS);
  await bench.mineAt((today + 1) * DAY_SECONDS);
  await bench.finalise();
  clock.set(bench.seconds * 1000);
  await addPrice(service);
  held = await bench.tokens(bench.vault);
});

const paid = async (): Promise<bigint> => held - (await service.bench.tokens(service.bench.vault));

const intruderAs = (program: Program) =>
  service.database.open({ url: service.database.urlAs(program) });

async function takeDay(user: User, points: number, partner?: string): Promise<string> {
  return takeAll(service, user, {
    ...{ points, settled: settledAsClaimed(service) },
    ...(partner !== undefined && { partner }),
  });
}

/** Runs statements as raw SQL. @returns the SQL state of each refusal */
async function refusalsOf(program: Program, texts: readonly string[]): Promise<string[]> {
  const intruder = await intruderAs(program);
  const refused = texts.map((text) =>
    intruder.query({ text }).then(
      () => 'done',
      (error: unknown) => (error as { sqlState?: string }).sqlState ?? 'unknown',
    ),
  );
  return Promise.all(refused);
}

describe('the redemption service’s credential', () => {
  it('makes no session: a row without the key’s MAC signs nobody in', async () => {
    const victim = `0x${randomBytes(20).toString('hex')}` as Address;
    const { token, tokenHash } = newToken();
    const seal = EvidenceKeys.parse(randomBytes(32).toString('base64'));
    const sessions = new SessionStore(await intruderAs('redemption'), seal, {
      siweDomains: [DOMAIN],
    });
    const expiresAtMs = service.clock.nowMs() + 86_400_000;
    await sessions.open({ tokenHash, wallet: victim, domain: DOMAIN, expiresAtMs });
    await request(service.url)
      .get('/api/redemptions')
      .set('authorization', `Bearer ${token}`)
      .expect(401);
  });

  it('with a session that was stolen, turns its wallet’s points into its own tokens, up to its day, and none of the thief’s', async () => {
    const victim = `0x${randomBytes(20).toString('hex')}` as Address;
    const thief = `0x${randomBytes(20).toString('hex')}` as Address;
    service.game.points.set(victim, 10 * POINTS);
    const expiresAtMs = service.clock.nowMs() + 86_400_000;
    const database = await service.database.open();
    const token = await openSession(database, { wallet: victim, expiresAtMs });
    const asked = (points: number, more: object = {}) =>
      request(service.url)
        .post('/api/redemptions')
        .set('authorization', `Bearer ${token}`)
        .set('idempotency-key', randomUUID())
        .send({ partner: 'Arena', points, ...more });

    const ends: unknown[] = [];
    for (let round = 0; round < 4; round++) {
      const answer = await asked(POINTS, { recipient: thief, wallet: thief });
      if (answer.status !== 201) {
        ends.push(errorOf(answer));
        continue;
      }
      const id = String(answer.body.id);
      await inState(service, id, 'authorised');
      const shown = await request(service.url)
        .get(`/api/redemptions/${id}`)
        .set('authorization', `Bearer ${token}`);
      const { voucher } = shown.body as { voucher: { recipient: string; calldata: string } };
      expect(voucher.recipient).toBe(victim);
      await claim(service, { id, calldata: voucher.calldata as `0x${string}` });
      await settledAsClaimed(service)({ id, calldata: '0x' });
    }
    expect(ends).toEqual([{ status: 409, code: 'WALLET_BUDGET_SPENT' }]);
    expect(await service.bench.tokens(thief)).toBe(0n);
    expect(await service.bench.tokens(victim)).toBe(await paid());
    expect(await paid()).toBeLessThanOrEqual(tokens(BUDGET));
  });

  it.each(['redemption', 'cli'] as const)(
    'takes nothing that was redeemed out of its wallet’s day, nor does the commands’: %s',
    async (program) => {
      const user = await aPlayer(service, 10 * POINTS);
      expect(await takeDay(user, POINTS)).toBe('WALLET_BUDGET_SPENT');
      const set = (what: string) => `UPDATE redemption.redemption SET ${what}`;
      const ends = await refusalsOf(program, [
        set(`initial_at = initial_at - interval '2 days', version = version + 1`),
        set(`token_amount = 1, version = version + 1`),
        set(`wallet = '\\x${'5e'.repeat(20)}', version = version + 1`),
        set(`authorised_at = NULL, state = 'reverted', version = version + 1`),
        'DELETE FROM redemption.redemption',
        'DELETE FROM redemption.reserved',
        'ALTER TABLE redemption.redemption DISABLE TRIGGER ALL',
        'SET session_replication_role = replica',
      ]);
      // Refused by a guard of the table, or because the right is missing.
      expect(ends.filter((state) => !/^(23\d{3}|42501)$/.test(state))).toEqual([]);
      expect(await voucherFor(service, user, POINTS)).toBe('WALLET_BUDGET_SPENT');
    },
  );
});

describe('the thief of SECRETS_KEY and of a backup', () => {
  it('has the partners’ secrets, and by answers in a partner’s place that partner’s budget of the day', async () => {
    await addPartner(service, 'Bazaar', { dailyTokenBudget: parseDecimal(String(OF_PARTNER)) });
    const backup = await service.database.open();
    const [row] = await backup.query<{ secret_ciphertext: Buffer; key: string }>({
      text: 'SELECT secret_ciphertext, key FROM partners.callback',
    });
    const sealed = row?.secret_ciphertext ?? Buffer.alloc(0);
    const key = row?.key ?? '';
    expect(key).toBe(CALLBACK_KEY);
    const other = KeyRing.parse(Buffer.alloc(32, 8).toString('base64'));
    expect(() => other.open(sealed, hashApiKey(key))).toThrow();
    const secret = KeyRing.parse(SECRETS_KEY).open(sealed, hashApiKey(key));
    // The test's game signs its answers with this secret, and so can the thief.
    expect(secret).toBe(CALLBACK_SECRET);

    const ends: string[] = [];
    for (let wallet = 0; wallet < 3; wallet++) {
      // The forged answer can name any number of points.
      const user = await aPlayer(service, Number.MAX_SAFE_INTEGER);
      ends.push(await takeDay(user, POINTS, 'Bazaar'));
    }
    expect(ends).toEqual(['WALLET_BUDGET_SPENT', 'PARTNER_BUDGET_SPENT', 'PARTNER_BUDGET_SPENT']);
    expect(await paid()).toBeLessThanOrEqual(tokens(OF_PARTNER));
    expect(await paid()).toBeGreaterThan(tokens(OF_PARTNER - 334));
  });
});

describe('the commands’ credential', () => {
  it('makes a point worth a thousand times as much, without a budget for the partner: each wallet has its day, all have the cap', async () => {
    const castle = await addPartner(service, 'Castle');
    await new CallbackStore(await intruderAs('cli')).change(castle, (before) => {
      if (before === undefined) throw new Error('no callback');
      return {
        ...before,
        usdPerPoint: parseDecimal('10'),
        dailyTokenBudget: parseDecimal('1000000000'),
      };
    });
    service.clock.advance(2_000);
    // 666 tokens for points that were worth seven cents before.
    const [points, ofRest] = [10, 4];
    const wallets = [await aPlayer(service, 1000), await aPlayer(service, 1000)];
    for (const user of wallets) {
      expect(await takeDay(user, points, 'Castle')).toBe('WALLET_BUDGET_SPENT');
      expect(await takeDay(user, ofRest, 'Castle')).toBe('WALLET_BUDGET_SPENT');
      const took = await service.bench.tokens(user.wallet);
      expect(took).toBeGreaterThan(tokens(BUDGET - 100));
      expect(took).toBeLessThanOrEqual(tokens(BUDGET));
    }
    const last = await aPlayer(service, 1000);
    expect(await takeDay(last, points, 'Castle')).toBe('PAYOUTS_UNAVAILABLE');
    expect(await takeDay(last, ofRest, 'Castle')).toBe('PAYOUTS_UNAVAILABLE');
    expect(await paid()).toBeLessThanOrEqual(tokens(CAP));
    expect(await paid()).toBeGreaterThan(tokens(CAP - 700));
  });
});

describe('the owner’s credential', () => {
  it('lifts every budget, with all triggers disabled: the vault pays its cap and nothing beyond it', async () => {
    const owner = await service.database.open();
    // Hides the redemptions from the daily budgets and from the reserved sum.
    const forget = () =>
      owner.transaction(async (client) => {
        await client.query('SET LOCAL session_replication_role = replica');
        await client.query(
          `UPDATE redemption.redemption SET partner = gen_random_uuid(), initial_at = initial_at - interval '2 days'`,
        );
        await client.query('DELETE FROM redemption.reserved');
        await client.query('DELETE FROM redemption.released');
      });
    const user = await aPlayer(service, 100 * POINTS);
    const open: Taken[] = [];
    for (let voucher = 0; voucher < 9; voucher++) {
      const taken = await voucherFor(service, user, POINTS);
      if (typeof taken === 'string') throw new Error(taken);
      open.push(taken);
      await forget();
    }
    const ends = [];
    for (const taken of open) ends.push(await claim(service, taken));
    expect(ends.slice(0, 7)).toEqual(Array.from({ length: 7 }, () => undefined));
    expect(ends.slice(7)).toEqual(['WindowCapExceeded', 'WindowCapExceeded']);
    expect(await service.bench.tokens(user.wallet)).toBeGreaterThan(tokens(2 * BUDGET));
    expect(await paid()).toBeLessThanOrEqual(tokens(CAP));
  });
});

describe('endpoints that deny claims, or make them up', () => {
  const STATUS = toFunctionSelector('status(bytes32)');
  const REMAINING = toFunctionSelector('remainingInWindow()');
  const NO_CLAIM = `0x${'0'.repeat(64)}`;
  const MUCH = `0x${'f'.repeat(32).padStart(64, '0')}`;

  const BUDGET = 1000;
  const CAP = 1500;
  /** Worth 50 dollars: 333 tokens and a third. */
  const POINTS = 5000;
  /** Seconds until after a voucher's deadline, with the rounding. */
  const DEADLINE_SECONDS = 620;

  /** Faults with which no voucher appears claimed, and the vault appears able to pay any amount. */
  const DENIAL: Fault[] = [
    { kind: 'empty-logs' },
    {
      kind: 'lie',
      change: ({ method, params }) => {
        const [call] = params as [{ data?: string }?];
        if (method !== 'eth_call' || call?.data === undefined) return undefined;
        if (call.data.startsWith(STATUS)) return NO_CLAIM;
        return call.data === REMAINING ? MUCH : undefined;
      },
    },
  ];

  describe.each([
    ['the only endpoint', [1]],
    ['two endpoints that collude', [1, 2]],
  ])('%s, denying every claim', (_who, endpoints) => {
    let service: Service;
    let nodes: FaultyNode[];

    beforeAll(async () => {
      service = await startService(
        {
          WALLET_DAILY_TOKEN_BUDGET: String(BUDGET),
          VOUCHER_TTL_SECONDS: '600',
          ...testConstants({ ...QUICK_PAYOUTS, voucherCoolDownSeconds: 0 }),
        },
        async (upstream) => {
          const fault = DENIAL;
          nodes = await Promise.all(endpoints.map(() => startFaultyNode({ upstream, fault })));
          return nodes.map(({ url }) => url).join(',');
        },
        { windowCap: tokens(CAP) },
      );
      await addPartner(service, 'Arena');
      await addPrice(service);
    });
    afterAll(async () => {
      await service.stop();
      await Promise.all(nodes.map((node) => node.close()));
    });

    it('give a wallet tokens for points that come back, until its day is spent', async () => {
      const { bench, game } = service;
      const user = await aPlayer(service, POINTS);
      const settled = async ({ id }: { readonly id: string }) => {
        expect(game.points.get(user.wallet)).toBe(0);
        await pass(service, DEADLINE_SECONDS);
        await inState(service, id, 'reverted');
        await addPrice(service);
      };
      expect(await takeAll(service, user, { points: POINTS, settled })).toBe('WALLET_BUDGET_SPENT');
      const took = await bench.tokens(user.wallet);
      expect(took).toBeGreaterThan(tokens(BUDGET - 334));
      expect(took).toBeLessThanOrEqual(tokens(BUDGET));
      expect(game.points.get(user.wallet)).toBe(POINTS);
    });

    it('give all wallets together no more than the cap of the window', async () => {
      const { bench } = service;
      const left = (await bench.view('remainingInWindow')) as bigint;
      expect(left).toBeLessThan(tokens(CAP));
      const ends: (string | undefined)[] = [];
      for (let wallet = 0; wallet < 3; wallet++) {
        const user = await aPlayer(service, POINTS);
        const taken = await voucherFor(service, user, POINTS);
        ends.push(typeof taken === 'string' ? taken : await claim(service, taken));
      }
      expect(ends).toEqual([undefined, 'WindowCapExceeded', 'WindowCapExceeded']);
      const paid = tokens(10 ** 6) - (await bench.tokens(bench.vault));
      expect(paid).toBeLessThanOrEqual(tokens(CAP));
    });
  });

  describe('the only endpoint, making claims up', () => {
    it('keeps points from their players, moves no token, and leaves the voucher good until its deadline', async () => {
      let twin: VaultBench | undefined;
      // The only endpoint of the service serves another chain, with a vault at the same address.
      const service = await startService({}, async (url) => {
        const asked = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] };
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(asked) });
        const { result } = (await answer.json()) as { result: string };

        twin = await VaultBench.start({ canceller: SIGNER }, Number(result));
        return twin.chain.url;
      });
      try {
        await addPartner(service, 'Arena');
        await addPrice(service);
        const { bench, game } = service;
        expect(twin?.vault).toBe(bench.vault);
        const user = await aPlayer(service, POINTS);
        const taken = await voucherFor(service, user, POINTS);
        if (typeof taken === 'string' || !twin) throw new Error('no voucher');
        const { calldata } = taken;
        await twin.mineAt(bench.seconds + 12, twin.to(VaultBench.STRANGER, calldata));
        await twin.finalise();
        await inState(service, taken.id, 'claimed');
        expect(game.points.get(user.wallet)).toBe(0);
        expect(await bench.tokens(user.wallet)).toBe(0n);
        expect(errorOf(await user.post(`/api/redemptions/${taken.id}/cancel`))).toMatchObject({
          status: 409,
        });
        expect(await claim(service, taken)).toBeUndefined();
        expect(await bench.tokens(user.wallet)).toBeGreaterThan(tokens(333));
      } finally {
        await service.stop();
        await twin?.stop();
      }
    });
  });
});
