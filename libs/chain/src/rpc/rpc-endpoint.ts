import { inChildSpan, type OpenSpan } from '#libs/telemetry';
import { BatchTooLargeError, RpcRefusedError } from '../errors/rpc.errors.js';
import { secretsOf } from '../errors/redact.js';
import { matchAnswers } from './batch-answer.js';
import { HttpExchange, type WireCall } from './http-exchange.js';
import { outcomeOf } from './outcome.js';
import { type BatchAnswer, type RpcCall, type RpcResult } from './rpc-call.js';
import { type RpcObserver } from './rpc-observer.js';
import { rpcSpan } from './rpc-span.js';

export interface RpcEndpointOptions {
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly nowMs: () => number;
  readonly observer: RpcObserver;
}

/** Calls in one batch to begin with: what geth, Alchemy and Ankr take. */
const FIRST_BATCH_LIMIT = 1000;
/** Limits seen in the field, tried one after the other where a node does not name its own. */
const STEPS = [500, 100, 50, 20, 10, 5, 3, 2];
/** The logs and the header that vouches for them need one batch of two. */
const SMALLEST_BATCH = 2;
const LANES = 3;

/** One node, or one provider: sends batches, and learns how large they may be. */
export class RpcEndpoint {
  private readonly exchange: HttpExchange;
  private readonly secrets: readonly string[];
  private batchLimit = FIRST_BATCH_LIMIT;
  private nextId = 1;

  constructor(
    url: URL,
    /** Host and ordinal, without anything secret. */
    readonly name: string,
    private readonly options: RpcEndpointOptions,
  ) {
    this.secrets = secretsOf(url);
    const { timeoutMs, maxResponseBytes, nowMs } = options;
    this.exchange = new HttpExchange({
      url: url.href,
      endpoint: name,
      secrets: this.secrets,
      timeoutMs,
      maxResponseBytes,
      nowMs,
    });
  }

  /**
   * Sends the calls in one batch request, or in several where the endpoint takes fewer; the first two calls always share one.
   * An error of a single call is part of the answer, an error of a request is thrown.
   */
  async batch(calls: readonly RpcCall[], signal?: AbortSignal): Promise<BatchAnswer> {
    if (calls.length === 0) return { results: [], bytes: 0 };
    for (;;) {
      const limit = this.batchLimit;
      try {
        return await this.inParts(calls, limit, signal);
      } catch (error) {
        if (!(error instanceof BatchTooLargeError)) throw error;
        this.lowerLimit(error, Math.min(limit, calls.length));
      }
    }
  }

  private async inParts(
    calls: readonly RpcCall[],
    limit: number,
    signal: AbortSignal | undefined,
  ): Promise<BatchAnswer> {
    if (calls.length <= limit) return this.send(calls, signal);
    const parts: (readonly RpcCall[])[] = [];
    for (let at = 0; at < calls.length; at += limit) parts.push(calls.slice(at, at + limit));
    const answers = new Array<BatchAnswer>(parts.length);
    const remaining = parts.entries();
    const lane = async (): Promise<void> => {
      for (const [index, part] of remaining) answers[index] = await this.send(part, signal);
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    return {
      results: answers.flatMap((answer) => answer.results),
      bytes: answers.reduce((sum, answer) => sum + answer.bytes, 0),
    };
  }

  private lowerLimit(error: BatchTooLargeError, sent: number): void {
    if (this.batchLimit < sent) return;
    const named = error.limit !== undefined && error.limit < sent ? error.limit : undefined;
    const next = named ?? STEPS.find((step) => step < sent) ?? 1;
    if (next < SMALLEST_BATCH) {
      throw new RpcRefusedError(
        'takes no batch requests, and logs can only be vouched for together with a header; use another endpoint',
        { endpoint: this.name },
      );
    }
    this.batchLimit = next;
  }

  private send(calls: readonly RpcCall[], signal: AbortSignal | undefined): Promise<BatchAnswer> {
    return inChildSpan(rpcSpan(this.name, calls), (span) => this.sendNow(calls, signal, span));
  }

  private async sendNow(
    calls: readonly RpcCall[],
    signal: AbortSignal | undefined,
    span: OpenSpan,
  ): Promise<BatchAnswer> {
    const started = performance.now();
    let outcome = 'ok';
    let bytes = 0;
    try {
      const wire: WireCall[] = calls.map(({ method, params }) => ({
        id: this.nextId++,
        method,
        params,
      }));
      const answer = await this.exchange.send(wire, signal);
      bytes = answer.bytes;
      const results = matchAnswers(wire, answer, { endpoint: this.name, secrets: this.secrets });
      outcome = outcomeOfResults(results);
      return { results, bytes };
    } catch (error) {
      outcome = outcomeOf(error);
      throw error;
    } finally {
      span.note({ 'lowmark.outcome': outcome });
      this.options.observer.request({
        endpoint: this.name,
        method: calls[0]?.method ?? 'none',
        outcome,
        seconds: (performance.now() - started) / 1000,
        bytes,
      });
    }
  }
}

function outcomeOfResults(results: readonly RpcResult[]): string {
  const failed = results.find((result) => !result.ok);
  return failed ? outcomeOf(failed.error) : 'ok';
}
