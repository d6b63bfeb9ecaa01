const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Whether an audit is due: none has begun since the hour was last struck. So one that was missed, or failed, stays due until it is
 * made up for.
 * @param hourUtc 0 to 23
 * @param lastMs when the last audit that came to an end began; Unix time
 */
export function isAuditDue(hourUtc: number, lastMs: number | undefined, nowMs: number): boolean {
  const struckMs = nowMs - ((nowMs - hourUtc * HOUR_MS) % DAY_MS);
  return lastMs === undefined || lastMs < struckMs;
}
