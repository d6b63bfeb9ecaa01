import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PartnerId } from '#libs/domain';
import { MemberStore } from '#libs/db';
import { anAccount, ConsoleBench, refusalOf, VIEWER } from '../testing/console-harness.support.js';
import { type Visitor } from '../testing/visitor.support.js';
import { type SessionBody } from './auth.dto.js';

const NAME = '<b>אב</b> 🎮';

let bench: ConsoleBench;
let partnerId: PartnerId;
beforeAll(async () => {
  bench = await ConsoleBench.start();
  partnerId = await bench.partner(NAME);
});
afterAll(() => bench.stop());

const me = async (visitor: Visitor) =>
  (await (await visitor.get('/api/auth/me')).json()) as SessionBody;

describe('an invitation', () => {
  it('says who invites, and makes a member of who signs in with it', async () => {
    const account = anAccount();
    const invitation = await bench.invitation(partnerId);
    const visitor = bench.visitor();
    const looked = await visitor.post('/api/auth/invitation', { token: invitation });
    expect(await looked.json()).toEqual({ partner: { id: partnerId, name: NAME } });
    await bench.signedIn(account, { kind: 'partner', invitation }, visitor);
    expect(await me(visitor)).toMatchObject({
      kind: 'partner',
      role: null,
      partner: { id: partnerId, name: NAME },
    });
    const again = bench.visitor().post('/api/auth/invitation', { token: invitation });
    expect(await refusalOf(again)).toBe('403 INVITATION_CLOSED');
    const later = await bench.signedIn(account, { kind: 'partner' });
    expect((await me(later)).partner?.id).toBe(partnerId);
  });

  it('is accepted by OpenID Connect as well', async () => {
    const invitation = await bench.invitation(partnerId);
    const visitor = bench.visitor();
    const begin = { kind: 'partner', returnTo: '/partner', invitation };
    const answer = await visitor.post('/api/auth/oidc/start', begin);
    const { url } = (await answer.json()) as { url: string };
    expect(url).not.toContain(invitation);
    const callback = await bench.issuer.signIn(url, 'their-engineer');
    const landed = await visitor.get(callback);
    expect(landed.headers.get('location')).toBe('/partner');
    expect(await me(visitor)).toMatchObject({ kind: 'partner', name: 'their-engineer' });
    expect(bench.logged.join('')).not.toContain(invitation);
  });
});

describe('a member', () => {
  it('of several partners chooses one, and of no other', async () => {
    const [account, other] = [anAccount(), await bench.partner('Another')];
    const foreign = await bench.partner('Foreign');
    for (const id of [partnerId, other]) {
      const invitation = await bench.invitation(id);
      await bench.signedIn(account, { kind: 'partner', invitation });
    }
    const visitor = await bench.signedIn(account, { kind: 'partner' });
    expect((await me(visitor)).partners).toHaveLength(2);
    const before = (await me(visitor)).freshUntil;
    bench.clock.advance(60_000);
    for (const id of [other, partnerId, other]) {
      const answer = await visitor.post('/api/auth/partner', { partnerId: id });
      expect(((await answer.json()) as SessionBody).partner?.id).toBe(id);
      expect(await me(visitor)).toMatchObject({ partner: { id }, freshUntil: before });
    }
    const refused = visitor.post('/api/auth/partner', { partnerId: foreign });
    expect(await refusalOf(refused)).toBe('403 NOT_A_MEMBER');
    // A fresh sign-in keeps the partner of the session.
    await bench.signedIn(account, { kind: 'partner' }, visitor);
    expect((await me(visitor)).partner?.id).toBe(other);
  });

  it('who is removed is signed out at once, and stays out', async () => {
    const account = anAccount();
    const invitation = await bench.invitation(partnerId);
    const visitor = await bench.signedIn(account, { kind: 'partner', invitation });
    const subject = `wallet:${account.address.toLowerCase()}`;
    await new MemberStore(bench.database).remove(partnerId, subject, bench.clock.nowMs());
    expect(await refusalOf(visitor.get('/api/auth/me'))).toBe('401 SESSION_ENDED');
    await expect(bench.signedIn(account, { kind: 'partner' })).rejects.toThrow('NOT_A_MEMBER');
  });

  it('is left where two withdraw each other at once, and the audit has the one withdrawal', async () => {
    for (let round = 0; round < 3; round += 1) {
      const partner = await bench.partner(`Withdrawn ${round}`);
      const accounts = [anAccount(), anAccount()];
      const visitors = await Promise.all(
        accounts.map(async (account) => {
          const invitation = await bench.invitation(partner);
          return bench.signedIn(account, { kind: 'partner', invitation });
        }),
      );
      const subjects = accounts.map(({ address }) => `wallet:${address.toLowerCase()}`);
      const outcomes = await Promise.all(
        visitors.map((visitor, place) =>
          refusalOf(
            visitor.post('/api/partner/members/withdraw', { subject: subjects[1 - place] }),
          ),
        ),
      );
      const withdrawn = subjects[1 - outcomes.indexOf('204')];
      // The other request comes to the last member, or too late for its session.
      expect(outcomes.toSorted()).toEqual([
        '204',
        expect.stringMatching(/^(?:401 SESSION_ENDED|409 LAST_MEMBER)$/),
      ]);
      const left = await new MemberStore(bench.database).list(partner);
      expect(left.map(({ subject }) => subject)).toEqual(
        subjects.filter((subject) => subject !== withdrawn),
      );
      const audited = await bench.database.query({
        text: `SELECT arguments FROM redemption.audit
          WHERE partner = $1 AND command = 'partner withdraw' AND outcome = 'done'`,
        values: [partner],
      });
      expect(audited).toEqual([{ arguments: { subject: withdrawn } }]);
    }
  });

  it('that there is not is not withdrawn, nor the last one', async () => {
    const account = anAccount();
    const invitation = await bench.invitation(await bench.partner('Alone'));
    const visitor = await bench.signedIn(account, { kind: 'partner', invitation });
    const withdraw = (subject: string) =>
      refusalOf(visitor.post('/api/partner/members/withdraw', { subject }));
    expect(await withdraw('wallet:0x')).toBe('404 MEMBER_MISSING');
    expect(await withdraw(`wallet:${account.address.toLowerCase()}`)).toBe('409 LAST_MEMBER');
    expect((await me(visitor)).partner?.name).toBe('Alone');
  });

  it('is no operator, and an operator is no member', async () => {
    const invitation = await bench.invitation(partnerId);
    const member = await bench.signedIn(anAccount(), { kind: 'partner', invitation });
    expect(await refusalOf(member.get('/api/operate/approvals'))).toBe('403 WRONG_AUDIENCE');
    const operator = await bench.signedIn(VIEWER);
    const choose = operator.post('/api/auth/partner', { partnerId });
    expect(await refusalOf(choose)).toBe('403 NOT_A_MEMBER');
    await expect(bench.signedIn(VIEWER, { kind: 'partner' })).rejects.toThrow('NOT_A_MEMBER');
  });
});

describe('what is malformed is refused', () => {
  it.each(['2026-W10', '2026-060', '2026-02-31', '%00', '2026-03-01T00:00:00%2B99:00'])(
    'since %s',
    async (since) => {
      const wish = { kind: 'partner', invitation: await bench.invitation(partnerId) } as const;
      const member = await bench.signedIn(anAccount(), wish);
      for (const path of ['redemptions', 'requests']) {
        const asked = member.get(`/api/partner/${path}?since=${since}`);
        expect(await refusalOf(asked)).toBe('400 BAD_REQUEST');
      }
    },
  );

  it('a token that is nested 9,000 deep, of anyone', async () => {
    const body = `{"token":${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}}`;
    const headers = {
      origin: bench.origin,
      'content-type': 'application/json',
      'x-csrf-token': 'none',
    };
    const asked = fetch(`${bench.origin}/api/auth/invitation`, { method: 'POST', body, headers });
    expect(await refusalOf(asked)).toBe('400 BAD_REQUEST');
  });
});
