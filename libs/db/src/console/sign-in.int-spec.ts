/**
 * Who signs in to the console: what signs in once, sessions, members of partners, and the log of it. What the pages do with
 * these is in apps/console/src/auth. And the sessions of players.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type PartnerId, ZERO_ADDRESS } from '#libs/domain';
import { EvidenceKeys } from '#libs/signing';
import { aWallet, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { testEvidence } from '#libs/testing/evidence';
import { aNewCredential, aPartnerId } from '#libs/testing/partner';
import {
  AuditLog,
  CONSOLE_ACTOR,
  ConsoleSessionStore,
  type Database,
  forgetExpired,
  InvitationStore,
  LOGIN_ATTEMPT_MS,
  LoginAttemptStore,
  MemberStore,
  type NewConsoleSession,
  type NewInvitation,
  type NewSignInLink,
  NonceStore,
  PartnerStore,
  SignInLinkStore,
  SignInLog,
} from '../index.js';
import { type NewSessionRow, SessionStore } from '../redemption/session-store.js';

const NOW_MS = Date.parse('2026-11-21T12:00:00Z');
const HOUR_MS = 3_600_000;
const TEN = Array.from({ length: 10 }, (_, place) => place);
const ANNA = { subject: `wallet:0x${'a1'.repeat(20)}`, name: 'Anna' };
const ATTEMPT = {
  kind: 'operator',
  codeVerifier: 'v'.repeat(43),
  nonce: 'nonce-of-attempt',
  returnTo: '/operate/redemptions?state=attention#newest',
} as const;

let test: TestDatabase;
let database: Database;
let sessions: ConsoleSessionStore;
let invitations: InvitationStore;
let members: MemberStore;
let links: SignInLinkStore;
let attempts: LoginAttemptStore;
let nonces: NonceStore;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open({ url: test.urlAs('console'), poolSize: 10 });
  sessions = new ConsoleSessionStore(database);
  invitations = new InvitationStore(database);
  members = new MemberStore(database);
  links = new SignInLinkStore(database);
  attempts = new LoginAttemptStore(database);
  nonces = new NonceStore(database, 'console');
});
afterAll(() => test.drop());

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

/** What signs in once: how it is made, which lasts for ten minutes, and how it is used. */
const ONCE: [string, (key: Buffer) => Promise<unknown>, (key: Buffer, nowMs: number) => unknown][] =
  [
    [
      'link',
      (tokenHash) => links.create(aLink({ tokenHash, expiresAtMs: NOW_MS + LOGIN_ATTEMPT_MS })),
      (tokenHash, nowMs) => links.use(tokenHash, nowMs),
    ],
    [
      'sign-in by OpenID Connect',
      (state) => attempts.begin(state, ATTEMPT, NOW_MS),
      (state, nowMs) => attempts.take(state, nowMs),
    ],
    [
      'nonce',
      (key) => nonces.issue(key.toString('hex'), NOW_MS + LOGIN_ATTEMPT_MS),
      async (key, nowMs) => (await nonces.use(key.toString('hex'), nowMs)) || undefined,
    ],
  ];

describe.each(ONCE)('a %s', (_, make, use) => {
  it('is used by one of ten at once', async () => {
    const key = randomBytes(32);
    await make(key);
    const uses = await Promise.all(TEN.map(() => use(key, NOW_MS + LOGIN_ATTEMPT_MS - 1)));
    expect(uses.filter((one) => one !== undefined)).toHaveLength(1);
    expect(await use(key, NOW_MS)).toBeUndefined();
  });

  it('is nothing after its end, and is forgotten', async () => {
    const key = randomBytes(32);
    await make(key);
    expect(await use(key, NOW_MS + LOGIN_ATTEMPT_MS)).toBeUndefined();
    const other = randomBytes(32);
    await make(other);
    await forgetExpired(database, NOW_MS + LOGIN_ATTEMPT_MS);
    expect(await use(other, NOW_MS)).toBeUndefined();
  });
});

describe('a sign-in link', () => {
  it('of a partner makes a member', async () => {
    const partnerId = aPartnerId();
    const link = aLink({ standing: { kind: 'partner', partnerId }, name: 'demo-1' });
    await links.create(link);
    await links.use(link.tokenHash, NOW_MS);
    expect(await members.list(partnerId)).toEqual([
      { subject: 'link:demo-1', name: 'demo-1', addedAt: new Date(NOW_MS) },
    ]);
  });

  it('is made by the command line as well, which can use none', async () => {
    const own = new SignInLinkStore(await test.open({ url: test.urlAs('cli') }));
    const link = aLink();
    await own.create(link);
    await expect(own.use(link.tokenHash, NOW_MS)).rejects.toMatchObject({ sqlState: '42501' });
    expect(await links.use(link.tokenHash, NOW_MS)).toBeDefined();
  });

  it.each(['', 'Anna', 'a b', '-a', 'a|b', 'x'.repeat(65)])('has no name %j', async (name) => {
    const making = links.create(aLink({ name }));
    await expect(making).rejects.toMatchObject({ sqlState: '23514' });
  });
});

describe('a sign-in by OpenID Connect', () => {
  it.each(['/', '/partner/', '/redeem?x=1'])('returns to %s', async (returnTo) => {
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
    const beginning = attempts.begin(randomBytes(32), { ...ATTEMPT, returnTo }, NOW_MS);
    await expect(beginning).rejects.toMatchObject({ sqlState: '23514' });
  });
});

it('a nonce of the console is not one of the redemption service', async () => {
  await nonces.issue('nonce-0002', NOW_MS + 1);
  const service = new NonceStore(await test.open({ url: test.urlAs('redemption') }));
  expect(await service.use('nonce-0002', NOW_MS)).toBe(false);
});

async function open(change: Partial<NewConsoleSession> = {}): Promise<Buffer> {
  const session: NewConsoleSession = {
    ...ANNA,
    tokenHash: randomBytes(32),
    standing: { kind: 'operator', role: 'admin' },
    nowMs: NOW_MS,
    expiresAtMs: NOW_MS + HOUR_MS,
    ...change,
  };
  await sessions.open(session);
  return session.tokenHash;
}

async function aPartner(name: string): Promise<PartnerId> {
  const terms = { name, rate: 1, burst: 1, credential: aNewCredential() };
  return (await new PartnerStore(database).create(terms)).partnerId;
}

async function invite(change: Partial<NewInvitation> = {}) {
  const invitation: NewInvitation = {
    tokenHash: randomBytes(32),
    partnerId: aPartnerId(),
    invitedBy: 'operator:anna',
    note: 'bob@example.com',
    nowMs: NOW_MS,
    expiresAtMs: NOW_MS + 1000,
    ...change,
  };
  return { ...invitation, id: await invitations.create(invitation) };
}

function aPerson(name = 'Bob') {
  return { subject: `wallet:0x${randomBytes(20).toString('hex')}`, name };
}

describe('a session', () => {
  it('returns what it stores, with no sign-in later than now', async () => {
    for (const authenticatedAtMs of [undefined, NOW_MS + 60_000, NOW_MS, NOW_MS - 60_000]) {
      const tokenHash = randomBytes(32);
      const opened = await sessions.open({
        ...{ ...ANNA, tokenHash, standing: { kind: 'operator', role: 'admin' }, authenticatedAtMs },
        ...{ nowMs: NOW_MS, expiresAtMs: NOW_MS + HOUR_MS },
      });
      expect(opened).toEqual(await sessions.find(tokenHash, { nowMs: NOW_MS }));
      const atMs = Math.min(authenticatedAtMs ?? NOW_MS, NOW_MS);
      expect(opened.authenticatedAt).toEqual(new Date(atMs));
    }
  });

  it.each([
    ['a wallet in other letters', { subject: `wallet:0x${'A1'.repeat(20)}` }],
    ['a subject of no kind', { subject: 'anna' }],
    ['a subject without its second half', { subject: 'oidc:https://id.example.com|' }],
    ['an endless subject', { subject: `oidc:https://id.example.com|${'x'.repeat(600)}` }],
    ['a token in place of its hash', { tokenHash: Buffer.from('svct_token') }],
    ['no name', { name: '' }],
    ['an endless name', { name: 'n'.repeat(256) }],
    ['an end before its beginning', { expiresAtMs: NOW_MS }],
    ['a role that there is not', { standing: { kind: 'operator', role: 'owner' as 'admin' } }],
  ] as const)('keeps no row with %s', async (_, change) => {
    await expect(open(change)).rejects.toMatchObject({ sqlState: '23514' });
  });

  it('keeps names of 255 emoji, in any direction, and with markup', async () => {
    for (const name of ['🦊'.repeat(255), '\u202eannA', '<script>alert(1)</script>']) {
      const hash = await open({ name });
      expect((await sessions.find(hash, { nowMs: NOW_MS }))?.name).toBe(name);
    }
  });

  it('of a partner is none of a person who was removed while they signed in', async () => {
    const { tokenHash: invited, partnerId } = await invite();
    await invitations.accept(invited, ANNA, NOW_MS);
    await members.remove(partnerId, ANNA.subject, NOW_MS);
    const late = await open({ standing: { kind: 'partner', partnerId } });
    expect(await sessions.find(late, { nowMs: NOW_MS })).toBeUndefined();
    expect(await sessions.choosePartner(late, partnerId)).toBe(false);
  });

  it('of an operator never becomes that of a partner', async () => {
    const { tokenHash: invited, partnerId } = await invite();
    await invitations.accept(invited, ANNA, NOW_MS);
    const hash = await open();
    expect(await sessions.choosePartner(hash, partnerId)).toBe(false);
    const found = await sessions.find(hash, { nowMs: NOW_MS });
    expect(found?.standing).toEqual({ kind: 'operator', role: 'admin' });
  });
});

describe('an invitation', () => {
  it('is accepted by one of ten who have it, who is a member then', async () => {
    const partnerId = await aPartner('Acme');
    const { tokenHash } = await invite({ partnerId });
    expect(await invitations.find(tokenHash, NOW_MS)).toEqual({
      ...{ partnerId, partnerName: 'Acme', inviter: null },
    });
    const people = TEN.map((place) => aPerson(`Bob ${place}`));
    const accepted = await Promise.all(
      people.map((person) => invitations.accept(tokenHash, person, NOW_MS)),
    );
    const winner = accepted.findIndex((one) => one !== undefined);
    expect(accepted.filter((one) => one !== undefined)).toEqual([partnerId]);
    expect(await members.list(partnerId)).toEqual([
      { ...people[winner], addedAt: new Date(NOW_MS) },
    ]);
    expect(await invitations.find(tokenHash, NOW_MS)).toBeUndefined();
  });

  it('is accepted or withdrawn, never both, and neither after its end', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { tokenHash, partnerId, id } = await invite();
      const [accepted, withdrawn] = await Promise.all([
        invitations.accept(tokenHash, aPerson(), NOW_MS),
        invitations.withdraw(partnerId, id, NOW_MS),
      ]);
      expect([accepted !== undefined, withdrawn].filter(Boolean)).toHaveLength(1);
      expect(await members.list(partnerId)).toHaveLength(withdrawn ? 0 : 1);
    }
    const { tokenHash, partnerId, id } = await invite();
    expect(await invitations.accept(tokenHash, aPerson(), NOW_MS + 1000)).toBeUndefined();
    expect(await invitations.withdraw(partnerId, id, NOW_MS + 1000)).toBe(false);
    expect(await invitations.withdraw(aPartnerId(), id, NOW_MS)).toBe(false);
  });
});

it('a member who is invited again is there once, under the new name, and comes back after leaving', async () => {
  const [partnerId, person] = [aPartnerId(), aPerson('Bob')];
  const accept = async (name: string) => {
    const { tokenHash } = await invite({ partnerId });
    await invitations.accept(tokenHash, { ...person, name }, NOW_MS);
  };
  await accept('Bob');
  await accept('Robert');
  expect(await members.list(partnerId)).toMatchObject([{ name: 'Robert' }]);
  await members.remove(partnerId, person.subject, NOW_MS);
  await accept('Rob');
  expect(await members.list(partnerId)).toMatchObject([{ name: 'Rob' }]);
});

describe('SignInLog', () => {
  let log: SignInLog;
  beforeEach(async () => {
    await test.empty();
    log = new SignInLog(database);
  });

  const refuse = (from: string, atMs = NOW_MS, unnoted = 0, network = from) =>
    log.noteRefused({ by: 'wallet', from, network, code: 'NOT_AN_OPERATOR', unnoted }, atMs);
  const rows = async () => (await new AuditLog(database).newest({}, { limit: 100 })).entries;

  it('notes five refused ones of an address in an hour, and says how many there were besides', async () => {
    for (let count = 0; count < 5; count++) expect(await refuse('10.0.0.1')).toBe(true);
    expect(await refuse('10.0.0.1')).toBe(false);
    expect(await refuse('10.0.0.2')).toBe(true);
    expect(await refuse('10.0.0.1', NOW_MS + HOUR_MS, 7)).toBe(true);
    const found = await rows();
    expect(found).toHaveLength(7);
    expect(found[0]).toMatchObject({
      ...{ actor: CONSOLE_ACTOR, outcome: 'refused: NOT_AN_OPERATOR' },
      arguments: { by: 'wallet', from: '10.0.0.1', unnoted: 7 },
    });
    expect(found[1]?.arguments).not.toHaveProperty('unnoted');
  });

  it('counts all addresses of a network as one', async () => {
    const noted: boolean[] = [];
    for (let host = 1; host <= 40; host++) {
      noted.push(await refuse(`2001:db8::${host}`, NOW_MS, 0, '2001:db8:0:0::/64'));
    }
    expect(noted.filter(Boolean)).toHaveLength(5);
    expect(await refuse('10.0.0.1')).toBe(true);
    expect((await rows()).map((row) => row.arguments)).toEqual([
      { by: 'wallet', from: '10.0.0.1' },
      ...[5, 4, 3, 2, 1].map((host) => ({
        ...{ by: 'wallet', from: `2001:db8::${host}`, network: '2001:db8:0:0::/64' },
      })),
    ]);
  });

  it('notes thirty refused ones in an hour, however many strangers come at once', async () => {
    const strangers = Array.from({ length: 40 }, (_, place) => `10.1.0.${place}`);
    const noted = await Promise.all(strangers.map((from) => refuse(from)));
    expect(noted.filter(Boolean)).toHaveLength(30);
    expect(await rows()).toHaveLength(30);
    await log.note('operator:ann', { by: 'wallet', from: '10.0.0.9', role: 'viewer' });
    expect(await refuse('10.2.0.1', NOW_MS + HOUR_MS - 1)).toBe(false);
    expect(await refuse('10.2.0.1', NOW_MS + HOUR_MS)).toBe(true);
  });
});

const DOMAIN = 'app.example.com';
const DOMAINS = [DOMAIN, 'other.example.com'];
const SEAL = testEvidence();

let service: Database;
let store: SessionStore;

function openSession(tokenHash: Buffer, wallet = aWallet(0xab), expiresAtMs = NOW_MS + 1000) {
  return store.open({ tokenHash, wallet, domain: DOMAIN, expiresAtMs });
}

beforeAll(async () => {
  // Connects like the service.
  service = await test.open({ url: test.urlAs('redemption') });
  store = new SessionStore(service, SEAL, { siweDomains: DOMAINS });
});

describe('SessionStore', () => {
  it('knows no session of a wallet without a key', async () => {
    const hash = randomBytes(32);
    await openSession(hash, ZERO_ADDRESS);
    expect(await store.find(hash, NOW_MS)).toBeUndefined();
  });

  it('forgets what has expired', async () => {
    await openSession(randomBytes(32), aWallet(2), NOW_MS);
    await openSession(randomBytes(32), aWallet(2), NOW_MS + 1);
    await store.forgetExpired(NOW_MS);
    const nonces = new NonceStore(service);
    await nonces.issue('nonce-0001', NOW_MS);
    await nonces.forgetExpired(NOW_MS);
    expect(await nonces.use('nonce-0001', NOW_MS - 1)).toBe(false);
    const text = `SELECT 1 FROM redemption.session WHERE wallet = '\\x${aWallet(2).slice(2)}'`;
    expect(await service.query({ text })).toHaveLength(1);
  });

  it('keeps nothing that is not a hash', async () => {
    await expect(openSession(Buffer.from('svct_x'), aWallet(3), NOW_MS)).rejects.toMatchObject({
      code: 'DATABASE_REFUSED',
    });
  });

  it('signs in to no page that is not ours any more', async () => {
    const hash = randomBytes(32);
    await openSession(hash);
    const elsewhere = new SessionStore(service, SEAL, { siweDomains: ['other.example.com'] });
    expect(await elsewhere.find(hash, NOW_MS)).toBeUndefined();
    expect(await store.find(hash, NOW_MS)).toBe(aWallet(0xab));
  });
});

/** Rows that the service's own service user can write without the key. */
describe('a session that is made up', () => {
  const MAKE = {
    text: `INSERT INTO redemption.session (token_hash, wallet, domain, expires_at, mac)
      VALUES ($1, $2, $3, $4, $5)`,
  };

  async function made(change: Partial<NewSessionRow>, mac?: (own: Buffer) => Buffer | null) {
    const own = randomBytes(32);
    await openSession(own);
    const [row] = await service.query<{ mac: Buffer }>(
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
    await service.query(MAKE, [
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
