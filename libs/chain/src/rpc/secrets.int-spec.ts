/** No part of an endpoint's URL but the end of its host appears in an error, an event or a name, whatever fails. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Fault } from '#libs/testing/fake-node';
import { ask, echo, LOGS, PoolBench } from './pool-bench.support.js';

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
