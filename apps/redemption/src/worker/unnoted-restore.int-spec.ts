/**
 * A ledger that went back in time and of which no note says so, on a real vault: nothing is deducted, paid or given
 * back until the note, and everything goes on after it.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type UuidV7 } from '#libs/domain';
import { EngineBench, POINTS } from '../testing/engine-bench.support.js';
import { OldLedger } from '../testing/old-ledger.support.js';

const TTL_SECONDS = 600;
const NOT_NOTED = { code: 'RESTORE_NOT_NOTED' };

let bench: EngineBench;
let ledger: OldLedger;
let folder: string;
beforeAll(async () => {
  bench = await EngineBench.start();
  ledger = await OldLedger.keep(bench.database);
  folder = await mkdtemp(join(tmpdir(), 'ledger-mark-'));
});
afterAll(async () => {
  await bench.stop();
  await rm(folder, { recursive: true });
});

afterEach(async () => {
  // A test that failed leaves no mark to the next.
  await bench.database.pool.query('DELETE FROM redemption.unnoted_restore');
});

function note(lostSinceMs?: number): Promise<void> {
  return ledger.note(bench.clock.nowMs() + 1, TTL_SECONDS, lostSinceMs);
}

/** As a restore with `./lowmark` leaves it. */
async function markRestored(): Promise<void> {
  const sql = await readFile('deploy/pgbackrest/restored.sql', 'utf8');
  await bench.database.pool.query(sql);
}

async function marks(): Promise<readonly string[]> {
  const { rows } = await bench.database.pool.query<{ noticed: string }>(
    'SELECT noticed FROM redemption.unnoted_restore',
  );
  return rows.map(({ noticed }) => noticed);
}

async function authorised(): Promise<UuidV7> {
  await bench.pass(1);
  return bench.authorised();
}

/** Lets time pass, in which a service that goes on would take every step. */
async function wait(turns = 8): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    await bench.engine.sweep();
    await bench.pass(30);
  }
}

function callsOf(...ids: UuidV7[]): string[] {
  return bench.partner.calls
    .filter(({ body }) => ids.includes(body['svcRedemptionId'] as UuidV7))
    .map(({ path }) => path);
}

describe('a ledger that was restored with our command', () => {
  it('deducts, plans, signs and gives back nothing until the note, and goes on after it', async () => {
    const deducted = await authorised();
    const cancelled = await authorised();
    await bench.until(cancelled, 'reverted');
    await ledger.restore(deducted, 'deducted');
    await ledger.restore(cancelled, 'reverting');
    const created = await bench.redeem();
    const callsBefore = callsOf(deducted, cancelled, created);
    await markRestored();
    await wait();
    const states = [];
    for (const id of [created, deducted, cancelled]) states.push((await bench.read(id)).state);
    expect(states).toEqual(['created', 'deducted', 'reverting']);
    expect(callsOf(deducted, cancelled, created)).toEqual(callsBefore);
    await expect(bench.redeem()).rejects.toMatchObject(NOT_NOTED);
    await note();
    expect(await marks()).toEqual([]);
    for (const id of [deducted, cancelled, created]) {
      const { wallet } = await bench.until(id, 'reverted', 'failed');
      expect(bench.partner.points.get(wallet)).toBe(POINTS);
    }
    await bench.until(await authorised(), 'authorised');
  });

  it('signs no voucher, also none of an existing plan', async () => {
    const id = await authorised();
    await markRestored();
    await expect(bench.voucher(id)).rejects.toMatchObject(NOT_NOTED);
    await note();
    expect(await bench.voucher(id)).toMatch(/^0x/);
  });

  it('still takes a claim in a final block for what it is', async () => {
    const id = await authorised();
    expect(await bench.claim(id)).toBeUndefined();
    await markRestored();
    await bench.until(id, 'claimed');
    await note();
  });

  it('fails nothing whose quote has expired, since its points may be gone', async () => {
    const created = await bench.redeem();
    await markRestored();
    await wait();
    expect((await bench.read(created)).state).toBe('created');
    await note();
    await bench.until(created, 'reverted', 'failed');
  });
});

describe('a restore without our command', () => {
  it('is noticed by the service that runs', async () => {
    const id = await authorised();
    const created = await bench.redeem();
    await ledger.restore(id, 'deducted');
    await wait(1);
    expect(await marks()).toEqual([
      expect.stringContaining(`of redemption ${id}, which was there at 20`),
    ]);
    await wait();
    const { state, plan } = await bench.read(id);
    expect([state, plan]).toEqual(['deducted', null]);
    expect(callsOf(created)).toEqual([]);
    expect(bench.logs.join('')).toMatch(
      /"alert":"restore-not-noted","severity":"critical".*`ledger restored`/,
    );
    await note();
    await bench.until(id, 'reverted');
    await bench.until(created, 'reverted', 'failed');
    await authorised();
  });

  it('is noticed by an idle service, and by a health check', async () => {
    const id = await authorised();
    await ledger.restore(id, 'created');
    await bench.ledger.look();
    expect(await marks()).toHaveLength(1);
    expect((await bench.ledger.unnoted())?.missingAtMs).toBeDefined();
    await note();
    expect(await bench.ledger.unnoted()).toBeUndefined();
    await bench.until(id, 'reverted', 'failed');
  });

  it('is noticed where an operator went on at once, so that the version is there again', async () => {
    const id = await authorised();
    const { version } = await bench.read(id);
    await ledger.restore(id, 'deducted');
    // As an operator does, whose command takes no look at what the service has seen.
    await bench.happen(id, { type: 'cancel', by: 'operator' });
    expect((await bench.read(id)).version).toBe(version);
    await bench.ledger.look();
    expect(await marks()).toHaveLength(1);
    await note();
    await bench.until(id, 'reverted');
  });

  it('is noticed by a worker that has committed a transition since, and before the call follows', async () => {
    const other = await bench.read(await authorised());
    const id = await authorised();
    await ledger.restore(id, 'deducted');
    await expect(bench.ledger.keep(other, 'plan-committed')).rejects.toMatchObject(NOT_NOTED);
    expect(await marks()).toHaveLength(1);
    await note();
    await bench.until(id, 'reverted');
  });

  it('is noticed where one of several workers committed to the ledger that is lost', async () => {
    const id = await authorised();
    const lost = await bench.read(id);
    const other = await bench.read(await authorised());
    await ledger.restore(id, 'deducted');
    const kept = await Promise.allSettled([
      bench.ledger.keep(lost, 'plan-committed'),
      bench.ledger.keep(other, 'plan-committed'),
    ]);
    expect(kept.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(await marks()).toHaveLength(1);
    await note();
    await bench.until(id, 'reverted');
  });

  it('is not explained by a note that begins after what is missing', async () => {
    const id = await authorised();
    await ledger.restore(id, 'deducted');
    await wait(1);
    await note(bench.clock.nowMs());
    expect(await marks()).toHaveLength(1);
    await wait();
    expect((await bench.read(id)).plan).toBeNull();
    await note();
    expect(await marks()).toEqual([]);
    await bench.until(id, 'reverted');
  });
});

describe('the file of the newest transition', () => {
  let markPath: string;
  beforeEach(() => {
    markPath = join(folder, randomUUID());
  });

  it('shows a restore across a restart, and the mark stops every replica', async () => {
    bench = await bench.restarted({ markPath });
    const id = await authorised();
    await bench.engine.stop();
    await ledger.restore(id, 'deducting');
    bench = await bench.restarted({ markPath });
    expect(await marks()).toHaveLength(1);
    const replica = await bench.beside({});
    for (let turn = 0; turn < 4; turn++) {
      await replica.engine.sweep();
      await bench.pass(30);
    }
    expect((await bench.read(id)).state).toBe('deducting');
    await expect(replica.redeem()).rejects.toMatchObject(NOT_NOTED);
    await replica.engine.stop();
    await note();
    bench = await bench.restarted({ markPath });
    expect(await marks()).toEqual([]);
    await bench.until(id, 'reverted', 'failed');
    await authorised();
  });

  it('shows none after restarts in which nothing was lost', async () => {
    bench = await bench.restarted({ markPath });
    const id = await authorised();
    bench = await bench.restarted({ markPath });
    const other = await bench.beside({ markPath });
    await other.engine.sweep();
    await other.engine.stop();
    bench = await bench.restarted({ markPath });
    await bench.until(id, 'reverted');
    expect(await marks()).toEqual([]);
    expect(await readdir(folder)).not.toContainEqual(expect.stringMatching(/\..+/));
    expect(JSON.parse(await readFile(markPath, 'utf8'))).toMatchObject({
      redemptionId: expect.any(String),
    });
  });

  it.each([
    ['not JSON', 'x'],
    ['cut off', '{"redemptionId":"0199d000-0000-70'],
    ['of another kind', '[1]'],
    ['null', 'null'],
    [
      'of a version that is none',
      `{"redemptionId":"0199d000-0000-7000-8000-0000000000aa","requestId":null,"event":"plan-committed","version":-1,"atMs":1}`,
    ],
    [
      'without what happened',
      `{"redemptionId":"0199d000-0000-7000-8000-0000000000aa","requestId":null,"version":3,"atMs":1}`,
    ],
  ])('that is %s begins again, and says so', async (_case, text) => {
    await writeFile(markPath, text);
    bench = await bench.restarted({ markPath });
    expect(bench.logs.join('')).toContain('cannot be read');
    await authorised();
    expect(JSON.parse(await readFile(markPath, 'utf8'))).toMatchObject({
      redemptionId: expect.any(String),
    });
  });

  it('that cannot be written raises an alert, and stops no redemption', async () => {
    bench = await bench.restarted({ markPath: join(folder, 'missing', 'mark') });
    await authorised();
    expect(bench.logs.join('')).toContain('"alert":"ledger-mark-not-written"');
  });
});
