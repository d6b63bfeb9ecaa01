/** One endpoint: its health, its gate, the size of its batches, and which of its errors pass. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '#libs/testing/clock';
import {
  AnswersDifferError,
  BatchTooLargeError,
  isTransient,
  LogsWithheldError,
  MalformedAnswerError,
  NodeBehindError,
  OverloadedError,
  RangeTooLargeError,
  RateLimitedError,
  RpcRefusedError,
  RpcTimeoutError,
  StateUnavailableError,
  TransportError,
  UnreachableError,
} from './rpc.errors.js';
import { AnswerValidity } from './answer-validity.js';
import { EndpointHealth } from './endpoint-health.js';
import { endpointUrls } from './endpoint-urls.js';
import { BatchSize } from './batch.js';
import { Rate } from './rate.js';
import { PoolTime, sleepFor } from './pool-time.js';
import { reactionTo } from './reactions.js';
import { RequestGate } from './request-gate.js';
import { RpcEndpoint } from './rpc-endpoint.js';
import { type RpcWarning, silentObserver } from './rpc-observer.js';

const at = { endpoint: 'n' };
const down = new TransportError('down', at);
const health = (random = 0): EndpointHealth =>
  new EndpointHealth({ firstMs: 100, longestMs: 1000 }, () => random);

describe('an endpoint’s health', () => {
  it('sets it aside for a time that doubles up to a limit', () => {
    const one = health();
    const waits: number[] = [];
    let now = 0;
    for (let failure = 0; failure < 6; failure++) {
      one.failed(down, now);
      waits.push(one.waitMs(now));
      now += one.waitMs(now);
    }
    expect(waits).toEqual([100, 200, 400, 800, 1000, 1000]);
    one.succeeded(now);
    one.failed(down, now);
    expect(one.waitMs(now)).toBe(100);
  });

  it('shortens the time at random by up to half', () => {
    const one = health(1);
    one.failed(down, 0);
    expect(one.waitMs(0)).toBe(50);
  });

  it('takes failures of requests in flight together for one', () => {
    const one = health();
    for (let request = 0; request < 8; request++) one.failed(down, 10);
    expect(one.waitMs(10)).toBe(100);
  });

  it('takes it back with the first answer', () => {
    const one = health();
    one.failed(down, 0);
    one.succeeded(10);
    expect(one.waitMs(10)).toBe(0);
  });

  it('keeps one that leaves out logs away for a minute, and one that is behind for a moment', () => {
    const liar = health();
    liar.failed(new LogsWithheldError(5n, { endpoint: 'n' }), 0);
    liar.succeeded(10);
    expect(liar.waitMs(10)).toBe(59_990);
    const behind = new EndpointHealth({ firstMs: 5000, longestMs: 60_000 }, () => 0);
    behind.failed(new NodeBehindError('late', { endpoint: 'n' }), 0);
    expect(behind.waitMs(0)).toBe(2000);
    expect(behind.isHeld(0)).toBe(true);
  });
});

describe('the gate of an endpoint', () => {
  it('rejects a request that is aborted already, although others are ahead', async () => {
    const rate = new Rate(undefined, 0);
    const gate = new RequestGate(rate, new PoolTime(new FakeClock(0), sleepFor));
    const load = { calls: 1, computeUnits: 16 };
    while (rate.hasFreeSlot) rate.start(load, 0);
    const ahead = new AbortController();
    const waiting = gate.enter(load, () => true, ahead.signal);
    const reason = new Error('enough');
    const late = gate.enter(load, () => true, AbortSignal.abort(reason));
    const first = await Promise.race([late.catch((error: unknown) => error), nextTurn('waits')]);
    expect(first).toBe(reason);
    ahead.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });

  it('counts probes against the budget of the operator', async () => {
    const clock = new FakeClock(0);
    const slept: number[] = [];
    const time = new PoolTime(clock, (ms) => {
      slept.push(ms);
      return Promise.resolve();
    });
    const [url] = endpointUrls(['http://node.example/#rps=10']);
    const endpoint = new RpcEndpoint(url as NonNullable<typeof url>, {
      post: (_url, { body }) => {
        const asked = JSON.parse(body) as { id: number } | { id: number }[];
        const answers = [asked].flat().map(({ id }) => ({ jsonrpc: '2.0', id, result: '0x7' }));
        const answer = Buffer.from(JSON.stringify(answers));
        return Promise.resolve({
          statusCode: 200,
          headers: {},
          body: (async function* () {
            yield await Promise.resolve(answer);
          })(),
        });
      },
      timeoutMs: 1000,
      maxResponseBytes: 1000,
      time,
      random: () => 0,
      backoff: { firstMs: 250, longestMs: 60_000 },
      observer: silentObserver,
    });
    const { signal } = new AbortController();
    expect(await endpoint.probe('batches', signal)).toBe('batches');
    expect(slept).toEqual([]);
    await endpoint.request([{ method: 'eth_chainId', params: [] }], () => true, signal);
    // Two calls were free, the probe took three, and one more is due: two tenths of a second.
    expect(slept).toEqual([200]);
  });
});

describe('an endpoint whose answers of one kind are not valid', () => {
  it('is reported once, and again only after a valid answer', () => {
    const clock = new FakeClock(0);
    const warnings: RpcWarning[] = [];
    const observer = { ...silentObserver, warning: (one: RpcWarning) => warnings.push(one) };
    const endpoints = ['n', 'other'].map((name) => ({ name, isExcluded: () => false }));
    const one = { name: 'n', isExcluded: () => false };
    const validity = new AnswerValidity(endpoints, {
      time: new PoolTime(clock, sleepFor),
      observer,
    });
    const fails = (): void => {
      for (let answer = 0; answer < 8; answer++) {
        validity.noteInvalid(one, 'eth_getLogs', new MalformedAnswerError('?', at));
      }
    };
    const codes = (): string[] => warnings.map(({ code }) => code);
    for (let minute = 0; minute < 5; minute++) {
      fails();
      expect(validity.leftOut('eth_getLogs')).toEqual(['n']);
      clock.advance(60_000);
    }
    expect(codes()).toEqual(['RPC_ENDPOINT_LEFT_OUT']);
    validity.noteValid(one, 'eth_getLogs');
    fails();
    expect(codes()).toEqual([
      'RPC_ENDPOINT_LEFT_OUT',
      'RPC_ENDPOINT_BACK',
      'RPC_ENDPOINT_LEFT_OUT',
    ]);
  });
});

const NAME = 'node#1';
const calls = Array.from({ length: 1000 }, () => ({ method: 'eth_chainId', params: [] }));

/** The size of the largest request after so many answered batches of that size. */
function largestAfter(size: BatchSize, answers: number): number {
  const largest = (): number => {
    const parts = size.split([...calls.keys()], calls);
    return Math.max(...parts.map((part) => part.length));
  };
  for (let answer = 0; answer < answers; answer++) size.answered(largest());
  return largest();
}

describe('the size of batches', () => {
  const aSize = () => new BatchSize(NAME, new Rate(undefined, 0));

  it('is lower after broken ones, and rises again once many were answered, for they may have broken by chance', () => {
    const size = aSize();
    expect(largestAfter(size, 20)).toBe(1000);
    size.broke(1000);
    expect(largestAfter(size, 0)).toBe(500);
    size.broke(500);
    expect(largestAfter(size, 100)).toBe(100);
    expect(largestAfter(size, 1_000)).toBe(1000);
  });

  it('stays as the node names it', () => {
    const size = aSize();
    size.lower(new BatchTooLargeError('at most 20', { endpoint: NAME, limit: 20 }), 25);
    expect(largestAfter(size, 5_000)).toBe(20);
  });
});

const refused = (rpcCode: number, sizeMayExplain = false): RpcRefusedError =>
  new RpcRefusedError('refused', { ...at, rpcCode, sizeMayExplain });

it.each([
  ['a reset', new TransportError('reset', at)],
  ['HTTP 503', new OverloadedError('HTTP 503', at)],
  ['a rate limit', new RateLimitedError('slow', at)],
  ['a timeout', new RpcTimeoutError('late', at)],
  ['a refused connection', new UnreachableError('refused', at)],
  ['a status on a range', refused(403, true)],
  ['a status', refused(402)],
  ['HTTP 400', refused(400)],
  ['an error without a meaning, on a range', refused(-32000, true)],
  ['an unknown method', refused(-32601)],
  ['no form of the protocol', new MalformedAnswerError('?', at)],
  ['a node behind', new NodeBehindError('behind', at)],
  ['answers that differ', new AnswersDifferError('differ', at)],
  ['logs left out', new LogsWithheldError(1n, at)],
  ['a range too large', new RangeTooLargeError('large', at)],
  ['state that is pruned', new StateUnavailableError('pruned', at)],
])('the rate counts %s as one that passes if its request is sent again', (_, error) => {
  expect(reactionTo(error).resend === 'while patient').toBe(isTransient(error));
});
