import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing';
import {
  CredentialStore,
  type NewCredential,
  PartnerStore,
  PartnerUnknownError,
} from '../index.js';
import {
  CredentialAmbiguousError,
  CredentialMissingError,
  LastCredentialError,
} from './credential-store.js';

let test: TestDatabase;
let credentials: CredentialStore;
let partners: PartnerStore;

beforeAll(async () => {
  test = await createTestDatabase();
  const database = await test.open();
  credentials = new CredentialStore(database);
  partners = new PartnerStore(database);
});
afterAll(() => test.drop());

function aCredential(keyPrefix: string): NewCredential {
  return { keyHash: randomBytes(32), keyPrefix, secretCiphertext: randomBytes(64) };
}

async function partnerWith(name: string, ...prefixes: readonly string[]): Promise<string> {
  const [first = '', ...others] = prefixes;
  await partners.create({ name, rate: 1, burst: 1, credential: aCredential(first) });
  for (const prefix of others) await credentials.add(name, aCredential(prefix));
  return name;
}

async function active(name: string): Promise<string[]> {
  const found = (await partners.list()).find(({ partnerName }) => partnerName === name);
  const good = (found?.credentials ?? []).filter(({ revokedAt }) => revokedAt === null);
  return good.map(({ keyPrefix }) => keyPrefix);
}

describe('CredentialStore', () => {
  it('adds one beside the others, and revokes by as much as tells it apart', async () => {
    const partner = await partnerWith('Acme', 'svck_aaaaaaa', 'svck_abbbbbb', 'svck_abccccc');
    const revoke = (keyPrefix: string) => credentials.revoke({ partner, keyPrefix, force: false });
    await expect(revoke('svck_ab')).rejects.toThrow(CredentialAmbiguousError);
    await expect(revoke('svck_%')).rejects.toThrow(CredentialMissingError);
    expect(await revoke('svck_abb')).toMatchObject({ keyPrefix: 'svck_abbbbbb', left: 2 });
    expect(await active(partner)).toEqual(['svck_aaaaaaa', 'svck_abccccc']);
  });

  it('keeps the last one but by force, also from two who revoke at once', async () => {
    const partner = await partnerWith('Nova', 'svck_1', 'svck_2');
    const both = ['svck_1', 'svck_2'].map((keyPrefix) =>
      credentials.revoke({ partner, keyPrefix, force: false }),
    );
    const ended = await Promise.allSettled(both);
    const refused = ended.flatMap((one) =>
      one.status === 'rejected' ? [one.reason as Error] : [],
    );
    expect(refused).toEqual([expect.any(LastCredentialError)]);
    const [last = ''] = await active(partner);
    await credentials.revoke({ partner, keyPrefix: last, force: true });
    expect(await active(partner)).toEqual([]);
  });

  it('knows no partner that is not there', async () => {
    await expect(credentials.add('Nobody', aCredential('svck_9'))).rejects.toThrow(
      PartnerUnknownError,
    );
    await expect(
      credentials.revoke({ partner: 'Nobody', keyPrefix: 'svck_9', force: true }),
    ).rejects.toThrow(PartnerUnknownError);
  });
});
