import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import request from 'supertest';
import { startWithoutDatabase } from './testing/console-harness.support.js';

let app: NestFastifyApplication;
let url: string;

beforeAll(async () => {
  ({ app, url } = await startWithoutDatabase());
});
afterAll(() => app.close());

const scriptOf = (html: string): string => /src="(\/assets\/[^"]+\.js)"/.exec(html)?.[1] ?? '';

describe('the pages', () => {
  it.each(['/', '/redeem/a/b', '/operate/x', '/partner'])(
    'at %s are one document under a strict policy with a nonce of its own',
    async (path) => {
      const [first, second] = [await request(url).get(path), await request(url).get(path)];
      expect(first.status).toBe(200);
      expect(first.headers['cache-control']).toBe('no-store');
      const policies = [first, second].map((one) => String(one.headers['content-security-policy']));
      const nonces = policies.map((policy) => /'nonce-([^']{24})'/.exec(policy)?.[1]);
      expect(new Set(nonces).size).toBe(2);
      expect(first.text).toContain(`content="${nonces[0] ?? ''}"`);
      expect(first.text).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=|style=/);
      expect(policies[0]).toMatch(
        /^default-src 'none'; script-src 'self'; .*connect-src 'self'; .*frame-ancestors 'none'/,
      );
    },
  );

  it('have files that browsers keep for ever, compressed as the browser wants', async () => {
    const script = scriptOf((await request(url).get('/')).text);
    for (const encoding of ['br', 'gzip']) {
      const answer = await request(url).get(script).set('accept-encoding', encoding).buffer(false);
      expect(answer.headers).toMatchObject({
        'content-encoding': encoding,
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
      });
    }
  });

  it.each([
    '/nothing',
    '/assets/%2e%2e/%2e%2e/apps/console/src/main.js',
    '/assets/..%2f..%2fconsole%2fsrc%2fmain.js',
  ])('have no file at %s', async (path) => {
    const { status, text } = await request(url).get(path);
    expect([404, 403, 400]).toContain(status);
    expect(text).not.toContain('import');
  });
});

it.each([
  ['{"kind":"partner",\n"kind":"operator"}', 'has a name twice in one object: line 2, column 1'],
  ['{"kind":partner}', 'is not JSON: line 1, column 9'],
])('of the body %j is told what is wrong, and where', async (sent, fault) => {
  const { status, body } = await request(url)
    .post('/api/auth/wallet/verify')
    .set('content-type', 'application/json')
    .send(sent);
  const message = `The body ${fault}.`;
  expect([status, body]).toEqual([
    400,
    { success: false, code: 'BAD_REQUEST', field: 'body', message },
  ]);
});

it('a route that is none is told without a page of routes, which is not here', async () => {
  const { status, body } = await request(url).get('/api/nothing');
  expect([status, body]).toEqual([
    404,
    { success: false, code: 'NOT_FOUND', message: 'There is no such route.' },
  ]);
});
