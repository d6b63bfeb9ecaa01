import { Counter, Histogram, type Registry } from 'prom-client';
import { type Clock, type Logger, systemClock } from '#libs/platform';
import { RpcTrouble } from './rpc-trouble.js';

/** What is observed of a pool of RPC endpoints; see `RpcObserver` of libs/chain. */
export interface RpcEvents {
  request(event: {
    readonly endpoint: string;
    readonly method: string;
    readonly outcome: string;
    readonly reason?: string;
    readonly httpStatus?: number;
    readonly seconds: number;
    readonly callOutcomes: readonly {
      readonly method: string;
      readonly outcome: string;
      readonly calls: number;
      readonly computeUnits: number;
    }[];
  }): void;
  warning(event: {
    readonly endpoint: string;
    readonly code: string;
    readonly message: string;
  }): void;
  waiting(event: {
    readonly endpoint: string;
    readonly message: string;
    readonly waitMs: number;
    readonly forMs: number;
  }): void;
}

/** Outcomes that say that the endpoint does not work; others are answers, if not the hoped-for ones. */
const FAULTS = new Set(['malformed_answer', 'rate_limited', 'refused', 'timeout', 'transport']);

/** Turns what the endpoints do into metrics, and what an operator should know into log lines. Once per registry, for all pools. */
export function observeRpc(
  registry: Registry,
  logger: Logger,
  clock: Clock = systemClock,
): RpcEvents {
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
