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

  it('gives the list of an answer to another call to no reader', async () => {
    const { results, read } = await answerTo((id) => (id === 7 ? 8 : 7));
    expect(results.map((result) => result.ok && result.value)).toEqual([LIST, LIST]);
    expect(read).toEqual([]);
  });
});
