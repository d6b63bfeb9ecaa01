/** Issuers as they are met: what their metadata leave out, and how they name groups. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConsoleBench } from '../testing/console-harness.support.js';
import { type Visitor } from '../testing/visitor.support.js';
import { type SessionBody } from './auth.dto.js';

const DN = 'CN=Game\\, Ops,OU=Groups,DC=example,DC=com';

let bench: ConsoleBench;
beforeAll(async () => {
  bench = await ConsoleBench.start(
    { OIDC_ROLES: JSON.stringify({ [DN]: 'operator', staff: 'viewer' }) },
    { onlyMethod: 'client_secret_post', hasNoGroupsScope: true },
  );
});
afterAll(() => bench.stop());

async function begin(): Promise<{ readonly visitor: Visitor; readonly url: string }> {
  const visitor = bench.visitor();
  const start = { kind: 'operator', returnTo: '/operate' };
  const answer = await visitor.post('/api/auth/oidc/start', start);
  return { visitor, url: ((await answer.json()) as { url: string }).url };
}

/** Signs ann in. @returns the code of the refusal, or the role of the session */
async function signIn(): Promise<string> {
  const { visitor, url } = await begin();
  const answer = await visitor.get(await bench.issuer.signIn(url, 'ann'));
  const page = new URL(answer.headers.get('location') ?? '', bench.origin);
  const problem = page.searchParams.get('problem');
  if (problem !== null) return problem;
  return ((await (await visitor.get('/api/auth/me')).json()) as SessionBody).role ?? 'none';
}

describe('an issuer that takes the secret in the body only, and has no scope for groups', () => {
  it('gets the secret there', async () => {
    bench.issuer.groups.set('ann', ['staff']);
    expect(await signIn()).toBe('viewer');
  });

  it('is asked for no scope that it does not list', async () => {
    const { url } = await begin();
    expect(new URL(url).searchParams.get('scope')).toBe('openid profile email');
  });

  it('may name groups as LDAP does', async () => {
    bench.issuer.groups.set('ann', ['players', DN]);
    expect(await signIn()).toBe('operator');
  });
});
