import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ConformanceDeductionStore, type Database } from '#libs/db';
import { createLogger } from '#libs/service';
import { aWallet, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { aPartnerId } from '#libs/testing/partner';
import { OpenDeductions } from './open-deductions.js';
import { type PartnerEndpoints } from './partner-endpoints.js';

let test: TestDatabase;
let owner: Database;
let store: ConformanceDeductionStore;
beforeAll(async () => {
  test = await createTestDatabase();
  owner = await test.open();
  store = new ConformanceDeductionStore(await test.open({ url: test.urlAs('console') }));
});
afterAll(() => test.drop());

/** Ends the leases of all deductions. */
const timePasses = () =>
  owner.query({ text: 'UPDATE console.conformance_deduction SET due_at = now()' });

/** Ids of the deductions that another console would give back. */
const due = async () => (await store.takeDue(10)).map(({ redemptionId }) => redemptionId);

it('a deduction belongs to the console of its run until the run ends or the console dies', async () => {
  const logger = createLogger({ app: 'console', level: 'silent' });
  const endpoints = undefined as unknown as PartnerEndpoints;
  const running = new OpenDeductions(store, endpoints, logger);
  const killed = new OpenDeductions(store, endpoints, logger);
  const begun = [running, running, killed].map((deductions) => {
    const svcRedemptionId = randomUUID();
    return { svcRedemptionId, journal: deductions.begin(randomUUID(), aPartnerId()) };
  });
  for (const { svcRedemptionId, journal } of begun)
    await journal.sent({ svcRedemptionId, address: aWallet(1), points: 5 });
  const [going, ended, lost] = begun.map(({ svcRedemptionId }) => svcRedemptionId);
  expect(await due()).toEqual([]);
  begun[1]?.journal.end();
  await timePasses();
  await running.renewLeases();
  expect((await due()).sort()).toEqual([ended, lost].sort());
  expect(await due()).toEqual([]);
  await timePasses();
  expect(await due()).toContain(going);
});
