import { describe, expect, it } from '@jest/globals';
import { LogsWithheldError, NodeBehindError, TransportError } from './rpc.errors.js';
import { EndpointHealth } from './endpoint-health.js';

const down = new TransportError('down', { endpoint: 'n' });
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
