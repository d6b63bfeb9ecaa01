import { type PoolClient } from 'pg';
import { type Statement } from '../connection/database.js';

/** A credential as it is stored: nothing in it opens anything without SECRETS_KEY. */
export interface NewCredential {
  /** SHA-256 of the API key. */
  readonly keyHash: Buffer;
  /** The key's first 12 characters, to tell credentials apart in lists. */
  readonly keyPrefix: string;
  /** Sealed with the hash of the key as its context. */
  readonly secretCiphertext: Buffer;
}

const INSERT: Statement = {
  name: 'credential_insert',
  text: `INSERT INTO partners.credential (partner_id, key_hash, key_prefix, secret_ciphertext) VALUES ($1, $2, $3, $4)`,
};

export async function insertCredential(
  client: PoolClient,
  partnerId: string,
  { keyHash, keyPrefix, secretCiphertext }: NewCredential,
): Promise<void> {
  const values = [partnerId, keyHash, keyPrefix, secretCiphertext];
  await client.query({ ...INSERT, values });
}
