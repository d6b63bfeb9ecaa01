/**
 * What the store writes of a redemption, is read again, and is forgotten; leases of several workers. What each step writes
 * is in test/simulation/engine/ledger/ledger-contract.int-spec.ts.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type BlockHash,
  canonicalJson,
  confirmationPayload,
  type Redemption,
  type RedemptionState,
  type UuidV7,
} from '#libs/domain';
import { systemClock } from '#libs/platform';
import {
  AttemptStore,
  type Database,
  type RedemptionStore,
  RedemptionViews,
  StaleRedemptionError,
} from '../index.js';
import { LedgerBench } from './ledger-bench.support.js';
import {
  aKey,
  aNewRedemption,
  aUuid,
  decided,
  PLACE,
  someLimits,
  someWallet,
  START_MS,
} from './testing/builders.js';

const DAY_MS = 86_400_000;

let bench: LedgerBench;
let database: Database;
let store: RedemptionStore;
beforeAll(async () => {
  bench = await LedgerBench.start({ poolSize: 8 });
  ({ database, redemptions: store } = bench);
});
beforeEach(() => bench.empty());
afterAll(() => bench.stop());

const HASH = `0x${'fe'.repeat(32)}` as BlockHash;
const BLOCK = { number: 2n ** 63n, hash: HASH, timestampSeconds: 1000 };
const MOST = 2n ** 256n - 1n;
/** The longest that a partner's id may be. */
const LONG_ID = '👩‍🚀'.repeat(51);

/** The largest values of each field, and `null` wherever a state has it. */
const TERMS = {
  points: BigInt(Number.MAX_SAFE_INTEGER),
  usdAmount: { digits: 10n ** 60n, scale: 40 },
  tokenAmount: MOST,
  tokenDecimals: 255,
  priceUsd: { digits: 1n, scale: 40 },
  quoteExpiresAtMs: 4_000_000_000_000,
} as const;
const LOOSE = {
  reason: 'amount-disputed',
  revertReason: 'claim-timeout',
  exposure: 'possible',
  unprovenAttempts: 7,
  partnerRevertId: LONG_ID,
  candidateTransactionIds: [LONG_ID, '"\\{}', 'NULL'],
  redemptionIdRefuted: true,
  attempts: { deduct: 1, payout: 2, revert: 3 },
  firstDeductAtMs: 11,
  lastDeductAtMs: 12,
  firstRevertAtMs: 13,
  firstNotFoundAtMs: 14,
  stateSinceMs: 15,
  pendingAtMs: 16,
} as const;
const OPEN = { reason: null, revertReason: null, nextActionAtMs: 17 } as const;
const PLANNED = { partnerTransactionId: LONG_ID, deductedAtMs: 18, authorisedAtMs: 19 } as const;
const DEAD = { outcome: 'dead', finalised: BLOCK } as const;
const MINED = { transactionHash: HASH, block: BLOCK } as const;
const CALL = { step: 'revert', startedAtMs: 20 } as const;

type Later = (first: Redemption) => Partial<Redemption>;
const planned: Later = ({ wallet, tokenAmount }) => ({
  ...PLANNED,
  plan: { recipient: wallet, amount: tokenAmount, deadlineSeconds: 2 ** 31 },
});

it.each<[string, Later]>([
  [
    'deducting',
    () => ({
      ...OPEN,
      openCall: { ...CALL, step: 'deduct', requestId: aUuid() },
      firstRevertAtMs: null,
    }),
  ],
  ['authorised', (first) => ({ ...OPEN, ...planned(first) })],
  [
    'claimed',
    (first) => ({
      ...planned(first),
      claimedAtMs: 21,
      paidEvidence: {
        ...{ outcome: 'paid', finalised: BLOCK, recipient: first.wallet, amount: MOST },
        ...MINED,
      },
    }),
  ],
  [
    'reverting',
    (first) => ({
      ...{ ...OPEN, ...planned(first), deadEvidence: { ...DEAD, reason: 'expired' } },
      openCall: {
        ...{ ...CALL, requestId: aUuid() },
        target: { by: 'candidate', transactionId: LONG_ID },
      },
    }),
  ],
  [
    'attention',
    (first) => ({
      ...{ ...planned(first), resume: 'reverting' },
      deadEvidence: { ...DEAD, ...MINED, reason: 'cancelled' },
    }),
  ],
  ['failed', () => ({ unprovenAttempts: 0, exposure: 'none', failedAtMs: 22 })],
])('a redemption that is %s is read as it was written, field by field', async (state, later) => {
  const first = aNewRedemption(TERMS);
  await store.create(first, aKey(), someLimits());
  expect(await store.get(first.id)).toEqual({ redemption: first, place: null });
  const rest = { ...LOOSE, state: state as RedemptionState, version: 2, nextActionAtMs: null };
  const next: Redemption = { ...first, ...rest, ...later(first) };
  const decision = { kind: 'moved', next, command: null } as const;
  const write = { before: first, decision, event: 'any', actor: 'worker', place: PLACE } as const;
  await store.apply(write);
  const place = next.plan === null ? null : PLACE;
  expect(await store.get(first.id)).toEqual({ redemption: next, place });
});

describe('a redemption', () => {
  it.each(['claimed', 'reverted'] as const)(
    'that ends %s leaves its whole story and one confirmation',
    async (state) => {
      const redemption = await bench[state]();
      const history = await new RedemptionViews(database).show(redemption.id);
      expect(history?.redemption).toEqual(redemption);
      expect(history?.lease).toBeNull();
      const events = history?.transitions.map(({ event }) => event).slice(0, 4);
      expect(events).toEqual(['create', 'call-due', 'deduct-confirmed', 'plan-committed']);
      expect(history?.transitions.at(-1)).toMatchObject({ to: state, version: redemption.version });
      expect(history?.calls.every(({ end }) => end?.outcome === 'answer')).toBe(true);
      expect(history?.calls).toHaveLength(state === 'claimed' ? 1 : 2);
      expect(history?.confirmation).toMatchObject({
        state: 'pending',
        payload: canonicalJson(confirmationPayload(redemption)),
      });
    },
  );
});

describe('a lease', () => {
  it('is never handed out twice by workers that take turns at once', async () => {
    const made = await Promise.all(Array.from({ length: 40 }, () => bench.created()));
    const taken = await Promise.all(
      Array.from({ length: 4 }, async (_, worker) => {
        const mine: string[] = [];
        for (;;) {
          const rows = await store.lease({ count: 3, owner: `worker-${worker}`, leaseMs: 60_000 });
          if (rows.length === 0) return mine;
          mine.push(...rows.map(({ redemption }) => redemption.id));
        }
      }),
    );
    expect(taken.flat().sort()).toEqual(made.map(({ id }) => id).sort());
  });
});

it('a write happens once, of 10 at the same version at once', async () => {
  const redemption = await bench.created();
  await store.lease({ count: 1, owner: 'a', leaseMs: 60_000 });
  const ends = await Promise.allSettled(
    Array.from({ length: 10 }, () =>
      store.apply(decided(redemption, { type: 'call-due', requestId: aUuid() }, { owner: 'a' })),
    ),
  );
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const end of ends) {
    if (end.status === 'rejected') expect(end.reason).toBeInstanceOf(StaleRedemptionError);
  }
  const calls = await database.query({ text: 'SELECT FROM redemption.partner_call' });
  expect(calls).toHaveLength(1);
});

describe('a redemption that cannot be read', () => {
  /** Changes rows like an intruder who may disable the triggers. */
  async function spoil(...ids: readonly string[]): Promise<void> {
    await database.transaction(async (client) => {
      await client.query('SET LOCAL session_replication_role = replica');
      await client.query(
        `UPDATE redemption.redemption SET quote_expires_at = 'infinity' WHERE id = ANY ($1)`,
        [ids],
      );
    });
  }

  it('is set aside for ten minutes and told, and others are leased in its place', async () => {
    const spoilt: string[] = [];
    for (let index = 0; index < 3; index++) {
      spoilt.push((await bench.created({ nextActionAtMs: START_MS - 1000 })).id);
    }
    const others = [await bench.created(), await bench.created()];
    await spoil(...spoilt);
    const told: string[] = [];
    const lease = (dueByMs: number) =>
      store.lease({
        ...{ count: 2, owner: 'a', leaseMs: 60_000, dueByMs },
        onUnreadable: ({ redemptionId, code }) => told.push(`${redemptionId} ${code}`),
      });
    const leased = await lease(START_MS);
    expect(leased.map(({ redemption }) => redemption.id).sort()).toEqual(
      others.map(({ id }) => id).sort(),
    );
    const named = spoilt.map((id) => `${id} REDEMPTION_UNREADABLE`);
    expect(told.sort()).toEqual(named.sort());
    expect(await lease(START_MS + 599_999)).toEqual([]);
    expect(told).toHaveLength(3);
    await lease(START_MS + 600_000);
    expect(told).toHaveLength(6);
  });

  it('is left out of what its wallet is shown, and no other is', async () => {
    const wallet = someWallet();
    const ids: string[] = [];
    for (let index = 0; index < 6; index++) {
      ids.unshift((await bench.created({ wallet, id: aUuid(START_MS + index) })).id);
    }
    const [first, second, third, fourth, ...rest] = ids;
    await spoil(String(second), String(third));
    const listed = async (limit: number, before?: UuidV7) =>
      (await store.list(wallet, limit, before)).map(({ redemption }) => redemption.id);
    expect(await listed(2)).toEqual([first, fourth]);
    expect(await listed(9)).toEqual([first, fourth, ...rest]);
    expect(await listed(9, fourth as UuidV7)).toEqual(rest);
    await expect(store.find(wallet, second as UuidV7)).rejects.toMatchObject({
      code: 'REDEMPTION_UNREADABLE',
      message: expect.stringContaining(String(second)),
    });
  });
});

async function rows(table: string, where = 'true'): Promise<number> {
  const text = `SELECT count(*)::int AS count FROM redemption.${table} WHERE ${where}`;
  const [row] = await database.query<{ count: number }>({ text });
  return row?.count ?? 0;
}

async function created(nowMs: number) {
  const redemption = aNewRedemption({}, nowMs);
  await store.create(redemption, aKey(), someLimits());
  return redemption;
}

/** Creates a redemption and cancels it at the same moment. */
async function cancelled(nowMs: number, audited = false) {
  const redemption = await created(nowMs);
  const write = decided(redemption, { type: 'cancel', by: 'user' }, { actor: 'user' });
  const { decision } = write;
  const next = { ...decision.next, failedAtMs: nowMs, stateSinceMs: nowMs };
  const audit = { command: 'redemption cancel', outcome: 'done' };
  await store.apply({ ...write, decision: { ...decision, next }, ...(audited && { audit }) });
  return redemption.id;
}

describe('what came to nothing', () => {
  let attempts: AttemptStore;
  beforeAll(() => {
    attempts = new AttemptStore(database);
  });

  it('is forgotten after two days with all that belongs to it, and nothing else is', async () => {
    const nowMs = Date.parse('2026-06-01T00:00:00Z');
    const old = await cancelled(nowMs - 2 * DAY_MS - 1);
    const young = await cancelled(nowMs - 2 * DAY_MS + 1);
    const audited = await cancelled(nowMs - 9 * DAY_MS, true);
    const open = await created(nowMs - 9 * DAY_MS);
    const begun = decided(await created(nowMs - 9 * DAY_MS), {
      type: 'call-due',
      requestId: aUuid(),
    });
    await store.apply(begun);
    const { openCall } = begun.decision.next;
    const refused = decided(begun.decision.next, {
      type: 'deduct-refused',
      requestId: openCall?.requestId ?? aUuid(),
      code: 'ERR-INSUFFICIENT-POINTS',
    });
    await store.apply(refused);
    await attempts.forgetOld(nowMs);
    expect(await store.get(old)).toBeUndefined();
    const left = [young, audited, open.id, refused.before.id];
    for (const id of left) expect((await store.get(id))?.redemption.id).toBe(id);
    for (const table of ['transition', 'idempotency_key']) {
      expect(await rows(table, `redemption_id = '${old}'`)).toBe(0);
      expect(await rows(table, `redemption_id = '${young}'`)).toBeGreaterThan(0);
    }
  });

  it('is forgotten however much there is, by sweeps at once too', async () => {
    const nowMs = Date.parse('2026-06-01T00:00:00Z');
    const [busy, quiet] = [aUuid(), aUuid()];
    // Those of the other partner are older, and stay.
    await database.query(
      {
        text: `INSERT INTO redemption.partner_call (request_id, partner, step, begun_at)
        SELECT overlay(gen_random_uuid()::text placing '7' from 15)::uuid, CASE WHEN n <= 14_500 THEN $1 ELSE $2 END::uuid, 'balance',
          '2026-05-31T12:00:00Z'::timestamptz - n * interval '1 second' FROM generate_series(1, 14_600) n`,
      },
      [busy, quiet],
    );
    await Promise.all([attempts.forgetOld(nowMs), attempts.forgetOld(nowMs)]);
    await attempts.forgetOld(nowMs);
    expect(await rows('partner_call', `redemption_id IS NULL AND partner = '${busy}'`)).toBe(
      10_000,
    );
    expect(await rows('partner_call', `redemption_id IS NULL AND partner = '${quiet}'`)).toBe(100);
    await attempts.forgetOld(nowMs + DAY_MS);
    expect(await rows('partner_call', 'redemption_id IS NULL')).toBe(0);
  });

  it('is all that can be removed, with every right to delete', async () => {
    const id = await cancelled(systemClock.nowMs());
    await bench.called(await bench.created());
    const deletions = [
      `DELETE FROM redemption.transition WHERE redemption_id = '${id}'`,
      `DELETE FROM redemption.redemption WHERE id = '${id}'`,
      `DELETE FROM redemption.partner_call WHERE redemption_id IS NOT NULL`,
    ];
    for (const text of deletions) {
      await expect(database.query({ text })).rejects.toMatchObject({ sqlState: '23000' });
    }
  });
});
