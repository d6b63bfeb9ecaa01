/**
 * What nodes and providers say when they refuse, and what it means: the first row that fits counts. For a provider
 * that says something else, add what it says under `met`, and its words under `says` if no other ones fit. The spec tries
 * every refusal under `met`. The codes alone say little: -32005 is a rate limit at one provider and a range limit at
 * another, and -32602, -32600 and -32000 are used for both.
 */

export type Meaning =
  | 'state unavailable'
  | 'node behind'
  | 'range too large'
  | 'batch too large'
  /** Too much traffic, or no credit left. Both pass with time, not with a smaller range. */
  | 'rate limit'
  /** A limit that is not named: of the rate, or of the size. */
  | 'limit'
  | 'timeout'
  | 'reverted'
  /** The node, or the gateway before it, reports that it cannot answer now. */
  | 'unavailable';

/** Provider or node, code, message, and the report if it is public. */
type Refusal = readonly [by: string, code: number, text: string, source?: string];

interface KnownError {
  readonly means: Meaning;
  /** One of these is in the message or its data, in lower case. */
  readonly says?: readonly (string | RegExp)[];
  /** Or the error has one of these codes. */
  readonly codes?: readonly number[];
  /** Counts for requests that grow with their range only, and if the range itself is valid. */
  readonly isOfRanges?: true;
  /** Counts for requests that run a contract's code only. */
  readonly isOfCalls?: true;
  /** Refusals of this kind that users of these providers reported. */
  readonly met?: readonly Refusal[];
}

/**
 * anvil after a restart: the state of older blocks is gone, and the text is that of a block that does not exist yet.
 * The two numbers tell the cases apart.
 */
export const BLOCK_OUT_OF_RANGE = /block height is (\d+) but requested was (\d+)/;

/** A range that is invalid, whatever its size. */
export const RANGE_INVALID =
  /invalid (?:block )?range(?!.*(?:limit|exceed|max|bigger|too ))|from ?block (?:is )?(?:larger|greater|higher|after|above)/;

export const KNOWN_ERRORS: readonly KnownError[] = [
  {
    means: 'state unavailable',
    says: [
      'missing trie node',
      'historical state',
      'no state available',
      'world state unavailable',
      'old data not available due to pruning',
      'pruned history',
      'state pruning',
      'state is pruned',
      'state has been pruned',
      'state already discarded',
      'proof window',
      'archive node',
      'archival',
      'only serves recent blocks',
      'state at block',
    ],
    met: [
      ['geth', -32000, 'missing trie node ef7df5d88cb1614dc3f143879a653cd90717ee42 (path )'],
      ['geth, tracing', -32000, 'required historical state unavailable (reexec=128)'],
      ['geth, path scheme', -32000, 'historical state 0xab is not available'],
      [
        'nethermind',
        -32000,
        'No state available for block 0x3f9e020290502d1d41f4b5519e7d456f0935dea980ec310935206cac8239117e',
      ],
      ['besu', -32000, 'World state unavailable'],
      ['erigon', -32000, 'old data not available due to pruning: requested block 6134861'],
      ['reth', -32000, 'pruned history unavailable: requested 1, earliest available 2'],
      [
        'parity',
        -32000,
        'This request is not supported because your node is running with state pruning. Run with --pruning=archive.',
      ],
    ],
  },
  {
    means: 'node behind',
    says: [
      'header not found',
      'block not found',
      'unknown block',
      'block could not be found',
      'could not find block',
      'unfinalized data',
      'after last accepted block',
      'beyond current head',
      'block is out of range',
      'blockoutofrange',
      'resource not found',
      'greater than latest',
      'ahead of latest',
      'future block',
      'finalized block not found',
      'safe block not found',
      'invalid block height',
      'block hash not found',
      'blockhash) cannot be found',
      // Lotus, for a height that the chain skips
      'null round',
    ],
    met: [
      ['geth', -32000, 'header not found'],
      ['reth', -32001, 'unknown block'],
      ['execution-apis', -32602, 'block range extends beyond current head block'],
      ['avalanche', -32000, 'cannot query unfinalized data'],
      [
        'parity',
        -32000,
        'One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found.',
      ],
    ],
  },
  // An answer of any method that is too large to send.
  {
    means: 'range too large',
    says: [/(?:batch )?response (?:is |was )?too (?:big|large)/, /response size (?:limit|exceed)/],
    met: [
      [
        'Alchemy',
        -32602,
        'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x64, 0xc8]',
      ],
      [
        'Alchemy, slow',
        -32000,
        'Query timeout exceeded. Consider reducing your block range. Based on your parameters and the response size limit, this block range should work: [0x64, 0x80]',
      ],
      ['geth, body', -32003, 'response too large'],
      ['jsonrpsee', -32008, 'Response is too big'],
    ],
  },
  // Names the range itself, so that words about plans and limits beside it do not mean a rate limit.
  {
    means: 'range too large',
    says: [
      /blocks? range/,
      /range limit/,
      /range is too/,
      /requested range/,
      /range is over/,
      /[\d,]+k? (?:blocks? )?range/,
      /more than [\d,]+ (?:results|logs)/,
    ],
    isOfRanges: true,
    met: [
      [
        'Alchemy, free plan',
        -32600,
        'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x64, 0x6d]. Upgrade to PAYG for expanded block range.',
      ],
      [
        'Infura',
        -32005,
        'query returned more than 10000 results. Try with this block range [0x64, 0xc8].',
      ],
      ['QuickNode', -32614, 'eth_getLogs is limited to a 10,000 range'],
      ['Ankr', -32600, 'block range is too wide'],
      [
        'Chainstack',
        -32602,
        'Block range limit exceeded. See more details at https://docs.chainstack.com/docs/limits#evm-range-limits.',
      ],
      ['Tenderly', -32602, 'invalid params: range 9009594 is bigger than range limit 2000'],
      ['reth', -32602, 'query exceeds max block range 5000'],
      ['geth', -32602, 'exceed maximum block range: 5000'],
      ['erigon', -32000, 'query block range exceeds server limit, narrow your filter: 5000'],
      ['besu', -32005, 'Requested range exceeds maximum RPC range limit'],
      [
        'zkSync',
        -32602,
        'Query returned more than 10000 results. Try with this block range [0x64, 0x30f].',
      ],
      ['scroll', -32000, 'block range is bigger than maxBlockRange'],
      [
        'morph',
        -32000,
        'block range is larger than max block range, block range = 5120, max block range = 5000',
      ],
      [
        'Ronin',
        -32000,
        'requested block range 801 exceeds the limit of 200',
        'https://github.com/DefiLlama/chainlist/pull/3037',
      ],
      ['Tatum', -32000, 'Requested range is over limit of 100'],
      [
        'BlockPI',
        -32602,
        'eth_getLogs is limited to 1024 block range. Please check the parameters',
        'https://github.com/GLEECBTC/komodo-defi-framework/issues/2029',
      ],
      [
        'QuickNode',
        -32602,
        'eth_getLogs and eth_newFilter are limited to a 10,000 blocks range',
        'https://github.com/thirdweb-dev/js/issues/275',
      ],
      [
        'Candle',
        -32600,
        'block range too high',
        'https://github.com/AlphaWallet/alpha-wallet-ios/issues/5277',
      ],
      [
        'Moonbeam',
        -32603,
        'block range is too wide (maximum 1024)',
        'https://github.com/moonbeam-foundation/moonbeam/pull/3250',
      ],
      [
        'Polygon zkEVM',
        -32602,
        'logs are limited to a 10000 block range',
        'https://github.com/0xPolygon/zkevm-node/issues/3136',
      ],
      [
        'Arc',
        -32600,
        'Query exceeds max block range of 10000',
        'https://github.com/circlefin/arc-node/pull/383',
      ],
      [
        'Confura, results',
        -32000,
        'result set to be queried is too large with more than 10000 logs',
      ],
      [
        'Alchemy, 500',
        -32600,
        'You can make eth_getLogs requests with up to a 500 block range.',
        'https://github.com/cartesi/rollups-node/pull/655',
      ],
    ],
  },
  {
    means: 'batch too large',
    says: [
      'batch too large',
      'batch request was too large',
      'batch size',
      'batch limit',
      'requests in batch',
      'batch of more than',
      'batched requests are not supported',
      'batch requests are not',
      'too many requests in a batch',
      'maximum batch',
    ],
    codes: [-32010],
    met: [
      ['geth', -32600, 'batch too large'],
      [
        'erigon',
        -32600,
        'batch limit 100 exceeded (can increase by --rpc.batch.limit). Requested batch of size: 1000',
      ],
      ['jsonrpsee', -32010, 'The batch request was too large'],
      ['dRPC', -32600, 'Batch of more than 3 requests are not allowed on free tier'],
      ['jsonrpsee', -32005, 'Batched requests are not supported by this server'],
    ],
  },
  {
    means: 'rate limit',
    says: [
      'rate limit',
      'rate-limit',
      'ratelimit',
      'rate exceeded',
      'too many requests',
      'compute units',
      'request limit',
      'requests limited',
      'request count exceeded',
      'credits limited',
      'credits exceeded',
      'capacity',
      'quota',
      'rps limit',
      'request rate',
      'usage limit',
      'slow down',
      'too many connections',
      'requests per second',
      'call rate',
      'under too much load',
      'free tier limit',
      'throttle',
    ],
    codes: [429, -32007, -32012, -32016, -32029],
    met: [
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
      ['public, other', -32016, 'over rate limit', 'https://github.com/base/node/issues/368'],
      [
        'Tenderly',
        -32005,
        'rate limit exceeded',
        'https://github.com/fluencelabs/dev-rewards/issues/20',
      ],
      [
        'routeme',
        -32000,
        'public rate limit exceeded',
        'https://github.com/DefiLlama/chainlist/pull/3037',
      ],
      ['TheRPC', -32029, 'limit', 'https://github.com/reown-com/blockchain-api/pull/1102'],
      [
        'MegaETH',
        -32005,
        'Rate limit exceeded',
        'https://github.com/megaeth-labs/documentation/pull/83',
      ],
    ],
  },
  // Refusals of eth_getLogs for size, which the rows above leave.
  {
    means: 'range too large',
    says: [
      /\brange\b.{0,40}(?:limit|exceed|too |max|over|bigger|larger|greater|wide)/,
      /(?:limit|exceed|max|up to|smaller|narrow|reduce).{0,40}\brange\b/,
      /\branges over\b/,
      /too many (?:blocks|logs|results)/,
      /more than [\d,]+ (?:results|logs|blocks)/,
      /max(?:imum)? (?:results|logs|blocks)/,
      /(?:response|result|query|log)s? ?(?:set |size )?(?:is |was )?(?:too (?:big|large)|exceed)/,
      /size exceeded/,
      /query set is too large/,
      /narrow (?:down )?your filter/,
      /exceeds? (?:the )?max/,
      /blocks distance/,
      /blocks are not supported/,
      /limit the query/,
      /query limit/,
      /up to an? [\d,]+k? block/,
      /limited to [\d,]+k? blocks/,
    ],
    isOfRanges: true,
    met: [
      ['Infura since 2026', -32602, 'range 1000000 exceeds limit of 10000'],
      ['Ankr, newer', -32602, 'maximum [from, to] blocks distance: 10000'],
      [
        'Cloudflare',
        -32047,
        'Invalid eth_getLogs request. `fromBlock`-`toBlock` range too large. Max range: 800',
      ],
      ['dRPC', 35, 'ranges over 10000 blocks are not supported on freetier'],
      ['reth, results', -32602, 'query exceeds max results 20000, retry with the range 100-200'],
      ['nethermind', -32005, 'Too many logs requested. Max logs per response is 20000.'],
      ['avalanche', -32000, 'requested too many blocks from 0 to 5000000, maximum is set to 1024'],
      [
        'Confura',
        -32000,
        'query set is too large, please narrow down your filter condition',
        'https://github.com/Conflux-Chain/conflux-documentation/issues/335',
      ],
    ],
  },
  {
    means: 'timeout',
    says: ['timeout', 'timed out', 'deadline exceeded', 'took too long', 'took longer'],
    met: [
      [
        'dRPC',
        30,
        'Request timeout on the free tier, please upgrade your tier to the paid one',
        'https://github.com/enviodev/hyperindex/issues/715',
      ],
      [
        'Confura',
        -32000,
        'query timeout with duration exceeds 3s',
        'https://github.com/Conflux-Chain/conflux-documentation/issues/335',
      ],
      ['geth', -32000, 'context deadline exceeded'],
    ],
  },
  {
    means: 'reverted',
    isOfCalls: true,
    says: [
      'revert',
      'vm exception',
      'vm execution error',
      'evm error',
      'invalid opcode',
      'invalid jump',
      'out of gas',
      'stack underflow',
    ],
    codes: [3],
    met: [
      ['geth', 3, 'execution reverted'],
      ['geth, with a reason', -32000, 'execution reverted: nope'],
      ['anvil', -32603, 'EVM error OutOfGas'],
    ],
  },
  // Sent for rates and for sizes: "limit exceeded" and "resource unavailable" of EIP-1474.
  { means: 'limit', codes: [-32005, -32001] },
  {
    means: 'unavailable',
    says: [
      'temporary internal error',
      'temporarily unavailable',
      'service unavailable',
      'internal server error',
      'cannot fulfill request',
      'too busy',
      'server busy',
      'full node available',
      'no available',
      'bad gateway',
      'upstream',
      'connection refused',
      'connection reset',
      'try again later',
      /^internal (?:json-rpc )?error\.?\s*$/,
    ],
    met: [
      [
        'dRPC',
        -32000,
        'Temporary internal error',
        'https://github.com/DefiLlama/chainlist/pull/3037',
      ],
      [
        'Confura',
        -32000,
        'server is too busy, please try again later',
        'https://github.com/Conflux-Chain/conflux-documentation/issues/335',
      ],
      ['Confura, nodes', -32000, 'no full node available'],
      ['EIP-1474', -32603, 'Internal error'],
    ],
  },
];
