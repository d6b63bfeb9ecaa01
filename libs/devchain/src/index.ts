export * from './anvil.js';
export { addressOfKey } from './private-key.js';
/** As Sign-In with Ethereum messages carry an address: capitals and small letters are its checksum (EIP-55). */
export { getAddress as checksummed } from 'viem';
/** `0x` and 64 hex digits. */
export { generatePrivateKey as mintPrivateKey } from 'viem/accounts';
export { DevRpc, JsonRpcFault } from './json-rpc.js';
export * from './deployments.js';
export * from './player.js';
export { type DevReceipt, type DevTransaction, mineBlock, mineOne } from './mined-block.js';
