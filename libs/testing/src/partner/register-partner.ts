import { randomBytes } from 'node:crypto';
import {
  type CallbackSettings,
  CallbackStore,
  type Database,
  type NewCredential,
  PartnerStore,
} from '#libs/db';
import { parseDecimal, type PartnerId } from '#libs/domain';
import { hashApiKey, type KeyRing } from '#libs/signing';
import { CALLBACK_KEY, CALLBACK_SECRET } from './fake-partner.js';

/** A credential whose key and secret are unknown. */
export function aNewCredential(keyPrefix = 'svck_test'): NewCredential {
  return { keyHash: randomBytes(32), keyPrefix, secretCiphertext: randomBytes(64) };
}

/** Stores a partner with a price of 0.01 USD per point. @returns its id */
export async function registerPartner(
  database: Database,
  keyRing: KeyRing,
  {
    name,
    secret = CALLBACK_SECRET,
    key = CALLBACK_KEY,
    ...callback
  }: Partial<CallbackSettings> & { url: string; name: string; secret?: string },
): Promise<PartnerId> {
  const terms = { name, rate: 20, burst: 100, credential: aNewCredential() };
  const { partnerId } = await new PartnerStore(database).create(terms);
  await new CallbackStore(database).change(partnerId, () => ({
    key,
    secretCiphertext: keyRing.seal(secret, hashApiKey(key)),
    usdPerPoint: parseDecimal('0.01'),
    confirms: true,
    capabilities: [],
    ...callback,
  }));
  return partnerId;
}
