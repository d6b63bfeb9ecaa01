/** Partners, their credentials, their callbacks, and their secrets. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CredentialId, parseDecimal, type PartnerId } from '#libs/domain';
import { createTestDatabase, type TestDatabase, watchLocks } from '#libs/testing/database';
import { aCredentialId, aNewCredential, aPartnerId, aWebhookId } from '#libs/testing/partner';
import {
  type CallbackSettings,
  CallbackStore,
  CredentialStore,
  type Database,
  DatabaseRefusedError,
  PartnerStore,
  SealedSecretStore,
  SubscriptionStore,
} from '../index.js';
import {
  CredentialMissingError,
  LastCredentialError,
  TooManyCredentialsError,
} from './credential-store.js';

let test: TestDatabase;
let database: Database;
let partners: PartnerStore;
let credentials: CredentialStore;

beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
  partners = new PartnerStore(database);
  credentials = new CredentialStore(database);
});
afterAll(() => test.drop());

describe('PartnerStore', () => {
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

  it('knows a partner by its id alone where the name of another one is that id', async () => {
    const credential = aNewCredential();
    const { partnerId } = await partners.create({ name: 'Orion', rate: 1, burst: 2, credential });
    const orion = { partnerId, partnerName: 'Orion' };
    expect(await partners.findNamed("Orion' OR '1'='1")).toEqual([]);
    const named = { name: partnerId, rate: 1, burst: 2, credential: aNewCredential() };
    const { partnerId: other } = await partners.create(named);
    const both = [{ partnerId: other, partnerName: partnerId }, orion];
    expect(await partners.findNamed(partnerId)).toEqual(both);
    expect(await partners.identify(partnerId)).toEqual(orion);
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

  it.each([1, 8, 9])('are on pages of %i, each once', async (limit) => {
    const pages = await pagesOf(limit);
    const all = (await partners.list()).map(({ partnerName }) => partnerName);
    expect(pages.flat()).toEqual(all);
    expect([...all].sort()).toEqual([...NAMES].sort());
    // The last page may be full, in which case an empty page follows.
    expect(pages).toHaveLength(Math.floor(NAMES.length / limit) + 1);
    expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
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

describe('a credential', () => {
  it('is named by a beginning, not by a pattern', async () => {
    const partner = await partnerWith('Patterned', 'svck_aaaaaaa', 'svck_abbbbbb');
    const pattern = credentials.revoke({ partner, keyPrefix: 'svck_%', force: true });
    await expect(pattern).rejects.toThrow(CredentialMissingError);
  });

  it('is kept if it is the last one, but by force, also from two who revoke at once', async () => {
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

let callbacks: CallbackStore;
let partnerId: PartnerId;
function someSettings(change: Partial<CallbackSettings> = {}): CallbackSettings {
  return {
    url: 'https://game.example/svc',
    key: 'their-key',
    secretCiphertext: Buffer.from('sealed'),
    usdPerPoint: parseDecimal('0.010'),
    confirms: true,
    capabilities: [],
    ...change,
  };
}

const ALL = someSettings({
  bonus: { fromPoints: 5000n, rate: parseDecimal('0.02') },
  minPoints: 10n,
  maxPoints: 100_000n,
  dailyTokenBudget: parseDecimal('1000.5'),
  confirms: false,
  capabilities: ['tombstones', 'revert-by-redemption-id'],
});

describe('CallbackStore', () => {
  beforeAll(async () => {
    callbacks = new CallbackStore(database);
    const partner = { name: 'Callee', rate: 20, burst: 100, credential: aNewCredential() };
    ({ partnerId } = await partners.create(partner));
  });

  it('notes the values that a change replaces in its audit row, but neither key nor secret', async () => {
    await callbacks.change(partnerId, () => ALL);
    const audit = {
      actor: 'operator:ann',
      note: { command: 'partner set', arguments: { rate: 30 }, outcome: 'done' },
    };
    const dailyTokenBudget = parseDecimal('300000');
    const merge = () =>
      someSettings({ ...ALL, key: 'new-key', bonus: undefined, dailyTokenBudget });
    await callbacks.change(partnerId, merge, { terms: { rate: 30 }, audit });
    const newest = async () => {
      const { rows } = await database.pool.query<{ arguments: object }>(
        'SELECT arguments FROM redemption.audit ORDER BY id DESC LIMIT 1',
      );
      return rows[0]?.arguments;
    };
    expect(await newest()).toEqual({
      rate: 30,
      before: {
        rate: 20,
        bonus: { fromPoints: '5000', rate: '0.02' },
        dailyTokenBudget: '1000.5',
      },
    });
    await new PartnerStore(database).setTerms(partnerId, { rate: 20 }, audit);
    expect(await newest()).toEqual({ rate: 30, before: { rate: 30 } });
  });

  it.each<[string, Partial<CallbackSettings>]>([
    ['a URL of another kind', { url: 'ftp://game.example' }],
    ['no key', { key: '' }],
    ['points that are worth nothing', { usdPerPoint: parseDecimal('0') }],
    ['a negative bonus', { bonus: { fromPoints: 1n, rate: parseDecimal('-0.1') } }],
    ['limits that contradict each other', { minPoints: 10n, maxPoints: 9n }],
    ['a negative budget', { dailyTokenBudget: parseDecimal('-1') }],
    ['a capability that does not exist', { capabilities: ['telepathy' as never] }],
  ])('refuses %s', async (_, wrong) => {
    await expect(callbacks.change(partnerId, () => someSettings(wrong))).rejects.toThrow(
      DatabaseRefusedError,
    );
  });
});

const SEALED = randomBytes(64);
const AUDIT = { actor: 'operator:anna', note: { command: 'secrets rewrap', outcome: 'done' } };

describe('a secret that is sealed again', () => {
  beforeAll(async () => {
    await test.empty();
    const credential = { ...aNewCredential(), secretCiphertext: SEALED };
    const terms = { name: 'Nova', rate: 20, burst: 100, credential };
    const created = await new PartnerStore(database).create(terms);
    await callbacks.change(created.partnerId, () => someSettings({ secretCiphertext: SEALED }));
    const webhook = { id: aWebhookId(), ciphertext: SEALED, url: 'https://game.example/hooks' };
    const topics = ['redemption.*'] as const;
    await new SubscriptionStore(database).add(created.partnerId, { ...webhook, topics }, AUDIT);
  });

  it.each([
    ['credential', 'partners.credential'],
    ['callback', 'partners.callback'],
    ['webhook', 'webhooks.secret'],
  ] as const)('no new secret of a %s is lost while it is sealed again', async (place, table) => {
    const watched = watchLocks(database, await test.open(), table);
    const store = new SealedSecretStore(watched.database);
    const seen: Buffer[] = [];
    const reseal = ({ sealed }: { readonly sealed: Buffer }): Buffer => {
      seen.push(sealed);
      return randomBytes(64);
    };
    await store.resealBatch({ place, limit: 10 }, reseal, () => AUDIT);
    expect(seen).toEqual([SEALED]);
    expect(watched.held[0]).toBe(true);
  });
});
