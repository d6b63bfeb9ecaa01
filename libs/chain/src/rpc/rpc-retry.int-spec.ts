/** What the pool does with requests that fail, over real sockets and in simulated time. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Fault, type NodeCall } from '#libs/testing/fake-node';
import { AllEndpointsFailedError } from './rpc.errors.js';
import { ask, CHAIN_ID, echo, LOGS, PoolBench } from './pool-bench.support.js';
import { valueOf } from './rpc-call.js';

const HEADER = echo('the header');
const isFor =
  (...values: unknown[]) =>
  (call: NodeCall): boolean =>
    values.includes(call.params[0]);

describe('a request that fails', () => {
  let bench: PoolBench;

  beforeEach(async () => {
    bench = await PoolBench.start();
  });

  afterEach(() => bench.stop());

  /** The first parameter of each call, for each request to the first node. */
  const asked = (): unknown[][] =>
    bench.first.requests.map(({ calls }) => calls.map(({ params }) => params[0]));

  // One fault of each kind; rpc-pool.int-spec.ts says which others are of the same kind.
  it.each<[string, Fault]>([
    ['a reset', { kind: 'reset' }],
    ['503', { kind: 'status', status: 503 }],
    ['429', { kind: 'status', status: 429 }],
    ['a silent socket', { kind: 'never-answers' }],
    ['a web page with status 200', { kind: 'html' }],
    ['half a body', { kind: 'truncated-body' }],
    ['a missing answer', { kind: 'missing-answer' }],
    ['an error in place of the list', { kind: 'single-error', code: -32005, message: 'slow down' }],
    ['an answer of 200 MB', { kind: 'flood', bytes: 200 * 2 ** 20, sent: { bytes: 0 } }],
  ])('with %s is sent once more, and nothing else', async (_case, fault) => {
    bench.first.fault = { ...fault, times: 1 };
    const pool = bench.pool({ nodes: 1, timeoutMs: 1000, maxResponseBytes: 2 ** 20 });
    const { answer } = await ask(pool, [HEADER, echo(2)]);
    expect(answer.results.map(valueOf)).toEqual(['the header', 2]);
    expect(bench.first.requests).toHaveLength(2);
  });

  it('ends an answer that is too large before it is sent, and asks for less where the range explains it', async () => {
    const sent = { bytes: 0 };
    bench.first.fault = { kind: 'flood', bytes: 200 * 2 ** 20, sent };
    const pool = bench.pool({ nodes: 1, timeoutMs: 30_000, maxResponseBytes: 4 * 2 ** 20 });
    await expect(ask(pool, [LOGS, HEADER])).rejects.toMatchObject({
      code: 'RPC_RANGE_TOO_LARGE',
    });
    expect(bench.first.requests).toHaveLength(1);
    expect(sent.bytes).toBeLessThan(100 * 2 ** 20);
  });

  it('keeps what arrived and asks only for the calls that failed', async () => {
    const only = isFor(3, 5);
    const busy = { code: -32005, message: 'rate limit exceeded' };
    bench.first.fault = { kind: 'error', method: 'echo', ...busy, only, times: 2 };
    const calls = [0, 1, 2, 3, 4, 5].map(echo);
    const { answer } = await ask(bench.pool({ nodes: 1 }), calls);
    expect(answer.results.map(valueOf)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(asked()).toEqual([
      [0, 1, 2, 3, 4, 5],
      [3, 5],
      [3, 5],
    ]);
  });

  it.each([
    ['the logs', isFor(LOGS.params[0]), 'eth_getLogs'],
    ['their header', isFor('the header'), 'echo'],
  ])('repeats both where %s failed', async (_case, only, method) => {
    const busy = { code: -32005, message: 'rate limit exceeded' };
    const fault: Fault = { kind: 'error', method, ...busy, times: 1 };
    bench.first.fault = method === 'echo' ? { ...fault, only } : fault;
    const { answer } = await ask(bench.pool({ nodes: 1 }), [LOGS, HEADER, echo(2)]);
    expect(answer.results.map(valueOf)).toEqual([[], 'the header', 2]);
    expect(asked().map((values) => values.slice(1))).toEqual([['the header', 2], ['the header']]);
  });

  it('hands on at once what would be the same the next time', async () => {
    const { answer } = await ask(bench.pool({ nodes: 1 }), [
      echo(1),
      { method: 'unknown', params: [] },
    ]);
    expect(answer.results).toMatchObject([{ ok: true }, { error: { code: 'RPC_REFUSED' } }]);
    expect(bench.first.requests).toHaveLength(1);
  });

  it('waits as long as it was told to, while the others go on', async () => {
    const order: unknown[] = [];
    const told: Fault = { kind: 'status', status: 429, retryAfter: 3, times: 1 };
    bench.first.fault = { ...told, when: ([call]) => call?.params[0] === 'late' };
    const late = { resolve: (): void => undefined };
    const slept: number[] = [];
    const pool = bench.pool({
      nodes: 1,
      sleep: (ms) => {
        slept.push(ms);
        return new Promise((resolve) => {
          late.resolve = resolve;
        });
      },
    });
    const one = async (value: unknown): Promise<void> => {
      await ask(pool, [echo(value)]);
      order.push(value);
    };
    await one('before');
    const waiting = one('late');
    for (const value of ['a', 'b', 'c', 'd', 'e', 'f']) await one(value);
    expect(slept).toEqual([3000]);
    late.resolve();
    await waiting;
    expect(order).toEqual(['before', 'a', 'b', 'c', 'd', 'e', 'f', 'late']);
    expect(bench.first.requests).toHaveLength(9);
  });

  it('does not ask before Retry-After has passed where nothing else was answered', async () => {
    bench.first.fault = { kind: 'status', status: 429, retryAfter: 60, times: 1 };
    const pool = bench.pool({ nodes: 1 });
    await expect(ask(pool)).rejects.toMatchObject({ retryAfterMs: 60_000 });
    bench.clock.advance(20_000);
    await expect(ask(pool)).rejects.toMatchObject({ retryAfterMs: 40_000, failures: [] });
    expect(bench.first.requests).toHaveLength(1);
    bench.clock.advance(40_000);
    expect((await ask(pool)).endpoint).toBe(pool.endpoints[0]);
  });

  it('fails no question where one of two endpoints dies', async () => {
    const pool = bench.pool();
    await pool.verifyChainId(7);
    bench.first.fault = { kind: 'reset', when: () => bench.first.requests.length > 40 };
    const questions = Array.from({ length: 300 }, (_, index) => ask(pool, [LOGS, echo(index)]));
    await expect(Promise.all(questions)).resolves.toHaveLength(300);
    expect(bench.second.requests.length).toBeGreaterThan(200);
    expect(bench.first.requests.length).toBeLessThan(200);
  });

  it('goes on to the next endpoint after two tries, and comes back when the first does', async () => {
    const pool = bench.pool();
    const [one, two] = pool.endpoints;
    bench.first.fault = { kind: 'status', status: 503, times: 2 };
    expect((await ask(pool)).endpoint).toBe(two);
    expect(bench.first.requests).toHaveLength(2);
    bench.clock.advance(600_000);
    expect((await ask(pool)).endpoint).toBe(one);
  });

  it('goes on after two tries of each call too where a rate limit makes the batch smaller', async () => {
    const pool = bench.pool();
    bench.first.fault = { kind: 'status', status: 429 };
    const values = Array.from({ length: 24 }, (_, index) => index);
    const { endpoint, answer } = await ask(pool, values.map(echo));
    expect(endpoint).toBe(pool.endpoints[1]);
    expect(answer.results.map(valueOf)).toEqual(values);
    const tries = values.map(
      (value) =>
        asked()
          .flat()
          .filter((one) => one === value).length,
    );
    expect(Math.max(...tries)).toBe(2);
  });

  it('goes on at once where the connection is refused', async () => {
    const pool = bench.pool();
    await bench.first.close();
    expect((await ask(pool)).endpoint).toBe(pool.endpoints[1]);
    expect(bench.slept).toEqual([]);
  });

  it('waits for the first endpoint that comes back, and says so', async () => {
    const { signal } = new AbortController();
    for (const node of bench.nodes) node.fault = { kind: 'status', status: 502, times: 30 };
    const pool = bench.pool();
    const { answer } = await ask(pool, [HEADER], { patienceMs: Infinity, signal });
    expect(answer.results.map(valueOf)).toEqual(['the header']);
    expect(bench.waitings.length).toBeGreaterThan(5);
    expect(bench.waitings.at(-1)).toMatchObject({
      endpoint: expect.stringMatching(/#\d$/),
      message: expect.stringContaining('HTTP 502'),
    });
  });

  it('waits a whole hour if it must, with ever fewer requests', async () => {
    const { signal } = new AbortController();
    const until = bench.clock.nowMs() + 3_600_000;
    bench.first.fault = { kind: 'reset', when: () => bench.clock.nowMs() < until };
    const pool = bench.pool({ nodes: 1 });
    await ask(pool, [LOGS, HEADER], { patienceMs: Infinity, signal });
    expect(bench.first.requests.length).toBeLessThan(150);
    expect(bench.waitings.at(-1)?.forMs).toBeGreaterThan(3_000_000);
  });

  it('gives up too where the clock stands still', async () => {
    const sleep = (): Promise<void> => Promise.resolve();
    const pool = bench.pool({ sleep });
    for (const node of bench.nodes) await node.close();
    await expect(ask(pool)).rejects.toBeInstanceOf(AllEndpointsFailedError);
    await expect(ask(pool)).rejects.toBeInstanceOf(AllEndpointsFailedError);
  });

  it('wants a signal that ends infinite patience', async () => {
    await expect(ask(bench.pool(), [HEADER], { patienceMs: Infinity })).rejects.toThrow(TypeError);
  });

  it('gives up when patience is over, with what every endpoint said', async () => {
    for (const node of bench.nodes) node.fault = { kind: 'status', status: 500 };
    const asking = ask(bench.pool(), [HEADER]);
    await expect(asking).rejects.toMatchObject({
      code: 'RPC_ALL_ENDPOINTS_FAILED',
      retryable: true,
      failures: [{ code: 'RPC_TRANSPORT' }, { code: 'RPC_TRANSPORT' }],
    });
    const waited = bench.slept.reduce((sum, ms) => sum + ms, 0);
    expect(waited).toBeGreaterThan(2_000);
    expect(waited).toBeLessThanOrEqual(5_000);
  });

  it('without patience asks every endpoint once', async () => {
    for (const node of bench.nodes) node.fault = { kind: 'status', status: 500 };
    await expect(ask(bench.pool(), [HEADER], { patienceMs: 0 })).rejects.toBeInstanceOf(
      AllEndpointsFailedError,
    );
    expect(bench.slept).toEqual([]);
    expect(bench.nodes.map((node) => node.requests.length)).toEqual([1, 1]);
  });

  it.each<[string, Fault]>([
    ['reset', { kind: 'reset' }],
    ['answered with 500', { kind: 'status', status: 500 }],
    ['cut', { kind: 'truncated-body' }],
  ])(
    'gives a range to the caller that is %s three times, with patience left',
    async (_c, fault) => {
      const { signal } = new AbortController();
      const isRange = (calls: readonly NodeCall[]): boolean => calls[0]?.method === 'eth_getLogs';
      for (const node of bench.nodes) node.fault = { ...fault, when: isRange };
      const options = { patienceMs: Infinity, signal };
      await expect(ask(bench.pool(), [LOGS, HEADER], options)).rejects.toMatchObject({
        code: 'RPC_ALL_ENDPOINTS_FAILED',
        failures: [{ sizeMayExplain: true }, { sizeMayExplain: true }],
      });
      for (const node of bench.nodes) expect(node.count('eth_getLogs')).toBe(3);
      // One probe for each node: a single call, and the smallest batch.
      for (const node of bench.nodes) expect(node.count('eth_chainId')).toBe(3);
    },
  );

  it('asks a node that is behind a few times more', async () => {
    const { signal } = new AbortController();
    const behind: Fault = { kind: 'error', method: 'echo', code: -32000, message: 'unknown block' };
    bench.first.fault = behind;
    const pool = bench.pool({ nodes: 1 });
    const value = pool.run(async (session) => valueOf((await session.batch([HEADER])).results[0]), {
      patienceMs: Infinity,
      signal,
    });
    await expect(value).rejects.toMatchObject({ failures: [{ code: 'RPC_NODE_BEHIND' }] });
    expect(bench.slept).toEqual([250, 500, 1000]);
    expect(bench.first.requests).toHaveLength(4);
  });

  it('shares the load of many questions', async () => {
    for (const node of bench.nodes) node.fault = { kind: 'delay', ms: 30 };
    const pool = bench.pool();
    await pool.verifyChainId(7);
    await Promise.all(Array.from({ length: 100 }, (_, index) => ask(pool, [echo(index)])));
    for (const node of bench.nodes) expect(node.requests.length).toBeGreaterThan(25);
    expect(pool.parallelism()).toBeGreaterThan(8);
  });

  it('keeps the budget of the URL', async () => {
    const pool = bench.pool({ urls: [`${bench.first.url}/#rps=10`] });
    const from = bench.clock.nowMs();
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => ask(pool, [CHAIN_ID, echo(index)])),
    );
    expect(bench.clock.nowMs() - from).toBeGreaterThan(19_000);
    expect(bench.clock.nowMs() - from).toBeLessThan(23_000);
  });
});
