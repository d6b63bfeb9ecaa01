/** JSON null is a value, and not an absent field: no field of a request takes it. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import request from 'supertest';
import { nullFields, wrongBodies, wrongQueries } from '#libs/testing';
import {
  addPartner,
  aPlayer,
  type Service,
  startService,
} from '../testing/redemption-harness.support.js';

const DOCUMENT: unknown = JSON.parse(readFileSync('docs/wire/redemption-openapi.json', 'utf8'));
const SAMPLES = { message: 'text', signature: '0x00', partner: 'Arena', points: 100 };
const CASES = nullFields(DOCUMENT, SAMPLES);

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

const statusOf = async (asked: request.Test): Promise<number> => {
  // The limits of the wallet and its address refuse nothing.
  service.clock.advance(10_000);
  const { status } = await asked
    .set('Authorization', `Bearer ${token}`)
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
