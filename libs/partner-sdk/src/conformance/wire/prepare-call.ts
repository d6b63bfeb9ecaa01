import { type Agent } from 'node:http';
import { canonicalJson } from '../../signing/canonical-json.js';
import { sign } from '../../signing/signature.js';
import { ROUTES, type Sent, type Step } from './exchange.js';

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
