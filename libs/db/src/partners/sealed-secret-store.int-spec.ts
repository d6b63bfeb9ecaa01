import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { parseDecimal } from '#libs/domain';
import { createTestDatabase, type TestDatabase, watchLocks } from '#libs/testing/database';
import { aNewCredential, aWebhookId } from '#libs/testing/partner';
import {
  CallbackStore,
  type Database,
  PartnerStore,
  SealedSecretStore,
  SubscriptionStore,
} from '../index.js';

const SEALED = randomBytes(64);
const AUDIT = { actor: 'operator:anna', note: { command: 'secrets rewrap', outcome: 'done' } };

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
  const credential = { ...aNewCredential(), secretCiphertext: SEALED };
  const terms = { name: 'Acme', rate: 20, burst: 100, credential };
  const { partnerId } = await new PartnerStore(database).create(terms);
  await new CallbackStore(database).change(partnerId, () => ({
    ...{ url: 'https://game.example/svc', key: 'their-key', secretCiphertext: SEALED },
    ...{ usdPerPoint: parseDecimal('0.01'), confirms: true, capabilities: [] },
  }));
  const webhook = { id: aWebhookId(), ciphertext: SEALED, url: 'https://game.example/hooks' };
  const topics = ['redemption.*'] as const;
  await new SubscriptionStore(database).add(partnerId, { ...webhook, topics }, AUDIT);
});
afterAll(() => test.drop());

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
