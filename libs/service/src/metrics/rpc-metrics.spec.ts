import { beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { type RpcObserver } from '#libs/chain';
import { createLogger } from '../logger/logger.js';
import { observeRpc } from './rpc-metrics.js';

const ENDPOINT = 'quiknode.pro#1';

describe('what is observed of RPC endpoints', () => {
  let nowMs: number;
  let registry: Registry;
  let events: Required<RpcObserver>;
  let lines: Record<string, unknown>[];

  beforeEach(() => {
    nowMs = 0;
    registry = new Registry();
    lines = [];
    const destination = {
      write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>),
    };
    const logger = createLogger({ app: 'test', level: 'info', destination });
    events = observeRpc(registry, logger, { nowMs: () => nowMs });
  });

  function request(
    outcome: string,
    count = 1,
    told: { httpStatus?: number; reason?: string } = {},
  ): void {
    for (let index = 0; index < count; index++) {
      const calls = { method: 'eth_call', outcome, calls: 1, computeUnits: 26 };
      const event = { endpoint: ENDPOINT, method: 'eth_call', outcome, seconds: 0.1, bytes: 1 };
      events.request({ ...event, ...told, calls: 1, callOutcomes: [calls] });
    }
  }

  it('counts calls by method and outcome, and what they cost', async () => {
    events.request({
      endpoint: ENDPOINT,
      method: 'eth_getLogs',
      outcome: 'rate_limited',
      seconds: 1,
      bytes: 1,
      calls: 12,
      callOutcomes: [
        { method: 'eth_getLogs', outcome: 'ok', calls: 1, computeUnits: 75 },
        { method: 'eth_getBlockByNumber', outcome: 'ok', calls: 9, computeUnits: 144 },
        { method: 'eth_getBlockByNumber', outcome: 'rate_limited', calls: 2, computeUnits: 0 },
      ],
    });
    const text = await registry.metrics();
    const labels = `endpoint="${ENDPOINT}",method="eth_getBlockByNumber"`;
    expect(text).toContain(`lowmark_rpc_calls_total{${labels},outcome="ok"} 9`);
    expect(text).toContain(`lowmark_rpc_calls_total{${labels},outcome="rate_limited"} 2`);
    expect(text).toContain(`lowmark_rpc_compute_units_total{endpoint="${ENDPOINT}"} 219`);
    expect(text).toMatch(/lowmark_rpc_requests_total\{[^}]+outcome="rate_limited"\} 1/);
  });

  it('says nothing of single failures', () => {
    for (let index = 0; index < 20; index++) {
      request('timeout');
      request('ok', 2);
    }
    expect(lines).toEqual([]);
  });

  it('says once a minute that an endpoint fails, and once that it is well again', () => {
    const told = { httpStatus: 502, reason: 'quiknode.pro#1: HTTP 502' };
    for (let second = 0; second < 180; second++, nowMs += 1000) request('transport', 5, told);
    expect(lines).toMatchObject([
      { level: 'warn', endpoint: ENDPOINT, outcome: 'transport', failures: 3, ...told },
      { level: 'warn', endpoint: ENDPOINT, failures: 298 },
      { level: 'warn', endpoint: ENDPOINT, failures: 300 },
    ]);
    lines.length = 0;
    request('ok', 9);
    expect(lines).toEqual([]);
    request('ok', 20);
    expect(lines).toMatchObject([{ level: 'info', msg: 'The RPC endpoint is well again' }]);
  });

  it('says once a minute that all wait for an endpoint, whatever else fails there', () => {
    for (let second = 0; second < 120; second++, nowMs += 1000) {
      const waiting = { endpoint: ENDPOINT, message: 'HTTP 502', waitMs: 500 };
      events.waiting({ ...waiting, forMs: second * 1000 });
      request('transport');
    }
    expect(lines).toMatchObject([
      { msg: 'Waiting for an RPC endpoint: HTTP 502', waitingSeconds: 0 },
      { msg: 'Waiting for an RPC endpoint: HTTP 502', waitingSeconds: 60, failures: 60 },
    ]);
    nowMs += 10_000;
    lines.length = 0;
    request('ok');
    expect(lines).toMatchObject([{ level: 'info' }]);
  });

  it('does not flood the log where an endpoint comes and goes', () => {
    for (let second = 0; second < 120; second++, nowMs += 1000) {
      request('timeout', 5);
      request('ok', 20);
    }
    expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(2);
    expect(lines.filter(({ level }) => level === 'info')).toHaveLength(2);
  });
});
