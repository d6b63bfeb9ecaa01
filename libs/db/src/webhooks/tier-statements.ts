/**
 * The statements for one page of wallets of a pass: their measure at a final point, their tiers, and the events of
 * wallets whose tier changed. A page is one statement, so that everything is read from one state of the index.
 */
import { named } from '../connection/named.js';
import { EVERY_WALLET } from '../seal/day-lows.js';

export interface TierPage {
  /** Id of the subscription. */
  readonly id: string;
  readonly version: number;
  readonly set: string;
  /** The day or block to calculate the tiers for. */
  readonly point: string;
  /** The day or block of the stored tiers. */
  readonly before: string;
  readonly days: number;
  /** The last wallet of the previous page. */
  readonly after: Buffer;
  readonly limit: number;
  /** Whether wallets whose tier changed get an event. */
  readonly tells: boolean;
}

export interface TierPageRow {
  /** The index is final, verified and consistent up to the point. If false, nothing was done. */
  readonly holds: boolean;
  readonly seen: number;
  readonly last: Buffer | null;
  readonly told: number;
}

const ALL = `${EVERY_WALLET}, page AS MATERIALIZED (SELECT wallet FROM every WHERE wallet IS NOT NULL LIMIT :limit)`;

/**
 * The wallets with a change in the range of blocks. The changes are found by the index of blocks, so each
 * page reads all of them.
 */
const changedIn = (range: string): string => `page AS MATERIALIZED (
      SELECT DISTINCT wallet FROM staking.balance_change WHERE ${range} AND wallet > :after ORDER BY wallet LIMIT :limit
    )`;

const lastBlock = (day: string): string =>
  `coalesce((SELECT s.block_number FROM staking.sealed_day s WHERE s.day = ${day} ORDER BY s.revision DESC LIMIT 1), -1)`;

interface Measure {
  readonly name: string;
  /** The condition on `i`, the state of the index. */
  readonly holds: string;
  /** The condition on the changes that can alter the measure. */
  readonly range: string;
  /** The measure of `page.wallet`. For several days this is their sum, so that nothing is rounded. */
  readonly amount: string;
  readonly point: string;
}

/**
 * `before` minus `days` is the day before the previous window. A wallet without a change since the end of this day has
 * the same low on all days of both windows, so its measure stays the same.
 */
const OF_DAYS: Measure = {
  name: 'days',
  holds: `least(i.finalised_number, i.verified_number) > ${lastBlock(':point::int')}
        AND EXISTS (SELECT FROM staking.sealed_day s WHERE s.day = :point::int)
        AND NOT EXISTS (SELECT FROM staking.seal_recheck r WHERE r.from_day <= :point::int)`,
  range: `block > ${lastBlock(':before::int - :days::int')} AND block <= ${lastBlock(':point::int')}`,
  amount: `(SELECT sum(coalesce(one.low, 0)) FROM generate_series(:point::int - :days::int + 1, :point::int) AS of(day)
        LEFT JOIN LATERAL (
          SELECT CASE WHEN d.day = of.day THEN least(d.low, d.closing) ELSE d.closing END AS low
          FROM staking.balance_day d WHERE d.wallet = page.wallet AND d.day <= of.day ORDER BY d.day DESC LIMIT 1) AS one ON true)`,
  point: `'day', to_char(date '1970-01-01' + :point::int, 'YYYY-MM-DD'), 'days', nullif(:days::int, 1)`,
};

const OF_BALANCE: Measure = {
  name: 'balance',
  holds: 'least(i.finalised_number, i.verified_number) >= :point::bigint AND :days::int = 1',
  range: 'block > :before::bigint AND block <= :point::bigint',
  amount: `coalesce((SELECT c.balance FROM staking.balance_change c
        WHERE c.wallet = page.wallet AND c.block <= :point::bigint ORDER BY c.block DESC LIMIT 1), 0)`,
  point: `'blockNumber', :point::bigint`,
};

/**
 * `greatest`: a tier rises as soon as a threshold is reached. `least`: a tier falls only below its
 * threshold minus the hysteresis.
 */
const pageOf = (measure: Measure, isAll: boolean) =>
  named<TierPage>(
    `webhook_tiers_${measure.name}_${isAll ? 'all' : 'changed'}`,
    `WITH RECURSIVE holds AS (
      SELECT i.token_decimals FROM staking.index_state i
      WHERE i.halted_at IS NULL AND ${measure.holds} AND :before::text IS NOT NULL
    ), ${isAll ? ALL : changedIn(measure.range)}, measured AS (
      SELECT page.wallet, ${measure.amount} AS amount FROM page WHERE EXISTS (SELECT FROM holds)
    ), judged AS (
      SELECT m.wallet, m.amount, s.measure, coalesce(t.tier, 0) AS before,
        greatest((SELECT count(*) FROM unnest(s.thresholds) AS x WHERE x * s.days <= m.amount),
          least(coalesce(t.tier, 0), (SELECT count(*) FROM unnest(s.thresholds) AS x WHERE (x - s.hysteresis) * s.days <= m.amount))
        )::int AS tier, s.thresholds
      FROM measured m JOIN webhooks.subscription s ON s.id = :id::uuid
      LEFT JOIN webhooks.wallet_tier t ON (t.subscription, t.version, t.wallet) = (:id::uuid, :version::int, m.wallet)
    ), moved AS MATERIALIZED (SELECT * FROM judged WHERE tier <> before
    ), stored AS (
      INSERT INTO webhooks.wallet_tier (subscription, version, wallet, tier)
      SELECT :id::uuid, :version::int, wallet, tier FROM moved
      ON CONFLICT (subscription, version, wallet) DO UPDATE SET tier = excluded.tier
    ), told AS (
      INSERT INTO webhooks.event (subscription, type, order_key, payload)
      SELECT :id::uuid, 'wallet.tier-changed', '0x' || encode(wallet, 'hex'),
        jsonb_build_object('type', 'wallet.tier-changed', 'timestamp', webhooks.iso(now()), 'data', jsonb_strip_nulls(jsonb_build_object(
          'walletAddress', '0x' || encode(wallet, 'hex'), 'tier', tier, 'previousTier', before, 'measure', measure,
          'amount', trunc(amount / :days::int)::text, 'tokenDecimals', (SELECT token_decimals FROM holds),
          'stakeSet', :set::text, ${measure.point}))
          || jsonb_build_object('threshold', thresholds[tier]::text))::text
      FROM moved WHERE :tells::boolean ORDER BY wallet
      RETURNING 1
    )
    SELECT EXISTS (SELECT FROM holds) AS holds, (SELECT count(*) FROM page)::int AS seen,
      (SELECT wallet FROM page ORDER BY wallet DESC LIMIT 1) AS last, (SELECT count(*) FROM told)::int AS told`,
  );

const manyOf = (measure: Measure) =>
  named<Pick<TierPage, 'point' | 'before' | 'days'> & { readonly few: number }>(
    `webhook_tiers_${measure.name}_many`,
    `SELECT count(*) > :few::int AS "isMany" FROM (
      SELECT FROM staking.balance_change WHERE ${measure.range} LIMIT :few::int + 1
    ) AS one WHERE :before::text IS NOT NULL AND :days::int IS NOT NULL`,
  );

/**
 * By kind of measure: a page of all wallets, a page of the wallets that changed, and whether there are
 * more changes than `few`.
 */
export const TIER_PAGES = {
  days: { all: pageOf(OF_DAYS, true), changed: pageOf(OF_DAYS, false), many: manyOf(OF_DAYS) },
  balance: {
    ...{ all: pageOf(OF_BALANCE, true), changed: pageOf(OF_BALANCE, false) },
    many: manyOf(OF_BALANCE),
  },
} as const;
