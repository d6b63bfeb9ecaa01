import { type StoredRedemption } from '#libs/db';
import { tracedAs } from '../observe/trace-steps.js';
import { type ObserveStep } from '../steps/observe.step.js';
import { type WorkQueue } from './engine.js';
import { type RedemptionLeases } from './redemption-leases.js';
import { type Work } from './transition-writer.js';

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
    private readonly leases: RedemptionLeases,
    private readonly step: ObserveStep,
  ) {}

  lease(count: number, owner: string): Promise<readonly StoredRedemption[]> {
    return this.leases.lease(count, owner, true);
  }

  async work(items: readonly StoredRedemption[], owner: string): Promise<void> {
    const works: Work[] = [];
    for (const stored of items) works.push((await this.leases.workOn(stored, owner)).work);
    const ids = items.map(({ redemption }) => redemption.id);
    await tracedAs('observe', { 'lowmark.redemption_ids': ids }, () => this.step.observe(works));
  }
}
