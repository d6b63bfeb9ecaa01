import { type SpanStart } from '#libs/platform';
import { type RpcCall } from './rpc-call.js';

/**
 * The span of one request to an endpoint. Nothing of its URL but the end of the host, since providers put keys into all the rest, and nothing of
 * what is asked but the method.
 * @param endpoint its name: the end of the host, and the place in the list
 */
export function rpcSpan(endpoint: string, calls: readonly RpcCall[]): SpanStart {
  const method = calls[0]?.method ?? 'none';
  return {
    name: method,
    kind: 'client',
    attributes: {
      'rpc.system.name': 'jsonrpc',
      'rpc.method': method,
      'server.address': endpoint.replace(/(?::\d+)?#\d+$/, ''),
      'lowmark.endpoint': endpoint,
      'lowmark.calls': calls.length,
    },
  };
}
