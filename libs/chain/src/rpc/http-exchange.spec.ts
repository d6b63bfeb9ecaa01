/** How an answer is read: its bytes, its JSON, and the calls that it belongs to. */
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type EndpointUrl, endpointUrls } from './endpoint-urls.js';
import { HttpExchange, matchAnswers } from './http-exchange.js';
import { parseJsonBody } from './json-body.js';
import { KeptBuffers } from './kept-buffers.js';

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

const LOGS = 400;
const log = (index: number) => ({
  address: `0x${'ab'.repeat(20)}`,
  topics: [`0x${'cd'.repeat(32)}`, `0x${String(index).padStart(64, '0')}`],
  data: `0x${'ef'.repeat(32)}`,
  logIndex: index,
});
const logs = Array.from({ length: LOGS }, (_, index) => log(index));

/** Parses a body, and expects that its bytes are the same afterwards. */
function parsed(text: string): unknown {
  const body = Buffer.from(text);
  try {
    return parseJsonBody(body);
  } finally {
    expect(body.equals(Buffer.from(text))).toBe(true);
  }
}

/** Texts that hold what the list is told by. */
const odd = fc
  .array(
    fc.constantFrom('},{', '}]', '"result":[{', '[{"a":1},{"b":2}]', '\\', '"', 'é', '\u{e000}'),
  )
  .map((parts) => parts.join(''));

describe('parseJsonBody', () => {
  it.each([
    ['a single answer', { jsonrpc: '2.0', id: 1, result: logs }],
    [
      'two lists',
      [
        { id: 1, result: logs },
        { id: 2, result: logs.toReversed() },
      ],
    ],
    ['lists of objects in elements', { id: 1, result: logs.map((one) => ({ one, of: [one] })) }],
    ['a list within a result', { id: 1, result: { result: logs } }],
    ['a list of lists', [[{ id: 1, result: logs }]]],
    ['a long element', { id: 1, result: [{ data: 'a'.repeat(200_000) }, {}, { data: 'b' }] }],
  ])('gives the value of JSON.parse for %s', (_name, value) => {
    expect(parsed(JSON.stringify(value))).toEqual(value);
    expect(parsed(JSON.stringify(value, undefined, 1))).toEqual(value);
  });

  it('gives the value of JSON.parse, whatever the texts hold', () => {
    const anElement = fc.record({ a: odd, b: fc.array(odd, { maxLength: 2 }) });
    const answers = fc.array(
      fc.record({ error: odd, result: fc.oneof(odd, fc.array(anElement)), last: odd }),
    );
    fc.assert(
      fc.property(answers, fc.boolean(), (few, isLastLong) => {
        const long = { result: [...logs, { odd: few }] };
        const text = JSON.stringify(isLastLong ? [...few, long] : [long, ...few]);
        expect(parsed(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('gives each element of the list to the reader of its call, and the reader in place of the list', () => {
    const read: unknown[] = [];
    const reader = { read: (element: unknown) => read.push(element) > 0 };
    const asked: unknown[] = [];
    const readerOf = (id: unknown) => {
      asked.push(id);
      return id === 2 ? reader : undefined;
    };
    const others = { id: 1, result: [{ number: '0x1' }] };
    const text = JSON.stringify([{ id: 2, result: logs }, others]);
    expect(parseJsonBody(Buffer.from(text), readerOf)).toEqual([{ id: 2, result: reader }, others]);
    expect(read).toEqual(logs);
    expect(asked).toEqual([2]);
    const ofAnother = JSON.stringify([others, { id: 3, result: logs }]);
    expect(parseJsonBody(Buffer.from(ofAnother), readerOf)).toEqual(JSON.parse(ofAnother));
  });

  it('gives the list where its reader refuses an element', () => {
    const value = { id: 1, result: logs };
    const text = JSON.stringify(value);
    for (const refused of [0, 200, LOGS - 1]) {
      const reader = {
        read: (element: unknown) => (element as { logIndex: number }).logIndex !== refused,
      };
      const body = Buffer.from(text);
      expect(parseJsonBody(body, () => reader)).toEqual(value);
      expect(body.toString()).toBe(text);
    }
  });

  it('takes the last of two equal names, as JSON.parse does', () => {
    const list = JSON.stringify(logs);
    expect(parsed(`{"result":${list},"result":"0x"}`)).toEqual({ result: '0x' });
    expect(parsed(`{"result":"0x","result":${list}}`)).toEqual({ result: logs });
  });

  it('refuses what is no JSON, as JSON.parse does', () => {
    const text = JSON.stringify({ id: 1, result: logs });
    const wrong = [
      text.slice(0, -1),
      text.slice(0, 80_000),
      `${text},`,
      text.replace('"logIndex":7}', '"logIndex":7,}'),
      text.replace('"logIndex":9},', '"logIndex":9}'),
    ];
    for (const one of wrong) {
      let reason: unknown;
      try {
        JSON.parse(one);
      } catch (error) {
        reason = error;
      }
      expect(reason).toBeInstanceOf(SyntaxError);
      expect(() => parsed(one)).toThrow((reason as Error).message);
    }
  });
});

const MANY = 3_000_000;

function textOf(buffers: KeptBuffers, ...chunks: readonly (string | Buffer)[]): Promise<string> {
  const body = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  return buffers.read(body, () => undefined, String);
}

describe('KeptBuffers', () => {
  it('give each body back as it was, whatever was read before it', async () => {
    const buffers = new KeptBuffers();
    for (const text of ['', 'a', 'b'.repeat(MANY), 'short', 'ä€😀'.repeat(1000), '']) {
      expect(await textOf(buffers, text)).toBe(text);
    }
  });

  it('join characters that two chunks share', async () => {
    const bytes = Buffer.from('a€b');
    expect(await textOf(new KeptBuffers(), bytes.subarray(0, 2), bytes.subarray(2))).toBe('a€b');
  });

  it('keep bodies apart that arrive at the same time', async () => {
    const buffers = new KeptBuffers();
    const texts = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => letter.repeat(200_000));
    const halves = texts.map((text) => [text.slice(0, 100_000), text.slice(100_000)]);
    const read = (): Promise<string[]> =>
      Promise.all(halves.map((parts) => textOf(buffers, ...parts)));
    expect(await read()).toEqual(texts);
    expect(await read()).toEqual(texts);
  });

  it('tell how much there is, and stop where that is refused', async () => {
    const buffers = new KeptBuffers();
    const seen: number[] = [];
    const onBytes = (bytes: number): void => {
      seen.push(bytes);
      if (bytes > 3) throw new Error('too large');
    };
    const body = Readable.from([Buffer.alloc(3), Buffer.alloc(4)]);
    const read = buffers.read(body, onBytes, String);
    await expect(read).rejects.toThrow('too large');
    expect(seen).toEqual([3, 7]);
    expect(await textOf(buffers, 'next')).toBe('next');
  });
});
