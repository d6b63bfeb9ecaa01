/** The wire of the service: its contract, and bytes that are no proper request. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import request, { type Response } from 'supertest';
import { privateKeyToAccount } from 'viem/accounts';
import { createSiweMessage } from 'viem/siwe';
import { parseDecimal } from '#libs/domain';
import { type OpenApi } from '#libs/openapi';
import {
  nullFields,
  wrongBodies,
  wrongQueries,
  exchange,
  HTTP_PIECES,
  type RawAnswer,
} from '#libs/testing/wire';
import {
  addPartner,
  addPrice,
  aPlayer,
  aUser,
  DOMAIN,
  inState,
  type Service,
  startService,
  type User,
} from '../testing/redemption-harness.support.js';
import { openApiOf } from '../create-redemption.js';
import { connect } from 'node:net';
import fc from 'fast-check';

const DOCUMENT: unknown = JSON.parse(readFileSync('docs/wire/redemption-openapi.json', 'utf8'));
const SAMPLES = { message: 'text', signature: '0x00', partner: 'Arena', points: 100 };

let service: Service;
let openApi: OpenApi;

beforeAll(async () => {
  service = await startService();
  openApi = openApiOf(service.app);
  ajv.addSchema(openApi, 'openapi');
  await addPartner(service, 'Arena', {
    bonus: { fromPoints: 500n, rate: parseDecimal('0.02') },
    minPoints: 10n,
  });
  await addPartner(service, 'Plain');
  await addPrice(service);
});
afterAll(() => service.stop());

describe('the contract', () => {
  it('in docs/wire is the one that is served; npm run openapi renews it', async () => {
    const served = await request(service.url).get('/docs/openapi.json').expect(200);
    expect(served.body).toEqual(DOCUMENT);
  });

  it('is a page for people that loads nothing', async () => {
    const page = await request(service.url).get('/docs').expect(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.text).not.toMatch(/<script|<link|<img|src=|@import|url\(|undefined|\[object/i);
    for (const word of ['Idempotency-Key', 'voucher', '/api/auth/verify', '409']) {
      expect(page.text).toContain(word);
    }
  });

  it('describes what the service really answers', async () => {
    const user = await aUser(service);
    service.game.points.set(user.wallet, 1000);
    const account = privateKeyToAccount(`0x${'55'.repeat(32)}`);
    const nonce = await checked('/api/auth/nonce', ask('/api/auth/nonce'));
    const message = createSiweMessage({
      address: account.address,
      chainId: service.bench.chain.chainId,
      domain: DOMAIN,
      nonce: nonce.body.nonce,
      uri: `https://${DOMAIN}/`,
      version: '1',
      issuedAt: new Date(service.clock.nowMs()),
    });
    const signature = await account.signMessage({ message });
    const verify = '/api/auth/verify';
    await checked(verify, ask(verify).send({ message, signature }));
    await checked(verify, ask(verify).send({ message, signature }));
    await checked(verify, ask(verify).send({}));
    await checked('/api/partners', user.get('/api/partners'));
    await checked('/api/partners', request(service.url).get('/api/partners'));
    const points = '/api/partners/{partner}/points';
    await checked(points, user.get('/api/partners/Arena/points'));
    await checked(points, user.get('/api/partners/Nobody/points'));
    await checked('/api/points', user.get('/api/points'));
    await checked('/api/points', user.get('/api/points?partner=Nobody'));
    await checked('/api/points', user.get('/api/points?partner=x&partner=y'));
    await checked('/api/chain', request(service.url).get('/api/chain'));
    const quote = '/api/partners/{partner}/quote';
    const quoted = await checked(quote, user.get('/api/partners/Arena/quote?points=500'));
    await checked(quote, user.get('/api/partners/Arena/quote?points=5'));
    await checked(quote, user.get('/api/partners/Arena/quote?points=x'));
    await checked(quote, user.get('/api/partners/Nobody/quote?points=5'));
    const limits = '/api/partners/{partner}/limits';
    await checked(limits, user.get('/api/partners/Arena/limits'));
    const redemptions = '/api/redemptions';
    const more = `${quoted.body.amount}0`;
    const order = { partner: 'Arena', points: 500, minAmount: more };
    await checked(redemptions, user.post(redemptions, order).set('idempotency-key', 'more'));
    const created = await checked(redemptions, user.redeem('Arena', 500, 'a'));
    await checked(redemptions, user.redeem('Arena', 500, 'a'));
    await checked(redemptions, user.redeem('Arena', 501, 'a'));
    await checked(redemptions, user.redeem('Arena', 5));
    await checked(redemptions, user.redeem('Arena', 500));
    await checked(redemptions, user.redeem('Arena', -1));
    await checked(redemptions, user.redeem('Nobody', 5));
    const one = `/api/redemptions/${created.body.id}`;
    await inState(service, created.body.id, 'authorised');
    const authorised = await checked('/api/redemptions/{id}', user.get(one));
    expect(authorised.body.voucher).not.toBeNull();
    await checked('/api/redemptions/{id}', user.get('/api/redemptions/x'));
    await checked(redemptions, user.get('/api/redemptions'));
    await checked(redemptions, user.get('/api/redemptions?limit=0'));
    const cancel = '/api/redemptions/{id}/cancel';
    await checked(cancel, user.post(`${one}/cancel`));
    const { vault, calldata } = authorised.body.voucher;
    await service.bench.mine({ from: user.wallet, to: vault, data: calldata });
    await service.bench.finalise();
    await inState(service, created.body.id, 'claimed');
    await checked('/api/redemptions/{id}', user.get(one));
    await checked(cancel, user.post(`${one}/cancel`));
    await ask('/api/auth/logout').expect(204);
    for (let count = 0; count < 10; count++) await ask('/api/auth/nonce');
    await checked('/api/auth/nonce', ask('/api/auth/nonce'));
  });
});

/** JSON null is a value, and not an absent field: no field of a request takes it. */
describe('every field and parameter of the contract', () => {
  let player: User;
  beforeAll(async () => {
    // Refills the limits that the tests before have used.
    service.clock.advance(60_000);
    player = await aPlayer(service);
  });

  it.each(nullFields(DOCUMENT, SAMPLES))(
    '$route refuses null as $field',
    async ({ path, field, body }) => {
      const answer = await request(service.url)
        .post(path)
        .set('Authorization', `Bearer ${player.token}`)
        .set('Idempotency-Key', 'a-key')
        .send(body);
      expect({ status: answer.status, ...answer.body }).toMatchObject({ status: 400, field });
    },
  );

  const statusOf = async (asked: request.Test): Promise<number> => {
    // The limits of the wallet and its address refuse nothing.
    service.clock.advance(10_000);
    const { status } = await asked
      .set('Authorization', `Bearer ${player.token}`)
      .set('Idempotency-Key', 'another-key');
    return status;
  };
  /** A request that a limit refuses shows nothing. */
  const isFault = (status: number): boolean => status === 429 || (status >= 500 && status !== 503);

  it.each(wrongBodies(DOCUMENT, SAMPLES))(
    '$route answers whatever has the place of $field',
    async ({ path, bodies }) => {
      const faults: object[] = [];
      for (const body of bodies) {
        if (isFault(await statusOf(request(service.url).post(path).send(body)))) faults.push(body);
      }
      expect(faults).toEqual([]);
    },
  );

  it.each(wrongQueries(DOCUMENT, SAMPLES))(
    '$route answers whatever has the place of $parameter',
    async ({ targets }) => {
      const faults: string[] = [];
      for (const target of targets) {
        if (isFault(await statusOf(request(service.url).get(target)))) faults.push(target);
      }
      expect(faults).toEqual([]);
    },
  );
});

const ajv = new Ajv2020({ strict: false, validateFormats: false });

/** The answer, after a check against the contract for this path, method and status. */
async function checked(path: string, asked: request.Test): Promise<Response> {
  const response = await asked;
  const method = asked.method.toLowerCase();
  const status = String(response.status);
  expect(Object.keys(openApi.paths[path]?.[method]?.responses ?? {})).toContain(status);
  const pointer = `openapi#/paths/${path.replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')}/${method}/responses/${status}/content/application~1json/schema`;
  const validate = ajv.getSchema(pointer);
  const problem = [path, status, validate?.(response.body), validate?.errors];
  expect(problem).toEqual([path, status, true, null]);
  return response;
}

function ask(path: string): request.Test {
  return request(service.url).post(path);
}

describe('bytes that are no proper request', () => {
  let service: Service;
  /** The answer to headers that never end. It takes ten seconds, in which the other tests run. */
  let late: Promise<RawAnswer | undefined>;

  beforeAll(async () => {
    service = await startService();
    late = one('GET / HTTP/1.1\r\nHost: a\r\n');
  });
  afterAll(() => service.stop());

  function expectError(answer: RawAnswer | undefined, status: number, code = 'BAD_REQUEST'): void {
    if (answer === undefined) throw new Error('no answer');
    expect({ status: answer.status, body: JSON.parse(answer.body) }).toEqual({
      status,
      body: { success: false, code, message: expect.any(String) },
    });
    expectCommon(answer);
  }

  function expectCommon({ headers }: RawAnswer): void {
    expect(headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['x-content-type-options']).toBe('nosniff');
  }

  const one = async (...parts: string[]): Promise<RawAnswer | undefined> => {
    const [answer, ...more] = await exchange(service.port, parts);
    expect(more).toEqual([]);
    return answer;
  };

  describe('what the parser refuses', () => {
    it.each([
      ['no HTTP at all', 'hello\r\n\r\n'],
      ['an unknown method', 'BREW / HTTP/1.1\r\n\r\n'],
      ['a header without a colon', 'GET / HTTP/1.1\r\nbad\r\n\r\n'],
      ['a space in a header name', 'GET / HTTP/1.1\r\nHost : a\r\n\r\n'],
      ['two lengths', 'POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
      [
        'a length beside chunks',
        'POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      ],
      ['a negative length', 'POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n'],
      ['a control character in a header', 'GET / HTTP/1.1\r\nHost: a\u0001\r\n\r\n'],
      ['a version that does not exist', 'GET / HTTP/3.9\r\n\r\n'],
      [
        'a broken chunk',
        'POST /api/auth/verify HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n',
      ],
    ])('%s is 400', async (_, bytes) => {
      expectError(await one(bytes), 400);
    });

    it('headers beyond the limit are 431', async () => {
      expectError(await one(`GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`), 431);
    });

    it('chunk extensions beyond the limit are 413', async () => {
      const head =
        'POST /api/auth/verify HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
      expectError(await one(`${head}1;${'x'.repeat(20_000)}\r\na\r\n0\r\n\r\n`), 413);
    });

    it('garbage behind a request does not cost the answer to it', async () => {
      const parts = ['GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n', 'garbage\r\n\r\n'];
      // Behind an answer that is still to come, the garbage would get none.
      const [answer, refusal] = await exchange(service.port, parts, { pauseMs: 500 });
      expect(answer?.status).toBe(200);
      expectError(refusal, 400);
    });

    it('a client that goes on sending is cut off', async () => {
      const socket = connect(service.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write('garbage\r\n\r\n');
      const flood = setInterval(() => socket.write('x'), 20);
      await new Promise((resolve) => socket.on('close', resolve));
      clearInterval(flood);
      expect(socket.destroyed).toBe(true);
    });
  });

  describe('what the router and the body parser refuse', () => {
    const CLOSE = 'Host: a\r\nConnection: close\r\n';

    it.each([
      ['/%zz', 400],
      ['/%c0%af', 400],
      ['/api/redemptions/%', 400],
      ['//evil.example', 404],
      ['/..%2f..%2fetc', 404],
      ['http://[::1]/x', 404],
      ['/nowhere', 404],
    ])('%s is %s', async (path, status) => {
      const code = status === 404 ? 'NOT_FOUND' : 'BAD_REQUEST';
      expectError(await one(`GET ${path} HTTP/1.1\r\n${CLOSE}\r\n`), status, code);
    });

    it('a request without Host is served', async () => {
      expect(await one('GET /health/live HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatchObject({
        status: 200,
      });
    });

    it.each(['PUT', 'TRACE', 'M-SEARCH', 'PROPFIND'])('%s has no route', async (method) => {
      expectError(
        await one(`${method} /api/redemptions HTTP/1.1\r\n${CLOSE}\r\n`),
        404,
        'NOT_FOUND',
      );
    });

    it.each([
      ['text/plain', '{}', 415, 'body is not supported: send application/json.'],
      ['application/json; charset=x', '{', 400, 'is not JSON: line 1, column 2'],
      ['application/json', '{"__proto__":{"x":1},"__proto__":{}}', 400, 'the name __proto__'],
    ])('a body of %s is answered in the envelope', async (type, body, status, message) => {
      const head = `POST /api/auth/verify HTTP/1.1\r\n${CLOSE}Content-Type: ${type}\r\n`;
      const answer = await one(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
      expect(answer?.status).toBe(status);
      expect(JSON.parse(answer?.body ?? '')).toMatchObject({
        success: false,
        code: 'BAD_REQUEST',
        message: expect.stringContaining(message) as unknown,
      });
      if (answer) expectCommon(answer);
    });

    it('a body beyond the limit is 413, announced or in chunks', async () => {
      const head = `POST /api/auth/verify HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`;
      expectError(await one(`${head}Content-Length: 999999\r\n\r\n`), 413);
      const chunk = `4000\r\n${'1'.repeat(0x4000)}\r\n`;
      expectError(await one(`${head}Transfer-Encoding: chunked\r\n\r\n`, chunk, chunk), 413);
    });

    it.each([
      ['/health/live', 200],
      ['/nowhere', 404],
      ['/%zz', 400],
      ['/api/redemptions', 401],
    ])('HEAD %s has the length of the body and none of it', async (path, status) => {
      const request = `HEAD ${path} HTTP/1.1\r\n${CLOSE}\r\n`;
      const [answer, ...more] = await exchange(service.port, [request], { methods: ['HEAD'] });
      expect(more).toEqual([]);
      expect(answer?.status).toBe(status);
      expect(Number(answer?.headers['content-length'])).toBeGreaterThan(10);
      expect(answer?.body).toBe('');
      if (answer) expectCommon(answer);
    });

    it('HEAD that cannot be parsed has none of it either', async () => {
      const request = 'HEAD / HTTP/1.1\r\nbad\r\n\r\n';
      const [answer, ...more] = await exchange(service.port, [request], { methods: ['HEAD'] });
      expect([answer?.status, more]).toEqual([400, []]);
    });
  });

  const anyBytes = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
  const pieces = fc.oneof(
    ...HTTP_PIECES.map(({ weight, texts }) => ({
      weight,
      arbitrary: fc.constantFrom(...texts).map((text) => Buffer.from(text, 'latin1')),
    })),
    { weight: 1, arbitrary: anyBytes },
  );

  describe('hostile input', () => {
    it('whatever bytes are sent, whatever is answered has an id, and every error the envelope', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(pieces, { minLength: 1, maxLength: 8 }), async (parts) => {
          const bytes = Buffer.concat([...parts, Buffer.from('Connection: close\r\n\r\n')]);
          service.clock.advance(10_000);
          const answers = await exchange(service.port, [bytes], { pauseMs: 1, end: true });
          for (const answer of answers) {
            expectCommon(answer);
            if (answer.status < 400 || !answer.body.startsWith('{')) continue;
            expect(answer.body).toMatch(/^\{"success":false,"code":"[A-Z_]+","message":".+"/);
          }
        }),
        { numRuns: 200 },
      );
    });

    it('headers that never end are 408', async () => {
      expectError(await late, 408);
    });
  });
});
