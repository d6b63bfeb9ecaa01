const REDACTED = '[redacted]';

// The user information of a URL, up to the last @ of its authority. Bounded, so that no line takes long to search.
const URL_CREDENTIALS = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/"'\\]{0,500}@/gi;
// Our own credentials, recognisable by their prefix.
const OWN_CREDENTIALS = /\bsvc([kst])_[A-Za-z0-9_-]{8,}/g;

/** The text without the credentials that URLs and our own tokens carry. */
export function redact(text: string): string {
  return text
    .replace(URL_CREDENTIALS, (_, scheme: string) => `${scheme}${REDACTED}@`)
    .replace(OWN_CREDENTIALS, (_, kind: string) => `svc${kind}_${REDACTED}`);
}
