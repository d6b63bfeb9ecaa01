import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import request, { type Response } from 'supertest';
import { canonicalJson } from '#libs/domain';
import { type MintedCredential } from '#libs/signing';
import { aWallet } from '#libs/testing/database';
import { nullFields, wrongBodies, wrongQueries } from '#libs/testing/wire';
import {
  addPartner,
  addPrice,
  ANON_SECRET,
  type Api,
  seedIndex,
  startApi,
} from '../testing/api-harness.support.js';
import { expectSigned } from '../testing/wire.support.js';

const PATH = '/api/staking/snapshots';
const DOCUMENT: unknown = JSON.parse(readFileSync('docs/wire/openapi.json', 'utf8'));
const SAMPLES = {
  ...{ walletAddresses: [aWallet(1)], walletAddress: aWallet(1), lastDays: 1 },
  day: '2026-10-01',
};

interface Contract {
  readonly paths: Record<typeof PATH, { readonly get: { readonly responses: Responses } }>;
}
type Responses = Readonly<
  Record<string, { headers: Record<string, { schema: { readonly type?: string } }> }>
>;

let api: Api;
let partner: MintedCredential;
let unlimited: MintedCredential;

beforeAll(async () => {
  api = await startApi({ REQUEST_LOG: '0' });
  partner = await addPartner(api, 'docs', { rate: 1, burst: 5 });
  unlimited = await addPartner(api, 'unlimited', { rate: 1000, burst: 1000 });
});
afterAll(() => api.stop());

function expectSignedByAnyone(response: Response, path: string): void {
  expectSigned(response, { method: 'GET', path, secret: ANON_SECRET });
}

/** JSON null is a value, and not an absent field: no field of a request takes it. */
describe('every field and parameter of the contract', () => {
  it.each(nullFields(DOCUMENT, SAMPLES))(
    '$route refuses null as $field',
    async ({ path, field, body }) => {
      const answer = await request(api.url)
        .post(path)
        .set('X-API-KEY', unlimited.apiKey)
        .send(body);
      expect({ status: answer.status, message: String(answer.body.message) }).toEqual({
        status: 400,
        message: expect.stringContaining(field),
      });
    },
  );

  /** A request that a limit refuses shows nothing. */
  const isFault = (status: number): boolean => status === 429 || (status >= 500 && status !== 503);

  it.each(wrongBodies(DOCUMENT, SAMPLES))(
    '$route answers whatever has the place of $field',
    async ({ path, bodies }) => {
      const faults: object[] = [];
      for (const body of bodies) {
        const asked = request(api.url).post(path).set('X-API-KEY', unlimited.apiKey);
        if (isFault((await asked.send(body)).status)) faults.push(body);
      }
      expect(faults).toEqual([]);
    },
  );

  it.each(wrongQueries(DOCUMENT, SAMPLES))(
    '$route answers whatever has the place of $parameter',
    async ({ targets }) => {
      const faults: string[] = [];
      for (const target of targets) {
        const asked = request(api.url).get(target).set('X-API-KEY', unlimited.apiKey);
        if (isFault((await asked).status)) faults.push(target);
      }
      expect(faults).toEqual([]);
    },
  );
});

describe('the contract', () => {
  it('in docs/wire/openapi.json is the one that is served; write-openapi.ts renews it', async () => {
    const served = await request(api.url).get('/docs/openapi.json').expect(200);
    expect(served.text).toBe(canonicalJson(DOCUMENT));
    expectSignedByAnyone(served, '/docs/openapi.json');
  });

  it('is a page for people that loads nothing', async () => {
    const page = await request(api.url).get('/docs').expect(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.text).not.toMatch(/<script|<link|<img|src=|@import|url\(|undefined|\[object/i);
    for (const word of [
      'walletAddress',
      'lastDays',
      'X-API-SIGNATURE',
      '503',
      'averageStakedAmount',
    ]) {
      expect(page.text).toContain(word);
    }
    expectSignedByAnyone(page, '/docs');
  });

  it('describes what the service really answers, status by status', async () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const served = await request(api.url).get('/docs/openapi.json').expect(200);
    const openApi = served.body as Contract;
    ajv.addSchema(openApi, 'openapi');
    const { responses } = openApi.paths[PATH].get;
    const seen = new Set<string>();
    const check = async (test: request.Test): Promise<void> => {
      const response = await test.set('Accept-Signature', 'sig=()');
      const status = String(response.status);
      const declared = responses[status] ?? { headers: {} };
      const pointer = `openapi#/paths/${PATH.replaceAll('/', '~1')}/get/responses/${status}/content/application~1json/schema`;
      const validate = ajv.getSchema(pointer);
      expect([validate?.(response.body), validate?.errors]).toEqual([true, null]);
      for (const [name, header] of Object.entries(declared.headers)) {
        const value = response.headers[name.toLowerCase()];
        const typed = header.schema.type === 'integer' ? Number(value) : value;
        expect([name, ajv.validate(header.schema, typed)]).toEqual([name, true]);
      }
      seen.add(status);
    };
    const ask = (wallet: string) =>
      request(api.url).get(PATH).query({ walletAddress: wallet }).set('X-API-KEY', partner.apiKey);
    await check(request(api.url).get(PATH));
    await check(ask(aWallet(1)));
    const events: [string, ReturnType<typeof aWallet>, number][] = [
      ['2026-11-10T10:00:00Z', aWallet(1), 3],
    ];
    await seedIndex(api, { events, headAt: '2026-11-21T12:00:00Z' });
    await check(ask(aWallet(1)));
    await addPrice(api, '0.1', '2026-11-21T12:00:00Z');
    await check(ask(aWallet(1)));
    await check(ask(aWallet(2)));
    await check(ask('0x'));
    await check(ask(aWallet(1)));
    api.clock.advance(10_000);
    await check(ask(aWallet(1)).query({ endDay: '2026-11-21' }));
    const database = await api.database.open();
    await database.pool.query('DROP TABLE staking.balance_day');
    await check(ask(aWallet(3)));
    expect([...seen].sort()).toEqual(Object.keys(responses).sort());
  });

  it('describes the public keys as they are served', async () => {
    const path = '/.well-known/http-message-signatures-directory';
    const ajv = new Ajv2020({ strict: false });
    const served = await request(api.url).get('/docs/openapi.json').expect(200);
    ajv.addSchema(served.body as object, 'openapi');
    const keys = await request(api.url).get(path).expect(200);
    const pointer = `openapi#/paths/${path.replaceAll('/', '~1')}/get/responses/200/content/application~1json/schema`;
    const validate = ajv.getSchema(pointer);
    expect([validate?.(keys.body), validate?.errors]).toEqual([true, null]);
  });
});
