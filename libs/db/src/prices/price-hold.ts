import { type PriceHold } from './price.js';

/** Whether an operator has accepted a figure since the hold `h` began. */
export const ACCEPTED_SINCE = `EXISTS (SELECT FROM staking.price_acceptance a WHERE a.at >= h.since)`;

export interface HoldRow {
  since: Date;
  reason: string;
  before_usd: string | null;
  max_change: string;
  usd: string;
  observed_at: Date;
  source: string;
  is_accepted: boolean;
}

export function holdOf(row: HoldRow): PriceHold {
  const { usd, observed_at: observedAt, source } = row;
  return {
    since: row.since,
    reason: row.reason,
    beforeUsd: row.before_usd ?? undefined,
    price: { usd, observedAt, source },
    maxChange: row.max_change,
    isAccepted: row.is_accepted,
  };
}
