export {
  anvilPath,
  type DevChain,
  type DevChainExit,
  type DevChainOptions,
  launchDevChain,
} from './anvil.js';
export { saveChainState } from './chain-state.js';
export { checksummed } from './checksummed.js';
export { DevRpc, type JsonRpcCall, JsonRpcFault } from './json-rpc.js';
export { addressOfKey, mintPrivateKey } from './private-key.js';
export { deployStaking, type StakingDeployment } from './staking/deployment.js';
export {
  stake,
  type StakeBlock,
  type StakeMove,
  type StakeTransaction,
  withdraw,
} from './staking/move.js';
export { StakingPlayer } from './staking/player.js';
export { deployLocalVault, type LocalVault, type VaultSetup } from './vault/deployment.js';
export { type DevReceipt, type DevTransaction, mineBlock, mineOne } from './vault/mined-block.js';
