/** The pool over real sockets, against nodes that answer from a table. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Fault, FakeClock, type FaultyNode, NodeError, startFaultyNode } from '#libs/testing';
import {
  AllEndpointsFailedError,
  ChainMismatchError,
  RangeTooLargeError,
  type RpcError,
} from '../errors/rpc.errors.js';
import { type BatchAnswer, type RpcCall, valueOf } from './rpc-call.js';
import { type RpcRequestEvent, type RpcWarning } from './rpc-observer.js';
import { RpcPool, type RpcPoolOptions } from './rpc-pool.js';

const CHAIN_ID = { method: 'eth_chainId', params: [] };
const LOGS = { method: 'eth_getLogs', params: [{ fromBlock: '0x1', toBlock: '0x64' }] };

describe('RpcPool', () => {
  let nodes: FaultyNode[];
  let clock: FakeClock;
  let requests: RpcRequestEvent[];
  let warnings: RpcWarning[];
  let slept: number[];

  beforeEach(async () => {
    clock = new FakeClock(Date.UTC(2026, 0, 1));
    [requests, warnings, slept] = [[], [], []];
    const upstream = ({ method, params }: RpcCall): unknown => {
      if (method === 'eth_chainId') return '0x7';
      if (method === 'echo') return params[0];
      if (method === 'eth_getLogs') return [];
      throw new NodeError(-32601, `the method ${method} does not exist`);
    };
    nodes = await Promise.all([1, 2].map(() => startFaultyNode({ upstream })));
  });

  afterEach(async () => {
    await Promise.all(nodes.map((node) => node.close()));
  });

  function aPool(options: Partial<RpcPoolOptions> = {}): RpcPool {
    return new RpcPool({
      urls: nodes.map((node) => `${node.url}/v3/an-api-key-0123`),
      clock,
      observer: {
        request: (event) => requests.push(event),
        warning: (event) => warnings.push(event),
      },
      random: () => 0,
      timeoutMs: 1500,
      sleep: (ms) => {
        slept.push(ms);
        clock.advance(ms);
        return Promise.resolve();
      },
      ...options,
    });
  }

  const ask = (
    pool: RpcPool,
    ...calls: RpcCall[]
  ): Promise<{ endpoint: string; answer: BatchAnswer }> =>
    pool.run(async (session) => ({
      endpoint: session.endpoint,
      answer: await session.batch(calls.length > 0 ? calls : [CHAIN_ID]),
    }));

  async function failureOf(fault: Fault, ...calls: RpcCall[]): Promise<RpcError> {
    const [node] = nodes as [FaultyNode];
    node.fault = fault;
    const pool = aPool({ urls: [`${node.url}/v3/an-api-key-0123`] });
    const error = await ask(pool, ...calls).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(String(error)).not.toContain('api-key');
    if (error instanceof AllEndpointsFailedError) return error.failures[0] as RpcError;
    return error as RpcError;
  }

  it('names endpoints by host and place only', () => {
    expect(aPool().endpoints).toEqual(
      nodes.map((node, index) => `${new URL(node.url).host}#${index + 1}`),
    );
    expect(() => aPool({ urls: ['http://a', 'secret-without-scheme'] })).toThrow(
      /^RPC_URLS: entry 2 is not an http or https URL\.$/,
    );
  });

  it('puts answers in the order of the calls, whatever order they come in', async () => {
    const [node] = nodes as [FaultyNode];
    node.fault = { kind: 'out-of-order' };
    const calls = ['a', 'b', 'c'].map((text) => ({ method: 'echo', params: [text] }));
    const { answer } = await ask(aPool(), ...calls);
    expect(answer.results.map(valueOf)).toEqual(['a', 'b', 'c']);
    expect(node.requests.at(-1)?.faults).toEqual(['out-of-order']);
    expect(answer.bytes).toBeGreaterThan(100);
  });

  it.each<[string, Fault, string, object]>([
    ['never answers', { kind: 'never-answers' }, 'RPC_TIMEOUT', { sizeMayExplain: true }],
    ['trickles a byte a second', { kind: 'trickle' }, 'RPC_TIMEOUT', { sizeMayExplain: true }],
    ['resets', { kind: 'reset' }, 'RPC_TRANSPORT', { sizeMayExplain: true }],
    ['answers 503', { kind: 'status', status: 503 }, 'RPC_TRANSPORT', { sizeMayExplain: true }],
    ['answers 504', { kind: 'status', status: 504 }, 'RPC_TIMEOUT', {}],
    ['answers 401', { kind: 'status', status: 401 }, 'RPC_REFUSED', { rpcCode: 401 }],
    [
      'answers 429',
      { kind: 'status', status: 429, retryAfter: 3 },
      'RPC_RATE_LIMITED',
      { retryAfterMs: 3000 },
    ],
    [
      'answers 429 with a date',
      { kind: 'status', status: 429, retryAfter: 'Thu, 01 Jan 2026 00:00:09 GMT' },
      'RPC_RATE_LIMITED',
      { retryAfterMs: 9000 },
    ],
    [
      'answers 429 in JSON-RPC',
      {
        kind: 'status',
        status: 429,
        retryAfter: 2,
        body: '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"slow down"}}',
      },
      'RPC_RATE_LIMITED',
      { retryAfterMs: 2000 },
    ],
    ['redirects', { kind: 'status', status: 302 }, 'RPC_TRANSPORT', {}],
    ['answers in broken JSON', { kind: 'wrong-json' }, 'RPC_MALFORMED_ANSWER', {}],
    ['answers a web page', { kind: 'html' }, 'RPC_MALFORMED_ANSWER', {}],
    ['answers nothing', { kind: 'empty-body' }, 'RPC_MALFORMED_ANSWER', {}],
    ['breaks off', { kind: 'truncated-body' }, 'RPC_TRANSPORT', { sizeMayExplain: true }],
    ['leaves out an answer', { kind: 'missing-answer' }, 'RPC_MALFORMED_ANSWER', {}],
    ['answers something else', { kind: 'wrong-ids' }, 'RPC_MALFORMED_ANSWER', {}],
    [
      'answers a batch with one error',
      { kind: 'single-error', code: -32000, message: 'header not found' },
      'RPC_NODE_BEHIND',
      {},
    ],
  ])('knows what is wrong with a node that %s', async (_case, fault, code, more) => {
    const failure = await failureOf(fault, LOGS, CHAIN_ID);
    expect(failure).toMatchObject({ code, retryable: true, ...more });
    expect(requests.at(-1)).toMatchObject({
      method: 'eth_getLogs',
      outcome: code.slice(4).toLowerCase(),
    });
  });

  it('takes a refused connection for what it is', async () => {
    const [node] = nodes as [FaultyNode];
    const pool = aPool({ urls: [node.url] });
    await node.close();
    await expect(ask(pool)).rejects.toMatchObject({
      failures: [
        {
          code: 'RPC_TRANSPORT',
          sizeMayExplain: false,
          message: expect.stringContaining('ECONNREFUSED'),
        },
      ],
    });
  });

  it.each<[string, Fault]>([
    ['a body over the limit', { kind: 'oversized-body', bytes: 200_000 }],
    ['HTTP 413', { kind: 'status', status: 413 }],
    ['a refused range', { kind: 'range-limit', blocks: 10 }],
  ])('gives %s to the caller, without blaming the endpoint', async (_case, fault) => {
    const [first] = nodes as [FaultyNode];
    first.fault = fault;
    const pool = aPool({ maxResponseBytes: 100_000 });
    const asked = pool.run(async (session) => valueOf((await session.batch([LOGS])).results[0]));
    await expect(asked).rejects.toBeInstanceOf(RangeTooLargeError);
    first.fault = undefined;
    expect((await ask(pool)).endpoint).toBe(pool.endpoints[0]);
  });

  it('learns how large a batch may be and splits what is larger, the first two calls together', async () => {
    const [node] = nodes as [FaultyNode];
    for (const style of ['geth', 'object'] as const) {
      node.fault = { kind: 'batch-limit', limit: 3, style };
      const pool = aPool({ urls: [node.url] });
      const calls = Array.from({ length: 8 }, (_, index) => ({ method: 'echo', params: [index] }));
      expect((await ask(pool, ...calls)).answer.results.map(valueOf)).toEqual([
        0, 1, 2, 3, 4, 5, 6, 7,
      ]);
      const before = node.requests.length;
      await ask(pool, ...calls);
      const sizes = node.requests.slice(before).map((request) => request.calls.length);
      expect(sizes.sort()).toEqual([2, 3, 3]);
    }
    node.fault = { kind: 'batch-limit', limit: 1 };
    await expect(ask(aPool({ urls: [node.url] }), CHAIN_ID, CHAIN_ID)).rejects.toThrow(
      /takes no batch requests/,
    );
  });

  it('goes on to the next endpoint, and comes back to the first when its time is up', async () => {
    const [first] = nodes as [FaultyNode];
    const pool = aPool();
    const [one, two] = pool.endpoints;
    first.fault = { kind: 'status', status: 500 };
    expect((await ask(pool)).endpoint).toBe(two);
    expect((await ask(pool)).endpoint).toBe(two);
    expect(first.requests).toHaveLength(1);
    clock.advance(250);
    expect((await ask(pool)).endpoint).toBe(two);
    expect(first.requests).toHaveLength(2);
    first.fault = undefined;
    clock.advance(499);
    expect((await ask(pool)).endpoint).toBe(two);
    clock.advance(1);
    expect((await ask(pool)).endpoint).toBe(one);
  });

  it('tries every endpoint before it gives up, and waits before it asks again', async () => {
    for (const node of nodes) node.fault = { kind: 'status', status: 500 };
    const pool = aPool();
    await expect(ask(pool)).rejects.toMatchObject({
      code: 'RPC_ALL_ENDPOINTS_FAILED',
      retryable: true,
      retryAfterMs: 250,
    });
    expect(nodes.map((node) => node.requests.length)).toEqual([1, 1]);
    for (const node of nodes) node.fault = undefined;
    expect((await ask(pool)).endpoint).toBe(pool.endpoints[0]);
    expect(slept).toEqual([250]);
  });

  it('does not ask before Retry-After has passed', async () => {
    const [node] = nodes as [FaultyNode];
    node.fault = { kind: 'status', status: 429, retryAfter: 60, times: 1 };
    const pool = aPool({ urls: [node.url] });
    await expect(ask(pool)).rejects.toMatchObject({ retryAfterMs: 60_000 });
    clock.advance(20_000);
    await expect(ask(pool)).rejects.toMatchObject({ retryAfterMs: 40_000, failures: [] });
    expect(node.requests).toHaveLength(1);
    clock.advance(40_000);
    expect((await ask(pool)).endpoint).toBe(pool.endpoints[0]);
  });

  it('avoids endpoints on demand', async () => {
    const pool = aPool();
    const avoid = [pool.endpoints[0] as string];
    const run = pool.run((session) => Promise.resolve(session.endpoint), { avoid });
    expect(await run).toBe(pool.endpoints[1]);
    await expect(
      pool.run(() => Promise.resolve(1), { avoid: pool.endpoints }),
    ).rejects.toBeInstanceOf(AllEndpointsFailedError);
  });

  it('ends with the reason of the caller’s signal, and blames nobody', async () => {
    const [first] = nodes as [FaultyNode];
    first.fault = { kind: 'never-answers' };
    const pool = aPool({ timeoutMs: 60_000 });
    const abort = new AbortController();
    const asked = pool.run((session) => session.batch([CHAIN_ID]), { signal: abort.signal });
    setTimeout(() => {
      abort.abort(new Error('enough'));
    }, 50);
    await expect(asked).rejects.toThrow('enough');
    first.fault = undefined;
    expect((await ask(pool)).endpoint).toBe(pool.endpoints[0]);
  });

  describe('chain ids', () => {
    it('must agree at every endpoint', async () => {
      await expect(aPool().verifyChainId(7)).resolves.toBeUndefined();
      const [, second] = nodes as [FaultyNode, FaultyNode];
      second.fault = { kind: 'chain-id', chainId: 8 };
      const pool = aPool();
      await expect(pool.verifyChainId(7)).rejects.toThrow(
        new ChainMismatchError(pool.endpoints[1] as string, 7, 8).message,
      );
      await expect(pool.verifyChainId(7)).rejects.toMatchObject({ retryable: false });
    });

    it('are asked later of an endpoint that is down at the start', async () => {
      const [first] = nodes as [FaultyNode];
      first.fault = { kind: 'status', status: 500 };
      const pool = aPool();
      await pool.verifyChainId(7);
      first.fault = { kind: 'chain-id', chainId: 8 };
      clock.advance(1000);
      expect((await ask(pool, { method: 'echo', params: ['x'] })).endpoint).toBe(pool.endpoints[1]);
      expect(warnings).toMatchObject([{ endpoint: pool.endpoints[0], code: 'RPC_CHAIN_MISMATCH' }]);
      first.fault = undefined;
      expect((await ask(pool)).endpoint).toBe(pool.endpoints[1]);
      expect(first.count('echo')).toBe(0);
    });

    it('cannot be verified where nobody answers', async () => {
      for (const node of nodes) node.fault = { kind: 'reset' };
      await expect(aPool().verifyChainId(7)).rejects.toBeInstanceOf(AllEndpointsFailedError);
    });
  });
});
