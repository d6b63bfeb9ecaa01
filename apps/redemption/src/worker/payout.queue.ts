import { type RedemptionStore, type StoredRedemption } from '#libs/db';
import { type Clock } from '#libs/platform';
import { type Alerts } from '../observe/alerts.js';
import { type PartnerDirectory } from '../partner/partner-directory.js';
import { type ObserveStep } from '../steps/observe.step.js';
import { alertUnreadable } from './alert-unreadable.js';
import { type WorkQueue } from './queue-pump.js';
import { type Work } from './transition-writer.js';
import { UNKNOWN_PARTNER } from './unknown-partner.js';

/** One look at the chain serves so many payouts. */
const TOGETHER = 50;
/** Looks at once. */
const LOOKS = 4;

/** The redemptions whose tokens may move at any moment. */
export class PayoutQueue implements WorkQueue<StoredRedemption> {
  readonly name = 'payouts';
  readonly together = TOGETHER;
  readonly atOnce = LOOKS * TOGETHER;

  constructor(
    private readonly parts: {
      readonly store: Pick<RedemptionStore, 'lease'>;
      readonly directory: Pick<PartnerDirectory, 'find'>;
      readonly observe: ObserveStep;
      readonly alerts: Alerts;
      readonly clock: Clock;
    },
    private readonly leaseMs: number,
  ) {}

  lease(count: number, owner: string): Promise<readonly StoredRedemption[]> {
    const { store, clock, alerts } = this.parts;
    return store.lease({
      ...{ count, owner, leaseMs: this.leaseMs, dueByMs: clock.nowMs(), authorised: true },
      onUnreadable: alertUnreadable(alerts),
    });
  }

  async work(items: readonly StoredRedemption[], owner: string): Promise<void> {
    const { directory, observe } = this.parts;
    const works: Work[] = [];
    for (const stored of items) {
      const partner = await directory.find(stored.redemption.partner);
      works.push({ stored, owner, policy: partner?.policy ?? UNKNOWN_PARTNER });
    }
    await observe.run(works);
  }
}
