/** Collects the facts of one call while it runs, and makes the call's result from them. */
import { createHash } from 'node:crypto';
import { type PartnerStep, type UuidV7 } from '#libs/domain';
import { type CallEnd, findingOf, type NotSentCode } from '#libs/partner-sdk/answers';
import { type Clock, type SpanAttributes, type SpanStart } from '#libs/platform';
import {
  clockDifferenceSeconds,
  errorText,
  excerptOf,
  keptHeaders,
  keptRequest,
} from './record-texts.js';
import {
  type AnswerResult,
  type CallRecord,
  type CallResult,
  type CallTimings,
  type NoAnswerResult,
  type NothingSentResult,
  type PhaseUnderWay,
} from './call-result.js';
import {
  type PartnerCall,
  type PartnerEndpoint,
  ROUTES,
  type SignedRequest,
} from './partner-endpoint.js';
import { replyOf, retryAfterSeconds, verdictOf } from './verify-answer.js';
import { type DialFault, type ExchangeFault } from './wire/call-fault.js';
import { type DialProgress, type PartnerUrl } from './wire/dial.js';
import { nothingArrived } from './wire/exchange.js';

export class CallTrace {
  readonly dialled: DialProgress = { phase: 'address' };
  readonly arrived = nothingArrived();
  url: PartnerUrl | undefined;
  request: SignedRequest | undefined;
  /** In milliseconds of the `performance` clock. */
  passedGateAt: number | undefined;
  private readonly startedAtMs: number;
  private readonly startedAt = performance.now();

  constructor(
    private readonly call: PartnerCall,
    private readonly endpoint: PartnerEndpoint,
    private readonly clock: Clock,
    private readonly requestId: UuidV7 | undefined,
  ) {
    this.startedAtMs = clock.nowMs();
  }

  /** @param waitMs milliseconds until the call may be tried again, where known */
  nothingSent({ failure: cause, phase, message }: DialFault, waitMs?: number): NothingSentResult {
    const alert = ALERTING.includes(cause);
    const kind = 'nothing-sent';
    const end = { outcome: kind, cause, phase, alert, error: message } as const;
    const record = this.record(end, { kind, cause });
    const wait = waitMs === undefined ? {} : { retryAfterSeconds: Math.ceil(waitMs / 1000) };
    return { kind, cause, phase, alert, record, ...wait };
  }

  noAnswer({ failure: cause, message }: ExchangeFault): NoAnswerResult {
    // The exchange failed after the end of the answer, so that end was not the true one.
    const phase: PhaseUnderWay = this.arrived.phase === 'done' ? 'body' : this.arrived.phase;
    const alert = cause === 'too-slow' || cause === 'too-large';
    const kind = 'no-answer';
    const end = { outcome: kind, cause, phase, alert, error: message } as const;
    const record = this.record(end, { kind, cause, tookMs: this.tookMs() });
    return { kind, cause, phase, alert, record };
  }

  /** @param request the request that was answered; the answer has arrived whole */
  answer({ identity }: SignedRequest, status: number): AnswerResult {
    const { headers } = this.arrived;
    const received = { status, headers, body: this.body() };
    const reply = replyOf(received, identity, this.endpoint);
    const verdict = verdictOf(reply);
    const isRedirect = status >= 300 && status < 400;
    const isUnsigned = verdict === 'unsigned' && status === 200;
    // A confirmation counts as delivered without a signature (fault-table.spec.ts).
    const isForged = this.call.step !== 'confirm' && (verdict === 'bad-signature' || isUnsigned);
    const alert = isForged || isRedirect;
    const phase = 'done';
    const kind = 'answer';
    const end = { outcome: kind, verdict, phase, alert } as const;
    const record = this.record(end, { ...reply, kind, tookMs: this.tookMs() });
    const wait = retryAfterSeconds(headers['retry-after'], this.clock.nowMs());
    return {
      ...{ kind, phase, status, alert, record, verdict, reply },
      ...(wait !== undefined && { retryAfterSeconds: wait }),
    };
  }

  private body(): Uint8Array {
    return Buffer.concat(this.arrived.chunks);
  }

  private record(
    end: Pick<CallRecord, 'outcome' | 'phase' | 'alert' | 'cause' | 'verdict' | 'error'>,
    ended: CallEnd,
  ): CallRecord {
    const { endpoint, url, request, arrived, dialled } = this;
    const { step } = this.call;
    const { partnerId } = endpoint;
    const { headers } = arrived;
    const body = this.body();
    const record = {
      ...end,
      finding: findingOf(this.call.step === 'balance' ? this.call : { step }, ended),
      partnerId,
      step,
      requestId: request?.identity.requestId ?? this.requestId,
      method: ROUTES[step].method,
      origin: url?.origin,
      path: (url?.basePath ?? '') + ROUTES[step].path,
      target: request?.target,
      requestBody: keptRequest(request?.body ?? '', endpoint),
      startedAtMs: this.startedAtMs,
      status: arrived.status,
      timings: this.timings(),
      requestBytes: Buffer.byteLength(request?.body ?? ''),
      answerBytes: arrived.bytes,
      remoteAddress: dialled.remoteAddress,
      kept: dialled.isKept === true ? true : undefined,
      clockDifferenceSeconds: clockDifferenceSeconds(headers['date'], this.clock.nowMs()),
      answerHeaders: keptHeaders(headers, endpoint),
      excerpt: excerptOf(body, endpoint),
      answerSha256: body.length === 0 ? undefined : createHash('sha256').update(body).digest('hex'),
      error: end.error === undefined ? undefined : errorText(end.error, endpoint),
    };
    const known = Object.entries(record).filter(([, value]) => value !== undefined);
    return Object.fromEntries(known) as unknown as CallRecord;
  }

  private tookMs(): number {
    const now = performance.now();
    return Math.round(now - (this.passedGateAt ?? now));
  }

  private timings(): CallTimings {
    const { startedAt, passedGateAt = performance.now(), dialled, arrived } = this;
    const { resolvedAt, connectedAt, securedAt } = dialled;
    const took = (name: string, from: number | undefined, to: number | undefined): object =>
      from === undefined || to === undefined ? {} : { [name]: Math.round(to - from) };
    return {
      queued: Math.round(passedGateAt - startedAt),
      total: this.tookMs(),
      ...took('dns', passedGateAt, resolvedAt),
      ...took('connect', resolvedAt ?? passedGateAt, connectedAt),
      ...took('tls', connectedAt, securedAt),
      ...took('head', securedAt ?? connectedAt ?? passedGateAt, arrived.headAt),
    };
  }
}

/** Causes for an operator: the partner's URL is wrong, or its name leads to an address that must not be called. */
const ALERTING: readonly NotSentCode[] = ['invalid-url', 'blocked-address'];

/**
 * The span of one call: which of the four calls, and to which partner. The span shows the interface's path instead of
 * the partner's URL, which may hold a credential. The call sends no tracing headers, since its headers are those of the
 * interface.
 */
export function callSpan({ partnerId }: PartnerEndpoint, step: PartnerStep): SpanStart {
  const { method, path } = ROUTES[step];
  return {
    name: `${method} ${path}`,
    kind: 'client',
    attributes: {
      'http.request.method': method,
      'url.template': path,
      'lowmark.partner_id': partnerId,
      'lowmark.step': step,
    },
  };
}

export function endOf(result: CallResult): SpanAttributes {
  const { kind, phase, record } = result;
  return {
    'lowmark.api_request': record.requestId,
    'lowmark.outcome': kind,
    'lowmark.phase': phase,
    'lowmark.verdict': record.verdict,
    'http.response.status_code': record.status,
  };
}
