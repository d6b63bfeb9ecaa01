/** Redemptions for the specs of this folder, written through the store as the worker writes them. */
import { randomBytes, randomUUID } from 'node:crypto';
import { type RedemptionStore } from '#libs/db';
import {
  type Address,
  mintUuidV7,
  newRedemption,
  PARTNER_CAPABILITIES,
  type Redemption,
  type RedemptionEvent,
  transition,
  type UuidV7,
} from '#libs/domain';
import { someKey, someTerms } from '../testing/stage.support.js';
import { type CommittedPayout } from '../payout/payout.js';
import { type VoucherPayout } from '../payout/voucher-payout.js';

const START_MS = 1_760_000_000_000;

export function aUuid(): UuidV7 {
  return mintUuidV7(START_MS, randomBytes(10));
}

export class Redemptions {
  constructor(
    private readonly store: RedemptionStore,
    private readonly payouts: VoucherPayout,
  ) {}

  /** A redemption whose points were taken and whose voucher may be claimed. */
  async authorised(wallet: Address, tokenAmount = 100n): Promise<CommittedPayout> {
    const created = newRedemption(someTerms(START_MS, { wallet, tokenAmount }), START_MS);
    await this.store.create(created, someKey(), {
      paused: false,
      maxOpen: 1,
      priceMaxAgeSeconds: 7_200,
    });
    const requestId = aUuid();
    const calling = await this.after(created, { type: 'call-due', requestId });
    const partnerTransactionId = randomUUID();
    const deducted = await this.after(
      calling,
      { type: 'deduct-confirmed', requestId, partnerTransactionId },
      { callEnd: { requestId, outcome: 'answer', record: {} } },
    );
    const { plan, place } = await this.payouts.plan(created);
    await this.after(deducted, { type: 'plan-committed', plan }, { place });
    return { redemptionId: created.id, plan, place };
  }

  /** Records the claim of the payout, which must be final. */
  async settled(payout: CommittedPayout): Promise<void> {
    const { redemptionId } = payout;
    const [evidence] = await this.payouts.observe([payout]);
    if (evidence?.outcome !== 'paid') throw new Error('the payout is not paid');
    const stored = await this.store.get(redemptionId);
    if (!stored) throw new Error('no such redemption');
    await this.after(stored.redemption, { type: 'payout-paid', redemptionId, evidence });
  }

  private async after(
    before: Redemption,
    event: RedemptionEvent,
    change: Partial<Parameters<RedemptionStore['apply']>[0]> = {},
  ): Promise<Redemption> {
    const decision = transition(before, event, {
      nowMs: START_MS + before.version * 1_000,
      jitter: 0,
      policy: { capabilities: PARTNER_CAPABILITIES, confirms: true },
    });
    if (decision.kind === 'refused') throw new Error(`${event.type}: ${decision.message}`);
    await this.store.apply({ before, decision, event: event.type, actor: 'worker', ...change });
    return decision.next;
  }
}
