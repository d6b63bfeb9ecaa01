import { createHmac, timingSafeEqual } from 'node:crypto';

const SIGNATURE = /^[0-9a-f]{64}$/;

/**
 * HMAC-SHA256, lower-case hex, 64 characters. The key is the secret's own text as UTF-8 bytes: never decoded, never trimmed.
 * @param content see `signedContent` of `#libs/domain`
 */
export function hmacSha256Hex(secret: string, content: string | Uint8Array): string {
  return createHmac('sha256', secret).update(content).digest('hex');
}

/**
 * Whether the signature belongs to the content. The comparison takes the same time wherever the two differ; what is not 64
 * lower-case hex digits is refused without an error.
 */
export function verifySignature(
  secret: string,
  content: string | Uint8Array,
  signature: string | undefined,
): boolean {
  if (signature === undefined || !SIGNATURE.test(signature)) return false;
  const expected = createHmac('sha256', secret).update(content).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
}
