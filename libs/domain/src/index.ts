export { type Address, parseAddress } from './chain/address.js';
export { type BlockHash, type BlockHeader, type BlockRef } from './chain/block.js';
export {
  type BalanceChange,
  type BalanceDay,
  type BlockDeltas,
  type StakeDelta,
  type WalletState,
} from './balance/balance.js';
