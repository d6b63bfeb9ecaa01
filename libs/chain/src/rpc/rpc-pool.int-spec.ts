/** The pool over real sockets, against nodes that answer from a table. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Fault } from '#libs/testing/fake-node';
import {
  AllEndpointsFailedError,
  ChainMismatchError,
  isOutage,
  MalformedAnswerError,
  RangeTooLargeError,
} from './rpc.errors.js';
import { type PostBody, postOverHttp } from './http-exchange.js';
import { ask, CHAIN_ID, echo, KEY, LOGS, PoolBench } from './pool-bench.support.js';
import { valueOf } from './rpc-call.js';
import { type RpcPool } from './rpc-pool.js';

describe('RpcPool', () => {
  let bench: PoolBench;

  beforeEach(async () => {
    bench = await PoolBench.start();
  });

  afterEach(() => bench.stop());

  it('puts answers in the order of the calls, whatever order they come in', async () => {
    const { first } = bench;
    first.fault = { kind: 'out-of-order' };
    const { answer } = await ask(bench.pool(), ['a', 'b', 'c'].map(echo));
    expect(answer.results.map(valueOf)).toEqual(['a', 'b', 'c']);
    expect(first.requests.at(-1)?.faults).toEqual(['out-of-order']);
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
    [
      'is cut',
      { kind: 'status', status: 200, body: '[{"id":1,"re' },
      'RPC_TRANSPORT',
      { message: expect.stringMatching(/the answer was cut off$/) },
    ],
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
    const failure = await bench.failureOf(fault, { patienceMs: 0 }, LOGS, CHAIN_ID);
    expect(failure).toMatchObject({ code, retryable: true, ...more });
    expect(String(failure)).not.toContain(KEY);
    const outcome = code.slice(4).toLowerCase();
    expect(bench.requests.at(-1)).toMatchObject({ method: 'eth_getLogs', outcome, calls: 2 });
  });

  it.each<[string, Fault, object]>([
    ['HTTP 502', { kind: 'status', status: 502 }, { outcome: 'transport', httpStatus: 502 }],
    ['HTTP 429', { kind: 'status', status: 429 }, { outcome: 'rate_limited', httpStatus: 429 }],
    ['not JSON', { kind: 'html' }, { outcome: 'malformed_answer', httpStatus: 200 }],
    ['', { kind: 'reset' }, { outcome: 'transport' }],
    [
      'slow down',
      { kind: 'error', method: 'echo', code: -32005, message: 'slow down' },
      { outcome: 'rate_limited', httpStatus: 200 },
    ],
  ])('a request that fails tells why: %s', async (reason, fault, told) => {
    bench.first.fault = { ...fault, times: 1 };
    await ask(bench.pool({ nodes: 1 }), [echo(1)]);
    expect(bench.requests).toMatchObject([
      { ...told, reason: expect.stringContaining(reason) },
      { outcome: 'ok' },
    ]);
    expect(bench.requests[1]).not.toHaveProperty('reason');
    // A request that was not answered has no status.
    expect('httpStatus' in (bench.requests[0] ?? {})).toBe('httpStatus' in told);
  });

  it('says why no endpoint may be asked where calls were refused one by one', async () => {
    const data = { backoff_seconds: 9 };
    const refused = { code: -32005, message: 'daily request count exceeded', data };
    bench.first.fault = { kind: 'error', method: 'echo', ...refused, times: 1 };
    const pool = bench.pool({ nodes: 1 });
    await expect(ask(pool, [echo(1)])).rejects.toThrow(/No endpoint could answer/);
    await expect(ask(pool, [echo(1)])).rejects.toThrow(
      /^No endpoint may be asked for another 9 s\. .*daily request count exceeded/,
    );
  });

  it.each<[string, Fault]>([
    ['a body over the limit', { kind: 'oversized-body', bytes: 200_000 }],
    ['HTTP 413', { kind: 'status', status: 413 }],
    ['a refused range', { kind: 'range-limit', blocks: 10 }],
  ])('gives %s to the caller, without blaming the endpoint', async (_case, fault) => {
    const { first } = bench;
    first.fault = fault;
    const pool = bench.pool({ maxResponseBytes: 100_000 });
    const asked = pool.run(async (session) => valueOf((await session.batch([LOGS])).results[0]));
    await expect(asked).rejects.toBeInstanceOf(RangeTooLargeError);
    first.fault = undefined;
    // The first endpoint alone, without waiting, because it is not set aside.
    const options = { avoid: pool.endpoints.slice(1), patienceMs: 0 };
    const again = pool.run((session) => session.batch([echo(1)]), options);
    await expect(again).resolves.toBeDefined();
  });

  it('learns how large a batch may be and splits what is larger, the first two calls together', async () => {
    const { first: node } = bench;
    for (const style of ['geth', 'object'] as const) {
      node.fault = { kind: 'batch-limit', limit: 3, style };
      const pool = bench.pool({ nodes: 1 });
      const calls = Array.from({ length: 8 }, (_, index) => echo(index));
      expect((await ask(pool, calls)).answer.results.map(valueOf)).toEqual([
        0, 1, 2, 3, 4, 5, 6, 7,
      ]);
      const before = node.requests.length;
      await ask(pool, calls);
      const sizes = node.requests.slice(before).map((request) => request.calls.length);
      expect(sizes.sort()).toEqual([2, 3, 3]);
    }
    node.fault = { kind: 'batch-limit', limit: 1 };
    await expect(ask(bench.pool({ nodes: 1 }), [CHAIN_ID, CHAIN_ID])).rejects.toThrow(
      /takes no batch requests/,
    );
  });

  it('sends a single call as no batch', async () => {
    const bodies: unknown[] = [];
    const post: PostBody = (url, asked) => {
      bodies.push(JSON.parse(asked.body));
      return postOverHttp()(url, asked);
    };
    await ask(bench.pool({ nodes: 1, post }), [echo(1)]);
    expect(bodies).toEqual([expect.objectContaining(echo(1))]);
  });

  it.each(['reset', 'never-answers'] as const)(
    'leaves out an endpoint whose batches meet %s, after a few of them',
    async (kind) => {
      bench.first.fault = { kind, when: (calls) => calls.length > 1 };
      const alone = bench.pool({ nodes: 1, timeoutMs: 100 });
      await expect(ask(alone, [LOGS, echo(1)])).rejects.toThrow(/takes no batch requests/);
      expect((await ask(alone, [echo(2)])).answer.results.map(valueOf)).toEqual([2]);

      const pool = bench.pool({ timeoutMs: 100 });
      bench.first.requests.length = 0;
      for (let question = 0; question < 60; question++) {
        await ask(pool, [LOGS, echo(question)]);
        await ask(pool, [CHAIN_ID]);
        bench.clock.advance(5_000);
      }
      const batches = bench.first.requests.filter(({ calls }) => calls.length > 1);
      expect(bench.warnings.map(({ code }) => code)).toContain('RPC_ENDPOINT_LEFT_OUT');
      expect(batches.length).toBeLessThan(9);
    },
  );

  it('has patience again after each answer, with one endpoint', async () => {
    let request = 0;
    bench.first.fault = { kind: 'status', status: 503, when: () => request++ % 2 === 0 };
    const asking = bench.pool({ nodes: 1 }).run(async (session) => {
      for (let index = 0; index < 20; index++) {
        await session.batch([echo(index)]);
        bench.clock.advance(1000);
      }
    });
    await expect(asking).resolves.toBeUndefined();
    expect(bench.first.requests).toHaveLength(40);
  });

  it('does not go to and fro for ever where only a later batch fails', async () => {
    const status: Fault = { kind: 'status', status: 500 };
    for (const node of bench.nodes) {
      node.fault = { ...status, when: ([call]) => call?.params[0] === 'later' };
    }
    const asking = bench.pool().run(async (session) => {
      await session.batch([echo('first')]);
      await session.batch([echo('later')]);
    });
    await expect(asking).rejects.toBeInstanceOf(AllEndpointsFailedError);
  });

  it('ends with the reason of the caller’s signal, and blames nobody', async () => {
    const { first } = bench;
    first.fault = { kind: 'never-answers' };
    const pool = bench.pool({ timeoutMs: 60_000 });
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
      await expect(bench.pool().verifyChainId(7)).resolves.toBeUndefined();
      const { second } = bench;
      second.fault = { kind: 'chain-id', chainId: 8 };
      const pool = bench.pool();
      await expect(pool.verifyChainId(7)).rejects.toThrow(
        new ChainMismatchError(pool.endpoints[1] as string, 7, 8).message,
      );
      await expect(pool.verifyChainId(7)).rejects.toMatchObject({ retryable: false });
    });

    it('are asked later of an endpoint that is down at the start', async () => {
      const { first } = bench;
      first.fault = { kind: 'status', status: 500 };
      const pool = bench.pool();
      await pool.verifyChainId(7);
      first.fault = { kind: 'chain-id', chainId: 8 };
      bench.clock.advance(600_000);
      expect((await ask(pool, [echo('x')])).endpoint).toBe(pool.endpoints[1]);
      expect(bench.warnings).toMatchObject([
        { endpoint: pool.endpoints[0], code: 'RPC_CHAIN_MISMATCH' },
      ]);
      first.fault = undefined;
      expect((await ask(pool)).endpoint).toBe(pool.endpoints[1]);
      expect(first.count('echo')).toBe(0);
    });

    it('cannot be verified where nobody answers', async () => {
      for (const node of bench.nodes) node.fault = { kind: 'reset' };
      await expect(bench.pool().verifyChainId(7)).rejects.toBeInstanceOf(AllEndpointsFailedError);
    });
  });

  describe('an endpoint that never gives a valid answer of a kind', () => {
    const logs = (pool: RpcPool, only?: string): Promise<string> =>
      pool.run(
        async (session) => {
          const [result] = (await session.batch([LOGS])).results;
          if (Array.isArray(valueOf(result))) return session.endpoint;
          throw new MalformedAnswerError('the logs are not a list', session);
        },
        { avoid: pool.endpoints.filter((name) => only !== undefined && name !== only) },
      );

    it('is left out of such questions, loudly, and tried again every minute', async () => {
      const { first } = bench;
      first.fault = { kind: 'result', method: 'eth_getLogs', result: {} };
      const pool = bench.pool();
      const [odd = '', good] = pool.endpoints;
      for (let time = 0; time < 4; time++) {
        await expect(logs(pool, odd)).rejects.toBeInstanceOf(AllEndpointsFailedError);
      }
      expect(bench.warnings).toEqual([
        {
          endpoint: odd,
          code: 'RPC_ENDPOINT_LEFT_OUT',
          message: expect.stringMatching(
            /eth_getLogs .* every minute\. .*the logs are not a list$/,
          ),
        },
      ]);
      const asked = first.count('eth_getLogs');
      expect(isOutage(await logs(pool, odd).catch((error: unknown) => error))).toBe(true);
      expect(await logs(pool)).toBe(good);
      expect(first.count('eth_getLogs')).toBe(asked);
      bench.clock.advance(40_000);
      // Its other answers count.
      expect((await ask(pool, [echo(1)], { avoid: [good ?? ''] })).endpoint).toBe(odd);
      first.fault = undefined;
      bench.clock.advance(21_000);
      expect(await logs(pool, odd)).toBe(odd);
      expect(bench.warnings.at(-1)).toMatchObject({ endpoint: odd, code: 'RPC_ENDPOINT_BACK' });
    });

    it('is asked all the same where every other one is left out too', async () => {
      for (const node of bench.nodes) {
        node.fault = { kind: 'result', method: 'eth_getLogs', result: {} };
      }
      const pool = bench.pool();
      for (let time = 0; time < 8; time++) {
        await expect(logs(pool)).rejects.toThrow('the logs are not a list');
      }
    });
  });
});

const KEYS = ['user-key-01', 'pass-key-02', 'path-key-03', 'query-key-04'];
const HOST_KEY = 'host-key-05';
/** User and password as the Basic header sends them (RFC 7617). */
const SENT = Buffer.from(`${KEYS[0]}:${KEYS[1]}`).toString('base64');
/** Everything of the request that a provider may quote. */
const QUOTE = [...KEYS, HOST_KEY, SENT].join(' ');
const SECRETS = [...KEYS, SENT.toLowerCase()];

describe('the secrets of a URL', () => {
  let bench: PoolBench;

  beforeEach(async () => {
    bench = await PoolBench.start(1);
  });

  afterEach(() => bench.stop());

  const keyed = (origin: string): string => {
    const url = new URL(`${origin}/v3/${KEYS[2]}?apikey=${KEYS[3]}#rps=500`);
    [url.username = '', url.password = ''] = KEYS;
    return url.href;
  };

  /** All texts of errors, events and names, as one text. */
  async function said(url: string, host?: string): Promise<string> {
    const pool = bench.pool({ urls: [url], timeoutMs: 300, patienceMs: 400 });
    const error = await ask(pool, [LOGS, echo(1)]).catch((reason: unknown) => reason);
    const texts: unknown[] = [...pool.endpoints, ...bench.requests, ...bench.waitings];
    for (let inner = error; inner instanceof Error; inner = inner.cause) {
      texts.push(inner.message, inner.stack, JSON.stringify(inner));
    }
    expect(error).toBeInstanceOf(Error);
    return JSON.stringify([texts, host]).toLowerCase();
  }

  it.each<[string, Fault]>([
    ['a silent socket', { kind: 'never-answers' }],
    ['a reset', { kind: 'reset' }],
    ['401', { kind: 'status', status: 401, body: QUOTE }],
    ['401 with an error', { kind: 'status', status: 401, body: errorBody(QUOTE) }],
    [
      'a long error',
      { kind: 'single-error', code: 1, message: `http://${'x'.repeat(1190)} ${SENT}` },
    ],
    [
      'an error with long data',
      {
        kind: 'error',
        method: 'eth_getLogs',
        code: 1,
        message: '',
        data: { see: `//${'x'.repeat(1985)} ${SENT}` },
      },
    ],
    ['404', { kind: 'status', status: 404, body: `<html>${QUOTE}</html>` }],
    ['429', { kind: 'status', status: 429, body: QUOTE }],
    ['503', { kind: 'status', status: 503, body: QUOTE }],
    ['a redirect', { kind: 'status', status: 302, body: QUOTE }],
    ['a web page', { kind: 'html' }],
    ['broken JSON', { kind: 'wrong-json' }],
    ['half a body', { kind: 'truncated-body' }],
    ['other ids', { kind: 'wrong-ids' }],
    ['an error that quotes it', { kind: 'single-error', code: -32000, message: QUOTE }],
    [
      'an error that quotes it in capitals',
      { kind: 'single-error', code: -32005, message: QUOTE.toUpperCase() },
    ],
    [
      'an error of a call with it in its data',
      { kind: 'error', method: 'eth_getLogs', code: 1, message: '', data: { see: QUOTE } },
    ],
  ])('do not leak through %s', async (_case, fault) => {
    bench.first.fault = fault;
    const text = await said(keyed(bench.first.url));
    for (const key of SECRETS) expect(text).not.toContain(key);
  });

  it('do not leak through a refused connection', async () => {
    const { url } = bench.first;
    await bench.first.close();
    const text = await said(keyed(url));
    for (const key of SECRETS) expect(text).not.toContain(key);
    expect(text).toContain('econnrefused');
  });

  it('do not leak through a host that is not found', async () => {
    const text = await said(keyed(`https://${HOST_KEY}.node.invalid`));
    for (const key of [...SECRETS, HOST_KEY]) expect(text).not.toContain(key);
    expect(text).toContain('node.invalid#1');
  });
});

function errorBody(message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message } });
}
