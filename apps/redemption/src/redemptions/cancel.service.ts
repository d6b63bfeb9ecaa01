import { Inject, Injectable } from '@nestjs/common';
import {
  AttemptStore,
  RedemptionStore,
  StaleRedemptionError,
  type StoredRedemption,
} from '#libs/db';
import { type Address, isFinal, transition, type UuidV7 } from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';
import { secondsUntil, UserError } from '../http/user.error.js';
import { PartnerDirectory } from '../partner/partners.js';
import { isCancelRequested } from './redemption.dto.js';

/**
 * Tries to write a cancellation. A try fails only where the redemption changed in between, which happens a few times
 * per second at most.
 */
const TRIES = 5;

/**
 * Records the request to cancel. For an authorised payout the worker reads the request from the row and asks the vault;
 * the outcome stays open until a final block shows it.
 */
@Injectable()
export class CancelService {
  constructor(
    private readonly store: RedemptionStore,
    private readonly attempts: AttemptStore,
    private readonly directory: PartnerDirectory,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * @returns undefined where the wallet has no such redemption
   * @throws UserError 409 with the reason; StaleRedemptionError, DatabaseUnavailableError
   */
  async cancel(wallet: Address, id: UuidV7): Promise<StoredRedemption | undefined> {
    for (let tries = 1; ; tries++) {
      const stored = await this.store.find(wallet, id);
      if (stored === undefined || isAskedAlready(stored)) return stored;
      try {
        const cancelled = await this.apply(stored);
        await this.noteFailedAttempt(cancelled);
        return cancelled;
      } catch (error) {
        if (!(error instanceof StaleRedemptionError) || tries === TRIES) throw error;
      }
    }
  }

  /**
   * Makes a wallet wait that cancels what was never begun; otherwise it could request and cancel redemptions for ever.
   */
  private async noteFailedAttempt({
    redemption: { state, wallet },
  }: StoredRedemption): Promise<void> {
    if (state === 'failed') await this.attempts.note(wallet, this.clock.nowMs());
  }

  private async apply(stored: StoredRedemption): Promise<StoredRedemption> {
    const { redemption } = stored;
    const { store, directory, clock } = this;
    const entry = await directory.find(redemption.partner);
    // No cancellation depends on the policy. A partner that was removed no longer has one.
    const policy = entry?.policy ?? { capabilities: [], confirms: false };
    const context = { nowMs: clock.nowMs(), jitter: 0, policy };
    const decision = transition(redemption, { type: 'cancel', by: 'user' }, context);
    if (decision.kind === 'refused') {
      throw new UserError(409, codeOf(decision.code), decision.message, {
        ...(decision.code === 'not-yet-cancellable' && {
          // A call under way may end at any moment. Otherwise nothing changes before the next due time.
          retryAfterSeconds: secondsUntil(redemption.nextActionAtMs ?? 0, context.nowMs),
        }),
      });
    }
    await store.apply({ before: redemption, decision, event: 'cancel', actor: 'user', stored });
    return { ...stored, redemption: decision.next };
  }
}

/** Answers a repeated cancellation without writing anything, so that a client can ask again for a lost answer. */
function isAskedAlready({ redemption }: StoredRedemption): boolean {
  return isCancelRequested(redemption) && !isFinal(redemption.state);
}

function codeOf(refusal: string): string {
  return refusal.toUpperCase().replaceAll('-', '_');
}
