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

/** What a partner is handed once. */
export interface IssuedCredential {
  readonly partnerId: string;
  readonly apiKey: string;
  readonly sharedSecret: string;
}

export function issuedText({ partnerId, apiKey, sharedSecret }: IssuedCredential): string {
  return [
    `partner        ${partnerId}`,
    `API key        ${apiKey}`,
    `shared secret  ${sharedSecret}`,
    '',
    'Hand both over by a safe way: they cannot be shown again.',
    '',
  ].join('\n');
}
