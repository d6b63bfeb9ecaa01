/** What a changed way between the console and the issuer can do: answers of the issuer with other keys and claims. */
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ConsoleBench } from '../testing/console-harness.support.js';
import { CLIENT_SECRET } from '../testing/oidc-issuer.support.js';
import { type SessionBody } from './auth.dto.js';

type Json = Record<string, unknown>;
interface Token {
  readonly header: Json;
  readonly claims: Json;
  /** The token as the issuer made it. */
  readonly text: string;
}

const TOKEN = '/token';
const KEYS = '/jwks';
const DISCOVERY = '/.well-known/openid-configuration';
const HOUR_SECONDS = 3600;
/** For so long an unknown key makes the console fetch the keys no second time. */
const REFETCH_MS = 61_000;

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

function newKey() {
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

type Key = ReturnType<typeof newKey>;

function publicJwk(key: Key, kid: string): Json {
  return { ...key.publicKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid };
}

/** Adds keys to those of the issuer. */
function publish(keys: Readonly<Record<string, Key>>): void {
  const more = Object.entries(keys).map(([kid, key]) => publicJwk(key, kid));
  bench.issuer.onTheWay.set(KEYS, (body) => {
    const own = JSON.parse(body) as { keys: Json[] };
    return JSON.stringify({ keys: [...own.keys, ...more] });
  });
}

const timesAsked = (path: string): number =>
  bench.issuer.asked.filter((one) => one === path).length;

/** Signs ann in. @returns the code of the refusal, or the role of the session */
async function signIn(): Promise<string> {
  const visitor = bench.visitor();
  const problem = await bench.signInByOidc(visitor);
  if (problem !== '') {
    expect(visitor.cookies.size).toBe(0);
    return problem;
  }
  return ((await (await visitor.get('/api/auth/me')).json()) as SessionBody).role ?? 'none';
}

/** Replaces the ID token on its way. */
function replaceToken(make: (token: Token) => string): void {
  bench.issuer.onTheWay.set(TOKEN, (body) => {
    const answer = JSON.parse(body) as { id_token: string };
    const [header, claims] = answer.id_token.split('.').map((part) => decoded(part));
    const token = { header: header ?? {}, claims: claims ?? {}, text: answer.id_token };
    return JSON.stringify({ ...answer, id_token: make(token) });
  });
}

function decoded(part: string): Json {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString()) as Json;
  } catch {
    return {};
  }
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
describe('an ID token', () => {
  it('of the issuer, unchanged, is believed', async () => {
    replaceToken(({ text }) => text);
    expect(await signIn()).toBe('viewer');
  });

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
});

describe('claims under a key of the issuer', () => {
  const seconds = (): number => Math.floor(Date.now() / 1000);
  const byNext = (change: (claims: Json) => Json): void => {
    replaceToken(({ header, claims }) => byKey(next, { ...header, kid: 'next' }, change(claims)));
  };

  it('as they are, are believed', async () => {
    byNext((claims) => claims);
    expect(await signIn()).toBe('viewer');
  });

  it.each<[string, () => Json]>([
    ['of another issuer', () => ({ iss: 'https://evil.example' })],
    ['for another client', () => ({ aud: 'another' })],
    ['with another nonce', () => ({ nonce: 'another' })],
    ['that have expired', () => ({ exp: seconds() - HOUR_SECONDS })],
    ['valid in an hour', () => ({ nbf: seconds() + HOUR_SECONDS })],
  ])('%s open no session', async (_, change) => {
    byNext((claims) => ({ ...claims, ...change() }));
    expect(await signIn()).toBe('OIDC_REFUSED');
  });

  it('give no role by what the user info says, which nobody signs', async () => {
    byNext((claims) => ({ ...claims, groups: undefined }));
    bench.issuer.onTheWay.set('/me', () => JSON.stringify({ sub: 'ann', groups: ['ops'] }));
    expect(await signIn()).toBe('NOT_AN_OPERATOR');
  });
});

describe('groups that the issuer left out, because they are too many', () => {
  const overages: [string, Json][] = [
    [
      'named elsewhere',
      {
        _claim_names: { groups: 'src1' },
        _claim_sources: { src1: { endpoint: 'https://graph.example/users/ann/getMemberObjects' } },
      },
    ],
    ['only told of', { hasgroups: true }],
  ];

  it.each(overages)('%s give no role, and page and log say why', async (_, overage) => {
    const before = bench.logged.length;
    replaceToken(({ header, claims }) =>
      byKey(next, { ...header, kid: 'next' }, { ...claims, groups: undefined, ...overage }),
    );
    expect(await signIn()).toBe('OIDC_GROUPS_LEFT_OUT');
    const log = bench.logged.slice(before).join('');
    expect(log).toContain('because the person is in too many');
    expect(log).toContain('OIDC_GROUPS_CLAIM');
    expect(bench.issuer.asked.filter((path) => path.includes('getMemberObjects'))).toEqual([]);
  });

  it('do not matter beside groups that are there', async () => {
    replaceToken(({ header, claims }) =>
      byKey(next, { ...header, kid: 'next' }, { ...claims, hasgroups: true }),
    );
    expect(await signIn()).toBe('viewer');
  });
});

describe('an answer of the token endpoint', () => {
  const answers = (status: number, body: string): void => {
    bench.issuer.onTheWay.set(TOKEN, (_, answer) => {
      answer.statusCode = status;
      return body;
    });
  };

  it('that refuses the client says so on the page, and in the log what to do', async () => {
    const before = bench.logged.length;
    bench.issuer.onTheWay.set(TOKEN, (_, answer) => {
      answer.statusCode = 401;
      answer.setHeader('www-authenticate', 'Basic realm="issuer"');
      answer.setHeader('content-type', 'text/plain');
      return JSON.stringify({ error: 'invalid_client', error_description: 'AADSTS7000222' });
    });
    expect(await signIn()).toBe('OIDC_CLIENT_REFUSED');
    const log = bench.logged.slice(before).join('');
    expect(log).toContain('invalid_client');
    expect(log).toContain('check OIDC_CLIENT_ID and OIDC_CLIENT_SECRET');
  });

  it.each([
    [503, '<html>'],
    [429, '{}'],
    [400, '{"error":"temporarily_unavailable"}'],
  ])('of status %d that may pass asks to try again: %s', async (status, body) => {
    answers(status, body);
    expect(await signIn()).toBe('OIDC_UNAVAILABLE');
  });
});

describe('a person', () => {
  it.each([
    ['cn=Ann Lee,ou=Staff', '%cn%3DAnn%20Lee%2Cou%3DStaff'],
    ['%41', '%%2541'],
    ['ann\u0000lee', '%ann%00lee'],
    ['Änn', 'Änn'],
  ])('may have any name at the issuer: %j', async (sub, kept) => {
    replaceToken(({ header, claims }) =>
      byKey(next, { ...header, kid: 'next' }, { ...claims, sub, preferred_username: 'ann' }),
    );
    const visitor = bench.visitor();
    expect(await bench.signInByOidc(visitor)).toBe('');
    const session = (await (await visitor.get('/api/auth/me')).json()) as SessionBody;
    expect(session.subject).toBe(`oidc:${bench.issuer.url}|${kept}`);
  });
});

it('groups of which none has a role are told in the log', async () => {
  bench.issuer.groups.set('ann', ['players']);
  const before = bench.logged.length;
  expect(await signIn()).toBe('NOT_AN_OPERATOR');
  expect(bench.logged.slice(before).join('')).toContain('is in OIDC_ROLES');
});

describe('a new key of the issuer', () => {
  it('is fetched when a token names it, and no unknown key has the keys fetched again at once', async () => {
    expect(await signIn()).toBe('viewer');
    const before = timesAsked(KEYS);
    Date.now = () => dateNow() + REFETCH_MS;
    bench.clock.set(Date.now());
    publish({ later });
    replaceToken(({ header, claims }) => byKey(later, { ...header, kid: 'later' }, claims));
    expect(await signIn()).toBe('viewer');
    expect(timesAsked(KEYS)).toBe(before + 1);
    replaceToken(({ header, claims }) => byKey(foreign, { ...header, kid: 'unknown' }, claims));
    for (let times = 0; times < 3; times++) expect(await signIn()).toBe('OIDC_REFUSED');
    expect(timesAsked(KEYS)).toBe(before + 1);
  });
});

/** Gives the tests of a `describe` a console that has not asked the issuer yet. */
function useOwnBench(): void {
  let own: ConsoleBench;
  let shared: ConsoleBench;
  beforeAll(async () => {
    shared = bench;
    own = await ConsoleBench.start();
    bench = own;
  });
  afterAll(async () => {
    bench = shared;
    await own.stop();
  });
}

describe('a discovery document that changes', () => {
  useOwnBench();
  const lists = (changes: Json): void => {
    bench.issuer.onTheWay.set(DISCOVERY, (body) =>
      JSON.stringify({ ...(JSON.parse(body) as Json), ...changes }),
    );
  };

  it('may have null for what the issuer does not have', async () => {
    lists({
      scopes_supported: null,
      token_endpoint_auth_methods_supported: null,
      id_token_signing_alg_values_supported: null,
    });
    expect(await signIn()).toBe('NOT_AN_OPERATOR');
  });

  it('is read again after an hour, and the old one used where the new one cannot be had', async () => {
    const scope = async (): Promise<string | null> => {
      const wish = { kind: 'operator', returnTo: '/operate/' };
      const answer = await bench.visitor().post('/api/auth/oidc/start', wish);
      return new URL(((await answer.json()) as { url: string }).url).searchParams.get('scope');
    };
    bench.clock.advance(HOUR_SECONDS * 1000);
    expect(await scope()).toBe('openid profile email groups');
    lists({ scopes_supported: ['openid', 'groups'] });
    bench.clock.advance(HOUR_SECONDS * 1000);
    expect(await scope()).toBe('openid groups');
    bench.clock.advance(HOUR_SECONDS * 1000);
    bench.issuer.onTheWay.set(DISCOVERY, () => '<html>');
    expect(await scope()).toBe('openid groups');
  });
});

describe('before the first sign-in', () => {
  useOwnBench();

  it.each<[string, Json]>([
    ['of another issuer', { issuer: 'https://evil.example' }],
    ['with keys without https from elsewhere', { jwks_uri: 'http://192.0.2.1/jwks' }],
    ['with codes redeemed without https elsewhere', { token_endpoint: 'http://192.0.2.1/token' }],
    ['without end', { padding: 'x'.repeat(2 * 1024 * 1024) }],
  ])('a discovery document %s is refused', async (_, change) => {
    bench.issuer.onTheWay.set(DISCOVERY, (body) =>
      JSON.stringify({ ...(JSON.parse(body) as Json), ...change }),
    );
    expect(await signIn()).toBe('OIDC_UNAVAILABLE');
  });

  it('a discovery document with a slash too many is refused, and the log says what to set', async () => {
    const named = `${bench.issuer.url}/realms/a/`;
    bench.issuer.onTheWay.set(DISCOVERY, (body) =>
      JSON.stringify({ ...(JSON.parse(body) as Json), issuer: named }),
    );
    expect(await signIn()).toBe('OIDC_UNAVAILABLE');
    expect(bench.logged.join('')).toContain(`${named}: set OIDC_ISSUER`);
  });

  it.each<[string, (body: string) => string]>([
    ['too long', (body) => body.replace('{', `{"padding":"${'x'.repeat(2 * 1024 * 1024)}",`)],
    ['no JSON', () => '<html>'],
  ])('keys that are %s open no session', async (_, change) => {
    bench.issuer.onTheWay.set(KEYS, change);
    expect(['OIDC_REFUSED', 'OIDC_UNAVAILABLE']).toContain(await signIn());
  });

  it('the same console signs in once the answers are right', async () => {
    expect(await signIn()).toBe('viewer');
  });
});
