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

/** Each is lost only where the redemption moved in between, which it does a few times a second at most. */
const TRIES = 5;

/**
 * Notes the wish to cancel. Where a payout is authorised, the worker finds it in the row and asks the vault; nothing is decided
 * until a final block says what became of it.
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
        await this.noteVain(cancelled);
        return cancelled;
      } catch (error) {
        if (!(error instanceof StaleRedemptionError) || tries === TRIES) throw error;
      }
    }
  }

  /** What was asked for and never begun: without a wait that could be repeated for ever. */
  private async noteVain({ redemption: { state, wallet } }: StoredRedemption): Promise<void> {
    if (state === 'failed') await this.attempts.note(wallet, this.clock.nowMs());
  }

  private async apply(stored: StoredRedemption): Promise<StoredRedemption> {
    const { redemption } = stored;
    const { store, directory, clock } = this;
    const entry = await directory.find(redemption.partner);
    // No cancellation depends on the policy by itself; a partner that was taken away has none any more.
    const policy = entry?.policy ?? { capabilities: [], confirms: false };
    const context = { nowMs: clock.nowMs(), jitter: 0, policy };
    const decision = transition(redemption, { type: 'cancel', by: 'user' }, context);
    if (decision.kind === 'refused') {
      throw new UserError(409, codeOf(decision.code), decision.message, {
        ...(decision.code === 'not-yet-cancellable' && {
          // While a call is under way it may end at any moment; else nothing changes before the next one.
          retryAfterSeconds: secondsUntil(redemption.nextActionAtMs ?? 0, context.nowMs),
        }),
      });
    }
    await store.apply({ before: redemption, decision, event: 'cancel', actor: 'user', stored });
    return { ...stored, redemption: decision.next };
  }
}

/** So that an answer which was lost can be asked for again, and asking often does nothing. */
function isAskedAlready({ redemption }: StoredRedemption): boolean {
  return isCancelRequested(redemption) && !isFinal(redemption.state);
}

function codeOf(refusal: string): string {
  return refusal.toUpperCase().replaceAll('-', '_');
}
