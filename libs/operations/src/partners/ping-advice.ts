/** Advice on what to mend, by the outcome of a balance call. */
import { type CallOutcome, type UnknownReason } from '#libs/domain';
import {
  type AnswerResult,
  type CallResult,
  type NoAnswerResult,
  type NothingSentResult,
} from '#libs/partner-client';

const NOTHING_SENT: Readonly<Record<NothingSentResult['cause'], string>> = {
  'circuit-open': 'We held the call back. Try again in a minute.',
  'too-many-calls': 'We held the call back. Try again.',
  'stale-request-id': 'The call took too long to begin, or our clock jumped. Try again.',
  aborted: 'The call was ended before it began. Try again.',
  'invalid-url':
    'The URL cannot be called: set another with `partner set --callback-url`. http and private addresses are for development: --allow-private on the command line, ALLOW_PRIVATE_PARTNERS=true for the service and the console.',
  'blocked-address':
    'The address is not public, so we never call it. A private one is for development: --allow-private on the command line, ALLOW_PRIVATE_PARTNERS=true for the service and the console. Behind DNS64 every name has such an address (rfc6052): use a resolver without it.',
  dns: 'The name does not resolve from here: check it, and our resolver.',
  'connection-refused':
    'Nothing listens at that address and port: the partner must start it, or mend the URL.',
  unreachable:
    'There is no way to that address from here: check routes and firewalls, ours and theirs.',
  'connect-timeout':
    'No connection within 3 s: a firewall (has the partner allowed our addresses?) or an overload.',
  tls: 'The TLS handshake failed: the certificate must be valid for the name, not expired, with its whole chain.',
};

const NO_ANSWER: Readonly<Record<NoAnswerResult['cause'], string>> = {
  timeout:
    'The partner took the request and did not answer in time: it must look for the request id in its logs.',
  'too-slow': 'The answer began and did not end in time: a proxy, or a body sent bit by bit.',
  reset:
    'The partner closed the connection without an answer: it must look for the request id in its logs.',
  'half-answer': 'The answer broke off: Content-Length must be the length of the body.',
  'too-large': 'The answer is larger than 64 KiB: this is not the endpoint.',
  'not-http': 'What came back is no HTTP: the port is wrong, or https and http are mixed up.',
  aborted: 'The call was ended by us. Try again.',
};

const DOUBT: Partial<Readonly<Record<UnknownReason, string>>> = {
  'signature-missing':
    'The partner must sign its answer in X-API-SIGNATURE: every 200, and every refusal too. An unsigned answer counts for nothing: a redemption whose refusal is unsigned may have to wait for an operator.',
  'signature-wrong':
    'The signature is not over the signed content shown above, or under another secret. The partner must sign METHOD + PATH (with the base path, without the query) + our X-API-REQUEST + the body exactly as sent, as lower-case hex. If its content is the same, set the secret again on both sides.',
  'auth-failed': 'The partner refuses our key, signature or time.',
  redirect: 'We follow no redirect: set the URL that it leads to.',
  'rate-limited': 'The partner limits us: it must let our calls through.',
  'server-error': 'The partner failed: it must look for the request id in its logs.',
  'error-internal': 'The partner failed: it must look for the request id in its logs.',
  'malformed-json':
    'The body is not JSON in UTF-8. Where it looks like JSON: a byte order mark before it is none.',
  'no-envelope':
    'An error answer must be the JSON error envelope: the path may be wrong, or a proxy answers.',
  'success-not-boolean': 'The field `success` must be true or false.',
  'invalid-answer':
    'The fields are not those of a balance: partnerUserId, address (the one asked for), points (a whole number), chain.',
};

const AUTH_FAILED =
  'The partner refuses us: compare the signed content and our signature with what it computes, then the key, the secret (without a line break at its end) and the clocks.';

/** Whether the partner answers correctly. That it does not know the player is a correct answer too. */
export function isGood(outcome: CallOutcome<'balance'>): boolean {
  return (
    outcome.kind === 'succeeded' ||
    (outcome.kind === 'refused' && outcome.code === 'ERR-USER-NOT-FOUND')
  );
}

const ENVELOPE =
  'The error answer must have success (false), errorCode and errorMessage, the last two as texts.';
const COMPRESSED =
  'The answer is compressed: we send Accept-Encoding: identity, and the signature is over the bytes as sent. The partner must turn compression off for these endpoints, in its proxy too.';
const NOT_JSON_TYPE = 'Content-Type is not application/json: the partner must set it.';
const OVER_CANONICAL =
  'Nothing: the signature fits the canonical form of the body (RFC 8785), which we accept. A signature over the bytes that are sent is simpler.';

interface SeenSignature {
  /** Mistakes that make exactly the signature that the partner sent. */
  readonly mistakes: readonly string[];
  readonly signatureFits: 'bytes' | 'canonical form' | undefined;
}

export function adviceFor(
  result: CallResult,
  outcome: CallOutcome<'balance'>,
  { mistakes, signatureFits }: SeenSignature,
): string {
  if (result.kind === 'nothing-sent') return NOTHING_SENT[result.cause];
  if (result.kind === 'no-answer') return NO_ANSWER[result.cause];
  // The error page of a proxy may be compressed too, for other reasons.
  if (result.verdict === 'encoded' && result.status === 200) return COMPRESSED;
  switch (outcome.kind) {
    case 'succeeded':
      if (signatureFits === 'canonical form') return OVER_CANONICAL;
      return 'Nothing: key, secret, signatures and answer are as they should be.';
    case 'refused':
      if (outcome.code === 'ERR-AUTH-FAILED') return AUTH_FAILED;
      return isGood(outcome)
        ? 'Nothing, if it should not know this player: the refusal is as it should be.'
        : `${outcome.code} is no answer to a balance: the partner must look at its endpoint.`;
    case 'unknown':
      if (outcome.reason === 'invalid-answer' && isRefusal(result)) return ENVELOPE;
      if (outcome.reason === 'malformed-json' && !isJsonType(result.contentType)) {
        return NOT_JSON_TYPE;
      }
      if (outcome.reason === 'signature-wrong' && mistakes.length > 0) {
        return `The partner signs something else: ${mistakes.join(' ')}`;
      }
      return (
        DOUBT[outcome.reason] ?? 'The answer says nothing: the partner must look at its endpoint.'
      );
    case 'nothing-sent':
      return 'Try again.';
  }
}

function isRefusal(result: AnswerResult): boolean {
  if (result.verdict !== 'verified') return false;
  const { json } = result;
  return typeof json === 'object' && json !== null && 'success' in json && json.success === false;
}

function isJsonType(contentType: string | undefined): boolean {
  return /^application\/json\s*(;|$)/i.test(contentType ?? '');
}
