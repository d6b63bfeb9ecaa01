import { describe, expect, it } from '@jest/globals';
import { type ExecutionContext } from '@nestjs/common';
import { HttpProblem } from '#libs/service';
import { type ConsoleSettings } from '../console.env.js';
import { CsrfGuard } from './csrf.guard.js';
import { csrfTokenOf } from './session-cookie.js';

const ORIGIN = 'https://play.example.com';
const TOKEN = 'svct_0123456789abcdef';
const guard = new CsrfGuard({ consoleOrigin: ORIGIN } as ConsoleSettings);
const session = { '__Secure-lowmark-player': TOKEN };

interface Sent {
  readonly method?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: Readonly<Record<string, string>>;
}

/** The code of the refusal; undefined where the request passes. */
function refusal({ method = 'POST', url = '/player/api/x', headers = {}, cookies = {} }: Sent) {
  const request = { method, routeOptions: { url }, headers, cookies };
  const context = { switchToHttp: () => ({ getRequest: () => request }) };
  try {
    guard.canActivate(context as unknown as ExecutionContext);
    return undefined;
  } catch (error) {
    return error instanceof HttpProblem ? error.code : error;
  }
}

const own = { origin: ORIGIN, 'sec-fetch-site': 'same-origin' };
const withToken = { ...own, 'x-csrf-token': csrfTokenOf(TOKEN) };

describe('a request that changes something', () => {
  it.each<[string, Readonly<Record<string, string>>]>([
    ['of this origin', withToken],
    ['whose browser sends only Origin', { 'x-csrf-token': csrfTokenOf(TOKEN), origin: ORIGIN }],
  ])('%s passes', (_, headers) => {
    expect(refusal({ headers, cookies: session })).toBeUndefined();
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['of another origin', { ...withToken, origin: 'https://evil.example' }],
    ['of the same host with another scheme', { ...withToken, origin: 'http://play.example.com' }],
    ['of an opaque origin', { ...withToken, origin: 'null' }],
    ['of a neighbouring host', { ...withToken, 'sec-fetch-site': 'same-site' }],
    ['of no known origin', { 'x-csrf-token': csrfTokenOf(TOKEN) }],
  ])('%s is refused', (_, headers) => {
    expect(refusal({ headers, cookies: session })).toBe('FOREIGN_ORIGIN');
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['without the token', own],
    ['with an empty one', { ...own, 'x-csrf-token': '' }],
    ['with that of another session', { ...own, 'x-csrf-token': csrfTokenOf('svct_other') }],
    ['with the session itself', { ...own, 'x-csrf-token': TOKEN }],
  ])('in a session %s is refused', (_, headers) => {
    expect(refusal({ headers, cookies: session })).toBe('CSRF_TOKEN');
  });

  it('in a session is refused if any character of the token is another', () => {
    const token = csrfTokenOf(TOKEN);
    for (let place = 0; place < token.length; place += 1) {
      const character = token[place] === 'A' ? 'B' : 'A';
      const wrong = token.slice(0, place) + character + token.slice(place + 1);
      const headers = { ...own, 'x-csrf-token': wrong };
      expect(refusal({ headers, cookies: session })).toBe('CSRF_TOKEN');
    }
  });

  it('before there is a session needs the header, whatever its value', () => {
    expect(refusal({ headers: own })).toBe('CSRF_TOKEN');
    expect(refusal({ headers: { ...own, 'x-csrf-token': 'none' } })).toBeUndefined();
  });

  it('is held to the session of its own area', () => {
    const headers = { ...own, 'x-csrf-token': csrfTokenOf(TOKEN) };
    const cookies = { ...session, '__Host-lowmark-console': 'of-an-operator' };
    expect(refusal({ url: '/api/operate/x', headers, cookies })).toBe('CSRF_TOKEN');
    expect(refusal({ url: '/player/api/x', headers, cookies })).toBeUndefined();
  });
});

it('a request that reads passes without any of it', () => {
  expect(refusal({ method: 'GET', cookies: session })).toBeUndefined();
});
