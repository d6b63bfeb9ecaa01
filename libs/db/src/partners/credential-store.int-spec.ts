import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PartnerId } from '#libs/domain';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { aNewCredential, aPartnerId } from '#libs/testing/partner';
import { CredentialStore, PartnerStore, PartnerUnknownError } from '../index.js';
import {
  CredentialAmbiguousError,
  CredentialMissingError,
  LastCredentialError,
  TooManyCredentialsError,
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

async function partnerWith(name: string, ...prefixes: readonly string[]): Promise<PartnerId> {
  const [first = '', ...others] = prefixes;
  const { partnerId } = await partners.create({
    name,
    rate: 1,
    burst: 1,
    credential: aNewCredential(first),
  });
  for (const prefix of others) await credentials.add(partnerId, aNewCredential(prefix));
  return partnerId;
}

async function active(partner: PartnerId): Promise<string[]> {
  const found = await partners.find(partner);
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
    await expect(credentials.add(aPartnerId(), aNewCredential('svck_9'))).rejects.toThrow(
      PartnerUnknownError,
    );
    await expect(
      credentials.revoke({ partner: aPartnerId(), keyPrefix: 'svck_9', force: true }),
    ).rejects.toThrow(PartnerUnknownError);
  });
});

describe('a credential that is replaced', () => {
  const found = async (partner: PartnerId) => (await partners.find(partner))?.credentials ?? [];

  it('is good beside the new one until its end, and never longer than it would have been', async () => {
    const partner = await partnerWith('Overlap', 'svck_old');
    const hour = { partner, keyPrefix: 'svck_old', overlapSeconds: 3600 };
    const { keyPrefix, goodUntil } = await credentials.replace(hour, aNewCredential('svck_new'));
    expect(keyPrefix).toBe('svck_old');
    const [old, fresh] = await found(partner);
    expect([old?.endsAt, old?.revokedAt, fresh?.endsAt]).toEqual([goodUntil, null, null]);
    const day = { ...hour, overlapSeconds: 86_400 };
    const again = await credentials.replace(day, aNewCredential('svck_third'));
    expect(again.goodUntil).toEqual(goodUntil);
  });

  it('is revoked at once without an overlap', async () => {
    const partner = await partnerWith('At once', 'svck_gone');
    const none = { partner, keyPrefix: 'svck_gone', overlapSeconds: 0 };
    await credentials.replace(none, aNewCredential('svck_here'));
    expect(await active(partner)).toEqual(['svck_here']);
  });

  it('is none to rely on when the last one that lasts is revoked', async () => {
    const partner = await partnerWith('Relied', 'svck_ends');
    const day = { partner, keyPrefix: 'svck_ends', overlapSeconds: 86_400 };
    await credentials.replace(day, aNewCredential('svck_last'));
    const revoke = { partner, keyPrefix: 'svck_last', force: false };
    await expect(credentials.revoke(revoke)).rejects.toThrow(LastCredentialError);
    const ending = { partner, keyPrefix: 'svck_ends', force: false };
    expect(await credentials.revoke(ending)).toMatchObject({ left: 1 });
  });

  it('is one of ten at most that work', async () => {
    const all = Array.from({ length: 10 }, (_, place) => `svck_m${place}`);
    const partner = await partnerWith('Many', ...all);
    const one = { partner, keyPrefix: 'svck_m1', overlapSeconds: 60 };
    const refused = credentials.replace(one, aNewCredential('svck_more'));
    await expect(refused).rejects.toThrow(TooManyCredentialsError);
    expect(await active(partner)).toEqual(all);
  });
});
