import { type CheckRows } from './check.js';

const SECTION = 'Authentication';
const AUTH =
  'A partner validates X-API-KEY, X-API-REQUEST and X-API-SIGNATURE of every call and answers ERR-AUTH-FAILED on failure.';
const FRESH =
  'A receiver refuses an X-API-REQUEST whose time is more than 300 s from its own clock, or that it has seen in the last 600 s.';
const FRESH_WHY =
  'Otherwise a call that was recorded or held up on the way can be delivered later.';

export const ACCESS_CHECKS = {
  'call-accepted': {
    title: 'A call with the right key and signature is accepted',
    section: SECTION,
    rule: 'The signature of a call is the HMAC-SHA256, in lower-case hex, of METHOD + PATH + X-API-REQUEST + BODY. PATH has the path of the base URL and no query; BODY is empty for a GET.',
    remedy:
      'Compare the key and the secret on both sides, then the text you sign with the one shown here, then your clock.',
  },
  'auth-key-missing': {
    title: 'A call without X-API-KEY is refused',
    section: SECTION,
    rule: AUTH,
    remedy: 'Refuse a call without the header before anything else is done.',
  },
  'auth-key-wrong': {
    title: 'A call with another key is refused',
    section: SECTION,
    rule: AUTH,
    remedy: 'Compare the header with the key you were given, in constant time.',
  },
  'auth-signature-missing': {
    title: 'A call without X-API-SIGNATURE is refused',
    section: SECTION,
    rule: AUTH,
    remedy: 'A missing header is a failure, not a reason to skip the comparison.',
  },
  'auth-signature-wrong': {
    title: 'A call whose signature does not fit is refused',
    section: SECTION,
    rule: AUTH,
    remedy:
      'Compute the signature over the method, path, X-API-REQUEST and body that came, and compare it in constant time.',
  },
  'auth-before-answer': {
    title: 'A forged call is refused before anything is looked up',
    section: SECTION,
    rule: 'A call that does not verify gets ERR-AUTH-FAILED, whatever it asks for. Any other refusal would be signed for the X-API-REQUEST of the call: someone on the way could hold our call back, forge one with its id, and give us that refusal as the answer to ours.',
    remedy:
      'Verify key, signature and X-API-REQUEST first. Only then parse the body and look up the player.',
  },
  'auth-request-missing': {
    title: 'A call without X-API-REQUEST is refused',
    section: SECTION,
    rule: AUTH,
    remedy: 'Require the header, also where the signature fits without it.',
  },
  'auth-request-version': {
    severity: 'warning',
    title: 'An X-API-REQUEST that is no UUIDv7 is refused',
    section: SECTION,
    rule: 'X-API-REQUEST is a UUID of version 7: its first 48 bits are the time of the call.',
    remedy: 'Accept version 7 only; another one has no time that could be looked at.',
    capability: 'enforces-freshness',
  },
  'auth-request-stale': {
    severity: 'warning',
    title: 'A call from 400 s ago is refused',
    section: SECTION,
    rule: FRESH,
    remedy: `Read the time out of X-API-REQUEST and refuse what is too old. ${FRESH_WHY}`,
    capability: 'enforces-freshness',
  },
  'auth-request-future': {
    severity: 'warning',
    title: 'A call from 400 s ahead is refused',
    section: SECTION,
    rule: FRESH,
    remedy: 'Read the time out of X-API-REQUEST and refuse what is too far ahead.',
    capability: 'enforces-freshness',
  },
  'auth-request-reused': {
    severity: 'warning',
    title: 'A call that comes a second time is refused',
    section: SECTION,
    rule: FRESH,
    remedy: `Remember the X-API-REQUEST of each authentic call for 600 s, also of one that you then refuse, shared by all your servers. ${FRESH_WHY}`,
    capability: 'enforces-freshness',
  },
  'header-any-case': {
    title: 'Names of headers are read in any case',
    section: SECTION,
    rule: 'HTTP does not distinguish the case of header names, and proxies change it (HTTP/2 has lower case only). The service sends X-API-KEY, X-API-REQUEST and X-API-SIGNATURE in upper case.',
    remedy: 'Look headers up without regard to case, with the functions of your framework.',
  },
  'request-unknown-fields': {
    severity: 'warning',
    title: 'Fields that you do not know are ignored',
    section: 'Versioning',
    rule: 'The interface may get more fields and query parameters; a receiver ignores those it does not know.',
    remedy: 'Turn off "additional properties forbidden" for these bodies.',
  },
  'request-other-json': {
    severity: 'warning',
    title: 'A body that is printed in another way is understood',
    section: 'Signatures',
    rule: 'The service sends canonical JSON. A proxy may print the same JSON in another way; the signature still fits the bytes, or their canonical form.',
    remedy: 'Verify over the raw bytes first, then over the canonical form (RFC 8785) of the body.',
  },
} as const satisfies CheckRows;
