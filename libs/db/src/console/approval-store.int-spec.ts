import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase, watchLocks } from '#libs/testing/database';
import {
  ApprovalClosedError,
  type ApprovalRequest,
  ApprovalStore,
  type Database,
  type GrantedRole,
  GrantedRoleStore,
  OwnApprovalError,
} from '../index.js';

const NOW_MS = Date.parse('2026-11-21T12:00:00Z');
const ANNA = { subject: `wallet:0x${'a1'.repeat(20)}`, name: 'Anna', actor: 'operator:anna' };
const BOB = { subject: 'oidc:https://id.example.com|bob', name: 'Bob', actor: 'operator:bob' };
const REQUEST: ApprovalRequest = {
  action: 'price accept',
  arguments: { usd: '0.15', note: '<script>' },
  summary: 'Accept 0.15 USD as the price.',
  reason: 'The feed was wrong <b>all</b> night.',
  requestedBy: { subject: ANNA.subject, name: ANNA.name },
  actor: ANNA.actor,
  nowMs: NOW_MS,
  expiresAtMs: NOW_MS + 1000,
};

let test: TestDatabase;
let database: Database;
let approvals: ApprovalStore;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open({ url: test.urlAs('console'), poolSize: 10 });
  approvals = new ApprovalStore(database);
});
afterAll(() => test.drop());

const ask = async () => (await approvals.request(REQUEST)).id;

describe('ApprovalStore', () => {
  it('keeps what was asked for, who decided, and what came of it, once', async () => {
    const asked = await approvals.request(REQUEST);
    const { nowMs, expiresAtMs, action, summary, reason, requestedBy } = REQUEST;
    const terms = { action, arguments: REQUEST.arguments, summary, reason, requestedBy };
    const times = { requestedAt: new Date(nowMs), expiresAt: new Date(expiresAtMs) };
    const expected = {
      ...{ id: asked.id, ...terms, ...times, decided: null, outcome: null },
      partner: null,
    };
    expect(asked).toEqual(expected);
    const decided = {
      decision: 'approved',
      by: { subject: BOB.subject, name: BOB.name },
      at: new Date(NOW_MS + 1),
    };
    expect(await approvals.decide(asked.id, 'approved', BOB, NOW_MS + 1)).toEqual({
      ...expected,
      decided,
    });
    await approvals.finish(asked.id, 'done');
    await expect(approvals.finish(asked.id, 'done again')).rejects.toThrow(ApprovalClosedError);
    expect(await approvals.find(asked.id)).toEqual({ ...expected, decided, outcome: 'done' });
  });

  it('is decided by one of ten who do so at once', async () => {
    const id = await ask();
    const people = Array.from({ length: 10 }, (_, place) => ({
      subject: `link:operator-${place}`,
      name: `${place}`,
      actor: `operator:${place}`,
    }));
    const ends = await Promise.allSettled(
      people.map((person, place) =>
        approvals.decide(id, place % 2 === 0 ? 'approved' : 'refused', person, NOW_MS),
      ),
    );
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refused = ends.flatMap((end) =>
      end.status === 'rejected' ? [end.reason as unknown] : [],
    );
    for (const reason of refused) expect(reason).toBeInstanceOf(ApprovalClosedError);
  });

  it('is not approved or refused by who asked, and withdrawn by no other', async () => {
    const id = await ask();
    for (const decision of ['approved', 'refused'] as const) {
      const deciding = approvals.decide(id, decision, ANNA, NOW_MS);
      await expect(deciding).rejects.toThrow(OwnApprovalError);
    }
    await expect(approvals.decide(id, 'withdrawn', BOB, NOW_MS)).rejects.toThrow(OwnApprovalError);
    expect((await approvals.decide(id, 'withdrawn', ANNA, NOW_MS)).decided?.by).toMatchObject({
      name: ANNA.name,
    });
    await expect(approvals.finish(id, 'done')).rejects.toThrow(ApprovalClosedError);
  });

  it('is decided with roles that no sign-in changes before the commit', async () => {
    const owner = await test.open();
    await new GrantedRoleStore(owner).grant(BOB.subject, 'admin', NOW_MS);
    const watched = watchLocks(database, owner, 'console.granted_role');
    const requireRights = (known: readonly GrantedRole[]): void => {
      expect(known).toMatchObject([{ subject: BOB.subject, role: 'admin' }]);
    };
    const decider = { ...BOB, requireRights };
    await new ApprovalStore(watched.database).decide(await ask(), 'approved', decider, NOW_MS);
    expect(watched.held.slice(-2)).toEqual([true, true]);
  });

  it('is not decided after its end, nor without being there', async () => {
    const late = approvals.decide(await ask(), 'approved', BOB, NOW_MS + 1000);
    await expect(late).rejects.toThrow(ApprovalClosedError);
    const absent = approvals.decide(9_999_999n, 'approved', BOB, NOW_MS);
    await expect(absent).rejects.toThrow(ApprovalClosedError);
  });

  it.each([
    [`SET arguments = '{"usd": "9"}'`, 'is frozen'],
    [`SET requested_by = 'link:x'`, 'is frozen'],
    [`SET reason = 'Another one.'`, 'is frozen'],
    [`SET expires_at = expires_at + interval '1 day'`, 'is frozen'],
    [`SET decision = 'refused'`, 'is decided'],
    [
      'SET decision = NULL, decided_by = NULL, decided_name = NULL, decided_at = NULL',
      'is decided',
    ],
  ])(
    'refuses to change a decided row by %s, for every user of the database',
    async (change, why) => {
      const id = await ask();
      await approvals.decide(id, 'approved', BOB, NOW_MS);
      const owner = await test.open();
      const text = `UPDATE console.approval ${change} WHERE id = ${id}`;
      await expect(owner.pool.query(text)).rejects.toThrow(why);
    },
  );

  it.each([
    [
      `UPDATE console.approval SET decision = 'approved', decided_by = requested_by, decided_name = 'x', decided_at = requested_at`,
      'decided_by_another',
    ],
    [
      `INSERT INTO console.approval (action, arguments, summary, reason, requested_by, requested_name, requested_at, expires_at, decision,
        decided_by, decided_name, decided_at) VALUES ('a', '{}', 's', 'r', 'link:a', 'a', now(), now() + interval '1 day', 'approved',
        'link:b', 'b', now())`,
      'before it is decided',
    ],
    ['DELETE FROM console.approval', 'never removed'],
    ['TRUNCATE console.approval', 'never removed'],
  ])('refuses %s, for every user of the database', async (text, why) => {
    const id = await ask();
    const owner = await test.open();
    const where = text.startsWith('UPDATE') ? ` WHERE id = ${id}` : '';
    await expect(owner.pool.query(text + where)).rejects.toThrow(why);
  });

  it('lists what can be decided, the first to expire first, and all by page', async () => {
    const soon = await approvals.request({ ...REQUEST, expiresAtMs: NOW_MS + 10 });
    const decided = await ask();
    await approvals.decide(decided, 'refused', BOB, NOW_MS);
    const open = await approvals.listOpen(NOW_MS, 100);
    expect(open[0]?.id).toBe(soon.id);
    expect(open.map(({ id }) => id)).not.toContain(decided);
    expect((await approvals.listOpen(NOW_MS + 10, 100)).map(({ id }) => id)).not.toContain(soon.id);
    const newest = await approvals.list({ limit: 1 });
    expect(newest).toMatchObject([{ id: decided, decided: { decision: 'refused' } }]);
    const next = await approvals.list({ before: decided, limit: 1 });
    expect(next).toMatchObject([{ id: soon.id }]);
  });

  it('is asked for with a reason of at most 500 characters', async () => {
    expect((await approvals.request({ ...REQUEST, reason: '🜲'.repeat(500) })).reason).toHaveLength(
      1000,
    );
    for (const reason of ['', 'x'.repeat(501)]) {
      await expect(approvals.request({ ...REQUEST, reason })).rejects.toMatchObject({
        sqlState: '23514',
      });
    }
  });

  it('leaves a row in the audit when it is asked for, decided and expired: each once', async () => {
    const [redemption, partner] = [randomUUID(), randomUUID()];
    const settle = { ...REQUEST, action: 'redemption resolve', arguments: { id: redemption } };
    const set = { ...REQUEST, action: 'partner set', arguments: { partner } };
    const [approved, refused, withdrawn, expired] = [
      await approvals.request(settle),
      await approvals.request(set),
      await approvals.request(REQUEST),
      await approvals.request({ ...REQUEST, arguments: { id: "x'; --", partner: 7 } }),
    ];
    await approvals.decide(approved.id, 'approved', BOB, NOW_MS);
    await approvals.decide(refused.id, 'refused', BOB, NOW_MS);
    await approvals.decide(withdrawn.id, 'withdrawn', ANNA, NOW_MS);
    const late = approvals.decide(expired.id, 'approved', BOB, REQUEST.expiresAtMs);
    await expect(late).rejects.toThrow(ApprovalClosedError);
    expect(await approvals.noteExpired(NOW_MS, 'console')).toBe(0);
    const other = new ApprovalStore(database);
    const both = [approvals, other].map((store) =>
      store.noteExpired(REQUEST.expiresAtMs, 'console'),
    );
    expect(Math.max(...(await Promise.all(both)))).toBeGreaterThan(0);
    expect(await approvals.noteExpired(REQUEST.expiresAtMs, 'console')).toBe(0);
    const rows = async (id: bigint) =>
      (
        await database.pool.query<Record<string, unknown>>(
          `SELECT actor, command, redemption_id, partner, arguments ->> 'reason' AS reason, outcome FROM redemption.audit
            WHERE (arguments ->> 'approval')::bigint = $1 ORDER BY id`,
          [id],
        )
      ).rows;
    const row = { reason: REQUEST.reason, redemption_id: null, partner: null };
    const asked = { ...row, actor: ANNA.actor, command: 'approval request', outcome: 'asked' };
    const by = (actor: string, command: string, outcome: string) => ({
      ...row,
      ...{ actor, command: `approval ${command}`, outcome },
    });
    const ofRedemption = { redemption_id: redemption };
    expect(await rows(approved.id)).toEqual([
      { ...asked, ...ofRedemption },
      { ...by(BOB.actor, 'approve', 'approved'), ...ofRedemption },
    ]);
    expect(await rows(refused.id)).toEqual([
      { ...asked, partner },
      { ...by(BOB.actor, 'refuse', 'refused'), partner },
    ]);
    expect(await rows(withdrawn.id)).toEqual([asked, by(ANNA.actor, 'withdraw', 'withdrawn')]);
    expect(await rows(expired.id)).toEqual([asked, by('console', 'expire', 'expired')]);
  });

  it('takes no arguments beyond 16 KiB', async () => {
    const big = { ...REQUEST, arguments: { text: 'x'.repeat(17_000) } };
    await expect(approvals.request(big)).rejects.toMatchObject({ sqlState: '23514' });
  });
});
