/** A call and its outcome, as the report shows them. */
import { randomBytes } from 'node:crypto';
import { type Agent } from 'node:http';
import {
  type Finding,
  type FindingRule,
  type NoAnswerCode,
  type NotSentCode,
  type Step,
} from '../../answers/index.js';
import { canonicalJson, sign } from '../../signing/signing.js';

export type { Step };

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
  /** Names in lower case; see `writtenHeaders`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly isMixedCase: boolean;
  /** Empty where there is no body. */
  readonly body: string;
}

export interface Answer {
  readonly kind: 'answer';
  readonly status: number;
  /** Names in lower case; repeated headers are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly durationMs: number;
}

/** `not-sent`: no connection was established, so the partner cannot have done anything. */
export type Failure =
  | { readonly fault: 'not-sent'; readonly cause: NotSentCode }
  | { readonly fault: 'timeout' | 'broken' | 'too-large'; readonly cause: NoAnswerCode };

export type NoAnswer = Failure & {
  readonly kind: 'none';
  readonly detail: string;
  readonly durationMs: number;
};

export type Outcome = Answer | NoAnswer;

/** What a lenient reader understands of an answer, whatever else is wrong with the answer. */
export type Reading =
  | { readonly kind: 'success'; readonly fields: Readonly<Record<string, unknown>> }
  | {
      readonly kind: 'refusal';
      readonly code: string;
      readonly fields: Readonly<Record<string, unknown>>;
    }
  /** `fault`: the check that reports it. */
  | { readonly kind: 'unreadable'; readonly fault: FindingRule; readonly why: string };

export interface Exchange {
  readonly step: Step;
  /** The reason for the call, in a few words. */
  readonly purpose: string;
  readonly sent: Sent;
  readonly came: Outcome;
  readonly reading: Reading;
  /** The signature of the answer; `none` where there is no answer. */
  readonly signature: 'valid' | 'missing' | 'wrong' | 'none';
  /** What the service would find of the call, the first thing to mend first. */
  readonly findings: readonly Finding[];
}

export interface Target {
  /** http or https; its path is in front of the four endpoints. Without query and user. */
  readonly baseUrl: URL;
  readonly apiKey: string;
  readonly sharedSecret: string;
}

/** A call of a story. The call is made as the service makes it, except for the fields that are given. */
export interface CallPlan {
  readonly step: Step;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly requestId: string;
  /** The body as sent, where it is not in canonical form. */
  readonly bodyText?: string;
  /** The signed parts, where they differ from the sent ones. */
  readonly signed?: {
    readonly path?: string;
    readonly requestId?: string;
    readonly body?: string;
    readonly secret?: string;
  };
  /** Keeps the connection; absent: a connection for this call only. */
  readonly agent?: Agent;
  /** Sends the names of headers in another case than the service. */
  readonly isMixedCase?: boolean;
  /** Replace the usual headers; undefined removes a header. Names in lower case. */
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
  return { method, target: path + search, headers, isMixedCase: plan.isMixedCase ?? false, body };
}

/** The headers with their names as the service writes them, or in a mixed case. */
export function writtenHeaders({ headers, isMixedCase }: Sent): Record<string, string> {
  const written = Object.entries(headers).map(([name, value]) => {
    const words = name.split('-').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
    // The service writes X-API-KEY and Content-Type.
    const asService = name.startsWith('x-api-') ? name.toUpperCase() : words.join('-');
    return [isMixedCase ? mixedCase(name) : asService, value] as const;
  });
  return Object.fromEntries(written);
}

function mixedCase(name: string): string {
  return name.replaceAll(/.\w/g, (two) => two.charAt(0) + two.slice(1).toUpperCase());
}

/** A random wallet, which belongs to no player. */
export function randomAddress(): string {
  return `0x${randomBytes(20).toString('hex')}`;
}
