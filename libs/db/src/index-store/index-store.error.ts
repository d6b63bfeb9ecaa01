import { type BlockRef, PermanentError, RetryableError } from '#libs/domain';

/** Another process has taken the lead; this one must not write again. */
export class FencedError extends PermanentError {
  constructor() {
    super(
      'INDEX_FENCED',
      'Another indexer has taken the lead over this index; this one stops writing. Run one indexer for each database, or let the other take over.',
    );
  }
}

/** The stored head is not the one that the write builds on. Nothing was written: read the state and go on from there. */
export class HeadMovedError extends RetryableError {
  constructor(expected: BlockRef) {
    super(
      'INDEX_HEAD_MOVED',
      `The stored head is no longer block ${expected.number.toString()} (${expected.hash}); nothing was written`,
    );
  }
}

/** There is no index in this database yet. */
export class IndexMissingError extends PermanentError {
  constructor() {
    super('INDEX_MISSING', 'This database holds no index yet: start the indexer once');
  }
}
