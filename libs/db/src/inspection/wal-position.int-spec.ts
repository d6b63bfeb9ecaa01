import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing';
import { readWalPosition } from './server-facts.js';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it('is told to the user of the api, and grows with what is committed', async () => {
  const api = await test.open({ url: test.urlAs('api'), readOnly: true });
  const before = await readWalPosition(api);
  expect(before).toMatchObject({ isStandby: false, system: expect.stringMatching(/^\d{10,}$/) });
  const owner = await test.open();
  await owner.query({
    text: `INSERT INTO staking.price (usd, observed_at, source) VALUES (1, now(), 'test')`,
  });
  const after = await readWalPosition(api);
  expect(after.bytes).toBeGreaterThan(before.bytes);
  expect(after.system).toBe(before.system);
});
