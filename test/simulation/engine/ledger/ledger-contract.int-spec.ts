/**
 * The contract of the ledger's stores. PostgreSQL and the ledger in memory, on which simulations run, give the same
 * results and refuse the same writes.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type Delivery,
  type DeliveryEvent,
  deliveryTransition,
  type Moved,
  PARTNER_CAPABILITIES,
  type Redemption,
  type RedemptionEvent,
  transition,
  type UuidV7,
} from '#libs/domain';
import { systemClock } from '#libs/platform';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { testEvidence } from '#libs/testing/evidence';
import { aPartnerId } from '#libs/testing/partner';
import {
  AttemptStore,
  CoinStore,
  type Database,
  DeliveryStore,
  KnownVaults,
  LedgerRestoreStore,
  RedemptionStore,
  type StoredRedemption,
  type TransitionWrite,
} from '#libs/db';
import {
  aBlock,
  aKey,
  aNewRedemption,
  aUuid,
  claimOf,
  decided,
  expiryOf,
  PLACE,
  planOf,
  someLimits,
  someWallet,
  START_MS,
} from '../../../../libs/db/src/redemption/testing/builders.js';
import {
  MemoryAttemptStore,
  MemoryCoinStore,
  MemoryDeliveryStore,
  MemoryKnownVaults,
  MemoryLedger,
  MemoryRedemptionStore,
  MemoryRestoreStore,
} from './index.js';

type Public<T> = Pick<T, keyof T>;

/** The stores of one ledger. */
interface Stores {
  readonly redemptions: Public<RedemptionStore>;
  /** Of a program without the keys. */
  readonly keyless: Public<RedemptionStore>;
  readonly deliveries: Public<DeliveryStore>;
  readonly attempts: Public<AttemptStore>;
  readonly coins: Public<CoinStore>;
  readonly vaults: Public<KnownVaults>;
  readonly restores: Public<LedgerRestoreStore>;
}

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open({ poolSize: 4 });
});
afterAll(() => test.drop());

function onPostgres(): Stores {
  return {
    redemptions: new RedemptionStore(database, testEvidence()),
    keyless: new RedemptionStore(database),
    deliveries: new DeliveryStore(database),
    attempts: new AttemptStore(database),
    coins: new CoinStore(database),
    vaults: new KnownVaults(database),
    restores: new LedgerRestoreStore(database),
  };
}

function inMemory(): Stores {
  const ledger = new MemoryLedger(systemClock);
  return {
    redemptions: new MemoryRedemptionStore(ledger, testEvidence()),
    keyless: new MemoryRedemptionStore(ledger),
    deliveries: new MemoryDeliveryStore(ledger),
    attempts: new MemoryAttemptStore(ledger),
    coins: new MemoryCoinStore(ledger),
    vaults: new MemoryKnownVaults(ledger),
    restores: new MemoryRestoreStore(ledger),
  };
}

/** Of the call that is under way, otherwise a new one. */
const requestIdOf = ({ redemption: { openCall } }: Pick<StoredRedemption, 'redemption'>): UuidV7 =>
  openCall?.requestId ?? aUuid();
const UNLIMITED = { room: 10n ** 30n };
const LEASE = { count: 9, leaseMs: 60_000, dueByMs: START_MS + 86_400_000 };
const note = () => ({
  nowMs: systemClock.nowMs(),
  voucherSeconds: 1800,
  lostSinceMs: START_MS - 60_000,
  ...{ actor: 'operator:ann', command: 'ledger restored', arguments: {} },
});

/** Nothing is due, whatever the tests before have left. */
async function settle({ redemptions, deliveries }: Stores): Promise<void> {
  const long = { ...LEASE, count: 9999, leaseMs: 86_400_000, dueByMs: START_MS * 2 };
  await redemptions.lease({ ...long, owner: 'settled' });
  await redemptions.takePayouts({ ...long, untilMs: START_MS * 3 });
  await deliveries.lease({ ...long, owner: 'settled' });
}

describe.each([
  ['PostgreSQL', onPostgres],
  ['memory', inMemory],
])('the ledger on %s', (_, open) => {
  let stores: Stores;
  beforeEach(async () => {
    stores = open();
    await settle(stores);
  });

  async function created(change: Partial<Redemption> = {}): Promise<StoredRedemption> {
    const redemption = aNewRedemption(change);
    await stores.redemptions.create(redemption, aKey(), someLimits());
    return reread(redemption.id);
  }

  async function reread(id: UuidV7): Promise<StoredRedemption> {
    const stored = await stores.redemptions.get(id);
    if (stored === undefined) throw new Error('no such redemption');
    return stored;
  }

  async function after(
    stored: StoredRedemption,
    event: RedemptionEvent,
    change: Partial<TransitionWrite> = {},
  ): Promise<StoredRedemption> {
    const write = decided(stored.redemption, event, { stored, ...change });
    await stores.redemptions.apply(write);
    return reread(stored.redemption.id);
  }

  async function deducting(change: Partial<Redemption> = {}): Promise<StoredRedemption> {
    const due = { type: 'call-due', requestId: aUuid() } as const;
    return after(await created(change), due, { reserve: UNLIMITED });
  }

  async function deducted(change: Partial<Redemption> = {}, id = 'tx-1') {
    const calling = await deducting(change);
    const requestId = requestIdOf(calling);
    const event = { type: 'deduct-confirmed', requestId, partnerTransactionId: id } as const;
    const callEnd = { requestId, outcome: 'answer', record: { status: 200 } };
    return after(calling, event, { callEnd });
  }

  async function authorised(change: Partial<Redemption> = {}, id?: string) {
    const stored = await deducted(change, id);
    return after(stored, { type: 'plan-committed', plan: planOf(stored.redemption) });
  }

  async function reverting(change: Partial<Redemption> = {}, id?: string) {
    const stored = await authorised(change, id);
    const { redemption } = stored;
    const evidence = expiryOf(redemption);
    return after(stored, { type: 'payout-dead', redemptionId: redemption.id, evidence });
  }

  /** A call of its revert is under way. */
  async function revertCalled(stored: StoredRedemption): Promise<StoredRedemption> {
    const neverPaid = expiryOf(stored.redemption);
    return after(stored, { type: 'call-due', requestId: aUuid(), neverPaid });
  }

  async function claimed(): Promise<StoredRedemption> {
    const stored = await authorised();
    const { redemption } = stored;
    const evidence = claimOf(redemption);
    return after(stored, { type: 'payout-paid', redemptionId: redemption.id, evidence });
  }

  const AT: Readonly<Record<string, () => Promise<StoredRedemption>>> = {
    created: () => created(),
    deducting: () => deducting(),
    deducted: () => deducted(),
    authorised: () => authorised(),
    reverting: () => reverting(),
    claimed: () => claimed(),
    failed: async () => after(await created(), { type: 'cancel', by: 'user' }),
  };

  /** Writes whatever the state machine would never decide. */
  async function force(state: string, change: (one: Redemption) => Partial<Redemption>) {
    const stored = await (AT[state] ?? AT['created'] ?? created)();
    const before = stored.redemption;
    const next = { ...before, version: before.version + 1, ...change(before) };
    const decision: Moved = { kind: 'moved', next, command: null };
    const place = before.plan === null && next.plan !== null ? { place: PLACE } : {};
    const write = { before, decision, event: 'forced', actor: 'test', stored, ...place };
    return stores.redemptions.apply(write);
  }

  const over = { nextActionAtMs: null };
  const ended = { claimedAtMs: START_MS };
  const call = (step: 'deduct' | 'revert') => ({
    openCall: { step, requestId: aUuid(), startedAtMs: 1 },
  });
  const planned = (one: Redemption) => ({ plan: planOf(one), authorisedAtMs: START_MS });

  it.each<[string, string, (one: Redemption) => Partial<Redemption>]>([
    ['claimed_by_evidence', 'authorised', () => ({ state: 'claimed', ...ended, ...over })],
    ['claimed_by_evidence', 'authorised', (one) => ({ paidEvidence: claimOf(one) })],
    ['claimed_at_in_its_state', 'authorised', () => ended],
    [
      'claimed_at_in_its_state',
      'authorised',
      (one) => ({ state: 'claimed', paidEvidence: claimOf(one), ...over }),
    ],
    ['reverted_at_in_its_state', 'reverting', () => ({ revertedAtMs: START_MS })],
    ['reverted_at_in_its_state', 'reverting', () => ({ state: 'reverted', ...over })],
    [
      'claimed_xor_reverted',
      'authorised',
      (one) => ({
        ...{ state: 'claimed', paidEvidence: claimOf(one), revertedAtMs: START_MS },
        ...ended,
        ...over,
      }),
    ],
    ['failed_at_in_its_state', 'created', () => ({ state: 'failed', ...over })],
    ['restored_by_evidence', 'authorised', () => ({ state: 'reverting' })],
    [
      'restored_by_evidence',
      'authorised',
      () => ({ state: 'reverted', revertedAtMs: START_MS, ...over }),
    ],
    ['dead_only_where_authorised', 'deducted', (one) => ({ deadEvidence: expiryOf(one) })],
    ['plan_in_its_state', 'deducted', () => ({ state: 'authorised' })],
    ['plan_in_its_state', 'deducted', (one) => planned(one)],
    ['whole_plan', 'deducted', () => ({ authorisedAtMs: START_MS })],
    [
      'plan_of_this_redemption',
      'deducted',
      (one) => ({
        ...{ state: 'authorised', authorisedAtMs: START_MS },
        plan: { ...planOf(one), amount: 1n },
      }),
    ],
    ['deducted_in_its_state', 'deducting', () => ({ state: 'deducted', openCall: null })],
    [
      'deducted_before_paying',
      'deducting',
      (one) => ({
        ...{ state: 'reverting', openCall: null, deadEvidence: expiryOf(one) },
        ...planned(one),
      }),
    ],
    [
      'failed_without_deduction',
      'deducted',
      () => ({ state: 'failed', failedAtMs: START_MS, unprovenAttempts: 0, ...over }),
    ],
    ['exposed_while_unproven', 'deducting', () => ({ exposure: 'none' })],
    ['open_call_in_its_state', 'deducting', () => call('revert')],
    ['open_call_in_its_state', 'created', () => call('deduct')],
    ['has_next_step', 'deducted', () => over],
    ['has_next_step', 'reverting', () => ({ state: 'attention', resume: 'reverting' })],
    ['resume_in_attention', 'reverting', () => ({ state: 'attention', ...over })],
    ['resume_in_attention', 'reverting', () => ({ resume: 'reverting' })],
    ['pending_once_begun', 'created', () => ({ state: 'deducting' })],
    ['redemption_unproven_attempts_check', 'deducting', () => ({ unprovenAttempts: -1 })],
    [
      'redemption_deduct_attempts_check',
      'deducting',
      () => ({ attempts: { deduct: -1, payout: 0, revert: 0 } }),
    ],
    [
      'redemption_partner_transaction_id_check',
      'deducting',
      () => ({ partnerTransactionId: 'x'.repeat(256) }),
    ],
  ])('keeps %s: where it is %s, no %j', async (constraint, state, change) => {
    await expect(force(state, change)).rejects.toMatchObject({
      sqlState: '23514',
      cause: { constraint },
    });
  });

  it.each<[string, string, (one: Redemption) => Partial<Redemption>]>([
    ['a final row', 'claimed', () => ({ reason: 'never-deducted' })],
    ['a final row', 'failed', () => ({ reason: 'never-deducted' })],
    ['the version', 'created', (one) => ({ version: one.version + 2 })],
    ['the version', 'created', (one) => ({ version: one.version, reason: 'never-deducted' })],
    ['a plan', 'authorised', (one) => ({ plan: { ...planOf(one), deadlineSeconds: 1 } })],
    ['a plan', 'authorised', () => ({ authorisedAtMs: 1 })],
    ['a transaction id', 'authorised', () => ({ partnerTransactionId: 'tx-2' })],
    ['a time', 'authorised', () => ({ deductedAtMs: 1 })],
    ['evidence', 'reverting', () => ({ deadEvidence: null })],
    ['a time', 'reverting', () => ({ pendingAtMs: 1 })],
  ])('does not change %s of a redemption that is %s', async (_what, state, change) => {
    await expect(force(state, change)).rejects.toMatchObject({ sqlState: '23000' });
  });

  it('never writes the terms again', async () => {
    const other = { points: 1n, wallet: someWallet(), tokenAmount: 1n, lostVoucherUntilSeconds: 5 };
    const stored = await created();
    const before = stored.redemption;
    const next = { ...before, ...other, version: 2 };
    const decision: Moved = { kind: 'moved', next, command: null };
    await stores.redemptions.apply({ before, decision, event: 'forced', actor: 'test', stored });
    expect((await reread(before.id)).redemption).toEqual({ ...before, version: 2 });
  });

  it('confirms only what became of the redemption, once', async () => {
    const stored = await authorised();
    const { redemption: before } = stored;
    const paid = { type: 'payout-paid', redemptionId: before.id, evidence: claimOf(before) };
    const write = decided(before, paid as RedemptionEvent, { stored });
    const { command } = write.decision;
    if (command?.kind !== 'confirm') throw new Error('no confirmation');
    for (const change of [{ status: 'reverted' }, { svcRedemptionId: aUuid() }] as const) {
      const payload = { ...command.payload, ...change };
      const decision = { ...write.decision, command: { ...command, payload } } as Moved;
      await expect(stores.redemptions.apply({ ...write, decision })).rejects.toMatchObject({
        sqlState: '23000',
      });
    }
    await stores.redemptions.apply(write);
    expect((await stores.deliveries.get(before.id))?.delivery.state).toBe('pending');
    await expect(stores.redemptions.apply(write)).rejects.toMatchObject({
      code: 'REDEMPTION_STALE',
    });
  });

  it('begins as created, in version 1, and is one open redemption of wallet and partner', async () => {
    for (const wrong of [{ version: 2 }, { state: 'reverting', pendingAtMs: 1 } as const]) {
      const odd = aNewRedemption(wrong);
      await expect(stores.redemptions.create(odd, aKey(), someLimits())).rejects.toMatchObject({
        sqlState: '23000',
      });
    }
    const { wallet, partner } = (await created()).redemption;
    const second = aNewRedemption({ wallet, partner });
    const allowed = someLimits({ maxOpen: 9 });
    await expect(stores.redemptions.create(second, aKey(), allowed)).rejects.toMatchObject({
      sqlState: '23505',
      cause: { constraint: 'redemption_open' },
    });
    await expect(stores.redemptions.create(second, aKey(), someLimits())).rejects.toMatchObject({
      code: 'REDEMPTION_LIMIT',
      breach: { code: 'REDEMPTION_OPEN' },
    });
  });

  it('gives the same redemption to the same key, and refuses the key with another body', async () => {
    const { redemptions } = stores;
    const [one, key] = [aNewRedemption(), aKey()];
    await redemptions.create(one, key, someLimits());
    const again = aNewRedemption({ wallet: one.wallet });
    const same = { redemption: one, isNew: false };
    expect(await redemptions.create(again, key, someLimits())).toEqual(same);
    expect(await redemptions.replayed(one.wallet, key)).toEqual(one);
    const changed = { ...key, bodyHash: Buffer.alloc(32, 2) };
    const conflict = { code: 'IDEMPOTENCY_CONFLICT' };
    await expect(redemptions.create(again, changed, someLimits())).rejects.toMatchObject(conflict);
    await expect(redemptions.replayed(one.wallet, changed)).rejects.toMatchObject(conflict);
    expect(await redemptions.replayed(someWallet(), key)).toBeUndefined();
  });

  it('counts open redemptions, tokens of the day and unclaimed vouchers of a wallet', async () => {
    const shared = { wallet: someWallet(), partner: aPartnerId(), tokenAmount: 10n };
    const { redemptions } = stores;
    const record = () => redemptions.walletRecord(shared.wallet, shared.partner, START_MS);
    expect(await record()).toEqual({
      unclaimed: { count: 0, lastEndedAtMs: undefined },
      usage: { open: 0, openId: undefined, partnerTokensToday: 0n, walletTokensToday: 0n },
    });
    const stored = await reverting(shared, 'tx-w');
    const { id, stateSinceMs } = stored.redemption;
    expect(await record()).toEqual({
      unclaimed: { count: 1, lastEndedAtMs: stateSinceMs },
      usage: { open: 1, openId: id, partnerTokensToday: 10n, walletTokensToday: 10n },
    });
    const calling = await revertCalled(stored);
    const requestId = requestIdOf(calling);
    const { redemption } = await after(calling, { type: 'revert-already', requestId });
    expect(await record()).toEqual({
      unclaimed: { count: 1, lastEndedAtMs: redemption.revertedAtMs },
      usage: { open: 0, openId: undefined, partnerTokensToday: 0n, walletTokensToday: 10n },
    });
    expect((await redemptions.list(shared.wallet, 5)).map((one) => one.redemption.id)).toEqual([
      id,
    ]);
    expect(await redemptions.list(shared.wallet, 5, id)).toEqual([]);
    expect((await redemptions.find(shared.wallet, id))?.redemption.state).toBe('reverted');
    expect(await redemptions.find(someWallet(), id)).toBeUndefined();
  });

  it('leases what is due, the longest first, to one owner until the lease ends', async () => {
    const { redemptions } = stores;
    const late = await created({ nextActionAtMs: START_MS + 2000 });
    const early = await created({ nextActionAtMs: START_MS + 1000 });
    await authorised();
    await created({ nextActionAtMs: START_MS * 2 });
    const ids = async (owner: string, change: object) =>
      (await redemptions.lease({ ...LEASE, owner, ...change })).map(
        ({ redemption }) => redemption.id,
      );
    expect(await ids('a', { count: 1 })).toEqual([early.redemption.id]);
    expect(await ids('b', { dueByMs: START_MS })).toEqual([]);
    expect(await ids('b', { leaseMs: 0 })).toEqual([late.redemption.id]);
    expect(await ids('c', {})).toEqual([late.redemption.id]);
    const { id } = early.redemption;
    await expect(redemptions.renew(id, 'b', 1)).rejects.toMatchObject({
      code: 'REDEMPTION_LEASE_LOST',
    });
    await redemptions.renew(id, 'a', 0);
    expect(await ids('e', {})).toEqual([id]);
    expect(await redemptions.release(id, 'a')).toBe(false);
    expect(await redemptions.release(id, 'e')).toBe(true);
    expect(await ids('f', {})).toEqual([id]);
  });

  it('takes payouts that are due without a lease, and leases one as it was taken', async () => {
    const { redemptions } = stores;
    const paying = await authorised();
    await created();
    const { id } = paying.redemption;
    const take = (dueByMs: number, untilMs: number) =>
      redemptions.takePayouts({ count: 9, dueByMs, untilMs });
    const [due, later, again] = [LEASE.dueByMs, LEASE.dueByMs + 1, LEASE.dueByMs + 2];
    const { nextActionAtMs } = paying.redemption;
    expect(await take((nextActionAtMs ?? 0) - 1, later)).toEqual([]);
    const taken = { ...paying.redemption, nextActionAtMs: later };
    expect(await take(due, later)).toEqual([{ ...paying, redemption: taken }]);
    expect(await take(due, later)).toEqual([]);
    expect(await redemptions.release(id, 'a')).toBe(false);
    expect(await redemptions.leasePayout({ ...taken, version: 99 }, 'a', 60_000)).toBe(false);
    expect(await redemptions.leasePayout(taken, 'a', 60_000)).toBe(true);
    expect(await redemptions.leasePayout(taken, 'b', 60_000)).toBe(false);
    expect(await take(later, again)).toEqual([]);
    await redemptions.renew(id, 'a', 0);
    expect(await take(later, again)).toHaveLength(1);
    expect(await redemptions.release(id, 'a')).toBe(false);
    const notPayout = await created();
    expect(await redemptions.leasePayout(notPayout.redemption, 'a', 60_000)).toBe(false);
  });

  it('writes under the version and the lease that were read, and gives the lease back', async () => {
    const { redemptions } = stores;
    const stored = await created();
    const { id } = stored.redemption;
    await redemptions.lease({ ...LEASE, owner: 'a' });
    const due = decided(stored.redemption, { type: 'call-due', requestId: aUuid() }, { stored });
    await expect(redemptions.apply({ ...due, owner: 'b' })).rejects.toMatchObject({
      code: 'REDEMPTION_LEASE_LOST',
    });
    expect((await reread(id)).redemption).toEqual(stored.redemption);
    await redemptions.apply({ ...due, owner: 'a' });
    await expect(redemptions.apply({ ...due, owner: 'a' })).rejects.toMatchObject({
      code: 'REDEMPTION_STALE',
    });
    await expect(redemptions.apply({ ...due, owner: 'b' })).rejects.toMatchObject({
      code: 'REDEMPTION_LEASE_LOST',
    });
    const calling = await reread(id);
    const requestId = requestIdOf(calling);
    const lost = { type: 'deduct-unknown', requestId, reason: 'timeout' } as const;
    await after(calling, lost, { owner: 'a', release: true, requestId });
    expect(await redemptions.release(id, 'a')).toBe(false);
    const missing = aNewRedemption();
    const none = decided(missing, { type: 'cancel', by: 'user' });
    await expect(redemptions.apply(none)).rejects.toMatchObject({ code: 'REDEMPTION_MISSING' });
  });

  it('postpones what has not changed since it was read, and releases all of it', async () => {
    const { redemptions } = stores;
    const [one, changed, other] = [await created(), await created(), await created()];
    await redemptions.lease({ ...LEASE, count: 2, owner: 'a' });
    await after(changed, { type: 'call-due', requestId: aUuid() });
    const untilMs = START_MS + 5_000_000;
    for (const { redemption } of [one, changed, other]) {
      await redemptions.postpone(redemption, 'a', untilMs);
    }
    const dueAt = async ({ redemption }: StoredRedemption) =>
      (await reread(redemption.id)).redemption.nextActionAtMs;
    expect(await dueAt(one)).toBe(untilMs);
    expect(await dueAt(changed)).not.toBe(untilMs);
    expect(await dueAt(other)).toBe(other.redemption.nextActionAtMs);
    expect(await redemptions.release(one.redemption.id, 'a')).toBe(false);
  });

  it("makes a partner's reverts due of which nothing was sent", async () => {
    const { redemptions } = stores;
    const partner = aPartnerId();
    const unsent = async (type: 'revert-not-sent' | 'revert-unknown', id: string) => {
      const stored = await reverting({ partner }, id);
      const calling = await revertCalled(stored);
      const requestId = requestIdOf(calling);
      const event = { type, requestId, reason: 'timeout' } as RedemptionEvent;
      return after(calling, event);
    };
    const waiting = await unsent('revert-not-sent', 'tx-u1');
    const called = await unsent('revert-unknown', 'tx-u2');
    expect(await redemptions.makeDueNow(aPartnerId(), START_MS)).toBe(0);
    expect(await redemptions.makeDueNow(partner, START_MS)).toBe(1);
    const dueAt = async ({ redemption }: StoredRedemption) =>
      (await reread(redemption.id)).redemption.nextActionAtMs;
    expect(await dueAt(waiting)).toBe(START_MS);
    expect(await dueAt(called)).toBe(called.redemption.nextActionAtMs);
  });

  it('reserves within what the vault can pay and the budgets of the day, to the token', async () => {
    const { redemptions } = stores;
    const [partner, wallet] = [aPartnerId(), someWallet()];
    const begin = async (change: Partial<Redemption>, reserve: object) => {
      const stored = await created({ tokenAmount: 10n, ...change });
      const due = { type: 'call-due', requestId: aUuid() } as const;
      return after(stored, due, { reserve: { ...UNLIMITED, ...reserve } });
    };
    const refused = (reason: string) => ({ code: 'RESERVATION_REFUSED', reason });
    const promised = await redemptions.promisedTokens();
    await expect(begin({}, { room: promised + 9n })).rejects.toMatchObject(
      refused('payout-unavailable'),
    );
    await begin({}, { room: promised + 10n });
    expect(await redemptions.promisedTokens()).toBe(promised + 10n);
    const spent = refused('budget-spent');
    await begin({ partner }, { partnerDailyTokens: 10n });
    await expect(begin({ partner }, { partnerDailyTokens: 19n })).rejects.toMatchObject(spent);
    await begin({ partner, initialAtMs: START_MS - 86_400_000 }, { partnerDailyTokens: 10n });
    const dayEndMs = Math.ceil(START_MS / 86_400_000) * 86_400_000;
    await begin({ partner, initialAtMs: dayEndMs }, { partnerDailyTokens: 10n });
    await begin({ wallet }, { walletDailyTokens: 10n });
    await expect(begin({ wallet }, { walletDailyTokens: 19n })).rejects.toMatchObject(spent);
  });

  it('counts an unclaimed voucher in the day of its wallet, and gives the rest back', async () => {
    const [partner, wallet] = [aPartnerId(), someWallet()];
    const promised = await stores.redemptions.promisedTokens();
    const stored = await reverting({ partner, wallet, tokenAmount: 10n }, 'tx-v');
    expect(await stores.redemptions.promisedTokens()).toBe(promised);
    const calling = await revertCalled(stored);
    const requestId = requestIdOf(calling);
    await after(calling, { type: 'revert-already', requestId });
    const again = await created({ partner, wallet, tokenAmount: 10n });
    const due = { type: 'call-due', requestId: aUuid() } as const;
    const reserve = { ...UNLIMITED, partnerDailyTokens: 10n };
    await expect(
      after(again, due, { reserve: { ...reserve, walletDailyTokens: 19n } }),
    ).rejects.toMatchObject({ code: 'RESERVATION_REFUSED', reason: 'budget-spent' });
    await after(again, due, { reserve: { ...reserve, walletDailyTokens: 20n } });
  });

  it("refuses another redemption's transaction id and revert id", async () => {
    const partner = aPartnerId();
    const [one, other] = [
      await reverting({ partner }, 'tx-a'),
      await reverting({ partner }, 'tx-b'),
    ];
    await expect(deducted({ partner }, 'tx-a')).rejects.toMatchObject({
      code: 'PARTNER_ID_REUSED',
      which: 'transaction',
    });
    const revert = async (stored: StoredRedemption) => {
      const calling = await revertCalled(stored);
      const requestId = requestIdOf(calling);
      const partnerTransactionId = calling.redemption.partnerTransactionId ?? '';
      const ids = { partnerTransactionId, partnerRevertId: 'rev-1' };
      return after(calling, { type: 'revert-confirmed', requestId, ...ids });
    };
    await revert(one);
    await expect(revert(other)).rejects.toMatchObject({
      code: 'PARTNER_ID_REUSED',
      which: 'revert',
    });
  });

  it('gives a row a MAC only where the row before had one', async () => {
    const stored = await authorised();
    expect([stored.isSealed, stored.namesAreOurs]).toEqual([true, true]);
    const { redemptions, keyless } = stores;
    const foreign = aNewRedemption();
    await keyless.create(foreign, aKey(), someLimits());
    const [unsealed] = [await reread(foreign.id)];
    expect([unsealed.isSealed, unsealed.namesAreOurs]).toEqual([undefined, true]);
    const calling = await after(unsealed, { type: 'call-due', requestId: aUuid() });
    expect(calling.isSealed).toBeUndefined();
    const requestId = requestIdOf(calling);
    const id = { requestId, partnerTransactionId: 'tx-m' };
    const confirmed = decided(calling.redemption, { type: 'deduct-confirmed', ...id });
    await keyless.apply(confirmed);
    const forged = await reread(foreign.id);
    expect([forged.isSealed, forged.namesAreOurs]).toEqual([undefined, undefined]);
    const cancelled = decided(forged.redemption, { type: 'cancel', by: 'user' });
    await redemptions.apply({ ...cancelled, stored: forged, vouchesForNames: true });
    expect((await reread(foreign.id)).namesAreOurs).toBe(true);
    expect((await keyless.get(foreign.id))?.namesAreOurs).toBeUndefined();
  });

  it('has a plan only with its place, which stays', async () => {
    const stored = await deducted();
    const plan = planOf(stored.redemption);
    const { place, ...bare } = decided(stored.redemption, { type: 'plan-committed', plan });
    expect(place).toBeDefined();
    await expect(stores.redemptions.apply(bare)).rejects.toMatchObject({
      code: 'PLAN_WITHOUT_PLACE',
    });
    const planned = await after(stored, { type: 'plan-committed', plan });
    const moved = { ...PLACE, fromBlock: 99n };
    const later = await after(planned, { type: 'payout-live', recheckMs: 1 }, { place: moved });
    expect(later.place).toEqual(PLACE);
  });

  it('keeps a row of each call, whose end is written once', async () => {
    const { redemptions } = stores;
    const calling = await deducting();
    const requestId = requestIdOf(calling);
    const end = { requestId, outcome: 'answer', record: {} };
    expect([await redemptions.endCall(end), await redemptions.endCall(end)]).toEqual([true, false]);
    await redemptions.beginBalanceCall(aPartnerId(), aUuid());
    expect(await redemptions.endCall({ ...end, requestId: aUuid() })).toBe(false);
    const long = { ...end, requestId: aUuid(), record: { excerpt: 'x'.repeat(40_000) } };
    await redemptions.beginBalanceCall(aPartnerId(), long.requestId);
    await expect(redemptions.endCall(long)).rejects.toMatchObject({ sqlState: '23514' });
    const again = decided(calling.redemption, {
      type: 'deduct-unknown',
      requestId,
      reason: 'crash',
    });
    await redemptions.apply(again);
    const twice = await reread(calling.redemption.id);
    const due = decided(twice.redemption, { type: 'call-due', requestId });
    await expect(redemptions.apply(due)).rejects.toMatchObject({ sqlState: '23505' });
  });

  it('delivers a confirmation under version and lease, until it is undelivered', async () => {
    const { deliveries } = stores;
    const { redemption } = await claimed();
    const { id: redemptionId, partner } = redemption;
    const [leased] = await deliveries.lease({ ...LEASE, owner: 'a' });
    expect(leased?.redemptionId).toBe(redemptionId);
    expect(await deliveries.lease({ ...LEASE, owner: 'b' })).toEqual([]);
    if (leased === undefined) return;
    let before = leased.delivery;
    for (let attempt = 1; before.state === 'pending'; attempt++) {
      const requestId = aUuid();
      const calling = deliveryStep(before, { type: 'call-due', requestId });
      const begin = { redemptionId, before, next: calling };
      const lost = { code: 'REDEMPTION_LEASE_LOST' };
      await expect(deliveries.apply({ ...begin, owner: 'b' })).rejects.toMatchObject(lost);
      await deliveries.apply({ ...begin, owner: 'a' });
      const stale = { code: 'REDEMPTION_STALE' };
      await expect(deliveries.apply({ ...begin, owner: 'a' })).rejects.toMatchObject(stale);
      const next = deliveryStep(calling, { type: 'failed', requestId, reason: 'timeout' });
      const callEnd = { requestId, outcome: 'no-answer', record: { attempt } };
      await deliveries.apply({ redemptionId, before: calling, next, owner: 'a', callEnd });
      expect((await deliveries.get(redemptionId))?.delivery).toEqual(next);
      before = next;
    }
    expect(before).toMatchObject({ state: 'undelivered', attempts: 10 });
    const undelivered = await deliveries.listUndelivered(99);
    expect(undelivered.map((one) => one.redemptionId)).toContain(redemptionId);
    const next = deliveryStep(before, { type: 'replay' });
    const audit = { actor: 'operator:anna', command: 'replay-confirm' };
    await deliveries.apply({ redemptionId, before, next, audit });
    const [again] = await deliveries.lease({ ...LEASE, owner: 'c' });
    expect(again).toEqual({ ...leased, delivery: next });
    if (again === undefined) return;
    await deliveries.postpone(again, 'b', START_MS + 9000);
    expect((await deliveries.get(redemptionId))?.delivery).toEqual(next);
    await deliveries.postpone(again, 'c', START_MS + 9000);
    const postponed = { ...next, version: next.version + 1, nextActionAtMs: START_MS + 9000 };
    expect((await deliveries.get(redemptionId))?.delivery).toEqual(postponed);
    expect(await deliveries.makeDueNow(partner, START_MS)).toBe(0);
    await expect(deliveries.apply({ redemptionId: aUuid(), before, next })).rejects.toMatchObject({
      code: 'REDEMPTION_MISSING',
    });
  });

  it('makes confirmations due of which nothing was sent', async () => {
    const { deliveries } = stores;
    const { redemption } = await claimed();
    const { id: redemptionId, partner } = redemption;
    const before = (await deliveries.get(redemptionId))?.delivery;
    if (before === undefined) throw new Error('no confirmation');
    const requestId = aUuid();
    const calling = deliveryStep(before, { type: 'call-due', requestId });
    await deliveries.apply({ redemptionId, before, next: calling });
    const unsent = deliveryStep(calling, { type: 'not-sent', requestId });
    const callEnd = { requestId, outcome: 'nothing-sent', record: {} };
    await deliveries.apply({ redemptionId, before: calling, next: unsent, callEnd });
    expect(await deliveries.makeDueNow(partner, START_MS)).toBe(1);
    expect((await deliveries.get(redemptionId))?.delivery).toEqual({
      ...unsent,
      version: unsent.version + 1,
      nextActionAtMs: START_MS,
    });
  });

  it('makes a wallet wait twice as long after each vain attempt, and forgets it', async () => {
    const { attempts } = stores;
    const wallet = someWallet();
    expect(await attempts.waitsUntilMs(wallet, START_MS)).toBeUndefined();
    let nowMs = START_MS;
    for (const seconds of [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]) {
      const untilMs = nowMs + seconds * 1000;
      expect(await attempts.note(wallet, nowMs)).toBe(untilMs);
      expect(await attempts.note(wallet, nowMs + 1)).toBe(untilMs);
      expect(await attempts.waitsUntilMs(wallet, untilMs - 1)).toBe(untilMs);
      expect(await attempts.waitsUntilMs(wallet, untilMs)).toBeUndefined();
      nowMs = untilMs;
    }
    const laterMs = nowMs + 86_400_001;
    expect(await attempts.note(wallet, laterMs)).toBe(laterMs + 5000);
  });

  it('counts coin up to the limit of a day', async () => {
    const { coins } = stores;
    const of = { chainId: 7, account: someWallet(), nowMs: START_MS };
    const reserve = (wei: bigint, nowMs = START_MS) =>
      coins.reserve({ ...of, wei, dailyWei: 10n, nowMs });
    expect([await reserve(11n), await reserve(6n), await reserve(5n), await reserve(4n)]).toEqual([
      false,
      true,
      false,
      true,
    ]);
    expect(await coins.spent(of.chainId, of.account, START_MS)).toBe(10n);
    expect(await coins.spent(of.chainId, of.account, START_MS + 86_400_000)).toBe(0n);
    expect(await reserve(10n, START_MS + 86_400_000)).toBe(true);
  });

  it('names the vaults that were added, and those of plans', async () => {
    const { vaults } = stores;
    const chainId = 900 + Math.floor(Math.random() * 1_000_000);
    const vault = someWallet();
    await vaults.add(chainId, { vault, startBlock: 5n });
    await vaults.add(chainId, { vault, startBlock: 1n });
    expect(await vaults.of(chainId)).toEqual([{ vault, startBlock: 5n }]);
    await authorised();
    expect(await vaults.of(PLACE.chainId)).toContainEqual({
      vault: PLACE.vault,
      startBlock: PLACE.fromBlock,
    });
  });

  it('begins, plans and ends nothing while a restore is not noted, and says so', async () => {
    const { redemptions, restores } = stores;
    const [fresh, taken, paying] = [await created(), await deducted(), await authorised()];
    const back = await after(await deducted(), { type: 'cancel', by: 'user' });
    const calling = await deducting();
    const late = await created();
    const seen = { redemptionId: aUuid(), version: 2, event: 'x', requestId: null };
    const standing = await restores.standing({ ...seen, atMs: START_MS });
    expect(standing).toEqual({ unnoted: undefined, lacksSeen: true });
    await restores.mark('it lacks something', START_MS);
    await restores.mark('it lacks something', START_MS + 1);
    expect((await restores.standing()).unnoted).toMatchObject({
      noticed: 'it lacks something',
      missingAtMs: START_MS,
    });
    const notNoted = { code: 'RESTORE_NOT_NOTED' };
    const due = { type: 'call-due', requestId: aUuid() } as const;
    const neverPaid = expiryOf(back.redemption);
    for (const step of [
      () => created(),
      () => after(fresh, due),
      () => after(fresh, { type: 'cancel', by: 'user' }),
      () => after(taken, { type: 'plan-committed', plan: planOf(taken.redemption) }),
      () => after(back, { ...due, neverPaid }),
    ]) {
      await expect(step()).rejects.toMatchObject(notNoted);
    }
    expect(await redemptions.lease({ ...LEASE, owner: 'a' })).toEqual([]);
    const payouts = await redemptions.takePayouts({ ...LEASE, untilMs: LEASE.dueByMs + 1 });
    expect(payouts.map(({ redemption }) => redemption.id)).toEqual([paying.redemption.id]);
    const requestId = requestIdOf(calling);
    const known = { type: 'deduct-confirmed', requestId, partnerTransactionId: 'tx-r' } as const;
    expect((await after(calling, known)).redemption.state).toBe('deducted');

    await restores.record({ ...note(), lostSinceMs: START_MS + 1 });
    expect((await restores.standing()).unnoted).toBeDefined();
    const { vouchersUntilSeconds, atMs } = await restores.record(note());
    expect(vouchersUntilSeconds).toBe(Math.ceil(atMs / 1000) + 1800);
    expect(await restores.standing({ ...seen, atMs: START_MS })).toEqual({
      unnoted: undefined,
      lacksSeen: false,
    });
    const marked = await reread(fresh.redemption.id);
    expect(marked.redemption.lostVoucherUntilSeconds).toBe(vouchersUntilSeconds);
    const stale = decided(late.redemption, due);
    await expect(redemptions.apply(stale)).rejects.toMatchObject({ code: 'REDEMPTION_STALE' });
    await expect(
      restores.record({ ...note(), nowMs: systemClock.nowMs() + 700_000 }),
    ).rejects.toMatchObject({ code: 'RESTORE_TOO_FAR_AHEAD' });
    await expect(restores.record({ ...note(), voucherSeconds: 90_000 })).rejects.toMatchObject({
      sqlState: '23000',
    });
    expect(await restores.longestVoucherSeconds()).toBeGreaterThan(0);
    expect((await restores.list()).length).toBeGreaterThan(1);
  });
});

function deliveryStep(before: Delivery, event: DeliveryEvent): Delivery {
  const decision = deliveryTransition(before, event, { nowMs: START_MS, jitter: 0 });
  if (decision.kind === 'refused') throw new Error(decision.code);
  return decision.next;
}

/** All events; the domain refuses those that do not fit. */
function eventsFor(redemption: Redemption, requestIds: readonly UuidV7[]): RedemptionEvent[] {
  const requestId = requestIdOf({ redemption });
  const redemptionId = redemption.id;
  const plan = { ...planOf(redemption), deadlineSeconds: START_MS / 1000 + 90 * 86_400 };
  const [nextId = aUuid()] = requestIds;
  const evidence = { ...expiryOf(redemption), finalised: aBlock(START_MS / 1000 + 91 * 86_400) };
  return [
    { type: 'balance-unknown', reason: 'timeout' },
    { type: 'call-due', requestId: nextId },
    { type: 'call-due', requestId: nextId, neverPaid: evidence },
    { type: 'deduct-confirmed', requestId, partnerTransactionId: `tx-${redemptionId}` },
    { type: 'deduct-confirmed', requestId, partnerTransactionId: 'tx-shared' },
    { type: 'deduct-refused', requestId, code: 'ERR-USER-NOT-FOUND' },
    { type: 'deduct-duplicate', requestId },
    { type: 'deduct-unknown', requestId, reason: 'timeout', candidateTransactionId: 'maybe' },
    { type: 'deduct-not-sent', requestId },
    { type: 'plan-committed', plan },
    { type: 'plan-failed' },
    { type: 'payout-live', recheckMs: 5000 },
    { type: 'payout-paid', redemptionId, evidence: claimOf(redemption) },
    { type: 'payout-dead', redemptionId, evidence },
    {
      ...{ type: 'revert-confirmed', requestId, partnerRevertId: 'rev-shared' },
      partnerTransactionId: redemption.partnerTransactionId ?? 'tx-late',
    },
    { type: 'revert-already', requestId },
    { type: 'revert-not-found', requestId },
    { type: 'revert-not-sent', requestId },
    { type: 'cancel', by: 'user' },
    { type: 'operator-retry' },
    { type: 'operator-restored' },
    { type: 'operator-not-deducted' },
  ];
}

const step = fc.record({
  who: fc.nat(2),
  what: fc.constantFrom(
    ...(['event', 'event', 'event', 'event', 'stale'] as const),
    ...(['lease', 'take', 'leasePayout', 'postpone', 'create'] as const),
  ),
  pick: fc.nat(1000),
  owner: fc.constantFrom(undefined, undefined, 'a', 'b'),
  budget: fc.constantFrom(5n, 25n, 1000n),
});

describe('the same steps on both', () => {
  // A note of a restore concerns every redemption of its database.
  let fresh: TestDatabase;
  beforeAll(async () => {
    fresh = await createTestDatabase();
    database = await fresh.open({ poolSize: 4 });
  });
  afterAll(() => fresh.drop());

  it('lead to the same rows, leases, sums and refusals', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const both = [onPostgres(), inMemory()];
        if (both[0]) await settle(both[0]);
        const base = (await both[0]?.redemptions.promisedTokens()) ?? 0n;
        const shared = { partner: aPartnerId(), wallet: someWallet(), tokenAmount: 10n };
        const made: Redemption[] = [];
        const seen: StoredRedemption[] = [];
        /** Does the same on both. @returns what both say */
        const agree = async <T>(work: (stores: Stores, offset: bigint) => Promise<T>) => {
          const said = await Promise.all(
            both.map((stores, index) =>
              work(stores, index === 0 ? base : 0n).then(
                (value) => ({ value }),
                (error: unknown) => ({ refusal: refusalOf(error) }),
              ),
            ),
          );
          expect(said[1]).toEqual(said[0]);
          return said[0];
        };
        for (const { who, what, pick, owner, budget } of steps) {
          const one = made[who % Math.max(1, made.length)];
          if (what === 'create' || one === undefined) {
            const redemption = aNewRedemption({
              ...shared,
              ...(pick % 2 === 0 && { wallet: someWallet() }),
              nextActionAtMs: START_MS + made.length,
            });
            const [key, limits] = [aKey(), someLimits({ partnerDailyTokens: budget })];
            const said = await agree((stores) =>
              stores.redemptions.create(redemption, key, limits),
            );
            if (said && 'value' in said) made.push(redemption);
            continue;
          }
          const count = 1 + (pick % 3);
          const untilMs = START_MS + pick;
          if (what === 'lease') {
            await agree(({ redemptions }) =>
              redemptions.lease({ ...LEASE, count, owner: owner ?? 'c' }),
            );
            continue;
          }
          if (what === 'take') {
            const take = { count, dueByMs: LEASE.dueByMs, untilMs };
            await agree(({ redemptions }) => redemptions.takePayouts(take));
            continue;
          }
          if (what === 'postpone') {
            await agree(({ redemptions }) => redemptions.postpone(one, owner ?? 'c', untilMs));
            continue;
          }
          const now = await both[0]?.redemptions.get(one.id);
          if (now !== undefined) seen.push(now);
          const stored = what === 'stale' ? seen[pick % Math.max(1, seen.length)] : now;
          if (stored === undefined) continue;
          const before = stored.redemption;
          if (what === 'leasePayout') {
            await agree((stores) => stores.redemptions.leasePayout(before, owner ?? 'c', 60_000));
            continue;
          }
          const nowMs = START_MS + before.version * 61_000;
          const policy = { capabilities: PARTNER_CAPABILITIES, confirms: true };
          const possible = eventsFor(before, [aUuid()]).flatMap((event) => {
            const decision = transition(before, event, { nowMs, jitter: 0, policy });
            return decision.kind === 'moved' ? [{ event, decision }] : [];
          });
          const chosen = possible[pick % Math.max(1, possible.length)];
          if (chosen === undefined) continue;
          const { event, decision } = chosen;
          const begins = before.state === 'created' && decision.next.state === 'deducting';
          await agree((stores, offset) =>
            stores.redemptions.apply({
              ...{ before, decision, event: event.type, actor: 'worker', place: PLACE, stored },
              ...(owner !== undefined && { owner }),
              ...(begins && {
                reserve: { room: offset + 35n, partnerDailyTokens: budget, walletDailyTokens: 25n },
              }),
            }),
          );
        }
        for (const { id, wallet, partner } of made) {
          await agree((stores) => stores.redemptions.get(id));
          await agree((stores) => stores.deliveries.get(id));
          await agree((stores) => stores.redemptions.walletRecord(wallet, partner, START_MS));
        }
        await agree(async (stores, offset) => (await stores.redemptions.promisedTokens()) - offset);
      }),
      { numRuns: 60 },
    );
  });
});

function refusalOf(error: unknown): unknown {
  const { code, sqlState, which, reason, breach } = error as Record<string, unknown>;
  return { code, sqlState, which, reason, breach };
}
