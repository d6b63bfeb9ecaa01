/**
 * The keys of public signatures of answers: one Ed25519 pair for each key of SECRETS_KEY, derived from that key (HKDF,
 * RFC 5869). So there is no further secret to store, and every replica has the same pairs. The first pair signs; the
 * others stay published, so that older signatures can be verified.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { type KeyRing } from './key-ring.js';

/** An Ed25519 public key as a JSON Web Key (RFC 8037). */
export interface PublicAnswerKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly use: 'sig';
  /** The thumbprint of the key (RFC 7638), sent as `keyid` of its signatures. */
  readonly kid: string;
  /** 32 bytes in base64url. */
  readonly x: string;
}

const PURPOSE = 'lowmark answers, ed25519';
/** The PKCS #8 form of an Ed25519 key without the 32 bytes of its seed (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

export class AnswerKeys {
  /** The signing key first. */
  readonly published: readonly [PublicAnswerKey, ...PublicAnswerKey[]];
  private readonly key: KeyObject;

  constructor(keyRing: KeyRing) {
    const [first, ...older] = keyRing.derived(PURPOSE);
    this.key = privateKeyOf(first);
    this.published = [
      publicKeyOf(this.key),
      ...older.map((seed) => publicKeyOf(privateKeyOf(seed))),
    ];
  }

  get keyId(): string {
    return this.published[0].kid;
  }

  /** @returns 64 bytes (RFC 8032) */
  sign(content: Uint8Array): Buffer {
    return sign(null, content, this.key);
  }
}

function privateKeyOf(seed: Uint8Array): KeyObject {
  return createPrivateKey({
    key: Buffer.concat([PKCS8_HEAD, seed]),
    format: 'der',
    type: 'pkcs8',
  });
}

function publicKeyOf(key: KeyObject): PublicAnswerKey {
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  // The members that RFC 7638 demands, in its order and without white space.
  const members = JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x });
  const kid = createHash('sha256').update(members).digest('base64url');
  return { kty: 'OKP', crv: 'Ed25519', use: 'sig', kid, x };
}
