export { lowmarkTokenAbi, lowmarkTokenBytecode } from './abi/lowmark-token.generated.js';
export { stakingAbi, stakingBytecode } from './abi/staking.generated.js';
export {
  AllEndpointsFailedError,
  ChainMismatchError,
  ExecutionRevertedError,
  LogsWithheldError,
  MalformedAnswerError,
  NodeBehindError,
  RangeTooLargeError,
  RateLimitedError,
  RpcError,
  RpcRefusedError,
  RpcTimeoutError,
  StateUnavailableError,
  TransportError,
} from './errors/rpc.errors.js';
export { loadStakeEvents, parseStakeEvents } from './events/parse-stake-events.js';
export { STAKE_EVENT_PRESETS } from './events/presets.js';
export { type StakeEffect, type StakeEventSpec } from './events/stake-event.js';
export { EventMismatchError } from './logs/event-decoder.js';
export { type FetchOptions, LogSource, type LogSourceOptions } from './logs/log-source.js';
export { type RangeAnswer } from './logs/range-answer.js';
export {
  ChainReader,
  type ChainReaderOptions,
  type Heads,
  type PriceRound,
  type TokenFacts,
} from './reader/chain-reader.js';
export { type Finality, parseFinality } from './reader/finality.js';
export { type RpcCall, type RpcResult } from './rpc/rpc-call.js';
export { type RpcObserver, type RpcRequestEvent, type RpcWarning } from './rpc/rpc-observer.js';
export { RpcPool, type RpcPoolOptions, type RpcSession } from './rpc/rpc-pool.js';
