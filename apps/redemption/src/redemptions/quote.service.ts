import { Inject, Injectable } from '@nestjs/common';
import { REDEEMED_PRICE_MAX_AGE_SECONDS } from '#libs/config';
import { AttemptStore, PriceStore, RedemptionStore } from '#libs/db';
import {
  type Address,
  type CoolDown,
  coolDownSeconds,
  type Decimal,
  type LimitBreach,
  limitBreach,
  NO_PRICE,
  parseDecimal,
  pointsWithin,
  priceBreach,
  priceUsableUntilMs,
  type QuotedPrice,
  recordBreach,
  type RedemptionAmounts,
  redemptionAmounts,
  type RedemptionLimits,
  type RedemptionQuote,
  smallestUnits,
  tokensLeftToday,
  type WalletRecord,
} from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';
import { boundsBreach } from '#libs/price';
import { ChainLink } from '../chain/chain-link.js';
import { limitError, redemptionsPaused, secondsUntil, UserError } from '../http/user.error.js';
import { LedgerWatch } from '../ledger/ledger-watch.js';
import { Alerts } from '../observe/alerts.js';
import { type PartnerEntry } from '../partner/partners.js';
import { type PayoutRefusal, payoutRefusal, type RefusalReason } from '../payout/payout-refusal.js';
import { VaultConditions } from '../payout/vault-conditions.js';
import { RedemptionSettings } from '../redemption.env.js';

/** The longest that a wallet waits after vouchers that it did not claim: a day, as the budgets. */
const LONGEST_COOL_DOWN_SECONDS = 86_400;

/** The stored price, and whether points may be redeemed at it. */
export interface RedeemableQuote extends QuotedPrice {
  readonly usd: Decimal;
}

/**
 * Reads the price that redemptions are quoted with. The price is also checked against this service's own bounds,
 * whatever process wrote it; only a figure that an operator accepted widens the bounds.
 */
@Injectable()
export class RedeemablePrice {
  /** The last figure for which an alert was raised. */
  private alertedUsd: string | undefined;

  constructor(
    private readonly prices: PriceStore,
    private readonly settings: RedemptionSettings,
    private readonly alerts: Alerts,
  ) {}

  /** @returns undefined where no price is stored. @throws DatabaseUnavailableError, DatabaseRefusedError */
  async read(): Promise<RedeemableQuote | undefined> {
    const { price, isHeld, acceptedUsd } = await this.prices.quoted();
    if (price === undefined) return undefined;
    const usd = parseDecimal(price.usd);
    const accepted = acceptedUsd === undefined ? undefined : parseDecimal(acceptedUsd);
    const breach = boundsBreach(usd, this.settings.priceBoundsUsd, accepted);
    if (breach !== undefined) this.tell(price.usd, breach);
    const observedAtMs = price.observedAt.getTime();
    return { usd, observedAtMs, isHeld: isHeld || breach !== undefined };
  }

  /** Raises one alert for each figure, since users may ask often. */
  private tell(usd: string, breach: string): void {
    if (this.alertedUsd === usd) return;
    this.alertedUsd = usd;
    const detail = `${usd} USD is stored, which is ${breach}: nothing is redeemed at it.`;
    this.alerts.raise({ severity: 'critical', code: 'price-out-of-bounds', detail });
  }
}

export interface QuotedTerms extends RedemptionAmounts, RedemptionQuote {
  readonly nowMs: number;
  /** Last moment at which this price may be used. */
  readonly usableUntilMs: number;
}

/** What is known of a redemption before its partner is asked. */
export interface Assessment {
  /** Absent where there is no usable price, or the chain was not reached yet. */
  readonly terms?: QuotedTerms;
  readonly limits?: RedemptionLimits;
  /** Why a creation would be refused. */
  readonly refusal?: UserError;
  /** Set where the refusal is that the payout is not possible. */
  readonly unpayable?: RefusalReason;
}

export interface PointsRange {
  readonly minPoints: bigint;
  /** 0 where fewer than `minPoints` could be redeemed. */
  readonly maxPoints: bigint;
  readonly refusal: UserError | undefined;
  /** Seconds that the wallet would wait after one more unclaimed voucher. */
  readonly coolDownSeconds: number;
}

interface Basis {
  readonly entry: PartnerEntry;
  readonly limits: RedemptionLimits;
  readonly tokenDecimals: number;
  readonly price: RedeemableQuote | undefined;
  readonly nowMs: number;
}

/** Computes what points are worth now and why they could not be redeemed: for a creation, and for a page beforehand. */
@Injectable()
export class QuoteService {
  constructor(
    private readonly store: RedemptionStore,
    private readonly attempts: AttemptStore,
    private readonly prices: RedeemablePrice,
    private readonly vault: VaultConditions,
    private readonly chain: ChainLink,
    private readonly ledger: LedgerWatch,
    private readonly settings: RedemptionSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Checks in the order in which a creation is refused; calls no partner. @throws DatabaseUnavailableError */
  async assess(entry: PartnerEntry, points: bigint): Promise<Assessment> {
    const basis = await this.basis(entry);
    return basis === undefined ? ofUnpayable(payoutRefusal('chain')) : this.judge(basis, points);
  }

  /**
   * What a creation by this wallet would give, or why it would be refused, as far as known without asking the partner.
   */
  async quote(wallet: Address, entry: PartnerEntry, points: bigint): Promise<Assessment> {
    const waiting = await this.waiting(wallet);
    const assessed = await this.assess(entry, points);
    const refusal =
      waiting ?? assessed.refusal ?? this.refusalBy(assessed, await this.recordOf(wallet, entry));
    return { ...assessed, ...(refusal !== undefined && { refusal }) };
  }

  /** Why the wallet may not ask for a redemption now, whatever the partner would say; undefined where it may. */
  async waiting(wallet: Address): Promise<UserError | undefined> {
    const nowMs = this.clock.nowMs();
    const untilMs = await this.attempts.waitsUntilMs(wallet, nowMs);
    if (untilMs === undefined) return undefined;
    const retryAfterSeconds = secondsUntil(untilMs, nowMs);
    const message = `Your last redemptions came to nothing: you can ask again in ${retryAfterSeconds} s.`;
    return new UserError(429, 'RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds });
  }

  /** The points that the partner, the budgets and the vault allow now. */
  async range(wallet: Address, entry: PartnerEntry): Promise<PointsRange> {
    const { minPoints = 1n, maxPoints: most = BigInt(Number.MAX_SAFE_INTEGER) } = entry.callback;
    const waiting = await this.waiting(wallet);
    const record = await this.recordOf(wallet, entry);
    const next = coolDownSeconds(record.unclaimed.count + 1, this.coolDown());
    const none = { minPoints, maxPoints: 0n, coolDownSeconds: next };
    const basis = await this.basis(entry);
    if (basis === undefined) {
      const { refusal } = ofUnpayable(payoutRefusal('chain'));
      return { ...none, refusal: waiting ?? refusal };
    }
    const least = await this.judge(basis, minPoints);
    if (least.terms === undefined) return { ...none, refusal: waiting ?? least.refusal };
    const room = (await this.vault.room(1n)) - (await this.store.promisedTokens());
    const left = tokensLeftToday(basis.limits, record.usage) ?? room;
    const payable = pointsWithin(left < room ? left : room, least.terms);
    const possible = payable < most ? payable : most;
    const isPossible = possible >= minPoints;
    const judged = isPossible ? await this.judge(basis, possible) : least;
    const refusal = waiting ?? judged.refusal ?? this.refusalBy(judged, record);
    return { ...none, maxPoints: isPossible ? possible : 0n, refusal };
  }

  private recordOf(wallet: Address, { callback }: PartnerEntry): Promise<WalletRecord> {
    return this.store.walletRecord(wallet, callback.partnerId, this.clock.nowMs());
  }

  private refusalBy({ terms, limits }: Assessment, record: WalletRecord): UserError | undefined {
    if (terms === undefined || limits === undefined) return undefined;
    const breach = recordBreach(terms, limits, record, terms.nowMs);
    return breach && limitError(withPointsLeft(breach, terms, limits));
  }

  /**
   * @returns undefined until the chain was reached: before that, neither the token's decimals nor the vault's state is
   *   known
   */
  private async basis(entry: PartnerEntry): Promise<Basis | undefined> {
    const { tokenDecimals } = this.chain;
    if (tokenDecimals === undefined) return undefined;
    const limits = this.limitsOf(entry, tokenDecimals);
    const price = await this.prices.read();
    return { entry, limits, tokenDecimals, price, nowMs: this.clock.nowMs() };
  }

  private async judge(basis: Basis, points: bigint): Promise<Assessment> {
    const { entry, limits, tokenDecimals, price, nowMs } = basis;
    const breach = limitBreach({ points, limits, price, nowMs });
    if (price === undefined || priceBreach(price, limits, nowMs) !== undefined) {
      return { limits, refusal: limitError(breach ?? NO_PRICE) };
    }
    const { usd: priceUsd } = price;
    const rate = entry.callback;
    const terms = {
      ...redemptionAmounts(points, rate, priceUsd, tokenDecimals),
      ...{ rate, priceUsd, tokenDecimals, nowMs },
      usableUntilMs: priceUsableUntilMs(price, limits),
    };
    if (breach !== undefined) return { terms, limits, refusal: limitError(breach) };
    if ((await this.ledger.unnoted()) !== undefined) {
      return { terms, limits, refusal: redemptionsPaused() };
    }
    const promised = await this.store.promisedTokens();
    const refused = await this.vault.refusal(terms.tokenAmount, promised);
    return { terms, limits, ...(refused !== undefined && ofUnpayable(refused)) };
  }

  private limitsOf({ callback }: PartnerEntry, tokenDecimals: number): RedemptionLimits {
    const { paused, minPoints, maxPoints, dailyTokenBudget } = callback;
    const { settings } = this;
    return {
      paused,
      minPoints,
      maxPoints,
      partnerDailyTokens: dailyTokenBudget && smallestUnits(dailyTokenBudget, tokenDecimals),
      walletDailyTokens: smallestUnits(settings.walletDailyTokenBudget, tokenDecimals),
      maxOpen: 1,
      priceMaxAgeSeconds: settings.priceMaxAgeSeconds ?? REDEEMED_PRICE_MAX_AGE_SECONDS,
      coolDown: this.coolDown(),
    };
  }

  private coolDown(): CoolDown {
    const { voucherCoolDownSeconds: firstSeconds } = this.settings;
    return { firstSeconds, longestSeconds: LONGEST_COOL_DOWN_SECONDS };
  }
}

function ofUnpayable({ reason, message, ...options }: PayoutRefusal) {
  const refusal =
    reason === 'too-much'
      ? new UserError(422, 'TOO_MANY_POINTS', message)
      : new UserError(409, 'PAYOUTS_UNAVAILABLE', message, options);
  return { refusal, unpayable: reason };
}

/** Adds to the breach of a daily budget how many points could still be redeemed today, at the price of the quote. */
export function withPointsLeft(
  { tokensLeft, ...breach }: LimitBreach,
  quote: RedemptionQuote,
  { minPoints = 1n }: RedemptionLimits,
): LimitBreach {
  if (tokensLeft === undefined) return breach;
  const points = pointsWithin(tokensLeft, quote);
  const left =
    points < minPoints
      ? 'Nothing more can be redeemed today.'
      : `At most ${points.toString()} points could be redeemed now.`;
  return { ...breach, message: `${breach.message} ${left}` };
}
