import { Counter, Histogram, type Registry } from 'prom-client';
import { type RpcObserver } from '#libs/chain';
import { type Clock, type Logger, systemClock } from '#libs/platform';

/** Outcomes that are a fault of the endpoint. All other outcomes are answers, including undesired ones. */
const FAULTS = new Set(['malformed_answer', 'rate_limited', 'refused', 'timeout', 'transport']);

/**
 * Records the events of the endpoints as metrics, and logs the events that an operator needs to know. Call it once per
 * registry, for all pools.
 */
export function observeRpc(
  registry: Registry,
  logger: Logger,
  clock: Clock = systemClock,
): Required<RpcObserver> {
  const counters = rpcCounters(registry);
  const seconds = new Histogram({
    name: 'lowmark_rpc_request_seconds',
    help: 'Time of a JSON-RPC request with its body',
    labelNames: ['endpoint'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  const trouble = new RpcTrouble(logger, clock);
  return {
    request({ endpoint, method, outcome, reason, httpStatus, seconds: took, callOutcomes }) {
      counters.requests.inc({ endpoint, method, outcome });
      seconds.observe({ endpoint }, took);
      for (const { computeUnits, calls, ...labels } of callOutcomes) {
        counters.calls.inc({ endpoint, method: labels.method, outcome: labels.outcome }, calls);
        counters.computeUnits.inc({ endpoint }, computeUnits);
      }
      if (FAULTS.has(outcome)) trouble.failed(endpoint, { outcome, httpStatus, reason });
      else if (outcome !== 'aborted') trouble.succeeded(endpoint);
    },
    warning({ endpoint, code, message }) {
      logger.warn({ endpoint, code }, message);
    },
    waiting({ endpoint, message, forMs }) {
      trouble.waiting(endpoint, message, forMs);
    },
  };
}

function rpcCounters(registry: Registry): Record<'requests' | 'calls' | 'computeUnits', Counter> {
  const registers = [registry];
  return {
    requests: new Counter({
      name: 'lowmark_rpc_requests_total',
      help: 'JSON-RPC requests by endpoint, first method and outcome',
      labelNames: ['endpoint', 'method', 'outcome'],
      registers,
    }),
    calls: new Counter({
      name: 'lowmark_rpc_calls_total',
      help: 'JSON-RPC calls by endpoint, method and outcome; a batch is one request with several calls',
      labelNames: ['endpoint', 'method', 'outcome'],
      registers,
    }),
    computeUnits: new Counter({
      name: 'lowmark_rpc_compute_units_total',
      help: 'What the answered calls cost by the common price lists, in compute units',
      labelNames: ['endpoint'],
      registers,
    }),
  };
}

/** Consecutive failures with which an endpoint's trouble begins, and consecutive successes with which it ends. */
const FAILURES_TO_BEGIN = 3;
const SUCCESSES_TO_END = 10;
/** A success at least this long after the last failure also ends the trouble. */
const QUIET_MS = 10_000;
const A_LINE_EVERY_MS = 60_000;

interface RpcFailure {
  readonly outcome: string;
  readonly httpStatus?: number | undefined;
  readonly reason?: string | undefined;
}

interface Trouble {
  failuresInARow: number;
  successesInARow: number;
  /** Failures since the last log line. */
  failures: number;
  lastFailureMs: number;
  lastLineMs: number;
  isIn: boolean;
  isSaid: boolean;
}

/** Logs trouble of an endpoint: at most once a minute while it lasts, and once when the endpoint is healthy again. */
class RpcTrouble {
  private readonly endpoints = new Map<string, Trouble>();

  constructor(
    private readonly logger: Logger,
    private readonly clock: Clock,
  ) {}

  failed(endpoint: string, failure: RpcFailure): void {
    const trouble = this.of(endpoint);
    trouble.failures++;
    trouble.failuresInARow++;
    trouble.successesInARow = 0;
    trouble.lastFailureMs = this.clock.nowMs();
    trouble.isIn ||= trouble.failuresInARow >= FAILURES_TO_BEGIN;
    if (trouble.isIn) this.say(endpoint, failure, 'An RPC endpoint fails');
  }

  waiting(endpoint: string, message: string, forMs: number): void {
    this.of(endpoint).isIn = true;
    const waitingSeconds = Math.round(forMs / 1000);
    this.say(endpoint, { waitingSeconds }, `Waiting for an RPC endpoint: ${message}`);
  }

  succeeded(endpoint: string): void {
    const trouble = this.endpoints.get(endpoint);
    if (!trouble) return;
    trouble.failuresInARow = 0;
    trouble.successesInARow++;
    if (!trouble.isIn) return;
    const isQuiet = this.clock.nowMs() - trouble.lastFailureMs >= QUIET_MS;
    if (trouble.successesInARow < SUCCESSES_TO_END && !isQuiet) return;
    if (trouble.isSaid) this.logger.info({ endpoint }, 'The RPC endpoint is well again');
    trouble.isIn = false;
    trouble.isSaid = false;
    trouble.failures = 0;
  }

  private say(endpoint: string, fields: object, message: string): void {
    const trouble = this.of(endpoint);
    const nowMs = this.clock.nowMs();
    if (nowMs - trouble.lastLineMs < A_LINE_EVERY_MS) return;
    this.logger.warn({ endpoint, failures: trouble.failures, ...fields }, message);
    trouble.lastLineMs = nowMs;
    trouble.failures = 0;
    trouble.isSaid = true;
  }

  private of(endpoint: string): Trouble {
    const known = this.endpoints.get(endpoint);
    if (known) return known;
    const trouble = {
      failuresInARow: 0,
      successesInARow: 0,
      failures: 0,
      lastFailureMs: -Infinity,
      lastLineMs: -Infinity,
      isIn: false,
      isSaid: false,
    };
    this.endpoints.set(endpoint, trouble);
    return trouble;
  }
}
