/** Decides whether a request, or a call of a request, is admitted: random refusals, the budget, outages. */
import { BudgetMeter, priceOf } from './budget-meter.js';
import { type Outage, type ProviderBehaviour } from './provider-behaviour.js';
import { type ReplayCall } from './provider-stats.js';
import { ReplayFault } from './replay-fault.js';
import { type SeededRandom } from './seeded.js';

export type Admission =
  | { readonly kind: 'admitted' }
  | { readonly kind: 'lost'; readonly how: 'reset' | 'hang' }
  | { readonly kind: 'refused'; readonly status: 429 | 503; readonly retryAfterSeconds?: number };

/** Source of the text: Alchemy, https://www.alchemy.com/docs/reference/throughput. */
export const OVER_BUDGET =
  'Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore this message.';

export class ProviderGate {
  private readonly meter: BudgetMeter | undefined;
  private requests = 0;
  private outageAtMs: number | undefined;

  constructor(
    private readonly behaviour: ProviderBehaviour,
    private readonly random: SeededRandom,
  ) {
    const { budget } = behaviour;
    this.meter =
      budget &&
      new BudgetMeter(budget.unitsPerSecond, budget.unitsPerSecond * (budget.burstSeconds ?? 1));
  }

  request(calls: readonly ReplayCall[], nowMs: number): Admission {
    const { outage, refusals, budget } = this.behaviour;
    this.requests++;
    if (outage && this.isOut(outage, nowMs)) {
      if (outage.how === 'unavailable') return { kind: 'refused', status: 503 };
      return { kind: 'lost', how: outage.how };
    }
    if (refusals && refusals.style !== 'call') {
      const status = this.drawn();
      const { retryAfterSeconds } = refusals;
      if (status !== undefined)
        return {
          kind: 'refused',
          status,
          ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
        };
    }
    if (!this.meter || !budget || budget.style === 'call') return { kind: 'admitted' };
    const price = calls.reduce((sum, { method }) => sum + priceOf(method), 0);
    const waitMs = this.meter.take(price, nowMs);
    if (waitMs === 0) return { kind: 'admitted' };
    const after = budget.retryAfter === true ? { retryAfterSeconds: Math.ceil(waitMs / 1000) } : {};
    return { kind: 'refused', status: 429, ...after };
  }

  /** @returns the error of a call that is refused on its own */
  call({ method }: ReplayCall, nowMs: number): ReplayFault | undefined {
    const { refusals, budget } = this.behaviour;
    const status = refusals?.style === 'call' ? this.drawn() : undefined;
    if (status === 503) return new ReplayFault(-32603, 'Unable to complete request at this time.');
    if (status === 429) return new ReplayFault(429, OVER_BUDGET);
    if (!this.meter || budget?.style !== 'call') return undefined;
    return this.meter.take(priceOf(method), nowMs) === 0
      ? undefined
      : new ReplayFault(429, OVER_BUDGET);
  }

  private drawn(): 429 | 503 | undefined {
    const { tooMany = 0, unavailable = 0 } = this.behaviour.refusals ?? {};
    const drawn = this.random.next();
    if (drawn < tooMany) return 429;
    return drawn < tooMany + unavailable ? 503 : undefined;
  }

  private isOut({ afterRequests, forMs = Infinity }: Outage, nowMs: number): boolean {
    if (this.requests <= afterRequests) return false;
    this.outageAtMs ??= nowMs;
    return nowMs - this.outageAtMs < forMs;
  }
}
