/**
 * A voucher that is left to expire while the token falls, and asked for again at the lower price, is an option that costs nothing. So it
 * counts in the wallet's day as if it had been paid, and after each the wallet waits twice as long as before.
 */
import { type CoolDown, type LimitBreach } from './limits.js';

/** The vouchers of a wallet that ended without a claim in the last COOL_DOWN_MEMORY_DAYS. */
export interface UnclaimedVouchers {
  readonly count: number;
  /** When the last of them ended; absent where there is none. */
  readonly lastEndedAtMs?: number | undefined;
}

/** A voucher is forgotten after so many days. */
export const COOL_DOWN_MEMORY_DAYS = 7;

/** How long a wallet waits after so many vouchers without a claim. */
export function coolDownSeconds(count: number, { firstSeconds, longestSeconds }: CoolDown): number {
  if (count <= 0) return 0;
  return Math.min(firstSeconds * 2 ** Math.min(count - 1, 30), longestSeconds);
}

/** Whether a wallet must wait, and until when. */
export function coolDownBreach(
  { count, lastEndedAtMs }: UnclaimedVouchers,
  coolDown: CoolDown,
  nowMs: number,
): LimitBreach | undefined {
  if (lastEndedAtMs === undefined) return undefined;
  const untilMs = lastEndedAtMs + coolDownSeconds(count, coolDown) * 1000;
  if (nowMs >= untilMs) return undefined;
  const retryAfterSeconds = Math.ceil((untilMs - nowMs) / 1000);
  const until = new Date(untilMs).toISOString();
  return {
    code: 'VOUCHER_COOL_DOWN',
    message: `Your last voucher was not claimed. You can redeem again at ${until}, in ${retryAfterSeconds} seconds.`,
    retryAfterSeconds,
  };
}
