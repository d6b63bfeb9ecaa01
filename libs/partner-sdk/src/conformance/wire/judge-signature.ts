/** Judges whether an answer is signed for its call, and finds out what a wrong signature covers. */
import {
  canonicalJson,
  sign,
  type SignedMessage,
  verify,
  verifyJson,
} from '../../signing/signing.js';
import { type Answer, type Outcome, type Exchange, type Sent } from './exchange.js';
import { jsonOf } from './transport.js';

export function judgeSignature(secret: string, sent: Sent, came: Outcome): Exchange['signature'] {
  if (came.kind === 'none') return 'none';
  const given = came.headers['x-api-signature'];
  if (given === undefined) return 'missing';
  return verifyJson(secret, messageOf(sent, came.body), given) ? 'valid' : 'wrong';
}

/** Whether the signature fits the bytes of the body, and not only their canonical form. */
export function isOverBytes(secret: string, sent: Sent, came: Answer): boolean {
  return verify(secret, messageOf(sent, came.body), came.headers['x-api-signature']);
}

type SignedBytes = SignedMessage & { readonly body: Uint8Array };

function messageOf({ method, target: url, headers }: Sent, body: Uint8Array): SignedBytes {
  return { method, url, requestId: headers['x-api-request'], body };
}

interface Guess {
  readonly what: string;
  readonly content: Uint8Array;
}

/** What a wrong signature covers, found by trying the most frequent mistakes; undefined where none of them fits. */
export function explainSignature(secret: string, sent: Sent, came: Outcome): string | undefined {
  if (came.kind === 'none') return undefined;
  const given = came.headers['x-api-signature'] ?? '';
  for (const { what, content } of guesses(sent, came.body)) {
    for (const [how, key] of keysOf(secret)) {
      // The guess is the whole signed text, so it is passed as the body of an otherwise empty message.
      const hex = sign(key, { method: '', url: '', body: content });
      const base64 = Buffer.from(hex, 'hex').toString('base64');
      if (given === hex) return `It is over ${what}${how}.`;
      if (given.toLowerCase() === hex) return `It is over ${what}${how}, not in lower case.`;
      if (given === base64) return `It is over ${what}${how}, in base64 instead of hex.`;
      if (given === `sha256=${hex}`) return `It is over ${what}${how}, after "sha256=".`;
    }
  }
  return undefined;
}

function guesses(sent: Sent, body: Uint8Array): Guess[] {
  const { method, path, requestId } = partsOf(sent);
  const bodies: [string, string | Uint8Array][] = [['BODY', body]];
  const cut = Buffer.from(body)
    .toString('latin1')
    .replace(/[\r\n]+$/, '').length;
  if (cut < body.length) {
    bodies.push(['BODY without the line break at its end', body.subarray(0, cut)]);
  }
  const json = jsonOf(body);
  const canonical = canonicalOf(body);
  if (canonical !== undefined) bodies.push(['BODY in canonical form', canonical]);
  if (json !== undefined) {
    bodies.push(['BODY printed with blanks', JSON.stringify(json.value, null, 2)]);
    bodies.push(['BODY as JSON.stringify prints it', JSON.stringify(json.value)]);
    bodies.push(["BODY as Python's json.dumps prints it, with spaces", spaced(json.value)]);
  }
  bodies.push(['the body of the CALL', sent.body], ['no body', '']);
  const heads: [string, string][] = [
    ['METHOD + PATH + X-API-REQUEST + ', method + path + requestId],
    ['METHOD + PATH (no X-API-REQUEST) + ', method + path],
    ['METHOD + PATH with its query + X-API-REQUEST + ', method + sent.target + requestId],
    ['PATH + X-API-REQUEST (no METHOD) + ', path + requestId],
    ['METHOD in lower case + PATH + X-API-REQUEST + ', method.toLowerCase() + path + requestId],
    ['X-API-REQUEST + ', requestId],
    ['', ''],
  ];
  for (const part of endsOf(path)) {
    heads.push([`METHOD + ${part} (another path) + X-API-REQUEST + `, method + part + requestId]);
  }
  return heads.flatMap(([head, text]) =>
    bodies.map(([what, content]) => ({
      what: head + what,
      content: Buffer.concat([Buffer.from(text), Buffer.from(content)]),
    })),
  );
}

/** Prints JSON with a space after each colon and comma. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([k, v]) => `${JSON.stringify(k)}: ${spaced(v)}`);
  return `{${members.join(', ')}}`;
}

/** The path without its first part, its first two and so on, as seen behind a prefix; and with a slash at its end. */
function endsOf(path: string): string[] {
  const parts = path.split('/').slice(1);
  const ends = parts.slice(1).map((_, index) => `/${parts.slice(index + 1).join('/')}`);
  return [...ends, `${path}/`];
}

function keysOf(secret: string): [string, string][] {
  const keys: [string, string][] = [['', secret]];
  if (secret.trim() !== secret) keys.push([', with the secret trimmed', secret.trim()]);
  return keys;
}

function partsOf({ method, target, headers }: Sent): {
  method: string;
  path: string;
  requestId: string;
} {
  return {
    method,
    path: target.split('?', 1)[0] ?? '',
    requestId: headers['x-api-request'] ?? '',
  };
}

function canonicalOf(body: Uint8Array): string | undefined {
  const json = jsonOf(body);
  if (json === undefined) return undefined;
  try {
    return canonicalJson(json.value);
  } catch {
    // The JSON has no canonical form, for example because of a lone surrogate.
    return undefined;
  }
}
