/**
 * Redemptions after an older ledger was restored, on a real vault: points or tokens are given away, and never both; and
 * until a note says so, nothing is deducted, paid or given back. The simulation of the engine restores ledgers that are
 * marked; here are also those that the service has to notice, or cannot.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Redemption, type UuidV7 } from '#libs/domain';
import { EngineBench, POINTS } from '../testing/engine-bench.support.js';
import { OldLedger } from '../testing/old-ledger.support.js';

const TTL_SECONDS = 600;
const TOKENS = 340n;
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

/** Restarts the service with other settings, also for the tests that follow. */
async function restart(change: Parameters<EngineBench['restarted']>[0]): Promise<void> {
  bench = await bench.restarted(change);
}

async function authorised(): Promise<UuidV7> {
  await bench.pass(1);
  return bench.authorised();
}

/** An authorised redemption, and the voucher that its user has. */
async function withVoucher() {
  const id = await authorised();
  return { id, calldata: await bench.voucher(id) };
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

async function holdingsOf({ wallet }: Redemption) {
  return [bench.partner.points.get(wallet), await bench.chain.tokens(wallet)];
}

/** The redemption is claimed in the end: its player has the tokens, and no revert was asked for. */
async function expectClaimed(id: UuidV7): Promise<Redemption> {
  const redemption = await bench.until(id, 'claimed', 'attention', 'reverted');
  expect(redemption.state).toBe('claimed');
  expect(await holdingsOf(redemption)).toEqual([0, TOKENS]);
  expect(callsOf(id)).not.toContain('/revert-deduct-points');
  return redemption;
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
    await restart({ markPath });
    const id = await authorised();
    await bench.engine.stop();
    await ledger.restore(id, 'deducting');
    await restart({ markPath });
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
    await restart({ markPath });
    expect(await marks()).toEqual([]);
    await bench.until(id, 'reverted', 'failed');
    await authorised();
  });

  it('shows none after restarts in which nothing was lost', async () => {
    await restart({ markPath });
    const id = await authorised();
    await restart({ markPath });
    const other = await bench.beside({ markPath });
    await other.engine.sweep();
    await other.engine.stop();
    await restart({ markPath });
    await bench.until(id, 'reverted');
    expect(await marks()).toEqual([]);
    expect(await readdir(folder)).not.toContainEqual(expect.stringMatching(/\..+/));
    expect(JSON.parse(await readFile(markPath, 'utf8'))).toMatchObject({
      redemptionId: expect.any(String),
    });
  });
});

it('a lost voucher that was claimed waits until an operator names its deduction, and is claimed then', async () => {
  const { id, calldata } = await withVoucher();
  expect(await bench.send(calldata)).toBeUndefined();
  const { partnerTransactionId } = await bench.until(id, 'claimed');
  await ledger.restore(id, 'created');
  await note();
  const held = await bench.until(id, 'attention', 'reverted', 'failed');
  expect(held.reason).toBe('claimed-without-plan');
  for (const type of ['operator-restored', 'operator-not-deducted'] as const) {
    await expect(bench.happen(id, { type })).rejects.toThrow('The tokens may still be claimed');
  }
  await bench.happen(id, {
    type: 'operator-set-transaction',
    partnerTransactionId: partnerTransactionId ?? '',
  });
  await expectClaimed(id);
});

describe('a restore that a service cannot notice, because it has forgotten what it saw', () => {
  it('gives back no points whose tokens were claimed, and is told what to do', async () => {
    const { id, calldata } = await withVoucher();
    expect(await bench.send(calldata)).toBeUndefined();
    await bench.until(id, 'claimed');
    await ledger.restore(id, 'deducted');
    await restart({});
    await bench.cancel(id);
    const held = await bench.until(id, 'attention', 'reverted');
    expect([held.state, held.reason]).toEqual(['attention', 'claimed-without-plan']);
    expect(bench.logs.join('')).toContain('"alert":"claimed-without-plan","severity":"critical"');
    await note();
    await bench.happen(id, { type: 'operator-retry' });
    await expectClaimed(id);
  });
});

describe('a restore that is noted only when something was planned again', () => {
  // With vouchers of the usual life.
  beforeEach(() => restart({}));

  it('waits for the lost voucher, which is good for longer than the plan', async () => {
    const { id, calldata } = await withVoucher();
    const lostSinceMs = bench.clock.nowMs() + 1000;
    await ledger.restore(id, 'deducted');
    await bench.pass(1);
    await restart({ ttlSeconds: 10 });
    await bench.until(id, 'authorised');
    await ledger.note(bench.clock.nowMs() + 1, TTL_SECONDS, lostSinceMs);
    await wait(13);
    expect((await bench.read(id)).state).toBe('authorised');
    expect(await bench.send(calldata)).toBeUndefined();
    await expectClaimed(id);
  });
});
