/**
 * The mark of a restore that was not noted: what the database refuses meanwhile, from whatever connects. Each step of a
 * worker is in test/simulation/engine/ledger/ledger-contract.int-spec.ts.
 */
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Redemption, type UuidV7 } from '#libs/domain';
import { LedgerRestoreStore } from '../index.js';
import { LedgerBench } from './ledger-bench.support.js';
import { START_MS } from './testing/builders.js';

const NOT_NOTED = { code: 'RESTORE_NOT_NOTED' };

let bench: LedgerBench;
let restores: LedgerRestoreStore;
beforeEach(async () => {
  bench = await LedgerBench.start();
  restores = new LedgerRestoreStore(bench.database);
});
afterEach(() => bench.stop());

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

function note(lostSinceMs = START_MS - 60_000) {
  const to = { actor: 'operator:ann', command: 'ledger restored', arguments: {} };
  return restores.record({ nowMs: Date.now(), lostSinceMs, voucherSeconds: 1800, ...to });
}

describe('while a restore is not noted', () => {
  it('nothing is created or given back, until it is noted', async () => {
    const { calling, callEnd } = await bench.called(await bench.cancelled(await bench.deducted()));
    const { requestId } = callEnd;
    const ids = { requestId, partnerTransactionId: 'p', partnerRevertId: 'r' };
    const givenBack = { type: 'revert-confirmed', ...ids } as const;
    await restored();
    await expect(bench.created()).rejects.toMatchObject(NOT_NOTED);
    await expect(bench.after(calling, givenBack, { callEnd })).rejects.toMatchObject(NOT_NOTED);
    expect((await restores.standing()).unnoted).toMatchObject({
      noticed: 'restored from a backup',
      missingAtMs: undefined,
    });
    await note();
    expect((await restores.standing()).unnoted).toBeUndefined();
    await bench.created();
  });

  it('a claim ends its redemption, and so does the end of a voucher', async () => {
    const [paying, dying] = [await bench.authorised(), await bench.authorised()];
    await restored();
    expect((await bench.paid(paying)).state).toBe('claimed');
    expect((await bench.expired(dying)).state).toBe('reverting');
  });

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
    restores = new LedgerRestoreStore(await bench.test.open({ url: bench.test.urlAs('cli') }));
    await note();
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

describe('a transition that was seen', () => {
  const standingOf = async (id: string, version: number, atMs: number) =>
    (
      await restores.standing({
        ...{ redemptionId: id as never, version, atMs },
        ...{ event: 'deduct-confirmed', requestId: null },
      })
    ).lacksSeen;

  it('is missing where the ledger lacks it and no note explains that', async () => {
    const { id, version } = await bench.deducted();
    const seenMs = START_MS + 1000;
    expect(await standingOf(id, version, seenMs)).toBe(false);
    expect(await standingOf(id, version + 1, seenMs)).toBe(true);
    await note(seenMs + 1);
    expect(await standingOf(id, version + 1, seenMs)).toBe(true);
    await note(seenMs);
    expect(await standingOf(id, version + 1, seenMs)).toBe(false);
    // Of a time after the note.
    expect(await standingOf(id, version + 1, Date.now() + 60_000)).toBe(true);
  });

  it('is missing where the ledger went back and has another one in its place', async () => {
    const seenOf = ({ id, version }: Redemption, event: string, requestId: UuidV7 | null) =>
      restores.standing({ redemptionId: id, version, atMs: START_MS, event, requestId });
    const { calling, callEnd } = await bench.called(await bench.created());
    const { requestId } = callEnd;
    expect((await seenOf(calling, 'call-due', requestId)).lacksSeen).toBe(false);
    const cancelled = await bench.cancelled(await bench.created());
    expect(cancelled.version).toBe(calling.version);
    expect((await seenOf(cancelled, 'call-due', requestId)).lacksSeen).toBe(true);
    const { calling: again } = await bench.called(await bench.created());
    expect((await seenOf(again, 'call-due', requestId)).lacksSeen).toBe(true);
    expect((await seenOf(again, 'plan-committed', null)).lacksSeen).toBe(true);
  });
});
