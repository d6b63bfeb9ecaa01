/** What a new redemption must fit into, checked before anything is written. The caller counts under a lock, so that two cannot pass at once. */
import { type RedemptionAmounts } from './quote.js';

/** Points go out as a JSON number. */
const MAX_POINTS = BigInt(Number.MAX_SAFE_INTEGER);

/** How long a wallet waits after vouchers that it did not claim. */
export interface CoolDown {
  /** After the first of them; twice as long after each further one. */
  readonly firstSeconds: number;
  /** However many there were. */
  readonly longestSeconds: number;
}

/** What the partner and the operator allow. */
export interface RedemptionLimits {
  /** The kill switch. */
  readonly paused: boolean;
  readonly minPoints?: bigint | undefined;
  readonly maxPoints?: bigint | undefined;
  /** Tokens, in the smallest unit, per partner and UTC day. Absent: nothing can be redeemed until the operator has set it. */
  readonly partnerDailyTokens?: bigint | undefined;
  /** Tokens, in the smallest unit, per wallet and UTC day. */
  readonly walletDailyTokens?: bigint | undefined;
  /** Redemptions of one wallet at one partner that are not final. */
  readonly maxOpen: number;
  readonly priceMaxAgeSeconds: number;
  /** Absent: none. */
  readonly coolDown?: CoolDown | undefined;
}

/**
 * What counts against the limits: redemptions of the day that have not failed or been reverted, and the open ones. Of a wallet also
 * those whose voucher was not claimed.
 */
export interface RedemptionUsage {
  readonly open: number;
  /** The oldest of the open ones. */
  readonly openId?: string | undefined;
  readonly partnerTokensToday: bigint;
  readonly walletTokensToday: bigint;
}

/** The stored price that the quote would use; absent where there is none. */
export interface QuotedPrice {
  readonly observedAtMs: number;
  /** It must not be used before an operator has looked at it. */
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
  /** For the user. */
  readonly message: string;
  /** Where the moment is known from which on it passes. */
  readonly retryAfterSeconds?: number;
  /** Where a budget is spent: what is left of the day, by the partner's and the wallet's, in the smallest unit. */
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

/** The limits that are known before there is a quote. */
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

/** Why nothing is quoted at this price; undefined where it may be used. */
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

/** The last moment at which this price may be used. */
export function priceUsableUntilMs(
  { observedAtMs }: QuotedPrice,
  { priceMaxAgeSeconds }: RedemptionLimits,
): number {
  return observedAtMs + priceMaxAgeSeconds * 1000;
}

/** The limits on what the quote came to. */
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

/** What the budgets leave of the day, in the smallest unit; undefined where there are none. */
export function tokensLeftToday(
  { partnerDailyTokens, walletDailyTokens }: RedemptionLimits,
  usage: RedemptionUsage,
): bigint | undefined {
  const partnerLeft = left(partnerDailyTokens, usage.partnerTokensToday);
  const walletLeft = left(walletDailyTokens, usage.walletTokensToday);
  return partnerLeft === undefined ? walletLeft : smaller(partnerLeft, walletLeft);
}

/** Undefined where there is no budget. */
function left(budget: bigint | undefined, used: bigint): bigint | undefined {
  if (budget === undefined) return undefined;
  return used < budget ? budget - used : 0n;
}

function smaller(one: bigint, other: bigint | undefined): bigint {
  return other !== undefined && other < one ? other : one;
}

/**
 * The vouchers of a wallet that ended without a claim in the last COOL_DOWN_MEMORY_DAYS. One that is left to expire while the token falls,
 * and asked for again at the lower price, is an option that costs nothing. So it counts in the wallet's day as if it had been paid, and
 * after each the wallet waits twice as long as before.
 */
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

/** What a wallet has done with its redemptions, of which the rest of the limits depends. */
export interface WalletRecord {
  readonly unclaimed: UnclaimedVouchers;
  readonly usage: RedemptionUsage;
}

/** The limits that depend on what the wallet has redeemed before, in the order in which they are told. */
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
