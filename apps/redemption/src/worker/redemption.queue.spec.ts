import { expect, it } from '@jest/globals';
import { type StoredRedemption } from '#libs/db';
import { type EngineContext } from './engine.js';
import { type LeasedRedemptions, type LeasedWork } from './leased-redemptions.js';
import { RedemptionQueue } from './redemption.queue.js';

it('the lease is renewed after each step, and the next step is taken under the renewed one', async () => {
  const stored = {
    redemption: { state: 'deducted', lostVoucherUntilSeconds: 1 },
    isSealed: true,
  } as unknown as StoredRedemption;
  const seen: string[] = [];
  const leased = {
    workOn: (one: StoredRedemption, owner: string, leasedAt = 0) =>
      Promise.resolve({ stored: one, owner, partner: undefined, leasedAt }),
    keep: (work: LeasedWork) => Promise.resolve({ ...work, leasedAt: work.leasedAt + 1 }),
    apply: (work: LeasedWork, { type }: { readonly type: string }) => {
      seen.push(`${type} under lease ${work.leasedAt}`);
      return Promise.resolve({ decision: { kind: 'moved' }, work, released: seen.length === 3 });
    },
  } as unknown as LeasedRedemptions;
  const none = undefined as never;
  const context = { settings: { atOnce: 1 } } as EngineContext;
  const queue = new RedemptionQueue(leased, none, none, none, none, none, context);
  await queue.work([stored], 'a worker');
  expect(seen).toEqual([0, 1, 2].map((lease) => `plan-failed under lease ${lease}`));
});
