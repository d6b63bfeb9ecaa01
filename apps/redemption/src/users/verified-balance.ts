import { type AttemptStore } from '#libs/db';
import { type Address } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { UserError } from '../http/user.error.js';
import { type PartnerEntry } from '../partner/partner-directory.js';
import { type PointsService } from './points.service.js';

export interface VerifiedBalanceParts {
  readonly points: Pick<PointsService, 'read'>;
  readonly attempts: Pick<AttemptStore, 'note' | 'waitsUntilMs'>;
  readonly clock: Clock;
}

/**
 * Who may ask for a redemption: a wallet that has the points by the partner's own signed account. That is admission and no more: whether
 * the points are there is decided by the deduction. A wallet that asks for points it does not have waits longer each time.
 */
export class VerifiedBalance {
  constructor(private readonly parts: VerifiedBalanceParts) {}

  /** Before the partner is asked anything. @throws UserError 429 */
  async refuseWaiting(wallet: Address): Promise<void> {
    const { attempts, clock } = this.parts;
    const nowMs = clock.nowMs();
    const untilMs = await attempts.waitsUntilMs(wallet, nowMs);
    if (untilMs === undefined) return;
    const retryAfterSeconds = secondsUntil(untilMs, nowMs);
    const message = `Your last redemptions came to nothing: you can ask again in ${retryAfterSeconds} s.`;
    throw new UserError(429, 'RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds });
  }

  /** @throws UserError 404, 409; 502 and 503, for which no wallet waits */
  async require(partner: PartnerEntry, wallet: Address, points: bigint): Promise<void> {
    const has = await this.read(partner, wallet);
    if (has >= points) return;
    const message = `You have ${has.toString()} points with this partner, and asked for ${points.toString()}.`;
    throw await this.refused(wallet, new UserError(409, 'INSUFFICIENT_POINTS', message));
  }

  private async read(partner: PartnerEntry, wallet: Address): Promise<bigint> {
    try {
      return (await this.parts.points.read(partner, wallet)).points;
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== 'USER_NOT_FOUND') throw error;
      throw await this.refused(wallet, error);
    }
  }

  private async refused(wallet: Address, { status, code, message }: UserError): Promise<UserError> {
    const { attempts, clock } = this.parts;
    const nowMs = clock.nowMs();
    const retryAfterSeconds = secondsUntil(await attempts.note(wallet, nowMs), nowMs);
    const words = `${message} You can ask again in ${retryAfterSeconds} s.`;
    return new UserError(status, code, words, { retryAfterSeconds });
  }
}

function secondsUntil(untilMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((untilMs - nowMs) / 1000));
}
