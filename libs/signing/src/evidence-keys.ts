/**
 * MACs over rows that money follows from: HMAC-SHA256 under EVIDENCE_KEY, which only the redemption service has. A MAC is
 * `key id (4) | HMAC (32)`. Several keys may be given: the first makes MACs, each verifies those that it made.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { PermanentError } from '#libs/domain';

const KEY_BYTES = 32;
const ID_BYTES = 4;
const MAC_BYTES = ID_BYTES + 32;

interface EvidenceKey {
  readonly id: Buffer;
  readonly key: Uint8Array;
}

export class EvidenceKeys {
  private constructor(private readonly keys: readonly [EvidenceKey, ...EvidenceKey[]]) {}

  /**
   * @param text EVIDENCE_KEY: 32 bytes in base64; several separated by commas, the one that makes MACs first
   * @throws PermanentError EVIDENCE_KEY_INVALID, which never shows the text
   */
  static parse(text: string): EvidenceKeys {
    const [first, ...older] = text.split(',').map(keyOf);
    if (first === undefined) throw invalidKey();
    return new EvidenceKeys([first, ...older]);
  }

  /** @returns 36 bytes */
  mac(content: string): Buffer {
    const { id, key } = this.keys[0];
    return Buffer.concat([id, hmac(key, content)]);
  }

  /** Whether one of the keys made this MAC of this content. The comparison takes the same time wherever the two differ. */
  verify(content: string, mac: Uint8Array | null): boolean {
    if (mac?.length !== MAC_BYTES) return false;
    const found = this.keys.find(({ id }) => id.equals(mac.subarray(0, ID_BYTES)));
    return found !== undefined && timingSafeEqual(hmac(found.key, content), mac.subarray(ID_BYTES));
  }
}

function hmac(key: Uint8Array, content: string): Buffer {
  return createHmac('sha256', key).update(content).digest();
}

/** Node reads base64 leniently: a typing error must not become another key. */
function keyOf(text: string): EvidenceKey {
  const trimmed = text.trim();
  const key = Buffer.from(trimmed, 'base64');
  if (key.length !== KEY_BYTES || key.toString('base64') !== trimmed) throw invalidKey();
  return { key, id: createHash('sha256').update(key).digest().subarray(0, ID_BYTES) };
}

function invalidKey(): PermanentError {
  return new PermanentError(
    'EVIDENCE_KEY_INVALID',
    'EVIDENCE_KEY must be 32 bytes in base64, for example from: openssl rand -base64 32',
  );
}
