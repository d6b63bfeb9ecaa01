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
  const { paused, minPoints, maxPoints, partnerDailyTokens, priceMaxAgeSeconds } = limits;
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
  if (price === undefined) return NO_PRICE;
  if (price.isHeld === true) {
    return {
      code: 'PRICE_UNAVAILABLE',
      message: 'Redemptions are paused while the token price is checked. Please try again later.',
    };
  }
  return nowMs - price.observedAtMs > priceMaxAgeSeconds * 1000
    ? {
        code: 'PRICE_STALE',
        message: 'The token price is too old to redeem at. Please try again later.',
      }
    : undefined;
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
    return {
      code: 'REDEMPTION_OPEN',
      message: 'Another redemption with this partner is still open. Finish or cancel it first.',
    };
  }
  if (isOver(usage.partnerTokensToday + tokenAmount, partnerDailyTokens)) {
    return {
      code: 'PARTNER_BUDGET_SPENT',
      message: 'This is more than the partner can still redeem today (UTC).',
    };
  }
  return isOver(usage.walletTokensToday + tokenAmount, walletDailyTokens)
    ? {
        code: 'WALLET_BUDGET_SPENT',
        message: 'This is more than your wallet can still redeem today (UTC).',
      }
    : undefined;
}

function isOver(tokens: bigint, budget: bigint | undefined): boolean {
  return budget !== undefined && tokens > budget;
}
