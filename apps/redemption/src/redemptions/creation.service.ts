import { createHash, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { AttemptStore, type IdempotencyKey, LimitBreachedError, RedemptionStore } from '#libs/db';
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
import { CLOCK, type Clock } from '#libs/platform';
import { limitError, secondsUntil, UserError } from '../http/user.error.js';
import { PartnerDirectory, type PartnerEntry, PointsService } from '../partner/partners.js';
import { RefusalCounter } from '../payout/payout-refusal.js';
import { RedemptionSettings } from '../redemption.env.js';
import { type QuotedTerms, QuoteService, withPointsLeft } from './quote.service.js';

/** Those that do not say already what is wrong with the request itself. */
const NOT_NOW: readonly number[] = [409, 502, 503];

/** After these the wallet waits before it can ask again. */
const VAIN: readonly (string | undefined)[] = ['INSUFFICIENT_POINTS', 'USER_NOT_FOUND'];

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
    private readonly attempts: AttemptStore,
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
    const waiting = await this.quotes.waiting(wallet);
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
    await this.requirePoints(entry, wallet, points);
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

  /**
   * By the partner's account, which is admission and no more: whether the points are there is decided by the deduction. A wallet that asks
   * for points it does not have waits longer each time.
   * @throws UserError 404, 409; 502 and 503, for which no wallet waits
   */
  private async requirePoints(partner: PartnerEntry, wallet: Address, asked: bigint) {
    try {
      const { points } = await this.points.read(partner, wallet);
      if (points >= asked) return;
      const message = `You have ${points.toString()} points with this partner, and asked for ${asked.toString()}.`;
      throw new UserError(409, 'INSUFFICIENT_POINTS', message);
    } catch (error) {
      if (!(error instanceof UserError) || !VAIN.includes(error.code)) throw error;
      const nowMs = this.clock.nowMs();
      const retryAfterSeconds = secondsUntil(await this.attempts.note(wallet, nowMs), nowMs);
      const message = `${error.message} You can ask again in ${retryAfterSeconds} s.`;
      throw new UserError(error.status, error.code, message, { retryAfterSeconds });
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
