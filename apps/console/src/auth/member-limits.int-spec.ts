/** Actions of partners' members have limits that hold over all consoles, and what they refuse leaves no audit row. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type PartnerId } from '#libs/domain';
import { ForgetExpired } from './forget-expired.js';
import {
  type Account,
  ADMIN,
  anAccount,
  ConsoleBench,
  refusalOf,
  VIEWER,
} from '../testing/console-harness.support.js';
import { allRoutes } from '../testing/routes.support.js';
import { type Visitor } from '../testing/visitor.support.js';

const PATH = '/api/partner/webhooks';
const MINUTE = 60_000;
const SECRETS_KEY = randomBytes(32).toString('base64');

let bench: ConsoleBench;
let other: ConsoleBench;
let partnerId: PartnerId;
let ann: Account;
let bob: Account;
let hook: string;

beforeAll(async () => {
  bench = await ConsoleBench.start({ SECRETS_KEY });
  other = await ConsoleBench.start({
    ...{ SECRETS_KEY, DATABASE_URL: bench.test.urlAs('console') },
    PORTAL_DATABASE_URL: bench.test.urlAs('portal'),
  });
});
afterAll(async () => {
  await other.stop();
  await bench.stop();
});

/** A partner with two members and a webhook, with no limit used up but for that of the webhook's creation. */
beforeEach(async () => {
  for (const one of [bench, other]) one.clock.set(Date.now());
  partnerId = await bench.partner(`Acme ${randomBytes(4).toString('hex')}`);
  [ann, bob] = [anAccount(), anAccount()];
  for (const account of [ann, bob]) {
    const invitation = await bench.invitation(partnerId);
    await bench.signedIn(account, { kind: 'partner', invitation });
  }
  const made = await (
    await signedIn(ann)
  ).post(PATH, { url: 'https://hooks.example/lowmark', topics: ['redemption.*'] });
  hook = ((await made.json()) as { id: string }).id;
});

const signedIn = (account: Account, at = bench): Promise<Visitor> =>
  at.signedIn(account, { kind: 'partner' });

const test = (visitor: Visitor): Promise<Response> => visitor.post(`${PATH}/${hook}/test`);

async function auditRows(command: string): Promise<number> {
  const [row] = await bench.database.query<{ count: string }>({
    text: `SELECT count(*) FROM redemption.audit WHERE partner = '${partnerId}' AND command = '${command}'`,
  });
  return Number(row?.count);
}

const tally = (answers: readonly string[]): Record<string, number> =>
  Object.fromEntries(
    [...new Set(answers)].toSorted().map((one) => [one, answers.filter((x) => x === one).length]),
  );

describe('tests of a webhook', () => {
  it('are limited for a member, over two consoles, and refused ones are in no log', async () => {
    const visitors = [await signedIn(ann), await signedIn(ann, other)];
    const sent = Array.from({ length: 60 }, (_, place) =>
      refusalOf(test(visitors[place % 2] as Visitor)),
    );
    expect(tally(await Promise.all(sent))).toEqual({ '200': 10, '429 RATE_LIMIT_EXCEEDED': 50 });
    expect(await auditRows('partner webhook test')).toBe(10);
  });

  it('are limited for all members of a partner together', async () => {
    const visitors = [await signedIn(ann), await signedIn(bob, other)];
    for (const visitor of visitors) {
      const sent = Array.from({ length: 15 }, () => refusalOf(test(visitor)));
      expect(tally(await Promise.all(sent))).toEqual({ '200': 10, '429 RATE_LIMIT_EXCEEDED': 5 });
    }
    const invitation = await bench.invitation(partnerId);
    const third = await bench.signedIn(anAccount(), { kind: 'partner', invitation });
    expect(await refusalOf(test(third))).toBe('429 RATE_LIMIT_EXCEEDED');
  });

  it('say when the next is allowed, which then is', async () => {
    const visitor = await signedIn(ann);
    for (let times = 0; times < 10; times++) await test(visitor);
    const refused = await test(visitor);
    const body = (await refused.json()) as { message: string };
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(body.message).toBe('You have done this too often: try again in 60 s.');
    bench.clock.advance(MINUTE);
    expect(await refusalOf(test(visitor))).toBe('200');
    expect(await refusalOf(test(visitor))).toBe('429 RATE_LIMIT_EXCEEDED');
  });
});

it('changes by one member leave another member able to end that one', async () => {
  const [thief, owner] = [await signedIn(ann), await signedIn(bob)];
  const change = (visitor: Visitor): Promise<string> =>
    refusalOf(visitor.post(`${PATH}/${hook}/set`, { topics: ['day.sealed'] }));
  const changed = await Promise.all(Array.from({ length: 50 }, () => change(thief)));
  expect(changed.filter((one) => one === '204').length).toBeLessThanOrEqual(20);
  const paused = Array.from({ length: 30 }, () =>
    refusalOf(thief.post(`${PATH}/${hook}/pause`, { paused: true })),
  );
  expect(await Promise.all(paused)).toContain('429 RATE_LIMIT_EXCEEDED');
  const subject = `wallet:${ann.address.toLowerCase()}`;
  expect(await refusalOf(owner.post('/api/partner/members/withdraw', { subject }))).toBe('204');
  expect(await refusalOf(thief.get(PATH))).toBe('401 SESSION_ENDED');
});

it('operators read the log without the rows of members', async () => {
  const member = await signedIn(ann);
  for (let times = 0; times < 10; times++) await test(member);
  const operator = await bench.signedIn(VIEWER);
  const actors = async (query: string): Promise<Set<string>> => {
    const answer = await operator.get(`/api/operate/log?partner=${partnerId}${query}`);
    const { items } = (await answer.json()) as { items: { readonly actor: string }[] };
    return new Set(items.map(({ actor }) => actor.split(':')[0] ?? ''));
  };
  const admin = await bench.signedIn(ADMIN);
  await admin.post(`/api/operate/partners/${partnerId}/invitations`, { note: 'one' });
  expect(await actors('')).toEqual(new Set(['partner', 'operator']));
  expect(await actors('&members=hide')).toEqual(new Set(['operator']));
});

it('each action of members has a limit', () => {
  const routes = allRoutes(bench.app).filter(
    ({ audience, method }) => audience?.kind === 'partner' && method !== 'GET',
  );
  expect(routes.length).toBeGreaterThan(10);
  for (const { path, isLimited } of routes)
    expect({ path, isLimited }).toEqual({ path, isLimited: true });
});

it('requests to the api in the name of the partner are limited, since they use up its own limits', async () => {
  const visitor = await signedIn(ann);
  const asked = '/api/partner/snapshot?keyPrefix=svck_x&walletAddress=0x1&lastDays=7';
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => refusalOf(visitor.get(asked))),
  );
  expect(tally(answers)).toEqual({ '404 CREDENTIAL_MISSING': 20, '429 RATE_LIMIT_EXCEEDED': 40 });
});

it('a member reads as often as the pages ask', async () => {
  const visitor = await signedIn(ann);
  const read = await Promise.all(Array.from({ length: 60 }, () => refusalOf(visitor.get(PATH))));
  expect(tally(read)).toEqual({ '200': 60 });
});

it('full buckets leave no row', async () => {
  const visitor = await signedIn(ann);
  await test(visitor);
  const rows = (): Promise<unknown[]> =>
    bench.database.query({ text: 'SELECT key FROM console.member_limit' });
  expect(await rows()).not.toEqual([]);
  bench.clock.advance(60 * MINUTE);
  await bench.app.get(ForgetExpired).forget();
  expect(await rows()).toEqual([]);
});
