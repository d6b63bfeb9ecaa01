import { SqlMigration } from '../connection/schema-migration.js';

/**
 * The sum of all balances at the end of each day. It is kept from the events' amounts alone, so it shows balances that were computed
 * from a wrong state: their sum differs. For days that are indexed already it can only be the sum of their balances.
 */
export class DayTotals1760000007000 extends SqlMigration {
  readonly upStatements = [DAY_TOTALS];
  readonly downStatements = ['DROP TABLE staking.day_total'];
}

const DAY_TOTALS = `
CREATE TABLE staking.day_total (
  day int PRIMARY KEY,
  total numeric(78, 0) NOT NULL CHECK (total >= 0)
);
COMMENT ON TABLE staking.day_total IS 'each day with a balance change, and the sum of all balances at its end or, on the newest day, at the head';

INSERT INTO staking.day_total (day, total)
  SELECT day, sum(sum(change)) OVER (ORDER BY day) FROM (
    SELECT day, closing - coalesce(lag(closing) OVER (PARTITION BY wallet ORDER BY day), 0) AS change FROM staking.balance_day
  ) AS of_wallet GROUP BY day;
`;
