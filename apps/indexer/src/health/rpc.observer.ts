import { type RpcObserver } from '#libs/chain';
import { Counter, Histogram, type Logger, type Registry } from '#libs/platform';

/** Turns what the endpoints do into metrics, and what an operator should know into log lines. */
export function observeRpc(registry: Registry, logger: Logger): RpcObserver {
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
