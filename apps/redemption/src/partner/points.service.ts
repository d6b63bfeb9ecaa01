import { Inject, Injectable } from '@nestjs/common';
import { AttemptStore, RedemptionStore } from '#libs/db';
import {
  type Address,
  type BalanceAnswer,
  type CallOutcome,
  type UnknownReason,
} from '#libs/domain';
import { newRequestId } from '#libs/partner-client';
import { CLOCK, type Clock } from '#libs/platform';
import { UserError } from '../http/user.error.js';
import { PartnerCaller } from './partner-caller.js';
import { type PartnerEntry } from './partner-directory.js';

const RETRY_AFTER_SECONDS = 10;

/** The partner may answer another time; whatever else it says is nonsense. */
const SILENCE: readonly UnknownReason[] = [
  'timeout',
  'reset',
  'half-answer',
  'crash',
  'too-slow',
  'server-error',
  'rate-limited',
  'error-internal',
];

/**
 * How many points a player has, by the partner's own signed account. For a redemption that is admission and no more: whether the points
 * are there is decided by the deduction. A wallet that asks for points it does not have waits longer each time.
 */
@Injectable()
export class PointsService {
  constructor(
    private readonly store: RedemptionStore,
    private readonly attempts: AttemptStore,
    private readonly caller: PartnerCaller,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws UserError 404, 502, 503; DatabaseUnavailableError */
  async read(partner: PartnerEntry, address: Address): Promise<BalanceAnswer> {
    const { store, caller, clock } = this;
    const requestId = newRequestId(clock);
    await store.beginBalanceCall(partner.endpoint.partnerId, requestId);
    const call = { step: 'balance', address } as const;
    const { outcome, end } = await caller.call(partner, { call, address, requestId });
    await store.endCall(end);
    return answerOf(outcome);
  }

  /** Why the wallet may not ask for a redemption now, whatever the partner would say; undefined where it may. */
  async waiting(wallet: Address): Promise<UserError | undefined> {
    const { attempts, clock } = this;
    const nowMs = clock.nowMs();
    const untilMs = await attempts.waitsUntilMs(wallet, nowMs);
    if (untilMs === undefined) return undefined;
    const retryAfterSeconds = secondsUntil(untilMs, nowMs);
    const message = `Your last redemptions came to nothing: you can ask again in ${retryAfterSeconds} s.`;
    return new UserError(429, 'RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds });
  }

  /** Refuses who has fewer. @throws UserError 404, 409; 502 and 503, for which no wallet waits */
  async requirePoints(partner: PartnerEntry, wallet: Address, points: bigint): Promise<void> {
    const has = await this.pointsOf(partner, wallet);
    if (has >= points) return;
    const message = `You have ${has.toString()} points with this partner, and asked for ${points.toString()}.`;
    throw await this.refused(wallet, new UserError(409, 'INSUFFICIENT_POINTS', message));
  }

  private async pointsOf(partner: PartnerEntry, wallet: Address): Promise<bigint> {
    try {
      return (await this.read(partner, wallet)).points;
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== 'USER_NOT_FOUND') throw error;
      throw await this.refused(wallet, error);
    }
  }

  private async refused(wallet: Address, { status, code, message }: UserError): Promise<UserError> {
    const { attempts, clock } = this;
    const nowMs = clock.nowMs();
    const retryAfterSeconds = secondsUntil(await attempts.note(wallet, nowMs), nowMs);
    const words = `${message} You can ask again in ${retryAfterSeconds} s.`;
    return new UserError(status, code, words, { retryAfterSeconds });
  }
}

function secondsUntil(untilMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((untilMs - nowMs) / 1000));
}

function answerOf(outcome: CallOutcome<'balance'>): BalanceAnswer {
  switch (outcome.kind) {
    case 'succeeded':
      return outcome.answer;
    case 'refused':
      if (outcome.code !== 'ERR-USER-NOT-FOUND') throw nonsense();
      throw new UserError(404, 'USER_NOT_FOUND', 'The partner knows no player with this wallet.');
    case 'nothing-sent':
      throw unavailable(outcome.retryAfterSeconds);
    case 'unknown':
      throw SILENCE.includes(outcome.reason) ? unavailable(outcome.retryAfterSeconds) : nonsense();
  }
}

function unavailable(retryAfterSeconds = RETRY_AFTER_SECONDS): UserError {
  const message = 'The partner does not answer at the moment. Try again later.';
  return new UserError(503, 'PARTNER_UNAVAILABLE', message, {
    retryAfterSeconds: Math.max(1, Math.ceil(retryAfterSeconds)),
  });
}

function nonsense(): UserError {
  return new UserError(502, 'PARTNER_ERROR', 'The partner’s answer could not be used.');
}
