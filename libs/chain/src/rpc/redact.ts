const LONGEST = 300;
/** Characters of a text that are read; the rest is dropped. */
const MOST_READ = 20_000;
const URL_LIKE = /\b[a-z][a-z0-9+.-]{0,20}:\/\/\S+/gi;
const SHORTEST_SECRET = 6;
/** A name before a value, such as `apikey` in `apikey=…`, is no secret. */
const PLAIN_NAME = /^[a-z][a-z_-]{0,19}$/i;

/**
 * Makes an external text fit for a message: one line of at most 300 characters, without URLs and without our secrets.
 * @param secrets parts of the endpoint's URL that may be credentials
 */
export function redact(text: string, secrets: readonly string[]): string {
  // Secrets are replaced before the text is shortened, because half a secret would not be found.
  let clean = text.slice(0, MOST_READ);
  for (const secret of secrets) {
    clean = clean.replace(new RegExp(anyFormOf(secret), 'gi'), '<redacted>');
  }
  if (text.length > MOST_READ) clean = withoutBegunSecret(clean, secrets);
  clean = clean.replace(URL_LIKE, '<url>');
  clean = clean.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return clean.length <= LONGEST ? clean : `${clean.slice(0, LONGEST - 1)}…`;
}

/**
 * Every part of a URL that providers are known to put a key into: user, password, both as the header that sends them,
 * path segments and their values behind a `=` or a `:`, query values, and names in a query that are no plain words.
 * @returns the longest first, with the escapes of the URL and without them
 */
export function secretsOf(url: URL): string[] {
  const parts = [
    url.username,
    url.password,
    basicCredentials(url) ?? '',
    ...url.pathname.split('/').flatMap(withItsValue),
    ...url.search.slice(1).split('&').flatMap(withItsValue),
    ...url.searchParams.values(),
  ];
  const all = parts.flatMap((part) => [part, decoded(part)]);
  return [...new Set(all)]
    .filter((part) => part.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length);
}

/** A part of a path or a query; where it has a name and a value, the value, and the name unless it is a plain word. */
function withItsValue(part: string): string[] {
  const at = part.search(/[=:]/);
  if (at < 0) return [part];
  const [name, value] = [part.slice(0, at), part.slice(at + 1)];
  return PLAIN_NAME.test(name) && value !== '' ? [value] : [name, value];
}

/** A pattern of a secret as it is, with URL escapes, or with JSON escapes. */
function anyFormOf(secret: string): string {
  return Array.from(secret, (character) => {
    if (/[a-z0-9]/i.test(character)) return character;
    const code = character.charCodeAt(0);
    if (code > 0x7e) return literally(character);
    const hex = code.toString(16).padStart(2, '0');
    const forms = [String.raw`\\*${literally(character)}`, `%(?:25)*${hex}`];
    if (character === ' ') forms.push(String.raw`\+`);
    return `(?:${forms.join('|')}|${String.raw`\\+u00${hex}`})`;
  }).join('');
}

/** A text that was cut, without the beginning of a secret at its end. */
function withoutBegunSecret(text: string, secrets: readonly string[]): string {
  const end = text.toLowerCase();
  const begun = secrets.flatMap((secret) => {
    const all = secret.toLowerCase();
    return Array.from(all, (_, length) => (end.endsWith(all.slice(0, length)) ? length : 0));
  });
  return text.slice(0, text.length - Math.max(0, ...begun));
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

/** The `user:password` of a URL in base64 (RFC 7617); undefined where the URL has neither. */
export function basicCredentials({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  return Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64');
}

/** The text without URL escapes; unchanged where the escapes are invalid. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}
