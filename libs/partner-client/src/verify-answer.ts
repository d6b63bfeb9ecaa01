/** Reads an answer from its bytes. */
import { isUtf8 } from 'node:buffer';
import { canonicalJson, LowmarkError } from '#libs/domain';
import { believableJson, bodyForm, isCompressed, type Reply } from '#libs/partner-sdk/answers';
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

/** What the answer is. `canonical` is a signature over the canonical form of the body, not over its bytes. */
export function replyOf(
  { status, headers, body }: ReceivedAnswer,
  call: CallIdentity,
  endpoint: PartnerEndpoint,
): Reply {
  const form = bodyForm(isUtf8(body) ? Buffer.from(body).toString() : undefined);
  const signature = signatureOf(headers['x-api-signature'], (candidate) => {
    if (endpoint.verify(call, body, candidate)) return 'valid';
    const canonical = form.json === undefined ? undefined : canonicalBytes(form.json.value);
    const fits = canonical !== undefined && endpoint.verify(call, canonical, candidate);
    return fits ? 'canonical' : 'wrong';
  });
  return {
    ...{ status, signature, ...form },
    contentType: textOf(headers['content-type']),
    contentEncoding: textOf(headers['content-encoding']),
  };
}

export function verdictOf(reply: Reply): Verdict {
  const { status, signature } = reply;
  if (isCompressed(reply)) return 'encoded';
  if (signature === 'wrong') return 'bad-signature';
  if (signature === 'missing' && status === 200) return 'unsigned';
  if (believableJson(reply) === undefined) return 'not-json';
  return signature === 'missing' ? 'unsigned' : 'verified';
}

/** More than one signature counts as wrong, even where one of them is valid. */
function signatureOf(
  header: string | readonly string[] | undefined,
  judge: (signature: string) => Reply['signature'],
): Reply['signature'] {
  if (header === undefined) return 'missing';
  return typeof header === 'string' ? judge(header) : 'wrong';
}

/** A header that came more than once is none of the values that the interface knows. */
function textOf(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'object' ? header.join(', ') : header;
}

function canonicalBytes(json: unknown): Uint8Array | undefined {
  try {
    return Buffer.from(canonicalJson(json));
  } catch (error) {
    if (error instanceof LowmarkError) return undefined;
    throw error;
  }
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
