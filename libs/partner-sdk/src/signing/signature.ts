import { createHmac, timingSafeEqual } from 'node:crypto';
import { parseStrictJson } from '../strict-json.js';
import { canonicalJson } from './canonical-json.js';
import { type SignedMessage, signedContent } from './signed-message.js';

const SIGNATURE = /^[0-9a-f]{64}$/;

/** HMAC-SHA256 in lower-case hex, 64 characters. The key is the secret's own text as UTF-8 bytes: never decoded, never trimmed. */
export function sign(sharedSecret: string, message: SignedMessage): string {
  return createHmac('sha256', sharedSecret).update(signedContent(message)).digest('hex');
}

/**
 * Whether the signature is the message's, over its body's bytes. The comparison takes the same time wherever the two differ;
 * what is not 64 lower-case hex digits is refused without an error.
 */
export function verify(sharedSecret: string, message: SignedMessage, signature: unknown): boolean {
  if (typeof signature !== 'string' || !SIGNATURE.test(signature)) return false;
  const expected = createHmac('sha256', sharedSecret).update(signedContent(message)).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
}

/**
 * As `verify`, over the bytes or over their canonical form: bodies are sent canonical, but somebody in between may print the
 * same JSON in another way.
 */
export function verifyJson(
  sharedSecret: string,
  message: SignedMessage & { readonly body: Uint8Array },
  signature: unknown,
): boolean {
  if (verify(sharedSecret, message, signature)) return true;
  const body = canonicalForm(message.body);
  return body !== undefined && verify(sharedSecret, { ...message, body }, signature);
}

function canonicalForm(bytes: Uint8Array): string | undefined {
  try {
    return canonicalJson(parseStrictJson(bytes));
  } catch {
    // Not JSON, or JSON that has no canonical form: then there are only the bytes.
    return undefined;
  }
}
