/** Nest tokens of what is put together at start. */
export const SETTINGS = Symbol('IndexerSettings');
export const CHAIN = Symbol('ChainParts');
export const INDEXER = Symbol('Indexer');
