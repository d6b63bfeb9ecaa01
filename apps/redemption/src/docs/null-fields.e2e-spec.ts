/** JSON null is a value, and not an absent field: no field of a request takes it. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import request from 'supertest';
import { nullFields } from '#libs/testing';
import {
  addPartner,
  aPlayer,
  type Service,
  startService,
} from '../testing/redemption-harness.support-spec.js';

const CASES = nullFields(JSON.parse(readFileSync('docs/wire/redemption-openapi.json', 'utf8')), {
  ...{ message: 'text', signature: '0x00', partner: 'Arena', points: 100 },
});

let service: Service;
let token: string;
beforeAll(async () => {
  service = await startService();
  await addPartner(service, 'Arena');
  ({ token } = await aPlayer(service));
});
afterAll(() => service.stop());

it.each(CASES)('$route refuses null as $field', async ({ path, field, body }) => {
  const answer = await request(service.url)
    .post(path)
    .set('Authorization', `Bearer ${token}`)
    .set('Idempotency-Key', 'a-key')
    .send(body);
  expect({ status: answer.status, ...answer.body }).toMatchObject({ status: 400, field });
});
