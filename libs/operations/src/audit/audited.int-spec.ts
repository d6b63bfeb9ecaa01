/** An operation and its audit row: neither is there without the other. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type Database,
  DatabaseRefusedError,
  InvitationStore,
  MemberStore,
  PartnerStore,
  ConsoleSessionStore,
} from '#libs/db';
import { parseDecimal, type PartnerId } from '#libs/domain';
import { KeyRing, mintSecretsKey } from '#libs/signing';
import { FakeClock } from '#libs/testing/clock';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { InviteMember, RemoveMember, WithdrawInvitation } from '../console/invitations.js';
import { MakeSignInLink } from '../console/sign-in-link.js';
import { OptionError } from '../operation.error.js';
import { prepared } from '../operation/operation.js';
import { SetPartner } from '../partners/partners.js';
import { audited } from './audited.js';

const NOW_MS = Date.parse('2026-11-21T12:00:00Z');
const clock = new FakeClock(NOW_MS);
const keyRing = KeyRing.parse(mintSecretsKey().toString('base64'));

let test: TestDatabase;
let owner: Database;
let database: Database;
let partner: PartnerId;
beforeAll(async () => {
  test = await createTestDatabase();
  owner = await test.open();
  database = await test.open({ url: test.urlAs('console') });
});
afterAll(() => test.drop());
let newestId: string;
beforeEach(async () => {
  const credential = {
    ...{ keyHash: randomBytes(32), keyPrefix: 'svck_test', secretCiphertext: randomBytes(64) },
  };
  const name = `Acme ${randomBytes(4).toString('hex')}`;
  const terms = { name, rate: 1, burst: 1, credential };
  partner = (await new PartnerStore(owner).create(terms)).partnerId;
  const text = 'SELECT coalesce(max(id), 0)::text AS id FROM redemption.audit';
  newestId = (await owner.query<{ id: string }>({ text }))[0]?.id ?? '';
});

/** Outcomes of the rows that the test has added to the audit. */
async function outcomes(): Promise<string[]> {
  const text = 'SELECT outcome FROM redemption.audit WHERE id > $1 ORDER BY id';
  const rows = await owner.query<{ outcome: string }>({ text, values: [newestId] });
  return rows.map(({ outcome }) => outcome);
}

/** @param actor the audit takes no row without one */
function as(actor: string, by = database) {
  const consoleOrigin = 'http://127.0.0.1:3003';
  return { database: by, clock, actor, consoleOrigin, keyRing: () => keyRing };
}

describe('what is refused', () => {
  const refusal = new OptionError('More than the most.');
  const refused = (actor: string): Promise<never> =>
    audited(owner, { actor, command: 'partner set' }, {}, () => Promise.reject(refusal));

  it('leaves an audit row', async () => {
    await expect(refused('operator:ann')).rejects.toBe(refusal);
    expect(await outcomes()).toEqual(['refused: OPTION_INVALID']);
  });

  it('says why also where the row is refused too', async () => {
    await expect(refused('')).rejects.toBe(refusal);
    expect(await outcomes()).toEqual([]);
  });

  it('is a lower budget that would by now be a higher one', async () => {
    const set = async (dailyTokenBudget: string, mustOnlyCutBudget = true) => {
      const values = { partner, callback: { dailyTokenBudget }, mustOnlyCutBudget };
      const { callback } = await prepared(SetPartner, values).perform(as('operator:ann', owner));
      return callback?.dailyTokenBudget;
    };
    const whole = { url: 'https://game.example', key: 'k', secret: 's', usdPerPoint: '1' };
    const callback = { ...whole, dailyTokenBudget: '1000' };
    await prepared(SetPartner, { partner, callback }).perform(as('operator:ann', owner));
    expect(await set('999')).toEqual(parseDecimal('999'));
    await expect(set('999.5')).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    expect(await outcomes()).toEqual(['done', 'done', 'refused: OPTION_INVALID']);
    expect(await set('999.5', false)).toEqual(parseDecimal('999.5'));
  });
});

describe('where the audit row cannot be written', () => {
  const invitations = () => new InvitationStore(database);

  /** Makes an invitation. @returns the SHA-256 of its token */
  async function anInvitation(): Promise<Buffer> {
    const tokenHash = randomBytes(32);
    const invitation = { tokenHash, partnerId: partner, invitedBy: 'operator:anna', note: 'Bob' };
    await invitations().create({ ...invitation, nowMs: NOW_MS, expiresAtMs: NOW_MS + 1000 });
    return tokenHash;
  }

  it('no sign-in link is made', async () => {
    const made = prepared(MakeSignInLink, { role: 'admin', name: 'anna' }).perform(as(''));
    await expect(made).rejects.toThrow(DatabaseRefusedError);
    const links = await database.query({ text: 'SELECT name FROM console.sign_in_link' });
    expect(links).toEqual([]);
  });

  it('no invitation is made', async () => {
    const invited = prepared(InviteMember, { partner, note: 'Bob' }).perform(as(''));
    await expect(invited).rejects.toThrow(DatabaseRefusedError);
    expect(await invitations().list(partner, 1)).toEqual([]);
  });

  it('no invitation is withdrawn', async () => {
    const tokenHash = await anInvitation();
    const [newest] = await invitations().list(partner, 1);
    const invitation = String(newest?.id);
    const withdrawn = prepared(WithdrawInvitation, { partner, invitation }).perform(as(''));
    await expect(withdrawn).rejects.toThrow(DatabaseRefusedError);
    expect(await invitations().find(tokenHash, NOW_MS)).toBeDefined();
  });

  it('no member is removed', async () => {
    const subject = 'link:bob';
    await invitations().accept(await anInvitation(), { subject, name: 'Bob' }, NOW_MS);
    const removed = prepared(RemoveMember, { partner, subject }).perform(as(''));
    await expect(removed).rejects.toThrow(DatabaseRefusedError);
    expect(await new MemberStore(database).list(partner)).toMatchObject([{ subject }]);
  });
});

describe('the removal of a member', () => {
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
