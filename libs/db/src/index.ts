export { type DatabaseOptions, READER_ROLE } from './connection/connection-options.js';
export { createDatabase, Database, type Statement } from './connection/database.js';
export { DatabaseRefusedError, DatabaseUnavailableError } from './connection/database.error.js';
export { migrate } from './connection/migrate.js';
export { UnsupportedDatabaseError } from './connection/unsupported-database.error.js';
export { type IndexState, type InitialIndexState } from './index-store/index-state.js';
export { type IndexBatch, IndexStore, type Undone } from './index-store/index-store.js';
export { FencedError, HeadMovedError, IndexMissingError } from './index-store/index-store.error.js';
export { LeaderLock } from './index-store/leader-lock.js';
export {
  type FoundCredential,
  type NewCredential,
  type NewPartner,
  PartnerExistsError,
  PartnerStore,
} from './partners/partner-store.js';
export { type Price } from './prices/price.js';
export { PriceStore } from './prices/price-store.js';
export { type SnapshotRead, SnapshotStore } from './snapshots/snapshot-store.js';
