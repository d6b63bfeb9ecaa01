/** An API key and its shared secret, issued together. */
export interface Credential {
  readonly apiKey: string;
  /** The text exactly as delivered, neither decoded nor trimmed. */
  readonly sharedSecret: string;
}

/** Printable ASCII without blanks, which an HTTP header carries unchanged. */
const HEADER_TEXT = /^[\x21-\x7e]+$/;

/** @throws TypeError whose message never shows the value */
export function requireApiKey(apiKey: string): void {
  if (typeof apiKey !== 'string' || !HEADER_TEXT.test(apiKey)) {
    throw new TypeError('apiKey must be a text of printable ASCII without blanks; is it set?');
  }
}

/**
 * Finds mistakes at the start that would otherwise appear only as signatures that do not match.
 * @throws TypeError whose message never shows the value
 */
export function requireCredential({ apiKey, sharedSecret }: Credential): void {
  requireApiKey(apiKey);
  if (typeof sharedSecret !== 'string' || sharedSecret === '') {
    throw new TypeError('sharedSecret must be a text; is it set?');
  }
  if (/[\r\n]/.test(sharedSecret)) {
    throw new TypeError('sharedSecret holds a line break: was it read from a file with its end?');
  }
}
