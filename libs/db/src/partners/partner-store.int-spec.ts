import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CredentialId } from '#libs/domain';
import { aCredentialId, createTestDatabase, type TestDatabase } from '#libs/testing';
import {
  CallbackStore,
  type Database,
  DatabaseRefusedError,
  type NewCredential,
  PartnerStore,
} from '../index.js';
import { PartnerExistsError } from './partner-store.js';

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
      stakeSet: 'default',
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

  it('makes no partner where its callback is refused, and none without its audit row', async () => {
    const callback = {
      url: 'https://game.example',
      key: 'their-key',
      secretCiphertext: randomBytes(8),
      usdPerPoint: { digits: 1n, scale: 2 },
      confirms: true,
      capabilities: [],
    };
    const audit = { actor: 'operator:ann', note: { command: 'partner create', outcome: 'done' } };
    const whole = { name: 'Whole', rate: 20, burst: 100, callback };
    const refused = { ...callback, url: 'ftp://game.example' };
    await expect(
      partners.create({ ...whole, callback: refused, credential: aCredential() }, audit),
    ).rejects.toThrow(DatabaseRefusedError);
    const nobody = { ...audit, actor: '' };
    await expect(partners.create({ ...whole, credential: aCredential() }, nobody)).rejects.toThrow(
      DatabaseRefusedError,
    );
    expect(await partners.findNamed('whole')).toEqual([]);
    const { partnerId } = await partners.create({ ...whole, credential: aCredential() }, audit);
    expect(await new CallbackStore(database).find(partnerId)).toMatchObject(callback);
    const { rows } = await database.pool.query('SELECT actor, partner FROM redemption.audit');
    expect(rows).toEqual([{ actor: 'operator:ann', partner: partnerId }]);
  });

  it('knows a partner by its name in any capitals, and by its id', async () => {
    const credential = aCredential();
    const { partnerId } = await partners.create({ name: 'Orion', rate: 1, burst: 2, credential });
    const orion = { partnerId, partnerName: 'Orion' };
    for (const text of ['oRION', partnerId, partnerId.toUpperCase()]) {
      expect(await partners.findNamed(text)).toEqual([orion]);
    }
    expect(await partners.findNamed("Orion' OR '1'='1")).toEqual([]);
    // A name may be the id of another partner; an id means its partner alone.
    const named = { name: partnerId, rate: 1, burst: 2, credential: aCredential() };
    const { partnerId: other } = await partners.create(named);
    const both = [{ partnerId: other, partnerName: partnerId }, orion];
    expect(await partners.findNamed(partnerId)).toEqual(both);
    expect(await partners.identify(partnerId)).toEqual(orion);
    expect((await partners.list()).find((one) => one.partnerId === partnerId)).toEqual({
      ...orion,
      rate: 1,
      burst: 2,
      stakeSet: 'default',
      createdAt: expect.any(Date),
      credentials: [
        {
          keyPrefix: credential.keyPrefix,
          createdAt: expect.any(Date),
          revokedAt: null,
          endsAt: null,
          lastUsedAt: null,
        },
      ],
    });
  });

  describe('the use of a credential', () => {
    let credentialId: CredentialId;
    let reading: PartnerStore;
    let reader: Database;
    beforeAll(async () => {
      const credential = aCredential();
      await partners.create({ name: 'Used', rate: 1, burst: 2, credential });
      reader = await test.open({ readOnly: true });
      reading = new PartnerStore(reader);
      credentialId =
        (await reading.findCredential(credential.keyHash))?.credentialId ?? aCredentialId();
    });

    async function lastUsed(): Promise<Date | null | undefined> {
      return (await partners.list()).find(({ partnerName }) => partnerName === 'Used')
        ?.credentials[0]?.lastUsedAt;
    }
    const setBack = (to: string): Promise<unknown> =>
      database.pool.query('UPDATE partners.credential SET last_used_at = $1 WHERE id = $2', [
        to,
        credentialId,
      ]);

    it('is noted by a connection that only reads, at most once a minute, for this credential alone', async () => {
      await reading.noteUse(credentialId);
      const noted = await lastUsed();
      expect(noted).toBeInstanceOf(Date);
      await reading.noteUse(credentialId);
      expect(await lastUsed()).toEqual(noted);
      await setBack('2026-01-01T00:00:00Z');
      await Promise.all([1, 2, 3].map(() => reading.noteUse(credentialId)));
      expect((await lastUsed())?.getTime()).toBeGreaterThanOrEqual(noted?.getTime() ?? 0);
      const { rows } = await database.pool.query(
        'SELECT id FROM partners.credential WHERE last_used_at IS NOT NULL',
      );
      expect(rows).toEqual([{ id: credentialId }]);
    });

    it('does not wait for a transaction that locks the credential', async () => {
      await setBack('2026-01-01T00:00:00Z');
      await database.transaction(async (client) => {
        await client.query('SELECT FROM partners.credential FOR UPDATE');
        await reading.noteUse(credentialId);
      });
      expect(await lastUsed()).toEqual(new Date('2026-01-01T00:00:00Z'));
    });

    it('is all that the reading role may write, even where it asks to write', async () => {
      for (const text of [
        'UPDATE partners.credential SET last_used_at = now()',
        'UPDATE partners.credential SET revoked_at = NULL',
        'DELETE FROM partners.credential',
      ]) {
        const writing = reader.transaction(async (client) => {
          await client.query('SET TRANSACTION READ WRITE');
          await client.query(text);
        });
        await expect(writing).rejects.toMatchObject({ sqlState: '42501' });
      }
    });
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
