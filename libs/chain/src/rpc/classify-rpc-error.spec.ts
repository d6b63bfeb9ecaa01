import { describe, expect, it } from '@jest/globals';
import { classifyRpcError, proposedTo, retryAfterMs } from './classify-rpc-error.js';
import { KNOWN_ERRORS, type Meaning } from './known-errors.js';

const LOGS = { method: 'eth_getLogs', params: [{ fromBlock: '0x64', toBlock: '0x2710' }] };
const CALL = { method: 'eth_call', params: [] };

function classOf(error: unknown, call = LOGS as { method: string; params: unknown[] }): string {
  return classifyRpcError(error, { endpoint: 'node#1', secrets: ['s3cr3t-key'], call }).code;
}

const message = (code: number, text: string): unknown => ({ code, message: text });

const CODES: Readonly<Record<Meaning, string>> = {
  'state unavailable': 'RPC_STATE_UNAVAILABLE',
  'node behind': 'RPC_NODE_BEHIND',
  'range too large': 'RPC_RANGE_TOO_LARGE',
  'batch too large': 'RPC_BATCH_TOO_LARGE',
  'rate limit': 'RPC_RATE_LIMITED',
  limit: 'RPC_RATE_LIMITED',
  timeout: 'RPC_TIMEOUT',
  reverted: 'RPC_EXECUTION_REVERTED',
  unavailable: 'RPC_TRANSPORT',
};
const MET = KNOWN_ERRORS.flatMap(({ means, isOfRanges, isOfCalls, met = [] }) =>
  met.map(([by, code, text]) => ({ means, isOfRanges, isOfCalls, by, code, text })),
);

describe('what a refusal means', () => {
  it.each(MET)('$by ($code, $text): $means', ({ means, isOfRanges, isOfCalls, code, text }) => {
    if (!isOfCalls) expect(classOf(message(code, text))).toBe(CODES[means]);
    if (!isOfRanges) expect(classOf(message(code, text), CALL)).toBe(CODES[means]);
  });

  it.each([
    'eth_getLogs',
    'eth_getBlockReceipts',
    'eth_getBlockByNumber',
    'eth_getCode',
    'eth_chainId',
  ])('takes no failure of %s for a revert, since it runs no contract', (method) => {
    for (const error of [
      message(3, 'no'),
      message(-32000, 'execution reverted'),
      message(-32000, 'out of gas'),
    ])
      expect(classOf(error, { method, params: [] })).toBe('RPC_REFUSED');
  });

  it('takes a code alone, and the height that anvil names after a restart', () => {
    expect(classOf(message(-32001, 'not now'))).toBe('RPC_RATE_LIMITED');
    const anvil = 'BlockOutOfRangeError: block height is 1462 but requested was 101';
    expect(classOf(message(-32000, anvil), CALL)).toBe('RPC_STATE_UNAVAILABLE');
  });

  it.each([
    ['geth', -32000, 'invalid block range params'],
    ['Confura', -32000, 'invalid block range (from block larger than to block)'],
    ['a plan', -32600, 'eth_getLogs is not available on your current plan'],
    ['a word', -32602, 'topic is out of range'],
  ])('%s: not a matter of size', (_node, code, text) => {
    expect(classOf(message(code, text))).toBe('RPC_REFUSED');
  });

  it('takes -32005 for the rate where a wait is named, for the range where none is', () => {
    const context = { endpoint: 'n', secrets: [], call: LOGS };
    // bnb-chain/bsc issue 1215
    const error = message(-32005, 'limit exceeded');
    expect(classifyRpcError(error, context).code).toBe('RPC_RANGE_TOO_LARGE');
    expect(classifyRpcError(error, { ...context, retryAfterMs: 1000 })).toMatchObject({
      code: 'RPC_RATE_LIMITED',
      retryAfterMs: 1000,
    });
  });

  it.each([
    [
      'batch limit 100 exceeded (can increase by --rpc.batch.limit). Requested batch of size: 9',
      100,
    ],
    ['Batch of more than 3 requests are not allowed on free tier', 3],
    ['batch too large', undefined],
  ])('reads the limit of a batch: %s', (text, limit) => {
    const context = { endpoint: 'n', secrets: [], call: LOGS };
    const error = classifyRpcError(message(-32600, text), context);
    expect(error).toMatchObject({ code: 'RPC_BATCH_TOO_LARGE', limit });
  });

  it('tells limits and unknown methods apart', () => {
    expect(classOf(message(-32005, 'no'), CALL)).toBe('RPC_RATE_LIMITED');
    expect(classOf(message(-32601, 'the method eth_getBlockReceipts does not exist'), CALL)).toBe(
      'RPC_REFUSED',
    );
  });

  it('suspects the size behind an error of logs without a known meaning, not behind an unknown method', () => {
    const context = { endpoint: 'n', secrets: [], call: LOGS };
    expect(classifyRpcError(message(-32603, 'Internal error'), context)).toMatchObject({
      sizeMayExplain: true,
    });
    expect(classifyRpcError(message(-32601, 'Method not found'), context)).toMatchObject({
      sizeMayExplain: false,
    });
  });

  it('finds the text in the data, and survives errors that are none', () => {
    expect(
      classOf({
        code: -32602,
        message: 'invalid params',
        data: { payload: 'range 9 is bigger than range limit 2' },
      }),
    ).toBe('RPC_RANGE_TOO_LARGE');
    expect(classOf('block range is too wide')).toBe('RPC_RANGE_TOO_LARGE');
    expect(classOf({ code: 'x', message: 7 }, CALL)).toBe('RPC_TRANSPORT');
    expect(classOf(true, CALL)).toBe('RPC_TRANSPORT');
  });

  it('hands on the proposed range and the wait', () => {
    const context = { endpoint: 'n', secrets: [], call: LOGS };
    expect(
      classifyRpcError(
        message(
          -32005,
          'query returned more than 10000 results. Try with this block range [0x64, 0xC8].',
        ),
        context,
      ),
    ).toMatchObject({ proposedTo: 200n });
    expect(
      classifyRpcError(
        {
          code: -32005,
          message: 'project ID request rate exceeded',
          data: { rate: { backoff_seconds: 30 } },
        },
        context,
      ),
    ).toMatchObject({ retryAfterMs: 30_000 });
  });

  it('lets neither URLs nor keys out, and stays short', () => {
    const text = `no: https://rpc.example.com/v3/abcdef s3cr3t-key ${'x'.repeat(5000)}`;
    const error = classifyRpcError(message(-1, text), {
      endpoint: 'n',
      secrets: ['s3cr3t-key'],
      call: CALL,
    });
    expect(error.message).not.toMatch(/example|s3cr3t/);
    expect(error.message).toMatch(/^n: eth_call failed: no: <url> <redacted> x+… \(-1\)$/);
    expect(error.message.length).toBeLessThan(400);
  });
});

describe('the range that a node proposes', () => {
  const asked = { from: 100n, to: 10_000n };

  it.each([
    ['this block range should work: [0x64, 0xc8]', 200n],
    ['try with this block range [0x64,0xc8].', 200n],
    ['query exceeds max results 20000, retry with the range 100-200', 200n],
    ['range 1000000 exceeds limit of 1000', 1_099n],
    ['range 9009594 is bigger than range limit 2000', 2_099n],
    ['eth_getlogs is limited to a 1,000 range', 1_099n],
    ['you can make eth_getlogs requests with up to a 10 block range', 109n],
    ['up to a 2k block range', 2_099n],
    ['query exceeds max block range 5000', 5_099n],
    ['exceed maximum block range: 5000', 5_099n],
    ['requested too many blocks from 0 to 5000000, maximum is set to 1024', 1_123n],
    ['block range = 5120, max block range = 5000', 5_099n],
    ['maximum [from, to] blocks distance: 1000', 1_099n],
    ['`fromblock`-`toblock` range too large. max range: 800', 899n],
    ['requested block range 801 exceeds the limit of 200', 299n],
    ['requested range is over limit of 100', 199n],
    ['eth_getlogs is limited to 1024 block range', 1_123n],
    ['eth_getlogs and eth_newfilter are limited to a 1,000 blocks range', 1_099n],
    ['logs are limited to a 1000 block range', 1_099n],
    ['query exceeds max block range of 1000', 1_099n],
    ['block range is too wide (maximum 1024)', 1_123n],
  ])('%s', (text, expected) => {
    expect(proposedTo(text, undefined, asked)).toBe(expected);
  });

  it('is read from the data too', () => {
    expect(proposedTo('no', { from: '0x64', to: '0xC8', limit: 10000 }, asked)).toBe(200n);
  });

  it.each([
    ['the same range again', 'retry with the range 100-10000'],
    ['a larger one', '[0x64, 0xffffff]'],
    ['one that begins elsewhere', '[0x0, 0xc8]'],
    ['one that ends before it begins', '[0x64, 0x1]'],
    ['a limit in results', 'query returned more than 1000 results'],
    ['a limit in logs', 'max 1000 logs'],
    ['nothing', 'block range is too wide'],
    ['a limit that is not below what was asked', 'query exceeds max block range 50000'],
  ])('is not believed where it is %s', (_case, text) => {
    expect(proposedTo(text, undefined, asked)).toBeUndefined();
  });
});

describe('Retry-After', () => {
  const NOW = Date.UTC(2026, 0, 1, 12, 0, 0);

  it.each([
    ['7', 7000],
    [' 0.5 ', 500],
    ['0', 0],
    ['Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
    ['Thu, 01 Jan 2026 11:59:00 GMT', 0],
    ['45', 45_000],
    // The endpoint may recover long before, so it is tried once a minute.
    ['1000000000', 60_000],
    ['soon', undefined],
    ['-5', undefined],
    ['', undefined],
    [null, undefined],
  ])('%p', (header, expected) => {
    expect(retryAfterMs(header, NOW)).toBe(expected);
  });
});
