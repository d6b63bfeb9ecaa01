import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing';
import {
  type Database,
  DatabaseRefusedError,
  type NewCredential,
  PartnerExistsError,
  PartnerStore,
} from '../index.js';

let test: TestDatabase;
let database: Database;
let partners: PartnerStore;

beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
  partners = new PartnerStore(database);
});
afterAll(() => test.drop());

function aCredential(): NewCredential {
  return {
    keyHash: randomBytes(32),
    keyPrefix: 'svck_abcdefg',
    secretCiphertext: randomBytes(64),
  };
}

describe('PartnerStore', () => {
  it('finds the credential of a partner by the hash of its key, until it is revoked', async () => {
    const credential = aCredential();
    const { partnerId } = await partners.create({ name: 'Acme', rate: 5, burst: 9, credential });
    const reading = new PartnerStore(await test.open({ readOnly: true }));
    expect(await reading.findCredential(credential.keyHash)).toEqual({
      credentialId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      partnerId,
      partnerName: 'Acme',
      rate: 5,
      burst: 9,
      secretCiphertext: credential.secretCiphertext,
    });
    expect(await reading.findCredential(randomBytes(32))).toBeUndefined();
    await database.pool.query('UPDATE partners.credential SET revoked_at = now()');
    expect(await reading.findCredential(credential.keyHash)).toBeUndefined();
  });

  it('refuses a name that is taken, in whatever capitals, and leaves nothing behind', async () => {
    await partners.create({ name: 'Nova', rate: 20, burst: 100, credential: aCredential() });
    const again = { name: 'nOVA', rate: 20, burst: 100, credential: aCredential() };
    await expect(partners.create(again)).rejects.toThrow(PartnerExistsError);
    expect(await partners.findCredential(again.credential.keyHash)).toBeUndefined();
  });

  it.each([
    { name: '' },
    { name: ' padded ' },
    { rate: 0 },
    { burst: -1 },
    { credential: { ...aCredential(), keyHash: randomBytes(31) } },
  ])('refuses %j', async (wrong) => {
    const partner = { name: 'Other', rate: 20, burst: 100, credential: aCredential(), ...wrong };
    await expect(partners.create(partner)).rejects.toThrow(DatabaseRefusedError);
  });
});
