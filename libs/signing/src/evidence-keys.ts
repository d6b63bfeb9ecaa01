/**
 * MACs over rows that lead to a payout: HMAC-SHA256 under EVIDENCE_KEY, which only the redemption service has. A MAC is
 * `key id (4) | HMAC (32)`. There may be several keys: the first makes new MACs, and each verifies its own.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { keyBytes, type NamedKey, namedKey } from './key-ring.js';

const SETTING = { setting: 'EVIDENCE_KEY', code: 'EVIDENCE_KEY_INVALID' };
const ID_BYTES = 4;
const MAC_BYTES = ID_BYTES + 32;

export class EvidenceKeys {
  private constructor(private readonly keys: readonly [NamedKey, ...NamedKey[]]) {}

  /**
   * @param text EVIDENCE_KEY: 32 bytes in base64; several keys separated by commas, the one that makes MACs first
   * @throws PermanentError EVIDENCE_KEY_INVALID; its message never shows the text
   */
  static parse(text: string): EvidenceKeys {
    const [first = '', ...older] = text.split(',');
    const keyOf = (part: string): NamedKey => namedKey(keyBytes(part), SETTING);
    return new EvidenceKeys([keyOf(first), ...older.map(keyOf)]);
  }

  /** @returns 36 bytes */
  mac(content: string): Buffer {
    const { id, key } = this.keys[0];
    return Buffer.concat([id, hmac(key, content)]);
  }

  /** Whether one of the keys made this MAC of this content. The comparison takes constant time. */
  verify(content: string, mac: Uint8Array | null): boolean {
    if (mac?.length !== MAC_BYTES) return false;
    const found = this.keys.find(({ id }) => id.equals(mac.subarray(0, ID_BYTES)));
    return found !== undefined && timingSafeEqual(hmac(found.key, content), mac.subarray(ID_BYTES));
  }
}

function hmac(key: Uint8Array, content: string): Buffer {
  return createHmac('sha256', key).update(content).digest();
}
