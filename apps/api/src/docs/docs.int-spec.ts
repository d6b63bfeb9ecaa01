import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { canonicalJson } from '#libs/domain';
import { type MintedCredential } from '#libs/signing';
import { aWallet } from '#libs/testing/database';
import { nullFields, wrongBodies, wrongQueries } from '#libs/testing/wire';
import {
  addPartner,
  addPrice,
  type Api,
  seedIndex,
  startApi,
} from '../testing/api-harness.support.js';
import { type Caller, type RawAnswer } from '../testing/wire.support.js';

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
let unlimited: Caller;

beforeAll(async () => {
  api = await startApi({ REQUEST_LOG: '0' });
  partner = await addPartner(api, 'docs', { rate: 1, burst: 5 });
  unlimited = api.as(await addPartner(api, 'unlimited', { rate: 1000, burst: 1000 }));
});
afterAll(() => api.stop());

/** The schema of what is answered with status 200, or with another one. */
function schemaOf(path: string, status = '200') {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(DOCUMENT as object, 'openapi');
  const pointer = `openapi#/paths/${path.replaceAll('/', '~1')}/get/responses/${status}/content/application~1json/schema`;
  const validate = ajv.getSchema(pointer);
  if (validate === undefined) throw new Error(`There is no ${pointer}.`);
  return { ajv, validate };
}

/** JSON null is a value, and not an absent field: no field of a request takes it. */
describe('every field and parameter of the contract', () => {
  it.each(nullFields(DOCUMENT, SAMPLES))(
    '$route refuses null as $field',
    async ({ path, field, body }) => {
      const answer = await unlimited.post(path, body);
      expect([answer.status, JSON.parse(answer.body)]).toMatchObject([
        ...[400, { message: expect.stringContaining(field) }],
      ]);
    },
  );

  /** A request that a limit refuses shows nothing. */
  const isFault = ({ status }: RawAnswer): boolean =>
    status === 429 || (status >= 500 && status !== 503);

  it.each(wrongBodies(DOCUMENT, SAMPLES))(
    '$route answers whatever has the place of $field',
    async ({ path, bodies }) => {
      const faults: object[] = [];
      for (const body of bodies) if (isFault(await unlimited.post(path, body))) faults.push(body);
      expect(faults).toEqual([]);
    },
  );

  it.each(wrongQueries(DOCUMENT, SAMPLES))(
    '$route answers whatever has the place of $parameter',
    async ({ targets }) => {
      const faults: string[] = [];
      for (const target of targets) if (isFault(await unlimited.ask(target))) faults.push(target);
      expect(faults).toEqual([]);
    },
  );
});

describe('the contract', () => {
  it('in docs/wire/openapi.json is the one that is served; write-openapi.ts renews it', async () => {
    const { status, body } = await api.as().ask('/docs/openapi.json');
    expect([status, body]).toEqual([200, canonicalJson(DOCUMENT)]);
  });

  it('is a page for people that loads nothing', async () => {
    const { status, headers, body } = await api.as().ask('/docs');
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(body).not.toMatch(/<script|<link|<img|src=|@import|url\(|undefined|\[object/i);
    for (const word of ['walletAddress', 'X-API-SIGNATURE', '503', 'averageStakedAmount']) {
      expect(body).toContain(word);
    }
  });

  it('describes what the service really answers, status by status', async () => {
    const { responses } = (DOCUMENT as Contract).paths[PATH].get;
    const seen = new Set<string>();
    const check = async (query: string, by?: MintedCredential): Promise<void> => {
      const headers = { 'accept-signature': 'sig=()' };
      const answer = await api.as(by).ask(PATH + query, { headers });
      const status = String(answer.status);
      const { ajv, validate } = schemaOf(PATH, status);
      expect([validate(JSON.parse(answer.body)), validate.errors]).toEqual([true, null]);
      for (const [name, header] of Object.entries(responses[status]?.headers ?? {})) {
        const value = answer.headers[name.toLowerCase()];
        const typed = header.schema.type === 'integer' ? Number(value) : value;
        expect([name, ajv.validate(header.schema, typed)]).toEqual([name, true]);
      }
      seen.add(status);
    };
    const ask = (wallet: string, more = '') => check(`?walletAddress=${wallet}${more}`, partner);
    await check('');
    await ask(aWallet(1));
    await seedIndex(api);
    await ask(aWallet(1));
    await addPrice(api, '0.1', '2026-11-21T12:00:00Z');
    await ask(aWallet(1));
    await ask(aWallet(2));
    await ask('0x');
    await ask(aWallet(1));
    api.clock.advance(10_000);
    await ask(aWallet(1), '&endDay=2026-11-21');
    const database = await api.database.open();
    await database.pool.query('DROP TABLE staking.balance_day');
    await ask(aWallet(3));
    expect([...seen].sort()).toEqual(Object.keys(responses).sort());
  });

  it('describes the public keys as they are served', async () => {
    const path = '/.well-known/http-message-signatures-directory';
    const { validate } = schemaOf(path);
    expect([validate(await api.as().read(path)), validate.errors]).toEqual([true, null]);
  });
});
