import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedemptionStore } from '#libs/db';
import { createTestDatabase, type TestDatabase } from '#libs/testing';
import { aKey, aNewRedemption, someLimits } from '../../libs/db/src/redemption/testing/builders.js';
import { textOf } from './compose-file.js';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

describe('the page about restoring', () => {
  it('has a statement that keeps the service away from one redemption, and from no other', async () => {
    const [statement = ''] =
      /UPDATE redemption\.redemption SET [^;]+;/.exec(textOf('docs/operating/backup.md')) ?? [];
    const database = await test.open({ poolSize: 2 });
    const store = new RedemptionStore(database);
    const [held, other] = [aNewRedemption(), aNewRedemption()];
    for (const one of [held, other]) await store.create(one, aKey(), someLimits());
    await database.query({ text: statement.replace('…', held.id) });
    const leased = await store.lease({ count: 10, owner: 'worker', leaseMs: 60_000 });
    expect(
      JSON.stringify(leased, (_, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      ),
    ).toContain(other.id);
    expect(leased).toHaveLength(1);
  });
});
