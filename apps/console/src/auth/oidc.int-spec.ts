import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ConsoleBench, refusalOf } from '../testing/console-harness.support.js';
import { type Visitor } from '../testing/visitor.support.js';
import { type SessionBody } from './auth.dto.js';

const MINUTE = 60_000;

let bench: ConsoleBench;
beforeAll(async () => {
  bench = await ConsoleBench.start();
});
afterAll(() => bench.stop());
beforeEach(() => {
  bench.clock.set(Date.now());
  bench.issuer.groups.set('ann', ['staff', 'ops']);
});

interface Wish {
  readonly kind?: string;
  readonly returnTo?: string;
  readonly fresh?: boolean;
  readonly invitation?: string;
}

async function begin(visitor: Visitor, wish: Wish = {}): Promise<string> {
  const body = { kind: 'operator', returnTo: '/operate/redemptions?state=failed', ...wish };
  const answer = await visitor.post('/api/auth/oidc/start', body);
  if (answer.status !== 200) throw new Error(await answer.text());
  return ((await answer.json()) as { url: string }).url;
}

/** The path to which the console redirects the browser after the sign-in. */
async function end(visitor: Visitor, callback: string): Promise<string> {
  const answer = await visitor.get(callback);
  expect(answer.status).toBe(303);
  return answer.headers.get('location') ?? '';
}

const problemOf = (page: string): string | null =>
  new URL(page, bench.origin).searchParams.get('problem');

describe('signing in by OpenID Connect', () => {
  it('leads back to the page that was asked for, with the highest role of the groups', async () => {
    const visitor = bench.visitor();
    const callback = await bench.issuer.signIn(await begin(visitor), 'ann');
    expect(await end(visitor, callback)).toBe('/operate/redemptions?state=failed');
    const session = (await (await visitor.get('/api/auth/me')).json()) as SessionBody;
    expect(session).toMatchObject({
      kind: 'operator',
      role: 'admin',
      name: 'ann',
      subject: `oidc:${bench.issuer.url}|ann`,
    });
    expect([...visitor.cookies.keys()].toSorted()).toEqual([
      'lowmark-console',
      'lowmark-console-csrf',
    ]);
  });

  it('asks with PKCE, a state and a nonce, for the groups whose scope the issuer lists', async () => {
    const { searchParams } = new URL(await begin(bench.visitor()));
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      scope: 'openid profile email groups',
    });
  });

  it('is refused to who is in no group that has a role', async () => {
    bench.issuer.groups.set('ann', ['players']);
    const visitor = bench.visitor();
    const callback = await bench.issuer.signIn(await begin(visitor), 'ann');
    const page = await end(visitor, callback);
    expect(problemOf(page)).toBe('NOT_AN_OPERATOR');
    expect(new URL(page, bench.origin).searchParams.get('returnTo')).toContain('/operate/');
    expect(visitor.cookies.size).toBe(0);
  });

  it('takes an answer once, and only in the browser that asked', async () => {
    const visitor = bench.visitor();
    const callback = await bench.issuer.signIn(await begin(visitor), 'ann');
    expect(problemOf(await end(bench.visitor(), callback))).toBe('OIDC_STATE');
    const cookies = new Map(visitor.cookies);
    expect(problemOf(await end(visitor, callback))).toBeNull();
    const again = bench.visitor();
    for (const [name, value] of cookies) again.cookies.set(name, value);
    expect(problemOf(await end(again, callback))).toBe('OIDC_STATE');
  });

  it.each([
    ['a code that was made up', { code: 'made-up' }],
    ['another issuer', { iss: 'https://evil.example' }],
  ])('refuses %s', async (_, changes) => {
    const visitor = bench.visitor();
    const own = new URL(await bench.issuer.signIn(await begin(visitor), 'ann'));
    for (const [name, value] of Object.entries(changes)) own.searchParams.set(name, value);
    expect(problemOf(await end(visitor, own.href))).toBe('OIDC_REFUSED');
    expect(visitor.cookies.has('lowmark-console')).toBe(false);
  });

  it.each([
    ['of another sign-in', false],
    ['that was used', true],
  ])('refuses a code %s', async (_, isUsed) => {
    const [visitor, other] = [bench.visitor(), bench.visitor()];
    const foreign = new URL(await bench.issuer.signIn(await begin(other), 'ann'));
    if (isUsed) await end(other, foreign.href);
    const own = new URL(await bench.issuer.signIn(await begin(visitor), 'ann'));
    own.searchParams.set('code', foreign.searchParams.get('code') ?? '');
    expect(problemOf(await end(visitor, own.href))).toBe('OIDC_REFUSED');
    expect(visitor.cookies.has('lowmark-console')).toBe(false);
  });

  it('refuses a nonce and a verifier that are not those of the attempt', async () => {
    for (const change of ["nonce = 'another-nonce'", `code_verifier = repeat('v', 43)`]) {
      const visitor = bench.visitor();
      const callback = await bench.issuer.signIn(await begin(visitor), 'ann');
      await bench.database.query({ text: `UPDATE console.login_attempt SET ${change}` });
      expect(problemOf(await end(visitor, callback))).toBe('OIDC_REFUSED');
    }
  });

  it('says that the person or the issuer said no', async () => {
    const visitor = bench.visitor();
    const state = new URL(await begin(visitor)).searchParams.get('state') ?? '';
    const query = new URLSearchParams({ error: 'access_denied', state, iss: bench.issuer.url });
    const page = await end(visitor, `/api/auth/oidc/callback?${query.toString()}`);
    expect(problemOf(page)).toBe('OIDC_DENIED');
    expect(bench.logged.at(-1)).toContain('access_denied');
  });

  it.each([
    'https://evil.example/operate',
    '/\\evil.example/operate',
    '/\t/evil.example/operate',
    '/api/auth/me',
    'javascript:alert(1)',
    `/operate/${'x'.repeat(2048)}`,
  ])('leads back to no other place: %s', async (returnTo) => {
    const answer = bench.visitor().post('/api/auth/oidc/start', { kind: 'operator', returnTo });
    expect(await refusalOf(answer)).toBe('400 BAD_REQUEST');
  });

  it('asks the person again for a fresh sign-in, and knows how old another one is', async () => {
    const visitor = bench.visitor();
    const browser = bench.visitor();
    await end(visitor, await bench.issuer.signIn(await begin(visitor), 'ann', browser));
    bench.clock.advance(6 * MINUTE);
    // The issuer still has a session of the person, and does not ask for a login.
    await end(visitor, await bench.issuer.signIn(await begin(visitor), 'ann', browser));
    const { freshUntil } = (await (await visitor.get('/api/auth/me')).json()) as SessionBody;
    expect(Date.parse(freshUntil)).toBeLessThan(bench.clock.nowMs());
    const { searchParams } = new URL(await begin(visitor, { fresh: true }));
    expect([searchParams.get('max_age'), searchParams.get('prompt')]).toEqual(['0', 'login']);
  });

  it('is not fresh where the browser has taken out of the URL that the person is asked again', async () => {
    const [visitor, browser] = [bench.visitor(), bench.visitor()];
    await end(visitor, await bench.issuer.signIn(await begin(visitor), 'ann', browser));
    bench.clock.advance(6 * MINUTE);
    const url = new URL(await begin(visitor, { fresh: true }));
    for (const name of ['max_age', 'prompt']) url.searchParams.delete(name);
    await end(visitor, await bench.issuer.signIn(url.href, 'ann', browser));
    const { freshUntil } = (await (await visitor.get('/api/auth/me')).json()) as SessionBody;
    expect(Date.parse(freshUntil)).toBeLessThan(bench.clock.nowMs());
    const action = visitor.post('/api/operate/approvals/999/approve');
    expect(await refusalOf(action)).toBe('401 FRESH_SIGN_IN_NEEDED');
  });

  it('shows the page of the sign-in also where there were too many', async () => {
    const visitor = bench.visitor();
    const callback = await bench.issuer.signIn(await begin(visitor), 'ann');
    const invented = Array.from({ length: 30 }, () =>
      visitor.post('/api/auth/link', { token: 'x' }),
    );
    await Promise.all(invented);
    expect(problemOf(await end(visitor, callback))).toBe('RATE_LIMIT_EXCEEDED');
  });
});

it('logs no code, no state and no secret', async () => {
  const visitor = bench.visitor();
  const callback = new URL(await bench.issuer.signIn(await begin(visitor), 'ann'));
  const verifiers = await bench.database.query<{ code_verifier: string }>({
    text: 'SELECT code_verifier FROM console.login_attempt',
  });
  await end(visitor, callback.href);
  await end(visitor, callback.href);
  const secrets = [
    callback.searchParams.get('code') ?? '',
    callback.searchParams.get('state') ?? '',
    ...verifiers.map((row) => row.code_verifier),
    visitor.cookies.get('lowmark-console') ?? '',
    'a-secret-of-the-console',
  ];
  const log = bench.logged.join('');
  expect(log).toContain('Signed in');
  for (const secret of secrets) {
    expect(secret).not.toBe('');
    expect(log).not.toContain(secret);
  }
});

describe('an issuer that takes the secret in the body only, and has no scope for groups', () => {
  const DN = 'CN=Game\\, Ops,OU=Groups,DC=example,DC=com';
  let other: ConsoleBench;
  beforeAll(async () => {
    other = await ConsoleBench.start(
      { OIDC_ROLES: JSON.stringify({ [DN]: 'operator', staff: 'viewer' }) },
      { onlyMethod: 'client_secret_post', hasNoGroupsScope: true },
    );
  });
  afterAll(() => other.stop());

  it.each([
    ['gets the secret there', ['staff'], 'viewer'],
    ['may name groups as LDAP does', ['players', DN], 'operator'],
  ])('%s', async (_, groups, role) => {
    other.issuer.groups.set('ann', groups);
    const visitor = other.visitor();
    expect(await other.signInByOidc(visitor)).toBe('');
    expect(await (await visitor.get('/api/auth/me')).json()).toMatchObject({ role });
  });

  it('is asked for no scope that it does not list', async () => {
    const { searchParams } = new URL(await begin(other.visitor()));
    expect(searchParams.get('scope')).toBe('openid profile email');
  });
});
