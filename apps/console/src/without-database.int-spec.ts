/** What the console does without its database: the pages, refusals, and players' requests, which it forwards. */
import { once } from 'node:events';
import {
  createServer,
  get,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type FastifyRequest } from 'fastify';
import request, { type Test } from 'supertest';
import { type ConsoleSettings } from './console.env.js';
import { csrfTokenOf } from './http/session-cookie.js';
import { RedemptionService } from './player/redemption-service.js';
import { startWithoutDatabase } from './testing/console-harness.support.js';

const ORIGIN = 'http://127.0.0.1:3003';
const TOKEN = `svct_${'a'.repeat(43)}`;
const COOKIE = `lowmark-player=${TOKEN}`;

let app: NestFastifyApplication;
let url: string;
let service: Server;
let asked: IncomingMessage[];
let answer: (request: IncomingMessage, response: ServerResponse) => void;

const json = (response: ServerResponse, status: number, body: object, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
};

beforeAll(async () => {
  service = createServer((incoming, response) => {
    asked.push(incoming);
    incoming.resume();
    answer(incoming, response);
  });
  await new Promise<void>((up) => service.listen(0, '127.0.0.1', up));
  const { port } = service.address() as AddressInfo;
  ({ app, url } = await startWithoutDatabase({
    CONSOLE_ORIGIN: ORIGIN,
    REDEMPTION_URL: `http://127.0.0.1:${port}`,
  }));
});
beforeEach(() => {
  asked = [];
  answer = (_, response) => {
    json(response, 200, { ok: true });
  };
});
afterAll(async () => {
  await app.close();
  service.closeAllConnections();
  await new Promise((closed) => service.close(closed));
});

const own = (test: Test, token = csrfTokenOf(TOKEN)): Test =>
  test.set('origin', ORIGIN).set('x-csrf-token', token).set('cookie', COOKIE);

describe('a request of the players’ page', () => {
  it('goes on with the session and the address of the player, and with nothing else', async () => {
    const sent = own(request(url).post('/player/api/redemptions'))
      .set('cookie', `${COOKIE}; other=secret`)
      .set('idempotency-key', 'one-click')
      .set('x-forwarded-for', '6.6.6.6')
      .set('authorization', 'Bearer svct_of-another')
      .set('x-request-id', 'request-1')
      .send({ partner: 'Arena', points: 5 });
    expect((await sent).status).toBe(200);
    const [{ url: path, headers } = {} as IncomingMessage] = asked;
    expect(path).toBe('/api/redemptions');
    expect(headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      'idempotency-key': 'one-click',
      'x-forwarded-for': '127.0.0.1',
      'x-request-id': 'request-1',
      'content-type': 'application/json',
    });
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['cookie']));
    for (const name of ['cookie', 'origin', 'x-csrf-token', 'user-agent']) {
      expect(headers[name]).toBeUndefined();
    }
  });

  it('for the points of one partner or of all goes on with its query', async () => {
    await own(request(url).get('/player/api/points')).expect(200);
    await own(request(url).get('/player/api/points?partner=Arena')).expect(200);
    expect(asked.map((one) => one.url)).toEqual(['/api/points', '/api/points?partner=Arena']);
  });

  it.each([
    ['GET', '/player/api/docs'],
    ['GET', '/player/api/../metrics'],
    ['GET', '/player/api/%2e%2e/metrics'],
    ['GET', '/player/api/redemptions/a/b'],
    ['GET', '/player/api/auth/verify'],
    ['PUT', '/player/api/redemptions'],
  ])('%s %s is no route', async (method, path) => {
    const sent = request(url)[method.toLowerCase() as 'get'](path);
    expect((await own(sent)).status).toBe(404);
    expect(asked).toEqual([]);
  });

  it('is held to its token however the path is written', async () => {
    for (const path of ['/%70layer/api/auth/logout', '/player/api/auth/%6cogout']) {
      const sent = await own(request(url).post(path), 'x').send({});
      expect([sent.status, (sent.body as { code: string }).code]).toEqual([403, 'CSRF_TOKEN']);
    }
    expect(asked).toEqual([]);
  });

  it('whose path begins otherwise goes nowhere', async () => {
    const { port, hostname: host } = new URL(url);
    const statusOf = async (path: string): Promise<number | undefined> => {
      const [answered] = (await once(get({ host, port, path }), 'response')) as [IncomingMessage];
      return answered.resume().statusCode;
    };
    for (const path of ['/%70layer/api/chain', '/%70layer/api/redemptions']) {
      expect(await statusOf(path)).toBe(404);
    }
    expect(asked).toEqual([]);
    expect(await statusOf('http://metrics/player/api/chain?a=/player/api/x')).toBe(200);
    expect(asked.map((one) => one.url)).toEqual(['/api/chain?a=/player/api/x']);
  });

  it('keeps its query as it is, however hostile', async () => {
    const path = '/api/partners/%2e%2e%2f%2e%2e/quote?points=1&points=2%00%0d%0aX:%20y';
    await own(request(url).get(`/player${path}`));
    expect(asked.map((one) => one.url)).toEqual([path]);
  });

  it('with a cookie that is no token has no session', async () => {
    await request(url).get('/player/api/redemptions').set('cookie', 'lowmark-player=a%0d%0aX-Y: z');
    expect(asked.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  it('that is too large is refused', async () => {
    const body = { message: 'a'.repeat(100_000) };
    expect((await own(request(url).post('/player/api/auth/verify')).send(body)).status).toBe(413);
    expect(asked).toEqual([]);
  });
});

describe('signing in', () => {
  const verify = () =>
    request(url)
      .post('/player/api/auth/verify')
      .set('origin', ORIGIN)
      .set('x-csrf-token', 'none')
      .send({});
  const cookiesOf = ({ headers }: { headers: Record<string, unknown> }) =>
    (headers['set-cookie'] ?? []) as string[];

  it('puts the token into a cookie that no script can read, and leaves it out of the body', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    answer = (_, response) => {
      json(response, 200, { token: TOKEN, wallet: '0x1', expiresAt }, { 'set-cookie': 'theirs=1' });
    };
    const answered = await verify();
    expect(answered.body).toEqual({ wallet: '0x1', expiresAt });
    const [session, csrf, ...others] = cookiesOf(answered);
    expect(session).toMatch(
      new RegExp(`^${COOKIE}; Max-Age=3(600|59\\d); Path=/player; HttpOnly; SameSite=Strict$`),
    );
    expect(csrf).toMatch(/^lowmark-player-csrf=[\w-]{43}; Max-Age=\d+; Path=\/; SameSite=Strict$/);
    expect(others).toEqual([]);
  });

  it.each([{}, { token: 'x', wallet: '0x1', expiresAt: 'soon' }, []])(
    'with an answer that is no session (%j) sets none',
    async (body) => {
      answer = (_, response) => {
        json(response, 200, body);
      };
      const answered = await verify();
      expect([answered.status, cookiesOf(answered)]).toEqual([502, []]);
    },
  );

  it('ends with a 401 of the service, and by signing out whatever the service says', async () => {
    for (const [status, path] of [
      [401, '/player/api/redemptions/x/cancel'],
      [503, '/player/api/auth/logout'],
    ] as const) {
      answer = (_, response) => {
        json(response, status, { success: false, code: 'X', message: 'x' });
      };
      const answered = await own(request(url).post(path)).send({});
      expect(answered.status).toBe(status);
      expect(cookiesOf(answered).map((one) => one.split(';')[0])).toEqual([
        'lowmark-player=',
        'lowmark-player-csrf=',
      ]);
    }
  });
});

describe('a service', () => {
  it('that breaks off is 503, and its error is told to nobody', async () => {
    answer = (_, response) => response.destroy();
    const { status, body, headers } = await own(request(url).get('/player/api/partners'));
    expect([status, headers['retry-after']]).toEqual([503, '3']);
    expect(body).toEqual({
      success: false,
      code: 'SERVICE_UNAVAILABLE',
      message: 'Redemptions cannot be reached at the moment. Nothing is lost: try again shortly.',
    });
  });

  it('whose answer has no end is cut off', async () => {
    answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    };
    const answered = await own(request(url).get('/player/api/redemptions'));
    expect([answered.status, (answered.body as { code: string }).code]).toEqual([
      502,
      'ANSWER_TOO_LARGE',
    ]);
    expect(asked).toHaveLength(1);
  });

  it('that says so is heard: its status, Retry-After and words, none of its other headers', async () => {
    const said = { success: false, code: 'VOUCHER_COOL_DOWN', message: 'Wait.' };
    answer = (_, response) => {
      json(response, 409, said, { 'retry-after': '77', 'set-cookie': 'a=b', server: 'secret' });
    };
    const { status, body, headers } = await own(request(url).post('/player/api/redemptions')).send(
      {},
    );
    expect([status, body, headers['retry-after']]).toEqual([409, said, '77']);
    expect([headers['set-cookie'], headers['server']]).toEqual([undefined, undefined]);
  });
});

it('there is no test wallet where none is set', async () => {
  const call = (method: string) =>
    own(request(url).post('/player/test-wallet/rpc')).send({ method, params: [] });
  expect((await call('eth_chainId')).status).toBe(404);
  expect((await call('anvil_setBalance')).status).toBe(400);
});

it('the console stops without what a hung service still owes', async () => {
  const hung = createServer((_, answer) => answer.write('{')).listen(0, '127.0.0.1');
  await once(hung, 'listening');
  const redemptionUrl = `http://127.0.0.1:${(hung.address() as AddressInfo).port}`;
  const service = new RedemptionService({ redemptionUrl } as ConsoleSettings);
  try {
    const request = { method: 'GET', headers: {}, ip: '203.0.113.7', id: 'a' };
    const asking = service.ask(request as unknown as FastifyRequest, '/api/chain');
    const refused = expect(asking).rejects.toMatchObject({ status: 503 });
    await once(hung, 'request');
    await service.onApplicationShutdown();
    await refused;
  } finally {
    hung.closeAllConnections();
    hung.close();
  }
});

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
      expect(policies[0]).not.toMatch(/:\/\/|\*|unsafe/);
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
