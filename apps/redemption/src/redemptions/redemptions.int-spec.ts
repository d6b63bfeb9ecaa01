/** Redemptions as their players see them, of a whole service on a vault, with a key for each role. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request, { type Response } from 'supertest';
import { addressOfKey, vaultIdOf } from '#libs/chain';
import { testConstants } from '#libs/config';
import { mintUuidV7, parseDecimal, type PartnerId, type UuidV7 } from '#libs/domain';
import { eventually } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import { type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { VaultBench } from '#libs/testing/vault';
import { ClaimWatchService } from '../claim-watch/claim-watch.service.js';
import {
  addPartner,
  addPrice,
  aPlayer,
  aQuietOne,
  aUser,
  errorOf,
  inState,
  QUICK_PAYOUTS,
  type Service,
  startService,
} from '../testing/redemption-harness.support.js';
import { connected } from '../testing/stage.support.js';

const NOBODY = '0199d000-0000-7000-8000-00000000dead';
/** Seconds between the deadline of a voucher and the end of its redemption. */
const MARGIN = 300;
const CANCELLER_KEY = VaultBench.OTHER_KEY;
const PAUSER_KEY = '44'.repeat(32);
const canceller = addressOfKey(CANCELLER_KEY);
const pauser = addressOfKey(PAUSER_KEY);

let service: Service;
/** The only endpoint of the service. */
let node: FaultyNode;
let partnerId: PartnerId;

beforeAll(async () => {
  const settings = {
    VAULT_CANCELLER_KEY: CANCELLER_KEY,
    VAULT_PAUSER_KEY: PAUSER_KEY,
    ...testConstants({ ...QUICK_PAYOUTS, payoutExpiryMarginSeconds: MARGIN }),
  };
  const throughNode = async (upstream: string) => {
    node = await startFaultyNode({ upstream });
    return node.url;
  };
  service = await startService(settings, throughNode, { canceller, pauser });
  await service.bench.chain.rpc.call('anvil_setBalance', pauser, '0xde0b6b3a7640000');
  partnerId = await addPartner(service, 'Arena');
  await addPartner(service, 'Bonus', {
    bonus: { fromPoints: 5000n, rate: parseDecimal('0.02') },
  });
  await addPrice(service);
});
afterAll(async () => {
  await service.stop();
  await node.close();
});

function idsOf({ body }: Response): string[] {
  return (body.redemptions as { id: string }[]).map(({ id }) => id);
}

describe('a redemption', () => {
  it('goes from points to tokens, and its user can follow it', async () => {
    const user = await aPlayer(service);
    const created = await user.redeem('bonus', 5000).expect(201);
    expect(created.body).toMatchObject({
      partner: { name: 'Bonus' },
      wallet: user.wallet,
      points: 5000,
      usdAmount: 50,
      tokens: 340,
      tokenAmount: `340${'0'.repeat(18)}`,
      priceUsd: 0.15,
      payableUntil: null,
      status: 'initial',
      stage: 'created',
      cancelRequested: false,
      txnHash: null,
      voucher: null,
    });
    const { id } = created.body;
    await inState(service, id, 'authorised');
    const { body } = await user.get(`/api/redemptions/${id}`).expect(200);
    expect(body).toMatchObject({ status: 'pending', stage: 'authorised' });
    expect(service.game.points.get(user.wallet)).toBe(5000);
    const { vault, calldata, recipient, amount } = body.voucher;
    expect([vault, recipient, amount]).toEqual([
      service.bench.vault,
      user.wallet,
      body.tokenAmount,
    ]);
    const [outcome] = await service.bench.mine({ from: user.wallet, to: vault, data: calldata });
    expect(outcome?.error).toBeUndefined();
    expect(await service.bench.tokens(user.wallet)).toBe(BigInt(amount));
    await service.bench.finalise();
    await inState(service, id, 'claimed');
    const claimed = await user.get(`/api/redemptions/${id}`).expect(200);
    expect(claimed.body).toMatchObject({
      status: 'claimed',
      txnHash: outcome?.transactionHash,
      ...{ cancellableUntil: null, payableUntil: null, returnsBy: null, revertedAt: null },
      voucher: null,
    });
    expect(Date.parse(claimed.body.claimedAt)).toBeGreaterThan(0);
  });

  it('of another wallet is not there', async () => {
    const [owner, other] = [await aPlayer(service), await aPlayer(service)];
    const id = await aQuietOne(service, owner, { partner: partnerId });
    await owner.get(`/api/redemptions/${id}`).expect(200);
    for (const path of [`/api/redemptions/${id}`, `/api/redemptions/${NOBODY}`]) {
      expect(errorOf(await other.get(path))).toEqual({ status: 404, code: 'NOT_FOUND' });
      expect(errorOf(await other.post(`${path}/cancel`))).toEqual({
        status: 404,
        code: 'NOT_FOUND',
      });
    }
    const list = await other.get('/api/redemptions').expect(200);
    expect(list.body).toEqual({ redemptions: [], next: null });
    expect((await owner.get('/api/redemptions/1')).status).toBe(404);
    expect((await owner.get('/api/redemptions/%00')).status).toBe(404);
  });

  it('is in the list page by page, newest first', async () => {
    const user = await aPlayer(service);
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) {
      service.clock.advance(10);
      ids.unshift(await aQuietOne(service, user, {}));
    }
    const first = await user.get('/api/redemptions?limit=2').expect(200);
    const second = await user.get(`/api/redemptions?limit=2&before=${first.body.next}`);
    const last = await user.get(`/api/redemptions?limit=2&before=${second.body.next}`);
    expect([first, second, last].flatMap(idsOf)).toEqual(ids);
    expect(last.body.next).toBeNull();
    const whole = await user.get('/api/redemptions?limit=5&unknown=1').expect(200);
    expect([whole.body.redemptions.length, whole.body.next]).toEqual([5, null]);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['before=x', 'before'],
    [`before=${NOBODY}&before=${NOBODY}`, 'before'],
  ])('is listed for no %s', async (query, field) => {
    const user = await aPlayer(service);
    const answer = await user.get(`/api/redemptions?${query}`);
    expect(errorOf(answer)).toEqual({ status: 400, code: 'BAD_REQUEST', field });
  });
});

describe('cancelling', () => {
  it('ends a redemption of which nothing was sent', async () => {
    const user = await aPlayer(service);
    const id = await aQuietOne(service, user, { partner: partnerId });
    const { body } = await user.post(`/api/redemptions/${id}/cancel`).expect(202);
    expect(body).toMatchObject({
      status: 'failed',
      reason: 'user-cancelled',
      cancelRequested: true,
    });
    const again = await user.post(`/api/redemptions/${id}/cancel`);
    expect(errorOf(again)).toEqual({ status: 409, code: 'FINAL' });
  });

  it('of an authorised payout takes the voucher away, and gives the points back when the chain has cancelled it', async () => {
    const user = await aPlayer(service);
    // 50 USD; what is worth less than VAULT_CANCEL_MIN_USD is left to its deadline.
    const { id } = (await user.redeem('Arena', 5000).expect(201)).body;
    await inState(service, id, 'authorised');
    const { body } = await user.post(`/api/redemptions/${id}/cancel`).expect(202);
    const payableUntil = expect.stringMatching(/T.*Z$/) as unknown;
    const open = { status: 'pending', cancelRequested: true, voucher: null, payableUntil };
    expect(body).toMatchObject({ ...open, cancellableUntil: null });
    const version = await versionOf(id);
    await user.post(`/api/redemptions/${id}/cancel`).expect(202);
    expect(await versionOf(id)).toBe(version);
    await untilCancelWaits();
    await service.bench.mine();
    await service.bench.finalise();
    await inState(service, id, 'reverted');
    expect(service.game.points.get(user.wallet)).toBe(10_000);
    expect(service.logs.join('')).not.toContain('is the key that signs');
  });

  /** Waits until a transaction of the canceller is pending. */
  async function untilCancelWaits(): Promise<void> {
    const { bench, clock } = service;
    const count = async (at: string) =>
      Number(await bench.chain.rpc.call<string>('eth_getTransactionCount', canceller, at));
    for (let looks = 0; looks < 200; looks++) {
      if ((await count('pending')) > (await count('latest'))) return;
      clock.advance(100);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error('no cancellation was sent');
  }

  it('does not wait for a deduction whose outcome is open', async () => {
    const user = await aPlayer(service);
    const playing = service.game.behave;
    service.game.behave = (call) =>
      call.path.startsWith('/get-') ? playing(call) : { status: 500, body: {}, signature: null };
    try {
      const { id } = (await user.redeem('Arena', 100).expect(201)).body;
      await inState(service, id, 'deducting');
      const answer = await user.post(`/api/redemptions/${id}/cancel`);
      expect(errorOf(answer)).toEqual({ status: 409, code: 'NOT_YET_CANCELLABLE' });
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    } finally {
      service.game.behave = playing;
    }
  });

  async function versionOf(id: string): Promise<unknown> {
    return (await service.store.get(id as UuidV7))?.redemption.version;
  }
});

const chainOf = async (clientAddress = '10.0.0.9'): Promise<Response> =>
  request(service.url).get('/api/chain').set('x-forwarded-for', clientAddress);

describe('the chain', () => {
  it('is told without a session', async () => {
    const { bench } = service;
    const { status, body } = await chainOf();
    expect(status).toBe(200);
    expect(body).toEqual({
      chainId: bench.chain.chainId,
      vault: bench.vault,
      token: {
        address: bench.chain.contracts.token,
        symbol: expect.stringMatching(/^[A-Z]+$/),
        decimals: 18,
      },
      payouts: { available: true, reason: null, message: null },
      finalitySeconds: expect.any(Number),
    });
    expect(body.finalitySeconds).toBeGreaterThanOrEqual(0);
  });

  it('is asked for a hundred times at once from one address, and no more', async () => {
    const asked = Array.from({ length: 110 }, () => chainOf('10.9.9.9'));
    const answers = await Promise.all(asked);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(10);
    expect(refused.map(errorOf)[0]).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' });
  });
});

describe('a voucher', () => {
  it('is shown until its deadline, which is told until the points are back', async () => {
    const user = await aPlayer(service);
    const { body: created } = await user.redeem('Arena', 100).expect(201);
    expect(created).toMatchObject({
      ...{ cancellableUntil: created.quoteExpiresAt, returnsBy: null, payableUntil: null },
    });
    await inState(service, created.id, 'authorised');
    const path = `/api/redemptions/${created.id}`;
    const { body } = await user.get(path).expect(200);
    const payableUntil = new Date(body.voucher.deadline * 1000).toISOString();
    expect(body).toMatchObject({ payableUntil, cancellableUntil: payableUntil });
    const { body: chain } = await chainOf();
    const margin = Math.max(MARGIN, chain.finalitySeconds);
    const afterMs = Date.parse(body.returnsBy) - Date.parse(payableUntil);
    expect(afterMs).toBe((margin + 1 + 60) * 1000);
    service.clock.advance(body.voucher.deadline * 1000 - service.clock.nowMs());
    expect((await user.get(path)).body.voucher).toEqual(body.voucher);
    service.clock.advance(1);
    const expired = { stage: 'authorised', voucher: null, payableUntil };
    expect((await user.get(path)).body).toMatchObject(expired);
    await service.bench.mineAt(Number(body.voucher.deadline) + 1);
    await service.bench.finalise();
    service.clock.advance(MARGIN * 1000);
    await inState(service, created.id, 'reverted');
    expect((await user.get(path)).body).toMatchObject({ payableUntil: null });
  });
});

// Which statements about the final block are refused: libs/chain/src/vault/lying-endpoints.int-spec.ts.
it('a final block of next week ends no voucher, and an alert names both clocks', async () => {
  await addPrice(service);
  const user = await aPlayer(service);
  const { id } = (await user.redeem('Arena', 100).expect(201)).body;
  await inState(service, id, 'authorised');
  node.fault = { kind: 'false-final', seconds: 7 * 86_400 };
  const told =
    /"alert":"final-block-refused","severity":"critical".*final block \d+ is of .*, and .* clock says/;
  await eventually(() => {
    service.clock.advance(100);
    return told.test(service.logs.join(''));
  });
  node.fault = undefined;
  service.clock.advance(60_000);
  const { body } = await user.get(`/api/redemptions/${id}`).expect(200);
  const { stage, voucher } = body;
  expect(stage).toBe('authorised');
  await service.bench.mine({ from: user.wallet, to: voucher.vault, data: voucher.calldata });
  await service.bench.finalise();
  await inState(service, id, 'claimed');
});

describe('a ledger that went back in time', () => {
  async function restored(): Promise<void> {
    const owner = await connected(service.database);
    await owner.pool.query(await readFile('deploy/pgbackrest/restored.sql', 'utf8'));
  }

  /** By the clock of the service, which is far behind that of the database. */
  async function note(): Promise<void> {
    const owner = await connected(service.database);
    const atMs = service.clock.nowMs() + 1;
    await owner.pool.query(
      `INSERT INTO redemption.ledger_restore (at, lost_since, vouchers_until_seconds, actor)
        VALUES ($1, $2, $3, 'test')`,
      [new Date(atMs), new Date(atMs - 60_000), Math.ceil(atMs / 1000) + 600],
    );
  }

  const get = (path: string) => request(service.url).get(path);

  it('pauses redemptions for players, and tells operators what to run; the note ends it', async () => {
    await addPrice(service);
    let player = await aPlayer(service);
    const { body: open } = await player.redeem(partnerId, 100).expect(201);
    await inState(service, open.id, 'authorised');
    const show = () => player.get(`/api/redemptions/${open.id}`).expect(200);
    expect((await show()).body.voucher).not.toBeNull();
    await restored();
    // The session is that of before.
    await player.get(`/api/redemptions/${open.id}`).expect(401);
    player = await aUser(service, player.wallet);

    const other = await aPlayer(service);
    const refused = await other.redeem(partnerId, 100);
    expect(errorOf(refused)).toEqual({ status: 503, code: 'REDEMPTIONS_PAUSED' });
    expect(refused.body.message).toContain('No points were taken');
    expect(refused.headers['retry-after']).toBe('60');
    const { body: quote } = await other
      .get(`/api/partners/${partnerId}/quote?points=100`)
      .expect(200);
    expect(quote.refusal).toMatchObject({ code: 'REDEMPTIONS_PAUSED' });
    const { body: range } = await other.get(`/api/partners/${partnerId}/limits`).expect(200);
    expect(range.refusal).toMatchObject({ code: 'REDEMPTIONS_PAUSED' });
    const shown = await show();
    expect([shown.body.stage, shown.body.voucher]).toEqual(['authorised', null]);
    expect(service.game.calls.filter(({ body }) => body['address'] === other.wallet)).toEqual([]);

    const { body: ready } = await get('/health/ready').expect(503);
    expect(JSON.stringify(ready)).toContain('run `ledger restored`');
    await get('/health/accepting').expect(200);
    await get('/health/live').expect(200);
    expect((await get('/metrics')).text).toMatch(/^lowmark_ledger_restore_not_noted\{.*\} 1$/m);
    expect(service.logs.join('')).toMatch(/"alert":"restore-not-noted","severity":"critical"/);

    await note();
    await get('/health/ready').expect(200);
    expect((await get('/metrics')).text).toMatch(/^lowmark_ledger_restore_not_noted\{.*\} 0$/m);
    expect((await show()).body.voucher).not.toBeNull();
    service.clock.advance(1000);
    const { body: created } = await other.redeem(partnerId, 100).expect(201);
    await inState(service, created.id, 'authorised');
  });
});

// The last test, since the vault pays nothing after it.
it('a theft pauses the vault; the figures of the service say so, and players why nothing is paid', async () => {
  const { bench, app, url, clock, logs } = service;
  const watch = app.get(ClaimWatchService);
  await watch.check();
  const metrics = async () => (await request(url).get('/metrics')).text;
  expect(await metrics()).toMatch(/^lowmark_claims_unauthorised(\{.*\})? 0$/m);

  const vaultId = vaultIdOf(mintUuidV7(clock.nowMs(), randomBytes(10)));
  const forged = bench.voucher({ vaultId, recipient: aWallet(0x7e1f) });
  expect(await bench.refusal(bench.claim(forged))).toBeUndefined();
  await watch.check();
  await bench.mine();
  expect(await bench.view('paused')).toBe(true);
  expect(logs.filter((line) => line.includes('"alert":"claim-unauthorised"'))).toHaveLength(1);
  const figures = await metrics();
  expect(figures).toMatch(/^lowmark_claims_unauthorised(\{.*\})? 1$/m);
  expect(figures).toMatch(/lowmark_alerts_total\{.*code="claim-unauthorised".*\} 1/);
  expect(figures).toMatch(/^lowmark_claim_watch_timestamp_seconds(\{.*\})? 17\d+/m);
  // Facts of the vault are kept for ten seconds at most.
  clock.advance(10_000);
  const { body } = await chainOf();
  expect(body.payouts).toEqual({
    available: false,
    reason: 'paused',
    message: 'Payouts are paused at the moment. Try again later.',
  });
  const user = await aPlayer(service);
  const refused = await user.redeem('arena', 5000);
  expect(refused.body).toMatchObject({ code: 'PAYOUTS_UNAVAILABLE' });
});
