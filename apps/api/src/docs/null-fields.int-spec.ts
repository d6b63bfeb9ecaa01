/** JSON null is a value, and not an absent field: no field of a request takes it. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import request from 'supertest';
import { type MintedCredential } from '#libs/signing';
import { aWallet, nullFields, wrongBodies, wrongQueries } from '#libs/testing';
import { addPartner, type Api, startApi } from '../testing/api-harness.support.js';

const DOCUMENT: unknown = JSON.parse(readFileSync('docs/wire/openapi.json', 'utf8'));
const SAMPLES = {
  ...{ walletAddresses: [aWallet(1)], walletAddress: aWallet(1), lastDays: 1 },
  day: '2026-10-01',
};

let api: Api;
let partner: MintedCredential;
beforeAll(async () => {
  api = await startApi({ REQUEST_LOG: '0' });
  partner = await addPartner(api, 'nulls', { rate: 1000, burst: 1000 });
});
afterAll(() => api.stop());

it.each(nullFields(DOCUMENT, SAMPLES))(
  '$route refuses null as $field',
  async ({ path, field, body }) => {
    const answer = await request(api.url).post(path).set('X-API-KEY', partner.apiKey).send(body);
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
      const asked = request(api.url).post(path).set('X-API-KEY', partner.apiKey);
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
      const asked = request(api.url).get(target).set('X-API-KEY', partner.apiKey);
      if (isFault((await asked).status)) faults.push(target);
    }
    expect(faults).toEqual([]);
  },
);
