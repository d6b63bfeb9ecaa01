/**
 * Rows that the service did not write, or that were altered later, by an intruder who may even disable every trigger;
 * and vouchers that a thief with a ledger credential marks as dead or as claimed, with every trigger in force. Points
 * and tokens are never both given away, but within windowCap.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { addressOfKey } from '#libs/chain';
import { ReconciliationStore, RedemptionStore } from '#libs/db';
import { mintUuidV7, type Redemption, transition, type UuidV7 } from '#libs/domain';
import { createLogger, Registry } from '#libs/service';
import { EvidenceKeys } from '#libs/signing';
import { aWallet } from '#libs/testing/database';
import { EVIDENCE_KEY } from '#libs/testing/evidence';
import { VaultBench } from '#libs/testing/vault';
import { Alerts } from '../observe/alerts.js';
import { RedemptionPresenter } from '../redemptions/redemption-presenter.js';
import { aReconciler } from '../testing/cancel-policy.support.js';
import { EngineBench, POINTS } from '../testing/engine-bench.support.js';
import { alertsIn, Forger, NO_PLAN, STOPPED } from '../testing/forger.support.js';
import { callClaimed, type Thief, writeOff } from '../testing/write-off.support.js';

const TOKENS = 340n;

let bench: EngineBench;
let forger: Forger;
beforeAll(async () => {
  bench = await EngineBench.start();
  forger = new Forger(bench);
});
afterAll(() => bench.stop());

/** @returns what the user sees at the second look, and the number of alerts of both */
async function shown(id: UuidV7, store = bench.store) {
  const registry = new Registry();
  const logger = createLogger({ app: 'redemption', level: 'silent' });
  const directory = { find: () => Promise.resolve(undefined) } as never;
  const alerts = new Alerts(registry, logger);
  const chain = { returnSeconds: () => Promise.resolve(undefined) } as never;
  const { payouts, clock } = bench;
  const presenter = new RedemptionPresenter(directory, payouts, chain, alerts, clock, logger);
  const stored = await bench.stored(id, store);
  await presenter.present(stored);
  const { voucher } = await presenter.present(stored);
  return { voucher, alerts: await alertsIn(registry) };
}

const UNREADABLE = 'redemption-unreadable';

const aTransactionId = () => randomBytes(8).toString('hex');

const PROGRAMS = ['redemption', 'cli'] as const;
const thiefOf = (program: Thief['program']): Thief => ({
  test: bench.test,
  program,
  nowMs: bench.clock.nowMs(),
});
const pointsOf = ({ wallet }: Redemption) => bench.partner.points.get(wallet);

/** What the reconciliation finds, which is nothing but claimed rows without a claim. */
async function withoutClaim(): Promise<{ readonly count: number; readonly tokens: bigint }> {
  const served = await bench.test.open({ url: bench.test.urlAs('redemption') });
  const raised: unknown[] = [];
  const store = new ReconciliationStore(served);
  const raise = (alert: { readonly severity: string }) => raised.push(alert.severity);
  const found = (await aReconciler(bench.chain, bench.clock, { store, raise }).reconcile()) ?? [];
  expect(found.filter(({ kind }) => kind !== 'row-without-claim')).toEqual([]);
  expect(raised).toEqual(found.map(() => 'critical'));
  return { count: found[0]?.count ?? 0, tokens: found[0]?.tokens ?? 0n };
}

describe.each(PROGRAMS)('with the credential of %s, a voucher is called claimed', (program) => {
  it('its points are kept from its player, and the reconciliation finds it', async () => {
    const before = await withoutClaim();
    const id = await bench.authorised();
    const calldata = await bench.voucher(id);
    const held = await bench.chain.tokens(bench.chain.vault);
    await callClaimed(thiefOf(program), id);
    expect(await withoutClaim()).toEqual({
      count: before.count + 1,
      tokens: before.tokens + TOKENS,
    });
    await bench.pass(600);
    await bench.engine.sweep();
    const redemption = await bench.read(id);
    expect([redemption.state, pointsOf(redemption)]).toEqual(['claimed', 0]);
    expect(await bench.chain.tokens(bench.chain.vault)).toBe(held);
    expect(await bench.send(calldata)).toBe('VoucherExpired');
  });

  it('a player who has it already is paid all the same, and then the books agree', async () => {
    const before = await withoutClaim();
    const id = await bench.authorised();
    const calldata = await bench.voucher(id);
    await callClaimed(thiefOf(program), id);
    expect(await bench.send(calldata)).toBeUndefined();
    await bench.chain.finalise();
    bench.clock.set(bench.chain.seconds * 1000);
    expect(await bench.chain.tokens((await bench.read(id)).wallet)).toBe(TOKENS);
    expect(await withoutClaim()).toEqual(before);
  });
});

async function writtenOff(program: Thief['program']): Promise<UuidV7> {
  const id = await bench.authorised();
  await writeOff(thiefOf(program), id);
  expect((await bench.read(id)).state).toBe('reverting');
  return id;
}

describe.each(PROGRAMS)('with the credential of %s, a voucher is written off', (program) => {
  it('no points come back while it can be claimed', async () => {
    const id = await writtenOff(program);
    for (let look = 0; look < 10; look++) {
      await bench.engine.sweep();
      await bench.pass(20);
    }
    const redemption = await bench.read(id);
    expect(redemption).toMatchObject({ state: 'reverting', attempts: { revert: 0 } });
    expect(pointsOf(redemption)).toBe(0);
    expect(await bench.claim(id)).toBeUndefined();
    const { reason } = await bench.until(id, 'attention');
    expect(reason).toBe('paid-after-dead');
    expect(pointsOf(redemption)).toBe(0);
    expect(await bench.chain.tokens(redemption.wallet)).toBe(TOKENS);
  });

  it('its points come back once, when the vault says so too', async () => {
    const id = await writtenOff(program);
    const redemption = await bench.until(id, 'reverted');
    expect(bench.clock.nowMs()).toBeGreaterThan((redemption.plan?.deadlineSeconds ?? 0) * 1000);
    expect(pointsOf(redemption)).toBe(POINTS);
    expect(await bench.claim(id)).toBe('VoucherExpired');
  });
});

describe('a row that the service did not write', () => {
  it('is not planned where it says that points were taken', async () => {
    const id = await forger.copied(await bench.authorised(), {
      ...NO_PLAN,
      ...forger.soon(),
      state: 'deducted',
      partner: bench.partnerId,
      wallet: `\\x${randomBytes(20).toString('hex')}`,
      partner_transaction_id: aTransactionId(),
    });
    expect(await forger.workedAt(id)).toEqual(STOPPED);
    expect((await bench.read(id)).plan).toBeNull();
  });

  it('is not signed where it says that the payout is authorised', async () => {
    const wallet = `\\x${randomBytes(20).toString('hex')}`;
    const id = await forger.copied(await bench.authorised(), {
      wallet,
      plan_recipient: wallet,
      partner_transaction_id: aTransactionId(),
    });
    expect(await shown(id)).toEqual({ voucher: null, alerts: 1 });
    const { redemption, place } = await bench.stored(id);
    const payout = { redemptionId: id, plan: redemption.plan, place, isSealed: undefined };
    await expect(bench.payouts.authorise(payout as never)).rejects.toMatchObject({
      code: 'EVIDENCE_INVALID',
    });
    const before = await alertsIn(bench.registry);
    expect(await forger.workedAt(id)).toMatchObject({ state: 'authorised' });
    expect((await alertsIn(bench.registry)) - before).toBe(1);
  });

  it.each(['created', 'deducting'])('is not taken to the partner where it is %s', async (state) => {
    const genuine = await bench.redeem();
    const wallet = randomBytes(20).toString('hex');
    bench.partner.points.set(`0x${wallet}` as never, POINTS);
    const id = await forger.copied(genuine, {
      ...forger.soon(),
      state,
      ...(state === 'deducting' && { pending_at: new Date(bench.clock.nowMs()).toISOString() }),
      wallet: `\\x${wallet}`,
    });
    expect(await forger.workedAt(id)).toEqual(STOPPED);
    expect(bench.partner.points.get(`0x${wallet}` as never)).toBe(POINTS);
    expect((await bench.views.show(id))?.calls).toEqual([]);
  });

  it('is stopped where only the service’s own credential was used, with every trigger in force', async () => {
    const genuine = await bench.stored(await bench.redeem());
    const intruder = await bench.test.open({ url: bench.test.urlAs('redemption') });
    // Without the key the intruder cannot make a MAC.
    const id = mintUuidV7(bench.clock.nowMs(), randomBytes(10));
    const wallet = `0x${randomBytes(20).toString('hex')}` as never;
    const forged = { ...genuine.redemption, id, wallet, tokenAmount: 10n ** 24n };
    const key = { key: id, bodyHash: Buffer.alloc(32) };
    const limits = { paused: false, maxOpen: 1, priceMaxAgeSeconds: 60 };
    await new RedemptionStore(intruder).create(forged, key, limits);
    expect(await forger.workedAt(id)).toEqual(STOPPED);
  });
});

// A revert gives back the points of the deduction that it names.
describe('a row that names a deduction that is not its own', () => {
  it.each([
    ['as the partner’s transaction', (id: string) => ({ partner_transaction_id: `${id} ` })],
    ['as a candidate', (id: string) => ({ candidate_transaction_ids: [id] })],
  ])('%s is not reverted', async (_, names) => {
    const genuine = await bench.authorised();
    const { partnerTransactionId } = await bench.read(genuine);
    const forged = await forger.copied(genuine, {
      ...NO_PLAN,
      ...forger.soon(),
      state: 'reverting',
      reason: 'deduction-unknown',
      revert_reason: 'deduction-unknown',
      wallet: `\\x${randomBytes(20).toString('hex')}`,
      partner_transaction_id: null,
      ...names(partnerTransactionId ?? ''),
    });
    expect(await forger.workedAt(forged)).toEqual(STOPPED);
    expect((await bench.views.show(forged))?.calls).toEqual([]);
  });

  it('is not reverted where an operator’s credential named it without the key', async () => {
    const genuine = await bench.authorised();
    const id = await bench.redeem();
    const before = await bench.read(id);
    const intruder = new RedemptionStore(await bench.test.open({ url: bench.test.urlAs('cli') }));
    const nowMs = bench.clock.nowMs();
    const context = { nowMs, jitter: 0, policy: { capabilities: [], confirms: true } };
    const decision = transition(before, { type: 'cancel', by: 'operator' }, context);
    expect(decision.kind).toBe('moved');
    if (decision.kind === 'refused') return;
    const next = {
      ...decision.next,
      state: 'reverting' as const,
      reason: 'deduction-unknown' as const,
      revertReason: 'deduction-unknown' as const,
      pendingAtMs: nowMs,
      failedAtMs: null,
      nextActionAtMs: nowMs - 1000,
      candidateTransactionIds: [(await bench.read(genuine)).partnerTransactionId ?? ''],
    };
    await intruder.apply({
      before,
      decision: { ...decision, next, command: null },
      event: 'cancel',
      actor: 'operator:thief',
    });
    expect(await forger.workedAt(id)).toEqual(STOPPED);
    expect((await bench.views.show(id))?.calls).toEqual([]);
  });
});

describe('a row that was altered', () => {
  it.each([
    ['the amount', 'token_amount = token_amount * 1000, plan_amount = plan_amount * 1000'],
    ['the wallet', `wallet = '\\x${'ab'.repeat(20)}', plan_recipient = '\\x${'ab'.repeat(20)}'`],
    ['the points', 'points = 1'],
    ['the deadline', 'plan_deadline_seconds = plan_deadline_seconds + 3600'],
    ['the vault', `plan_vault = '\\x${'cd'.repeat(20)}'`],
    ['the chain', 'plan_chain_id = 1'],
    ['the partner', 'partner = gen_random_uuid()'],
    ['the partner’s answer', `partner_transaction_id = 'another'`],
    ['the MAC', `evidence_mac = set_byte(evidence_mac, 20, get_byte(evidence_mac, 20) # 1)`],
    ['the MAC, left out', 'evidence_mac = NULL'],
  ])('in %s is not signed', async (_, change) => {
    const id = await bench.authorised();
    expect((await shown(id)).voucher).not.toBeNull();
    await forger.forge(`UPDATE redemption.redemption SET ${change} WHERE id = $1`, [id]);
    expect(await shown(id)).toEqual({ voucher: null, alerts: 1 });
  });

  it('back to what it was, after its points went back, is not begun again', async () => {
    const id = await bench.redeem();
    const [first] = await bench.database.query<{ mac: Buffer }>(
      { text: 'SELECT evidence_mac AS mac FROM redemption.redemption WHERE id = $1' },
      [id],
    );
    await bench.until(id, 'authorised');
    await bench.until(id, 'reverted');
    const { wallet } = await bench.read(id);
    await forger.forge(
      `UPDATE redemption.redemption SET state = 'created', version = version + 1, evidence_mac = $2,
        next_action_at = $3, reverted_at = NULL, partner_revert_id = NULL, partner_transaction_id = NULL, dead_evidence = NULL, plan_recipient = NULL, plan_amount = NULL,
        plan_deadline_seconds = NULL, plan_vault = NULL, plan_chain_id = NULL, plan_from_block = NULL, authorised_at = NULL
        WHERE id = $1`,
      [id, first?.mac, forger.soon().next_action_at],
    );
    expect(await forger.workedAt(id)).toEqual(STOPPED);
    expect(bench.partner.points.get(wallet)).toBe(POINTS);
  });
});

describe('a row that cannot be read', () => {
  it('is told, set aside, and holds up no other', async () => {
    const id = await bench.authorised();
    await forger.forge(
      `UPDATE redemption.redemption SET state = 'reverting', version = version + 1,
        dead_evidence = '{"outcome":"dead"}', next_action_at = '1970-01-01' WHERE id = $1`,
      [id],
    );
    const others: UuidV7[] = [];
    for (let count = 0; count < 2; count++) others.push(await bench.redeem());
    const before = await alertsIn(bench.registry, UNREADABLE);
    await bench.engine.sweep();
    await bench.engine.sweep();
    for (const other of others) expect((await bench.read(other)).state).toBe('authorised');
    expect((await alertsIn(bench.registry, UNREADABLE)) - before).toBe(1);
    expect(bench.logs.filter((line) => line.includes(UNREADABLE)).at(-1)).toContain(id);
    await bench.pass(600);
    await bench.engine.sweep();
    expect((await alertsIn(bench.registry, UNREADABLE)) - before).toBe(2);
  });
});

describe('a cancellation that a row asks for', () => {
  const canceller = addressOfKey(VaultBench.SIGNER_KEY);
  const sent = () =>
    bench.chain.chain.rpc.call<string>('eth_getTransactionCount', canceller, 'latest');

  it('is not signed for a contract that the service never planned on', async () => {
    const id = await bench.authorised();
    const sink = aWallet(0x515c);
    // A contract that accepts any call.
    await bench.chain.chain.rpc.call('anvil_setCode', sink, '0x00');
    await forger.forge(
      `UPDATE redemption.redemption SET plan_vault = $2, revert_reason = 'user-cancelled', next_action_at = $3
        WHERE id = $1`,
      [id, Buffer.from(sink.slice(2), 'hex'), forger.soon().next_action_at],
    );
    const before = await sent();
    await bench.engine.sweep();
    await bench.payouts.cancelsSent();
    await bench.pass(20);
    expect(await sent()).toBe(before);
  });
});

it('EVIDENCE_KEY may be replaced while vouchers are out: the older one still verifies', async () => {
  const other = Buffer.alloc(32, 0x17).toString('base64');
  const storeWith = (keys: string) => new RedemptionStore(bench.database, EvidenceKeys.parse(keys));
  const id = await bench.authorised();
  expect((await shown(id, storeWith(`${other},${EVIDENCE_KEY}`))).voucher).not.toBeNull();
  expect((await shown(id, storeWith(other))).voucher).toBeNull();
});

describe('what may be lost both as points and as tokens, within windowCap', () => {
  const CAP = 2n * TOKENS;
  const BOTH = { points: POINTS, tokens: TOKENS };

  let bench: EngineBench;
  beforeAll(async () => {
    bench = await EngineBench.start({ windowCap: CAP });
  });
  afterAll(() => bench.stop());

  beforeEach(async () => {
    // Begins a new window.
    const day = 86_400;
    bench.clock.set((Math.floor(bench.chain.seconds / day) + 1) * day * 1000);
    await bench.pass(0);
  });

  interface Authorised {
    readonly id: UuidV7;
    readonly calldata: `0x${string}`;
  }

  async function authorised(): Promise<Authorised> {
    const id = await bench.authorised();
    return { id, calldata: await bench.voucher(id) };
  }

  async function holdings({ id }: Authorised) {
    const { wallet } = await bench.read(id);
    return { points: bench.partner.points.get(wallet), tokens: await bench.chain.tokens(wallet) };
  }

  /** Claims in the next block, whatever our own clock says. */
  function claimNext({ calldata }: Authorised): Promise<string | undefined> {
    return bench.chain.refusal(bench.chain.to(VaultBench.STRANGER, calldata));
  }

  it('gives points back beside vouchers whose deadlines were altered, with an alert', async () => {
    const forger = new Forger(bench);
    const taken: Authorised[] = [];
    for (let count = 0; count < 3; count++) {
      const one = await authorised();
      await forger.forge(
        'UPDATE redemption.redemption SET plan_deadline_seconds = plan_deadline_seconds - 601 WHERE id = $1',
        [one.id],
      );
      await bench.until(one.id, 'reverted');
      taken.push(one);
    }
    expect(bench.logs.join('')).toContain('"alert":"evidence-invalid","severity":"critical"');
    const ends = [];
    for (const one of taken) ends.push(await claimNext(one));
    expect(ends).toEqual([undefined, undefined, 'WindowCapExceeded']);
    expect(await Promise.all(taken.map(holdings))).toEqual([BOTH, BOTH, { ...BOTH, tokens: 0n }]);
  });

  describe('final blocks that the chain takes back', () => {
    it('cost the vouchers that were booked by them, both as points and as tokens, within windowCap and no others', async () => {
      const before = await authorised();
      await bench.until(before.id, 'reverted');
      const head = await bench.chain.chain.player.head();
      const booked: Authorised[] = [];
      // One after the other, since the window limits what is promised at the same time.
      for (let count = 0; count < 3; count++) {
        const one = await authorised();
        await bench.until(one.id, 'reverted');
        booked.push(one);
      }
      const depth = (await bench.chain.chain.player.head()) - head;
      expect(depth).toBeGreaterThan(4n);

      await bench.chain.rollback(Number(depth));
      // Vouchers of the fork that is the chain now, where their players claimed in time.
      const ends = [];
      for (const one of booked) ends.push(await claimNext(one));
      expect(ends).toEqual([undefined, undefined, 'WindowCapExceeded']);
      expect(await claimNext(before)).toBe('VoucherExpired');
      expect(await Promise.all(booked.map(holdings))).toEqual([
        BOTH,
        BOTH,
        { ...BOTH, tokens: 0n },
      ]);
      expect(await holdings(before)).toEqual({ points: POINTS, tokens: 0n });
      expect(await bench.chain.view('remainingInWindow')).toBe(0n);
    });
  });
});
