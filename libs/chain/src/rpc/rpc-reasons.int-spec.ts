/** What operators learn about a failure: the reason, and the HTTP status. */
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type Fault } from '#libs/testing';
import { ask, echo, PoolBench } from './pool-bench.support.js';

let bench: PoolBench;
beforeEach(async () => {
  bench = await PoolBench.start();
});
afterEach(() => bench.stop());

it.each<[string, Fault, object]>([
  ['HTTP 502', { kind: 'status', status: 502 }, { outcome: 'transport', httpStatus: 502 }],
  ['HTTP 429', { kind: 'status', status: 429 }, { outcome: 'rate_limited', httpStatus: 429 }],
  ['not JSON', { kind: 'html' }, { outcome: 'malformed_answer', httpStatus: 200 }],
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
});

it('has no status where nothing was answered', async () => {
  bench.first.fault = { kind: 'reset', times: 1 };
  await ask(bench.pool({ nodes: 1 }), [echo(1)]);
  expect(bench.requests[0]).toMatchObject({ outcome: 'transport', reason: expect.any(String) });
  expect(bench.requests[0]).not.toHaveProperty('httpStatus');
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
