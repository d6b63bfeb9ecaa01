import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AuditLog, type Database, RedemptionLog, RedemptionStore, RedemptionViews } from '#libs/db';
import { type PartnerId, type PartnerStep, type UuidV7 } from '#libs/domain';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { aPartnerId } from '#libs/testing/partner';
import { aKey, aNewRedemption, aUuid, decided, someLimits, START_MS } from './testing/builders.js';

let test: TestDatabase;
let database: Database;
let log: RedemptionLog;
let store: RedemptionStore;
// Each test has its own database, because rows of these tables are never removed.
beforeEach(async () => {
  test = await createTestDatabase();
  database = await test.open();
  log = new RedemptionLog(database);
  store = new RedemptionStore(database);
});
afterEach(() => test.drop());

const HOUR_MS = 3_600_000;

interface Call {
  readonly atMs: number;
  readonly step?: PartnerStep;
  readonly redemptionId?: UuidV7 | null;
  /** Undefined where the call's end was never learnt. */
  readonly end?: { readonly outcome: string; readonly record: object };
}

const ANSWER = (status: number, isUsable = true) => ({
  outcome: 'answer',
  record: { status, finding: { isUsable } },
});

/** Inserts a row like the service, at a moment that the test chooses. */
async function aCall(partner: PartnerId, call: Call): Promise<UuidV7> {
  const { atMs, step = 'balance', redemptionId = null, end } = call;
  const requestId = aUuid(atMs);
  await database.pool.query(
    `INSERT INTO redemption.partner_call (request_id, redemption_id, partner, step, begun_at, ended_at, outcome, record)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      ...[requestId, redemptionId, partner, step, new Date(atMs)],
      ...[end ? new Date(atMs + 5) : null, end?.outcome ?? null, end?.record ?? null],
    ],
  );
  return requestId;
}

describe('one redemption', () => {
  it('shows its transitions and calls in pages, the oldest first', async () => {
    let redemption = aNewRedemption();
    await store.create(redemption, aKey(), someLimits());
    const requestId = aUuid();
    const begun = decided(redemption, { type: 'call-due', requestId });
    await store.apply(begun);
    redemption = begun.decision.next;
    const first = await log.transitions(redemption.id, { limit: 1 });
    expect(first.entries).toMatchObject([{ version: 1, from: null, to: 'created' }]);
    const second = await log.transitions(redemption.id, { limit: 2, after: first.next });
    expect(second).toMatchObject({ entries: [{ version: 2, to: 'deducting', requestId }] });
    expect(second.next).toBeUndefined();

    const later = await aCall(redemption.partner, {
      ...{ atMs: START_MS + 1000, step: 'deduct', redemptionId: redemption.id },
      end: ANSWER(200),
    });
    const call = await log.calls(redemption.id, { limit: 1 });
    expect(call.entries).toMatchObject([{ requestId, step: 'deduct', end: null }]);
    const rest = await log.calls(redemption.id, { limit: 2, after: call.next });
    expect(rest.entries).toMatchObject([
      { requestId: later, redemptionId: redemption.id, end: { outcome: 'answer' } },
    ]);
    expect(await log.calls(aUuid(), { limit: 1 })).toEqual({ entries: [], next: undefined });
  });
});

describe('the calls of a partner', () => {
  it('come newest first, in pages, and never those of another', async () => {
    const [partner, other] = [aPartnerId(), aPartnerId()];
    const ids: UuidV7[] = [];
    for (let at = 0; at < 3; at++) ids.unshift(await aCall(partner, { atMs: START_MS + at }));
    await aCall(other, { atMs: START_MS + 1 });
    const first = await log.callsOfPartner(partner, { limit: 2 });
    const second = await log.callsOfPartner(partner, { limit: 2, after: first.next });
    expect([...first.entries, ...second.entries].map(({ requestId }) => requestId)).toEqual(ids);
    expect(second.next).toBeUndefined();
  });

  it('are narrowed by step and by how they ended', async () => {
    const partner = aPartnerId();
    const lost = { outcome: 'no-answer', record: { cause: 'timeout' } };
    const id = await aCall(partner, { atMs: START_MS, end: lost });
    await aCall(partner, { atMs: START_MS + 1, end: ANSWER(200) });
    const found = async (only: Parameters<RedemptionLog['callsOfPartner']>[2]) =>
      (await log.callsOfPartner(partner, { limit: 9 }, only)).entries.map((one) => one.requestId);
    expect(await found({ outcome: 'no-answer' })).toEqual([id]);
    expect(await found({ step: 'balance' })).toHaveLength(2);
    expect(await found({ step: 'deduct' })).toEqual([]);
  });

  it('are counted by hour and step, with what went wrong', async () => {
    const partner = aPartnerId();
    const hour = Math.floor(START_MS / HOUR_MS) * HOUR_MS;
    const ends = [
      ANSWER(200),
      ANSWER(404),
      ANSWER(200, false),
      ANSWER(503, false),
      { outcome: 'answer', record: {} },
      { outcome: 'no-answer', record: { cause: 'timeout' } },
      { outcome: 'nothing-sent', record: { cause: 'dns' } },
      undefined,
    ];
    for (const [at, end] of ends.entries()) {
      await aCall(partner, { atMs: hour + at, ...(end && { end }) });
    }
    await aCall(partner, { atMs: hour + HOUR_MS, end: ANSWER(200) });
    await aCall(partner, { atMs: hour - 1, end: ANSWER(200) });
    await aCall(aPartnerId(), { atMs: hour });
    expect(await log.callsPerHour(partner, hour)).toEqual([
      { hour: new Date(hour), step: 'balance', calls: 8, refused: 1, errors: 4, unsent: 1 },
      {
        hour: new Date(hour + HOUR_MS),
        step: 'balance',
        calls: 1,
        refused: 0,
        errors: 0,
        unsent: 0,
      },
    ]);
    expect(await log.callsPerHour(partner, hour + 2 * HOUR_MS)).toEqual([]);
    const troubles = await log.troubles(hour);
    expect(troubles.filter((one) => one.partner === partner)).toEqual([
      { partner, failedCalls: 5, stuck: 0 },
    ]);
  });
});

describe('the audit log', () => {
  it('comes newest first, in pages, narrowed by who, partner and redemption', async () => {
    const audit = new AuditLog(database);
    const views = new RedemptionViews(database);
    const [partner, redemptionId] = [aPartnerId(), aUuid()];
    const name = '<b>\u202e👩‍🚀';
    const note = { command: 'partner set', arguments: { name }, outcome: 'done' };
    await views.audit('operator:ann', note, { partner });
    await views.audit(
      'operator:bob',
      { command: 'redemption retry', outcome: 'refused: FINAL' },
      {
        redemptionId,
        partner,
      },
    );
    await views.audit('operator:ann', { command: 'price accept', outcome: 'accepted' });
    const commands = async (filter: Parameters<AuditLog['newest']>[0]) =>
      (await audit.newest(filter, { limit: 9 })).entries.map(({ command }) => command);
    expect(await commands({})).toEqual(['price accept', 'redemption retry', 'partner set']);
    expect(await commands({ actor: 'operator:ann' })).toEqual(['price accept', 'partner set']);
    expect(await commands({ partner })).toEqual(['redemption retry', 'partner set']);
    expect(await commands({ partner, actor: 'operator:bob' })).toEqual(['redemption retry']);
    expect(await commands({ redemptionId })).toEqual(['redemption retry']);
    expect(await commands({ actor: 'operator:ann%' })).toEqual([]);

    const first = await audit.newest({}, { limit: 2 });
    const second = await audit.newest({}, { limit: 2, after: first.next });
    expect(second.entries).toMatchObject([
      { actor: 'operator:ann', partner, redemptionId: null, arguments: { name }, outcome: 'done' },
    ]);
    expect(second.next).toBeUndefined();
  });
});
