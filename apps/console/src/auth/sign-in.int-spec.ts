import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AuditLog, SIGN_IN_COMMAND, SignInLog } from '#libs/db';
import { HttpProblem } from '#libs/service';
import { eventually, FakeClock } from '#libs/testing/clock';
import {
  ADMIN,
  anAccount,
  ConsoleBench,
  refusalOf,
  VIEWER,
} from '../testing/console-harness.support.js';
import { SignInAudit } from './sign-in-audit.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

let bench: ConsoleBench;
beforeAll(async () => {
  bench = await ConsoleBench.start();
});
afterAll(() => bench.stop());

describe('an operator’s wallet', () => {
  it('signs in with the role of the list', async () => {
    const visitor = await bench.signedIn(ADMIN);
    expect(await bench.me(visitor)).toMatchObject({
      kind: 'operator',
      role: 'admin',
      subject: `wallet:${ADMIN.address.toLowerCase()}`,
      csrf: visitor.cookies.get('lowmark-console-csrf'),
    });
  });

  it('gets a cookie that no script reads and no other site sends', async () => {
    const visitor = bench.visitor();
    const body = { ...(await bench.message(visitor, ADMIN)), kind: 'operator' };
    const answer = await visitor.post('/api/auth/wallet/verify', body);
    const [session] = answer.headers.getSetCookie();
    expect(session).toMatch(
      /^lowmark-console=svct_[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(await answer.text()).not.toContain(visitor.cookies.get('lowmark-console'));
  });

  // The redemption service's spec has every way in which a message or a wallet may be wrong.
  it.each([
    ['domain', '401 SIWE_DOMAIN', 'evil.example'],
    ['uri', '401 SIWE_URI', 'https://evil.example/'],
  ])('is refused with a message for another %s', async (field, refusal, value) => {
    const visitor = bench.visitor();
    const signed = await bench.message(visitor, ADMIN, { [field]: value });
    const answer = visitor.post('/api/auth/wallet/verify', { ...signed, kind: 'operator' });
    expect(await refusalOf(answer)).toBe(refusal);
    expect(visitor.cookies.size).toBe(0);
  });

  it('is refused with the signature of another, and with the same message again', async () => {
    const visitor = bench.visitor();
    const { message, signature } = await bench.message(visitor, ADMIN);
    const verify = (by: string) =>
      visitor.post('/api/auth/wallet/verify', { message, signature: by, kind: 'operator' });
    const others = await anAccount().signMessage({ message });
    expect(await refusalOf(verify(others))).toBe('401 SIWE_SIGNATURE');
    expect(await refusalOf(verify(`${signature}00`))).toBe('400 BAD_REQUEST');
    expect((await verify(signature)).status).toBe(200);
    expect(await refusalOf(verify(signature))).toBe('401 SIWE_NONCE');
  });

  it('is refused where it is the zero address, whose key nobody holds', async () => {
    const visitor = bench.visitor();
    const { message } = await bench.message(visitor, ADMIN, { address: `0x${'0'.repeat(40)}` });
    const signed = { message, signature: `0x${'00'.repeat(64)}1b` };
    const answer = visitor.post('/api/auth/wallet/verify', { ...signed, kind: 'operator' });
    expect(await refusalOf(answer)).toBe('401 SIWE_WALLET');
  });

  it('is refused where it is not in the list', async () => {
    const stranger = anAccount();
    await expect(bench.signedIn(stranger)).rejects.toThrow('NOT_AN_OPERATOR');
    const visitor = bench.visitor();
    const signed = await bench.message(visitor, stranger);
    const answer = await visitor.post('/api/auth/wallet/verify', { ...signed, kind: 'operator' });
    const { message } = (await answer.json()) as { message: string };
    expect(message).toContain(`The account ${stranger.address.toLowerCase()} is not one of`);
    expect(message).toContain('OPERATORS');
  });
});

describe('a link', () => {
  it('signs in once, also where two use it at once', async () => {
    const token = await bench.link();
    const visitors = [bench.visitor(), bench.visitor(), bench.visitor()];
    const answers = await Promise.all(
      visitors.map((one) => refusalOf(one.post('/api/auth/link', { token }))),
    );
    expect(answers.toSorted()).toEqual(['200', '403 LINK_CLOSED', '403 LINK_CLOSED']);
  });

  it.each([
    ['svct_' + 'a'.repeat(43), '403 LINK_CLOSED'],
    ['', '403 LINK_CLOSED'],
    ['x'.repeat(100), '403 LINK_CLOSED'],
    ['\u0000', '400 BAD_REQUEST'],
  ])('that is none is refused: %j', async (token, refusal) => {
    expect(await refusalOf(bench.visitor().post('/api/auth/link', { token }))).toBe(refusal);
  });
});

describe('the log', () => {
  const newest = async (limit: number) =>
    (await new AuditLog(bench.database).newest({ command: SIGN_IN_COMMAND }, { limit })).entries;

  it('has who signed in, how and from where', async () => {
    await bench.signedIn(ADMIN, { kind: 'operator' }, bench.visitor('203.0.113.7'));
    const token = await bench.link({ kind: 'operator', role: 'viewer' }, 'emergency');
    await bench.visitor('203.0.113.8').post('/api/auth/link', { token });
    expect(await newest(2)).toMatchObject([
      {
        actor: expect.stringMatching(/^operator:emergency\./),
        ...{ arguments: { by: 'link', from: '203.0.113.8', role: 'viewer' }, outcome: 'done' },
      },
      {
        actor: `operator:${ADMIN.address.toLowerCase()}`,
        ...{ arguments: { by: 'wallet', from: '203.0.113.7', role: 'admin' }, outcome: 'done' },
      },
    ]);
  });

  it('has who was refused, and no secret; a member of a partner is not in it', async () => {
    bench.clock.advance(60 * MINUTE);
    const [stranger, visitor] = [anAccount(), bench.visitor('203.0.113.9')];
    await expect(bench.signedIn(stranger, { kind: 'operator' }, visitor)).rejects.toThrow();
    const token = 'svct_' + 'b'.repeat(43);
    await visitor.post('/api/auth/link', { token });
    const { message } = await bench.message(visitor, ADMIN);
    const signature = await stranger.signMessage({ message });
    await visitor.post('/api/auth/wallet/verify', { message, signature, kind: 'operator' });
    await expect(bench.signedIn(stranger, { kind: 'partner' }, visitor)).rejects.toThrow();
    const found = await newest(4);
    const who = `operator:${stranger.address.toLowerCase()}`;
    const from = '203.0.113.9';
    expect(found.slice(0, 3)).toMatchObject([
      { actor: 'console', outcome: 'refused: SIWE_SIGNATURE', arguments: { by: 'wallet', from } },
      { actor: 'console', outcome: 'refused: LINK_CLOSED', arguments: { by: 'link', from } },
      { outcome: 'refused: NOT_AN_OPERATOR', arguments: { by: 'wallet', from, who } },
    ]);
    expect(found[3]?.arguments).not.toMatchObject({ from });
    expect(JSON.stringify(found)).not.toContain(token);
  });

  it('says of each refusal that was not noted once, also where others are noted meanwhile', async () => {
    const database = await bench.test.open({ url: bench.test.urlAs('console'), poolSize: 5 });
    const clock = new FakeClock(bench.clock.nowMs());
    const audit = new SignInAudit(new SignInLog(database), clock);
    const [from, refused] = [
      '203.0.113.11',
      new HttpProblem(403, 'no operator', { code: 'NOT_AN_OPERATOR' }),
    ];
    const refuse = (): Promise<void> => audit.noteRefused(refused, { by: 'wallet', from });
    // Five of an address are noted in an hour, and two are not.
    for (let count = 0; count < 7; count++) await refuse();
    clock.advance(60 * MINUTE);
    const holder = await database.pool.connect();
    await holder.query(`SELECT pg_advisory_lock(4219, 2)`);
    const refusals = [refuse(), refuse()];
    await eventually(async () => {
      const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = 4219 AND NOT granted`;
      return (await database.query({ text: waiting })).length === refusals.length;
    });
    await holder.query(`SELECT pg_advisory_unlock(4219, 2)`);
    holder.release();
    await Promise.all(refusals);
    const entries = await newest(100);
    const unnoted = entries
      .map((entry) => entry.arguments as { from?: string; unnoted?: number })
      .map((one) => (one.from === from ? (one.unnoted ?? 0) : 0));
    expect(unnoted.reduce((sum, one) => sum + one, 0)).toBe(2);
  });
});

describe('a session', () => {
  it('ends when it is not used, and goes on when it is', async () => {
    const visitor = await bench.signedIn(VIEWER);
    for (let times = 0; times < 3; times++) {
      bench.clock.advance(29 * MINUTE);
      expect(await refusalOf(visitor.get('/api/auth/me'))).toBe('200');
    }
    bench.clock.advance(30 * MINUTE + SECOND);
    expect(await refusalOf(visitor.get('/api/auth/me'))).toBe('401 SESSION_ENDED');
  });

  it('does not go on by what a page asks by itself', async () => {
    const visitor = await bench.signedIn(VIEWER);
    for (let minutes = 0; minutes < 29; minutes++) {
      bench.clock.advance(MINUTE);
      const answer = visitor.get('/api/auth/me', { 'x-background': '1' });
      expect(await refusalOf(answer)).toBe('200');
    }
    bench.clock.advance(MINUTE + SECOND);
    expect(await refusalOf(visitor.get('/api/auth/me'))).toBe('401 SESSION_ENDED');
  });

  it('ends after twelve hours in any case', async () => {
    const visitor = await bench.signedIn(VIEWER);
    for (let minutes = 0; minutes < 12 * 60 - 20; minutes += 20) {
      bench.clock.advance(20 * MINUTE);
      expect(await refusalOf(visitor.get('/api/auth/me'))).toBe('200');
    }
    bench.clock.advance(20 * MINUTE);
    expect(await refusalOf(visitor.get('/api/auth/me'))).toBe('401 SESSION_ENDED');
  });

  it('ends by signing out, and the one before by signing in again', async () => {
    const visitor = await bench.signedIn(VIEWER);
    const before = new Map(visitor.cookies);
    await bench.signedIn(VIEWER, { kind: 'operator' }, visitor);
    const thief = bench.visitor();
    for (const [name, value] of before) thief.cookies.set(name, value);
    expect(await refusalOf(thief.get('/api/auth/me'))).toBe('401 SESSION_ENDED');
    const copy = bench.visitor();
    for (const [name, value] of visitor.cookies) copy.cookies.set(name, value);
    expect((await visitor.post('/api/auth/logout')).status).toBe(204);
    expect(visitor.cookies.size).toBe(0);
    expect(await refusalOf(copy.get('/api/auth/me'))).toBe('401 SESSION_ENDED');
    expect(await refusalOf(visitor.get('/api/auth/me'))).toBe('401 SIGN_IN_NEEDED');
  });

  it('takes what changes something from its own pages only', async () => {
    const visitor = await bench.signedIn(VIEWER);
    const logOut = (headers: Record<string, string | undefined>) =>
      refusalOf(visitor.post('/api/auth/logout', {}, headers));
    expect(await logOut({ origin: 'https://evil.example' })).toBe('403 FOREIGN_ORIGIN');
    expect(await logOut({ origin: undefined })).toBe('403 FOREIGN_ORIGIN');
    expect(await logOut({ 'x-csrf-token': undefined })).toBe('403 CSRF_TOKEN');
    expect(await logOut({ 'x-csrf-token': 'guessed' })).toBe('403 CSRF_TOKEN');
    expect(await refusalOf(visitor.get('/api/auth/me'))).toBe('200');
  });
});

describe('a body', () => {
  it('is paid for before it is read, without a session too', async () => {
    const visitor = bench.visitor();
    const answers: number[] = [];
    for (let sent = 0; sent < 130; sent += 1) {
      const answer = await fetch(new URL('/api/auth/logout', bench.origin), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': visitor.clientAddress },
        // 400 once it is read.
        body: `["${'x'.repeat(60_000)}"`,
      });
      answers.push(answer.status);
    }
    expect(answers.filter((status) => status === 400)).toHaveLength(100);
    expect(answers.filter((status) => status === 429)).toHaveLength(30);
    expect(await bench.me(await bench.signedIn(ADMIN))).toMatchObject({ role: 'admin' });
  });
});

describe('who guesses', () => {
  it('is slowed down, and no one else', async () => {
    const guesser = bench.visitor();
    const answers: string[] = [];
    for (let times = 0; times < 40; times++) {
      guesser.cookies.set('lowmark-console', `svct_${'a'.repeat(41)}${times + 10}`);
      answers.push(await refusalOf(guesser.get('/api/auth/me')));
    }
    expect(new Set(answers)).toEqual(new Set(['401 SESSION_ENDED', '429 RATE_LIMIT_EXCEEDED']));
    guesser.cookies.clear();
    const linkGuesses = await Promise.all(
      Array.from({ length: 30 }, () => refusalOf(guesser.post('/api/auth/link', { token: 'x' }))),
    );
    expect(linkGuesses).toContain('429 RATE_LIMIT_EXCEEDED');
    expect(await bench.me(await bench.signedIn(ADMIN))).toMatchObject({ role: 'admin' });
  });

  it('does not shut out the sessions of the same address, nor does one its own', async () => {
    const visitor = await bench.signedIn(ADMIN);
    const guesser = bench.visitor(visitor.clientAddress);
    guesser.cookies.set('lowmark-console', `svct_${'b'.repeat(43)}`);
    const guesses = await Promise.all(
      Array.from({ length: 60 }, () => refusalOf(guesser.get('/api/auth/me'))),
    );
    expect(guesses).toContain('429 RATE_LIMIT_EXCEEDED');
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => refusalOf(visitor.get('/api/auth/me'))),
    );
    expect(new Set(answers)).toEqual(new Set(['200']));
  });
});

it('no token is in the log or in the database', async () => {
  const visitor = bench.visitor();
  const link = await bench.link({ kind: 'operator', role: 'viewer' }, 'logged');
  await visitor.post('/api/auth/link', { token: link });
  await refusalOf(visitor.post('/api/auth/link', { token: link }));
  const session = visitor.cookies.get('lowmark-console') ?? '';
  expect(session).toMatch(/^svct_/);
  const rows = await bench.database.query({
    text: `SELECT row_to_json(s)::text AS row FROM console.session s
      UNION ALL SELECT row_to_json(l)::text FROM console.sign_in_link l`,
  });
  const kept = bench.logged.join('') + JSON.stringify(rows);
  expect(kept).toContain('Signed in');
  for (const token of [link, session, session.slice(5)]) expect(kept).not.toContain(token);
});
