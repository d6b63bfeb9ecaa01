import { type CallEnd } from '#libs/db';
import { type Address, type CallOutcome, type PartnerStep, type UuidV7 } from '#libs/domain';
import { callOutcome, type PartnerCall, type PartnerClient } from '#libs/partner-client';
import { type PartnerEntry } from '../partner/partner-directory.js';
import { type Alerts } from '../observe/alerts.js';
import { type PartnerCallMetrics } from '../observe/partner-call.metrics.js';

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
export class PartnerCaller {
  private readonly listeners: ((partnerId: string) => void)[] = [];

  constructor(
    private readonly parts: {
      readonly client: Pick<PartnerClient, 'call' | 'circuitOf' | 'heldBackMs'>;
      readonly alerts: Alerts;
      readonly metrics: PartnerCallMetrics;
    },
  ) {}

  /** Is told of each partner whose circuit has closed again, by its id. */
  onBack(listener: (partnerId: string) => void): void {
    this.listeners.push(listener);
  }

  /** For how long calls to the partner would be held back; undefined where one would go out. */
  heldBackMs({ callback }: Pick<PartnerEntry, 'callback'>): number | undefined {
    return this.parts.client.heldBackMs(callback.partnerId);
  }

  async call<S extends PartnerStep>(
    { endpoint, callback, policy }: PartnerEntry,
    { call, address, requestId, redemptionId }: CallOf<S>,
  ): Promise<CallMade<S>> {
    const { client, alerts, metrics } = this.parts;
    const { step } = call;
    const { partnerId, partnerName } = callback;
    const wasClosed = client.circuitOf(partnerId) === 'closed';
    const result = await client.call(endpoint, call, { requestId });
    if (!wasClosed && client.circuitOf(partnerId) === 'closed') {
      for (const listener of this.listeners) listener(partnerId);
    }
    const outcome = callOutcome({ step, address }, result, policy);
    const seconds = result.record.timings.total / 1000;
    metrics.called({ partner: partnerName, step, outcome: outcome.kind, seconds });
    // What came back is the domain's to judge; a URL that may not be called is nobody's fault but ours.
    if (result.kind === 'nothing-sent' && result.alert) {
      const of = redemptionId === undefined ? {} : { redemptionId };
      const { cause: code } = result;
      alerts.raise({
        severity: 'warning',
        code,
        partner: partnerId,
        step,
        apiRequest: requestId,
        ...of,
      });
    }
    return { outcome, end: { requestId, outcome: result.kind, record: result.record } };
  }
}
