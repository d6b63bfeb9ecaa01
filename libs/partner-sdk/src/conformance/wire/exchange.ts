/** One call and what came of it, as the report shows it. */
import { randomBytes } from 'node:crypto';
import { type Agent } from 'node:http';
import { canonicalJson, sign } from '../../signing/signing.js';

export type Step = 'balance' | 'deduct' | 'revert' | 'confirm';

const ROUTES: Readonly<Record<Step, { readonly method: string; readonly path: string }>> = {
  balance: { method: 'GET', path: '/get-points-by-address' },
  deduct: { method: 'POST', path: '/deduct-points-by-address' },
  revert: { method: 'POST', path: '/revert-deduct-points' },
  confirm: { method: 'POST', path: '/confirm-redemption' },
};

export interface Sent {
  readonly method: string;
  /** The path with the query, as on the request line. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty where there is none. */
  readonly body: string;
}

export interface Answer {
  readonly kind: 'answer';
  readonly status: number;
  /** Names in lower case; repeated ones joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly durationMs: number;
}

export interface NoAnswer {
  readonly kind: 'none';
  /** `not-sent`: no connection came about, so the partner cannot have done anything. */
  readonly fault: 'not-sent' | 'timeout' | 'broken' | 'too-large';
  readonly detail: string;
  readonly durationMs: number;
}

export type Came = Answer | NoAnswer;

/** The checks that say why an answer could not be read at all. */
export type ReadingFault =
  | 'http-answers'
  | 'http-in-time'
  | 'http-size'
  | 'http-redirect'
  | 'http-json'
  | 'http-content-type'
  | 'answer-envelope';

/** What a well-meaning reader makes of an answer, whatever else is wrong with it. */
export type Reading =
  | { readonly kind: 'success'; readonly fields: Readonly<Record<string, unknown>> }
  | {
      readonly kind: 'refusal';
      readonly code: string;
      readonly fields: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'unreadable'; readonly fault: ReadingFault; readonly why: string };

export interface Exchange {
  readonly step: Step;
  /** What the call was made for, in a few words. */
  readonly purpose: string;
  readonly sent: Sent;
  readonly came: Came;
  readonly reading: Reading;
  /** Of the answer; `none` where none came. */
  readonly signature: 'valid' | 'missing' | 'wrong' | 'none';
}

export interface Target {
  /** http or https; its path stands before the four endpoints. No query, no user. */
  readonly baseUrl: URL;
  readonly apiKey: string;
  readonly sharedSecret: string;
}

/** What is done to a call beside its content; everything left out is as the service does it. */
export interface CallPlan {
  readonly step: Step;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly requestId: string;
  /** The body on the wire, where that is not the canonical one. */
  readonly bodyText?: string;
  /** What is signed, where that is not what is sent. */
  readonly signed?: {
    readonly path?: string;
    readonly requestId?: string;
    readonly body?: string;
    readonly secret?: string;
  };
  /** Keeps the connection; left out: one of its own. */
  readonly agent?: Agent;
  /** Instead of the usual ones; undefined leaves a header out. Names in lower case. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

export function pathOf({ baseUrl }: Target, step: Step): string {
  return baseUrl.pathname.replace(/\/+$/, '') + ROUTES[step].path;
}

/** The bytes of a call: canonical body, `X-API-REQUEST`, and the signature over both. */
export function prepareCall(target: Target, plan: CallPlan): Sent {
  const { step, query, requestId, signed = {} } = plan;
  const { method } = ROUTES[step];
  const path = pathOf(target, step);
  const canonical = plan.body === undefined ? '' : canonicalJson(plan.body);
  const body = plan.bodyText ?? canonical;
  const message = {
    method,
    url: signed.path ?? path,
    requestId: signed.requestId ?? requestId,
    body: signed.body ?? body,
  };
  const usual: Record<string, string> = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'x-api-key': target.apiKey,
    'x-api-request': requestId,
    'x-api-signature': sign(signed.secret ?? target.sharedSecret, message),
  };
  if (method === 'POST') {
    usual['content-type'] = 'application/json';
    usual['content-length'] = String(Buffer.byteLength(body));
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...usual, ...plan.headers })) {
    if (value !== undefined) headers[name] = value;
  }
  const search = query === undefined ? '' : `?${new URLSearchParams(query).toString()}`;
  return { method, target: path + search, headers, body };
}

/** A wallet without an owner. */
export function randomAddress(): string {
  return `0x${randomBytes(20).toString('hex')}`;
}
