export { priceOf } from './budget-meter.js';
export { changesOf, type ChainHistory, eventBlocksIn } from './chain-history.js';
export { type ProviderBehaviour } from './provider-behaviour.js';
export { type MethodCount, type ProviderStats } from './provider-stats.js';
export { ReplayChain } from './replay-chain.js';
export {
  FOLLOWED_POOL,
  type ReplayContracts,
  replayWallet,
  replayWalletNumber,
} from './replay-contracts.js';
export { ReplaySource } from './replay-methods.js';
export { type ReplayProvider, startReplayProvider } from './replay-provider.js';
export { REPLAY_SHAPES, type ReplayShape, slicedShape } from './replay-shape.js';
