export { startChain, type TestChain, type TestChainOptions } from './start-chain.js';
export {
  stake,
  type StakeBlock,
  type StakeMove,
  type StakeTransaction,
  type StakingDeployment,
  StakingPlayer,
  withdraw,
} from '#libs/devchain';
