import { createHash, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import {
  AttemptStore,
  type IdempotencyKey,
  LimitBreachedError,
  RedemptionStore,
  RestoreNotNotedError,
} from '#libs/db';
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
import { limitError, redemptionsPaused, secondsUntil, UserError } from '../http/user.error.js';
import { PartnerDirectory, type PartnerEntry, PointsService } from '../partner/partners.js';
import { RefusalCounter } from '../payout/payout-refusal.js';
import { RedemptionSettings } from '../redemption.env.js';
import { type QuotedTerms, QuoteService, withPointsLeft } from './quote.service.js';

/** A redemption that has not been started by then fails: its price is too old. It starts within seconds as a rule. */
const QUOTE_TTL_MS = 120_000;

/**
 * Statuses of refusals whose message also says that no points were taken. Any other refusal names a fault of the
 * request itself.
 */
const NOTHING_TAKEN_STATUSES: readonly number[] = [409, 502, 503];

/** Codes after which the wallet has to wait before its next redemption. */
const COOL_DOWN_CODES: readonly (string | undefined)[] = ['INSUFFICIENT_POINTS', 'USER_NOT_FOUND'];

export interface CreationRequest {
  /** Id or name, in any capitals, as the request has it: a part of what its key stands for. */
  readonly partner: string;
  readonly points: bigint;
  /** The fewest tokens that the user accepts, in the smallest unit. */
  readonly minAmount?: bigint | undefined;
}

export interface Created {
  readonly redemption: Redemption;
  /** False where an earlier request with the same key made the redemption. */
  readonly isNew: boolean;
}

/** Makes redemptions, one for each idempotency key, where the partner says that the player has the points. */
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

  /**
   * Where the same request ran twice at the same time, the other run may have used the points. The redemption of that
   * run is then the answer.
   */
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
      quoteExpiresAtMs: nowMs + QUOTE_TTL_MS,
    };
    try {
      return await this.store.create(newRedemption(terms, nowMs), idempotency, limits);
    } catch (error) {
      if (error instanceof RestoreNotNotedError) throw redemptionsPaused(error);
      if (!(error instanceof LimitBreachedError)) throw error;
      throw limitError(withPointsLeft(error.breach, quoted, limits));
    }
  }

  /**
   * Reads the points from the partner. This only admits the request: the deduction decides whether the points are
   * there. A wallet that asks for points it does not have waits longer each time.
   * @throws UserError 404, 409; 502 and 503, after which the wallet need not wait
   */
  private async requirePoints(partner: PartnerEntry, wallet: Address, asked: bigint) {
    try {
      const { points } = await this.points.read(partner, wallet);
      if (points >= asked) return;
      const message = `You have ${points.toString()} points with this partner, and asked for ${asked.toString()}.`;
      throw new UserError(409, 'INSUFFICIENT_POINTS', message);
    } catch (error) {
      if (!(error instanceof UserError) || !COOL_DOWN_CODES.includes(error.code)) throw error;
      const nowMs = this.clock.nowMs();
      const retryAfterSeconds = secondsUntil(await this.attempts.note(wallet, nowMs), nowMs);
      const message = `${error.message} You can ask again in ${retryAfterSeconds} s.`;
      throw new UserError(error.status, error.code, message, { retryAfterSeconds });
    }
  }
}

/** The message names both amounts in whole tokens, exact. */
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

/**
 * Adds to the message that no points were taken. For refusals before any write only: after other errors this is not
 * known.
 */
function withNothingTaken(error: unknown): unknown {
  if (!(error instanceof UserError) || !NOTHING_TAKEN_STATUSES.includes(error.status)) return error;
  const { status, code, message, retryAfterSeconds, cause } = error;
  return new UserError(status, code, `${message} No points were taken for this request.`, {
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(cause !== undefined && { cause }),
  });
}

/** Without `minAmount` the hash is the same as before that field existed, so that older keys stay valid. */
function bodyHashOf({ partner, points, minAmount }: CreationRequest): Buffer {
  const least = minAmount !== undefined && { minAmount: minAmount.toString() };
  return createHash('sha256')
    .update(canonicalJson({ partner, points: Number(points), ...least }))
    .digest();
}
