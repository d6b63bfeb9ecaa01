import { SqlMigration } from '../connection/schema-migration.js';

/** What operators page through and search for, without a look at rows that are not shown; see redemption-plans.int-spec.ts. */
export class SearchIndexes1760000000038 extends SqlMigration {
  readonly olderMayStart = true;
  readonly upStatements = [INDEXES];
  readonly downStatements = [
    'DROP INDEX redemption.redemption_undone, redemption.redemption_queue',
  ];
}

/** What was settled by hand stays in its state for good: without it the index is as small as what is open. */
const INDEXES = `
CREATE INDEX redemption_queue ON redemption.redemption ((state <> 'attention'), state_since_at, id)
  WHERE state NOT IN ('claimed', 'reverted', 'failed') AND (state <> 'attention' OR reason IS DISTINCT FROM 'settled-by-hand');
CREATE INDEX redemption_undone ON redemption.redemption (state, partner, id) WHERE state IN ('reverted', 'failed');
`;
