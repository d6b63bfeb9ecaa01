import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '#libs/platform';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { AttemptStore, type Database, RedemptionStore } from '../index.js';
import {
  aKey,
  aNewRedemption,
  aUuid,
  decided,
  someLimits,
  someWallet,
  START_MS,
} from './testing/builders.js';

const DAY_MS = 86_400_000;

let test: TestDatabase;
let database: Database;
let attempts: AttemptStore;
let store: RedemptionStore;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open({ poolSize: 10 });
  attempts = new AttemptStore(database);
  store = new RedemptionStore(database);
});
afterAll(() => test.drop());

// How long each wait is: test/simulation/engine/ledger/ledger-contract.int-spec.ts.
describe('a wallet', () => {
  it('waits once for attempts that were made together', async () => {
    const wallet = someWallet();
    const untils = await Promise.all(
      Array.from({ length: 20 }, () => attempts.note(wallet, START_MS)),
    );
    expect(new Set(untils)).toEqual(new Set([START_MS + 5000]));
    expect(await attempts.note(wallet, START_MS + 5000)).toBe(START_MS + 15_000);
  });

  it('begins again a day after its last wait', async () => {
    const wallet = someWallet();
    await attempts.note(wallet, START_MS);
    await attempts.note(wallet, START_MS + 5000);
    expect(await attempts.note(wallet, START_MS + 15_000 + DAY_MS)).toBe(
      START_MS + 35_000 + DAY_MS,
    );
    const laterMs = START_MS + 35_001 + 2 * DAY_MS;
    expect(await attempts.note(wallet, laterMs)).toBe(laterMs + 5000);
    await attempts.forgetOld(laterMs + 5001 + DAY_MS);
    expect(await rows('vain_attempt')).toBe(0);
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
    expect(await rows('partner_call')).toBeGreaterThan(0);
  });

  it('is all that can be removed, with every right to delete', async () => {
    const id = await cancelled(systemClock.nowMs());
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
