/**
 * How far a call came and how it ended.
 *
 * The phases are those of one call. Up to `tls` no request exists on the wire; from `sending` on, a byte of it may have left. So
 * `nothing-sent` is proven by how the code is built: the request is first given to HTTP when a connection stands, and every end before that
 * is `nothing-sent`. A kept connection that turns out lost before a byte of the request was given to it is left for another; from the first
 * byte on, whatever becomes of it is an end of this call, and nothing is sent again.
 */

/** In order; a result carries the furthest that was reached. */
export const PHASES = [
  // the base URL and the address in it
  'address',
  // the partner's circuit and its limit of calls at once
  'gate',
  'dns',
  'connect',
  'tls',
  // the request may be on its way
  'sending',
  // status line and headers of the final answer arrived
  'head',
  // a byte of its body arrived
  'body',
  // all of it arrived
  'done',
] as const;
export type Phase = (typeof PHASES)[number];
export type PhaseBeforeSending = 'address' | 'gate' | 'dns' | 'connect' | 'tls';
export type PhaseUnderWay = 'sending' | 'head' | 'body';

/** Why no byte of the request left. */
export type NothingSentCause =
  // we held it back
  | 'circuit-open'
  | 'too-many-calls'
  | 'stale-request-id'
  | 'aborted'
  // the partner's URL, or what its name resolves to, is not one we may call
  | 'invalid-url'
  | 'blocked-address'
  // no connection
  | 'dns'
  | 'connection-refused'
  | 'unreachable'
  | 'connect-timeout'
  | 'tls';

/** Why there is no whole answer although the request, or a part of it, may have arrived. */
export type NoAnswerCause =
  // nothing of an answer came within the deadline
  | 'timeout'
  // its head came, and the rest did not within the deadline
  | 'too-slow'
  | 'reset'
  | 'half-answer'
  | 'too-large'
  | 'not-http'
  | 'aborted';

/** What is to be thought of an answer; the first that applies. */
export type Verdict =
  // compressed although we asked for none
  | 'encoded'
  // a signature that does not verify: of something else, of another form, or more than one
  | 'bad-signature'
  // no signature; with status 200 that is a fault, with another it is allowed
  | 'unsigned'
  // signed; another content type, no UTF-8, no JSON, or JSON nested out of all proportion
  | 'not-json'
  // signed by the partner for this very call, and JSON
  | 'verified';
