import { Counter, Histogram, type Registry } from 'prom-client';
import { type Logger } from '../logger/logger.js';

/** What is observed of a pool of RPC endpoints; see `RpcObserver` of libs/chain. */
export interface RpcEvents {
  request(event: {
    readonly endpoint: string;
    readonly method: string;
    readonly outcome: string;
    readonly seconds: number;
  }): void;
  warning(event: {
    readonly endpoint: string;
    readonly code: string;
    readonly message: string;
  }): void;
}

/** Turns what the endpoints do into metrics, and what an operator should know into log lines. Once per registry, for all pools. */
export function observeRpc(registry: Registry, logger: Logger): RpcEvents {
  const requests = new Counter({
    name: 'lowmark_rpc_requests_total',
    help: 'JSON-RPC requests by endpoint, first method and outcome',
    labelNames: ['endpoint', 'method', 'outcome'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'lowmark_rpc_request_seconds',
    help: 'Time of a JSON-RPC request with its body',
    labelNames: ['endpoint'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  return {
    request({ endpoint, method, outcome, seconds: took }) {
      requests.inc({ endpoint, method, outcome });
      seconds.observe({ endpoint }, took);
    },
    warning({ endpoint, code, message }) {
      logger.warn({ endpoint, code }, message);
    },
  };
}
