import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ZERO_ADDRESS } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { EvidenceKeys } from '#libs/signing';
import { aWallet, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { testEvidence } from '#libs/testing/evidence';
import { NonceStore } from './nonce-store.js';
import { type NewSessionRow, SessionStore } from './session-store.js';

const NOW_MS = Date.parse('2026-11-21T12:00:00Z');

const DOMAIN = 'app.example.com';
const DOMAINS = [DOMAIN, 'other.example.com'];
const SEAL = testEvidence();

let test: TestDatabase;
let database: Database;
let store: SessionStore;

function open(tokenHash: Buffer, wallet = aWallet(0xab), expiresAtMs = NOW_MS + 1000) {
  return store.open({ tokenHash, wallet, domain: DOMAIN, expiresAtMs });
}

beforeAll(async () => {
  test = await createTestDatabase();
  // Connects like the service.
  database = await test.open({ url: test.urlAs('redemption') });
  store = new SessionStore(database, SEAL, { siweDomains: DOMAINS });
});
afterAll(() => test.drop());

describe('SessionStore', () => {
  it('knows no session of a wallet without a key', async () => {
    const hash = randomBytes(32);
    await open(hash, ZERO_ADDRESS);
    expect(await store.find(hash, NOW_MS)).toBeUndefined();
  });

  it('forgets what has expired', async () => {
    await open(randomBytes(32), aWallet(2), NOW_MS);
    await open(randomBytes(32), aWallet(2), NOW_MS + 1);
    await store.forgetExpired(NOW_MS);
    const nonces = new NonceStore(database);
    await nonces.issue('nonce-0001', NOW_MS);
    await nonces.forgetExpired(NOW_MS);
    expect(await nonces.use('nonce-0001', NOW_MS - 1)).toBe(false);
    const text = `SELECT 1 FROM redemption.session WHERE wallet = '\\x${aWallet(2).slice(2)}'`;
    expect(await database.query({ text })).toHaveLength(1);
  });

  it('keeps nothing that is not a hash', async () => {
    await expect(open(Buffer.from('svct_x'), aWallet(3), NOW_MS)).rejects.toMatchObject({
      code: 'DATABASE_REFUSED',
    });
  });

  it('signs in to no page that is not ours any more', async () => {
    const hash = randomBytes(32);
    await open(hash);
    const elsewhere = new SessionStore(database, SEAL, { siweDomains: ['other.example.com'] });
    expect(await elsewhere.find(hash, NOW_MS)).toBeUndefined();
    expect(await store.find(hash, NOW_MS)).toBe(aWallet(0xab));
  });
});

/** Rows that the service's own database user can write without the key. */
describe('a session that is made up', () => {
  const MAKE = {
    text: `INSERT INTO redemption.session (token_hash, wallet, domain, expires_at, mac)
      VALUES ($1, $2, $3, $4, $5)`,
  };

  async function made(change: Partial<NewSessionRow>, mac?: (own: Buffer) => Buffer | null) {
    const own = randomBytes(32);
    await open(own);
    const [row] = await database.query<{ mac: Buffer }>(
      { text: 'SELECT mac FROM redemption.session WHERE token_hash = $1' },
      [own],
    );
    await store.close(own);
    const {
      tokenHash = own,
      wallet = aWallet(0xab),
      domain = DOMAIN,
      expiresAtMs = NOW_MS + 1000,
    } = change;
    const taken = row?.mac ?? Buffer.alloc(0);
    await database.query(MAKE, [
      tokenHash,
      Buffer.from(wallet.slice(2), 'hex'),
      domain,
      new Date(expiresAtMs),
      mac === undefined ? taken : mac(taken),
    ]);
    return store.find(tokenHash, NOW_MS);
  }

  it('counts with the MAC of the very same row only', async () => {
    expect(await made({})).toBe(aWallet(0xab));
  });

  it.each<[string, Partial<NewSessionRow>]>([
    ['another token', { tokenHash: randomBytes(32) }],
    ['another wallet', { wallet: aWallet(0xbb) }],
    ['another page', { domain: 'other.example.com' }],
    ['another end', { expiresAtMs: NOW_MS + 1001 }],
  ])('is not valid with %s', async (_, change) => {
    expect(await made(change)).toBeUndefined();
  });

  it('is refused without a MAC', async () => {
    await expect(made({}, () => null)).rejects.toMatchObject({ code: 'DATABASE_REFUSED' });
  });

  it.each<[string, () => Buffer]>([
    [
      'a MAC of another key',
      () => EvidenceKeys.parse(Buffer.alloc(32, 1).toString('base64')).mac('x'),
    ],
    ['some bytes', () => randomBytes(36)],
  ])('is not valid with %s', async (_, mac) => {
    expect(await made({}, mac)).toBeUndefined();
  });
});
