/**
 * The limits of a new redemption, checked before anything is written. The caller counts under a lock, so that two
 * concurrent redemptions cannot pass together.
 */
import { type RedemptionAmounts } from './quote.js';

/** The largest number that is exact as a JSON number, which partners receive. */
const MAX_POINTS = BigInt(Number.MAX_SAFE_INTEGER);

/** The wait of a wallet after vouchers that it did not claim. */
export interface CoolDown {
  /** Wait after the first voucher. Each further voucher doubles the wait. */
  readonly firstSeconds: number;
  /** Upper bound of the wait. */
  readonly longestSeconds: number;
}

export interface RedemptionLimits {
  /** Refuses all new redemptions with the partner. */
  readonly paused: boolean;
  readonly minPoints?: bigint | undefined;
  readonly maxPoints?: bigint | undefined;
  /**
   * Budget per partner and UTC day, in the token's smallest unit. Absent: nothing can be redeemed until the operator
   * sets a budget.
   */
  readonly partnerDailyTokens?: bigint | undefined;
  /** Budget per wallet and UTC day, in the token's smallest unit. Absent: no budget. */
  readonly walletDailyTokens?: bigint | undefined;
  /** Number of redemptions of one wallet at one partner that may be open (not final) at a time. */
  readonly maxOpen: number;
  readonly priceMaxAgeSeconds: number;
  /** Absent: no wait. */
  readonly coolDown?: CoolDown | undefined;
}

/**
 * The usage that counts against the limits: redemptions of the day that have neither failed nor been reverted, and open
 * redemptions. The tokens of a wallet include those of vouchers that were not claimed.
 */
export interface RedemptionUsage {
  readonly open: number;
  /** Id of the oldest open redemption. */
  readonly openId?: string | undefined;
  readonly partnerTokensToday: bigint;
  readonly walletTokensToday: bigint;
}

/** The stored price that a quote would use. */
export interface QuotedPrice {
  readonly observedAtMs: number;
  /** Whether the price is held: not to be used before an operator accepts it. */
  readonly isHeld?: boolean;
}

export type LimitCode =
  | 'PARTNER_PAUSED'
  | 'INVALID_POINTS'
  | 'TOO_FEW_POINTS'
  | 'TOO_MANY_POINTS'
  | 'PRICE_UNAVAILABLE'
  | 'PRICE_STALE'
  | 'TOO_FEW_TOKENS'
  | 'REDEMPTION_OPEN'
  | 'PARTNER_BUDGET_SPENT'
  | 'WALLET_BUDGET_SPENT'
  | 'VOUCHER_COOL_DOWN';

export interface LimitBreach {
  readonly code: LimitCode;
  /** Text for the user. */
  readonly message: string;
  /** Seconds until the request can pass, where known. */
  readonly retryAfterSeconds?: number;
  /**
   * Where a budget is spent: what the budgets of partner and wallet leave of the day, the smaller one, in the token's
   * smallest unit.
   */
  readonly tokensLeft?: bigint;
}

export interface LimitedRequest {
  readonly points: bigint;
  readonly limits: RedemptionLimits;
  readonly price: QuotedPrice | undefined;
  readonly nowMs: number;
}

export const NO_PRICE: LimitBreach = {
  code: 'PRICE_UNAVAILABLE',
  message: 'There is no token price at the moment.',
};

/** Checks the limits that need no quote. */
export function limitBreach({
  points,
  limits,
  price,
  nowMs,
}: LimitedRequest): LimitBreach | undefined {
  const { paused, minPoints, maxPoints, partnerDailyTokens } = limits;
  if (paused || partnerDailyTokens === undefined) {
    return { code: 'PARTNER_PAUSED', message: 'Redemptions with this partner are paused for now.' };
  }
  if (points <= 0n || points > MAX_POINTS) {
    return { code: 'INVALID_POINTS', message: 'Points must be a whole number above 0.' };
  }
  if (minPoints !== undefined && points < minPoints) {
    return {
      code: 'TOO_FEW_POINTS',
      message: `At least ${minPoints.toString()} points can be redeemed with this partner.`,
    };
  }
  if (maxPoints !== undefined && points > maxPoints) {
    return {
      code: 'TOO_MANY_POINTS',
      message: `At most ${maxPoints.toString()} points can be redeemed at once with this partner.`,
    };
  }
  return priceBreach(price, limits, nowMs);
}

/** Why the price must not be used for a quote; undefined where it may be used. */
export function priceBreach(
  price: QuotedPrice | undefined,
  limits: RedemptionLimits,
  nowMs: number,
): LimitBreach | undefined {
  if (price === undefined) return NO_PRICE;
  if (price.isHeld === true) {
    return {
      code: 'PRICE_UNAVAILABLE',
      message: 'Redemptions are paused while the token price is checked. Please try again later.',
    };
  }
  return nowMs > priceUsableUntilMs(price, limits)
    ? {
        code: 'PRICE_STALE',
        message: 'The token price is too old to redeem at. Please try again later.',
      }
    : undefined;
}

export function priceUsableUntilMs(
  { observedAtMs }: QuotedPrice,
  { priceMaxAgeSeconds }: RedemptionLimits,
): number {
  return observedAtMs + priceMaxAgeSeconds * 1000;
}

/** Checks the limits that need the tokens of the quote. */
export function budgetBreach(
  { tokenAmount }: Pick<RedemptionAmounts, 'tokenAmount'>,
  limits: RedemptionLimits,
  usage: RedemptionUsage,
): LimitBreach | undefined {
  const { maxOpen, partnerDailyTokens, walletDailyTokens } = limits;
  if (tokenAmount <= 0n) {
    return { code: 'TOO_FEW_TOKENS', message: 'So few points are worth no token at all.' };
  }
  if (usage.open >= maxOpen) {
    const which = usage.openId === undefined ? 'Another redemption' : `Redemption ${usage.openId}`;
    return {
      code: 'REDEMPTION_OPEN',
      message: `${which} with this partner is still open. Finish or cancel it first.`,
    };
  }
  const partnerLeft = left(partnerDailyTokens, usage.partnerTokensToday);
  const walletLeft = left(walletDailyTokens, usage.walletTokensToday);
  if (partnerLeft !== undefined && tokenAmount > partnerLeft) {
    return {
      code: 'PARTNER_BUDGET_SPENT',
      message: 'This is more than the partner can still redeem today (UTC).',
      tokensLeft: smaller(partnerLeft, walletLeft),
    };
  }
  return walletLeft !== undefined && tokenAmount > walletLeft
    ? {
        code: 'WALLET_BUDGET_SPENT',
        message: 'This is more than your wallet can still redeem today (UTC).',
        tokensLeft: smaller(walletLeft, partnerLeft),
      }
    : undefined;
}

/** What the budgets leave of the day, the smaller one, in the token's smallest unit; undefined without a budget. */
export function tokensLeftToday(
  { partnerDailyTokens, walletDailyTokens }: RedemptionLimits,
  usage: RedemptionUsage,
): bigint | undefined {
  const partnerLeft = left(partnerDailyTokens, usage.partnerTokensToday);
  const walletLeft = left(walletDailyTokens, usage.walletTokensToday);
  return partnerLeft === undefined ? walletLeft : smaller(partnerLeft, walletLeft);
}

function left(budget: bigint | undefined, used: bigint): bigint | undefined {
  if (budget === undefined) return undefined;
  return used < budget ? budget - used : 0n;
}

function smaller(one: bigint, other: bigint | undefined): bigint {
  return other !== undefined && other < one ? other : one;
}

/**
 * The vouchers of a wallet that ended without a claim in the last COOL_DOWN_MEMORY_DAYS. A user who lets a voucher
 * expire while the token's price falls, and asks again at the lower price, has an option that costs nothing. So an
 * unclaimed voucher counts in the wallet's day as if it had been paid, and each further one doubles the wallet's wait.
 */
export interface UnclaimedVouchers {
  readonly count: number;
  /** When the newest of these vouchers ended; absent where there is none. */
  readonly lastEndedAtMs?: number | undefined;
}

/** Days after which an unclaimed voucher no longer counts. */
export const COOL_DOWN_MEMORY_DAYS = 7;

/** The wait of a wallet after `count` vouchers without a claim, in seconds. */
export function coolDownSeconds(count: number, { firstSeconds, longestSeconds }: CoolDown): number {
  if (count <= 0) return 0;
  return Math.min(firstSeconds * 2 ** Math.min(count - 1, 30), longestSeconds);
}

/** Refuses while the wallet has to wait, and says until when. */
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

/** The earlier redemptions of a wallet, as far as limits depend on them. */
export interface WalletRecord {
  readonly unclaimed: UnclaimedVouchers;
  readonly usage: RedemptionUsage;
}

/** Checks the limits that depend on the wallet's earlier redemptions, the cool-down before the budgets. */
export function recordBreach(
  amounts: Pick<RedemptionAmounts, 'tokenAmount'>,
  limits: RedemptionLimits,
  { unclaimed, usage }: WalletRecord,
  nowMs: number,
): LimitBreach | undefined {
  const { coolDown } = limits;
  const waits = coolDown && coolDownBreach(unclaimed, coolDown, nowMs);
  return waits ?? budgetBreach(amounts, limits, usage);
}
