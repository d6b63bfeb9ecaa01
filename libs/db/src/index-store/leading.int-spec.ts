import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import {
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing/database';
import {
  DatabaseUnavailableError,
  fingerprintOf,
  type IndexSettings,
  IndexStore,
  LeaderLock,
} from '../index.js';
import { LOCK_STATE } from './index-lead.js';
import { type LeaderTimings } from './leader-lock.js';

const settings: IndexSettings = {
  chainId: 31_337,
  stakeContracts: [aWallet(0xa1)],
  tokenContract: aWallet(0xa2),
  startBlock: '1',
  events: [{ event: 'Staked' }],
};
const made = anInitialIndex({ fingerprint: fingerprintOf(settings), settings: { ...settings } });

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

function aLock(timings?: LeaderTimings): LeaderLock {
  return new LeaderLock({ url: test.url, applicationName: 'leader' }, undefined, timings);
}

describe('LeaderLock', () => {
  it('is held by one at a time, and free after its release', async () => {
    const [first, second] = [aLock(), aLock()];
    expect(await first.tryAcquire()).toBe(true);
    expect(await first.tryAcquire()).toBe(true);
    expect(await second.tryAcquire()).toBe(false);
    expect([first.held, second.held]).toEqual([true, false]);
    await first.release();
    expect(await second.tryAcquire()).toBe(true);
    await second.release();
    await second.release();
  });

  it('tells when it is lost, and can be taken again', async () => {
    const lock = aLock();
    await lock.tryAcquire();
    const database = await test.open();
    await database.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'leader'`,
    );
    expect(await lock.lost).toMatchObject({ code: '57P01' });
    expect(lock.held).toBe(false);
    expect(await lock.tryAcquire()).toBe(true);
    await lock.release();
  });

  it('is taken from a leader that went silent while its connection lives on', async () => {
    const [silent, next] = [aLock({ heartbeatMs: 3_600_000, silentMs: 200 }), aLock()];
    expect(await silent.tryAcquire()).toBe(true);
    expect(await silent.lost).toMatchObject({ code: '57P05' });
    expect(await next.tryAcquire()).toBe(true);
    expect(await silent.tryAcquire()).toBe(false);
    await next.release();
  });

  it('is taken from its holder by one that waits in line, however many others want it', async () => {
    const holder = aLock();
    const others = [aLock(), aLock()];
    expect(await holder.tryAcquire()).toBe(true);
    const command = aLock();
    const seized = command.seize();
    while (!command.held) {
      // As soon as the lock is free, the waiting one has it.
      for (const other of others) expect(await other.tryAcquire()).toBe(false);
    }
    await seized;
    expect(await holder.lost).toMatchObject({ code: '57P01' });
    expect(await holder.tryAcquire()).toBe(false);
    await command.release();
    expect(await holder.tryAcquire()).toBe(true);
    await holder.release();
    await command.seize();
    expect(command.held).toBe(true);
    await command.release();
  });

  it('stays with a leader whose heart beats, however long it leads', async () => {
    const [leader, other] = [aLock({ heartbeatMs: 50, silentMs: 1500 }), aLock()];
    expect(await leader.tryAcquire()).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(leader.held).toBe(true);
    expect(await other.tryAcquire()).toBe(false);
    await leader.release();
  });

  it('reports a database that is not there', async () => {
    const lock = new LeaderLock({ url: 'postgresql://u:p@127.0.0.1:1/x', applicationName: 'x' });
    await expect(lock.tryAcquire()).rejects.toThrow(DatabaseUnavailableError);
  });
});

/** A transaction that holds the state's row, like that of a program that stops in the middle of a transaction. */
async function holding(): Promise<{ client: PoolClient; ended: Promise<unknown> }> {
  const { pool } = await test.open();
  const client = await pool.connect();
  const ended = new Promise((resolve) => client.once('end', resolve));
  client.on('error', () => undefined);
  await client.query('BEGIN');
  await client.query(LOCK_STATE({}));
  return { client, ended };
}

/** Waits until the server sees that a session waits for its program. */
async function untilAwaited(): Promise<void> {
  const database = await test.open();
  const awaited = {
    text: `SELECT FROM pg_stat_activity
      WHERE wait_event = 'ClientRead' AND xact_start IS NOT NULL AND datname = current_database()`,
  };
  while ((await database.query(awaited)).length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('taking the lead', () => {
  let store: IndexStore;
  beforeAll(async () => {
    store = new IndexStore(await test.open());
    await store.create(made);
  });

  it('does not wait for a program that stopped inside a transaction', async () => {
    const before = await store.takeLead();
    const { client, ended } = await holding();
    await untilAwaited();
    expect(await store.takeLead({ stalledMs: 0 })).toBe(before + 1n);
    await ended;
    client.release(true);
  });

  it('does not wait for one that stopped inside a COPY, which no time limit ends', async () => {
    const before = await store.takeLead();
    const { client, ended } = await holding();
    const copy = client.query(copyFrom('COPY staking.balance_change FROM STDIN'));
    copy.on('error', () => undefined);
    await new Promise((resolve) => client.connection.once('copyInResponse', resolve));
    await untilAwaited();
    expect(await store.takeLead({ stalledMs: 0 })).toBe(before + 1n);
    await ended;
    client.release(true);
  });

  it('leaves a younger transaction its time', async () => {
    const before = await store.takeLead();
    const { client } = await holding();
    const taken = store.takeLead({ stalledMs: 60_000 });
    await client.query('COMMIT');
    expect(await taken).toBe(before + 1n);
    await client.query('SELECT 1');
    client.release();
  });

  it('is refused over an index of other settings, and fences nobody out then', async () => {
    const fence = await store.takeLead({ settings });
    await expect(
      store.takeLead({ settings: { ...settings, startBlock: '7' } }),
    ).rejects.toMatchObject({
      code: 'SETTINGS_CHANGED',
      message: expect.stringContaining('STAKE_START_BLOCK was "1" and is now "7"'),
    });
    await store.halt(fence, 'still the leader');
    expect(await store.takeLead({ settings })).toBe(fence + 1n);
  });
});
