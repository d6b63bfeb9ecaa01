import { type PartnerStore } from '#libs/db';
import { hashApiKey, type KeyRing } from '#libs/signing';
import { type LoadCaller } from './credential-cache.js';

/** Looks a key up by its hash and opens the secret that belongs to it. */
export function callerLoader(partners: PartnerStore, keyRing: KeyRing): LoadCaller {
  return async (apiKey) => {
    const keyHash = hashApiKey(apiKey);
    const found = await partners.findCredential(keyHash);
    if (found === undefined) return undefined;
    const { secretCiphertext, partnerId, credentialId, rate, burst } = found;
    const sharedSecret = keyRing.open(secretCiphertext, keyHash);
    return { partnerId, credentialId, rate, burst, sharedSecret };
  };
}
