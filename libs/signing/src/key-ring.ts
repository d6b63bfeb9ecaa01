/**
 * Encrypts shared secrets at rest: AES-256-GCM under SECRETS_KEY. A sealed secret is
 * `version (1) | key id (4) | nonce (12) | tag (16) | ciphertext`.
 * Version, key id and the context are authenticated with it. There may be several keys: the first seals, and each opens
 * the secrets that it sealed, so that a key can be replaced while the programs run.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { PermanentError } from '#libs/domain';

const VERSION = 1;
const KEY_BYTES = 32;
const ID_BYTES = 4;
const HEADER_BYTES = 1 + ID_BYTES;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHERTEXT_OFFSET = HEADER_BYTES + NONCE_BYTES + TAG_BYTES;

/** A key from a setting. Its id is the beginning of its SHA-256 and marks what the key has sealed or signed. */
export interface NamedKey {
  readonly id: Buffer;
  readonly key: Uint8Array;
}

export class KeyRing {
  private readonly keys: readonly [NamedKey, ...NamedKey[]];

  /**
   * @param key 32 bytes; seals
   * @param older keys that only open secrets which they sealed before
   * @throws PermanentError SECRETS_KEY_INVALID
   */
  constructor(key: Uint8Array, ...older: readonly Uint8Array[]) {
    this.keys = [secretsKey(key), ...older.map(secretsKey)];
  }

  /**
   * @param text SECRETS_KEY: 32 bytes in base64; several keys separated by commas, the one that seals first
   * @throws PermanentError SECRETS_KEY_INVALID; its message never shows the text
   */
  static parse(text: string): KeyRing {
    const [first, ...older] = text.split(',').map(keyBytes);
    return new KeyRing(first ?? Buffer.alloc(0), ...older);
  }

  /** The ids of the keys, 8 hex digits each; the first key seals. */
  get keyIds(): readonly [string, ...string[]] {
    const [first, ...older] = this.keys;
    return [first.id.toString('hex'), ...older.map(({ id }) => id.toString('hex'))];
  }

  /** Derives 32 bytes of each key for a purpose (HKDF, RFC 5869), in the order of the keys, without revealing a key. */
  derived(purpose: string): readonly [Buffer, ...Buffer[]] {
    const derive = ({ key }: NamedKey): Buffer =>
      Buffer.from(hkdfSync('sha256', key, '', purpose, KEY_BYTES));
    const [first, ...older] = this.keys;
    return [derive(first), ...older.map(derive)];
  }

  /**
   * @param context binds the sealed secret to its place: opening takes the same context, so the secret of one row
   * cannot be moved to another row. For a credential the context is the hash of its API key.
   */
  seal(secret: string, context: Uint8Array): Buffer {
    const { id, key } = this.keys[0];
    const header = Buffer.concat([Buffer.from([VERSION]), id]);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    cipher.setAAD(Buffer.concat([header, context]));
    const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    return Buffer.concat([header, nonce, cipher.getAuthTag(), ciphertext]);
  }

  /**
   * @throws PermanentError SEALED_SECRET_INVALID where it is damaged or was sealed with another context,
   * SECRETS_KEY_MISSING where it was sealed under an unknown key
   */
  open(sealed: Uint8Array, context: Uint8Array): string {
    const bytes = Buffer.from(sealed);
    if (bytes.length < CIPHERTEXT_OFFSET || bytes[0] !== VERSION) throw invalidSecret();
    const header = bytes.subarray(0, HEADER_BYTES);
    const id = header.subarray(1);
    const found = this.keys.find((candidate) => candidate.id.equals(id));
    if (found === undefined) {
      throw new PermanentError(
        'SECRETS_KEY_MISSING',
        `A stored secret was sealed under key ${id.toString('hex')}, which is not in SECRETS_KEY. Add that key behind the first, separated by a comma.`,
      );
    }
    const nonce = bytes.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', found.key, nonce, {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.concat([header, context]));
    decipher.setAuthTag(bytes.subarray(HEADER_BYTES + NONCE_BYTES, CIPHERTEXT_OFFSET));
    try {
      const text = decipher.update(bytes.subarray(CIPHERTEXT_OFFSET));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    } catch (cause) {
      throw invalidSecret(cause);
    }
  }
}

/** The id of the key that sealed the secret, from its first bytes; undefined where the bytes are no sealed secret. */
export function sealingKeyId(sealed: Uint8Array): string | undefined {
  if (sealed.length < HEADER_BYTES || sealed[0] !== VERSION) return undefined;
  return Buffer.from(sealed.subarray(1, HEADER_BYTES)).toString('hex');
}

/** A new SECRETS_KEY of 32 random bytes; the setting holds them in base64. */
export function mintSecretsKey(): Buffer {
  return randomBytes(KEY_BYTES);
}

/**
 * Decodes base64 strictly. Node decodes leniently, which would turn a typing error into another key.
 * @returns an empty buffer where the text is not base64
 */
export function keyBytes(text: string): Buffer {
  const trimmed = text.trim();
  const bytes = Buffer.from(trimmed, 'base64');
  return bytes.toString('base64') === trimmed ? bytes : Buffer.alloc(0);
}

/** @throws PermanentError with the given code; its message never shows the key */
export function namedKey(
  key: Uint8Array,
  { setting, code }: { readonly setting: string; readonly code: string },
): NamedKey {
  if (key.length !== KEY_BYTES) {
    const message = `${setting} must be 32 bytes in base64, for example from: openssl rand -base64 32`;
    throw new PermanentError(code, message);
  }
  return { key, id: createHash('sha256').update(key).digest().subarray(0, ID_BYTES) };
}

function secretsKey(key: Uint8Array): NamedKey {
  return namedKey(key, { setting: 'SECRETS_KEY', code: 'SECRETS_KEY_INVALID' });
}

function invalidSecret(cause?: unknown): PermanentError {
  return new PermanentError(
    'SEALED_SECRET_INVALID',
    'A stored secret cannot be opened: it is damaged or belongs to another credential. Issue a new credential to the partner.',
    { cause },
  );
}
