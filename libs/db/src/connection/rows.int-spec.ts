/** Arrays as the programs send them, read back by PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Address } from '#libs/domain';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { type Database } from './database.js';
import { addressOf, arrayText, byteaArray } from './rows.js';

const anAddress = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => addressOf(Buffer.from(bytes).toString('hex')));
const anAmount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });

describe('arrays of parameters', () => {
  let test: TestDatabase;
  let database: Database;

  beforeAll(async () => {
    test = await createTestDatabase();
    database = await test.open({ poolSize: 1 });
  });

  afterAll(async () => {
    await test.drop();
  });

  const addressesIn = async (wallets: readonly Address[]): Promise<Address[]> => {
    const rows = await database.query<{ wallet: string }>({
      text: `SELECT encode(wallet, 'hex') AS wallet FROM unnest($1::bytea[]) WITH ORDINALITY AS u (wallet, place) ORDER BY place`,
      values: [byteaArray(wallets)],
    });
    return rows.map(({ wallet }) => addressOf(wallet));
  };

  const amountsIn = async (amounts: readonly (bigint | null)[]): Promise<(bigint | null)[]> => {
    const rows = await database.query<{ amount: string | null }>({
      text: `SELECT amount FROM unnest($1::text::numeric[]) WITH ORDINALITY AS u (amount, place) ORDER BY place`,
      values: [arrayText(amounts, (amount) => amount?.toString() ?? null)],
    });
    return rows.map(({ amount }) => (amount === null ? null : BigInt(amount)));
  };

  it('reads each address', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anAddress), async (wallets) => {
        expect(await addressesIn(wallets)).toEqual(wallets);
      }),
    );
  });

  it('reads each amount, and null', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(anAmount)), async (amounts) => {
        expect(await amountsIn(amounts)).toEqual(amounts);
      }),
    );
  });

  it.each(['0x', `0x${'ab'.repeat(19)}`, `0x${'ab'.repeat(19)}zz`, `0x${'ab'.repeat(21)}`])(
    'refuses %s as an address',
    (text) => {
      const [wrong, right] = [text as Address, addressOf('cd'.repeat(20))];
      expect(() => byteaArray([wrong, right])).toThrow(RangeError);
      expect(() => byteaArray([right, wrong])).toThrow(RangeError);
    },
  );

  it.each([0, 1, 999, 1000, 1001, 2000, 5003])('reads %d of them', async (count) => {
    const amounts = Array.from({ length: count }, (_, index) =>
      index % 7 === 0 ? null : BigInt(index),
    );
    expect(await amountsIn(amounts)).toEqual(amounts);
    const wallets = amounts.map((_, index) => addressOf(index.toString(16).padStart(40, '0')));
    expect(await addressesIn(wallets)).toEqual(wallets);
  });
});
