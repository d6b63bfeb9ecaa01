import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { endpointUrls, type EndpointUrl } from './endpoint-urls.js';
import { HttpExchange, matchAnswers } from './http-exchange.js';

/** Of an answer that is large enough to be parsed in parts. */
const LIST = Array.from({ length: 3000 }, (_, index) => ({
  data: `0x${index.toString(16)}`,
  index,
}));

describe('HttpExchange', () => {
  const [url] = endpointUrls(['http://node.example']) as [EndpointUrl];
  const resultsOf = async (
    body: string | Buffer,
    { statusCode = 200, headers = {} }: { statusCode?: number; headers?: object } = {},
  ) => {
    const exchange = new HttpExchange(url, {
      post: () =>
        Promise.resolve({
          statusCode,
          headers: { ...headers },
          body: Readable.from([Buffer.from(body)]) as never,
        }),
      timeoutMs: 10_000,
      maxResponseBytes: 10_000,
      time: { wallMs: () => 0 },
    });
    const calls = [{ id: 7, method: 'eth_call', params: [] }];
    return matchAnswers(calls, await exchange.send(calls, undefined), url);
  };
  const answerTo = async (idOf: (id: number) => unknown) => {
    const read: unknown[] = [];
    const sent: unknown[] = [];
    const exchange = new HttpExchange(url, {
      post: (_url, { body }) => {
        const calls = JSON.parse(body) as { id: number }[];
        sent.push(...calls);
        const answers = calls.map(({ id }) => ({ id: idOf(id), result: LIST }));
        const chunks = [Buffer.from(JSON.stringify(answers))];
        return Promise.resolve({ statusCode: 200, headers: {}, body: chunks as never });
      },
      timeoutMs: 10_000,
      maxResponseBytes: 10_000_000,
      time: { wallMs: () => 0 },
    });
    const reader = { read: (element: unknown) => read.push(element) > 0 };
    const calls = [
      { id: 7, method: 'eth_getLogs', params: [], reader: () => reader },
      { id: 8, method: 'eth_getLogs', params: [] },
    ];
    const results = matchAnswers(calls, await exchange.send(calls, undefined), url);
    return { results, reader, read, sent };
  };

  it('lets a call read its list while the answer is parsed, and sends nothing of the reader', async () => {
    const { results, reader, read, sent } = await answerTo((id) => id);
    expect(results).toEqual([
      { ok: true, value: reader },
      { ok: true, value: LIST },
    ]);
    expect(read).toEqual(LIST);
    expect(sent).toEqual([
      { jsonrpc: '2.0', id: 7, method: 'eth_getLogs', params: [] },
      { jsonrpc: '2.0', id: 8, method: 'eth_getLogs', params: [] },
    ]);
  });

  it('finds the call by an id that the node returns as text', async () => {
    const { read } = await answerTo(String);
    expect(read).toEqual(LIST);
  });

  it.each<[string, string, object]>([
    ['a result that is null left out', '{"jsonrpc":"2.0","id":7}', { ok: true, value: null }],
    ['a byte order mark', '\uFEFF{"id":7,"result":"0x1"}', { ok: true, value: '0x1' }],
  ])('reads an answer with %s', async (_case, body, result) => {
    expect(await resultsOf(body)).toEqual([result]);
  });

  it('reads a body in gzip without its end, if it is whole', async () => {
    const coded = gzipSync('{"id":7,"result":"0x1"}').subarray(0, -8);
    expect(await resultsOf(coded, { headers: { 'content-encoding': 'gzip' } })).toEqual([
      { ok: true, value: '0x1' },
    ]);
  });

  it('takes a revert for an answer, with any status', async () => {
    const body = '{"id":7,"error":{"code":3,"message":"execution reverted"}}';
    expect(await resultsOf(body, { statusCode: 500 })).toMatchObject([
      { error: { code: 'RPC_EXECUTION_REVERTED' } },
    ]);
  });

  it('tells the error of a list that names no call', async () => {
    const body = '[{"jsonrpc":"2.0","error":{"code":-32005,"message":"rate limit exceeded"}}]';
    await expect(resultsOf(body)).rejects.toMatchObject({ code: 'RPC_RATE_LIMITED' });
  });

  it('gives the list of an answer to another call to no reader', async () => {
    const { results, read } = await answerTo((id) => (id === 7 ? 8 : 7));
    expect(results.map((result) => result.ok && result.value)).toEqual([LIST, LIST]);
    expect(read).toEqual([]);
  });
});
