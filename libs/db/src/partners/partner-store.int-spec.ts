import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CredentialId, type PartnerId } from '#libs/domain';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { aCredentialId, aNewCredential, aPartnerId } from '#libs/testing/partner';
import { CallbackStore, type Database, DatabaseRefusedError, PartnerStore } from '../index.js';
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

describe('PartnerStore', () => {
  it('finds the credential of a partner by the hash of its key, until it is revoked', async () => {
    const credential = aNewCredential();
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
    await partners.create({ name: 'Nova', rate: 20, burst: 100, credential: aNewCredential() });
    const again = { name: 'nOVA', rate: 20, burst: 100, credential: aNewCredential() };
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
      partners.create({ ...whole, callback: refused, credential: aNewCredential() }, audit),
    ).rejects.toThrow(DatabaseRefusedError);
    const nobody = { ...audit, actor: '' };
    await expect(
      partners.create({ ...whole, credential: aNewCredential() }, nobody),
    ).rejects.toThrow(DatabaseRefusedError);
    expect(await partners.findNamed('whole')).toEqual([]);
    const { partnerId } = await partners.create({ ...whole, credential: aNewCredential() }, audit);
    expect(await new CallbackStore(database).find(partnerId)).toMatchObject(callback);
    const { rows } = await database.pool.query('SELECT actor, partner FROM redemption.audit');
    expect(rows).toEqual([{ actor: 'operator:ann', partner: partnerId }]);
  });

  it('knows a partner by its name in any capitals, and by its id', async () => {
    const credential = aNewCredential();
    const { partnerId } = await partners.create({ name: 'Orion', rate: 1, burst: 2, credential });
    const orion = { partnerId, partnerName: 'Orion' };
    for (const text of ['oRION', partnerId, partnerId.toUpperCase()]) {
      expect(await partners.findNamed(text)).toEqual([orion]);
    }
    expect(await partners.findNamed("Orion' OR '1'='1")).toEqual([]);
    // A name may be the id of another partner; an id means its partner alone.
    const named = { name: partnerId, rate: 1, burst: 2, credential: aNewCredential() };
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
    beforeAll(async () => {
      const credential = aNewCredential();
      await partners.create({ name: 'Used', rate: 1, burst: 2, credential });
      reading = new PartnerStore(await test.open({ readOnly: true }));
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
  });

  it.each([
    { name: '' },
    { name: ' padded ' },
    { rate: 0 },
    { burst: -1 },
    { credential: { ...aNewCredential(), keyHash: randomBytes(31) } },
  ])('refuses %j', async (wrong) => {
    const partner = { name: 'Other', rate: 20, burst: 100, credential: aNewCredential(), ...wrong };
    await expect(partners.create(partner)).rejects.toThrow(DatabaseRefusedError);
  });
});

describe('many partners', () => {
  /** In the order of the pages, which ignores upper and lower case. */
  const NAMES = ['<b>Ace</b>', 'ace', 'Acme', 'BETA', 'beta 2', 'Zebra', 'ÄON', '漢字', '🦊'];
  const ids = new Map<string, PartnerId>();

  beforeAll(async () => {
    await test.empty();
    for (const name of [...NAMES].reverse()) {
      const terms = { name, rate: 1, burst: 1, credential: aNewCredential() };
      ids.set(name, (await partners.create(terms)).partnerId);
    }
  });

  /** The names on each of all pages. */
  async function pagesOf(limit: number): Promise<string[][]> {
    const pages: string[][] = [];
    let after: string | undefined;
    do {
      const { entries, next } = await partners.page({ limit, after });
      pages.push(entries.map(({ partnerName }) => partnerName));
      after = next;
    } while (after !== undefined && pages.length < 99);
    return pages;
  }

  it.each([1, 2, 3, 8, 9, 10])('are on pages of %i, each once', async (limit) => {
    const pages = await pagesOf(limit);
    const all = (await partners.list()).map(({ partnerName }) => partnerName);
    expect(pages.flat()).toEqual(all);
    expect([...all].sort()).toEqual([...NAMES].sort());
    // The last page may be full, in which case an empty page follows.
    expect(pages).toHaveLength(Math.floor(NAMES.length / limit) + 1);
    expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
  });

  it('are listed with all there is of each, its credentials too', async () => {
    const [listed] = (await partners.page({ limit: 1 })).entries;
    expect(listed).toEqual((await partners.list())[0]);
    expect(listed?.credentials).toHaveLength(1);
  });

  it('have pages that go on behind a name that is gone or never was', async () => {
    const { entries, next } = await partners.page({ limit: 9, after: 'b' });
    expect(entries.map(({ partnerName }) => partnerName)).toEqual(NAMES.slice(3));
    expect(next).toBeUndefined();
    const beyond = await partners.page({ limit: 9, after: '\u{10ffff}' });
    expect(beyond).toEqual({ entries: [], next: undefined });
    const odd = await partners.page({ limit: 9, after: "'; DROP TABLE partners.partner; --" });
    expect(odd.entries.length).toBeGreaterThan(0);
  });

  it('are named where they are asked for, each once, without what is none', async () => {
    const [ace, beta] = [ids.get('ace'), ids.get('BETA')] as [PartnerId, PartnerId];
    expect(await partners.names([beta, ace, ace, aPartnerId()])).toEqual(
      new Map([
        [ace, 'ace'],
        [beta, 'BETA'],
      ]),
    );
    expect(await partners.names([])).toEqual(new Map());
    expect((await partners.names([...ids.values()])).size).toBe(NAMES.length);
  });
});
