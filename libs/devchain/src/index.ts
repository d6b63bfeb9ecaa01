export * from './anvil.js';
export { addressOfKey, checksummed, mintPrivateKey } from './private-key.js';
export { DevRpc, JsonRpcFault } from './json-rpc.js';
export { deployStaking, type StakingDeployment } from './staking/deployment.js';
export * from './staking/player.js';
export { deployLocalRegistry } from './registry/deployment.js';
export { deployLocalVault, type LocalVault, type VaultSetup } from './vault/deployment.js';
export { type DevReceipt, type DevTransaction, mineBlock, mineOne } from './mined-block.js';
