export { type Fault } from './fault.js';
export { FaultyHistory } from './faulty-history.js';
export { FaultyNode, type NodeRequest, startFaultyNode } from './faulty-node.js';
export { CHAIN_ID, type NodeView, resultOf, STAKING, TOKEN } from './honest-node.js';
export { type NodeCall, NodeError } from './node-call.js';
export { isSelector, type Quirk, QUIRKS, TOTAL_STAKED } from './quirks.js';
export {
  type Block as SimulatedBlock,
  branchOf,
  SimulatedChain,
  type StakeEvent,
  walletsOf,
} from './simulated-chain.js';
