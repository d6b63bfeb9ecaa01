/** Things that sign in once: links, attempts of OpenID Connect, and nonces. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { aPartnerId } from '#libs/testing/partner';
import {
  type Database,
  LOGIN_ATTEMPT_MS,
  LoginAttemptStore,
  MemberStore,
  type NewSignInLink,
  NonceStore,
  SignInLinkStore,
  forgetExpired,
} from '../index.js';

const NOW_MS = Date.parse('2026-11-21T12:00:00Z');
const TEN = Array.from({ length: 10 }, (_, place) => place);

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open({ url: test.urlAs('console'), poolSize: 10 });
});
afterAll(() => test.drop());

describe('a sign-in link', () => {
  function aLink(change: Partial<NewSignInLink> = {}): NewSignInLink {
    return {
      tokenHash: randomBytes(32),
      standing: { kind: 'operator', role: 'admin' },
      name: 'local',
      createdBy: 'operator:anna',
      nowMs: NOW_MS,
      expiresAtMs: NOW_MS + 60_000,
      ...change,
    };
  }

  it('signs one of ten in who use it at once', async () => {
    const links = new SignInLinkStore(database);
    const link = aLink();
    await links.create(link);
    const uses = await Promise.all(TEN.map(() => links.use(link.tokenHash, NOW_MS)));
    expect(uses.filter((use) => use !== undefined)).toEqual([
      { subject: 'link:local', name: 'local', standing: { kind: 'operator', role: 'admin' } },
    ]);
    expect(await links.use(link.tokenHash, NOW_MS)).toBeUndefined();
  });

  it('is nothing after its end, and is forgotten', async () => {
    const links = new SignInLinkStore(database);
    const link = aLink();
    await links.create(link);
    expect(await links.use(link.tokenHash, link.expiresAtMs)).toBeUndefined();
    await forgetExpired(database, link.expiresAtMs);
    expect(await links.use(link.tokenHash, NOW_MS)).toBeUndefined();
  });

  it('of a partner makes a member', async () => {
    const links = new SignInLinkStore(database);
    const partnerId = aPartnerId();
    const link = aLink({ standing: { kind: 'partner', partnerId }, name: 'demo-1' });
    await links.create(link);
    await links.use(link.tokenHash, NOW_MS);
    expect(await new MemberStore(database).list(partnerId)).toEqual([
      { subject: 'link:demo-1', name: 'demo-1', addedAt: new Date(NOW_MS) },
    ]);
  });

  it('is made by the command line as well, which can use none', async () => {
    const links = new SignInLinkStore(await test.open({ url: test.urlAs('cli') }));
    const link = aLink();
    await links.create(link);
    await expect(links.use(link.tokenHash, NOW_MS)).rejects.toMatchObject({ sqlState: '42501' });
    expect(await new SignInLinkStore(database).use(link.tokenHash, NOW_MS)).toBeDefined();
  });

  it.each(['', 'Anna', 'a b', '-a', 'a|b', 'x'.repeat(65)])('has no name %j', async (name) => {
    const making = new SignInLinkStore(database).create(aLink({ name }));
    await expect(making).rejects.toMatchObject({ sqlState: '23514' });
  });
});

describe('a sign-in by OpenID Connect', () => {
  const ATTEMPT = {
    kind: 'operator',
    codeVerifier: 'v'.repeat(43),
    nonce: 'nonce-of-attempt',
    returnTo: '/operate/redemptions?state=attention#newest',
  } as const;

  it('goes on once, within ten minutes', async () => {
    const attempts = new LoginAttemptStore(database);
    const state = randomBytes(32);
    await attempts.begin(state, ATTEMPT, NOW_MS);
    const later = NOW_MS + LOGIN_ATTEMPT_MS - 1;
    const taken = await Promise.all(TEN.map(() => attempts.take(state, later)));
    expect(taken.filter((one) => one !== undefined)).toEqual([ATTEMPT]);
    const late = randomBytes(32);
    await attempts.begin(late, ATTEMPT, NOW_MS);
    expect(await attempts.take(late, NOW_MS + LOGIN_ATTEMPT_MS)).toBeUndefined();
    expect(await attempts.take(late, NOW_MS)).toBeUndefined();
  });

  it('is forgotten when it has expired', async () => {
    const attempts = new LoginAttemptStore(database);
    const state = randomBytes(32);
    await attempts.begin(state, ATTEMPT, NOW_MS);
    await forgetExpired(database, NOW_MS + LOGIN_ATTEMPT_MS);
    expect(await attempts.take(state, NOW_MS)).toBeUndefined();
  });

  it.each(['/', '/partner/', '/redeem?x=1'])('returns to %s', async (returnTo) => {
    const attempts = new LoginAttemptStore(database);
    const state = randomBytes(32);
    await attempts.begin(state, { ...ATTEMPT, returnTo }, NOW_MS);
    expect(await attempts.take(state, NOW_MS)).toEqual({ ...ATTEMPT, returnTo });
  });

  it.each([
    'https://evil.example.com',
    '//evil.example.com',
    '/\\evil.example.com',
    'javascript:alert(1)',
    '',
    `/${'x'.repeat(2048)}`,
  ])('does not return to %s', async (returnTo) => {
    const attempts = new LoginAttemptStore(database);
    const beginning = attempts.begin(randomBytes(32), { ...ATTEMPT, returnTo }, NOW_MS);
    await expect(beginning).rejects.toMatchObject({ sqlState: '23514' });
  });
});

describe('a nonce of the console', () => {
  it('is taken by one of ten at once, and is not one of the redemption service', async () => {
    const nonces = new NonceStore(database, 'console');
    await nonces.issue('nonce-0001', NOW_MS + 1);
    const uses = await Promise.all(TEN.map(() => nonces.use('nonce-0001', NOW_MS)));
    expect(uses.filter(Boolean)).toHaveLength(1);
    await nonces.issue('nonce-0002', NOW_MS + 1);
    const service = new NonceStore(await test.open({ url: test.urlAs('redemption') }));
    expect(await service.use('nonce-0002', NOW_MS)).toBe(false);
    await forgetExpired(database, NOW_MS + 1);
    expect(await nonces.use('nonce-0002', NOW_MS)).toBe(false);
  });
});
