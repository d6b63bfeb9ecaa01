import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { DatabaseUnavailableError, LeaderLock } from '../index.js';
import { type LeaderTimings } from './leader-lock.js';

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
    const [leader, other] = [aLock({ heartbeatMs: 50, silentMs: 3000 }), aLock()];
    expect(await leader.tryAcquire()).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 4000));
    expect(leader.held).toBe(true);
    expect(await other.tryAcquire()).toBe(false);
    await leader.release();
  });

  it('reports a database that is not there', async () => {
    const lock = new LeaderLock({ url: 'postgresql://u:p@127.0.0.1:1/x', applicationName: 'x' });
    await expect(lock.tryAcquire()).rejects.toThrow(DatabaseUnavailableError);
  });
});
