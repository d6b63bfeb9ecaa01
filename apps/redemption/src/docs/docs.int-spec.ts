import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import request, { type Response } from 'supertest';
import { privateKeyToAccount } from 'viem/accounts';
import { createSiweMessage } from 'viem/siwe';
import { parseDecimal } from '#libs/domain';
import { type OpenApi } from '#libs/openapi';
import { nullFields, wrongBodies, wrongQueries } from '#libs/testing/wire';
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
