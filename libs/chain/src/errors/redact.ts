const LONGEST = 300;
const URL_LIKE = /\b[a-z][a-z0-9+.-]*:\/\/\S+/gi;

/**
 * Makes somebody else's text fit for a message: without URLs, without anything secret of ours, one line, bounded.
 * @param secrets parts of the endpoint's URL that may be credentials
 */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text.slice(0, LONGEST * 4).replace(URL_LIKE, '<url>');
  for (const secret of secrets) {
    // Errors repeat hosts and data in lower case.
    clean = clean.replace(new RegExp(literally(secret), 'gi'), '<redacted>');
  }
  clean = clean.replace(/[\u0000-\u001f\u007f\s]+/g, ' ').trim();
  return clean.length <= LONGEST ? clean : `${clean.slice(0, LONGEST - 1)}…`;
}

/** Every part of a URL that providers are known to put a key into: user, password, path segments, query values. */
export function secretsOf(url: URL): string[] {
  const parts = [
    url.username,
    url.password,
    ...url.pathname.split('/'),
    ...url.searchParams.values(),
  ];
  const decoded = parts.flatMap((part) => [part, safeDecode(part)]);
  return [...new Set(decoded)]
    .filter((part) => part.length >= 6)
    .sort((a, b) => b.length - a.length);
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}
