import { createDatabase, type Database, IndexStore, PartnerStore } from '#libs/db';
import { dayOf } from '#libs/domain';
import { hashApiKey, KeyRing, mintCredential, type MintedCredential } from '#libs/signing';
import { aBlock, aFold, anInitialIndex, aWallet } from '#libs/testing/database';

export const SECRETS_KEY = Buffer.alloc(32, 9).toString('base64');
export const WALLET = aWallet(1);

/**
 * Fills an empty, migrated database so that the API can serve from it, with one partner whose limits are never reached.
 */
export async function serveIndex(databaseUrl: string): Promise<MintedCredential> {
  const database = await createDatabase({ url: databaseUrl, applicationName: 'test' });
  try {
    const index = new IndexStore(database);
    const nowSeconds = Math.floor(Date.now() / 1000);
    const stakedSeconds = nowSeconds - 10 * 86_400;
    const [first, head] = [aBlock(0, stakedSeconds - 100), aBlock(1000, nowSeconds)];
    await index.create(anInitialIndex({ head: first }));
    const balance = 5n * 10n ** 18n;
    const opened = { wallet: WALLET, blockNumber: 1n, timestampSeconds: stakedSeconds, balance };
    await index.commit({
      fence: await index.takeLead(),
      previousHead: first,
      head,
      folded: aFold({
        changes: [opened],
        days: [{ wallet: WALLET, day: dayOf(stakedSeconds), low: 0n, closing: balance }],
        total: balance,
      }),
      blocks: [head],
      synced: true,
    });
    return await addBusyPartner(database);
  } finally {
    await database.close();
  }
}

/** Stores a partner whose limits are never reached. */
export async function addBusyPartner(database: Database): Promise<MintedCredential> {
  const minted = mintCredential();
  const keyHash = hashApiKey(minted.apiKey);
  const credential = {
    keyHash,
    keyPrefix: minted.apiKey.slice(0, 12),
    secretCiphertext: KeyRing.parse(SECRETS_KEY).seal(minted.sharedSecret, keyHash),
  };
  await new PartnerStore(database).create({
    name: 'Busy',
    rate: 100_000,
    burst: 1_000_000,
    credential,
  });
  return minted;
}
