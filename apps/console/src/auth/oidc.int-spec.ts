/**
 * Signing in by OpenID Connect, and what a changed way between the console and the issuer can do: answers of the issuer
 * with other keys and claims.
 */
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ConsoleBench, refusalOf } from '../testing/console-harness.support.js';
import { CLIENT_SECRET } from '../testing/oidc-issuer.support.js';
import { type Visitor } from '../testing/visitor.support.js';

type Json = Record<string, unknown>;
interface Token {
  readonly header: Json;
  readonly claims: Json;
  /** The token as the issuer made it. */
  readonly text: string;
}

const MINUTE = 60_000;
const HOUR_SECONDS = 3600;
const TOKEN = '/token';
const KEYS = '/jwks';
const DISCOVERY = '/.well-known/openid-configuration';
/** For so long an unknown key makes the console fetch the keys no second time. */
const REFETCH_MS = 61_000;

const newKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
type Key = ReturnType<typeof newKey>;
/** The issuer publishes `next` beside its own key, and `later` only after a rotation; `foreign` never. */
const [foreign, next, later] = [newKey(), newKey(), newKey()];
const dateNow = Date.now.bind(Date);

let bench: ConsoleBench;
beforeAll(async () => {
  bench = await ConsoleBench.start();
});
afterAll(() => bench.stop());
beforeEach(() => {
  bench.clock.set(Date.now());
  bench.issuer.groups.set('ann', ['staff']);
  publish({ next });
});
afterEach(() => {
  bench.issuer.onTheWay.clear();
  Date.now = dateNow;
});

/** Adds keys to those of the issuer. */
function publish(keys: Readonly<Record<string, Key>>): void {
  const more = Object.entries(keys).map(([kid, { publicKey }]) => ({
    ...{ ...publicKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid },
  }));
  changeJson(KEYS, ({ keys: own }) => ({ keys: [...(own as Json[]), ...more] }));
}

/** Changes the JSON of an answer of the issuer on its way. */
function changeJson(path: string, change: (body: Json) => Json): void {
  bench.issuer.onTheWay.set(path, (body) => JSON.stringify(change(JSON.parse(body) as Json)));
}

/** Signs ann in. @returns the code of the refusal, or the role of the session */
async function signIn(): Promise<string> {
  const visitor = bench.visitor();
  const problem = await bench.signInByOidc(visitor);
  if (problem === '') return (await bench.me(visitor)).role ?? 'none';
  expect(visitor.cookies.size).toBe(0);
  return problem;
}

/** The log of what is done. */
async function logOf(done: () => Promise<void>): Promise<string> {
  const before = bench.logged.length;
  await done();
  return bench.logged.slice(before).join('');
}

async function begin(visitor: Visitor, wish: object = {}): Promise<string> {
  const body = { kind: 'operator', returnTo: '/operate/redemptions?state=failed', ...wish };
  const answer = await visitor.post('/api/auth/oidc/start', body);
  if (answer.status !== 200) throw new Error(await answer.text());
  return ((await answer.json()) as { url: string }).url;
}

/** The URL to which the issuer redirects a person who began to sign in here. */
const callbackOf = async (visitor: Visitor, browser?: Visitor, wish = {}): Promise<string> =>
  bench.issuer.signIn(await begin(visitor, wish), 'ann', browser);

/** The path to which the console redirects the browser after the sign-in. */
async function end(visitor: Visitor, callback: string): Promise<string> {
  const answer = await visitor.get(callback);
  expect(answer.status).toBe(303);
  return answer.headers.get('location') ?? '';
}

const parameter = (url: string, name: string): string | null =>
  new URL(url, bench.origin).searchParams.get(name);
const problemOf = (page: string): string | null => parameter(page, 'problem');

describe('signing in by OpenID Connect', () => {
  it('leads back to the page that was asked for, with the highest role of the groups', async () => {
    bench.issuer.groups.set('ann', ['staff', 'ops']);
    const visitor = bench.visitor();
    const callback = await callbackOf(visitor);
    expect(await end(visitor, callback)).toBe('/operate/redemptions?state=failed');
    expect(await bench.me(visitor)).toMatchObject({
      ...{ kind: 'operator', role: 'admin', name: 'ann', subject: `oidc:${bench.issuer.url}|ann` },
    });
    expect([...visitor.cookies.keys()].toSorted()).toEqual([
      ...['lowmark-console', 'lowmark-console-csrf'],
    ]);
  });

  it('asks with PKCE, a state and a nonce, for the groups whose scope the issuer lists', async () => {
    const { searchParams } = new URL(await begin(bench.visitor()));
    const random = expect.stringMatching(/^[\w-]{43}$/);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      ...{ response_type: 'code', code_challenge_method: 'S256', code_challenge: random },
      ...{ state: random, nonce: random, scope: 'openid profile email groups' },
    });
  });

  it('is refused to who is in no group that has a role, and the log says so', async () => {
    bench.issuer.groups.set('ann', ['players']);
    const visitor = bench.visitor();
    const log = await logOf(async () => {
      const page = await end(visitor, await callbackOf(visitor));
      expect(problemOf(page)).toBe('NOT_AN_OPERATOR');
      expect(parameter(page, 'returnTo')).toContain('/operate/');
    });
    expect(visitor.cookies.size).toBe(0);
    expect(log).toContain('is in OIDC_ROLES');
  });

  it('takes an answer once, and only in the browser that asked', async () => {
    const visitor = bench.visitor();
    const callback = await callbackOf(visitor);
    expect(problemOf(await end(bench.visitor(), callback))).toBe('OIDC_STATE');
    const again = bench.visitor();
    for (const [name, value] of visitor.cookies) again.cookies.set(name, value);
    expect(problemOf(await end(visitor, callback))).toBeNull();
    expect(problemOf(await end(again, callback))).toBe('OIDC_STATE');
  });

  const foreignCode = async (isUsed: boolean): Promise<object> => {
    const other = bench.visitor();
    const callback = await callbackOf(other);
    if (isUsed) await end(other, callback);
    return { code: parameter(callback, 'code') };
  };
  it.each<[string, () => object | Promise<object>]>([
    ['a code that was made up', () => ({ code: 'made-up' })],
    ['a code of another sign-in', () => foreignCode(false)],
    ['a code that was used', () => foreignCode(true)],
    ['another issuer', () => ({ iss: 'https://evil.example' })],
  ])('refuses %s', async (_, changesOf) => {
    const visitor = bench.visitor();
    const changes = (await changesOf()) as Record<string, string>;
    const own = new URL(await callbackOf(visitor));
    for (const [name, value] of Object.entries(changes)) own.searchParams.set(name, value);
    expect(problemOf(await end(visitor, own.href))).toBe('OIDC_REFUSED');
    expect(visitor.cookies.has('lowmark-console')).toBe(false);
  });

  it.each(["nonce = 'another-nonce'", `code_verifier = repeat('v', 43)`])(
    'refuses what is not of the attempt: %s',
    async (change) => {
      const visitor = bench.visitor();
      const callback = await callbackOf(visitor);
      await bench.database.query({ text: `UPDATE console.login_attempt SET ${change}` });
      expect(problemOf(await end(visitor, callback))).toBe('OIDC_REFUSED');
    },
  );

  it('says that the person or the issuer said no', async () => {
    const visitor = bench.visitor();
    const state = parameter(await begin(visitor), 'state') ?? '';
    const query = new URLSearchParams({ error: 'access_denied', state, iss: bench.issuer.url });
    const page = await end(visitor, `/api/auth/oidc/callback?${query.toString()}`);
    expect(problemOf(page)).toBe('OIDC_DENIED');
    expect(bench.logged.at(-1)).toContain('access_denied');
  });

  it.each([
    ...['https://evil.example/operate', '/\\evil.example/operate', '/\t/evil.example/operate'],
    ...['/api/auth/me', 'javascript:alert(1)', `/operate/${'x'.repeat(2048)}`],
  ])('leads back to no other place: %s', async (returnTo) => {
    const answer = bench.visitor().post('/api/auth/oidc/start', { kind: 'operator', returnTo });
    expect(await refusalOf(answer)).toBe('400 BAD_REQUEST');
  });

  const isFresh = async (visitor: Visitor): Promise<boolean> =>
    Date.parse((await bench.me(visitor)).freshUntil) >= bench.clock.nowMs();

  it('asks the person again for a fresh sign-in, and knows how old another one is', async () => {
    const [visitor, browser] = [bench.visitor(), bench.visitor()];
    await end(visitor, await callbackOf(visitor, browser));
    bench.clock.advance(6 * MINUTE);
    // The issuer still has a session of the person, and does not ask for a login.
    await end(visitor, await callbackOf(visitor, browser));
    expect(await isFresh(visitor)).toBe(false);
    const url = new URL(await begin(visitor, { fresh: true }));
    for (const [name, value] of [
      ['max_age', '0'],
      ['prompt', 'login'],
    ] as const) {
      expect(url.searchParams.get(name)).toBe(value);
      url.searchParams.delete(name);
    }
    // The browser has taken out of the URL that the person is asked again.
    await end(visitor, await bench.issuer.signIn(url.href, 'ann', browser));
    expect(await isFresh(visitor)).toBe(false);
  });

  it('shows the page of the sign-in also where there were too many', async () => {
    const visitor = bench.visitor();
    const callback = await callbackOf(visitor);
    const invented = () => visitor.post('/api/auth/link', { token: 'x' });
    await Promise.all(Array.from({ length: 30 }, invented));
    expect(problemOf(await end(visitor, callback))).toBe('RATE_LIMIT_EXCEEDED');
  });

  it('logs no code, no state and no secret', async () => {
    const visitor = bench.visitor();
    const callback = await callbackOf(visitor);
    const verifiers = await bench.database.query<{ code_verifier: string }>({
      text: 'SELECT code_verifier FROM console.login_attempt',
    });
    for (let times = 0; times < 2; times++) await end(visitor, callback);
    const log = bench.logged.join('');
    expect(log).toContain('Signed in');
    for (const secret of [
      ...['code', 'state'].map((name) => parameter(callback, name)),
      ...verifiers.map((row) => row.code_verifier),
      visitor.cookies.get('lowmark-console'),
      'a-secret-of-the-console',
    ]) {
      expect(secret ?? '').not.toBe('');
      expect(log).not.toContain(secret);
    }
  });
});

/** Gives the tests of a `describe` a console that has not asked the issuer yet. */
function useOwnBench(...of: Parameters<typeof ConsoleBench.start>): void {
  let shared: ConsoleBench;
  beforeAll(async () => {
    shared = bench;
    bench = await ConsoleBench.start(...of);
  });
  afterAll(async () => {
    await bench.stop();
    bench = shared;
  });
}

describe('an issuer that takes the secret in the body only, and has no scope for groups', () => {
  const DN = 'CN=Game\\, Ops,OU=Groups,DC=example,DC=com';
  useOwnBench(
    { OIDC_ROLES: JSON.stringify({ [DN]: 'operator', staff: 'viewer' }) },
    { onlyMethod: 'client_secret_post', hasNoGroupsScope: true },
  );

  it.each([
    ['gets the secret there', ['staff'], 'viewer'],
    ['may name groups as LDAP does', ['players', DN], 'operator'],
  ])('%s', async (_, groups, role) => {
    bench.issuer.groups.set('ann', groups);
    expect(await signIn()).toBe(role);
  });

  it('is asked for no scope that it does not list', async () => {
    expect(parameter(await begin(bench.visitor()), 'scope')).toBe('openid profile email');
  });
});

/** Replaces the ID token on its way. */
function replaceToken(make: (token: Token) => string): void {
  changeJson(TOKEN, (answer) => {
    const text = String(answer['id_token']);
    const [header = {}, claims = {}] = text
      .split('.', 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Json);
    return { ...answer, id_token: make({ header, claims, text }) };
  });
}

const encoded = (value: Json): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const signedBy = (header: Json, claims: Json, signature: (text: Buffer) => Buffer): string => {
  const text = `${encoded(header)}.${encoded(claims)}`;
  return `${text}.${signature(Buffer.from(text)).toString('base64url')}`;
};
const byKey = (key: Key, header: Json, claims: Json): string =>
  signedBy(header, claims, (text) => sign('sha256', text, key.privateKey));
const byMac = (key: string, header: Json, claims: Json): string =>
  signedBy({ ...header, alg: 'HS256' }, claims, (text) =>
    createHmac('sha256', key).update(text).digest(),
  );
/** Replaces the ID token by one with other claims, under a key that the issuer publishes. */
const replaceClaims = (change: Json): void => {
  replaceToken(({ header, claims }) =>
    byKey(next, { ...header, kid: 'next' }, { ...claims, ...change }),
  );
};

describe('an ID token', () => {
  const admin = (claims: Json): Json => ({ ...claims, groups: ['ops'] });
  it.each<[string, (token: Token) => string]>([
    [
      'signed by another key under the same kid',
      ({ header, claims }) => byKey(foreign, header, admin(claims)),
    ],
    [
      'with other claims under the signature of the issuer',
      ({ text, claims }) => text.replace(/\.[^.]+\./, `.${encoded(admin(claims))}.`),
    ],
    [
      'without a signature',
      ({ header, claims }) => `${encoded({ ...header, alg: 'none' })}.${encoded(admin(claims))}.`,
    ],
    [
      'with a MAC by the client secret',
      ({ header, claims }) => byMac(CLIENT_SECRET, header, admin(claims)),
    ],
  ])('%s opens no session', async (_, make) => {
    replaceToken(make);
    expect(await signIn()).toBe('OIDC_REFUSED');
  });

  const seconds = (): number => Math.floor(Date.now() / 1000);
  it.each<[string, () => Json, string]>([
    ['as the issuer makes them', () => ({}), 'viewer'],
    ['of another issuer', () => ({ iss: 'https://evil.example' }), 'OIDC_REFUSED'],
    ['for another client', () => ({ aud: 'another' }), 'OIDC_REFUSED'],
    ['with another nonce', () => ({ nonce: 'another' }), 'OIDC_REFUSED'],
    ['that have expired', () => ({ exp: seconds() - HOUR_SECONDS }), 'OIDC_REFUSED'],
    ['valid in an hour', () => ({ nbf: seconds() + HOUR_SECONDS }), 'OIDC_REFUSED'],
    ['with groups, and a note that some are left out', () => ({ hasgroups: true }), 'viewer'],
  ])('with claims %s under a key of the issuer: %s', async (_, change, outcome) => {
    replaceClaims(change());
    expect(await signIn()).toBe(outcome);
  });

  it('gives no role by what the user info says, which nobody signs', async () => {
    replaceClaims({ groups: undefined });
    changeJson('/me', () => ({ sub: 'ann', groups: ['ops'] }));
    expect(await signIn()).toBe('NOT_AN_OPERATOR');
  });

  it.each<[string, Json]>([
    [
      'named elsewhere',
      {
        _claim_names: { groups: 'src1' },
        _claim_sources: { src1: { endpoint: 'https://graph.example/users/ann/getMemberObjects' } },
      },
    ],
    ['only told of', { hasgroups: true }],
  ])('gives no role by groups %s, and page and log say why', async (_, overage) => {
    replaceClaims({ groups: undefined, ...overage });
    const log = await logOf(async () => {
      expect(await signIn()).toBe('OIDC_GROUPS_LEFT_OUT');
    });
    expect(log).toContain('because the person is in too many');
    expect(log).toContain('OIDC_GROUPS_CLAIM');
    expect(bench.issuer.asked.filter((path) => path.includes('getMemberObjects'))).toEqual([]);
  });

  it.each([
    ['cn=Ann Lee,ou=Staff', '%cn%3DAnn%20Lee%2Cou%3DStaff'],
    ['%41', '%%2541'],
    ['ann\u0000lee', '%ann%00lee'],
    ['Änn', 'Änn'],
  ])('may have any name of the person: %j', async (sub, kept) => {
    replaceClaims({ sub, preferred_username: 'ann' });
    const visitor = bench.visitor();
    expect(await bench.signInByOidc(visitor)).toBe('');
    expect((await bench.me(visitor)).subject).toBe(`oidc:${bench.issuer.url}|${kept}`);
  });

  it('that names a new key has it fetched, and one that names an unknown key not at once', async () => {
    const timesAsked = (): number => bench.issuer.asked.filter((one) => one === KEYS).length;
    expect(await signIn()).toBe('viewer');
    const before = timesAsked();
    Date.now = () => dateNow() + REFETCH_MS;
    bench.clock.set(Date.now());
    publish({ later });
    replaceToken(({ header, claims }) => byKey(later, { ...header, kid: 'later' }, claims));
    expect(await signIn()).toBe('viewer');
    expect(timesAsked()).toBe(before + 1);
    replaceToken(({ header, claims }) => byKey(foreign, { ...header, kid: 'unknown' }, claims));
    for (let times = 0; times < 3; times++) expect(await signIn()).toBe('OIDC_REFUSED');
    expect(timesAsked()).toBe(before + 1);
  });
});

describe('an answer of the token endpoint', () => {
  it('that refuses the client says so on the page, and in the log what to do', async () => {
    bench.issuer.onTheWay.set(TOKEN, (_, answer) => {
      answer.statusCode = 401;
      answer.setHeader('www-authenticate', 'Basic realm="issuer"');
      answer.setHeader('content-type', 'text/plain');
      return JSON.stringify({ error: 'invalid_client', error_description: 'AADSTS7000222' });
    });
    const log = await logOf(async () => {
      expect(await signIn()).toBe('OIDC_CLIENT_REFUSED');
    });
    expect(log).toContain('invalid_client');
    expect(log).toContain('check OIDC_CLIENT_ID and OIDC_CLIENT_SECRET');
  });

  it.each([
    [503, '<html>'],
    [429, '{}'],
    [400, '{"error":"temporarily_unavailable"}'],
  ])('of status %d that may pass asks to try again: %s', async (status, body) => {
    bench.issuer.onTheWay.set(TOKEN, (_, answer) => {
      answer.statusCode = status;
      return body;
    });
    expect(await signIn()).toBe('OIDC_UNAVAILABLE');
  });
});

const changeDiscovery = (changes: Json): void => {
  changeJson(DISCOVERY, (body) => ({ ...body, ...changes }));
};

describe('a discovery document that changes', () => {
  useOwnBench();

  it('may have null for what the issuer does not have', async () => {
    changeDiscovery({
      scopes_supported: null,
      token_endpoint_auth_methods_supported: null,
      id_token_signing_alg_values_supported: null,
    });
    expect(await signIn()).toBe('NOT_AN_OPERATOR');
  });

  it('is read again after an hour, and the old one used where the new one cannot be had', async () => {
    const scope = async (): Promise<string | null> => {
      bench.clock.advance(HOUR_SECONDS * 1000);
      return parameter(await begin(bench.visitor()), 'scope');
    };
    expect(await scope()).toBe('openid profile email groups');
    changeDiscovery({ scopes_supported: ['openid', 'groups'] });
    expect(await scope()).toBe('openid groups');
    bench.issuer.onTheWay.set(DISCOVERY, () => '<html>');
    expect(await scope()).toBe('openid groups');
  });
});

describe('before the first sign-in', () => {
  useOwnBench();
  const LONG = 'x'.repeat(2 * 1024 * 1024);

  it.each<[string, Json]>([
    ['of another issuer', { issuer: 'https://evil.example' }],
    ['with keys without https from elsewhere', { jwks_uri: 'http://192.0.2.1/jwks' }],
    ['with codes redeemed without https elsewhere', { token_endpoint: 'http://192.0.2.1/token' }],
    ['without end', { padding: LONG }],
  ])('a discovery document %s is refused', async (_, change) => {
    changeDiscovery(change);
    expect(await signIn()).toBe('OIDC_UNAVAILABLE');
  });

  it('a discovery document with a slash too many is refused, and the log says what to set', async () => {
    const issuer = `${bench.issuer.url}/realms/a/`;
    changeDiscovery({ issuer });
    expect(await signIn()).toBe('OIDC_UNAVAILABLE');
    expect(bench.logged.join('')).toContain(`${issuer}: set OIDC_ISSUER`);
  });

  it.each<[string, (body: string) => string]>([
    ['too long', (body) => body.replace('{', `{"padding":"${LONG}",`)],
    ['no JSON', () => '<html>'],
  ])('keys that are %s open no session', async (_, change) => {
    bench.issuer.onTheWay.set(KEYS, change);
    expect(['OIDC_REFUSED', 'OIDC_UNAVAILABLE']).toContain(await signIn());
  });

  it('the same console signs in once the answers are right', async () => {
    expect(await signIn()).toBe('viewer');
  });
});
