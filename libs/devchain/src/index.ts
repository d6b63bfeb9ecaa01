export * from './anvil.js';
export { addressOfKey } from './private-key.js';
/** Spells an address with its EIP-55 checksum (upper and lower case), as Sign-In with Ethereum requires. */
export { getAddress as checksummed } from 'viem';
/** Returns `0x` and 64 hex digits. */
export { generatePrivateKey as mintPrivateKey } from 'viem/accounts';
export { DevRpc, JsonRpcFault } from './json-rpc.js';
export * from './deployments.js';
export * from './player.js';
export { type DevReceipt, type DevTransaction, mineBlock, mineOne } from './mined-block.js';
