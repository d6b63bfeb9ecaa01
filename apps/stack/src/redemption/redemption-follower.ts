import { setTimeout as sleep } from 'node:timers/promises';
import { type RedemptionState } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { grouped, type Screen } from '../context.js';
import {
  isFinal,
  type RedemptionAnswer,
  type RedemptionUser,
  RefusedError,
} from './redemption-user.js';
import { StackError } from '../stack.error.js';

/** Interval of the requests; a wallet may ask five times a second. */
const POLL_MS = 250;
const LIMIT_MS = 60_000;
/** Refusals that pass by themselves, such as a missing price after a start or a busy part. */
const TEMPORARY_REFUSAL = /^(?:PRICE_|PAYOUTS_UNAVAILABLE$|PARTNER_UNAVAILABLE$|DATABASE_)/;

/** Follows one redemption as its user: polls until a condition holds, and shows each new stage. */
export class RedemptionFollower {
  #stage: RedemptionState | undefined;

  constructor(
    private readonly user: RedemptionUser,
    private readonly timeline: Timeline,
    private readonly clock: Clock,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * @param what the condition, as text after "waits until"
   * @throws StackError where the condition does not hold in time
   */
  async until(what: string, holds: () => Promise<boolean>, limitMs = LIMIT_MS): Promise<void> {
    const startedMs = this.clock.nowMs();
    while (!(await holds())) {
      if (this.clock.nowMs() - startedMs > limitMs) {
        throw new StackError(`Waited ${Math.round(limitMs / 1000)} s in vain until ${what}.`);
      }
      this.timeline.waiting(() => `waits until ${what}`);
      await sleep(POLL_MS, undefined, { signal: this.signal });
    }
  }

  /** Starts a redemption; temporary refusals are retried. */
  async redeem(partner: string, points: number, key: string): Promise<RedemptionAnswer> {
    let begun: RedemptionAnswer | undefined;
    let refusal = '';
    await this.until('the service can quote and pay', async () => {
      try {
        begun = await this.user.redeem(partner, points, key);
      } catch (error) {
        if (!(error instanceof RefusedError) || !TEMPORARY_REFUSAL.test(error.refusal)) throw error;
        refusal = error.message;
      }
      return begun !== undefined;
    });
    if (begun === undefined) throw new StackError(refusal);
    const { id, tokens, priceUsd } = begun;
    const worth = `${grouped(points)} points for ${grouped(tokens)} tokens at ${priceUsd} USD`;
    this.timeline.event('created', `${worth}, redemption ${id}`);
    this.#stage = 'created';
    return this.reach(id, 'authorised');
  }

  /** Waits until the redemption has this stage. @throws StackError where it ends in another one */
  async reach(id: string, stage: RedemptionState): Promise<RedemptionAnswer> {
    let redemption = await this.user.redemption(id);
    const arrived = async (): Promise<boolean> => {
      redemption = await this.user.redemption(id);
      this.#show(redemption);
      if (redemption.stage === stage) return true;
      if (!isFinal(redemption) && redemption.stage !== 'attention') return false;
      const { reason } = redemption;
      throw new StackError(`It is ${redemption.stage}, not ${stage}: ${reason ?? 'no reason'}`);
    };
    await this.until(`it is ${stage}`, arrived);
    return redemption;
  }

  #show({ stage, voucher, tokens, txnHash }: RedemptionAnswer): void {
    if (stage === this.#stage) return;
    this.#stage = stage;
    const until = voucher === null ? '' : ` until ${timeOf(voucher.deadline * 1000)}`;
    const text: Readonly<Record<RedemptionState, string>> = {
      created: 'nothing was sent to the partner yet',
      deducting: 'the partner is asked to take the points',
      deducted: 'the points are taken',
      authorised: `the points are taken; a signed voucher is good for ${grouped(tokens)} tokens${until}`,
      reverting: 'tokens can no longer move; the partner is asked to give the points back',
      claimed: `the claim is final: ${txnHash ?? 'no transaction'}`,
      reverted: 'the partner has given the points back',
      failed: 'no points were taken, and no tokens are paid',
      attention: 'an operator decides',
    };
    this.timeline.event(stage, text[stage]);
  }
}

const FIRST_PROGRESS_MS = 2_000;
const NEXT_PROGRESS_MS = 8_000;

/** Events with their times, one line each, as they happen. */
export class Timeline {
  #shownMs: number;
  #progressMs = FIRST_PROGRESS_MS;

  constructor(
    private readonly screen: Screen,
    private readonly clock: Clock,
    title: string,
  ) {
    this.#shownMs = clock.nowMs();
    screen.lines(`  ${title}`, '');
  }

  event(stage: string, text: string): void {
    this.#progressMs = FIRST_PROGRESS_MS;
    this.#line(stage, text);
  }

  /** Shows the current wait after two seconds without a line, then at growing intervals. */
  waiting(text: () => string): void {
    if (this.clock.nowMs() - this.#shownMs < this.#progressMs) return;
    this.#progressMs =
      this.#progressMs === FIRST_PROGRESS_MS ? NEXT_PROGRESS_MS : this.#progressMs * 2;
    this.#line('…', text());
  }

  end(): void {
    this.screen.lines('');
  }

  #line(stage: string, text: string): void {
    this.#shownMs = this.clock.nowMs();
    this.screen.lines(`    ${timeOf(this.#shownMs)}  ${stage.padEnd(12)}${text}`);
  }
}

/** Time of day as `08:15:00`, UTC. */
export function timeOf(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}
