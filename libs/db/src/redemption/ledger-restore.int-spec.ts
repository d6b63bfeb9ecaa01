/**
 * Restores of the ledger from a backup: the note of one, and what the database refuses while one is not noted. Each step
 * of a worker is in test/simulation/engine/ledger/ledger-contract.int-spec.ts and apps/redemption/src/worker.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LedgerRestoreStore, type RedemptionStore } from '../index.js';
import { LedgerBench } from './ledger-bench.support.js';
import { decided, noteRestored, planOf, START_MS } from './testing/builders.js';

/** Time of the services' clocks, ahead of the database's clock. */
const AHEAD_MS = Date.now() + 300_000;

let bench: LedgerBench;
let restores: LedgerRestoreStore;
let store: RedemptionStore;
beforeAll(async () => {
  bench = await LedgerBench.start();
  restores = new LedgerRestoreStore(bench.database);
  store = bench.redemptions;
});
beforeEach(() => bench.empty());
afterAll(() => bench.stop());

function record({ nowMs = Date.now(), lostSinceMs = START_MS - 60_000, by = restores } = {}) {
  return by.record({
    ...{ nowMs, lostSinceMs, voucherSeconds: 1800 },
    ...{ actor: 'operator:ann', command: 'ledger restored', arguments: { since: 'x' } },
  });
}

/** Runs the statements that every restore of ours runs. */
async function restored(nothingLost = 'off'): Promise<void> {
  const sql = await readFile('deploy/pgbackrest/restored.sql', 'utf8');
  const client = await bench.database.pool.connect();
  try {
    await client.query(`SET lowmark.nothing_lost = '${nothingLost}'`);
    await client.query(sql);
    await client.query('RESET lowmark.nothing_lost');
  } finally {
    client.release();
  }
}

it('a note is known to every redemption that is older, however it is read', async () => {
  const redemption = await bench.created();
  const note = { lostSinceMs: START_MS - 60_000 };
  const until = START_MS / 1000;
  expect((await store.get(redemption.id))?.redemption).toEqual(redemption);
  const early = { ...note, atMs: START_MS, vouchersUntilSeconds: until + 9000 };
  await noteRestored(bench.database, early);
  expect((await store.get(redemption.id))?.redemption.lostVoucherUntilSeconds).toBeNull();
  for (const [seconds, life] of [
    [1, 3600],
    [2, 60],
  ] as const) {
    const vouchersUntilSeconds = until + seconds + life;
    const atMs = START_MS + seconds * 1000;
    await noteRestored(bench.database, { ...note, atMs, vouchersUntilSeconds });
  }
  const known = { ...redemption, lostVoucherUntilSeconds: until + 3601 };
  expect((await store.get(redemption.id))?.redemption).toEqual(known);
  expect(await store.find(redemption.wallet, redemption.id)).toMatchObject({ redemption: known });
  expect(await store.list(redemption.wallet, 5)).toMatchObject([{ redemption: known }]);
  const leased = await store.lease({ count: 1, owner: 'w', leaseMs: 1000, dueByMs: START_MS });
  expect(leased).toMatchObject([{ redemption: known }]);
});

it('a note is nothing to a plan of before the loss, and known to one of after it', async () => {
  const { id, authorisedAtMs } = await bench.authorised();
  const plannedMs = authorisedAtMs ?? 0;
  const note = { atMs: plannedMs + 60_000, vouchersUntilSeconds: plannedMs / 1000 + 3600 };
  await noteRestored(bench.database, { ...note, lostSinceMs: plannedMs + 1 });
  expect((await store.get(id))?.redemption.lostVoucherUntilSeconds).toBeNull();
  await noteRestored(bench.database, { ...note, lostSinceMs: plannedMs });
  const { lostVoucherUntilSeconds } = (await store.get(id))?.redemption ?? {};
  expect(lostVoucherUntilSeconds).toBe(note.vouchersUntilSeconds);
});

describe('what a note says of a redemption', () => {
  const MARK = 'SET lost_voucher_until_seconds';

  it.each([
    `${MARK} = NULL`,
    `${MARK} = lost_voucher_until_seconds + 1`,
    `${MARK} = NULL, state = 'failed', version = version + 1`,
  ])('is for no program to write: %s', async (change) => {
    const { id } = await bench.created();
    await record();
    for (const program of ['redemption', 'cli'] as const) {
      const intruder = await bench.test.open({ url: bench.test.urlAs(program) });
      const text = `UPDATE redemption.redemption ${change} WHERE id = $1`;
      await expect(intruder.query({ text }, [id])).rejects.toThrow('is for its note to say');
    }
  });
});

describe('the moment of a note', () => {
  it('is later than every redemption, whatever the clocks say', async () => {
    const { id } = await bench.created();
    const ahead = await bench.created({ initialAtMs: AHEAD_MS });
    const expected = { atMs: AHEAD_MS + 1, unplanned: { created: 2 } };
    const until = Math.ceil((AHEAD_MS + 1) / 1000) + 1800;
    const scope = { ...expected, vouchersUntilSeconds: until };
    expect(await restores.scope({ nowMs: START_MS, voucherSeconds: 1800 })).toEqual(scope);
    expect(await record({ nowMs: START_MS })).toEqual(scope);
    for (const one of [id, ahead.id]) {
      expect((await store.get(one))?.redemption.lostVoucherUntilSeconds).toBe(until);
    }
  });

  it("is no earlier than the database's clock, and the operator's", async () => {
    const before = Date.now();
    const { atMs, unplanned } = await record({ nowMs: START_MS });
    expect(atMs).toBeGreaterThan(before - 60_000);
    expect(unplanned).toEqual({});
    expect((await record({ nowMs: AHEAD_MS })).atMs).toBe(AHEAD_MS);
    expect((await restores.list()).map((note) => note.atMs)).toEqual([AHEAD_MS, atMs]);
  });
});

it('a note is listed, audited, and never taken back', async () => {
  const { atMs, vouchersUntilSeconds } = await record();
  expect(vouchersUntilSeconds).toBe(Math.ceil(atMs / 1000) + 1800);
  expect(await restores.list()).toEqual([
    { atMs, lostSinceMs: START_MS - 60_000, vouchersUntilSeconds },
  ]);
  const audit = { text: 'SELECT actor, command, arguments, outcome FROM redemption.audit' };
  expect(await bench.database.query(audit)).toEqual([
    {
      actor: 'operator:ann',
      command: 'ledger restored',
      arguments: { since: 'x' },
      outcome: 'noted',
    },
  ]);
  const gone = { text: 'DELETE FROM redemption.ledger_restore' };
  await expect(bench.database.query(gone)).rejects.toThrow('never changed or removed');
});

describe('a note that would hold redemptions up for ever', () => {
  const INSERT = `INSERT INTO redemption.ledger_restore (at, lost_since, vouchers_until_seconds, actor)
    VALUES (now() + $1 * interval '1 second', '2000-01-01', extract(epoch FROM now()) + $1 + $2, 'operator:x')`;
  const DAY = 86_400;

  it.each([
    ['of the year 9999', 250_000_000_000, 1],
    ['of a moment that no clock shows yet', 660, 1],
    ['of vouchers that outlive every setting', 0, DAY + 660],
  ])('%s is refused', async (_case, ahead, life) => {
    const cli = await bench.test.open({ url: bench.test.urlAs('cli') });
    await expect(cli.query({ text: INSERT }, [ahead, life])).rejects.toMatchObject({
      sqlState: '23000',
    });
    expect(await restores.list()).toEqual([]);
  });

  it('is what the longest voucher and the clocks need, at the most', async () => {
    const cli = await bench.test.open({ url: bench.test.urlAs('cli') });
    await cli.query({ text: INSERT }, [540, DAY + 600]);
    expect(await restores.list()).toHaveLength(1);
  });

  it('is refused in words where a redemption claims to be of a time to come', async () => {
    await bench.created({ initialAtMs: Date.now() + 3_600_000 });
    const refusal = { code: 'RESTORE_TOO_FAR_AHEAD' };
    await expect(record()).rejects.toMatchObject(refusal);
    expect(await restores.list()).toEqual([]);
  });
});

it('the store knows the longest life that a voucher had', async () => {
  expect(await restores.longestVoucherSeconds()).toBe(0);
  const { plan, authorisedAtMs } = await bench.authorised();
  const life = (plan?.deadlineSeconds ?? 0) - (authorisedAtMs ?? 0) / 1000;
  expect(await restores.longestVoucherSeconds()).toBe(Math.floor(life));
});

describe('a worker that has read a redemption before', () => {
  async function waiting(): Promise<void> {
    const text = `SELECT count(*)::int AS count FROM pg_locks l JOIN pg_database d ON d.oid = l.database
      WHERE NOT l.granted AND d.datname = current_database()`;
    for (;;) {
      const [row] = await bench.database.query<{ count: number }>({ text });
      if ((row?.count ?? 0) > 0) return;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  it('waits for a note that is being made, and is refused by it', async () => {
    const deducted = await bench.deducted();
    const write = decided(deducted, { type: 'plan-committed', plan: planOf(deducted) });
    const refused: unknown[] = [];
    let planning: Promise<unknown> | undefined;
    await bench.database.transaction(async (client) => {
      await client.query('LOCK TABLE redemption.redemption IN EXCLUSIVE MODE');
      await client.query(`INSERT INTO redemption.ledger_restore (at, lost_since, vouchers_until_seconds, actor)
        VALUES (now(), 'epoch', extract(epoch FROM now()) + 1800, 'test')`);
      planning = store.apply(write).catch((error: unknown) => refused.push(error));
      await waiting();
    });
    await planning;
    expect(refused).toMatchObject([{ code: 'REDEMPTION_STALE' }]);
    expect((await store.get(deducted.id))?.redemption.plan).toBeNull();
  });

  it('is waited for by the note while it writes', async () => {
    const { id } = await bench.deducted();
    let noting: ReturnType<typeof record> | undefined;
    await bench.database.transaction(async (client) => {
      // Takes the lock that every write of a row takes, like a transition.
      await client.query(
        `UPDATE redemption.redemption SET leased_until = now(), lease_owner = 'w' WHERE id = $1`,
        [id],
      );
      noting = record();
      await waiting();
      expect((await restores.list()).length).toBe(0);
    });
    expect((await noting)?.unplanned).toEqual({ deducted: 1 });
  });
});

describe('while a restore is not noted', () => {
  it.each(['redemption', 'cli', 'console'] as const)(
    '%s cannot remove the mark',
    async (program) => {
      await restored();
      const intruder = await bench.test.open({ url: bench.test.urlAs(program) });
      for (const text of [
        'DELETE FROM redemption.unnoted_restore',
        "UPDATE redemption.unnoted_restore SET noticed = 'x'",
        'TRUNCATE redemption.unnoted_restore',
      ]) {
        await expect(intruder.query({ text })).rejects.toMatchObject({ sqlState: '42501' });
      }
      expect((await restores.standing()).unnoted).toBeDefined();
    },
  );

  it('the operator’s own connection notes it, and thereby removes the mark', async () => {
    await restored();
    const cli = await bench.test.open({ url: bench.test.urlAs('cli') });
    await record({ by: new LedgerRestoreStore(cli) });
    expect((await restores.standing()).unnoted).toBeUndefined();
  });
});

describe('a mark', () => {
  it('is left once, and not where the operator says that nothing is missing', async () => {
    await restored('on');
    expect((await restores.standing()).unnoted).toBeUndefined();
    await restored();
    const first = (await restores.standing()).unnoted;
    await restored();
    expect((await restores.standing()).unnoted).toEqual(first);
    const rows = await bench.database.query({ text: 'SELECT FROM redemption.unnoted_restore' });
    expect(rows).toHaveLength(1);
  });
});

describe('a restore', () => {
  it('brings back no session, no link, no sign-in under way, no role and no invitation', async () => {
    const query = (text: string) => bench.database.query<{ rows: number }>({ text });
    const hash = "sha256('x')";
    const until = "now() + interval '5 minutes'";
    await query(`INSERT INTO redemption.session (token_hash, wallet, domain, expires_at, mac)
      VALUES (${hash}, decode(repeat('ab', 20), 'hex'), 'app.example.com', ${until}, decode(repeat('ab', 36), 'hex'))`);
    await query(`INSERT INTO redemption.nonce VALUES ('nonce-of-before', ${until})`);
    await query(`INSERT INTO console.nonce VALUES ('nonce-of-before', ${until})`);
    await query(`INSERT INTO console.session (token_hash, kind, role, subject, name, created_at, seen_at, authenticated_at, expires_at)
      VALUES (${hash}, 'operator', 'admin', 'link:ann', 'ann', now(), now(), now(), ${until})`);
    await query(
      `INSERT INTO console.login_attempt VALUES (${hash}, 'operator', repeat('v', 43), 'nonce-of-before', '/', now(), ${until})`,
    );
    await query(`INSERT INTO console.sign_in_link (token_hash, kind, role, name, created_by, created_at, expires_at)
      VALUES (${hash}, 'operator', 'admin', 'ann', 'cli', now(), ${until})`);
    await query(`INSERT INTO console.granted_role VALUES ('link:ann', 'admin', now())`);
    await query(`INSERT INTO console.invitation (token_hash, partner, invited_by, note, created_at, expires_at)
      VALUES (${hash}, gen_random_uuid(), 'operator:ann', 'bob', now(), ${until})`);
    const left = () =>
      query(`SELECT 'session' AS kind FROM console.session
      UNION ALL SELECT 'link' FROM console.sign_in_link UNION ALL SELECT 'attempt' FROM console.login_attempt
      UNION ALL SELECT 'role' FROM console.granted_role UNION ALL SELECT 'nonce' FROM console.nonce
      UNION ALL SELECT 'player' FROM redemption.session UNION ALL SELECT 'nonce of players' FROM redemption.nonce
      UNION ALL SELECT 'invitation' FROM console.invitation WHERE withdrawn_at IS NULL`);
    await restored('on');
    expect(await left()).toHaveLength(8);
    await restored();
    expect(await left()).toEqual([]);
  });
});
