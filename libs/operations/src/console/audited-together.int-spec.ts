/** Operations about the people of the web pages: without its audit row no change is made. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PartnerId } from '#libs/domain';
import {
  type Database,
  DatabaseRefusedError,
  InvitationStore,
  MemberStore,
  PartnerStore,
} from '#libs/db';
import { FakeClock } from '#libs/testing/clock';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { prepared } from '../operation/operation.js';
import { InviteMember, RemoveMember, WithdrawInvitation } from './invitations.js';
import { MakeSignInLink } from './sign-in-link.js';

const NOW_MS = Date.parse('2026-11-21T12:00:00Z');
const clock = new FakeClock(NOW_MS);
const ORIGIN = 'http://127.0.0.1:3003';
/** The audit takes no row without an actor. */
function unaudited() {
  const keyRing = (): never => {
    throw new TypeError('no key is needed');
  };
  return { database, clock, actor: '', consoleOrigin: ORIGIN, keyRing };
}

let test: TestDatabase;
let database: Database;
let partner: PartnerId;
let invitations: InvitationStore;
let members: MemberStore;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open({ url: test.urlAs('console') });
  invitations = new InvitationStore(database);
  members = new MemberStore(database);
  const credential = {
    ...{ keyHash: randomBytes(32), keyPrefix: 'svck_test', secretCiphertext: randomBytes(64) },
  };
  const terms = { name: 'Acme', rate: 1, burst: 1, credential };
  partner = (await new PartnerStore(database).create(terms)).partnerId;
});
afterAll(() => test.drop());

/** Makes an invitation. @returns the SHA-256 of its token */
async function anInvitation(): Promise<Buffer> {
  const tokenHash = randomBytes(32);
  const invitation = { tokenHash, partnerId: partner, invitedBy: 'operator:anna', note: 'Bob' };
  await invitations.create({ ...invitation, nowMs: NOW_MS, expiresAtMs: NOW_MS + 1000 });
  return tokenHash;
}

describe('where the audit row cannot be written', () => {
  it('no sign-in link is made', async () => {
    const made = prepared(MakeSignInLink, { role: 'admin', name: 'anna' }).perform(unaudited());
    await expect(made).rejects.toThrow(DatabaseRefusedError);
    const links = await database.query({ text: 'SELECT name FROM console.sign_in_link' });
    expect(links).toEqual([]);
  });

  it('no invitation is made', async () => {
    const invited = prepared(InviteMember, { partner, note: 'Bob' }).perform(unaudited());
    await expect(invited).rejects.toThrow(DatabaseRefusedError);
    expect(await invitations.list(partner, { limit: 1 })).toEqual([]);
  });

  it('no invitation is withdrawn', async () => {
    const tokenHash = await anInvitation();
    const [newest] = await invitations.list(partner, { limit: 1 });
    const invitation = String(newest?.id);
    const withdrawn = prepared(WithdrawInvitation, { partner, invitation }).perform(unaudited());
    await expect(withdrawn).rejects.toThrow(DatabaseRefusedError);
    expect(await invitations.find(tokenHash, NOW_MS)).toBeDefined();
  });

  it('no member is removed', async () => {
    const subject = 'link:bob';
    await invitations.accept(await anInvitation(), { subject, name: 'Bob' }, NOW_MS);
    const removed = prepared(RemoveMember, { partner, subject }).perform(unaudited());
    await expect(removed).rejects.toThrow(DatabaseRefusedError);
    expect(await members.list(partner)).toMatchObject([{ subject }]);
  });
});
