import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseDecimal, type PartnerId } from '#libs/domain';
import { createTestDatabase, type TestDatabase, watchLocks } from '#libs/testing/database';
import { aNewCredential, aWebhookId } from '#libs/testing/partner';
import {
  type CallbackSettings,
  CallbackStore,
  type Database,
  DatabaseRefusedError,
  PartnerStore,
  SealedSecretStore,
  SubscriptionStore,
} from '../index.js';

let test: TestDatabase;
let database: Database;
let callbacks: CallbackStore;
let partnerId: PartnerId;

beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
  callbacks = new CallbackStore(database);
  const partner = { name: 'Acme', rate: 20, burst: 100, credential: aNewCredential() };
  ({ partnerId } = await new PartnerStore(database).create(partner));
});
afterAll(() => test.drop());

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
