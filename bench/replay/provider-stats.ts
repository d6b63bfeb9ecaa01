/** Counts what a simulated provider was asked and what it answered. */
import { priceOf } from './budget-meter.js';

export interface MethodCount {
  /** All calls that arrived. */
  readonly calls: number;
  /** Calls that were refused because of the traffic, or lost: 429, 503, an outage, rubbish. */
  readonly refused: number;
  /** Calls that were answered with another error: a cap, an unknown method, a revert. */
  readonly failed: number;
}

export interface ProviderStats {
  readonly requests: number;
  readonly refusedRequests: number;
  /** Requests that ask only for the newest, safe or finalised block, or for the chain id. */
  readonly headPolls: number;
  /** Calls that repeat an answered call with the same parameters. Head polls do not count. */
  readonly repeatedCalls: number;
  readonly byMethod: Readonly<Record<string, MethodCount>>;
  /** Compute units of the calls that were not refused. */
  readonly computeUnits: number;
  readonly bytesOut: number;
  /** Requests that arrived and are not yet answered completely. */
  readonly inFlight: number;
  readonly mostInFlight: number;
  readonly largestBatch: number;
  /** Unix time in milliseconds, by the clock of the process; undefined before the first request. */
  readonly firstRequestAtMs: number | undefined;
}

export interface ReplayCall {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

export type CallOutcome = 'answered' | 'refused' | 'failed';

const HEAD_TAGS: readonly unknown[] = ['latest', 'safe', 'finalized', 'pending'];

export class StatsKeeper {
  private readonly methods = new Map<string, { calls: number; refused: number; failed: number }>();
  private readonly asked = new Set<string>();
  private requests = 0;
  private refusedRequests = 0;
  private headPolls = 0;
  private repeatedCalls = 0;
  private computeUnits = 0;
  private bytesOut = 0;
  private inFlight = 0;
  private mostInFlight = 0;
  private largestBatch = 0;
  private firstRequestAtMs: number | undefined;

  /** @param tracksRepeats whether to remember every call, which takes memory */
  constructor(private readonly tracksRepeats: boolean) {}

  began(): void {
    this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight);
  }

  arrived(calls: readonly ReplayCall[]): void {
    this.requests++;
    this.firstRequestAtMs ??= performance.timeOrigin + performance.now();
    this.largestBatch = Math.max(this.largestBatch, calls.length);
    if (calls.every(isHeadPoll)) this.headPolls++;
  }

  call(call: ReplayCall, outcome: CallOutcome): void {
    const known = this.methods.get(call.method) ?? { calls: 0, refused: 0, failed: 0 };
    this.methods.set(call.method, known);
    known.calls++;
    if (outcome === 'refused') {
      known.refused++;
      return;
    }
    this.computeUnits += priceOf(call.method);
    if (outcome === 'failed') known.failed++;
    else if (this.tracksRepeats && !isHeadPoll(call)) this.remember(call);
  }

  refused(calls: readonly ReplayCall[]): void {
    this.refusedRequests++;
    for (const call of calls) this.call(call, 'refused');
  }

  sent(bytes: number): void {
    this.bytesOut += bytes;
  }

  ended(): void {
    this.inFlight--;
  }

  read(): ProviderStats {
    const { requests, refusedRequests, headPolls, repeatedCalls, computeUnits } = this;
    const { bytesOut, inFlight, mostInFlight, largestBatch, firstRequestAtMs } = this;
    const byMethod = Object.fromEntries(
      [...this.methods].map(([method, counts]) => [method, { ...counts }]),
    );
    return {
      ...{ requests, refusedRequests, headPolls, repeatedCalls, byMethod },
      ...{ computeUnits, bytesOut, inFlight, mostInFlight, largestBatch, firstRequestAtMs },
    };
  }

  /** Resets all counters but the number of requests in flight. */
  reset(): void {
    this.methods.clear();
    this.asked.clear();
    this.requests = this.refusedRequests = this.headPolls = this.repeatedCalls = 0;
    this.computeUnits = this.bytesOut = this.largestBatch = 0;
    this.mostInFlight = this.inFlight;
    this.firstRequestAtMs = undefined;
  }

  private remember({ method, params }: ReplayCall): void {
    const question = `${method} ${JSON.stringify(params)}`;
    if (this.asked.has(question)) this.repeatedCalls++;
    else this.asked.add(question);
  }
}

function isHeadPoll({ method, params }: ReplayCall): boolean {
  if (method === 'eth_blockNumber' || method === 'eth_chainId') return true;
  return method === 'eth_getBlockByNumber' && HEAD_TAGS.includes(params[0]);
}
