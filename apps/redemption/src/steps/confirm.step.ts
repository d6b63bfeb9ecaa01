/** Brings one confirmation to the partner (rule H): first the row, then the call, then whether it was taken. */
import { type CallEnd, type DeliveryStore, type StoredDelivery } from '#libs/db';
import {
  type ConfirmationPayload,
  type Delivery,
  deliveryEvent,
  type DeliveryEvent,
  deliveryTransition,
  mayAwaitConfirming,
} from '#libs/domain';
import { newRequestId } from '#libs/partner-client';
import { type Clock } from '#libs/platform';
import { type Alerts } from '../observe/alerts.js';
import { type PartnerEntry } from '../partner/partner-directory.js';
import { type PartnerCaller } from './partner-caller.js';

export interface ConfirmParts {
  readonly store: Pick<DeliveryStore, 'apply' | 'postpone'>;
  readonly caller: PartnerCaller;
  readonly alerts: Alerts;
  readonly clock: Clock;
  readonly random: () => number;
}

interface Leased {
  readonly stored: StoredDelivery;
  readonly owner: string;
}

export class ConfirmStep {
  constructor(private readonly parts: ConfirmParts) {}

  async run(leased: Leased, partner: PartnerEntry): Promise<void> {
    const { openRequestId } = leased.stored.delivery;
    if (openRequestId !== null) {
      // Our own end during the call: the partner may have taken it, and takes it once more.
      await this.apply(leased, { type: 'failed', requestId: openRequestId, reason: 'crash' });
      return;
    }
    if (await this.postponeHeldBack(leased, partner)) return;
    const requestId = newRequestId(this.parts.clock);
    const begun = await this.apply(leased, { type: 'call-due', requestId });
    if (begun === undefined) return;
    const { redemptionId, payload } = leased.stored;
    const body = JSON.parse(payload) as ConfirmationPayload;
    const { outcome, end } = await this.parts.caller.call<'confirm'>(partner, {
      call: { step: 'confirm', body },
      address: body.address,
      requestId,
      redemptionId,
    });
    const delivery = { ...leased, stored: { ...leased.stored, delivery: begun } };
    await this.apply(delivery, deliveryEvent(requestId, outcome), end);
  }

  /** A call that would be held back is not begun: it would leave rows, and say nothing. */
  private async postponeHeldBack(
    { stored, owner }: Leased,
    partner: PartnerEntry,
  ): Promise<boolean> {
    const { store, caller, clock } = this.parts;
    const nowMs = clock.nowMs();
    if (!mayAwaitConfirming(stored.delivery, nowMs)) return false;
    const heldBackMs = caller.heldBackMs(partner);
    if (heldBackMs === undefined) return false;
    await store.postpone(stored, owner, nowMs + Math.ceil(heldBackMs));
    return true;
  }

  /** @returns the delivery as it stands now; undefined where the event changes nothing */
  private async apply(
    { stored, owner }: Leased,
    event: DeliveryEvent,
    callEnd?: CallEnd,
  ): Promise<Delivery | undefined> {
    const { clock, random, store, alerts } = this.parts;
    const { redemptionId, delivery: before, partner } = stored;
    const nowMs = clock.nowMs();
    const decision = deliveryTransition(before, event, { nowMs, jitter: random() });
    if (decision.kind === 'refused') return undefined;
    const { next, alerts: codes } = decision;
    await store.apply({
      redemptionId,
      before,
      next,
      owner,
      release: next.openRequestId === null,
      ...(callEnd !== undefined && { callEnd }),
    });
    for (const code of codes) {
      alerts.raise({ severity: 'warning', code, redemptionId, partner, step: 'confirm' });
    }
    return next;
  }
}
