export {
  type CallRow,
  type DeliveryRow,
  type LedgerRow,
  type LedgerTables,
  MemoryLedger,
  type TransitionRow,
} from './memory-ledger.js';
export { MemoryDeliveryStore } from './memory-delivery-store.js';
export { MemoryRedemptionStore } from './memory-redemption-store.js';
export {
  MemoryAttemptStore,
  MemoryCoinStore,
  MemoryKnownVaults,
  MemoryRestoreStore,
} from './memory-stores.js';
