/** Brings an event to a redemption: the domain decides, the store writes, and alerts are raised after the commit. */
import {
  type CallEnd,
  PartnerIdReusedError,
  type PayoutPlace,
  type RedemptionStore,
  type ReservationLimits,
  type StoredRedemption,
} from '#libs/db';
import {
  alertsOf,
  type Decision,
  type Moved,
  type PartnerPolicy,
  type Redemption,
  type RedemptionEvent,
  transition,
} from '#libs/domain';
import { type Clock } from '#libs/platform';
import { type Alerts } from '../observe/alerts.js';
import { type EngineMetrics } from '../observe/engine-metrics.js';

/** One leased redemption and whose it is. */
export interface Work {
  readonly stored: StoredRedemption;
  readonly owner: string;
  readonly policy: PartnerPolicy;
}

export interface EventNotes {
  readonly callEnd?: CallEnd;
  readonly place?: PayoutPlace;
  /** Needed where the event may begin the deduction. */
  readonly reserve?: ReservationLimits;
  /** The event where an id in the partner's answer turns out to be another redemption's. */
  readonly ifReused?: (which: PartnerIdReusedError['which']) => RedemptionEvent;
}

export interface Applied {
  readonly decision: Decision;
  /** The redemption as it stands now. */
  readonly work: Work;
  /** The lease was given back with it. */
  readonly released: boolean;
}

export interface TransitionWriterParts {
  readonly store: Pick<RedemptionStore, 'apply'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly alerts: Alerts;
  readonly metrics: EngineMetrics;
}

const ACTOR = 'worker';

export class TransitionWriter {
  constructor(private readonly parts: TransitionWriterParts) {}

  decide({ stored, policy }: Pick<Work, 'stored' | 'policy'>, event: RedemptionEvent): Decision {
    const { clock, random } = this.parts;
    const context = { nowMs: clock.nowMs(), jitter: random(), policy };
    return transition(stored.redemption, event, context);
  }

  /**
   * Decides and writes. The lease is given back where the next step is not due yet, or is for another queue.
   * @throws LeaseLostError, StaleRedemptionError, ReservationRefusedError, DatabaseUnavailableError: nothing may follow from the
   * event then
   */
  async apply(work: Work, event: RedemptionEvent, notes: EventNotes = {}): Promise<Applied> {
    const decision = this.decide(work, event);
    if (decision.kind === 'refused') return { decision, work, released: false };
    try {
      return await this.write(work, { decision, event }, notes);
    } catch (error) {
      if (!(error instanceof PartnerIdReusedError) || notes.ifReused === undefined) throw error;
      const { ifReused, ...rest } = notes;
      return this.apply(work, ifReused(error.which), rest);
    }
  }

  /** Writes what was decided just now. */
  async write(
    work: Work,
    { decision, event }: { readonly decision: Moved; readonly event: RedemptionEvent },
    { callEnd, place, reserve }: Omit<EventNotes, 'ifReused'> = {},
  ): Promise<Applied> {
    const { stored, owner } = work;
    const before = stored.redemption;
    const { next } = decision;
    const release = !this.goesOn(before, next);
    await this.parts.store.apply({
      before,
      decision,
      event: event.type,
      actor: ACTOR,
      owner,
      release,
      ...(reserve !== undefined && next.state === 'deducting' && { reserve }),
      ...(callEnd !== undefined && { callEnd }),
      ...(place !== undefined && { place }),
      stored,
    });
    this.parts.metrics.moved(event.type, before.state, next.state);
    const { id: redemptionId, partner } = next;
    for (const alert of alertsOf(event, before, next)) {
      this.parts.alerts.raise({ ...alert, redemptionId, partner });
    }
    const nextPlace = stored.place ?? place ?? null;
    return {
      decision,
      work: { ...work, stored: { ...stored, redemption: next, place: nextPlace } },
      released: release,
    };
  }

  /** Whether the same worker goes on with it under the same lease. */
  private goesOn(before: Redemption, next: Redemption): boolean {
    const { nextActionAtMs, state } = next;
    const isOthers = (state === 'authorised') !== (before.state === 'authorised');
    return nextActionAtMs !== null && nextActionAtMs <= this.parts.clock.nowMs() && !isOthers;
  }
}
