import { type CheckRows } from './check.js';

const ANSWERS = 'Partner endpoints: answers';
const SIGNATURES = 'Signatures';

/** Checks of form and transport, judged over all answers of the run. */
export const FORM_CHECKS = {
  'base-url-https': {
    severity: 'warning',
    title: 'The base URL is https, or http for a local test',
    section: 'Transport of the callbacks',
    rule: 'The service calls https addresses only. Plain http is good for a test on this machine.',
    remedy: 'Give the https address that the service will call.',
  },
  'rate-limit': {
    severity: 'info',
    title: 'The pace of the tester is not limited',
    section: ANSWERS,
    rule: 'Status 429 is allowed: the service waits and tries again, and meanwhile the outcome is unknown to it.',
    remedy: 'Allow the service some dozens of calls in a second, or answer 429 with Retry-After.',
  },
  'http-answers': {
    title: 'Every call gets a whole answer',
    section: ANSWERS,
    rule: 'Each call is answered with HTTP 200 and a body, or with the error envelope. No answer leaves the service in doubt whether points moved.',
    remedy:
      'Look for a crash, a proxy limit or a closed connection at the time of the call. Answer failures with ERR-INTERNAL.',
  },
  'http-connection-kept': {
    title: 'Calls on a kept connection are answered like others',
    section: 'Transport of the callbacks',
    rule: 'The service keeps a connection for its next call, for a second or a second less than Keep-Alive: timeout says. Close it when you like, but answer what came.',
    remedy:
      'Read the whole body of each call, refused ones too; look for a server or proxy that ends connections without "Connection: close". It helps to close them after each answer.',
  },
  'http-in-time': {
    title: 'Answers come in time',
    section: 'Transport of the callbacks',
    rule: 'The whole answer to a read comes within 10 s, to the other calls within 15 s; what comes later is lost, and its outcome unknown.',
    remedy:
      'Find the slow part (a lock, a missing index, a call to elsewhere) or put it behind the answer.',
  },
  'http-size': {
    title: 'Answers have at most 64 KiB',
    section: 'Transport of the callbacks',
    rule: 'At most 64 KiB of an answer are read; a larger one is as good as none.',
    remedy: 'Leave fields of your own out of the answer, or make them smaller.',
  },
  'http-redirect': {
    title: 'Calls are not redirected',
    section: 'Transport of the callbacks',
    rule: 'Redirects are not followed: the signature is for one path.',
    remedy: 'Give the final base URL (scheme, host, path, no slash at the end) and answer there.',
  },
  'http-json': {
    title: 'Bodies are JSON',
    section: ANSWERS,
    rule: 'Successes and failures alike are JSON in UTF-8; failures in the envelope {success: false, errorCode, errorMessage}.',
    remedy:
      'Where it is a 404, compare the path of the base URL with the one that your endpoints are mounted at. Give the four endpoints an error handler of their own, so that no page of the framework or of a proxy gets out.',
  },
  'http-content-type': {
    title: 'Answers say application/json',
    section: ANSWERS,
    rule: 'Content-Type is application/json and the body is not compressed.',
    remedy: 'Set Content-Type: application/json, and turn compression off for these endpoints.',
  },
  'answer-envelope': {
    title: 'Answers say whether they succeeded',
    section: 'Partner endpoints: error envelope',
    rule: 'success is the boolean true or false. A failure has errorCode and errorMessage, both texts.',
    remedy: 'Send {success: true, …} or {success: false, errorCode: "ERR-…", errorMessage: "…"}.',
  },
  'error-codes': {
    title: 'Error codes are those of the interface',
    section: 'Partner endpoints: errors',
    rule: 'errorCode is one of the nine codes. Another one counts as an unknown outcome.',
    remedy: 'Map your failures to the nine codes; use ERR-INTERNAL for what none of them says.',
  },
  'success-status': {
    title: 'Successes have status 200',
    section: ANSWERS,
    rule: 'A success is HTTP 200; with another status it does not count.',
    remedy: 'Send 200 (not 201 or 204) with every success.',
  },
  'refusal-status': {
    title: 'Refusals have a status that can be believed',
    section: ANSWERS,
    rule: 'The envelope comes with 200, 400, 401, 404, 409 or 422. With 429 or 5xx a refusal counts as an unknown outcome, which only ERR-INTERNAL may be.',
    remedy: 'Send refusals with status 200; keep 500 for ERR-INTERNAL.',
  },
  'signature-present': {
    capability: 'signs-all-responses',
    title: 'Every 200 is signed',
    section: SIGNATURES,
    rule: 'Every answer with status 200, success or failure, has X-API-SIGNATURE. Without it an answer settles nothing. Only the answer to a call without your key needs none: there is no secret that both sides know.',
    remedy: 'Sign in the one place that all answers pass, error handlers included.',
  },
  'signature-valid': {
    capability: 'signs-all-responses',
    title: 'Signatures fit the answer and its call',
    section: SIGNATURES,
    rule: 'X-API-SIGNATURE is the HMAC-SHA256, in lower-case hex, of METHOD + PATH + X-API-REQUEST of the call + BODY of the answer, without separators. PATH has the path of the base URL and no query. The key is the secret as it was delivered.',
    remedy:
      'Sign exactly the bytes that are sent (or their canonical form, RFC 8785), with the X-API-REQUEST of the call that is answered.',
  },
  'signature-over-bytes': {
    severity: 'warning',
    title: 'Signatures are over the bytes that are sent',
    section: SIGNATURES,
    rule: 'A signature over the canonical form of the body is accepted too. It says nothing of the bytes: a receiver that verifies these alone refuses the answer.',
    remedy: 'Print the JSON once, into bytes; sign these bytes and send these bytes.',
  },
  'signs-all-responses': {
    severity: 'warning',
    title: 'Refusals of every status are signed',
    section: 'Redemption: capabilities',
    rule: 'The interface allows refusals with a status other than 200 to be unsigned, but anyone on the way can invent such a refusal, so it settles nothing. Redemptions that are refused without a signature wait for an operator.',
    remedy:
      'Sign the answers of every status, error handlers included, or send all refusals with 200.',
    capability: 'signs-all-responses',
  },
  'balance-fields': {
    title: 'A balance has its fields, of the right types',
    section: 'Points balance record',
    rule: 'partnerUserId: text of 1 to 255 characters; address: the wallet asked for; points: whole number, 0 or more, as a JSON number; chain: text of 1 to 64 characters.',
    remedy: 'Send the four fields with these types: points as 15, not "15" or 15.5.',
  },
  'deduct-fields': {
    title: 'A deduction names its transaction',
    section: 'POST /deduct-points-by-address',
    rule: 'A success has partnerTransactionId: text of 1 to 255 characters without control characters.',
    remedy: 'Send your transaction id as text, "4711" instead of 4711.',
  },
  'revert-fields': {
    title: 'A revert names the transaction and itself',
    section: 'POST /revert-deduct-points',
    rule: 'A success has partnerTransactionId and partnerRevertId: texts of 1 to 255 characters without control characters.',
    remedy: 'Send the id of the deduction and a new id of the revert, both as text.',
  },
  'transaction-ids-unique': {
    title: 'Each deduction has a transaction id of its own',
    section: 'Deduction record',
    rule: 'partnerTransactionId is unique per deduction; the service refuses one that belongs to another redemption.',
    remedy: 'Make a new id for each deduction (a UUID, say), never one of the user or the day.',
  },
  'revert-ids-distinct': {
    title: 'Each revert has an id of its own',
    section: 'Revert record',
    rule: 'partnerRevertId is new, unique, and not the partnerTransactionId.',
    remedy: 'Make a new id for each revert.',
  },
} as const satisfies CheckRows;
