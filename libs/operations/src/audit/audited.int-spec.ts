/** An operation and its audit row: neither is there without the other. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type Database,
  DatabaseRefusedError,
  InvitationStore,
  MemberStore,
  PartnerStore,
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
