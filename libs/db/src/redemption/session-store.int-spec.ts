import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aWallet, createTestDatabase, type TestDatabase } from '#libs/testing';
import { SessionStore } from './session-store.js';

const NOW_MS = Date.parse('2026-11-21T12:00:00Z');

let test: TestDatabase;
let store: SessionStore;

beforeAll(async () => {
  test = await createTestDatabase();
  store = new SessionStore(await test.open());
});
afterAll(() => test.drop());

describe('SessionStore', () => {
  it('finds who is signed in, until the moment of expiry', async () => {
    const hash = randomBytes(32);
    await store.open(hash, aWallet(0xab), NOW_MS + 1000);
    expect(await store.find(hash, NOW_MS)).toBe(aWallet(0xab));
    expect(await store.find(hash, NOW_MS + 999)).toBe(aWallet(0xab));
    expect(await store.find(hash, NOW_MS + 1000)).toBeUndefined();
    expect(await store.find(randomBytes(32), NOW_MS)).toBeUndefined();
  });

  it('closes one session and leaves the others of the wallet', async () => {
    const [here, there] = [randomBytes(32), randomBytes(32)];
    await store.open(here, aWallet(1), NOW_MS + 1000);
    await store.open(there, aWallet(1), NOW_MS + 1000);
    await store.close(here);
    await store.close(here);
    expect(await store.find(here, NOW_MS)).toBeUndefined();
    expect(await store.find(there, NOW_MS)).toBe(aWallet(1));
  });

  it('forgets what has expired', async () => {
    const database = await test.open();
    await store.open(randomBytes(32), aWallet(2), NOW_MS);
    await store.open(randomBytes(32), aWallet(2), NOW_MS + 1);
    await store.forgetExpired(NOW_MS);
    const text = `SELECT 1 FROM redemption.session WHERE wallet = '\\x${aWallet(2).slice(2)}'`;
    expect(await database.query({ text })).toHaveLength(1);
  });

  it('keeps nothing that is not a hash', async () => {
    await expect(store.open(Buffer.from('svct_x'), aWallet(3), NOW_MS)).rejects.toMatchObject({
      code: 'DATABASE_REFUSED',
    });
  });
});
