export * from './anvil.js';
export { addressOfKey, checksummed, mintPrivateKey } from './private-key.js';
export { DevRpc, JsonRpcFault } from './json-rpc.js';
export * from './deployments.js';
export * from './player.js';
export { type DevReceipt, type DevTransaction, mineBlock, mineOne } from './mined-block.js';
