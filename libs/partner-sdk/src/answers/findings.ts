/** What can be found of a call: the rule that it concerns, what is so, and what to do about it. The only such prose. */
import { expectedOf } from './answer-form.js';

/** Details of a finding. They hold no text of the partner that could be a secret. */
export interface FindingData {
  readonly status?: number | undefined;
  /** Names of the missing or wrong fields. */
  readonly fields?: readonly string[];
  readonly tookMs?: number | undefined;
  /** Mistakes that make exactly the signature of the answer; see `explainSignature`. */
  readonly mistakes?: readonly string[] | undefined;
}

interface FindingText {
  /** The id of the rule among the checks of the conformance tester; absent: no rule concerns it. */
  readonly rule?: string;
  readonly says: string | ((data: FindingData) => string);
  /** Absent: nothing is to be done. */
  readonly remedy?: string | ((data: FindingData) => string);
}

const ENDED = { says: 'We ended the call.', remedy: 'Try again.' };
const IN_LOGS = 'Look for the X-API-REQUEST of the call in your logs';
const ADDRESSES =
  'http and private addresses are for development: --allow-private on the command line, ALLOW_PRIVATE_PARTNERS=true for the service and the console.';
const SIGN_WHAT =
  'Sign METHOD + PATH (with the base path, without the query) + our X-API-REQUEST + the body exactly as sent, with the secret of your callback, as 64 lower-case hex digits.';
const MISPLACED =
  'Compare the path of the base URL with the one that your endpoints are mounted at.';
const NO_PAGES =
  'Give the four endpoints an error handler of their own, so that no page of the framework or of a proxy gets out.';

/** The request was not sent, so the partner cannot have done anything. */
export const NOT_SENT = {
  'circuit-open': {
    says: 'The call was held back after several failures.',
    remedy: 'Look at the calls before it; we try again by ourselves, within a minute.',
  },
  'too-many-calls': {
    says: 'The call was held back: too many were under way.',
    remedy: 'Try again.',
  },
  'stale-request-id': {
    says: 'The call took too long to begin, or our clock jumped.',
    remedy: 'Try again.',
  },
  aborted: ENDED,
  'invalid-url': {
    rule: 'base-url-https',
    says: 'The URL cannot be called.',
    remedy: `Set one that begins with https:// (\`partner set --callback-url\`; only the operator can). ${ADDRESSES}`,
  },
  'blocked-address': {
    rule: 'base-url-https',
    says: 'The address is not public, so we never call it.',
    remedy: `Let the name of the callback lead to a public address. Behind DNS64 every name has an address that is not (rfc6052): use a resolver without it. ${ADDRESSES}`,
  },
  dns: {
    rule: 'http-answers',
    says: 'The name does not resolve.',
    remedy: 'Check the DNS of the name in the URL of the callback, and the resolver that asked.',
  },
  'connection-refused': {
    rule: 'http-answers',
    says: 'Nothing listens at that address and port.',
    remedy: 'Start the endpoints, or have the URL corrected.',
  },
  unreachable: {
    rule: 'http-answers',
    says: 'There is no way to that address.',
    remedy: 'Check routes and firewalls, on both sides.',
  },
  'connect-timeout': {
    rule: 'http-answers',
    says: 'There was no connection within 3 s.',
    remedy: 'Check the firewall (are our addresses allowed?) and the load of the endpoints.',
  },
  tls: {
    rule: 'http-answers',
    says: 'The TLS handshake failed.',
    remedy: 'The certificate must be valid for the name, not expired, and have its whole chain.',
  },
} as const satisfies Readonly<Record<string, FindingText>>;

/** The request was sent, and no whole answer came: what the partner did is unknown. */
export const NO_ANSWER = {
  timeout: {
    rule: 'http-in-time',
    says: ({ tookMs }) => `No answer came in time${after(tookMs)}.`,
    remedy: `${IN_LOGS}, and find the slow part: a lock, a missing index, a call to elsewhere.`,
  },
  'too-slow': {
    rule: 'http-in-time',
    says: ({ tookMs }) => `The answer began and did not end in time${after(tookMs)}.`,
    remedy: `${IN_LOGS}: a proxy, or a body that is sent bit by bit.`,
  },
  reset: {
    rule: 'http-answers',
    says: 'The connection was closed without an answer.',
    remedy: `${IN_LOGS}: a crash, or the limit of a proxy. Answer failures with ERR-INTERNAL.`,
  },
  'half-answer': {
    rule: 'http-answers',
    says: 'The answer broke off.',
    remedy: 'Content-Length must be the length of the body.',
  },
  'too-large': {
    rule: 'http-size',
    says: 'The answer is larger than 64 KiB.',
    remedy: 'Leave fields of your own out of it; another page may be at this address.',
  },
  'not-http': {
    rule: 'http-answers',
    says: 'What came back is not HTTP.',
    remedy: 'Check the port; https and http may be mixed up.',
  },
  aborted: ENDED,
} as const satisfies Readonly<Record<string, FindingText>>;

const ANSWERED = {
  redirect: {
    rule: 'http-redirect',
    says: ({ status }) => `The answer is a redirect (${status ?? '3xx'}), which we do not follow.`,
    remedy:
      'Have the final URL set as that of your callback (scheme, host, path), and answer there: the signature is for one path.',
  },
  'rate-limited': {
    rule: 'rate-limit',
    says: 'The call was limited (429).',
    remedy: 'Let our calls through: some dozens in a second, or 429 with Retry-After.',
  },
  compressed: {
    rule: 'http-content-type',
    says: 'The answer is compressed (Content-Encoding), although we send Accept-Encoding: identity.',
    remedy:
      'Turn compression off for these endpoints, in a proxy too: the signature is over the bytes as sent.',
  },
  'content-type': {
    rule: 'http-content-type',
    says: 'Content-Type is not application/json.',
    remedy: 'Set Content-Type: application/json.',
  },
  'html-page': {
    rule: 'http-json',
    says: ({ status }) => `The answer is an HTML page with status ${status ?? 'unknown'}.`,
    remedy: ({ status }) =>
      status === 404 ? `${MISPLACED} ${NO_PAGES}` : `${NO_PAGES} ${IN_LOGS} for what went wrong.`,
  },
  'byte-order-mark': {
    rule: 'http-json',
    says: 'A byte order mark comes before the JSON.',
    remedy: 'Print the body without it: as UTF-8, not as "UTF-8 with BOM".',
  },
  'not-utf-8': {
    rule: 'http-json',
    says: 'The body is not UTF-8.',
    remedy: 'Send the JSON in UTF-8.',
  },
  'too-deep': {
    rule: 'http-json',
    says: 'The JSON is nested more than 32 levels deep.',
    remedy: 'Leave fields of your own out of it.',
  },
  'not-json': {
    rule: 'http-json',
    says: ({ status }) => `The body is not JSON (status ${status ?? 'unknown'}).`,
    remedy: ({ status }) => (status === 404 ? `${MISPLACED} ${NO_PAGES}` : NO_PAGES),
  },
  'signature-missing': {
    rule: 'signature-present',
    says: ({ status }) => `The answer has status ${status ?? 'unknown'} and no X-API-SIGNATURE.`,
    remedy: `Sign every answer, refusals of every status too, in the one place that all of them pass: without a signature it settles nothing. ${SIGN_WHAT}`,
  },
  'refusal-unsigned': {
    rule: 'signs-all-responses',
    says: ({ status }) => `The answer has status ${status ?? 'unknown'} and no X-API-SIGNATURE.`,
    remedy:
      'Sign the answers of every status, error handlers included, or send all refusals with 200: a redemption whose refusal is unsigned may have to wait for an operator.',
  },
  'signature-wrong': {
    rule: 'signature-valid',
    says: 'The signature of the answer does not verify.',
    remedy: ({ mistakes = [] }) =>
      mistakes.length > 0
        ? `Something else is signed: ${mistakes.join(' ')}`
        : `${SIGN_WHAT} If that is what you sign, the secret differs: set it again on both sides.`,
  },
  'signature-canonical': {
    rule: 'signature-over-bytes',
    says: 'The signature fits the canonical form of the body (RFC 8785), which we accept.',
    remedy: 'Print the JSON once, into bytes; sign these bytes and send them.',
  },
  'success-status': {
    rule: 'success-status',
    says: ({ status }) => `A success has status ${status ?? 'unknown'}.`,
    remedy: 'Send 200 (not 201 or 204) with every success.',
  },
  'refusal-status': {
    rule: 'refusal-status',
    says: ({ status }) =>
      `A refusal has status ${status ?? 'unknown'}, with which it settles nothing.`,
    remedy: 'Send refusals with status 200; keep 500 for ERR-INTERNAL.',
  },
  'success-not-boolean': {
    rule: 'answer-envelope',
    says: 'The field `success` is neither true nor false.',
    remedy: ({ status }) =>
      `${status === 404 ? `${MISPLACED} ` : ''}Send {success: true, …} or {success: false, errorCode: "ERR-…", errorMessage: "…"}.`,
  },
  'wrong-envelope': {
    rule: 'answer-envelope',
    says: wrongFields,
    remedy:
      'The error answer must have success (false), errorCode and errorMessage, the last two as texts.',
  },
  'balance-fields': {
    rule: 'balance-fields',
    says: wrongFields,
    remedy: 'Send the four fields with these types: points as 15, not "15" or 15.5.',
  },
  'deduct-fields': {
    rule: 'deduct-fields',
    says: wrongFields,
    remedy: 'Send your transaction id as text, "4711" instead of 4711.',
  },
  'revert-fields': {
    rule: 'revert-fields',
    says: wrongFields,
    remedy: 'Send the id of the deduction and a new id of the revert, both as text.',
  },
  'other-address': {
    rule: 'balance-address',
    says: 'The balance is that of another address.',
    remedy: 'Send the address back that was asked for.',
  },
  'unknown-code': {
    rule: 'error-codes',
    says: 'The error code is not one of the interface.',
    remedy: 'Map your failures to its nine codes; use ERR-INTERNAL for what none of them says.',
  },
  'misplaced-code': {
    says: 'The error code has no meaning for this call, so it settles nothing.',
    remedy: 'See in the documentation which codes the call may be refused with.',
  },
  'auth-failed': {
    rule: 'call-accepted',
    says: 'Our key, signature or time was refused (ERR-AUTH-FAILED).',
    remedy:
      'Compare the signed content and our signature with what you compute, then the key, the secret (without a line break at its end) and the clocks.',
  },
  'error-internal': {
    says: 'The call failed (ERR-INTERNAL).',
    remedy: `${IN_LOGS}: an error of the handler, or of the database.`,
  },
  'server-error': {
    rule: 'http-json',
    says: ({ status }) => `The call failed with status ${status ?? '5xx'}.`,
    remedy: `${IN_LOGS}. ${NO_PAGES}`,
  },
  'slow-answer': {
    rule: 'http-in-time',
    says: ({ tookMs }) => `The answer took ${seconds(tookMs)}, close to the limit.`,
    remedy:
      'Find the slow part (a lock, a missing index, a call to elsewhere): a read may take 10 s, another call 15 s.',
  },
  'good-success': { says: 'The answer is as agreed.' },
  'good-refusal': { says: 'The refusal is as agreed.' },
} as const satisfies Readonly<Record<string, FindingText>>;

const FINDINGS = { ...NOT_SENT, ...NO_ANSWER, ...ANSWERED };

export type NotSentCode = keyof typeof NOT_SENT;
export type NoAnswerCode = keyof typeof NO_ANSWER;
export type AnswerCode = keyof typeof ANSWERED;
export type FindingCode = keyof typeof FINDINGS;
type RulesOf<T> = T extends { readonly rule: infer R } ? R : never;
export type FindingRule = RulesOf<(typeof FINDINGS)[FindingCode]>;

export interface Finding extends FindingData {
  readonly code: FindingCode;
  /** Whether the service acts on the call's answer. */
  readonly isUsable: boolean;
}

export interface Explanation {
  readonly code: FindingCode;
  readonly isUsable: boolean;
  readonly rule: FindingRule | undefined;
  readonly says: string;
  readonly remedy: string | undefined;
}

/** Words a finding. */
export function explain({ code, isUsable, ...data }: Finding): Explanation {
  const { rule, says, remedy }: FindingText = FINDINGS[code];
  return {
    ...{ code, isUsable, rule: rule as FindingRule | undefined },
    says: typeof says === 'string' ? says : says(data),
    remedy: typeof remedy === 'function' ? remedy(data) : remedy,
  };
}

function wrongFields({ fields = [] }: FindingData): string {
  const each = fields.map((name) => `${name} (expected: ${expectedOf(name)})`);
  return `Wrong or missing: ${each.join(', ')}.`;
}

function after(ms: number | undefined): string {
  return ms === undefined ? '' : `, after ${seconds(ms)}`;
}

function seconds(ms = 0): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
