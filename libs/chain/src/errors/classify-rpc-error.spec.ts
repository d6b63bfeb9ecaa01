import { describe, expect, it } from '@jest/globals';
import { classifyRpcError } from './classify-rpc-error.js';

const LOGS = { method: 'eth_getLogs', params: [{ fromBlock: '0x64', toBlock: '0x2710' }] };
const CALL = { method: 'eth_call', params: [] };

function classOf(error: unknown, call = LOGS as { method: string; params: unknown[] }): string {
  return classifyRpcError(error, { endpoint: 'node#1', secrets: ['s3cr3t-key'], call }).code;
}

const message = (code: number, text: string): unknown => ({ code, message: text });

describe('what a refusal of eth_getLogs means', () => {
  // As reported by users of these providers and nodes.
  it.each([
    [
      'Alchemy',
      -32602,
      'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x64, 0xc8]',
    ],
    [
      'Alchemy, free plan',
      -32600,
      'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x64, 0x6d]. Upgrade to PAYG for expanded block range.',
    ],
    [
      'Alchemy, slow',
      -32000,
      'Query timeout exceeded. Consider reducing your block range. Based on your parameters and the response size limit, this block range should work: [0x64, 0x80]',
    ],
    [
      'Infura',
      -32005,
      'query returned more than 10000 results. Try with this block range [0x64, 0xc8].',
    ],
    ['Infura since 2026', -32602, 'range 1000000 exceeds limit of 10000'],
    ['QuickNode', -32614, 'eth_getLogs is limited to a 10,000 range'],
    ['Ankr', -32600, 'block range is too wide'],
    ['Ankr, newer', -32602, 'maximum [from, to] blocks distance: 10000'],
    [
      'Chainstack',
      -32602,
      'Block range limit exceeded. See more details at https://docs.chainstack.com/docs/limits#evm-range-limits.',
    ],
    [
      'Cloudflare',
      -32047,
      'Invalid eth_getLogs request. `fromBlock`-`toBlock` range too large. Max range: 800',
    ],
    ['dRPC', 35, 'ranges over 10000 blocks are not supported on freetier'],
    ['Tenderly', -32602, 'invalid params: range 9009594 is bigger than range limit 2000'],
    ['reth', -32602, 'query exceeds max block range 5000'],
    ['reth, results', -32602, 'query exceeds max results 20000, retry with the range 100-200'],
    ['geth', -32602, 'exceed maximum block range: 5000'],
    ['geth, body', -32003, 'response too large'],
    ['erigon', -32000, 'query block range exceeds server limit, narrow your filter: 5000'],
    ['besu', -32005, 'Requested range exceeds maximum RPC range limit'],
    ['nethermind', -32005, 'Too many logs requested. Max logs per response is 20000.'],
    [
      'zkSync',
      -32602,
      'Query returned more than 10000 results. Try with this block range [0x64, 0x30f].',
    ],
    ['jsonrpsee', -32008, 'Response is too big'],
    ['scroll', -32000, 'block range is bigger than maxBlockRange'],
    [
      'morph',
      -32000,
      'block range is larger than max block range, block range = 5120, max block range = 5000',
    ],
    ['avalanche', -32000, 'requested too many blocks from 0 to 5000000, maximum is set to 1024'],
    // bnb-chain/bsc issue 1215
    ['bsc', -32005, 'limit exceeded'],
    // DefiLlama/chainlist pull request 3037
    ['Ronin', -32000, 'requested block range 801 exceeds the limit of 200'],
    ['Tatum', -32000, 'Requested range is over limit of 100'],
    // GLEECBTC/komodo-defi-framework issue 2029
    ['BlockPI', -32602, 'eth_getLogs is limited to 1024 block range. Please check the parameters'],
    // thirdweb-dev/js issue 275
    ['QuickNode', -32602, 'eth_getLogs and eth_newFilter are limited to a 10,000 blocks range'],
    // AlphaWallet/alpha-wallet-ios issue 5277
    ['Candle', -32600, 'block range too high'],
    // moonbeam-foundation/moonbeam pull request 3250
    ['Moonbeam', -32603, 'block range is too wide (maximum 1024)'],
    // 0xPolygon/zkevm-node issue 3136
    ['Polygon zkEVM', -32602, 'logs are limited to a 10000 block range'],
    // circlefin/arc-node pull request 383
    ['Arc', -32600, 'Query exceeds max block range of 10000'],
    // Conflux-Chain/conflux-documentation issue 335
    ['Confura', -32000, 'query set is too large, please narrow down your filter condition'],
    ['Confura, results', -32000, 'result set to be queried is too large with more than 10000 logs'],
    // cartesi/rollups-node pull request 655
    ['Alchemy, 500', -32600, 'You can make eth_getLogs requests with up to a 500 block range.'],
  ])('%s: too large', (_provider, code, text) => {
    expect(classOf(message(code, text))).toBe('RPC_RANGE_TOO_LARGE');
  });

  it.each([
    [
      'Alchemy',
      429,
      'Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore this message.',
    ],
    ['Infura', -32005, 'project ID request rate exceeded'],
    ['Infura, day', -32005, 'daily request count exceeded, request rate limited'],
    [
      'QuickNode',
      -32007,
      '50/second request limit reached - reduce calls per second or upgrade your account',
    ],
    ['QuickNode, credits', -32012, 'credits limited to 6000/sec'],
    ['Chainstack', -32005, "You've exceeded the RPS limit available on the current plan."],
    ['public', -32000, 'Too Many Requests'],
    // base/node issue 368
    ['public, other', -32016, 'over rate limit'],
    // fluencelabs/dev-rewards issue 20
    ['Tenderly', -32005, 'rate limit exceeded'],
    // DefiLlama/chainlist pull request 3037
    ['routeme', -32000, 'public rate limit exceeded'],
    // reown-com/blockchain-api pull request 1102
    ['TheRPC', -32029, 'limit'],
    // megaeth-labs/documentation pull request 83
    ['MegaETH', -32005, 'Rate limit exceeded'],
    ['a code alone', -32001, 'not now'],
  ])('%s: too often', (_provider, code, text) => {
    expect(classOf(message(code, text))).toBe('RPC_RATE_LIMITED');
  });

  it.each([
    // DefiLlama/chainlist pull request 3037
    ['dRPC', -32000, 'Temporary internal error'],
    // Conflux-Chain/conflux-documentation issue 335
    ['Confura', -32000, 'server is too busy, please try again later'],
    ['Confura, nodes', -32000, 'no full node available'],
    ['EIP-1474', -32603, 'Internal error'],
  ])('%s: not now', (_provider, code, text) => {
    expect(classOf(message(code, text))).toBe('RPC_TRANSPORT');
    expect(classOf(message(code, text), CALL)).toBe('RPC_TRANSPORT');
  });

  it.each([
    // enviodev/hyperindex issue 715
    ['dRPC', 30, 'Request timeout on the free tier, please upgrade your tier to the paid one'],
    // Conflux-Chain/conflux-documentation issue 335
    ['Confura', -32000, 'query timeout with duration exceeds 3s'],
  ])('%s: too slow', (_provider, code, text) => {
    expect(classOf(message(code, text))).toBe('RPC_TIMEOUT');
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
    const error = message(-32005, 'limit exceeded');
    expect(classifyRpcError(error, context).code).toBe('RPC_RANGE_TOO_LARGE');
    expect(classifyRpcError(error, { ...context, retryAfterMs: 1000 })).toMatchObject({
      code: 'RPC_RATE_LIMITED',
      retryAfterMs: 1000,
    });
  });

  it.each([
    ['geth', -32000, 'header not found'],
    ['reth', -32001, 'unknown block'],
    ['execution-apis', -32602, 'block range extends beyond current head block'],
    ['avalanche', -32000, 'cannot query unfinalized data'],
    [
      'parity',
      -32000,
      'One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found.',
    ],
  ])('%s: behind', (_node, code, text) => {
    expect(classOf(message(code, text))).toBe('RPC_NODE_BEHIND');
  });

  it.each([
    ['anvil after a restart', 'BlockOutOfRangeError: block height is 1462 but requested was 101'],
    ['geth', 'missing trie node ef7df5d88cb1614dc3f143879a653cd90717ee42 (path )'],
    ['geth, tracing', 'required historical state unavailable (reexec=128)'],
    ['geth, path scheme', 'historical state 0xab is not available'],
    [
      'nethermind',
      'No state available for block 0x3f9e020290502d1d41f4b5519e7d456f0935dea980ec310935206cac8239117e',
    ],
    ['besu', 'World state unavailable'],
    ['erigon', 'old data not available due to pruning: requested block 6134861'],
    ['reth', 'pruned history unavailable: requested 1, earliest available 2'],
    [
      'parity',
      'This request is not supported because your node is running with state pruning. Run with --pruning=archive.',
    ],
  ])('%s: pruned', (_node, text) => {
    expect(classOf(message(-32000, text), CALL)).toBe('RPC_STATE_UNAVAILABLE');
  });

  it.each([
    [-32600, 'batch too large', undefined],
    [
      -32600,
      'batch limit 100 exceeded (can increase by --rpc.batch.limit). Requested batch of size: 1000',
      100,
    ],
    [-32010, 'The batch request was too large', undefined],
    [-32600, 'Batch of more than 3 requests are not allowed on free tier', 3],
    [-32005, 'Batched requests are not supported by this server', undefined],
  ])('batch limits: %s %s', (code, text, limit) => {
    const error = classifyRpcError(message(code, text), { endpoint: 'n', secrets: [], call: LOGS });
    expect(error).toMatchObject({ code: 'RPC_BATCH_TOO_LARGE', limit });
  });

  it('tells time-outs, reverts and unknown methods apart', () => {
    expect(classOf(message(-32000, 'context deadline exceeded'))).toBe('RPC_TIMEOUT');
    expect(classOf(message(3, 'execution reverted'), CALL)).toBe('RPC_EXECUTION_REVERTED');
    const halted = message(-32603, 'EVM error OutOfGas');
    expect(classOf(halted, CALL)).toBe('RPC_EXECUTION_REVERTED');
    expect(classOf(message(-32000, 'execution reverted: nope'), CALL)).toBe(
      'RPC_EXECUTION_REVERTED',
    );
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
