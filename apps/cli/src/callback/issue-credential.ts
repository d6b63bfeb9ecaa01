import { type NewCredential } from '#libs/db';
import { hashApiKey, type KeyRing, mintCredential, type MintedCredential } from '#libs/signing';

const KEY_PREFIX_LENGTH = 12;

/** A new credential: to be shown once, and as it is stored. */
export function issueCredential(keyRing: KeyRing): {
  readonly minted: MintedCredential;
  readonly stored: NewCredential;
} {
  const minted = mintCredential();
  const keyHash = hashApiKey(minted.apiKey);
  const stored = {
    keyHash,
    keyPrefix: minted.apiKey.slice(0, KEY_PREFIX_LENGTH),
    secretCiphertext: keyRing.seal(minted.sharedSecret, keyHash),
  };
  return { minted, stored };
}
