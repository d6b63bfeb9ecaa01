/**
 * Members of partners: how they come and go, and the limits of their actions, which hold over all consoles and leave no
 * audit row of what they refuse.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MemberStore } from '#libs/db';
import { type PartnerId } from '#libs/domain';
import {
  type Account,
  ADMIN,
  anAccount,
  ConsoleBench,
  refusalOf,
  VIEWER,
} from '../testing/console-harness.support.js';
import { type Visitor } from '../testing/visitor.support.js';
import { type SessionBody } from './auth.dto.js';
import { ForgetExpired } from './forget-expired.js';

const NAME = '<b>אב</b> 🎮';
const MINUTE = 60_000;
const SECRETS_KEY = randomBytes(32).toString('base64');

let bench: ConsoleBench;
let partnerId: PartnerId;
beforeAll(async () => {
  bench = await ConsoleBench.start({ SECRETS_KEY });
  partnerId = await bench.partner(NAME);
});
afterAll(() => bench.stop());
beforeEach(() => {
  bench.clock.set(Date.now());
});

const subjectOf = ({ address }: Account): string => `wallet:${address.toLowerCase()}`;
const withdraw = (by: Visitor, subject: string | undefined) =>
  refusalOf(by.post('/api/partner/members/withdraw', { subject }));

describe('an invitation', () => {
  it('says who invites, and makes a member of who signs in with it', async () => {
    const account = anAccount();
    const invitation = await bench.invitation(partnerId);
    const visitor = bench.visitor();
    const looked = await visitor.post('/api/auth/invitation', { token: invitation });
    expect(await looked.json()).toEqual({ partner: { id: partnerId, name: NAME } });
    await bench.signedIn(account, { kind: 'partner', invitation }, visitor);
    const partner = { id: partnerId, name: NAME };
    expect(await bench.me(visitor)).toMatchObject({ kind: 'partner', role: null, partner });
    const again = bench.visitor().post('/api/auth/invitation', { token: invitation });
    expect(await refusalOf(again)).toBe('403 INVITATION_CLOSED');
    const later = await bench.signedIn(account, { kind: 'partner' });
    expect((await bench.me(later)).partner).toMatchObject(partner);
  });

  it('is accepted by OpenID Connect as well', async () => {
    const invitation = await bench.invitation(partnerId);
    const visitor = bench.visitor();
    const begin = { kind: 'partner', returnTo: '/partner', invitation };
    const answer = await visitor.post('/api/auth/oidc/start', begin);
    const { url } = (await answer.json()) as { url: string };
    expect(url).not.toContain(invitation);
    const landed = await visitor.get(await bench.issuer.signIn(url, 'their-engineer'));
    expect(landed.headers.get('location')).toBe('/partner');
    const member = { kind: 'partner', name: 'their-engineer' };
    expect(await bench.me(visitor)).toMatchObject(member);
    expect(bench.logged.join('')).not.toContain(invitation);
  });
});

describe('a member', () => {
  it('of several partners chooses one, and of no other', async () => {
    const [account, other] = [anAccount(), await bench.partner('Another')];
    const foreign = await bench.partner('Foreign');
    for (const id of [partnerId, other]) await bench.member(id, account);
    const visitor = await bench.signedIn(account, { kind: 'partner' });
    const { partners, freshUntil } = await bench.me(visitor);
    expect(partners).toHaveLength(2);
    bench.clock.advance(MINUTE);
    for (const id of [other, partnerId, other]) {
      const answer = await visitor.post('/api/auth/partner', { partnerId: id });
      expect(((await answer.json()) as SessionBody).partner?.id).toBe(id);
      expect(await bench.me(visitor)).toMatchObject({ partner: { id }, freshUntil });
    }
    const refused = visitor.post('/api/auth/partner', { partnerId: foreign });
    expect(await refusalOf(refused)).toBe('403 NOT_A_MEMBER');
    // A fresh sign-in keeps the partner of the session.
    await bench.signedIn(account, { kind: 'partner' }, visitor);
    expect((await bench.me(visitor)).partner?.id).toBe(other);
  });

  it('who is removed is signed out at once, and stays out', async () => {
    const account = anAccount();
    const visitor = await bench.member(partnerId, account);
    const members = new MemberStore(bench.database);
    await members.remove(partnerId, subjectOf(account), bench.clock.nowMs());
    expect(await refusalOf(visitor.get('/api/auth/me'))).toBe('401 SESSION_ENDED');
    await expect(bench.signedIn(account, { kind: 'partner' })).rejects.toThrow('NOT_A_MEMBER');
  });

  it('is left where two withdraw each other at once, and the audit has the one withdrawal', async () => {
    for (let round = 0; round < 3; round += 1) {
      const partner = await bench.partner(`Withdrawn ${round}`);
      const accounts = [anAccount(), anAccount()];
      const visitors = await Promise.all(accounts.map((one) => bench.member(partner, one)));
      const subjects = accounts.map(subjectOf);
      const outcomes = await Promise.all(
        visitors.map((visitor, place) => withdraw(visitor, subjects[1 - place])),
      );
      const withdrawn = subjects[1 - outcomes.indexOf('204')];
      // The other request comes to the last member, or too late for its session.
      expect(outcomes.toSorted()).toEqual([
        '204',
        expect.stringMatching(/^(?:401 SESSION_ENDED|409 LAST_MEMBER)$/),
      ]);
      const left = await new MemberStore(bench.database).list(partner);
      expect(left.map(({ subject }) => subject)).toEqual(subjects.filter((s) => s !== withdrawn));
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
    const visitor = await bench.member(await bench.partner('Alone'), account);
    expect(await withdraw(visitor, 'wallet:0x')).toBe('404 MEMBER_MISSING');
    expect(await withdraw(visitor, subjectOf(account))).toBe('409 LAST_MEMBER');
    expect((await bench.me(visitor)).partner?.name).toBe('Alone');
  });

  it('is no operator, and an operator is no member', async () => {
    const operator = await bench.signedIn(VIEWER);
    const choose = operator.post('/api/auth/partner', { partnerId });
    expect(await refusalOf(choose)).toBe('403 NOT_A_MEMBER');
    await expect(bench.signedIn(VIEWER, { kind: 'partner' })).rejects.toThrow('NOT_A_MEMBER');
  });

  it.each(['2026-W10', '2026-060', '2026-02-31', '%00', '2026-03-01T00:00:00%2B99:00'])(
    'asks for nothing since %s',
    async (since) => {
      const member = await bench.member(partnerId);
      for (const path of ['redemptions', 'requests']) {
        const asked = member.get(`/api/partner/${path}?since=${since}`);
        expect(await refusalOf(asked)).toBe('400 BAD_REQUEST');
      }
    },
  );
});

describe('the limits of members', () => {
  const PATH = '/api/partner/webhooks';
  let other: ConsoleBench;
  let acme: PartnerId;
  let [ann, bob] = [] as unknown as [Account, Account];
  let hook: string;

  beforeAll(async () => {
    other = await ConsoleBench.start({
      ...{ SECRETS_KEY, DATABASE_URL: bench.test.urlAs('console') },
      PORTAL_DATABASE_URL: bench.test.urlAs('portal'),
    });
  });
  afterAll(() => other.stop());
  /** A partner with two members and a webhook, with no limit used up but for that of the webhook's creation. */
  beforeEach(async () => {
    other.clock.set(Date.now());
    acme = await bench.partner(`Acme ${randomBytes(4).toString('hex')}`);
    [ann, bob] = [anAccount(), anAccount()];
    const [owner] = [await bench.member(acme, ann), await bench.member(acme, bob)];
    const wanted = { url: 'https://hooks.example/lowmark', topics: ['redemption.*'] };
    hook = ((await (await owner.post(PATH, wanted)).json()) as { id: string }).id;
  });

  const signedIn = (account: Account, at = bench): Promise<Visitor> =>
    at.signedIn(account, { kind: 'partner' });
  const test = (visitor: Visitor): Promise<Response> => visitor.post(`${PATH}/${hook}/test`);
  /** How many answers there are of each kind, of so many that are asked for at once. */
  async function tally(
    count: number,
    ask: (place: number) => Promise<Response>,
  ): Promise<Record<string, number>> {
    const asked = Array.from({ length: count }, (_, place) => refusalOf(ask(place)));
    const seen: Record<string, number> = {};
    for (const one of await Promise.all(asked)) seen[one] = (seen[one] ?? 0) + 1;
    return seen;
  }

  it('are those of a member, over two consoles, and refused tests of a webhook are in no log', async () => {
    const visitors = [await signedIn(ann), await signedIn(ann, other)];
    expect(await tally(60, (place) => test(visitors[place % 2] as Visitor))).toEqual({
      ...{ '200': 10, '429 RATE_LIMIT_EXCEEDED': 50 },
    });
    const rows = await bench.database.query({
      text: `SELECT FROM redemption.audit WHERE partner = '${acme}' AND command = 'partner webhook test'`,
    });
    expect(rows).toHaveLength(10);
  });

  it('are those of all members of a partner together', async () => {
    for (const visitor of [await signedIn(ann), await signedIn(bob, other)]) {
      expect(await tally(15, () => test(visitor))).toEqual({
        ...{ '200': 10, '429 RATE_LIMIT_EXCEEDED': 5 },
      });
    }
    expect(await refusalOf(test(await bench.member(acme)))).toBe('429 RATE_LIMIT_EXCEEDED');
  });

  it('say when the next is allowed, which then is, and leave no row once they are full again', async () => {
    const visitor = await signedIn(ann);
    for (let times = 0; times < 10; times++) await test(visitor);
    const refused = await test(visitor);
    const { message } = (await refused.json()) as { message: string };
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(message).toBe('You have done this too often: try again in 60 s.');
    bench.clock.advance(MINUTE);
    expect(await refusalOf(test(visitor))).toBe('200');
    expect(await refusalOf(test(visitor))).toBe('429 RATE_LIMIT_EXCEEDED');
    const rows = (): Promise<unknown[]> =>
      bench.database.query({ text: 'SELECT key FROM console.member_limit' });
    expect(await rows()).not.toEqual([]);
    bench.clock.advance(60 * MINUTE);
    await bench.app.get(ForgetExpired).forget();
    expect(await rows()).toEqual([]);
  });

  it('leave another member able to end the one who has used them up', async () => {
    const [thief, owner] = [await signedIn(ann), await signedIn(bob)];
    const changes = await tally(50, () =>
      thief.post(`${PATH}/${hook}/set`, { topics: ['day.sealed'] }),
    );
    expect(changes['204']).toBeLessThanOrEqual(20);
    const pauses = await tally(30, () => thief.post(`${PATH}/${hook}/pause`, { paused: true }));
    expect(Object.keys(pauses)).toContain('429 RATE_LIMIT_EXCEEDED');
    expect(await withdraw(owner, subjectOf(ann))).toBe('204');
    expect(await refusalOf(thief.get(PATH))).toBe('401 SESSION_ENDED');
  });

  it('hold for requests to the api in the name of the partner, since they use up its own limits', async () => {
    const visitor = await signedIn(ann);
    const asked = '/api/partner/snapshot?keyPrefix=svck_x&walletAddress=0x1&lastDays=7';
    expect(await tally(60, () => visitor.get(asked))).toEqual({
      ...{ '404 CREDENTIAL_MISSING': 20, '429 RATE_LIMIT_EXCEEDED': 40 },
    });
    // A member reads as often as the pages ask.
    expect(await tally(60, () => visitor.get(PATH))).toEqual({ '200': 60 });
  });

  it('and their members fill no log of operators, who can read it without their rows', async () => {
    const member = await signedIn(ann);
    for (let times = 0; times < 10; times++) await test(member);
    const admin = await bench.signedIn(ADMIN);
    await admin.post(`/api/operate/partners/${acme}/invitations`, { note: 'one' });
    const actors = async (query: string): Promise<Set<string>> => {
      const answer = await admin.get(`/api/operate/log?partner=${acme}${query}`);
      const { items } = (await answer.json()) as { items: { readonly actor: string }[] };
      return new Set(items.map(({ actor }) => actor.split(':')[0] ?? ''));
    };
    expect(await actors('')).toEqual(new Set(['partner', 'operator']));
    expect(await actors('&members=hide')).toEqual(new Set(['operator']));
  });
});
