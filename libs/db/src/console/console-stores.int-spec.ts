import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type PartnerId } from '#libs/domain';
import { createTestDatabase, type TestDatabase, watchLocks } from '#libs/testing/database';
import { aPartnerId } from '#libs/testing/partner';
import {
  type ApprovalRequest,
  ApprovalStore,
  type Database,
  type GrantedRole,
  GrantedRoleStore,
} from '../index.js';
import { readConformanceRun } from '../portal/conformance.js';
import { PortalDatabase } from '../portal/portal-database.js';
import { forgetExpired } from './forget-expired.js';
import { ConformanceRunStore, type NewConformanceRun } from './conformance-run-store.js';

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
let owner: Database;
let approvals: ApprovalStore;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open({ url: test.urlAs('console'), poolSize: 10 });
  owner = await test.open();
  approvals = new ApprovalStore(database);
});
afterAll(() => test.drop());

const ask = async () => (await approvals.request(REQUEST)).id;

// Who may decide, once and in time: apps/console/src/approvals.
describe('ApprovalStore', () => {
  it('is decided with roles that no sign-in changes before the commit', async () => {
    await new GrantedRoleStore(owner).grant(BOB.subject, 'admin', NOW_MS);
    const watched = watchLocks(database, owner, 'console.granted_role');
    const requireRights = (known: readonly GrantedRole[]): void => {
      expect(known).toMatchObject([{ subject: BOB.subject, role: 'admin' }]);
    };
    const decider = { ...BOB, requireRights };
    await new ApprovalStore(watched.database).decide(await ask(), 'approved', decider, NOW_MS);
    expect(watched.held.slice(-2)).toEqual([true, true]);
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

  it('is asked for with a reason of at most 500 characters, and arguments of at most 16 KiB', async () => {
    const reason = '🜲'.repeat(500);
    expect(await approvals.request({ ...REQUEST, reason })).toMatchObject({ reason });
    const big = { text: 'x'.repeat(17_000) };
    for (const wrong of [{ reason: '' }, { reason: 'x'.repeat(501) }, { arguments: big }]) {
      const asking = approvals.request({ ...REQUEST, ...wrong });
      await expect(asking).rejects.toMatchObject({ sqlState: '23514' });
    }
  });

  it('leaves a row in the audit when it is asked for, decided and expired: each once', async () => {
    const [redemption, partner] = [randomUUID(), randomUUID()];
    const settle = { ...REQUEST, action: 'redemption resolve', arguments: { id: redemption } };
    const set = { ...REQUEST, action: 'partner set', arguments: { partner } };
    const hostile = { ...REQUEST, arguments: { id: "x'; --", partner: 7 } };
    const asked = [];
    for (const request of [settle, set, REQUEST, hostile]) {
      asked.push((await approvals.request(request)).id);
    }
    const [approved = 0n, refused = 0n, withdrawn = 0n] = asked;
    await approvals.decide(approved, 'approved', BOB, NOW_MS);
    await approvals.decide(refused, 'refused', BOB, NOW_MS);
    await approvals.decide(withdrawn, 'withdrawn', ANNA, NOW_MS);
    expect(await approvals.noteExpired(NOW_MS, 'console')).toBe(0);
    const both = [approvals, new ApprovalStore(database)];
    await Promise.all(both.map((store) => store.noteExpired(REQUEST.expiresAtMs, 'console')));
    expect(await approvals.noteExpired(REQUEST.expiresAtMs, 'console')).toBe(0);
    const audit = {
      text: `SELECT array_agg(concat_ws(' ', outcome, 'by', actor, redemption_id, partner) ORDER BY id) AS rows FROM redemption.audit
        WHERE (arguments ->> 'approval')::bigint = ANY ($1) AND arguments ->> 'reason' = $2
        GROUP BY arguments ->> 'approval' ORDER BY min(id)`,
    };
    const found = await database.query<{ rows: string[] }>(audit, [asked, REQUEST.reason]);
    const [anna, bob] = ['by operator:anna', 'by operator:bob'];
    expect(found.map(({ rows }) => rows)).toEqual([
      [`asked ${anna} ${redemption}`, `approved ${bob} ${redemption}`],
      [`asked ${anna} ${partner}`, `refused ${bob} ${partner}`],
      [`asked ${anna}`, `withdrawn ${anna}`],
      [`asked ${anna}`, 'expired by console'],
    ]);
  });
});

const PROGRESS = { judged: 1, checks: 40, calls: 3, now: 'reading a balance' };
/** PostgreSQL's jsonb would refuse the character, and change the order of the keys. */
const REPORT = { version: 1, b: 'a partner’s \0', a: 1 };

let store: ConformanceRunStore;
let other: ConformanceRunStore;
let portal: PortalDatabase;
let partnerId: PartnerId;
beforeAll(async () => {
  store = new ConformanceRunStore(database);
  other = new ConformanceRunStore(await test.open({ url: test.urlAs('console') }));
  portal = new PortalDatabase(await test.open({ url: test.urlAs('portal'), schema: 'any' }));
});
beforeEach(() => {
  partnerId = aPartnerId();
});

function aRun(): NewConformanceRun {
  const address = `0x${'aB'.repeat(20)}`;
  return {
    ...{ id: randomUUID(), partnerId, baseUrl: 'https://game.example', address },
    progress: { ...PROGRESS, judged: 0 },
  };
}

async function begun(): Promise<string> {
  const run = aRun();
  expect(await store.begin(run)).toBe(true);
  return run.id;
}

const shown = () => portal.asPartner(partnerId, readConformanceRun);

/** Ends the time for which the console holds the run. */
async function endLease(): Promise<void> {
  const text = 'UPDATE console.conformance_run SET held_until = now() WHERE partner = $1';
  await owner.query({ text }, [partnerId]);
}

describe('a conformance run', () => {
  it('is shown to its partner, with its progress and then its report, as it was written', async () => {
    const id = await begun();
    expect(await store.noteProgress(id, PROGRESS)).toBe(false);
    const open = { endedAt: null, progress: PROGRESS, report: null, failure: null };
    expect(await shown()).toMatchObject({ baseUrl: 'https://game.example', ...open });
    await store.end(id, { ...PROGRESS, judged: 40 }, { report: REPORT, failure: null });
    const ended = await shown();
    expect(ended).toMatchObject({ endedAt: expect.any(Date), failure: null });
    expect(JSON.stringify(ended?.report)).toBe(JSON.stringify(REPORT));
    expect(await portal.asPartner(aPartnerId(), readConformanceRun)).toBeUndefined();
  });

  it('is the only one of its partner until it has ended', async () => {
    const id = await begun();
    expect(await other.begin(aRun())).toBe(false);
    await store.end(id, PROGRESS, { report: null, failure: 'The run failed.' });
    expect(await shown()).toMatchObject({ report: null, failure: 'The run failed.' });
    const both = await Promise.all([store.begin(aRun()), other.begin(aRun())]);
    expect(both.sort()).toEqual([false, true]);
    expect(await shown()).toMatchObject({ endedAt: null, failure: null });
  });

  it('is to stop once a console was asked to, and only then', async () => {
    const id = await begun();
    await other.requestStop(aPartnerId());
    expect(await store.noteProgress(id, PROGRESS)).toBe(false);
    await other.requestStop(partnerId);
    expect(await store.noteProgress(id, PROGRESS)).toBe(true);
    await store.end(id, PROGRESS, { report: REPORT, failure: null });
    expect(await store.noteProgress(await begun(), PROGRESS)).toBe(false);
  });

  it('has ended without a result if its console writes nothing any more, and may be replaced', async () => {
    const id = await begun();
    await endLease();
    expect(await shown()).toMatchObject({ endedAt: expect.any(Date), report: null, failure: null });
    // The console was only slow.
    expect(await store.noteProgress(id, PROGRESS)).toBe(false);
    expect(await shown()).toMatchObject({ endedAt: null });
    await endLease();
    expect(await other.begin(aRun())).toBe(true);
    expect(await store.noteProgress(id, PROGRESS)).toBe(true);
    await store.end(id, PROGRESS, { report: REPORT, failure: null });
    expect(await shown()).toMatchObject({ endedAt: null, report: null });
  });

  it('is deleted a day after it began', async () => {
    await begun();
    const nowMs = Date.now();
    await forgetExpired(database, nowMs);
    expect(await shown()).toBeDefined();
    await forgetExpired(database, nowMs + 86_500_000);
    expect(await shown()).toBeUndefined();
  });
});
