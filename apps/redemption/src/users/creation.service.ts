import { createHash, randomBytes } from 'node:crypto';
import { type IdempotencyKey, type RedemptionStore } from '#libs/db';
import {
  type Address,
  canonicalJson,
  type CoolDown,
  type Decimal,
  limitBreach,
  mintUuidV7,
  newRedemption,
  NO_PRICE,
  type Redemption,
  redemptionAmounts,
  type RedemptionLimits,
  UUID_V7_RANDOM_BYTES,
} from '#libs/domain';
import { type Clock } from '#libs/platform';
import { type ChainLink } from '../chain/chain-link.js';
import { smallestUnits } from '../payout/smallest-units.js';
import { limitError } from '../http/to-user-error.js';
import { UserError } from '../http/user.error.js';
import { type PartnerDirectory, type PartnerEntry } from '../partner/partner-directory.js';
import { type PayoutPort } from '../payout/payout-port.js';
import { type PayoutRefusal, payoutRefusal, type RefusalReason } from '../payout/payout-refusal.js';
import { withNothingTaken, withPointsLeft } from './creation-refusal.js';
import { type RedeemablePrice } from './redeemable-price.js';
import { requirePartner } from './require-partner.js';
import { type VerifiedBalance } from './verified-balance.js';

export interface CreationParts {
  readonly store: Pick<RedemptionStore, 'create' | 'replayed' | 'promisedTokens'>;
  readonly prices: Pick<RedeemablePrice, 'read'>;
  readonly directory: PartnerDirectory;
  readonly payouts: Pick<PayoutPort, 'refusal'>;
  readonly balance: VerifiedBalance;
  readonly chain: Pick<ChainLink, 'tokenDecimals'>;
  readonly clock: Clock;
  /** Counts what was refused because it could not be paid. */
  readonly onRefused: (reason: RefusalReason) => void;
}

export interface CreationOptions {
  readonly quoteTtlSeconds: number;
  readonly priceMaxAgeSeconds: number;
  /** Whole tokens per UTC day. */
  readonly walletDailyTokenBudget: Decimal;
  readonly coolDown: CoolDown;
}

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

/** Makes redemptions, each once for its key, of points that the partner says are there. */
export class CreationService {
  constructor(
    private readonly parts: CreationParts,
    private readonly options: CreationOptions,
  ) {}

  /**
   * @param key the user's Idempotency-Key
   * @throws UserError 404, 409, 422, 429, 502, 503; what `RedemptionStore.create` throws
   */
  async create(wallet: Address, request: CreationRequest, key: string): Promise<Created> {
    const { store, directory } = this.parts;
    const idempotency = { key, bodyHash: bodyHashOf(request) };
    const before = await store.replayed(wallet, idempotency);
    if (before !== undefined) return { redemption: before, isNew: false };
    const entry = await requirePartner(directory, request.partner);
    await this.parts.balance.refuseWaiting(wallet);
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
    const before = await this.parts.store.replayed(wallet, idempotency);
    if (before === undefined) throw refusal;
    return { redemption: before, isNew: false };
  }

  private async createNew(
    wallet: Address,
    { entry, points }: { readonly entry: PartnerEntry; readonly points: bigint },
    idempotency: IdempotencyKey,
  ): Promise<Created> {
    const { store, prices, payouts, clock } = this.parts;
    const { quoteTtlSeconds } = this.options;
    const tokenDecimals = this.requireDecimals();
    const limits = this.limitsOf(entry, tokenDecimals);
    const price = await prices.read();
    const nowMs = clock.nowMs();
    const breach = limitBreach({ points, limits, price, nowMs });
    if (breach !== undefined || price === undefined) throw limitError(breach ?? NO_PRICE);
    const priceUsd = price.usd;
    const amounts = redemptionAmounts(points, entry.callback, priceUsd, tokenDecimals);
    const refused = await payouts.refusal(amounts.tokenAmount, await store.promisedTokens());
    if (refused !== undefined) throw this.unpayable(refused);
    await this.parts.balance.require(entry, wallet, points);
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

  /** Until the chain was reached nobody knows what a token is, nor whether it would be paid. */
  private requireDecimals(): number {
    const { tokenDecimals } = this.parts.chain;
    if (tokenDecimals !== undefined) return tokenDecimals;
    throw this.unpayable(payoutRefusal('chain'));
  }

  private unpayable({ reason, message, ...options }: PayoutRefusal): UserError {
    this.parts.onRefused(reason);
    if (reason === 'too-much') return new UserError(422, 'TOO_MANY_POINTS', message);
    return new UserError(409, 'PAYOUTS_UNAVAILABLE', message, options);
  }

  private limitsOf({ callback }: PartnerEntry, tokenDecimals: number): RedemptionLimits {
    const { paused, minPoints, maxPoints, dailyTokenBudget } = callback;
    const { priceMaxAgeSeconds, walletDailyTokenBudget, coolDown } = this.options;
    return {
      paused,
      minPoints,
      maxPoints,
      partnerDailyTokens: dailyTokenBudget && smallestUnits(dailyTokenBudget, tokenDecimals),
      walletDailyTokens: smallestUnits(walletDailyTokenBudget, tokenDecimals),
      maxOpen: 1,
      priceMaxAgeSeconds,
      coolDown,
    };
  }
}

function bodyHashOf({ partner, points }: CreationRequest): Buffer {
  return createHash('sha256')
    .update(canonicalJson({ partner, points: Number(points) }))
    .digest();
}
