import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import {
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing/database';
import { fingerprintOf, type IndexSettings, IndexStore } from '../index.js';
import { LOCK_STATE } from './index-store.js';

const settings: IndexSettings = {
  chainId: 31_337,
  stakeContracts: [aWallet(0xa1)],
  tokenContract: aWallet(0xa2),
  startBlock: '1',
  events: [{ event: 'Staked' }],
};
const made = anInitialIndex({ fingerprint: fingerprintOf(settings), settings: { ...settings } });

let test: TestDatabase;
let store: IndexStore;
beforeAll(async () => {
  test = await createTestDatabase();
  store = new IndexStore(await test.open());
  await store.create(made);
});
afterAll(() => test.drop());

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
