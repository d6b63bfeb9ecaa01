/**
 * Texts of refusals by nodes and providers, in lower case, collected from their sources and from reports of their
 * users. The codes alone say little: -32005 is a rate limit at one provider and a range limit at another, and -32602,
 * -32600 and -32000 are used for both.
 */

/** geth, nethermind, besu, erigon, reth, parity and proxies in front of them: the state or history was pruned. */
const STATE_UNAVAILABLE = [
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
];

/**
 * anvil after a restart: the state of older blocks is gone, and the text is that of a block that does not exist yet.
 * The two numbers tell the cases apart.
 */
export const BLOCK_OUT_OF_RANGE = /block height is (\d+) but requested was (\d+)/;

/** The node does not know the block (yet). */
const NODE_BEHIND = [
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
];

const BATCH_TOO_LARGE = [
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
];

/** Too much traffic, or no credit left. Both pass with time, not with a smaller range. */
const RATE_LIMITED = [
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
];

/** Codes that mean nothing but a rate limit: QuickNode, TheRPC and several public gateways. */
const RATE_LIMIT_CODES: readonly number[] = [429, -32007, -32012, -32016, -32029];

/** The node, or the gateway before it, reports that it cannot answer now. */
const UNAVAILABLE = [
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
];

/** The whole text of an error without any details. */
const INTERNAL_ERROR = /^internal (?:json-rpc )?error\.?\s*$/;

const TIMED_OUT = ['timeout', 'timed out', 'deadline exceeded', 'took too long', 'took longer'];

const REVERTED = [
  'revert',
  'vm exception',
  'vm execution error',
  // reth and anvil: "EVM error: OutOfGas", "EVM error InvalidFEOpcode"
  'evm error',
  'invalid opcode',
  'invalid jump',
  'out of gas',
  'stack underflow',
];

/** A range that is invalid, whatever its size. */
export const RANGE_INVALID =
  /invalid (?:block )?range(?!.*(?:limit|exceed|max|bigger|too ))|from ?block (?:is )?(?:larger|greater|higher|after|above)/;

/** Texts that name the range itself, so that words about plans and limits beside it do not mean a rate limit. */
const RANGE_FOR_CERTAIN =
  /blocks? range|range limit|range is too|requested range|range is over|[\d,]+k? (?:blocks? )?range|more than [\d,]+ (?:results|logs)/;

/** Refusals of eth_getLogs for size. Matched after the lists above. */
const RANGE_TOO_LARGE =
  /\brange\b.{0,40}(?:limit|exceed|too |max|over|bigger|larger|greater|wide)|(?:limit|exceed|max|up to|smaller|narrow|reduce).{0,40}\brange\b|\branges over\b|too many (?:blocks|logs|results)|more than [\d,]+ (?:results|logs|blocks)|max(?:imum)? (?:results|logs|blocks)|(?:response|result|query|log)s? ?(?:set |size )?(?:is |was )?(?:too (?:big|large)|exceed)|size exceeded|query set is too large|narrow (?:down )?your filter|exceeds? (?:the )?max|blocks distance|blocks are not supported|limit the query|query limit|up to an? [\d,]+k? block|limited to [\d,]+k? blocks/;

/** An answer of any method that is too large to send: geth, jsonrpsee. */
const ANSWER_TOO_LARGE =
  /(?:batch )?response (?:is |was )?too (?:big|large)|response size (?:limit|exceed)/;

export type Meaning =
  | 'state unavailable'
  | 'node behind'
  | 'range too large'
  | 'batch too large'
  | 'rate limit'
  /** A limit that is not named: of the rate, or of the size. */
  | 'limit'
  | 'timeout'
  | 'reverted'
  | 'unavailable';

interface KnownError {
  readonly means: Meaning;
  /** One of these texts is in the message or its data, in lower case. */
  readonly says?: readonly string[];
  readonly matches?: RegExp;
  readonly codes?: readonly number[];
  /** Counts for requests that grow with their range only, and where the range itself is valid. */
  readonly isOfRanges?: true;
}

/** What refusals mean: the first row that fits counts. The texts and their sources are above. */
export const KNOWN_ERRORS: readonly KnownError[] = [
  { means: 'state unavailable', says: STATE_UNAVAILABLE },
  { means: 'node behind', says: NODE_BEHIND },
  { means: 'range too large', matches: ANSWER_TOO_LARGE },
  { means: 'range too large', matches: RANGE_FOR_CERTAIN, isOfRanges: true },
  { means: 'batch too large', says: BATCH_TOO_LARGE, codes: [-32010] },
  { means: 'rate limit', says: RATE_LIMITED, codes: RATE_LIMIT_CODES },
  { means: 'range too large', matches: RANGE_TOO_LARGE, isOfRanges: true },
  { means: 'timeout', says: TIMED_OUT },
  { means: 'reverted', says: REVERTED, codes: [3] },
  // -32005 is "limit exceeded" and -32001 "resource unavailable": both are sent for rates and for sizes.
  { means: 'limit', codes: [-32005, -32001] },
  { means: 'unavailable', says: UNAVAILABLE, matches: INTERNAL_ERROR },
];
