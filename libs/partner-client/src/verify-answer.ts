/** Judges an answer by its bytes. Nothing in them is believed before the signature is verified. */
import { isUtf8 } from 'node:buffer';
import { canonicalJson, LowmarkError } from '#libs/domain';
import { retryAfterMs } from '#libs/platform';
import { type Verdict } from './call-result.js';
import { type CallIdentity, type PartnerEndpoint } from './partner-endpoint.js';

export interface ReceivedAnswer {
  readonly status: number;
  /** Names in lower case; a header that came more than once is a list. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The bytes as received. */
  readonly body: Uint8Array;
}

export interface JudgedAnswer {
  readonly verdict: Verdict;
  readonly signature: 'valid' | 'missing' | 'wrong';
  /** The body, where it is JSON of the right type. */
  readonly parsed?: { readonly json: unknown };
}

const JSON_TYPE = /^application\/json\s*(;|$)/i;
/**
 * Deepest nesting that is accepted. Genuine answers have two levels; thousands of levels would exhaust the stack of
 * recursive code.
 */
const DEEPEST = 32;

/** A signature is valid where it fits the bytes as received, or else the canonical form of the body. */
export function judgeAnswer(
  { status, headers, body }: ReceivedAnswer,
  call: CallIdentity,
  endpoint: PartnerEndpoint,
): JudgedAnswer {
  const json = jsonOf(body);
  const signature = signatureOf(headers['x-api-signature'], (candidate) => {
    if (endpoint.verify(call, body, candidate)) return true;
    const canonical = json === undefined ? undefined : canonicalBytes(json.json);
    return canonical !== undefined && endpoint.verify(call, canonical, candidate);
  });
  if (!isIdentity(headers['content-encoding'])) return { verdict: 'encoded', signature };
  const type = headers['content-type'];
  const isJson = typeof type === 'string' && JSON_TYPE.test(type);
  const parsed = isJson && json !== undefined ? { parsed: json } : {};
  const verdict = verdictOf(signature, { status, isJson: 'parsed' in parsed });
  return { verdict, signature, ...parsed };
}

function verdictOf(
  signature: JudgedAnswer['signature'],
  { status, isJson }: { readonly status: number; readonly isJson: boolean },
): Verdict {
  if (signature === 'wrong') return 'bad-signature';
  if (signature === 'missing' && status === 200) return 'unsigned';
  if (!isJson) return 'not-json';
  return signature === 'valid' ? 'verified' : 'unsigned';
}

/** More than one signature counts as wrong, even where one of them is valid. */
function signatureOf(
  header: string | readonly string[] | undefined,
  fits: (signature: string) => boolean,
): JudgedAnswer['signature'] {
  if (header === undefined) return 'missing';
  return typeof header === 'string' && fits(header) ? 'valid' : 'wrong';
}

function isIdentity(header: string | readonly string[] | undefined): boolean {
  return header === undefined || header === 'identity';
}

function canonicalBytes(json: unknown): Uint8Array | undefined {
  try {
    return Buffer.from(canonicalJson(json));
  } catch (error) {
    if (error instanceof LowmarkError) return undefined;
    throw error;
  }
}

/** The value of the body, where it is JSON in UTF-8, without a byte order mark and not nested too deeply. */
function jsonOf(body: Uint8Array): { readonly json: unknown } | undefined {
  if (!isUtf8(body)) return undefined;
  try {
    const json: unknown = JSON.parse(Buffer.from(body).toString());
    return depthExceeds(json, DEEPEST) ? undefined : { json };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function depthExceeds(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return limit === 0 || Object.values(value).some((member) => depthExceeds(member, limit - 1));
}

const LONGEST_MS = 86_400_000;

/**
 * @returns seconds from `nowMs`, 0 to a day; undefined where the header is absent, repeated or neither seconds nor an
 *   HTTP date
 */
export function retryAfterSeconds(
  header: string | readonly string[] | undefined,
  nowMs: number,
): number | undefined {
  if (typeof header !== 'string') return undefined;
  const waitMs = retryAfterMs(header, nowMs, LONGEST_MS);
  return waitMs === undefined ? undefined : Math.ceil(waitMs / 1000);
}
