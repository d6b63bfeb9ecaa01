import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PartnerId } from '#libs/domain';
import {
  ConsoleSessionStore,
  type Database,
  InvitationStore,
  MemberStore,
  PartnerStore,
} from '#libs/db';
import { FakeClock } from '#libs/testing/clock';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { prepared } from '../operation/operation.js';
import { RemoveMember } from './invitations.js';

const NOW_MS = Date.parse('2026-11-21T12:00:00Z');
const OPERATOR = { actor: 'operator:anna', command: 'partner remove-member' };
const NOT_MEMBER = { code: 'MEMBER_UNKNOWN' };

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open({ url: test.urlAs('console'), poolSize: 4 });
});
afterAll(() => test.drop());

const clock = new FakeClock(NOW_MS);

async function aPartner(name: string): Promise<PartnerId> {
  const credential = {
    ...{ keyHash: randomBytes(32), keyPrefix: 'svck_test', secretCiphertext: randomBytes(64) },
  };
  const terms = { name, rate: 1, burst: 1, credential };
  return (await new PartnerStore(database).create(terms)).partnerId;
}

async function join(partnerId: PartnerId, subject: string): Promise<void> {
  const tokenHash = randomBytes(32);
  const invitation = { tokenHash, partnerId, invitedBy: 'operator:anna', note: 'x' };
  const invitations = new InvitationStore(database);
  await invitations.create({ ...invitation, nowMs: NOW_MS, expiresAtMs: NOW_MS + 1000 });
  await invitations.accept(tokenHash, { subject, name: 'Bob' }, NOW_MS);
}

async function aSession(partnerId: PartnerId, subject: string): Promise<Buffer> {
  const tokenHash = randomBytes(32);
  const standing = { kind: 'partner', partnerId } as const;
  await new ConsoleSessionStore(database).open({
    ...{ tokenHash, standing, subject, name: 'Bob', nowMs: NOW_MS, expiresAtMs: NOW_MS + 1000 },
  });
  return tokenHash;
}

function remove(partner: PartnerId, subject: string): Promise<void> {
  const keyRing = (): never => {
    throw new TypeError('no key is needed');
  };
  const context = { database, clock, actor: OPERATOR.actor, keyRing };
  return prepared(RemoveMember, { partner, subject }).perform(context);
}

async function isOpen(tokenHash: Buffer): Promise<boolean> {
  const found = await new ConsoleSessionStore(database).find(tokenHash, { nowMs: NOW_MS });
  return found !== undefined;
}

/** Audit rows about a member, oldest first. */
async function audit(subject: string): Promise<object[]> {
  const text = `SELECT actor, command, arguments, outcome, partner FROM redemption.audit
    WHERE arguments ->> 'subject' = $1 ORDER BY id`;
  const admin = await test.open();
  return admin.query({ text }, [subject]);
}

describe('RemoveMember', () => {
  it('ends the sessions of that member for that partner, and of no other', async () => {
    const [acme, nova] = [await aPartner('Acme'), await aPartner('Nova')];
    const [bob, eve] = ['link:bob', 'link:eve'];
    for (const [partnerId, subject] of [
      [acme, bob],
      [acme, eve],
      [nova, bob],
    ] as const) {
      await join(partnerId, subject);
    }
    const ended = await aSession(acme, bob);
    const kept = [await aSession(acme, eve), await aSession(nova, bob)];

    await remove(acme, bob);
    expect(await isOpen(ended)).toBe(false);
    for (const tokenHash of kept) expect(await isOpen(tokenHash)).toBe(true);
    const members = new MemberStore(database);
    expect((await members.list(acme)).map(({ subject }) => subject)).toEqual([eve]);
    expect(await members.partnersOf(bob)).toEqual([{ partnerId: nova, partnerName: 'Nova' }]);
    // A session opened after the removal, by a sign-in that read the membership before, does not count either.
    expect(await isOpen(await aSession(acme, bob))).toBe(false);
  });

  it('is done once, also by ten at the same time, and audits each try', async () => {
    const partner = await aPartner('Once');
    const subject = 'link:once';
    await join(partner, subject);
    const tries = await Promise.allSettled(
      Array.from({ length: 10 }, () => remove(partner, subject)),
    );
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refused = { status: 'rejected', reason: expect.objectContaining(NOT_MEMBER) };
    expect(tries.filter(({ status }) => status === 'rejected')).toEqual(Array(9).fill(refused));
    const rows = await audit(subject);
    expect(rows).toHaveLength(10);
    const outcomes = rows.map((row) => (row as { outcome: string }).outcome).sort();
    expect(outcomes.slice(0, 2)).toEqual(['done', 'refused: MEMBER_UNKNOWN']);
    expect(rows[0]).toMatchObject({
      ...OPERATOR,
      partner,
      arguments: { partner, subject },
    });
  });
});
