import { type DeliveryStore, type StoredDelivery } from '#libs/db';
import { type Clock } from '#libs/platform';
import { type Alerts } from '../observe/alerts.js';
import { type PartnerDirectory } from '../partner/partner-directory.js';
import { type ConfirmStep } from '../steps/confirm.step.js';
import { type WorkQueue } from './queue-pump.js';

/** The confirmations that are owed to partners. */
export class ConfirmationQueue implements WorkQueue<StoredDelivery> {
  readonly name = 'confirmations';

  constructor(
    private readonly parts: {
      readonly store: Pick<DeliveryStore, 'lease'>;
      readonly directory: Pick<PartnerDirectory, 'find'>;
      readonly confirm: ConfirmStep;
      readonly alerts: Alerts;
      readonly clock: Clock;
    },
    readonly atOnce: number,
    private readonly leaseMs: number,
  ) {}

  lease(count: number, owner: string): Promise<readonly StoredDelivery[]> {
    const { store, clock } = this.parts;
    return store.lease({ count, owner, leaseMs: this.leaseMs, dueByMs: clock.nowMs() });
  }

  async work([stored]: readonly StoredDelivery[], owner: string): Promise<void> {
    if (stored === undefined) return;
    const partner = await this.parts.directory.find(stored.partner);
    if (partner !== undefined) {
      await this.parts.confirm.run({ stored, owner }, partner);
      return;
    }
    // It keeps its lease, and is looked at again when that ends.
    const { redemptionId, partner: id } = stored;
    const code = 'partner-not-callable';
    this.parts.alerts.raise({ severity: 'warning', code, redemptionId, partner: id });
  }
}
