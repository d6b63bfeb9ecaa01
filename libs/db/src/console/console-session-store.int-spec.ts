import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PartnerId } from '#libs/domain';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { aPartnerId } from '#libs/testing/partner';
import {
  ConsoleSessionStore,
  type Database,
  InvitationStore,
  MemberStore,
  type NewConsoleSession,
  forgetExpired,
} from '../index.js';

const NOW_MS = Date.parse('2026-11-21T12:00:00Z');
const HOUR_MS = 3_600_000;
const ANNA = { subject: `wallet:0x${'a1'.repeat(20)}`, name: 'Anna' };

let test: TestDatabase;
let database: Database;
let sessions: ConsoleSessionStore;

beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open({ url: test.urlAs('console'), poolSize: 4 });
  sessions = new ConsoleSessionStore(database);
});
afterAll(() => test.drop());

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

/** Makes a person a member by an invitation. */
async function join(partnerId: PartnerId, subject: string): Promise<void> {
  const invitations = new InvitationStore(database);
  const tokenHash = randomBytes(32);
  const times = { nowMs: NOW_MS, expiresAtMs: NOW_MS + HOUR_MS };
  await invitations.create({
    ...{ tokenHash, partnerId, invitedBy: 'operator:x', note: 'A', ...times },
  });
  await invitations.accept(tokenHash, { ...ANNA, subject }, NOW_MS);
}

describe('ConsoleSessionStore', () => {
  it('finds who is signed in, until the session expires or was idle for too long', async () => {
    const hash = await open();
    const now = new Date(NOW_MS);
    const found = {
      ...ANNA,
      standing: { kind: 'operator', role: 'admin' },
      seenAt: now,
      authenticatedAt: now,
      expiresAt: new Date(NOW_MS + HOUR_MS),
    };
    expect(await sessions.find(hash, { nowMs: NOW_MS })).toEqual(found);
    expect(await sessions.find(hash, { nowMs: NOW_MS + HOUR_MS - 1 })).toEqual(found);
    expect(await sessions.find(hash, { nowMs: NOW_MS + HOUR_MS })).toBeUndefined();
    expect(await sessions.find(hash, { nowMs: NOW_MS + 999, idleMs: 1000 })).toEqual(found);
    expect(await sessions.find(hash, { nowMs: NOW_MS + 1000, idleMs: 1000 })).toBeUndefined();
    expect(await sessions.find(randomBytes(32), { nowMs: NOW_MS })).toBeUndefined();
  });

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

  it('notes to the minute that a session is in use', async () => {
    const hash = await open();
    const seenAtMs = async () => (await sessions.find(hash, { nowMs: NOW_MS }))?.seenAt.getTime();
    await sessions.see(hash, NOW_MS + 59_999);
    expect(await seenAtMs()).toBe(NOW_MS);
    await sessions.see(hash, NOW_MS + 60_000);
    expect(await seenAtMs()).toBe(NOW_MS + 60_000);
  });

  it('closes one of a person, and forgets what expired', async () => {
    const subject = `oidc:https://id.example.com|${randomUUID()}`;
    const [one, two] = [await open({ subject }), await open({ subject })];
    await sessions.close(one);
    expect(await sessions.find(one, { nowMs: NOW_MS })).toBeUndefined();
    expect(await sessions.find(two, { nowMs: NOW_MS })).toBeDefined();
    const expired = await open({ subject, expiresAtMs: NOW_MS + 1 });
    const lasting = await open({ subject, expiresAtMs: NOW_MS + 2 });
    await forgetExpired(database, NOW_MS + 1);
    expect(await sessions.find(expired, { nowMs: NOW_MS })).toBeUndefined();
    expect(await sessions.find(lasting, { nowMs: NOW_MS })).toBeDefined();
  });

  it('of a partner counts only while its person is a member', async () => {
    const members = new MemberStore(database);
    const partnerId = aPartnerId();
    const standing = { kind: 'partner', partnerId } as const;
    const hash = await open({ standing });
    const find = () => sessions.find(hash, { nowMs: NOW_MS });
    expect(await find()).toBeUndefined();
    await join(partnerId, ANNA.subject);
    expect(await find()).toMatchObject({ standing });
    await members.remove(partnerId, ANNA.subject, NOW_MS);
    expect(await find()).toBeUndefined();
    // As by a sign-in that began before the removal.
    const late = await open({ standing });
    expect(await sessions.find(late, { nowMs: NOW_MS })).toBeUndefined();
    expect(await sessions.choosePartner(late, partnerId)).toBe(false);
  });

  it('is for another partner of the same person where they choose one, and as old as before', async () => {
    const subject = `oidc:https://id.example.com|${randomUUID()}`;
    const [acme, nova, foreign] = [aPartnerId(), aPartnerId(), aPartnerId()];
    for (const partnerId of [acme, nova]) await join(partnerId, subject);
    await join(foreign, ANNA.subject);
    const hash = await open({ subject, standing: { kind: 'partner', partnerId: acme } });
    const before = await sessions.find(hash, { nowMs: NOW_MS });
    const partnerOf = async () =>
      (await sessions.find(hash, { nowMs: NOW_MS }))?.standing as
        { partnerId?: string } | undefined;

    expect(await sessions.choosePartner(hash, nova)).toBe(true);
    const chosen = { kind: 'partner', partnerId: nova } as const;
    expect(await sessions.find(hash, { nowMs: NOW_MS })).toEqual({ ...before, standing: chosen });
    // The partner of another person, an unknown partner, and a session that does not exist.
    expect(await sessions.choosePartner(hash, foreign)).toBe(false);
    expect(await sessions.choosePartner(hash, aPartnerId())).toBe(false);
    expect(await sessions.choosePartner(randomBytes(32), acme)).toBe(false);
    expect(await partnerOf()).toEqual(chosen);

    await new MemberStore(database).remove(acme, subject, NOW_MS);
    expect(await sessions.choosePartner(hash, acme)).toBe(false);
    expect(await partnerOf()).toEqual(chosen);
  });

  it('of an operator never becomes that of a partner', async () => {
    const partnerId = aPartnerId();
    await join(partnerId, ANNA.subject);
    const hash = await open();
    expect(await sessions.choosePartner(hash, partnerId)).toBe(false);
    const found = await sessions.find(hash, { nowMs: NOW_MS });
    expect(found?.standing).toEqual({ kind: 'operator', role: 'admin' });
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
});
