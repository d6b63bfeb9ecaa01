import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type IdempotencyKey, LimitBreachedError, RedemptionStore } from '#libs/db';
import {
  type Address,
  canonicalJson,
  mintUuidV7,
  newRedemption,
  NO_PRICE,
  type Redemption,
  tokensText,
  UUID_V7_RANDOM_BYTES,
} from '#libs/domain';
import { limitError, UserError } from '../http/user.error.js';
import { PartnerDirectory, type PartnerEntry } from '../partner/partner-directory.js';
import { PointsService } from '../partner/points.service.js';
import { RefusalCounter } from '../payout/payout-refusal.js';
import { RedemptionSettings } from '../redemption.env.js';
import { withPointsLeft } from './points-left.js';
import { type QuotedTerms, QuoteService } from './quote.service.js';

/** Those that do not say already what is wrong with the request itself. */
const NOT_NOW: readonly number[] = [409, 502, 503];

/** What the user sent, as it was sent. */
export interface CreationRequest {
  /** Id or name, in any capitals. */
  readonly partner: string;
  readonly points: bigint;
  /** The fewest tokens that the user will have, in the smallest unit. */
  readonly minAmount?: bigint | undefined;
}

export interface Created {
  readonly redemption: Redemption;
  /** False where the same request made it before. */
  readonly isNew: boolean;
}

/** Makes redemptions, each once for its key, of points that the partner says are there. */
@Injectable()
export class CreationService {
  constructor(
    private readonly store: RedemptionStore,
    private readonly directory: PartnerDirectory,
    private readonly points: PointsService,
    private readonly quotes: QuoteService,
    private readonly refusals: RefusalCounter,
    private readonly settings: RedemptionSettings,
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
    const waiting = await this.points.waiting(wallet);
    if (waiting !== undefined) throw waiting;
    try {
      return await this.createNew(wallet, entry, request, idempotency);
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
    entry: PartnerEntry,
    { points, minAmount }: CreationRequest,
    idempotency: IdempotencyKey,
  ): Promise<Created> {
    const { terms: quoted, limits, refusal, unpayable } = await this.quotes.assess(entry, points);
    if (unpayable !== undefined) this.refusals.count(unpayable);
    if (refusal !== undefined) throw refusal;
    if (quoted === undefined || limits === undefined) throw limitError(NO_PRICE);
    const { usdAmount, tokenAmount, tokenDecimals, priceUsd, nowMs } = quoted;
    if (minAmount !== undefined && tokenAmount < minAmount) {
      throw quoteChanged(points, minAmount, quoted);
    }
    await this.points.requirePoints(entry, wallet, points);
    const terms = {
      id: mintUuidV7(nowMs, randomBytes(UUID_V7_RANDOM_BYTES)),
      partner: entry.callback.partnerId,
      ...{ wallet, points, usdAmount, tokenAmount, tokenDecimals, priceUsd },
      quoteExpiresAtMs: nowMs + this.settings.quoteTtlSeconds * 1000,
    };
    try {
      return await this.store.create(newRedemption(terms, nowMs), idempotency, limits);
    } catch (error) {
      if (!(error instanceof LimitBreachedError)) throw error;
      throw limitError(withPointsLeft(error.breach, quoted, limits));
    }
  }
}

/** Both in whole tokens, exact. */
function quoteChanged(
  points: bigint,
  minAmount: bigint,
  { tokenAmount, tokenDecimals }: QuotedTerms,
): UserError {
  const now = tokensText(tokenAmount, tokenDecimals);
  const least = tokensText(minAmount, tokenDecimals);
  const message = `${points.toString()} points are ${now} tokens at this moment, fewer than the ${least} that were asked for at least.`;
  return new UserError(409, 'QUOTE_CHANGED', message);
}

/** That no points were taken. Only of what was refused before anything was written: of other errors it would be a guess. */
function withNothingTaken(error: unknown): unknown {
  if (!(error instanceof UserError) || !NOT_NOW.includes(error.status)) return error;
  const { status, code, message, retryAfterSeconds, cause } = error;
  return new UserError(status, code, `${message} No points were taken for this request.`, {
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(cause !== undefined && { cause }),
  });
}

/** As without `minAmount` where there is none: keys of before it came stay good. */
function bodyHashOf({ partner, points, minAmount }: CreationRequest): Buffer {
  const least = minAmount !== undefined && { minAmount: minAmount.toString() };
  return createHash('sha256')
    .update(canonicalJson({ partner, points: Number(points), ...least }))
    .digest();
}
