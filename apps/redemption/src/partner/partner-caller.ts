import { Injectable } from '@nestjs/common';
import { type CallEnd } from '#libs/db';
import { type Address, type CallOutcome, type PartnerStep, type UuidV7 } from '#libs/domain';
import { callOutcome, type PartnerCall, PartnerClient } from '#libs/partner-client';
import { Histogram, Registry } from '#libs/service';
import { Alerts } from '../observe/alerts.js';
import { type PartnerEntry } from './partner-directory.js';

export interface CallOf<S extends PartnerStep> {
  readonly call: Extract<PartnerCall, { step: S }> & { readonly step: S };
  /** The wallet that it is about. */
  readonly address: Address;
  /** Committed before the call. */
  readonly requestId: UuidV7;
  readonly redemptionId?: UuidV7;
}

export interface CallMade<S extends PartnerStep> {
  readonly outcome: CallOutcome<S>;
  /** For the call log. */
  readonly end: CallEnd;
}

/** Makes one call to a partner, once, and says what is known after it. Whatever the partner does is an outcome, never an error. */
@Injectable()
export class PartnerCaller {
  private readonly listeners: ((partnerId: string) => void)[] = [];
  private readonly calls: Histogram<'partner' | 'step' | 'outcome'>;

  constructor(
    private readonly client: PartnerClient,
    private readonly alerts: Alerts,
    registry: Registry,
  ) {
    this.calls = new Histogram({
      name: 'lowmark_partner_call_seconds',
      help: 'Calls to partners, by what is known after them',
      labelNames: ['partner', 'step', 'outcome'],
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
      registers: [registry],
    });
  }

  /** Is told of each partner whose circuit has closed again, by its id. */
  onBack(listener: (partnerId: string) => void): void {
    this.listeners.push(listener);
  }

  /** For how long calls to the partner would be held back; undefined where one would go out. */
  heldBackMs({ callback }: PartnerEntry): number | undefined {
    return this.client.heldBackMs(callback.partnerId);
  }

  async call<S extends PartnerStep>(
    { endpoint, callback, policy }: PartnerEntry,
    { call, address, requestId, redemptionId }: CallOf<S>,
  ): Promise<CallMade<S>> {
    const { step } = call;
    const { partnerId: partner, partnerName } = callback;
    const wasClosed = this.client.circuitOf(partner) === 'closed';
    const result = await this.client.call(endpoint, call, { requestId });
    if (!wasClosed && this.client.circuitOf(partner) === 'closed') {
      for (const listener of this.listeners) listener(partner);
    }
    const outcome = callOutcome({ step, address }, result, policy);
    const labels = { partner: partnerName, step, outcome: outcome.kind };
    this.calls.observe(labels, result.record.timings.total / 1000);
    // What came back is the domain's to judge; a URL that may not be called is our own fault.
    if (result.kind === 'nothing-sent' && result.alert) {
      this.alerts.raise({
        ...{ severity: 'warning', code: result.cause, partner, step, apiRequest: requestId },
        ...(redemptionId !== undefined && { redemptionId }),
      });
    }
    return { outcome, end: { requestId, outcome: result.kind, record: result.record } };
  }
}
