export { explained } from './explained.js';
export { seedRedemptions } from './seed-redemptions.js';
export { createTestDatabase, TestDatabase } from './test-database.js';
export { watchLocks } from './watch-locks.js';
export { PgBouncer } from './start-pgbouncer.js';
export { PostgresPair, startTestPostgres, TestServer } from './postgres-pair.js';
export { aBlock, aFold, anIndexOf, anInitialIndex, aWallet } from './index-builders.js';
export { stakeHistories } from './stake-histories.js';
export { listsOf } from './sealed-lists.js';
