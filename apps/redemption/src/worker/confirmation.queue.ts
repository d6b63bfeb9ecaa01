import { type DeliveryStore, type StoredDelivery } from '#libs/db';
import { tracedAs } from '../observe/trace-steps.js';
import { type PartnerDirectory } from '../partner/partner-directory.js';
import { type ConfirmStep } from '../steps/confirm.step.js';
import { type EngineContext, type WorkQueue } from './engine.js';

/** The confirmations that are owed to partners. */
export class ConfirmationQueue implements WorkQueue<StoredDelivery> {
  readonly name = 'confirmations';
  readonly atOnce: number;

  constructor(
    private readonly store: DeliveryStore,
    private readonly directory: PartnerDirectory,
    private readonly step: ConfirmStep,
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
      // It keeps its lease, and is looked at again when that ends.
      const code = 'partner-not-callable';
      this.context.alerts.raise({ severity: 'warning', code, redemptionId, partner: id });
      return;
    }
    const attributes = { 'lowmark.redemption_id': redemptionId, 'lowmark.partner_id': id };
    await tracedAs('confirm', attributes, () => this.step.confirm({ stored, owner }, partner));
  }
}
