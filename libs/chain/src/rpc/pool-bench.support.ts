/** Nodes that answer from a table, and pools over these nodes in simulated time: a sleep advances the clock. */
import { FakeClock } from '#libs/testing/clock';
import { type Fault, type FaultyNode, NodeError, startFaultyNode } from '#libs/testing/fake-node';
import { AllEndpointsFailedError, type RpcError } from './rpc.errors.js';
import { type BatchAnswer, type RpcCall } from './rpc-call.js';
import { type RpcRequestEvent, type RpcWaiting, type RpcWarning } from './rpc-observer.js';
import { RpcPool, type RpcPoolOptions, type RunOptions } from './rpc-pool.js';

export const CHAIN_ID = { method: 'eth_chainId', params: [] };
export const LOGS = {
  method: 'eth_getLogs',
  params: [{ fromBlock: '0x1', toBlock: '0x64' }],
};
export const KEY = 'an-api-key-0123';

export function echo(value: unknown): RpcCall {
  return { method: 'echo', params: [value] };
}

export class PoolBench {
  readonly clock = new FakeClock(Date.UTC(2026, 0, 1));
  readonly requests: RpcRequestEvent[] = [];
  readonly warnings: RpcWarning[] = [];
  readonly waitings: RpcWaiting[] = [];
  readonly slept: number[] = [];

  private constructor(readonly nodes: readonly FaultyNode[]) {}

  static async start(count = 2): Promise<PoolBench> {
    const upstream = ({ method, params }: RpcCall): unknown => {
      if (method === 'eth_chainId') return '0x7';
      if (method === 'echo') return params[0];
      if (method === 'eth_getLogs') return [];
      throw new NodeError(-32601, `the method ${method} does not exist`);
    };
    return new PoolBench(
      await Promise.all(Array.from({ length: count }, () => startFaultyNode({ upstream }))),
    );
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.close()));
  }

  get first(): FaultyNode {
    return this.nodes[0] as FaultyNode;
  }

  get second(): FaultyNode {
    return this.nodes[1] as FaultyNode;
  }

  /** A pool over all nodes; with `nodes: 1` over the first one only. */
  pool({ nodes, ...options }: Partial<RpcPoolOptions> & { readonly nodes?: number } = {}): RpcPool {
    const chosen = options.urls ? [] : this.nodes.slice(0, nodes);
    return new RpcPool({
      urls: chosen.map((node) => `${node.url}/v3/${KEY}`),
      clock: this.clock,
      observer: {
        request: (event) => this.requests.push(event),
        warning: (event) => this.warnings.push(event),
        waiting: (event) => this.waitings.push(event),
      },
      random: () => 0,
      timeoutMs: 1500,
      sleep: (ms, signal) => {
        signal?.throwIfAborted();
        this.slept.push(ms);
        this.clock.advance(ms);
        return Promise.resolve();
      },
      ...options,
    });
  }

  /** The error of the calls at the first node, asked alone and with this fault. */
  async failureOf(fault: Fault, options: RunOptions, ...calls: RpcCall[]): Promise<RpcError> {
    this.first.fault = fault;
    const error = await ask(this.pool({ nodes: 1 }), calls, options).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error instanceof AllEndpointsFailedError) return error.failures[0] as RpcError;
    return error as RpcError;
  }
}

export function ask(
  pool: RpcPool,
  calls: readonly RpcCall[] = [CHAIN_ID],
  options: RunOptions = {},
): Promise<{ endpoint: string; answer: BatchAnswer }> {
  return pool.run(
    async (session) => ({ endpoint: session.endpoint, answer: await session.batch(calls) }),
    options,
  );
}
