/** JSON null is a value, and not an absent field: no field of a request takes it. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import request from 'supertest';
import { type MintedCredential } from '#libs/signing';
import { aWallet, nullFields } from '#libs/testing';
import { addPartner, type Api, startApi } from '../testing/api-harness.support-spec.js';

const DEBUGGER = '/api/debug/signature';
const CASES = [
  ...nullFields(JSON.parse(readFileSync('docs/wire/openapi.json', 'utf8')), {
    walletAddresses: [aWallet(1)],
  }),
  // The debugger is not in the contract.
  ...['method', 'path', 'requestId', 'body', 'signature'].map((field) => ({
    ...{ route: `POST ${DEBUGGER}`, path: DEBUGGER, field },
    body: { method: 'GET', path: '/', [field]: null },
  })),
];

let api: Api;
let partner: MintedCredential;
beforeAll(async () => {
  api = await startApi({ REQUEST_LOG: 'off', SIGNATURE_DEBUGGER: 'true' });
  partner = await addPartner(api, 'nulls', { rate: 1000, burst: 1000 });
});
afterAll(() => api.stop());

it.each(CASES)('$route refuses null as $field', async ({ path, field, body }) => {
  const answer = await request(api.url).post(path).set('X-API-KEY', partner.apiKey).send(body);
  expect({ status: answer.status, message: String(answer.body.message) }).toEqual({
    status: 400,
    message: expect.stringContaining(field),
  });
});
