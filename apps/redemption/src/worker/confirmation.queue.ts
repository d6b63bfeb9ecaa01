/**
 * Sends the confirmations that are owed to partners (rule H of docs/redemption.md). Each call is stored before it is
 * made, and its result after it.
 */
import { type CallEnd, type DeliveryStore, type StoredDelivery } from '#libs/db';
import {
  type ConfirmationPayload,
  deliveryEvent,
  type DeliveryEvent,
  deliveryTransition,
  mayAwaitConfirming,
} from '#libs/domain';
import { newRequestId } from '#libs/partner-client';
import { tracedAs } from '../observe/trace-steps.js';
import {
  type PartnerCaller,
  type PartnerDirectory,
  type PartnerEntry,
} from '../partner/partners.js';
import { type EngineContext, type WorkQueue } from './engine.js';

interface Leased {
  readonly stored: StoredDelivery;
  readonly owner: string;
}

export class ConfirmationQueue implements WorkQueue<StoredDelivery> {
  readonly name = 'confirmations';
  readonly atOnce: number;

  constructor(
    private readonly store: DeliveryStore,
    private readonly directory: PartnerDirectory,
    private readonly caller: PartnerCaller,
    private readonly context: EngineContext,
  ) {
    this.atOnce = context.settings.atOnce;
  }

  lease(count: number, owner: string): Promise<readonly StoredDelivery[]> {
    const { clock, settings } = this.context;
    const { leaseMs } = settings;
    return this.store.lease({ count, owner, leaseMs, dueByMs: clock.nowMs() });
  }

  async work([stored]: readonly StoredDelivery[], owner: string): Promise<void> {
    if (stored === undefined) return;
    const { redemptionId, partner: id } = stored;
    const partner = await this.directory.find(id);
    if (partner === undefined) {
      // The confirmation keeps its lease, so it is due again when the lease ends.
      const code = 'partner-not-callable';
      this.context.alerts.raise({ severity: 'warning', code, redemptionId, partner: id });
      return;
    }
    const attributes = { 'lowmark.redemption_id': redemptionId, 'lowmark.partner_id': id };
    await tracedAs('confirm', attributes, () => this.confirm({ stored, owner }, partner));
  }

  private async confirm(leased: Leased, partner: PartnerEntry): Promise<void> {
    const { stored, owner } = leased;
    const { redemptionId, payload, delivery } = stored;
    if (delivery.openRequestId !== null) {
      // A process ended during this call. The partner may have taken the confirmation, so it is sent once more.
      const { openRequestId: requestId } = delivery;
      await this.apply(leased, { type: 'failed', requestId, reason: 'crash' });
      return;
    }
    const nowMs = this.context.clock.nowMs();
    // A call that the circuit breaker would hold back is not begun: it would leave rows that say nothing.
    const heldBackMs = this.caller.heldBackMs(partner);
    if (heldBackMs !== undefined && mayAwaitConfirming(delivery, nowMs)) {
      await this.store.postpone(stored, owner, nowMs + Math.ceil(heldBackMs));
      return;
    }
    const requestId = newRequestId(this.context.clock);
    const begun = await this.apply(leased, { type: 'call-due', requestId });
    if (begun === undefined) return;
    const body = JSON.parse(payload) as ConfirmationPayload;
    const { address } = body;
    const call = { step: 'confirm', body } as const;
    const called = { call, address, requestId, redemptionId };
    const { outcome, end } = await this.caller.call<'confirm'>(partner, called);
    await this.apply(begun, deliveryEvent(requestId, outcome), end);
  }

  /** @returns the delivery as it stands after the event; undefined where the event changes nothing */
  private async apply(
    { stored, owner }: Leased,
    event: DeliveryEvent,
    callEnd?: CallEnd,
  ): Promise<Leased | undefined> {
    const { clock, random, alerts } = this.context;
    const { redemptionId, delivery: before, partner } = stored;
    const context = { nowMs: clock.nowMs(), jitter: random() };
    const decision = deliveryTransition(before, event, context);
    if (decision.kind === 'refused') return undefined;
    const { next } = decision;
    const release = next.openRequestId === null;
    const end = callEnd && { callEnd };
    await this.store.apply({ redemptionId, before, next, owner, release, ...end });
    for (const code of decision.alerts) {
      alerts.raise({ severity: 'warning', code, redemptionId, partner, step: 'confirm' });
    }
    return { stored: { ...stored, delivery: next }, owner };
  }
}
