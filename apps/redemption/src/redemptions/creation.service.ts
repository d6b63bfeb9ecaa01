import { createHash, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type IdempotencyKey, LimitBreachedError, PriceStore, RedemptionStore } from '#libs/db';
import {
  type Address,
  canonicalJson,
  type Decimal,
  limitBreach,
  mintUuidV7,
  newRedemption,
  NO_PRICE,
  parseDecimal,
  pointsWithin,
  type QuotedPrice,
  type Redemption,
  redemptionAmounts,
  type RedemptionLimits,
  type RedemptionQuote,
  smallestUnits,
  UUID_V7_RANDOM_BYTES,
} from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';
import { boundsBreach } from '#libs/price';
import { ChainLink } from '../chain/chain-link.js';
import { limitError, UserError } from '../http/user.error.js';
import { Alerts } from '../observe/alerts.js';
import { PartnerDirectory, type PartnerEntry } from '../partner/partner-directory.js';
import { PointsService } from '../partner/points.service.js';
import { type PayoutRefusal, payoutRefusal, RefusalCounter } from '../payout/payout-refusal.js';
import { VaultConditions } from '../payout/vault-conditions.js';
import { RedemptionSettings } from '../redemption.env.js';

/** Those that do not say already what is wrong with the request itself. */
const NOT_NOW: readonly number[] = [409, 502, 503];

/** What the user sent, as it was sent. */
export interface CreationRequest {
  /** Id or name, in any capitals. */
  readonly partner: string;
  readonly points: bigint;
}

export interface Created {
  readonly redemption: Redemption;
  /** False where the same request made it before. */
  readonly isNew: boolean;
}

/** The stored price, and whether points may be redeemed at it. */
export interface RedeemableQuote extends QuotedPrice {
  readonly usd: Decimal;
}

/**
 * The price that redemptions are quoted with. Whatever wrote it, it is held against this service's own bounds as well: only a
 * figure that an operator has accepted widens them.
 */
@Injectable()
export class RedeemablePrice {
  /** The figure that was told of last. */
  private toldUsd: string | undefined;

  constructor(
    private readonly prices: PriceStore,
    private readonly settings: RedemptionSettings,
    private readonly alerts: Alerts,
  ) {}

  /** Undefined where there is none. @throws DatabaseUnavailableError, DatabaseRefusedError */
  async read(): Promise<RedeemableQuote | undefined> {
    const { priceMinUsd: min, priceMaxUsd: max } = this.settings;
    const { price, isHeld, acceptedUsd } = await this.prices.quoted();
    if (price === undefined) return undefined;
    const usd = parseDecimal(price.usd);
    const accepted = acceptedUsd === undefined ? undefined : parseDecimal(acceptedUsd);
    const breach = boundsBreach(usd, { min, max }, accepted);
    if (breach !== undefined) this.tell(price.usd, breach);
    const observedAtMs = price.observedAt.getTime();
    return { usd, observedAtMs, isHeld: isHeld || breach !== undefined };
  }

  /** Once for each figure: users may ask often. */
  private tell(usd: string, breach: string): void {
    if (this.toldUsd === usd) return;
    this.toldUsd = usd;
    const detail = `${usd} USD is stored, which is ${breach}: nothing is redeemed at it.`;
    this.alerts.raise({ severity: 'critical', code: 'price-out-of-bounds', detail });
  }
}

/** Makes redemptions, each once for its key, of points that the partner says are there. */
@Injectable()
export class CreationService {
  constructor(
    private readonly store: RedemptionStore,
    private readonly directory: PartnerDirectory,
    private readonly points: PointsService,
    private readonly prices: RedeemablePrice,
    private readonly vault: VaultConditions,
    private readonly refusals: RefusalCounter,
    private readonly chain: ChainLink,
    private readonly settings: RedemptionSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * @param key the user's Idempotency-Key
   * @throws UserError 404, 409, 422, 429, 502, 503; what `RedemptionStore.create` throws
   */
  async create(wallet: Address, request: CreationRequest, key: string): Promise<Created> {
    const idempotency = { key, bodyHash: bodyHashOf(request) };
    const before = await this.store.replayed(wallet, idempotency);
    if (before !== undefined) return { redemption: before, isNew: false };
    const entry = await this.directory.require(request.partner);
    await this.points.refuseWaiting(wallet);
    try {
      return await this.createNew(wallet, { entry, points: request.points }, idempotency);
    } catch (error) {
      return this.refuse(error, wallet, idempotency);
    }
  }

  /** Where the same request was under way twice, the other one may be why the points are gone: it is the answer then. */
  private async refuse(
    error: unknown,
    wallet: Address,
    idempotency: IdempotencyKey,
  ): Promise<Created> {
    const refusal = withNothingTaken(error);
    if (!(refusal instanceof UserError)) throw refusal;
    const before = await this.store.replayed(wallet, idempotency);
    if (before === undefined) throw refusal;
    return { redemption: before, isNew: false };
  }

  private async createNew(
    wallet: Address,
    { entry, points }: { readonly entry: PartnerEntry; readonly points: bigint },
    idempotency: IdempotencyKey,
  ): Promise<Created> {
    const { store, prices, vault, clock } = this;
    const { quoteTtlSeconds } = this.settings;
    const tokenDecimals = this.requireDecimals();
    const limits = this.limitsOf(entry, tokenDecimals);
    const price = await prices.read();
    const nowMs = clock.nowMs();
    const breach = limitBreach({ points, limits, price, nowMs });
    if (breach !== undefined || price === undefined) throw limitError(breach ?? NO_PRICE);
    const priceUsd = price.usd;
    const amounts = redemptionAmounts(points, entry.callback, priceUsd, tokenDecimals);
    const refused = await vault.refusal(amounts.tokenAmount, await store.promisedTokens());
    if (refused !== undefined) throw this.unpayable(refused);
    await this.points.requirePoints(entry, wallet, points);
    const terms = {
      id: mintUuidV7(nowMs, randomBytes(UUID_V7_RANDOM_BYTES)),
      partner: entry.callback.partnerId,
      wallet,
      points,
      ...amounts,
      tokenDecimals,
      priceUsd,
      quoteExpiresAtMs: nowMs + quoteTtlSeconds * 1000,
    };
    try {
      return await store.create(newRedemption(terms, nowMs), idempotency, limits);
    } catch (error) {
      throw withPointsLeft(error, { rate: entry.callback, priceUsd, tokenDecimals }, limits);
    }
  }

  /** Until the chain was reached, it is not known what a token is, nor whether it would be paid. */
  private requireDecimals(): number {
    const { tokenDecimals } = this.chain;
    if (tokenDecimals !== undefined) return tokenDecimals;
    throw this.unpayable(payoutRefusal('chain'));
  }

  private unpayable({ reason, message, ...options }: PayoutRefusal): UserError {
    this.refusals.count(reason);
    if (reason === 'too-much') return new UserError(422, 'TOO_MANY_POINTS', message);
    return new UserError(409, 'PAYOUTS_UNAVAILABLE', message, options);
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
      priceMaxAgeSeconds: settings.redemptionPriceMaxAgeSeconds,
      coolDown: {
        firstSeconds: settings.voucherCoolDownSeconds,
        longestSeconds: settings.voucherCoolDownMaxSeconds,
      },
    };
  }
}

/** That no points were taken. Only of what was refused before anything was written: of other errors it would be a guess. */
function withNothingTaken(error: unknown): unknown {
  const refused = error instanceof LimitBreachedError ? limitError(error.breach) : error;
  if (!(refused instanceof UserError) || !NOT_NOW.includes(refused.status)) return refused;
  const { status, code, message, retryAfterSeconds, cause } = refused;
  return new UserError(status, code, `${message} No points were taken for this request.`, {
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(cause !== undefined && { cause }),
  });
}

/** How many points could be redeemed today, at the price of the quote, where a day's budget was too small. */
function withPointsLeft(
  error: unknown,
  quote: RedemptionQuote,
  { minPoints = 1n }: RedemptionLimits,
): unknown {
  if (!(error instanceof LimitBreachedError)) return error;
  const { tokensLeft, ...breach } = error.breach;
  if (tokensLeft === undefined) return error;
  const points = pointsWithin(tokensLeft, quote);
  const left =
    points < minPoints
      ? 'Nothing more can be redeemed today.'
      : `At most ${points.toString()} points could be redeemed now.`;
  return new LimitBreachedError({ ...breach, message: `${breach.message} ${left}` });
}

function bodyHashOf({ partner, points }: CreationRequest): Buffer {
  return createHash('sha256')
    .update(canonicalJson({ partner, points: Number(points) }))
    .digest();
}
