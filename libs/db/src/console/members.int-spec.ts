import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PartnerId } from '#libs/domain';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { aNewCredential, aPartnerId } from '#libs/testing/partner';
import {
  ConsoleSessionStore,
  type Database,
  InvitationStore,
  MemberStore,
  type NewInvitation,
  PartnerStore,
} from '../index.js';

const NOW_MS = Date.parse('2026-11-21T12:00:00Z');
const NOW = new Date(NOW_MS);
const TEN = Array.from({ length: 10 }, (_, place) => place);

let test: TestDatabase;
let database: Database;
let invitations: InvitationStore;
let members: MemberStore;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open({ url: test.urlAs('console'), poolSize: 10 });
  invitations = new InvitationStore(database);
  members = new MemberStore(database);
});
afterAll(() => test.drop());

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
    expect(await members.list(partnerId)).toEqual([{ ...people[winner], addedAt: NOW }]);
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

  it('is listed with those of its partner, newest first, a page at a time', async () => {
    const partnerId = aPartnerId();
    const first = await invite({ partnerId, note: '<b>first</b>' });
    const second = await invite({ partnerId });
    await invite();
    const person = aPerson();
    await invitations.accept(second.tokenHash, person, NOW_MS);
    const [newest] = await invitations.list(partnerId, { limit: 1 });
    expect(newest).toEqual({
      id: second.id,
      invitedBy: 'operator:anna',
      note: 'bob@example.com',
      createdAt: NOW,
      expiresAt: new Date(NOW_MS + 1000),
      acceptedAt: NOW,
      acceptedBy: person.subject,
      withdrawnAt: null,
    });
    const rest = await invitations.list(partnerId, { before: second.id, limit: 10 });
    expect(rest).toMatchObject([{ id: first.id, note: '<b>first</b>', acceptedAt: null }]);
  });
});

describe('a member', () => {
  it('of several partners leaves one of them, and its sessions there end', async () => {
    const person = aPerson();
    const sessions = new ConsoleSessionStore(database);
    const joined: { partnerId: PartnerId; tokenHash: Buffer }[] = [];
    for (const name of ['Zeta', 'beta']) {
      const partnerId = await aPartner(name);
      const { tokenHash } = await invite({ partnerId });
      await invitations.accept(tokenHash, person, NOW_MS);
      const standing = { kind: 'partner', partnerId } as const;
      const times = { nowMs: NOW_MS, expiresAtMs: NOW_MS + 1000 };
      await sessions.open({ ...person, tokenHash, standing, ...times });
      joined.push({ partnerId, tokenHash });
    }
    const [zeta, beta] = joined as [(typeof joined)[number], (typeof joined)[number]];
    expect(await members.partnersOf(person.subject)).toEqual([
      { partnerId: beta.partnerId, partnerName: 'beta' },
      { partnerId: zeta.partnerId, partnerName: 'Zeta' },
    ]);
    expect(await members.remove(zeta.partnerId, person.subject, NOW_MS)).toBe(true);
    expect(await members.remove(zeta.partnerId, person.subject, NOW_MS)).toBe(false);
    expect(await sessions.find(zeta.tokenHash, { nowMs: NOW_MS })).toBeUndefined();
    expect(await sessions.find(beta.tokenHash, { nowMs: NOW_MS })).toBeDefined();
    expect(await members.partnersOf(person.subject)).toMatchObject([{ partnerName: 'beta' }]);
  });

  it('who is invited again is there once, under the new name, and comes back after leaving', async () => {
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
});
